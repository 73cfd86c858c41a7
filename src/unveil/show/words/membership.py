"""Membership inference in words and tables."""

from __future__ import annotations

import math

import numpy as np

from unveil._membership.largest import best_by_chance
from unveil._membership.refit import MembershipOfSynthesizer
from unveil._membership.result import NAMES, Membership
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import called
from unveil.stats.roc import FPRS, RocFigures


def attacks(found: Membership) -> str:
    """A row per release and attack, and what the figures mean."""
    header = ["release", "attack", "AUC", called("release", found.level), *(f"TPR at {100 * fpr:g} %" for fpr in FPRS)]
    rows: list[Row] = [["none", "guess at random", number(0.5, 3), "", *(f"{100 * fpr:g} %" for fpr in FPRS)]]
    for label, figures in found._listed():
        rows += [[label, name, *_printed(one)] for name, one in figures.items()]
    drawn = [
        f"{n} of {of} {what}"
        for n, of, what in zip(
            found.n_attacked, (found.n_members, found.n_held_out), ("members", "held-out records"), strict=True
        )
        if n < of
    ]
    return "\n".join(
        [
            paragraph(
                f"Membership inference: {found.n_members} members ({found.label_original}), {found.n_held_out} "
                f"held-out records ({found.label_held_out}), {len(found.columns)} columns: {', '.join(found.columns)}."
            ),
            *([f"Drawn at random: {' and '.join(drawn)}."] if drawn else []),
            "",
            text_table(header, rows),
            "",
            *_sentences(found),
            *warnings_in_words(found.warnings),
        ]
    )


def _printed(one: RocFigures) -> Row:
    hits = [
        "-" if hit != hit else f"{100 * hit:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        for hit, (low, high) in zip(one.tpr, one.tpr_interval, strict=True)
    ]
    return [number(one.auc, 3), "-" if one.undefined else ends(one.auc_interval, 3), *hits]


def _sentences(found: Membership) -> list[str]:
    copies = found.copies_together
    what = found.labels[0] if len(found.labels) == 1 else "one of the releases"
    reasons = {f"{name}: {one.undefined}" for _, figures in found._listed() for name, one in figures.items()
               if one.undefined}  # fmt: skip
    best = found.largest.attack
    lines = [
        paragraph(
            f"AUC: of two records, one of them a member, the best attack ({best}: {NAMES[best]}) names the right one "
            f"{100 * found.auc:.1f} times in 100; a guess at random gives 50"
            f"{best_by_chance(found.largest, found.attacks)}.",
            "TPR: how many of 100 members are found when that share of the others is taken for members.",
        )
        if not np.isnan(found.auc)
        else paragraph("No attack could be made."),
        paragraph(
            f"Copies: {copies.members:.1f} of 100 members are records that {what} repeats in all columns",
            f"({called('release', found.level)}: {ends(copies.members_interval, 1)}); of 100 held-out records",
            f"{copies.held_out:.1f} ({ends(copies.held_out_interval, 1)}).",
        ),
    ]
    lines += [_too_few(name, one) for name, one in found.together.items() if not one.undefined and np.isnan(one.tpr[0])]
    if {"density", "classifier"} & {name for name, one in found.together.items() if not one.undefined}:
        lines.append(
            paragraph(
                "Half of the held-out records stand for the population and are not scored by density; they and half of",
                "the members train the classifier, which scores the other halves.",
            )
        )
    lines += [paragraph(f"Not defined, {reason}.") for reason in sorted(reasons)]
    if set(found.confirmed) != set(found.labels):
        lines.append(
            "That the held-out records were never seen is what you said; no provenance file confirms the original."
        )
    lines.append(
        paragraph(
            "It does NOT show that no attack works: an AUC of 0.5 is that of these attacks, on average over records. "
            "Single records may stand out, and whoever knows the synthesizer can do better."
        )
    )
    return lines


def _too_few(name: str, one: RocFigures) -> str:
    few = [f"{100 * fpr:g} %" for fpr, hits in zip(FPRS, one.tpr, strict=True) if np.isnan(hits)]
    return paragraph(
        f"TPR at {' and '.join(few)} is not defined for {name}: of {one.n[1]} held-out records not one may be taken",
        "for a member.",
    )


def of_synthesizer(found: MembershipOfSynthesizer) -> str:
    """A row per attack over all runs, and what the figures mean."""
    header = ["attack", "AUC", f"{100 * found.level:g} % interval, repeated fits", "sd of runs",
              *(f"TPR at {100 * fpr:g} %" for fpr in FPRS)]  # fmt: skip
    rows: list[Row] = [["guess at random", number(0.5, 3), "", "", *(f"{100 * fpr:g} %" for fpr in FPRS)]]
    for name in found.attacks:
        hits = ["-" if math.isnan(hit) else f"{100 * hit:.1f} %" for hit in found.tpr[name]]
        rows.append(
            [name, number(found.auc[name], 3), ends(found.auc_interval[name], 3), number(found.auc_sd[name], 3), *hits]
        )
    inside, outside = (
        float(np.mean([getattr(run.copies_together, group) for run in found.runs])) for group in ("members", "held_out")
    )
    reasons = {f"{name}: {one.undefined}" for run in found.runs for name, one in run.together.items()
               if one.undefined}  # fmt: skip
    return "\n".join(
        [
            paragraph(
                f"Membership inference against a synthesizer: {found.n} records in random halves,",
                f"{len(found.runs) * found.n_releases} releases, each made from one half.",
                f"The {found.n_releases} of a half are attacked together." if found.n_releases > 1 else "",
            ),
            "",
            text_table(header, rows),
            "",
            paragraph(
                "AUC: how often, of a record that was used and one that was not, the right one is named;",
                f"a guess at random 0.5{best_by_chance(found.largest, found.attacks)}. Of 100 records that were used",
                f"{inside:.1f} are repeated in all columns, of others {outside:.1f}.",
            ),
            *(paragraph(f"Not defined, {reason}.") for reason in sorted(reasons)),
            paragraph(
                "It does NOT show that no attack works, nor what a fit to all records would show: with twice as",
                "many records each counts for less. Runs share records; the interval takes them for the same.",
            ),
            *warnings_in_words(found.warnings),
        ]
    )
