"""The intruder who trains a model on the release: RAPID of one target, with its curve, groups and attribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.assessment.figure import Figure, mean_of, process_of
from unveil.assessment.groups import group_rows
from unveil.assessment.part import MOST_SECONDS, Context, Section, Skipped
from unveil.assessment.published_text import Exact, public_note
from unveil.assessment.repetitions import REPEATS
from unveil.assessment.rounding import Rounding
from unveil.assessment.wording import listed
from unveil.columns import Pair
from unveil.notes import Note

if TYPE_CHECKING:
    from unveil._rapid import Rapid
    from unveil._rapid.attribution import Coefficient

FOREST_SECONDS = 4e-5
"""Seconds for each record that a forest of 500 trees takes to train and predict, half for either, on two cores."""
SHUFFLE = 0.2
"""What a shuffle of the null takes of an attack: its forest has a hundred trees."""
SHARE = 1 / 3
"""Share of the budget that forests should take."""
FOLDS = 5
FEWEST_SHUFFLES = 4
"""Shuffles of the null that are made however short the time is: fewer show no spread."""
UNBOUNDED = 20.0
"""Width of an interval of log odds that only the weak prior holds; one person at risk of ten makes it about 4."""
ATTACKER_WORDS = {"rf": "random forest", "cart": "one tree"}
"""Models named in sentences, as what is found depends on how good the model is."""


def inference_part(target: str, *, first: bool = False) -> Callable[[Context], Section]:
    """The part of one target; on the first page the attacker is one tree."""

    def compute(context: Context) -> Section:
        from unveil._rapid import rapid
        from unveil._rapid.problem import has_several_amounts

        scenario = context.scenario
        if has_several_amounts(context.pair.column(target, by_amount=True)):
            raise Skipped(Note(f"{target} holds amounts that differ within units, and a model infers one of each"))
        chosen = Effort("cart", scenario.permutations, ceiling=True, repeats=False) if first else effort(context)
        risk = rapid(
            context.pair.in_memory, scenario.keys, target=target, attacker=chosen.attacker,
            permutations=chosen.permutations, ceiling=chosen.ceiling, folds=FOLDS, seed=scenario.seed, tau=scenario.tau,
            epsilon=scenario.epsilon, metric=_metric(context, target),
        )  # fmt: skip
        terms, unknown = _attribution(risk, scenario.minimum_count, scenario.level)
        again, why_not = _again(context, chosen)
        figure = _figure(risk, context, _held_out(context, target, chosen.attacker), again, why_not)
        entry = {
            "curve": _curve(risk, figure, again, scenario.level, scenario.seed),
            "attribution": terms,
            "groups": _groups(context, risk),
            "notes": [*risk.notes, *(text for text in (chosen.reason, unknown) if text)],
        }
        return Section(figures=(figure,), targets={target: entry}, warnings=risk.warnings, partial=chosen.reason)

    return compute


@dataclass(frozen=True)
class Effort:
    """The models that are trained for one target.

    Parameters
    ----------
    attacker
        The attacker: the same whatever the budget is.
    permutations, ceiling
        Number of shuffles behind the null, and whether the original attacks itself too.
    repeats
        Whether the attack is repeated on resampled originals, for the process interval.
    reason
        Why that is less than was asked for, where it is.
    """

    attacker: str
    permutations: int
    ceiling: bool
    repeats: bool = True
    reason: Note | None = None


def effort(context: Context) -> Effort:
    """Return the models to train: by sizes of files and the budget, not by a clock, so that figures can be repeated.

    The attacker never depends on the budget, or a figure would be another one for whoever has more time. What is spared
    is spared of what stands beside it: shuffles of the null, then the ceiling.

    Raises
    ------
    Skipped
        If a single attack takes too long.
    """
    scenario, pair = context.scenario, context.pair
    wanted = scenario.permutations
    if scenario.attacker != "auto":
        return Effort(scenario.attacker, wanted, ceiling=True)
    forests, samples, ceiling = _seconds(pair.n_original, pair.n_synthetic)
    attack = forests + samples
    if attack > MOST_SECONDS:
        raise Skipped(
            Note(
                f"a random forest would take about {attack:.0f} seconds, and a figure of a weaker attacker is another "
                "figure; choose attacker 'rf' to take that time, or 'cart' for one tree",
                "a random forest would take too long",
            )
        )
    allowed = min(SHARE * scenario.budget / len(scenario.targets), MOST_SECONDS)
    shuffle = SHUFFLE * forests
    whole_time = attack + wanted * shuffle + ceiling
    if whole_time <= allowed:
        return Effort("rf", wanted, ceiling=True, repeats=whole_time + attack * REPEATS <= allowed)
    with_ceiling = int((allowed - attack - ceiling) / shuffle)
    if with_ceiling >= FEWEST_SHUFFLES:
        fewer, whole = with_ceiling, True
    else:
        fewer, whole = min(max(int((allowed - attack) / shuffle), FEWEST_SHUFFLES), wanted), False
    left_out = [*([f"{wanted - fewer} of {wanted} shuffles of the null"] if fewer < wanted else []),
                *([] if whole else ["the ceiling"])]  # fmt: skip
    return Effort(
        "rf", fewer, whole, False,
        Note(
            f"{listed(left_out)} left out of RAPID for want of time; attacker 'rf' takes all of them"
            + ("" if allowed == MOST_SECONDS else ", and so does a larger budget"),
            "RAPID: a part of what stands beside it was left out for want of time",
        ),
    )  # fmt: skip


def _seconds(n_original: int, n_synthetic: Sequence[int]) -> tuple[float, float, float]:
    """What the forests of all releases take, those of their other samples, and the ceiling."""
    from unveil._rapid.attack import SAMPLES
    from unveil._rapid.sample import MOST_RECORDS

    attacked = FOREST_SECONDS / 2 * max(n_original - MOST_RECORDS, 0)
    each = [FOREST_SECONDS * min(n, MOST_RECORDS) + attacked for n in n_synthetic]
    samples = SHUFFLE * (SAMPLES - 1) * sum(one for one, n in zip(each, n_synthetic, strict=True) if n > MOST_RECORDS)
    return sum(each), samples, FOREST_SECONDS * FOLDS * min(n_original, MOST_RECORDS)


def _again(context: Context, chosen: Effort) -> tuple[Sequence[Pair] | None, Note | None]:
    """Resampled originals with releases of their own, or why there are none."""
    if context.again is None or context.synthesizer is None:
        return None, None
    if not chosen.repeats:
        text = "RAPID was not repeated on resampled originals"
        return None, Note(f"{text} for want of time; a larger budget, or attacker 'rf', takes it", text)
    return context.again.resamples, context.again.reason


def _held_out(context: Context, target: str, attacker: str) -> float:
    """The rate among persons whom the synthesizer never saw; NaN where there are none."""
    if context.unseen is None:
        return math.nan
    from unveil._rapid import rapid

    scenario, others = context.scenario, context.pair.held_out_as_original()
    found = rapid(
        others, scenario.keys, target=target, attacker=attacker, permutations=0, ceiling=False,
        seed=scenario.seed, tau=scenario.tau, epsilon=scenario.epsilon, metric=_metric(context, target),
    )  # fmt: skip
    return float(found.rate)


def _metric(context: Context, target: str) -> str:
    """Errors of dates in standard deviations: relative to a day that means nothing, every error is small."""
    return "sd" if context.pair.column(target).kind in ("date", "datetime") else "relative"


def _figure(
    risk: Rapid, context: Context, held_out: float, again: Sequence[Pair] | None, reason: Note | None
) -> Figure:
    drawn: dict[str, Any] = {"level": context.scenario.level, "seed": context.scenario.seed}
    span, null = risk.interval(**drawn), risk.above_null(**drawn)
    process = risk.interval("process", resamples=again, **drawn)
    base: dict[str, Any] = {name: mean_of([attack[name] for attack in risk.attacks]) for name in ("margin", "ceiling")}
    return Figure(
        measure="RAPID",
        intruder="release",
        target=risk.target,
        unit="share",
        per_release=[release["rate"] for release in risk.releases],
        low=span.low,
        high=span.high,
        sentence=_sentence(risk, context.rounding),
        does_not_show=(
            "Whether the record itself was used: what holds for people in general is inferred about everybody."
        ),
        contradicted_by="posterior certain",
        held_out=held_out,
        **base,
        **null.flat(),
        **process_of(process, reason=reason),
    )


def _sentence(risk: Rapid, rounding: Rounding) -> Note:
    model = f"a model ({', '.join(ATTACKER_WORDS.get(name, name) for name in risk.attackers)})"

    def words(say: Exact) -> str:
        share = say.hundred(risk.rate)
        if risk.kind == "continuous":
            return (
                f"For {share} of 100 original records {model} trained on the release tells {risk.target} with an error "
                f"({risk.scoring}) below {risk.threshold:g}."
            )
        return (
            f"For {share} of 100 original records {model} trained on the release scores the true {risk.target} above "
            f"{risk.threshold:g} (0: as likely as its share, 1: certain)."
        )

    return public_note(words, rounding)


def _curve(risk: Rapid, figure: Figure, again: Sequence[Pair] | None, level: float, seed: int) -> dict[str, Any]:
    """The rate over thresholds, averaged over releases and attackers.

    Resamples of the curve are others than those of the figure; one rate is not to have two intervals.
    """
    curve = risk.curve(level=level, seed=seed)
    names = ("rate", "low", "high", "null_mean", "null_95", "ceiling")
    lines = {
        name: np.mean([getattr(line, name) for line in curve.lines], axis=0).tolist()
        if all(getattr(line, name) is not None for line in curve.lines)
        else [math.nan] * len(curve.thresholds)
        for name in names
    }
    process = risk.curve(level=level, seed=seed, kind="process", resamples=again)
    for name in ("low", "high"):
        lines[f"process_{name}"] = np.mean([getattr(line, name) for line in process.lines], axis=0).tolist()
    own = {name: getattr(figure, name) for name in ("low", "high", "process_low", "process_high")}
    return {
        "threshold": curve.symbol,
        "chosen": risk.threshold,
        "points": [
            {"threshold": threshold}
            | {name: values[i] for name, values in lines.items()}
            | (own if threshold == risk.threshold else {})
            for i, threshold in enumerate(curve.thresholds)
        ],
    }


def _attribution(risk: Rapid, least: int, level: float) -> tuple[list[dict[str, Any]], str | None]:
    """Log odds of being at risk, by key and level, in the first release, and which are not known and why.

    Levels of few persons are left out.
    """
    found = risk.attribution(level=level)
    for n, none, few in (
        (found.n_at_risk, "nobody is", f"fewer than {least} records are"),
        (found.n - found.n_at_risk, "everybody is", f"all but fewer than {least} records are"),
    ):
        if n < least:
            text = "log odds by key are not known"
            return [], Note(f"{text}, as {few if n else none} at risk in the first release", text)
    names = ("key", "level", "reference", "low", "high", "n")
    shown = [one for one in found.coefficients if one.n >= least]
    known = [one for one in shown if one.high - one.low < UNBOUNDED]
    # The level that others are compared with is the largest, and so are those that are shown large enough to be named.
    rows = [{"term": Note(_term(one)), "log_odds": one.estimate} | {name: getattr(one, name) for name in names}
            for one in known]  # fmt: skip
    without = [f"{one.key} {one.level}" for one in shown if one not in known]
    if not without:
        return rows, None
    text = "log odds are not known where nobody, or everybody, is at risk"
    return rows, Note(f"{text}: {listed(without)}", text)


def _term(one: Coefficient) -> str:
    if one.level is None:
        return f"{one.key}, per standard deviation"
    return f"{one.key}: {one.level} against {one.reference}"


def _groups(context: Context, risk: Rapid) -> list[dict[str, Any]]:
    releases = range(context.pair.n_releases)
    counted = risk.records(0, flavour="arrow").column("truth")
    flags = np.mean(
        [risk.records(r, flavour="arrow").column("at_risk").to_numpy(zero_copy_only=False) for r in releases],
        axis=0,
        dtype=float,
    )
    if risk.kind == "continuous":
        flags[counted.is_null().to_numpy(zero_copy_only=False)] = math.nan
    return [
        row
        for key in context.scenario.keys
        for row in group_rows(
            context.pair,
            key,
            {"RAPID": flags},
            least=context.scenario.minimum_count,
            level=context.scenario.level,
            scale=1.0,
        )
    ]
