"""What is known to everybody of the columns of a file: declared levels and bounds, which privacy rests on.

A file as one code per record and column, like :class:`unveil.synthesis.methods.coded_file.CodedFile`, but nothing in it
follows from the records: which levels there are, in which order, into which parts amounts are cut, of which types the
columns of a release are, and whether there can be gaps, is what a schema declares. Levels that nobody has are levels
too.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.checks import is_whole_number
from unveil.columns.harmonise import as_kind
from unveil.errors import CallError, DataError
from unveil.files import read
from unveil.files.arrays import buffer_view, quoted_list
from unveil.files.distinct import PER_SECOND, Distinct, distinct_values, level_text, level_texts
from unveil.files.form import TextForm
from unveil.files.nearest import near_matches
from unveil.files.schema import Schema
from unveil.files.source import KINDS, Kind, Scalar, Source, Variable
from unveil.synthesis.likelihood import require_variable
from unveil.synthesis.methods.coded_file import Codes

Floats = NDArray[np.float64]

N_PARTS = 10
"""Parts of equal width between two bounds, where no number is given."""
MOST_PARTS = 1 << 20
STEPS = 1000
"""Places within a part of amounts that are not whole, at which a release has its values."""
EXACT_DOUBLE = 2**53
LARGEST = 1e150
"""Bounds beyond it leave no room for products of amounts."""
A_DAY = 86_400
MIDNIGHT = " 00:00:00"
MEASURED = ("numeric", "date", "datetime")


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts that amounts are cut into. Amounts beyond the ends belong to the first or the last part.

    Parameters
    ----------
    ends : (k + 1,) float64
        Ends of the parts, ascending; an amount at an inner end belongs to the part above it.
    is_whole
        Whether amounts are whole numbers; the last end is then one more than the largest.

    Examples
    --------
    >>> ages = Parts.of((0, 99), 4)
    >>> ages.ends.tolist(), ages.place(np.array([-5.0, 24.9, 25.0, 99.0, 300.0])).tolist()
    ([0.0, 25.0, 50.0, 75.0, 100.0], [0, 0, 1, 3, 3])
    >>> Parts.of((0, 1), 2, is_whole=False).values(np.array([0, 1]), np.array([0, 999])).tolist()
    [0.00025, 0.99975]
    """

    ends: Floats
    is_whole: bool

    @classmethod
    def of(
        cls, bounds: tuple[float, float] | None, bins: int | Sequence[float] | None, *, is_whole: bool = True
    ) -> Parts:
        """Parts of equal width between bounds, or with the ends that are given."""
        if isinstance(bins, Sequence):
            ends = np.array(bins, dtype=np.float64)
            return cls(np.append(ends[:-1], ends[-1] + is_whole), is_whole)
        assert bounds is not None
        low, high = bounds
        n = N_PARTS if bins is None else bins
        if not is_whole:
            return cls(np.linspace(low, high, n + 1), False)
        span = int(high) - int(low) + 1
        n = min(n, span)
        return cls(np.array([int(low) + span * i // n for i in range(n + 1)], dtype=np.float64), True)

    @property
    def n(self) -> int:
        """Number of parts."""
        return self.ends.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(k,) values that a release can have in each part."""
        return np.diff(self.ends).astype(np.int64) if self.is_whole else np.full(self.n, STEPS)

    @property
    def has_steps(self) -> bool:
        """Whether the values that a release can have in a part are different numbers, with room for rounding them."""
        if self.is_whole:
            return True
        return bool(np.diff(self.ends).min() / STEPS >= 100 * np.spacing(np.abs(self.ends).max()))

    @property
    def declared(self) -> list[float]:
        """The ends as a schema has them."""
        ends: list[float] = self.ends.tolist()
        return [int(end) for end in [*ends[:-1], ends[-1] - 1]] if self.is_whole else ends

    @cached_property
    def _grid(self) -> Floats:
        """(k, STEPS) values of a release, of amounts that are not whole."""
        width = np.diff(self.ends)
        # Ten times as fine as the steps, so that rounding leaves each value in its step.
        decimals = (1 - np.floor(np.log10(width / STEPS))).astype(int).tolist()
        exact = self.ends[:-1, None] + width[:, None] * (np.arange(STEPS) + 0.5) / STEPS
        return np.array([[round(value, d) for value in row] for row, d in zip(exact.tolist(), decimals, strict=True)])

    def place(self, amounts: Floats) -> NDArray[np.int64]:
        """(n,) part of each amount."""
        return np.searchsorted(self.ends[1:-1], amounts, side="right")

    def values(self, part: NDArray[np.integer], step: NDArray[np.integer]) -> Floats:
        """(n,) the values of a release at steps within parts."""
        found: Floats = self.ends[part] + step if self.is_whole else self._grid[part, step]
        return found

    def step(self, amounts: Floats, part: NDArray[np.integer]) -> NDArray[np.int64]:
        """(n,) the step that an amount is a release's value at; -1 where it is none."""
        offset = np.nan_to_num(amounts, nan=np.inf) - self.ends[part]
        scaled = offset if self.is_whole else offset / np.diff(self.ends)[part] * STEPS
        inside = (scaled >= 0) & (scaled < self.sizes[part])
        steps = np.where(inside, scaled, 0).astype(np.int64)
        is_value = inside & np.isclose(self.values(part, steps), amounts, rtol=1e-14, atol=0)
        return np.where(is_value, steps, -1)


@dataclass(frozen=True, eq=False)
class PublicColumn:
    """One column, by what is declared of it.

    Parameters
    ----------
    name, kind
        Its name, and what its values are.
    levels
        Values of their own, as a release holds them: declared levels in their order, or special codes.
    parts
        Of amounts; they stand before the levels. None where there are none.
    gaps
        Whether a record may have no value, which is the last code then.
    labels
        Label by code, so that files of labels and of codes are both understood.
    """

    name: str
    kind: Kind
    levels: tuple[Scalar, ...]
    parts: Parts | None
    gaps: bool
    labels: Mapping[Scalar, str]

    @property
    def n_parts(self) -> int:
        """Number of parts of amounts."""
        return 0 if self.parts is None else self.parts.n

    @property
    def n_levels(self) -> int:
        """Number of codes: parts, levels, and the gap."""
        return self.n_parts + len(self.levels) + self.gaps

    @cached_property
    def within(self) -> Floats:
        """(l,) logarithm of the probability of each single value that a release can have, given its code."""
        sizes = [] if self.parts is None else self.parts.sizes.tolist()
        return -np.log(np.array([*sizes, *[1] * (self.n_levels - self.n_parts)], dtype=np.float64))

    @cached_property
    def _place(self) -> dict[str, int]:
        """Code by text of a level, and by its label."""
        found = {_key(level): self.n_parts + i for i, level in enumerate(self.levels)}
        for code, label in self.labels.items():
            for one, other in ((code, label), (label, code)):
                if _key(one) in found:
                    found.setdefault(_key(other), found[_key(one)])
        return found

    def table(self, values: pa.Array, *, released: bool = False) -> NDArray[np.int32]:
        """(v + 1,) code of each value, and at last of the gap; -1 for what is none of the declared ones.

        Parameters
        ----------
        values
            Values without gaps, of any file.
        released
            Whether amounts must be values that a release can have; else they are counted to their part.
        """
        texts = [_key(text) for text in level_texts(values)]
        if self.kind == "date":
            texts = [text.removesuffix(MIDNIGHT) for text in texts]
        codes = np.array([self._place.get(text, -1) for text in texts] + [-1], dtype=np.int32)
        if self.gaps:
            codes[-1] = self.n_levels - 1
        if self.parts is not None:
            amounts = _amounts(values, self.kind)
            rows = np.flatnonzero((codes[:-1] < 0) & ~np.isnan(amounts))
            part = self.parts.place(amounts[rows])
            codes[rows] = np.where(self.parts.step(amounts[rows], part) >= 0, part, -1) if released else part
        return codes

    def draw(self, codes: Codes, rng: np.random.Generator) -> pa.Array:
        """Values of records: levels as they are declared, amounts drawn evenly within their part."""
        is_gap = codes == self.n_levels - 1 if self.gaps else np.zeros(codes.size, dtype=np.bool_)
        levels = _as_array(self.levels, self.kind)
        if self.parts is None:
            indices = pa.array(np.where(is_gap, 0, codes), mask=is_gap)
            return (
                pa.DictionaryArray.from_arrays(indices, levels, ordered=True)
                if (self.kind == "ordered")
                else levels.take(indices)
            )
        # Every record draws, so that no draw depends on what others have.
        part = np.where(codes < self.n_parts, codes, 0)
        amounts = self.parts.values(part, (rng.random(codes.size) * self.parts.sizes[part]).astype(np.int64))
        own = np.append(np.array(self.levels, dtype=np.float64), 0.0)
        values = np.where(codes < self.n_parts, amounts, own[np.clip(codes - self.n_parts, 0, len(self.levels))])
        is_whole = self.parts.is_whole and not (own % 1).any()
        plain = pa.array(values.astype(np.int64) if is_whole else values, mask=is_gap)
        return {
            "date": lambda: plain.cast(pa.int32()).cast(pa.date32()), "datetime": lambda: plain.cast(pa.timestamp("s")),
        }.get(self.kind, lambda: plain)()  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """What is declared, as plain values."""
        said: dict[str, Any] = {"kind": self.kind}
        if self.parts is None:
            said["levels"] = list(self.levels)
        else:
            ends = [_plain(end, self.kind) for end in self.parts.declared]
            said |= {"bounds": [ends[0], ends[-1]], "bins": ends, "special_codes": list(self.levels)}
        return said | {"gaps": self.gaps}


@dataclass(frozen=True, eq=False)
class PublicFile:
    """An original in codes of what is declared.

    Parameters
    ----------
    variables : tuple of PublicColumn
        The columns.
    source : Source
        The records; of them only the codes are looked at.
    codes : list of (n,) int32
        Per column.
    """

    variables: tuple[PublicColumn, ...]
    source: Source
    codes: list[Codes]

    @classmethod
    def of(cls, source: Source, kinds: Mapping[str, Kind] | None = None) -> PublicFile:
        """Code a file by what a schema declares.

        Raises
        ------
        CallError
            If a column lacks a declaration, or one is contradictory.
        DataError
            If a record has a value that is not declared.
        """
        variables = public_columns(source, kinds)
        return cls(variables, source, [_coded(variable, source) for variable in variables])

    @property
    def n(self) -> int:
        """Number of records."""
        return self.source.num_rows

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Per column the number of levels."""
        return tuple(variable.n_levels for variable in self.variables)

    def within(self, column: int) -> Floats:
        """(l,) logarithm of the probability of each single value that a release can have, given its code."""
        return self.variables[column].within

    def open(self, release: Any) -> Source:
        """A release as a source; text is read as the columns are declared."""
        named = isinstance(release, str | os.PathLike)
        source = read(release, label=None if named or isinstance(release, Source) else "the release")
        if not named:
            return source
        return read(release, schema={v.name: Variable(v.name, v.kind) for v in self.variables if v.name in source})

    def read(self, source: Source) -> tuple[list[Codes], list[NDArray[np.bool_]]]:
        """Codes of the records of a release, and whether it holds what cannot have been drawn."""
        codes, unknown = [], []
        for variable in self.variables:
            require_variable(source, variable.name)
            found = _found(variable, source)
            own = variable.table(found.values, released=True)[found.codes]
            unknown.append(own < 0)
            codes.append(np.maximum(own, 0))
        return codes, unknown

    def frame(self, codes: Sequence[Codes], rng: np.random.Generator) -> Any:
        """A frame of records, in the flavour of the original; types follow from what is declared."""
        drawn = pa.table({v.name: v.draw(own, rng) for v, own in zip(self.variables, codes, strict=True)})
        if self.source.flavour == "arrow":
            return drawn
        import narwhals as nw

        return nw.from_arrow(drawn, backend=self.source.flavour).to_native()

    @property
    def form(self) -> TextForm:
        """How a release is written as text: as nothing but the program says."""
        return TextForm()

    def to_dict(self) -> dict[str, Any]:
        """What is declared of every column, as plain values."""
        return {variable.name: variable.to_dict() for variable in self.variables}


def public_columns(source: Source, kinds: Mapping[str, Kind] | None = None) -> tuple[PublicColumn, ...]:
    """What a schema declares of every column of a file.

    Raises
    ------
    CallError
        If a column lacks a declaration, or one is contradictory.
    """
    for name, kind in (kinds or {}).items():
        if name not in source:
            raise CallError(f"{source.label} has no column {name!r}{near_matches(str(name), source.names)}")
        if kind not in KINDS:
            raise CallError(f"column {name!r}: unknown kind {kind!r}; choose from {', '.join(KINDS)}")
    declared = source.declared
    if isinstance(declared, Schema) and not declared.public:
        raise CallError(
            f"{declared.label}: its levels were taken from the records, and would give away who is among them. See "
            "that levels and bounds are known to everybody, complete them by what nobody happens to have, and set "
            "public = true; or give epsilon=None (--epsilon inf) for no claim of privacy"
        )
    said = {name: replace(declared.get(name, Variable(name)), name=name) for name in source.names}
    said = {name: replace(one, kind=(kinds or {}).get(name) or one.kind) for name, one in said.items()}
    _refuse_undeclared({name: lack for name, one in said.items() if (lack := _lacks(one, source))})
    return tuple(_public_column(one, source.variable(name).labels) for name, one in said.items())


def _lacks(said: Variable, source: Source) -> str | None:
    """What a schema has to say of a column, and does not."""
    if said.levels or said.bounds is not None or isinstance(said.bins, tuple) or said.kind == "logical":
        return None
    found = source.column(said.name).type
    kind = said.kind or ("numeric" if pa.types.is_integer(found) or pa.types.is_floating(found) else None)
    if kind is None and pa.types.is_boolean(found):
        # What is not text has this type whatever the records hold.
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
    """A column by its declaration.

    Raises
    ------
    CallError
        If the declaration is contradictory.
    """
    where = f"column {said.name!r}"
    has_parts = said.bounds is not None or isinstance(said.bins, tuple)
    if said.levels and has_parts:
        raise CallError(f"{where}: declare either levels, or bounds and bins, not both")
    labels = {**labels, **said.labels}
    if has_parts:
        kind, ends, is_whole = _measured(said, where)
        if kind != "numeric" and said.special_codes:
            raise CallError(f"{where}: special codes are for numbers; declare gaps = true for dates that are not known")
        bounds, bins = (None, ends) if isinstance(ends, list) else (ends, _count(said.bins))
        parts = Parts.of(bounds, bins, is_whole=is_whole)
        if not parts.has_steps:
            raise CallError(
                f"{where}: bounds and bins must lie so far apart that each part has {STEPS} different amounts; give "
                "fewer or wider parts, or declare levels"
            )
        column = PublicColumn(said.name, kind, tuple(said.special_codes), parts, bool(said.gaps), labels)
    else:
        levels = said.levels or (False, True)
        extra = tuple(code for code in said.special_codes if _key(code) not in set(map(_key, levels)))
        kind = said.kind or ("logical" if all(isinstance(level, bool) for level in levels) else "categorical")
        column = PublicColumn(said.name, kind, (*levels, *extra), None, bool(said.gaps), labels)
        _as_array(column.levels, kind, where)
    if len(set(map(_key, column.levels))) < len(column.levels):
        raise CallError(f"{where}: two of the declared levels are one: {quoted_list(column.levels)}")
    if not all(isinstance(level, int | float) for level in column.levels) and has_parts:
        raise CallError(f"{where}: special codes of a numeric column are numbers, not {quoted_list(column.levels)}")
    return column


def _count(bins: object) -> int | None:
    if bins is None:
        return None
    if not is_whole_number(bins) or not 1 <= bins <= MOST_PARTS:
        raise CallError(f"bins must be a whole number from 1 to {MOST_PARTS}, or the ends of all parts, not {bins!r}")
    return bins


def _measured(said: Variable, where: str) -> tuple[Kind, Any, bool]:
    """Kind of a column of amounts; its two bounds, or a list of the ends of its parts; whether these are whole."""
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
    return kind, ends if isinstance(said.bins, tuple) else (ends[0], ends[1]), is_whole


def _end(end: Any, kind: Kind, where: str) -> float:
    """A bound as a number: of dates the day, of times the second, from 1970 on."""
    if kind == "numeric":
        return float(end) if isinstance(end, float) else int(end)
    try:
        moment = np.datetime64(end, "D" if kind == "date" else "s")
    except ValueError:
        raise CallError(f"{where}: {end!r} is no date; write it as YYYY-MM-DD") from None
    return int(moment.astype(np.int64))


def _plain(end: float, kind: Kind) -> Scalar:
    """The opposite of :func:`_end`."""
    return end if kind == "numeric" else str(np.datetime64(int(end), "D" if kind == "date" else "s"))


def _key(value: object) -> str:
    """The text that values are compared by."""
    return unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else level_text(value)


def _as_array(levels: Sequence[Scalar], kind: Kind, where: str = "levels") -> pa.Array:
    """Declared levels in the type that a release has them in."""
    try:
        if kind in ("date", "datetime"):
            return pa.array(list(map(str, levels)), pa.string()).cast(
                pa.date32() if kind == "date" else pa.timestamp("s")
            )
        if all(isinstance(level, bool) for level in levels):
            return pa.array(levels, pa.bool_())
        if all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels):
            is_whole = all(isinstance(level, int) for level in levels)
            return pa.array(levels, pa.int64() if is_whole else pa.float64())
    except (pa.ArrowInvalid, OverflowError):
        raise CallError(f"{where}: {quoted_list(levels)} are no levels of a {kind} column") from None
    if kind in ("numeric", "logical"):
        raise CallError(f"{where}: {quoted_list(levels)} are no levels of a {kind} column")
    return pa.array([level_text(level) for level in levels], pa.string())


def _amounts(values: pa.Array, kind: Kind) -> Floats:
    """(v,) numbers, days or seconds; NaN for what is none."""
    found = values.type
    if pa.types.is_timestamp(found):
        seconds = buffer_view(values.cast(pa.int64()), np.int64) // PER_SECOND[found.unit]
        return (seconds // A_DAY if kind == "date" else seconds).astype(np.float64)
    if pa.types.is_date(found):
        days = buffer_view(values.cast(pa.int32()), np.int32).astype(np.float64)
        return days * A_DAY if kind == "datetime" else days
    if pa.types.is_integer(found) or pa.types.is_floating(found):
        return np.array(buffer_view(values.cast(pa.float64(), safe=False), np.float64))
    return np.full(len(values), np.nan)


def _found(variable: PublicColumn, source: Source) -> Distinct:
    found = distinct_values(source.column(variable.name), label=source.label, name=variable.name)
    return as_kind(found, variable.kind) if variable.parts is not None else found


def _coded(variable: PublicColumn, source: Source) -> Codes:
    """Codes of the records.

    Raises
    ------
    DataError
        If a record has what is not declared.
    """
    found = _found(variable, source)
    codes = variable.table(found.values)[found.codes]
    wrong = np.flatnonzero(codes < 0)
    if not wrong.size:
        return codes
    first = int(found.codes[wrong[0]])
    what = "no value" if first == len(found.values) else repr(level_texts(found.values.slice(first, 1))[0])
    way_out = "gaps = true" if first == len(found.values) else "the level, or a level for all others,"
    raise DataError(
        f"{source.label}: column {variable.name!r}, record {int(wrong[0]) + 1} has {what}, which the schema does not "
        f"declare; declare {way_out} if that is known to everybody, or correct the record. That there is such a record "
        "must not be told"
    )
