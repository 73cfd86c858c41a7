"""k-anonymity, l-diversity and t-closeness: how well each file hides a person among others with the same keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import Groups, KeyedPair, as_names, coded, targets_of
from unveil._tables.study import pair_of, study_of
from unveil._tables.sums import percent
from unveil.columns.column import CodedColumn
from unveil.errors import enough_memory
from unveil.files.source import Flavour
from unveil.result import Result

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

BELOW = (2, 3, 5, 10)
"""Sizes of which it is told how many records are in smaller classes."""


@dataclass(frozen=True, repr=False)
class Anonymity(Result):
    """How well the original and each release hide a person among records with the same keys.

    A class is all records of one file with the same combination of keys.

    Attributes
    ----------
    keys, targets
        The key variables, and the target variables.
    files
        Per file, the original first: ``records``; ``classes``; ``k``, the size of its smallest class; ``below_2``,
        ``below_3``, ``below_5`` and ``below_10``, percent of its records in classes of fewer records.
    sizes
        Per file, the number of classes by their size.
    diversity
        By target, per file: ``l``, the smallest number of values in a class; ``entropy_l``, the smallest exponential of
        the entropy of the values in a class; ``t``, the largest distance of the values in a class from those of the
        file; ``one_value``, percent of records whose class has one value only.
    distances
        By target, how ``t`` is measured: "ordered", the earth mover's distance between amounts or ordered levels by
        their ranks; "equal", half the sum of absolute differences of shares.
    labels
        What the files are called, the original first.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    grouping
        How numeric keys were cut, by key.
    warnings
        What deserves a look in the files.
    """

    _words = "words.tables.anonymity"
    _drawing = "plots.tables.plot_anonymity"

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    files: tuple[Mapping[str, float], ...]
    sizes: tuple[Mapping[int, int], ...]
    diversity: Mapping[str, tuple[Mapping[str, float], ...]]
    distances: Mapping[str, str]
    labels: tuple[str, ...]
    n_original: int
    n_synthetic: tuple[int, ...]
    grouping: Mapping[str, Mapping[str, object]]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)

    def _columns(self) -> dict[str, Any]:
        """A row per file."""
        found: dict[str, list[Any]] = {"file": list(self.labels)}
        for name in self.files[0]:
            found[name] = [one[name] for one in self.files]
        for target, rows in self.diversity.items():
            for name in rows[0]:
                found[f"{target}: {name}"] = [row[name] for row in rows]
        return found


@enough_memory()
def anonymity(
    pair: Any, keys: str | Sequence[str], *, targets: str | Sequence[str] | None = (), ngroups_keys: Groups = None,
    ngroups_target: Groups = None,
) -> Anonymity:  # fmt: skip
    """Measure k-anonymity, l-diversity and t-closeness of the original and of each release.

    They describe one file by itself. In a release whose records are those of persons (an anonymised file) a class of
    k records leaves an intruder k candidates. In a synthetic release no record is a person's, and these figures do not
    measure disclosure: compare them with :func:`unveil.identity` and :func:`unveil.attribute`.

    Parameters
    ----------
    pair
        The original and its releases: a :class:`unveil.Pair`. Or one file by itself, as :func:`unveil.read` takes it.
    keys
        The key variables.
    targets
        The target variables for l and t; by default none. None: every other column that all files have.
    ngroups_keys, ngroups_target
        Number of groups into which numeric keys or targets are cut: for all of them, or by column.

    Returns
    -------
    Anonymity
        A row per file: k, records in small classes, and by target l, entropy l and t.

    Raises
    ------
    CallError
        If a column is unknown or repeated, or a target is among the keys.
    DataError
        If a release lacks a column, or its values cannot be compared.

    Notes
    -----
    Of the ``n_c`` records of class c, a share ``p_cv`` has the value v; of all records of the file a share ``P_v``.
    ``k = min n_c``; ``l = min #{v: p_cv > 0}``; ``entropy l = min exp(-sum p_cv log p_cv)``; and ``t`` is the maximum
    over classes of ``sum_v |p_cv - P_v| / 2``, or for the m amounts or ordered levels of the file of
    ``sum_i |sum_(v <= i) (p_cv - P_v)| / (m - 1)``. A gap is a value, of keys and of targets. A target with gaps or
    special codes, which have no place in the order, is measured by the first distance.

    References
    ----------
    Sweeney, L. (2002). k-anonymity: a model for protecting privacy. International Journal of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10, 557-570. doi:10.1142/S0218488502001648
    Machanavajjhala, A. et al. (2007). l-diversity: privacy beyond k-anonymity. ACM Transactions on Knowledge Discovery
    from Data 1 (1). doi:10.1145/1217299.1217302
    Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity. ICDE 2007.
    doi:10.1109/ICDE.2007.367856

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"age": [30, 31, 40, 41], "ill": ["no", "yes", "no", "no"]})
    >>> release = pa.table({"age": [30, 30, 40, 40], "ill": ["no", "yes", "no", "no"]})
    >>> found = unveil.anonymity(unveil.Pair(original, release), ["age"], targets=["ill"])
    >>> [int(one["k"]) for one in found.files], [int(one["l"]) for one in found.diversity["ill"]]
    ([1, 2], [1, 1])
    >>> int(unveil.anonymity(release, ["age"]).files[0]["k"])
    2
    """
    without = isinstance(targets, list | tuple) and not targets
    asked = None if without or targets is None else as_names(targets, "target")
    pair, alone = pair_of(pair)
    study = study_of(pair, keys, asked or (), ngroups_keys=ngroups_keys)
    pair = study.pair
    names, said = ((), ()) if without else targets_of(pair, study.keys, None, asked)
    columns = [coded(pair, name, ngroups_target) for name in names]
    ordered = [_in_order(column) for column in columns]
    measures: list[Callable[[KeyedPair], Any]] = [_Sizes.of, *map(_Measure, columns, ordered)]
    sizes, *found = study.total([None, *columns], measures)
    n = (pair.n_original, *(() if alone else pair.n_synthetic))
    shown = len(n)
    return Anonymity(
        keys=study.keys,
        targets=tuple(names),
        files=tuple(_described(one, records) for one, records in zip(sizes.by_file, n, strict=False)),
        sizes=tuple(dict(sorted(one.items())) for one in sizes.by_file[:shown]),
        diversity={
            name: tuple(one.to_dict(records) for one, records in zip(target.by_file, n, strict=False))
            for name, target in zip(names, found, strict=True)
        },
        distances={name: "equal" if order is None else "ordered" for name, order in zip(names, ordered, strict=True)},
        labels=(pair.original.label, *pair.labels)[:shown],
        n_original=pair.n_original,
        n_synthetic=n[1:],
        grouping=study.groupings(*columns),
        warnings=tuple(dict.fromkeys((*study.notes(*columns), *said))),
        flavour=pair.flavour,
        unit=pair.unit,
    )


def _described(sizes: Mapping[int, int], records: int) -> dict[str, float]:
    small = {f"below_{k}": percent(sum(size * n for size, n in sizes.items() if size < k), records) for k in BELOW}
    return {
        "records": records,
        "classes": sum(sizes.values()),
        "k": min(sizes) if sizes else float("nan"),
        **small,
    }


@dataclass(frozen=True)
class _Sizes:
    """Per file the number of classes by their size; adds up over disjoint sets of keys."""

    by_file: tuple[dict[int, int], ...]

    @classmethod
    def of(cls, keys: KeyedPair) -> _Sizes:
        """Count the classes of some keys."""
        original, releases = keys.combinations.counts()
        found = []
        for tally in (original, *releases):
            sizes, classes = np.unique(tally[tally > 0], return_counts=True)
            found.append(dict(zip(sizes.tolist(), classes.tolist(), strict=True)))
        return cls(tuple(found))

    def __add__(self, other: _Sizes) -> _Sizes:
        return _Sizes(
            tuple(
                {size: one.get(size, 0) + two.get(size, 0) for size in {*one, *two}}
                for one, two in zip(self.by_file, other.by_file, strict=True)
            )
        )


@dataclass(frozen=True)
class _Diversity:
    """The least diverse class of one file."""

    values: int = np.iinfo(np.int64).max
    entropy: float = np.inf
    distance: float = -np.inf
    of_one_value: int = 0

    def to_dict(self, records: int) -> dict[str, float]:
        """The measures by name; not defined for a file without records."""
        if not np.isfinite(self.entropy):
            return dict.fromkeys(("l", "entropy_l", "t", "one_value"), float("nan"))
        return {
            "l": self.values,
            "entropy_l": float(np.exp(self.entropy)),
            "t": self.distance,
            "one_value": percent(self.of_one_value, records),
        }

    def __add__(self, other: _Diversity) -> _Diversity:
        return _Diversity(
            min(self.values, other.values),
            min(self.entropy, other.entropy),
            max(self.distance, other.distance),
            self.of_one_value + other.of_one_value,
        )


@dataclass(frozen=True)
class _OfTarget:
    """The least diverse class of each file; adds up over disjoint sets of keys."""

    by_file: tuple[_Diversity, ...]

    def __add__(self, other: _OfTarget) -> _OfTarget:
        return _OfTarget(tuple(one + two for one, two in zip(self.by_file, other.by_file, strict=True)))


@dataclass(frozen=True, eq=False)
class _Measure:
    """The measure of a target: a function of some keys.

    Parameters
    ----------
    target
        The target.
    order : (n_levels,) int64 or None
        Rank of each of its levels; None where they have none.
    """

    target: CodedColumn
    order: Counts | None

    def __call__(self, keys: KeyedPair) -> _OfTarget:
        found = [_Diversity() for _ in self.target.counts]
        for release in range(len(found) - 1):
            for cells in keys.blocks(self.target, release):
                files = ((0, cells.d),) if release == 0 else ()
                for file, counts in (*files, (release + 1, cells.s)):
                    held = counts > 0
                    if held.any():
                        found[file] += self._least(file, cells.q[held], cells.t[held], counts[held])
        return _OfTarget(tuple(found))

    def _least(self, file: int, q: Counts, t: Counts, counts: Counts) -> _Diversity:
        """The least diverse of the classes whose cells (k,) are given, in the order of q."""
        starts = np.flatnonzero(np.append(True, q[1:] != q[:-1]))
        values = np.diff(starts, append=len(q))
        records = np.add.reduceat(counts, starts)
        share = counts / np.repeat(records, values)
        entropy = -np.add.reduceat(share * np.log(share), starts)
        everybody = self.target.counts[file][: self.target.n_levels].astype(np.float64)
        everybody /= everybody.sum()
        if self.order is None:
            both = np.minimum(share, everybody[t])
            distance = 1 - np.add.reduceat(both, starts)
        else:
            distance = ordered_distances(self.order[t], share, starts, everybody[np.argsort(self.order)])
        return _Diversity(
            int(values.min()), float(entropy.min()), float(distance.max()), int(records[values == 1].sum())
        )


def ordered_distances(place: Counts, share: Floats, starts: NDArray[np.intp], everybody: Floats) -> Floats:
    """Earth mover's distances between the values of classes and those of all records, by the ranks of the values.

    Parameters
    ----------
    place : (k,) int64
        Rank of the value of each cell.
    share : (k,) float64
        Its share of the records of its class.
    starts : (c,) int
        First cell of each class.
    everybody : (m,) float64
        Shares of all records by rank; values that nobody has do not count.

    Returns
    -------
    (c,) float64
        Distances, from 0 to 1; 0 where all records have one value.

    Examples
    --------
    >>> ordered_distances(np.array([0, 1, 2]), np.array([1.0, 0.5, 0.5]), np.array([0, 1]), np.full(3, 1 / 3)).round(3)
    array([0.5 , 0.25])
    """
    held = everybody > 0
    rank = np.cumsum(held) - 1
    upto = np.cumsum(everybody[held])
    m = upto.size
    if m == 1:
        return np.zeros(len(starts))
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(place)))
    order = np.lexsort((place, owner))
    place, share = rank[place[order]], share[order]
    # Between two of its values the distribution function of a class is constant, c; that of all records rises from
    # below c to above it at one place, x. Before the first value it is 0.
    below = np.cumsum(share)
    below -= np.repeat(below[starts] - share[starts], np.diff(starts, append=len(place)))
    end = np.append(place[1:], m)
    end[np.append(starts[1:], len(place)) - 1] = m
    total = np.append(0.0, np.cumsum(upto))
    x = np.clip(np.searchsorted(upto, below), place, end)
    between = (below * (x - place) - (total[x] - total[place])) + ((total[end] - total[x]) - below * (end - x))
    distance: Floats = (np.add.reduceat(between, starts) + total[place[starts]]) / (m - 1)
    return distance


def _in_order(target: CodedColumn) -> Counts | None:
    """(n_levels,) the rank of each level of a target; None where some of its levels have no place in an order."""
    if target.has_gap or target.special or target.infinite:
        return None
    if target.kind == "ordered":
        return np.arange(target.n_levels)
    if not target.has_amounts:
        return None
    rank = np.empty(target.n_levels, dtype=np.int64)
    rank[np.argsort(target.amounts, kind="stable")] = np.arange(target.n_levels)
    return rank
