"""Public columns from the declarations of a schema, which must be complete and free of contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.checks import check_choice, is_whole_number
from unveil.errors import CallError
from unveil.files.arrays import quoted_list
from unveil.files.form import TextForm
from unveil.files.schema import Schema
from unveil.files.source import KINDS, Kind, Scalar, Source, Variable
from unveil.synthesis.methods.parts import N_PARTS, STEPS, Parts
from unveil.synthesis.methods.public_column import PublicColumn, array_of_levels, text_key

MOST_PARTS = 1 << 20
EXACT_DOUBLE = 2**53
LARGEST = 1e150
"""Largest absolute value of a bound; larger ones leave no room for products of amounts."""
MEASURED = ("numeric", "date", "datetime")


def public_columns(source: Source, kinds: Mapping[str, Kind] | None = None) -> tuple[PublicColumn, ...]:
    """Return the columns of a file by the declarations of its schema.

    Raises
    ------
    CallError
        If a column lacks a declaration, or one is contradictory.
    """
    for name, kind in (kinds or {}).items():
        source.require(name)
        check_choice(f"column {name!r}: kind", kind, KINDS)
    declared = source.declared
    if isinstance(declared, Schema) and not declared.public:
        raise CallError(
            f"{declared.label}: its levels were taken from the records, and would disclose them. Check that levels and "
            "bounds are known to everybody, add levels that no record has, and set public = true; or give epsilon=None "
            "(--epsilon inf) for no claim of privacy"
        )
    said = {name: replace(declared.get(name, Variable(name)), name=name) for name in source.names}
    said = {name: replace(one, kind=(kinds or {}).get(name) or one.kind) for name, one in said.items()}
    _refuse_undeclared({name: lack for name, one in said.items() if (lack := _lacks(one, source))})
    return tuple(_public_column(one, source.variable(name).labels) for name, one in said.items())


def _lacks(said: Variable, source: Source) -> str | None:
    """Return the declaration that a column lacks; None if it is complete."""
    if said.levels or said.bounds is not None or isinstance(said.bins, tuple) or said.kind == "logical":
        return None
    found = source.column(said.name).type
    kind = said.kind or ("numeric" if pa.types.is_integer(found) or pa.types.is_floating(found) else None)
    if kind is None and pa.types.is_boolean(found):
        # In a file with types, the type does not depend on the records.
        return "kind" if isinstance(source.form, TextForm) else None
    if kind is None and pa.types.is_temporal(found):
        return "bounds"
    return "bounds" if kind in MEASURED else "levels"


def _refuse_undeclared(lacking: Mapping[str, str]) -> None:
    if not lacking:
        return
    wanted = {what: [name for name, lack in lacking.items() if lack == what] for what in ("levels", "bounds", "kind")}
    said = [f"{what} of {quoted_list(names, 20)}" for what, names in wanted.items() if names]
    raise CallError(
        "a privacy loss epsilon can be promised only for levels and bounds that are known to everybody; declare "
        f"{', '.join(said)} in a schema, such as {{'income': {{'bounds': [0, 100000], 'bins': 20}}, 'sex': {{'levels': "
        "['f', 'm']}} (schema=, or a file: --schema), or give epsilon=None (--epsilon inf) for no claim of privacy"
    )


def _public_column(said: Variable, labels: Mapping[Scalar, str]) -> PublicColumn:
    """Return a column by its declaration.

    Raises
    ------
    CallError
        If the declaration is contradictory.
    """
    where = f"column {said.name!r}"
    levels, special, parts = said.levels or (False, True), tuple(said.special_codes), None
    if said.bounds is not None or isinstance(said.bins, tuple):
        if said.levels:
            raise CallError(f"{where}: declare either levels, or bounds and bins, not both")
        kind, parts = _parts(said, where)
        levels = special
    else:
        levels += tuple(code for code in special if text_key(code) not in set(map(text_key, levels)))
        kind = said.kind or (
            "logical" if all(isinstance(level, bool) for level in said.levels or ()) else "categorical"
        )
        array_of_levels(levels, kind, where)
    if len(set(map(text_key, levels))) < len(levels):
        raise CallError(f"{where}: two of the declared levels are one: {quoted_list(levels)}")
    if parts is not None and not all(isinstance(level, int | float) for level in levels):
        raise CallError(f"{where}: special codes of a numeric column are numbers, not {quoted_list(levels)}")
    return PublicColumn(said.name, kind, levels, parts, bool(said.gaps), {**labels, **said.labels})


def _parts(said: Variable, where: str) -> tuple[Kind, Parts]:
    """Return the kind of a column of amounts, and the parts that these are cut into."""
    given = [*(said.bins if isinstance(said.bins, tuple) else said.bounds or ())]
    if said.bounds is not None and isinstance(said.bins, tuple) and said.bounds != (said.bins[0], said.bins[-1]):
        raise CallError(f"{where}: bins must run from one of the bounds to the other, or bounds be left out")
    is_text = all(isinstance(end, str) for end in given)
    kind = said.kind or (
        "numeric" if not is_text else "date" if all(len(str(end)) == 10 for end in given) else "datetime"
    )
    if kind not in MEASURED or is_text == (kind == "numeric"):
        what = "dates such as '2020-01-31'" if kind in ("date", "datetime") else "numbers of a numeric column"
        raise CallError(f"{where} is {kind}: bounds and bins are for {what}; declare levels of other columns")
    ends = [_end(end, kind, where) for end in given]
    if any(not low < high for low, high in pairwise(ends)):
        raise CallError(f"{where}: bounds and bins must ascend, not {quoted_list(given)}")
    is_whole = kind != "numeric" or all(isinstance(end, int) for end in given)
    if is_whole and max(map(abs, ends)) > EXACT_DOUBLE:
        raise CallError(f"{where}: whole numbers beyond 2^53 cannot be cut into parts; declare levels")
    if max(map(abs, ends)) > LARGEST:
        raise CallError(
            f"{where}: bounds and bins must lie between -{LARGEST:g} and {LARGEST:g}, not {quoted_list(given)}"
        )
    if kind != "numeric" and said.special_codes:
        raise CallError(f"{where}: special codes are for numbers; declare gaps = true for dates that are not known")
    if isinstance(said.bins, tuple):
        parts = Parts.of_ends(ends, is_whole=is_whole)
    else:
        parts = Parts.between(ends[0], ends[1], _count(said.bins), is_whole=is_whole)
    if not parts.has_steps:
        raise CallError(
            f"{where}: bounds and bins must lie so far apart that each part has {STEPS} different amounts; give "
            "fewer or wider parts, or declare levels"
        )
    return kind, parts


def _count(bins: object) -> int:
    if bins is None:
        return N_PARTS
    if not is_whole_number(bins) or not 1 <= bins <= MOST_PARTS:
        raise CallError(f"bins must be a whole number from 1 to {MOST_PARTS}, or the ends of all parts, not {bins!r}")
    return bins


def _end(end: Any, kind: Kind, where: str) -> float:
    """Return a bound as a number: of dates the day, of times the second, from 1970 on."""
    if kind == "numeric":
        return float(end) if isinstance(end, float) else int(end)
    try:
        moment = np.datetime64(end, "D" if kind == "date" else "s")
    except ValueError:
        raise CallError(f"{where}: {end!r} is not a date; write it as YYYY-MM-DD") from None
    return int(moment.astype(np.int64))
