"""One set of releases, made by a setting and measured: what the rules ask for, and the utility."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.assessment.figure import UTILITIES
from unveil.assessment.key_tables import attribute_part, identity_part
from unveil.assessment.part import Clock, Context, Section, Skipped
from unveil.assessment.policy import Policy
from unveil.assessment.posterior_part import certain_figure, mean_figure
from unveil.assessment.scenario import Options, Scenario
from unveil.assessment.utility_part import utility_figures
from unveil.columns import Pair
from unveil.errors import DataError, UnveilError, UnveilWarning
from unveil.files.distinct import python_values
from unveil.files.source import DerivedColumns, Source
from unveil.notes import Note
from unveil.plain import without_nan
from unveil.stats import normal_quantile
from unveil.tuning.rules import HeldRule, held, most_used
from unveil.tuning.setting import Setting

POSTERIOR = ("posterior", "posterior certain")
KEPT = ("measure", "target", "unit", "value", "low", "high", "excess", "excess_low", "excess_high", "p_value",
        "per_release", "persons")  # fmt: skip
"""What is kept of a figure."""
NO_LIMIT = 1e9
"""Seconds of a part: a figure must not depend on how fast the machine is."""
LARGEST_SEED = 1 << 31
NOT_EXACT = (
    "it would be simulated, or take a fit for every record and value; a lower bound is no figure that a limit can be "
    "held against"
)


@dataclass(frozen=True)
class MeasuredSet:
    """What was measured of one set of releases.

    Parameters
    ----------
    figures
        By name as in an assessment.
    rules
        The rules of the policy, held against them.
    utility
        Distance from the original by the utility that is sought; nan where it was not measured.
    reasons
        Why figures could not be measured.
    """

    figures: tuple[Mapping[str, Any], ...]
    rules: tuple[HeldRule, ...]
    utility: float
    reasons: tuple[str, ...]

    @cached_property
    def limit_used(self) -> float:
        """Largest share of a limit that is used."""
        return most_used(self.rules)


@dataclass(frozen=True, eq=False)
class Measure:
    """Makes releases and measures them.

    Parameters
    ----------
    pair
        The original beside itself, with its records in the order of their values: what is drawn does not depend on the
        order of the file.
    options
        Who knows what and wants to know what.
    policy, utility
        Limits, and the figure of utility.
    reading
        Options of :class:`unveil.Pair`.
    """

    pair: Pair
    options: Options
    policy: Policy
    utility: str
    reading: Mapping[str, Any]

    def figures_of(self, setting: Setting, seeds: Sequence[int], *, whole: bool = True) -> dict[str, Any]:
        """Figures of one set of releases, as plain values: ``figures`` and ``reasons``.

        Parameters
        ----------
        setting
            How they are made.
        seeds
            One for each release; fits are not random. The first one is also that of the persons and halves that are
            drawn to measure them.
        whole
            Whether as many persons are drawn for the posterior as the precision takes; else about a quarter.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            protections = self._protections(setting)
            original = _protected(self.pair, protections)
            maker = setting.synthesizer(**self.of_synthesizer).fit(original)
            releases = [maker.sample(setting.k, seed=seed) for seed in seeds]
            pair = self._pair(self.pair.original, releases)
            # Persons and halves are drawn anew with the releases: a check of the same ones would confirm their luck.
            options = replace(self.options, seed=seeds[0] % LARGEST_SEED)
            context = Context(pair, Scenario.of(pair, options), Clock(NO_LIMIT), maker)
            figures: list[Mapping[str, Any]] = []
            reasons: list[str] = []
            for part in self._parts(context, original, releases, protections, whole=whole):
                try:
                    figures.extend(part())
                except (UnveilError, Skipped) as error:
                    reasons.append(str(error))
        kept = [{name: figure[name] for name in KEPT} for figure in figures]
        return without_nan({"figures": kept, "reasons": reasons})  # type: ignore[no-any-return]

    @property
    def of_synthesizer(self) -> dict[str, Any]:
        """What the synthesizer is told of the columns too."""
        return {name: self.reading[name] for name in ("special_codes", "kinds") if self.reading.get(name)}

    @property
    def asked(self) -> tuple[Any, ...]:
        """All that the figures of a set depend on besides the files, the options and the setting: no limit does."""
        scenario = Scenario.of(self.pair, self.options)
        persons = tuple(self._persons(scenario, whole=whole) for whole in (True, False))
        return sorted(self.wanted), self._needs_null, persons

    def read(self, found: Mapping[str, Any]) -> MeasuredSet:
        """The figures of :meth:`figures_of`, held against the rules."""
        figures = tuple(found["figures"])
        utility = next((one["value"] for one in figures if one["measure"] == self.utility), None)
        return MeasuredSet(
            figures, held(self.policy, figures), math.nan if utility is None else float(utility),
            tuple(found["reasons"]),
        )  # fmt: skip

    @property
    def wanted(self) -> set[str]:
        """The measures that rules and utility ask for."""
        return {self.utility, *(rule.measure for rule in self.policy.rules)}

    def _parts(
        self,
        context: Context,
        original: Source,
        releases: Sequence[Any],
        protections: Mapping[str, Any],
        *,
        whole: bool,
    ) -> Iterator[Callable[[], list[dict[str, Any]]]]:
        wanted, scenario = self.wanted, context.scenario
        targets = scenario.targets

        def figures(section: Section) -> list[dict[str, Any]]:
            return [figure.to_dict() for figure in section.figures]

        if "repU" in wanted:
            yield lambda: figures(identity_part(context, repeated=False))
        if wanted & {"DiSCO", "DCAP"}:
            yield lambda: figures(attribute_part(context, repeated=False)) if self._needs_null else _of_keys(context)
        if "RAPID" in wanted:
            from unveil.assessment.rapid_part import inference_part

            for target in targets:
                yield lambda target=target: figures(inference_part(target)(context))  # type: ignore[misc]
        if wanted & set(POSTERIOR):
            beside = self._pair(original, releases) if protections else context.pair
            for target in targets:
                yield lambda target=target: self._posterior(
                    context, beside, target, protections.get(target), self._persons(scenario, whole=whole)
                )  # type: ignore[misc]
        if "membership AUC" in wanted:
            from unveil.assessment.membership_part import membership_part

            yield lambda: figures(membership_part(context))
        if "exact membership" in wanted:
            from unveil.assessment.exact_membership_part import exact_membership_part

            yield lambda: figures(exact_membership_part(context))
        names = [name for name in UTILITIES if name in wanted]
        yield lambda: utility_figures(context, names)

    @property
    def _needs_null(self) -> bool:
        """Whether a rule compares what the keys tell with a release that is shuffled."""
        return any(rule.measure in _KEYED and rule.statistic not in _PLAIN for rule in self.policy.rules)

    def _persons(self, scenario: Scenario, *, whole: bool) -> int:
        """How many persons the posterior is of.

        While settings are still sought about a quarter does, but so many that a share of none of them can be told from
        the limit: the interval of none of n ends at about ``z^2 / n``.
        """
        z = normal_quantile(scenario.level)
        most = math.ceil((z / (2 * scenario.precision)) ** 2)
        limits = [rule.limit for rule in self.policy.rules if rule.measure == POSTERIOR[1] and not rule.least]
        least = max((math.ceil(2 * z**2 / limit) for limit in limits if limit > 0), default=0)
        return min(self.pair.n_original, most if whole else min(most, max(most // 4, least)))

    def _posterior(
        self, context: Context, pair: Pair, target: str, protection: Any, persons: int
    ) -> list[dict[str, Any]]:
        """Posterior of persons drawn at random; of a target with merged levels, that of the value before."""
        from unveil._posterior import posterior
        from unveil._posterior.protections import posterior_of_truth
        from unveil._posterior.summary import CERTAIN
        from unveil._posterior.tree_methods import refusal

        scenario = context.scenario
        if refusal(context.synthesizer, [target]) is not None:
            raise DataError(f"posterior of {target}: {NOT_EXACT}")
        risk = posterior(pair, context.synthesizer, target=target, structure="exact", sample=persons,
                         seed=scenario.seed, check_settings=False)  # fmt: skip
        found = risk.posteriors()
        seen: Any = found
        if protection is not None:
            column = context.pair.column(target)
            place = {value: level for level, value in enumerate([*python_values(column.levels), None])}
            levels = np.array([place[value] for value in risk.values], dtype=np.int64)
            truth = column.original[found.members].astype(np.int64)
            assert found.probabilities is not None
            true = posterior_of_truth(protection, truth, levels, found.probabilities)
            seen = SimpleNamespace(posterior=true, prior=np.full(true.size, 1 / column.n_levels))
        certain = float((seen.posterior >= CERTAIN).mean())
        least, level = scenario.minimum_count, scenario.level
        both = (mean_figure(seen, target, "exact", level, least),
                certain_figure(certain, found.members.size, target, "exact", level, least))  # fmt: skip
        return [figure.to_dict() for figure in both]

    def _protections(self, setting: Setting) -> dict[str, Any]:
        """What is done to the targets before synthesis, where it changes anything and leaves two levels."""
        if not setting.merge:
            return {}
        from unveil._posterior.protections import merged

        found = {}
        for name in Scenario.of(self.pair, self.options).targets:
            column, special = self.pair.column(name), (self.reading.get("special_codes") or {}).get(name, ())
            alone = [special] if isinstance(special, str | int | float) else list(special)
            one = merged(column, setting.merge, alone)
            if one.changes and one.n_groups(column) > 1:
                found[name] = one
        return found

    def _pair(self, original: Source, releases: Sequence[Any]) -> Pair:
        return Pair(original, list(releases), **self.reading)


_KEYED = ("DiSCO", "DCAP")
_PLAIN = ("value", "low", "high", "worst_release")


def _of_keys(context: Context) -> list[dict[str, Any]]:
    """DiSCO and DCAP of every target with their intervals, without baselines: those take many times as long."""
    if context.unmeasured:
        raise next(iter(context.unmeasured.values()))
    found = []
    for target, risk in context.attribute.items():
        spans = risk.interval(level=context.scenario.level)
        for measure, own in zip(_KEYED, ("DiSCO", "DCAPd"), strict=True):
            found.append(
                dict.fromkeys(KEPT, math.nan)
                | {"measure": measure, "target": target, "unit": "percent", "value": risk.mean[own]}
                | {"low": spans[own].low, "high": spans[own].high}
                | {"per_release": [release[own] for release in risk.releases], "persons": None}
            )
    return found


def _protected(pair: Pair, protections: Mapping[str, Any]) -> Source:
    """The original with some columns protected."""
    original = pair.original
    if not protections:
        return original
    columns = {}
    for name, one in protections.items():
        levels = pair.column(name).levels
        columns[name] = pa.chunked_array([levels.take(pa.array(one.levels, mask=one.levels == len(levels)))])
    made = DerivedColumns(original, columns=columns)
    return Source(original.label, original.names, original.num_rows, made, original.variables, "arrow")


def said_of(reasons: Sequence[str]) -> Note:
    """Why figures were not measured, in one sentence."""
    return Note(f"not measured: {'; '.join(reasons)}", "some figures could not be measured")
