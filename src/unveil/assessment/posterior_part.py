"""The strongest intruder, who has the synthesizer and all records but one: the Bayesian risk within the budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.assessment.figure import Figure
from unveil.assessment.mistaken_intruder import mistaken_intruder
from unveil.assessment.part import MOST_SECONDS, Context, Section, need_strongest
from unveil.assessment.published_text import public_note
from unveil.assessment.rounding import Rounding
from unveil.assessment.scenario import INTRUDERS
from unveil.notes import Note
from unveil.printable import how_many
from unveil.stats import excess, normal_quantile, score_interval, wilson

AT_FIRST = 2000
"""Records drawn at random for the first page."""
FIRST_SECONDS = 2.0
"""Seconds of a target on the first page, for synthesizers whose trees cannot be held."""
FLAGGED = 2000
"""Most records that the cheap measures point at."""
FEWEST = 20
"""Records that are worked out however short the time is."""
CELL_SECONDS, CELL_VALUE_SECONDS = 1e-8, 2.5e-9
"""Seconds of a processor that one record takes, for each cell of the original, and for each cell and possible value."""
BUDGET_SHARE = 0.5
"""Share of the budget that the exact risk of all targets should take."""
SHARES = {"all": 0.25, "sampled": 0.35, "flagged": 0.4}
"""How the time that a target may take is divided."""
CERTAIN = "share_certain"


def posterior_part(target: str, *, first: bool = False) -> Callable[[Context], Section]:
    """The part of one target; on the first page by donor counts alone, which is a moment's work."""

    def compute(context: Context) -> Section:
        need_strongest(context)
        return _compute(context, target, first=first)

    return compute


def _compute(context: Context, target: str, *, first: bool) -> Section:
    from unveil._posterior import posterior

    share = min(context.clock.share, FIRST_SECONDS if first else MOST_SECONDS)
    flags = _flags(context, target)
    runs: dict[str, Any] = {}
    took: dict[str, float] = {}
    begin = time.monotonic()
    drawn = planned(context, target)
    asked: dict[str, dict[str, Any]] = {
        "all": {"structure": "fixed"},
        "sampled": {"structure": "exact", "sample": drawn.sampled},
        "flagged": {"structure": "exact", "records": flags, "sample": min(drawn.flagged, int(flags.sum()))},
    }
    if first:
        asked = {"sampled": {"structure": "fixed", "sample": min(AT_FIRST, context.pair.n_original)}}
    for who, options in asked.items():
        if who == "flagged" and not flags.any():
            continue
        # What an earlier run has left over goes to the later ones.
        rest = share - (time.monotonic() - begin)
        part = SHARES[who] / sum(SHARES[other] for other in asked if other not in runs)
        before = time.monotonic()
        run = posterior(
            context.pair, context.synthesizer, target=target, seed=context.scenario.seed,
            time_limit=max(1.0, SHARES[who] * share, part * rest), **options,
        )  # fmt: skip
        took["sampled" if who == "all" and run.structures != ("fixed",) else who] = time.monotonic() - before
        if who == "all" and run.structures != ("fixed",):
            # This synthesizer has no trees that can be held, every record is slow, and those that there was time for
            # are a random sample.
            runs["sampled"] = run
            break
        runs[who] = run
    beside = [context.attribute[target]] if target in context.attribute else []
    found = {who: run.to_dict(by=list(context.scenario.keys), beside=beside) for who, run in runs.items()}
    how = str(found["sampled"]["strongest"])
    seen, least = runs["sampled"].posteriors(), context.scenario.minimum_count
    if seen.posterior.size < least:
        figures = _too_few(seen.posterior.size, target, least)
    else:
        one = found["sampled"]["releases"][0][how]
        figures = (
            mean_figure(seen, target, how, context.scenario.level, least),
            certain_figure(float(one[CERTAIN]), int(one["n_records"]), target, how, context.scenario.level, least),
        )
    entry = _entry(context, found)
    if not first:
        walked = drawn.affordable if "all" in runs else 0
        entry["mistakes"] = mistaken_intruder(context, target, walked, share - (time.monotonic() - begin))
    unfinished = [
        f"{_WHO[who]}: {done} of {asked} records (all of them would take about {_duration(took[who] * asked / done)})"
        for who, done, asked in _counts(found)
        if done < asked
    ]
    return Section(
        figures=figures,
        targets={target: {"posterior": entry}},
        warnings=(
            *dict.fromkeys(text for one in found.values() for text in one["warnings"]),
            # What is planned concerns synthesizers whose trees can be held.
            *(drawn.notes(target) if "all" in runs else []),
        ),
        partial=Note(f"{'; '.join(unfinished)}. {_limit(context)}", _UNFINISHED) if unfinished else None,
    )


@dataclass(frozen=True)
class Planned:
    """How many records are worked out exactly: by the sizes of the files and the budget, not by a clock.

    Parameters
    ----------
    affordable
        Records that there is time for, in each of the steps that walk trees.
    sampled, flagged
        Records drawn at random from all, and at most from those that are flagged.
    wanted
        Records drawn at random that the precision takes.
    precision
        The precision.
    """

    affordable: int
    sampled: int
    flagged: int
    wanted: int
    precision: float

    def notes(self, target: str) -> list[Note]:
        """What is said where the budget does not reach the precision."""
        if self.sampled >= self.wanted:
            return []
        text = f"the interval of the posterior of {target} is wider than the precision of {self.precision:g}"
        how = "a larger budget draws more, up to what five minutes allow; unveil posterior has no limit"
        return [Note(f"{text}: {self.sampled} records were drawn at random, and it takes {self.wanted}; {how}", text)]


def planned(context: Context, target: str) -> Planned:
    """Return how many records there is time for.

    A probability has a standard deviation of at most 1/2, so ``(z / (2 precision))^2`` records reach the precision
    whatever the posterior is.
    """
    scenario, pair = context.scenario, context.pair
    wanted = min(math.ceil((normal_quantile(scenario.level) / (2 * scenario.precision)) ** 2), pair.n_original)
    cells = pair.n_original * len(pair.original.names)
    seconds = cells * (CELL_SECONDS + CELL_VALUE_SECONDS * pair.column(target).n_levels)
    allowed = min(BUDGET_SHARE * scenario.budget / len(scenario.targets), MOST_SECONDS)
    affordable = max(int(allowed / 2 / seconds), min(FEWEST, pair.n_original))
    return Planned(affordable, min(wanted, affordable), min(FLAGGED, affordable), wanted, scenario.precision)


_UNFINISHED = "not all records were worked out in the time that there was"


def _limit(context: Context) -> str:
    """Return why the work ended, and which option lets it go further."""
    if context.clock.share < MOST_SECONDS:
        return f"The budget was {context.clock.budget:g} seconds; a larger one gets further"
    return f"A target gets {MOST_SECONDS:g} seconds at most, whatever the budget is; unveil posterior has no limit"


def _duration(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"


_WHO = {
    "all": "all records, donor counts alone",
    "sampled": "random sample",
    "flagged": "records flagged by repU or DiSCO",
}


def _flags(context: Context, target: str) -> NDArray[np.bool_]:
    """Records that a cheap measure points at in any release."""
    flags = np.zeros(context.pair.n_original, dtype=bool)
    for release in range(context.pair.n_releases):
        tables = [(context.identity.records(release, flavour="arrow"), "replicated_unique")]
        if target in context.attribute:
            tables.append((context.attribute[target].records(release, flavour="arrow"), "disco"))
        for table, column in tables:
            flags |= np.asarray(table.column(column).to_numpy(zero_copy_only=False), dtype=bool)
    return flags


def _counts(found: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int, int]]:
    return [(who, min(one["records"]["n_done"].values()), one["records"]["n_asked"]) for who, one in found.items()]


_UPPER_END = "How plausible it is that somebody has all other records: it is the upper end."
_NOT_CERTAIN = "Records whose value is nearly certain, and what weaker intruders learn."


def _too_few(n: int, target: str, least: int) -> tuple[Figure, Figure]:
    """No figures: so few records say nothing of persons in general, and much of those who they are."""
    few = f"worked out, fewer than the {least} that a figure is given of"
    reason = Note(f"{how_many(n, 'record')} {'was' if n == 1 else 'were'} {few}", f"some records were {few}")
    sentence = f"What an intruder who has all records but one learns of {target} is not known"
    common: dict[str, Any] = {
        "intruder": INTRUDERS[2], "target": target, "unit": "share", "per_release": [math.nan], "low": math.nan,
        "high": math.nan, "undefined": reason, "persons": n,
        "sentence": Note(f"{sentence}: {reason}.", f"{sentence}: {reason.public}."),
    }  # fmt: skip
    return (
        Figure(measure="posterior", does_not_show=_UPPER_END, contradicted_by="posterior certain", **common),
        Figure(measure="posterior certain", does_not_show=_NOT_CERTAIN, contradicted_by="RAPID", **common),
    )


def mean_figure(weighed: Any, target: str, how: str, level: float, least: int) -> Figure:
    """Mean posterior of the truth, from the posterior and the prior of persons drawn at random."""
    from unveil._posterior.summary import exact_mean

    posterior, prior = weighed.posterior, weighed.prior
    value, before, n = exact_mean(posterior), exact_mean(prior), posterior.size
    low, high = _interval_of_mean(value, posterior, level)
    gain = excess(value, before)
    # 1 - excess is a ratio of means, (1 - posterior) / (1 - prior), which has the variance of these residuals.
    ends = _interval_of_mean(value, posterior - (1 - gain) * prior, level)
    gain_low, gain_high = (excess(end, before) for end in ends)
    return Figure(
        measure="posterior",
        intruder=INTRUDERS[2],
        target=target,
        unit="share",
        per_release=[value],
        low=low,
        high=high,
        margin=before,
        ceiling=1.0,
        excess=gain,
        excess_low=gain_low,
        excess_high=gain_high,
        sentence=public_note(
            lambda say: (
                f"An intruder who has the synthesizer and all records but one gives the true value of {target} a "
                f"probability of {say.probability(value)} on average, {say.prior(before)} before the release was "
                f"seen ({how}, {say.count(n)} records drawn at random)."
            ),
            Rounding(n, least),
        ),
        does_not_show=_UPPER_END,
        contradicted_by="posterior certain",
        persons=n,
    )


def _interval_of_mean(mean: float, varying: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Wilson's interval with the variance of what varies: where most posteriors are 1 a normal one covers too rarely.

    It is over other persons of the population, as the intervals of the other measures are. So it does not become
    shorter where the sample is much of the file, or all of it.
    """
    n = varying.size
    # In ascending order the rounding does not depend on the order of records.
    variance = float(np.sort(varying).var(ddof=1)) / n if n > 1 else math.nan
    return (math.nan, math.nan) if math.isnan(variance) else score_interval(mean, variance, n, level)


def certain_figure(value: float, n: int, target: str, how: str, level: float, least: int) -> Figure:
    """Share of n persons drawn at random whose value the release leaves no doubt about."""
    low, high = wilson(round(value * n), n, level)
    return Figure(
        measure="posterior certain",
        intruder=INTRUDERS[2],
        target=target,
        unit="share",
        per_release=[value],
        low=low,
        high=high,
        ceiling=1.0,
        sentence=public_note(
            lambda say: (
                f"For {say.hundred(value, digits=0)} of 100 records the release leaves that intruder no doubt about "
                f"{target} ({how}, {say.count(n)} records drawn at random)."
            ),
            Rounding(n, least),
        ),
        does_not_show=_NOT_CERTAIN,
        contradicted_by="RAPID",
        persons=n,
    )


def _entry(context: Context, found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    rows, least = [], context.scenario.minimum_count
    for who, one in found.items():
        structure = one["strongest"]
        figures = one["releases"][0][structure]
        names = ("mean_prior", "mean_posterior", "mean_normalised_gain", "share_above_half", "share_above_90", CERTAIN)
        rows.append(
            {"who": _WHO[who], "structure": structure, "records": figures["n_records"]}
            | {name: figures[name] if figures["n_records"] >= least else None for name in names}
        )
    sampled = found["sampled"]
    widest = "all" if "all" in found else "sampled"
    all_figures = found[widest]["releases"][0][found[widest]["strongest"]]
    return {
        "rows": rows,
        "n_values": sampled["n_values"],
        "prior": sampled["prior"],
        "gain_histogram": all_figures["normalised_gain_histogram"] if all_figures["n_records"] >= least else None,
        "subgroups": {
            name: [[row for row in rows if row["n"] >= least] for rows in groups]
            for name, groups in found[widest]["subgroups"].items()
        },
        "cross": found[widest]["cross"] if all_figures["n_records"] >= least else [],
        "settings_check": sampled["settings_check"],
    }
