"""Structure preservation: which key combinations of the original the release keeps, and which it invents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import Groups, KeyedPair
from unveil._tables.study import study_of
from unveil._tables.sums import mean_over, percent
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.errors import enough_memory
from unveil.files.source import Flavour
from unveil.result import Result, columns_of


@dataclass(frozen=True, repr=False)
class Structure(Result):
    """How the key combinations of the releases relate to those of the original.

    Attributes
    ----------
    keys
        The key variables.
    releases
        Per release: ``combinations_original``, ``combinations_synthetic``, ``combinations_novel`` (counts);
        ``percent_novel``, of synthetic combinations; ``combinations_preserved``, percent of original combinations that
        the release has; ``p_original_given_synthetic``, percent of synthetic combinations that the original has;
        ``records_in_original`` and ``records_novel``, percent of synthetic records whose combination the original has,
        or lacks.
    mean
        The same, averaged over the releases where defined.
    union
        The same for all releases taken as one.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    labels
        What the releases are called.
    grouping
        How numeric keys were cut, by key.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        What deserves a look in the files, and what makes the figures unreliable.
    """

    _words = "words.tables.structure"
    _drawing = "plots.tables.plot_structure"

    keys: tuple[str, ...]
    releases: tuple[Mapping[str, float], ...]
    mean: Mapping[str, float]
    union: Mapping[str, float]
    n_original: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    grouping: Mapping[str, Mapping[str, object]]
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)

    def _columns(self) -> dict[str, Any]:
        """A row per release."""
        return {"release": self.labels} | columns_of(self.releases)


@enough_memory()
@pair_first
def structure(pair: Pair, keys: str | Sequence[str], *, ngroups_keys: Groups = None) -> Structure:
    """Measure how far the releases keep the original's key combinations.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables.
    ngroups_keys
        Number of groups into which numeric keys are cut: for all of them, or by key.

    Returns
    -------
    Structure
        Counts and percentages per release, and for their union.

    Raises
    ------
    CallError
        If a key is unknown or repeated.
    DataError
        If a release lacks a key, or its values cannot be compared.

    References
    ----------
    Latner, Neunhoeffer & Drechsler (2026), When privacy measures fail.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> pair = unveil.Pair(pa.table({"age": [30, 30, 40]}), pa.table({"age": [30, 50]}))
    >>> unveil.structure(pair, "age").mean["percent_novel"]
    50.0
    """
    study = study_of(pair, keys, ngroups_keys=ngroups_keys)
    (counts,) = study.total([None], [_Compared.of])
    *releases, union = counts.measures()
    return Structure(
        keys=study.keys,
        releases=tuple(releases),
        mean=mean_over(releases),
        union=union,
        n_original=pair.n_original,
        n_synthetic=pair.n_synthetic,
        labels=pair.labels,
        grouping=study.groupings(),
        unmatched=study.unmatched(),
        warnings=study.notes(),
        flavour=pair.flavour,
        unit=pair.unit,
    )


@dataclass(frozen=True)
class _Compared:
    """Numbers of key combinations, of each release and of all together; adds up over disjoint sets of them.

    Parameters
    ----------
    original
        Combinations of the original.
    synthetic, both, records, records_in_original : (m + 1,) int64
        Combinations of the release; of both files; records of the release; those whose combination the original has.
    """

    original: int
    synthetic: NDArray[np.int64]
    both: NDArray[np.int64]
    records: NDArray[np.int64]
    records_in_original: NDArray[np.int64]

    @classmethod
    def of(cls, keys: KeyedPair) -> _Compared:
        """Count the combinations of some keys."""
        d, by_release = keys.combinations.counts()
        held = d > 0
        each = [*by_release, np.sum(by_release, axis=0)]
        return cls(
            int(np.count_nonzero(held)),
            np.array([np.count_nonzero(s) for s in each], np.int64),
            np.array([np.count_nonzero(held & (s > 0)) for s in each], np.int64),
            np.array([s.sum() for s in each], np.int64),
            np.array([s[held].sum() for s in each], np.int64),
        )

    def __add__(self, other: _Compared) -> _Compared:
        return _Compared(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    def measures(self) -> list[dict[str, float]]:
        """The measures of each release, and of all as one."""
        each = zip(
            *(map(int, one) for one in (self.synthetic, self.both, self.records, self.records_in_original)), strict=True
        )
        return [
            {
                "combinations_original": self.original,
                "combinations_synthetic": synthetic,
                "combinations_novel": synthetic - both,
                "percent_novel": percent(synthetic - both, synthetic),
                "combinations_preserved": percent(both, self.original),
                "p_original_given_synthetic": percent(both, synthetic),
                "records_in_original": percent(in_original, records),
                "records_novel": percent(records - in_original, records),
            }
            for synthetic, both, records, in_original in each
        ]
