"""The results of attribute disclosure: one target, and several seen through the same keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unveil._tables.checks import OneWay, TwoWay
from unveil._tables.curve import CapCurve, cap_curve
from unveil._tables.intervals import Halves, attribute_process, attribute_release, each_release
from unveil._tables.ladder import Ladder, ladder
from unveil._tables.record_flags import AttributeFlags, records_of, write_records
from unveil._tables.subgroups import AttributeByLevel, by_level
from unveil._tables.sums import MEASURES, AttributeSums
from unveil._tables.target_cells import TargetCells
from unveil.columns.column import CodedColumn
from unveil.files.source import Flavour
from unveil.limits import exceeds
from unveil.result import Result, Results, as_frame
from unveil.stats import Interval, Kind, check_draws, is_process

RISE = (
    "DiSCO would be higher if the release carried only its most frequent value, which tells less: a low DiSCO is no "
    "sign of protection here"
)
"""What a DiSCO that rises where the target tells less says."""


@dataclass(frozen=True, repr=False)
class AttributeRisk(Result):
    """Attribute disclosure risk for one target, of one or more releases; measures in percent.

    Every measure of :data:`unveil._tables.sums.MEASURES` is also an attribute: its mean over the releases.

    Attributes
    ----------
    keys, target
        The key variables and the target variable.
    releases
        Per release, measure by name.
    mean
        The same, averaged over the releases where defined.
    undefined
        Per measure that is not defined in some release, the reason.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    labels
        What the releases are called.
    identity_after_exclusions
        Per release, the identity measures of what the exclusions left.
    exclusions
        Per release, table and rule, the number of records taken out, and what remained.
    check_1way, check_2way
        Per release, the level and the pairs that explain DiSCO by common knowledge.
    grouping
        How numeric keys and the target were cut, by column.
    mode_DiSCO
        Per release, DiSCO with the synthetic target replaced by its most frequent level.
    options
        The exclusions and thresholds that were asked for, by name.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    as_wildcards
        Per release, iS, DiS, DiSCO and DCAPd where a suppressed key matches every value; empty where no sign of
        suppression was named.
    notes
        What was harmonised, and what makes the figures unreliable; :attr:`warnings` adds DiSCO's inverse sensitivity.
    """

    _words = "words.attribute.one_target"

    keys: tuple[str, ...]
    target: str
    releases: tuple[Mapping[str, float], ...]
    mean: Mapping[str, float]
    undefined: Mapping[str, str]
    n_original: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    identity_after_exclusions: tuple[Mapping[str, float], ...]
    exclusions: tuple[Mapping[str, Mapping[str, int]], ...]
    check_1way: tuple[OneWay | None, ...]
    check_2way: tuple[tuple[TwoWay, ...], ...]
    grouping: Mapping[str, Mapping[str, object]]
    mode_DiSCO: tuple[float, ...]
    options: Mapping[str, Any]
    unmatched: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    as_wildcards: tuple[Mapping[str, float], ...] = field(default=(), kw_only=True)
    _source: TargetCells = field(repr=False, compare=False)
    _sums: tuple[AttributeSums, ...] = field(repr=False, compare=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the figures unreliable."""
        return (*self.notes, self.rise) if self.rise else self.notes

    @property
    def rise(self) -> str | None:
        """The warning that DiSCO rises where the target tells less, if it does."""
        rising = [
            f"from {release['DiSCO']:.2f} to {mode:.2f} in {label}"
            for label, release, mode in zip(self.labels, self.releases, self.mode_DiSCO, strict=True)
            if exceeds(mode, release["DiSCO"])
        ]
        return f"{RISE} ({'; '.join(rising)})" if rising else None

    def __getattr__(self, name: str) -> float:
        if name in MEASURES:
            return self.mean[name]
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *MEASURES})

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values; names of measures as in the documentation."""
        found = super().to_dict()
        del found["notes"]
        return found | {"warnings": list(self.warnings)}

    def _columns(self) -> dict[str, Any]:
        """A row per release: target, release, number of records and measures."""
        figures: dict[str, Any] = {name: [r[name] for r in self.releases] for name in MEASURES}
        named = {"target": [self.target] * len(self.labels), "release": self.labels, "n_synthetic": self.n_synthetic}
        return named | figures

    def checks(self, *, flavour: Flavour | None = None) -> Any:
        """Levels that account for much of DiSCO, and may be a rule rather than a disclosure: a row each.

        Columns: ``release``, ``check`` ("1-way" or "2-way"), ``target_level``, ``key`` and ``key_level`` (gaps in a
        1-way check), and the figures of :attr:`check_1way` and :attr:`check_2way`.
        """
        rows: list[dict[str, Any]] = []
        for label, one, two in zip(self.labels, self.check_1way, self.check_2way, strict=True):
            if one:
                rows.append({"release": label, "check": "1-way", "target_level": one["level"], **one})
            rows += [{"release": label, "check": "2-way", **flag} for flag in two]
        names = ["release", "check", *dict.fromkeys([*TwoWay.__annotations__, *OneWay.__annotations__])]
        names.remove("level")
        return self._frame({name: [row.get(name) for row in rows] for name in names}, flavour)

    def records(self, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per original record: number from 0, d_q, s_q, ps of its true target, and what they make of it.

        ``ps`` is the share of the true target level among the synthetic records with the record's keys; 0 where there
        are none or the record is excluded. The flags ``in_synthetic``, ``disclosive`` and ``disco`` sum to iS, DiS and
        DiSCO, ``ps`` to DCAPd. This is confidential.
        """
        return as_frame(records_of(self._source.study, self._flags(release)), flavour or self.flavour)

    def write_records(self, path: str | Path, release: int = 0, *, overwrite: bool = False) -> None:
        """Write :meth:`records` to a file that only its owner can read. It is confidential.

        Where records are counted batch by batch, a Parquet file is written batch by batch. Where Spark counts, its
        workers write a folder of Parquet files, and no record passes this process.

        Parameters
        ----------
        path
            The file; its ending tells the format.
        release
            Position of the release.
        overwrite
            Whether a file that exists may be replaced.

        Raises
        ------
        CallError
            If there is no such release, or the ending is unknown.
        FileError
            If the file exists and ``overwrite`` is not set, or cannot be written.
        """
        write_records(self._source.study, self._flags(release), path, overwrite=overwrite)

    def _flags(self, release: int) -> AttributeFlags:
        source = self._source
        return AttributeFlags(source.study.release(release), source.target, source.options)

    def by(self, column: str, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """The measures that concern original records, for each level of a column."""
        source, of = self._source, self._source.study.release(release)

        def measure(by: CodedColumn) -> AttributeByLevel:
            return AttributeByLevel(of, by, source.target, source.options)

        return by_level(source.study, source.target, column, measure, flavour)

    def cap_curve(self, taus: Sequence[float] | None = None) -> CapCurve:
        """CAP(tau) of each release over a grid of tau; see :class:`CapCurve`."""
        blocks = [self._source.counted(r) for r in range(len(self.releases))]
        curve = cap_curve(
            blocks,
            taus,
            self.keys,
            self.target,
            self.labels,
            self.n_original,
            self._source.study.pair.flavour,
            self.warnings,
        )
        return replace(curve, unit=self.unit)

    def intervals(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> list[dict[str, tuple[float, float]]]:
        """Per release, release intervals: over records, with the release kept.

        Measures that concern synthetic records alone have none: the release is what it is. TCAP is a ratio, and its
        variance is that of resamples; the others are means over records, of which the variance is known.

        Parameters
        ----------
        n
            Number of resamples.
        seed
            Seed of the draws.
        level
            Coverage, between 0 and 1.
        """
        return [
            each_release(figures, sums, self.n_original, n=n, seed=seed, level=level)
            for figures, sums in zip(self.releases, self._sums, strict=True)
        ]

    def interval(
        self, kind: Kind = "release", *, halves: Halves | None = None, n: int = 500, seed: int = 0,
        level: float = 0.95,
    ) -> dict[str, Interval]:  # fmt: skip
        """Intervals of a named kind for the mean DiSCO and DCAPd of the releases.

        Parameters
        ----------
        kind
            ``"release"``: over samples of as many records, with these releases kept. ``"process"``: over samples and
            releases made from them; it needs several releases, or halves.
        halves
            What :func:`unveil.synthesis.halves` makes with the synthesizer.
        n, seed
            As for :meth:`intervals`; both measures are means, so that they change nothing.
        level
            Coverage, between 0 and 1.

        Raises
        ------
        CallError
            If the kind is unknown, or the level is out of its range.

        Examples
        --------
        >>> import unveil
        >>> people = unveil.simulate.demo_population(200, seed=1)
        >>> release = unveil.CartSynthesizer(n_jobs=1).fit(people).sample(seed=1)
        >>> risk = unveil.attribute(unveil.Pair(people, release), ["sex", "region"], target="marital")
        >>> found = risk.interval("process")["DiSCO"]
        >>> found.low, found.undefined[:11]
        (nan, 'one release')
        """
        check_draws(n, seed)
        if is_process(kind, level):
            return attribute_process(self._source, self._sums, self.options, halves, level)
        ends = attribute_release(self._source, dict(enumerate(self._sums)), level=level)
        return {name: Interval("release", self.mean[name], *ends[name], level) for name in ends}

    def ladder(
        self, *, permutations: int = 199, holdout: Any = None, halves: Halves | None = None, level: float = 0.95,
        seed: int = 0,
    ) -> Ladder:  # fmt: skip
        """repU, DiSCO and DCAPd among what they have to be compared with.

        ========= ============================================ =========================================================
        figure    DiSCO                                        DCAPd
        ========= ============================================ =========================================================
        margin    share of the most frequent target level:     baseCAPd: a guess drawn from the shares of the levels
                  ``100 max_t d_t / N_d`` after exclusions
        null      of releases whose target is shuffled over their records: mean, 95th percentile, p-value
        ceiling   Dorig: the original as its own release       ``100 sum d_tq (d_tq - 1) / (d_q - 1) / N_d``: the same
                                                               without the person's own record; 0 for who is alone
        held out  of real records that the synthesizer never saw, in the place of the original ones
        excess    ``100 (value - null mean) / (100 - null mean)``
        ========= ============================================ =========================================================

        For repU there are a value and a ceiling, UiO: it concerns the keys alone.

        Parameters
        ----------
        permutations
            Number of shuffles; 0 for no null and no excess. With fewer than 40 no 95 % interval of the excess can lie
            above 0.
        holdout
            A file or frame of real records that the synthesizer never saw; by default those of the pair, False for
            none. Records of the original are refused.
        halves
            What :func:`unveil.synthesis.halves` makes with the synthesizer; for the process intervals.
        level
            Coverage of the intervals.
        seed
            Seed of the shuffles.

        Returns
        -------
        Ladder
            The figures, per release and of the mean over the releases.

        Raises
        ------
        CallError
            If an option is out of its range.
        DataError
            If the held-out records lack a column, or are records of the original.

        References
        ----------
        Raab, Nowok & Dibben (2026), Practical privacy metrics for synthetic data. Ernst (2004), Permutation methods: a
        basis for exact inference, Statistical Science 19, 676-685.

        Examples
        --------
        >>> import unveil
        >>> people = unveil.simulate.demo_population(300, seed=1)
        >>> risk = unveil.attribute(unveil.Pair(people, people.slice(0, 200)), ["sex", "region"], target="marital")
        >>> rung = risk.ladder(permutations=39, seed=1).mean["DCAPd"]
        >>> rung.value == risk.DCAPd, rung.margin == risk.baseCAPd, 0 < rung.p_value <= 1
        (True, True, True)
        """
        return ladder(
            self._source, self._sums, self.releases, self.options, self.warnings, permutations=permutations,
            holdout=holdout, halves=halves, level=level, seed=seed,
        )  # fmt: skip

    def plot(self, ax: Any = None) -> Any:
        """Dots of the original's and the release's disclosive share; needs matplotlib."""
        return AttributeRisks([self]).plot(ax)


class AttributeRisks(Results[AttributeRisk]):
    """Attribute disclosure risk of several targets seen through the same keys; a sequence of :class:`AttributeRisk`."""

    _words = "words.attribute.several_targets"
    _drawing = "plots.tables.plot_targets"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the figures unreliable: of all targets, each once."""
        return (*self.notes, *(f"{risk.target}: {risk.rise}" for risk in self if risk.rise))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, and the notes of all targets, each once."""
        return self._said_by_all("notes")

    def ladders(
        self, *, permutations: int = 199, holdout: Any = None, halves: Halves | None = None, level: float = 0.95,
        seed: int = 0,
    ) -> tuple[Ladder, ...]:  # fmt: skip
        """The baselines of every target; see :meth:`AttributeRisk.ladder`."""
        options: dict[str, Any] = {"permutations": permutations, "holdout": holdout, "level": level, "seed": seed}
        options["halves"] = halves
        return tuple(risk.ladder(**options) for risk in self)
