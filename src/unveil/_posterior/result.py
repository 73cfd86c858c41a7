"""The result: posterior of every record's true value, over all records, by group, and beside other measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.cross_table import CrossTable, flags_of
from unveil._posterior.posterior_of_records import Posteriors
from unveil._posterior.selection import Selection
from unveil._posterior.settings_check import SettingsCheck
from unveil._posterior.summary import GROUP_MEASURES, group_table, summary
from unveil.columns import Pair
from unveil.columns.column import MISSING
from unveil.errors import CallError
from unveil.files.distinct import level_text
from unveil.files.source import Flavour
from unveil.limits import exceeds
from unveil.plain import without_nan
from unveil.result import Result, columns_of, drawer

Structure = Literal["fixed", "exact", "simulated"]


@dataclass(frozen=True, repr=False)
class PosteriorRisk(Result):
    """Bayesian disclosure risk of a target: what an intruder believes who knows all but some values of one record.

    Attributes
    ----------
    target
        The targets.
    known
        The variables that the intruder knows about the record.
    structures
        What the intruder uses: "fixed" (donor counts), "exact" (and the shape of the trees), or "simulated".
    labels
        The releases, or one name for all of them pooled; or that name, then the releases.
    groups
        Per entry of ``labels``, numbers of its releases.
    releases
        Per entry of ``labels``, measures by structure; see :data:`POSTERIOR_MEASURES`.
    n_original, n_records, n_values
        Number of records of the original, of records to compute, and of values in question.
    selection
        How the records were chosen, and how many of them were computed.
    prior
        Name of the prior.
    intruder_errors
        Number of the intruder's other records that are wrong.
    left_out
        By variable, released values that no record of the original can have given, and that are left out.
    withheld
        Variables that the releases do not show.
    likelihood
        Kind of the likelihood in words.
    monte_carlo_error
        Per record looked at, standard error of the posterior where it was simulated.
    largest_mean_gain
        Upper bound of the mean normalised gain for the first entry of ``labels``, averaged over releases that might
        have been drawn: for proper synthesis, whose likelihood is a mixture over bootstrap samples; None otherwise.
    settings_check
        Whether the counts of the releases fit the assumed settings; None if that was not checked.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        Warnings.
    """

    _words = "words.posterior.in_words"
    _drawing = "plots.posterior.plot"

    target: tuple[str, ...]
    known: tuple[str, ...]
    structures: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    releases: tuple[Mapping[str, Mapping[str, float]], ...]
    n_original: int
    n_records: int
    n_values: int
    selection: Selection
    prior: str
    intruder_errors: int
    left_out: Mapping[str, int]
    withheld: tuple[str, ...]
    likelihood: str
    monte_carlo_error: NDArray[np.float64] | None
    largest_mean_gain: float | None
    settings_check: SettingsCheck | None
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    _posteriors: tuple[Mapping[str, Posteriors], ...] = field(repr=False, compare=False)
    _pair: Pair = field(repr=False, compare=False)
    _label_of: Callable[[int], object] = field(repr=False, compare=False)
    _walked: bool = field(repr=False, compare=False)
    _posterior: Callable[..., PosteriorRisk] = field(repr=False, compare=False)
    _again: Callable[..., Any] | None = field(repr=False, compare=False, default=None)

    @property
    def mean_posterior(self) -> float:
        """Mean posterior of the truth by the stronger structure: pooled, or averaged over single releases."""
        found = [release[self.structures[-1]]["mean_posterior"] for release in self.releases]
        return found[0] if len(self.groups[0]) > 1 else float(np.mean(found))

    @property
    def values(self) -> list[object]:
        """Values in question, in the order of prior probabilities; None for the gap."""
        return [self._label_of(value) for value in range(self.n_values)]

    def posteriors(self, release: int = 0, structure: Structure | None = None) -> Posteriors:
        """Figures of the records as arrays.

        Raises
        ------
        CallError
            If the structure was not computed.
        """
        name = structure or self.structures[-1]
        if name not in self.structures:
            raise CallError(f"structure {name!r} was not computed; there is {', '.join(self.structures)}")
        return self._posteriors[release][name]

    def to_dict(
        self, *, by: Sequence[str] = (), beside: Sequence[Any] = (), threshold: float = 0.3, smallest_group: int = 10
    ) -> dict[str, Any]:
        """The result as plain values, without those of single records.

        Parameters
        ----------
        by
            Columns for whose levels the measures are given too.
        beside
            Results or truth values that the records at risk are set beside; see :meth:`cross`.
        threshold
            Records with a larger normalised gain are at risk.
        smallest_group
            Levels with fewer records are given with their number, and without measures.

        Returns
        -------
        dict
            Can be written as JSON; what is not defined is None.
        """
        entries = range(len(self.labels))
        found = super().to_dict()
        errors = found.pop("monte_carlo_error")
        return found | {
            "strongest": self.structures[-1],
            "releases": [
                {name: summary(self.posteriors(r, name)) for name in self.structures}  # type: ignore[arg-type]
                for r in entries
            ],
            "records": found.pop("selection"),
            "largest_monte_carlo_error": None if errors is None else without_nan(float(np.max(errors))),
            "subgroups": {column: [self._group_rows(column, r, smallest_group) for r in entries] for column in by},
            "cross": [
                [self.cross(flags, threshold=threshold, release=r).to_dict() for r in entries] for flags in beside
            ],
        }

    def _group_rows(self, column: str, release: int, smallest: int) -> list[dict[str, Any]]:
        """Measures by level under the strongest structure; none for levels with few records."""
        table = without_nan(group_table(self.posteriors(release), self._pair.column(column)))
        return [
            {"level": level, "n": n} | {name: table[name][i] if n >= smallest else None for name in GROUP_MEASURES}
            for i, (level, n) in enumerate(zip(table[column], table["n"], strict=True))
        ]

    def _columns(self) -> dict[str, Any]:
        """A row per release and structure."""
        named = zip(self.labels, self.releases, strict=True)
        return columns_of(
            [{"release": label, "structure": name, **one} for label, of in named for name, one in of.items()]
        )

    def records(self, release: int = 0, structure: Structure | None = None, *, flavour: Flavour | None = None) -> Any:
        """Per record looked at, what the intruder believes. This is confidential.

        Columns: record (from 0), truth, prior and posterior of the truth, gain_bits = log2(posterior / prior),
        normalised_gain = (posterior - prior) / (1 - prior), likeliest value and its probability, possible_worlds,
        must_fill (some released value can have come from this record alone), and tree: the part of the synthesizer
        at which the probability of the truth rises most.
        """
        found = self.posteriors(release, structure)
        names = np.array([*found.parts, ""], dtype=object)
        return self._frame(
            {
                "record": found.members,
                "truth": self._texts(found.truth),
                "prior": found.prior,
                "posterior": found.posterior,
                "gain_bits": found.gain_bits,
                "normalised_gain": found.normalised_gain,
                "likeliest": self._texts(found.likeliest),
                "likeliest_probability": found.likeliest_probability,
                "possible_worlds": found.possible_worlds,
                "must_fill": found.must_fill,
                "tree": [str(name) for name in names[found.part]],
            },
            flavour,
        )

    def distribution(self, record: int, release: int = 0, structure: Structure | None = None) -> dict[object, float]:
        """Posterior of every value for one record.

        Raises
        ------
        CallError
            If the record was not looked at, or there are too many values to be kept.
        """
        found = self.posteriors(release, structure)
        at = np.flatnonzero(found.members == record)
        if at.size == 0:
            raise CallError(f"record {record} was not looked at; name it in records")
        if found.probabilities is None:
            raise CallError("the probabilities of all values were not kept; ask for fewer records or candidates")
        return dict(zip(self.values, found.probabilities[at[0]].tolist(), strict=True))

    def by(
        self, column: str, release: int = 0, structure: Structure | None = None, *, flavour: Flavour | None = None
    ) -> Any:
        """Number of records and measures for each level of a column."""
        table = group_table(self.posteriors(release, structure), self._pair.column(column))
        return self._frame(table, flavour)

    def cross(
        self,
        flags: Any,
        *,
        name: str | None = None,
        threshold: float = 0.3,
        release: int = 0,
        structure: Structure | None = None,
    ) -> CrossTable:
        """Set the records at risk beside those that another measure flags.

        Parameters
        ----------
        flags
            Result of :func:`unveil.attribute` (its DiSCO records) or :func:`unveil.rapid` for the same pair, any result
            whose ``records()`` have a column "disco" or "at_risk", or one truth value per original record. Where
            releases are pooled, a record that is flagged in any of them is flagged.
        name
            What the other measure is called.
        threshold
            Records with a larger normalised gain are at risk.
        release, structure
            Which of the results.

        Returns
        -------
        CrossTable
            Numbers of records.

        Raises
        ------
        CallError
            If the flags do not fit.
        """
        found = self.posteriors(release, structure)
        flagged, called = flags_of(flags, self.groups[release], self.n_original)
        own = flagged[found.members]
        at_risk = exceeds(found.normalised_gain, threshold, unit=1.0)
        return CrossTable(
            name or called,
            threshold,
            int((at_risk & own).sum()),
            int((at_risk & ~own).sum()),
            int((~at_risk & own).sum()),
            int((~at_risk & ~own).sum()),
        )

    @property
    def walked(self) -> bool:
        """Whether the trees of a sequence were looked at as they are, and nothing was fitted to every world."""
        return self._walked

    def advice(self, **settings: Any) -> Any:
        """What other settings or fewer releases would do for the records at risk; see :func:`unveil.posterior.advise`.

        Raises
        ------
        CallError
            If the synthesizer's settings cannot be changed.
        """
        if self._again is None:
            raise CallError("advice needs a CartSynthesizer: other synthesizers have no settings that are known here")
        return self._again(self, **settings)

    def plot(self, kind: Literal["records", "gain"] = "records", ax: Any = None) -> Any:  # type: ignore[override]
        """Posterior against prior per record, or a histogram of the gain; needs matplotlib."""
        return drawer(self._drawing)(self, kind, ax=ax)

    def _texts(self, values: NDArray[np.int64]) -> list[str]:
        known: dict[int, str] = {}
        for value in np.unique(values):
            known[int(value)] = _text(self._label_of(int(value)))
        return [known[int(value)] for value in values]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " | ".join(_text(one) for one in value)
    return MISSING if value is None else level_text(value)
