"""Whether a person's record was used: membership attacks, only where records were truly held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unveil._membership.largest import Largest
from unveil.assessment.figure import Figure, mean_of
from unveil.assessment.part import Context, Section, Skipped, need_whole
from unveil.assessment.published_text import public_note
from unveil.assessment.rounding import Rounding
from unveil.assessment.scenario import INTRUDERS
from unveil.notes import Note
from unveil.stats import NAMES, excess

MOST_RECORDS = 2000
"""Members, and held-out records, that are attacked at most."""
REPEATS = 2
LOT = 0.5
"""What a guess at random achieves."""


def membership_part(context: Context) -> Section:
    """Attacks on a true holdout, or on halves that the synthesizer is fitted to anew."""
    from unveil._membership import ATTACKS, membership, membership_synthesizer

    scenario = context.scenario
    if INTRUDERS[1] not in scenario.intruders:
        raise Skipped(Note("the intruder who has release and synthesizer is not part of the scenario"))
    if context.pair.holdout is None and context.synthesizer is None:
        raise Skipped(
            Note(
                "neither records that the synthesizer never saw (holdout) nor the synthesizer were given; records set "
                "aside afterwards are members too and measure nothing"
            )
        )
    if context.clock.left == 0:
        raise Skipped(Note("the budget was used up before membership was measured"))
    # The largest of several attacks is reported: its interval holds for all of them at once.
    level = 1 - (1 - scenario.level) / len(ATTACKS)
    if context.pair.holdout is not None:
        found = membership(
            context.pair, holdout_unseen=context.holdout_unseen, most_records=MOST_RECORDS, level=level,
            seed=scenario.seed,
        )  # fmt: skip
        rows = [_row(name, one.auc, one.auc_interval, one.tpr) for name, one in found.together.items()]
        per_release = {name: [release[name].auc for release in found.releases] for name in found.attacks}
        copied = (found.copies_together.members, found.copies_together.held_out)
        counts, how = (found.n_members, found.n_held_out), "holdout"
        said, best = found.warnings, found.largest
    else:
        from unveil._posterior.choice import check_maker

        need_whole(context)
        # What follows is about the synthesizer alone: of releases that it did not make it says nothing.
        check_maker(context.pair, context.synthesizer, scenario.targets[0])
        again = membership_synthesizer(
            context.pair.original, context.synthesizer, repeats=REPEATS, releases=context.pair.n_releases,
            most_records=MOST_RECORDS, level=level, seed=scenario.seed,
            special_codes=context.pair.special_codes or None, kinds=context.pair.kinds or None,
        )  # fmt: skip
        rows = [_row(name, again.auc[name], again.auc_interval[name], again.tpr[name]) for name in again.attacks]
        per_release = {name: [run.together[name].auc for run in again.runs] for name in again.attacks}
        shares = [run.copies_together for run in again.runs]
        copied = (mean_of([one.members for one in shares]), mean_of([one.held_out for one in shares]))
        counts, how = (again.n // 2, again.n - again.n // 2), "refitted on random halves"
        said, best = again.warnings, again.largest
    top = next((row for row in rows if row["attack"] == best.attack), rows[0])
    figure = _figure(top, best, per_release[top["attack"]], how, context.rounding_of(min(counts)))
    entry = {
        "sentence": figure.sentence,
        "how": how,
        "members": counts[0],
        "held_out": counts[1],
        "level": level,
        "attacks": rows,
        "copied_members": copied[0],
        "copied_held_out": copied[1],
    }
    return Section(figures=(figure,), entries={"membership": entry}, warnings=said)


def _row(attack: str, auc: float, interval: tuple[float, float], tpr: Sequence[float]) -> dict[str, Any]:
    from unveil._membership import FPRS

    hits = {f"tpr_{rate:g}": hit for rate, hit in zip(FPRS, tpr, strict=True)}
    return {"attack": attack, "auc": auc, "auc_low": interval[0], "auc_high": interval[1]} | hits


def _figure(top: dict[str, Any], best: Largest, per_release: Sequence[float], how: str, rounding: Rounding) -> Figure:
    auc = top["auc"]
    return Figure(
        measure="membership AUC",
        intruder=INTRUDERS[1],
        target=None,
        unit="auc",
        per_release=[auc] if how == "holdout" else list(per_release),
        low=top["auc_low"],
        high=top["auc_high"],
        over=NAMES["release"] if how == "holdout" else "repeated fits",
        margin=LOT,
        ceiling=1.0,
        null_mean=best.null_mean,
        null_95=best.null_95,
        p_value=best.p_value,
        excess=best.excess,
        excess_low=excess(top["auc_low"], best.null_mean),
        excess_high=excess(top["auc_high"], best.null_mean),
        sentence=public_note(
            lambda say: (
                f"Of a record that was used and one that was not, the best attack ({top['attack']}) names the "
                f"right one in {say.percent(100 * auc, digits=0)} of 100 cases; a guess at random in 50, and the best "
                f"of the attacks in {say.percent(100 * best.null_mean, digits=0)} where there is nothing to be found."
            ),
            rounding,
        ),
        does_not_show="Whether single records are recognised for certain: few can be, while the AUC stays near 0.5.",
        contradicted_by="posterior certain",
        undefined=None if not math.isnan(auc) else Note("no attack was possible"),
        persons=rounding.persons,
    )
