"""Identity disclosure: original records that are unique on the keys, and found again in the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from unveil._tables.identity_counts import IdentityCounts
from unveil._tables.intervals import Halves, identity_process, identity_release
from unveil._tables.keyed_pair import Groups, KeyedPair
from unveil._tables.record_flags import IdentityFlags, records_of, write_records
from unveil._tables.study import study_of
from unveil._tables.subgroups import IdentityByLevel, by_level
from unveil._tables.sums import mean_over, percent
from unveil._tables.wildcards import identity_as_wildcards
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.errors import enough_memory
from unveil.files.source import Flavour
from unveil.result import Result, as_frame, columns_of
from unveil.stats import Interval, Kind, check_draws, is_process

IDENTITY_MEASURES = ("UiO", "UiS", "UiOiS", "repU")


@dataclass(frozen=True, repr=False)
class IdentityRisk(Result):
    """Identity disclosure risk of one or more releases; all measures in percent.

    Attributes
    ----------
    keys
        The key variables.
    releases
        Per release, measure by name.
    mean
        The same, averaged over the releases where defined.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    labels
        What the releases are called.
    grouping
        How numeric keys were cut, by key.
    use_keys_na
        By key, whether combinations in which it is missing count.
    left_out
        Per release, number of original and synthetic records whose combination does not count.
    undefined
        Per measure that is not defined in some release, the reason.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    as_wildcards
        Per release, UiOiS and repU where a suppressed key matches every value; empty where no sign of suppression was
        named.
    warnings
        What deserves a look in the files, and what makes the figures unreliable.
    """

    _words = "words.tables.identity"
    _drawing = "plots.tables.plot_identity"

    keys: tuple[str, ...]
    releases: tuple[Mapping[str, float], ...]
    mean: Mapping[str, float]
    n_original: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    grouping: Mapping[str, Mapping[str, object]]
    use_keys_na: Mapping[str, bool]
    left_out: tuple[Mapping[str, int], ...]
    undefined: Mapping[str, str]
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    as_wildcards: tuple[Mapping[str, float], ...] = field(default=(), kw_only=True)
    _study: KeyedPair = field(repr=False, compare=False)
    _counts: IdentityCounts = field(repr=False, compare=False)

    @property
    def UiO(self) -> float:
        """Percent of original records unique in the original."""
        return self.mean["UiO"]

    @property
    def UiS(self) -> float:
        """Percent of synthetic records unique in the release, mean over releases."""
        return self.mean["UiS"]

    @property
    def UiOiS(self) -> float:
        """Percent of original records unique in the original and found in the release, mean over releases."""
        return self.mean["UiOiS"]

    @property
    def repU(self) -> float:
        """Percent of original records unique in both files, mean over releases."""
        return self.mean["repU"]

    def _columns(self) -> dict[str, Any]:
        """A row per release: its name, number of records and measures."""
        return {"release": self.labels, "n_synthetic": self.n_synthetic} | columns_of(self.releases)

    def records(self, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per original record: number from 0, d_q, s_q, and what they make of it.

        The flags sum to the measures: ``repU = 100 * sum(replicated_unique) / n_original``. This is confidential.
        """
        return as_frame(records_of(self._study, IdentityFlags(self._study.release(release))), flavour or self.flavour)

    def write_records(self, path: str | Path, release: int = 0, *, overwrite: bool = False) -> None:
        """Write :meth:`records` to a file that only its owner can read; see :meth:`AttributeRisk.write_records`."""
        write_records(self._study, IdentityFlags(self._study.release(release)), path, overwrite=overwrite)

    def by(self, column: str, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """The measures that concern original records, for each level of a column."""
        return by_level(self._study, None, column, partial(IdentityByLevel, self._study.release(release)), flavour)

    def intervals(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> list[dict[str, tuple[float, float]]]:
        """Per release, release intervals of UiO, UiOiS and repU; see :meth:`AttributeRisk.intervals`.

        All are shares of records or of key combinations, of which the variance is known: nothing is drawn, and ``n``
        and ``seed`` change nothing.
        """
        check_draws(n, seed)
        return [
            identity_release(self._counts, self.n_original, release, level=level)
            for release in range(len(self.releases))
        ]

    def interval(
        self, kind: Kind = "release", *, halves: Halves | None = None, n: int = 500, seed: int = 0,
        level: float = 0.95,
    ) -> Interval:  # fmt: skip
        """An interval of a named kind for the mean repU of the releases; see :meth:`AttributeRisk.interval`."""
        check_draws(n, seed)
        if is_process(kind, level):
            return identity_process(self._study, self._counts, halves, level)
        ends = identity_release(self._counts, self.n_original, level=level)["repU"]
        return Interval("release", self.repU, *ends, level)


@enough_memory()
@pair_first
def identity(
    pair: Pair, keys: str | Sequence[str], *, use_keys_na: bool | Mapping[str, bool] = True,
    ngroups_keys: Groups = None, suppressed: str | None = None,
) -> IdentityRisk:  # fmt: skip
    """Measure how many persons are unique on the keys, and are again in the release.

    With d_q and s_q the number of original and synthetic records of key combination q,

    - ``UiO   = 100 #{q : d_q = 1} / N_d``
    - ``UiS   = 100 #{q : s_q = 1} / N_s``
    - ``UiOiS = 100 #{q : d_q = 1 and s_q > 0} / N_d``
    - ``repU  = 100 #{q : d_q = 1 and s_q = 1} / N_d``

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables: what an intruder knows of a person.
    use_keys_na
        Whether combinations in which a key is missing count; one flag, or one per key.
    ngroups_keys
        Number of groups into which numeric keys are cut: for all of them, or by key.
    suppressed
        The sign that stands for a suppressed value of a key in the releases, such as ``"*"``: the figures then also
        come with such a value matching every value.

    Returns
    -------
    IdentityRisk
        Percentages per release; NaN where a release has no records.

    Raises
    ------
    CallError
        If a key is unknown or repeated, or an option names a column that is not a key.
    DataError
        If a release lacks a key, or its values cannot be compared.

    References
    ----------
    Raab, Nowok & Dibben (2026), Practical privacy metrics for synthetic data, section 2.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m"], "age": [30, 30, 40]})
    >>> release = pa.table({"sex": ["f", "m"], "age": [30, 40]})
    >>> risk = unveil.identity(unveil.Pair(original, release), ["sex", "age"])
    >>> round(risk.UiO, 2), round(risk.repU, 2)
    (33.33, 33.33)
    """
    study = study_of(pair, keys, ngroups_keys=ngroups_keys, use_keys_na=use_keys_na)
    (counts,) = study.total([None], [IdentityCounts.of])
    releases = [_measures(counts, release, pair) for release in range(pair.n_releases)]
    return IdentityRisk(
        keys=study.keys,
        releases=tuple(releases),
        mean=mean_over(releases),
        n_original=pair.n_original,
        n_synthetic=pair.n_synthetic,
        labels=pair.labels,
        grouping=study.groupings(),
        use_keys_na=study.use_keys_na,
        left_out=tuple(
            {"original": int(counts.left_out[0]), "synthetic": int(synthetic)} for synthetic in counts.left_out[1:]
        ),
        undefined=_undefined(pair),
        unmatched=study.unmatched(),
        warnings=study.notes(),
        flavour=pair.flavour,
        unit=pair.unit,
        as_wildcards=() if suppressed is None else identity_as_wildcards(study, suppressed),
        _study=study,
        _counts=counts,
    )


def _measures(counts: IdentityCounts, release: int, pair: Pair) -> dict[str, float]:
    """The identity measures of one release in percent."""
    n_original, n_synthetic = pair.n_original, pair.n_synthetic[release]
    return {
        "UiO": percent(counts.unique, n_original),
        "UiS": percent(int(counts.unique_synthetic[release]), n_synthetic),
        "UiOiS": percent(int(counts.found[release]), n_original),
        "repU": percent(int(counts.both[release]), n_original),
    }


def _undefined(pair: Pair) -> dict[str, str]:
    empty = [label for label, n in zip(pair.labels, pair.n_synthetic, strict=True) if n == 0]
    return {"UiS": f"no synthetic records ({', '.join(empty)})"} if empty else {}
