"""Plausibility of a release: rules that its records break, and combinations that nobody in the original has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import as_names
from unveil._tables.sums import percent
from unveil.checks import check_whole_numbers
from unveil.columns.conditions import FALSE, UNKNOWN, Condition, Truth
from unveil.columns.known_columns import KnownColumn
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.columns.stated_rules import Given, checked_by, listed_rules, stated_rules
from unveil.errors import CallError, enough_memory
from unveil.files.distinct import python_values
from unveil.files.nearest import near_matches
from unveil.files.source import Flavour
from unveil.notes import Note
from unveil.result import Result

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class _Coded:
    """What the records of a file have in a column."""

    codes: NDArray[np.int32]
    new: None = None


@dataclass(frozen=True, eq=False)
class PairColumns(Mapping[str, KnownColumn]):
    """The columns of a pair as rules know them, each read when it is asked for."""

    pair: Pair

    def __getitem__(self, name: str) -> KnownColumn:
        if name not in self.pair.names:
            raise KeyError(name)
        column = self.pair.column(name)
        values = [*python_values(column.levels), *([None] if column.has_gap else [])]
        return KnownColumn(name, values, frozenset(column.special), np.unique(column.original).tolist())

    def __iter__(self) -> Iterator[str]:
        return iter(self.pair.names)

    def __len__(self) -> int:
        return len(self.pair.names)


@dataclass(frozen=True, repr=False)
class Plausibility(Result):
    """How many records of the original and of each release break rules, or have combinations that nobody has.

    Attributes
    ----------
    rules
        By rule, per file, the original first: ``broken``, the number of records that break it; ``share``, percent of
        the records; ``unknown``, the number of which it is not known, because a value is missing.
    combinations
        By set of columns, per release: ``records``, the number of records whose combination no original record has;
        ``share``, percent of the records; ``combinations``, the number of such combinations.
    implausible
        Per file, percent of records that break any of the rules.
    labels, label_original
        What the releases, and the original, are called.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    warnings
        What deserves a look in the files.
    """

    _words = "words.plausibility.plausible"
    _drawing = "plots.plausibility.plot_plausibility"

    rules: Mapping[str, tuple[Mapping[str, float], ...]]
    combinations: Mapping[str, tuple[Mapping[str, float], ...]]
    implausible: tuple[float, ...]
    labels: tuple[str, ...]
    label_original: str
    n_original: int
    n_synthetic: tuple[int, ...]
    warnings: tuple[str, ...]
    flavour: Flavour
    _broken: Mapping[str, tuple[Mask, ...]] = field(repr=False, compare=False)
    _new: Mapping[str, tuple[Mask, ...]] = field(repr=False, compare=False)

    @property
    def files(self) -> tuple[str, ...]:
        """What the files are called, the original first."""
        return (self.label_original, *self.labels)

    def _columns(self) -> dict[str, Any]:
        """A row per rule, or set of columns, and file."""
        rows = [
            (what, file, one[n], one["share"], one.get("unknown"), one.get("combinations"))
            for found, labels, n in ((self.rules, self.files, "broken"), (self.combinations, self.labels, "records"))
            for what, files in found.items()
            for file, one in zip(labels, files, strict=True)
        ]  # fmt: skip
        names = ("rule", "file", "records", "share", "unknown", "combinations")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def records(self, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per record of a release: its number from 0, and by rule and set of columns whether it breaks or is new.

        Parameters
        ----------
        release
            Position of the release.
        flavour
            Kind of frame; by default that of the original.

        Raises
        ------
        CallError
            If there is no such release.
        """
        check_whole_numbers(0, len(self.n_synthetic) - 1, release=release)
        columns: dict[str, Any] = {"record": np.arange(self.n_synthetic[release])}
        columns |= {f"breaks {rule}": files[release + 1] for rule, files in self._broken.items()}
        columns |= {f"new {names}": files[release] for names, files in self._new.items()}
        return self._frame(columns, flavour)


@enough_memory()
@pair_first
def plausibility(
    pair: Pair, rules: Given | None = None, *, combinations: Sequence[str | Sequence[str]] = ()
) -> Plausibility:
    """Count the released records that cannot be: those that break declared rules, and combinations that nobody has.

    A rule is broken by a record of which it is false; where a value that it needs is missing it can be unknown, which
    breaks nothing. The original's own share stands beside each: data break rules too.

    Parameters
    ----------
    pair
        The original and its releases.
    rules
        One rule or several, as :func:`unveil.synthesize` takes them: conditions (``"not (sex == 'MALE' and pregnant ==
        'YES')"``), formulas (``"net = gross - tax"``), values by a condition (``"marital=SINGLE if age < 16"``).
    combinations
        Sets of columns, each a list of names or a text with commas: released combinations of their values count that no
        original record has. A gap is a value.

    Returns
    -------
    Plausibility
        Counts and shares by rule and set, for every file.

    Raises
    ------
    CallError
        If nothing is asked, a rule cannot be read, or a column is unknown.
    DataError
        If a release lacks a column, or its values cannot be compared.

    Notes
    -----
    A combination that nobody in the original has need not be impossible: a synthesis may draw what a sample has missed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "m", "f"], "age": [15, 40, 30], "married": ["no", "yes", "no"]})
    >>> release = pa.table({"sex": ["f", "m", "m"], "age": [15, 15, 30], "married": ["no", "yes", "no"]})
    >>> found = unveil.plausibility(unveil.Pair(original, release), "age >= 16 or married == 'no'",
    ...                             combinations=["sex,married"])
    >>> [one["broken"] for one in found.rules["age >= 16 or married == 'no'"]]
    [0, 1]
    >>> found.combinations["sex, married"][0]["records"]
    1
    """
    pair = pair.rows
    sets = [as_names(one.split(",") if isinstance(one, str) else one, "column") for one in _listed(combinations)]
    stated = stated_rules(rules)
    checks = checked_by(stated, PairColumns(pair))
    if not checks and not sets:
        raise CallError("plausibility: give rules, or combinations of columns; there is nothing to check")
    named = [*(name for one in checks for name in sorted(one.variables)), *(name for one in sets for name in one)]
    pair.require(tuple(dict.fromkeys(named)))
    sizes = (pair.n_original, *pair.n_synthetic)
    found = {check.text: [check.truth(_records(pair, check.variables, file)) for file in range(len(sizes))]
             for check in checks}  # fmt: skip
    broken = {text: tuple(truth == FALSE for truth in files) for text, files in found.items()}
    new = {", ".join(names): _unseen(pair, names) for names in sets}
    return Plausibility(
        rules={text: tuple(map(_counted, files)) for text, files in found.items()},
        combinations={
            text: tuple(
                {"records": int(mask.sum()), "share": percent(int(mask.sum()), mask.size), "combinations": distinct}
                for mask, distinct in files
            )
            for text, files in new.items()
        },
        implausible=tuple(
            percent(int(np.logical_or.reduce([files[file] for files in broken.values()]).sum()) if broken else 0, size)
            for file, size in enumerate(sizes)
        ),
        labels=tuple(pair.labels),
        label_original=pair.original.label,
        n_original=pair.n_original,
        n_synthetic=tuple(pair.n_synthetic),
        warnings=(*pair.notes([pair.column(name) for name in dict.fromkeys(named)]), *_strange(checks, pair)),
        flavour=pair.flavour,
        _broken=broken,
        _new={text: tuple(mask for mask, _ in files) for text, files in new.items()},
    )


def checked_rules(pair: Pair, given: Sequence[str]) -> tuple[str, ...]:
    """Rules, those of files among them, checked against the columns of a pair.

    Raises
    ------
    CallError
        If a rule cannot be read, or names a column that there is not.
    DataError
        If a release lacks a column.
    """
    rules, pair = listed_rules(given), pair.rows
    for one in checked_by(rules, PairColumns(pair)):
        pair.require(tuple(sorted(one.variables)))
    return rules


def _strange(checks: Sequence[Condition], pair: Pair) -> list[Note]:
    """Notes on texts in rules that no file has in the column, as a mistyped one: such a rule may seem to be kept."""
    columns = PairColumns(pair)
    named = dict.fromkeys(
        (name, value) for check in checks for name, value in check.constants if name and isinstance(value, str)
    )
    notes = []
    for name, value in named:
        values = [one for one in columns[name].values if one is not None]
        if value not in values and all(isinstance(one, str) for one in values):
            near = near_matches(value, map(str, values))
            notes.append(
                Note(
                    f"rules: no file has {value!r} in column {name!r}{near or '; check how it is spelt'}",
                    f"rules: no file has one of the values that they name in column {name!r}",
                )
            )
    return notes


def _listed(combinations: Any) -> list[Any]:
    if isinstance(combinations, str) or not isinstance(combinations, Sequence):
        raise CallError(f"combinations is a list of sets of columns, such as [['sex', 'age']], not {combinations!r}")
    return list(combinations)


def _records(pair: Pair, names: Sequence[str] | frozenset[str], file: int) -> dict[str, _Coded]:
    columns = {name: pair.column(name) for name in names}
    return {name: _Coded(one.original if file == 0 else one.releases[file - 1]) for name, one in columns.items()}


def _counted(truth: Truth) -> dict[str, float]:
    broken = int((truth == FALSE).sum())
    return {"broken": broken, "share": percent(broken, truth.size), "unknown": int((truth == UNKNOWN).sum())}


def _unseen(pair: Pair, names: Sequence[str]) -> list[tuple[Mask, int]]:
    """Per release, which of its records (n,) have a combination that no original record has, and how many such."""
    columns = [pair.column(name) for name in names]
    files = [np.vstack([one.original for one in columns])]
    files += [np.vstack([one.releases[i] for one in columns]) for i in range(pair.n_releases)]
    place = np.unique(np.hstack(files), axis=1, return_inverse=True)[1].ravel()
    original, *releases = np.split(place, np.cumsum([file.shape[1] for file in files])[:-1])
    masks = [~np.isin(release, original) for release in releases]
    return [(mask, np.unique(release[mask]).size) for mask, release in zip(masks, releases, strict=True)]
