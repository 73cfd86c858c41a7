"""Results of inference in words and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unveil.result import number, paragraph, text_table, warnings_in_words
from unveil.stats import called, kinds_in_words

if TYPE_CHECKING:
    from unveil._rapid.rapids import Rapids
    from unveil._rapid.result import Rapid

__all__ = ["one_target", "several_targets"]

Rows = list[list[float | str | None]]


def one_target(result: Rapid) -> str:
    """A row per attack, and what the figures mean."""
    quality = "accuracy" if result.kind == "categorical" else "mae"
    shown = ("margin", "null_mean", "null_95", "ceiling", "excess", "p_value", quality)
    rows: Rows = []
    for attack, interval in zip(result.attacks, result.intervals(), strict=True):
        low, high = interval["bootstrap"]
        rows.append([
            attack["release"], attack["attacker"], f"{attack['n_at_risk']}/{attack['n']}",
            number(attack["rate"], 4), f"{low:.4f} to {high:.4f}", *(number(attack[m], 4) for m in shown[:5]),
            *(number(attack[m], 3) for m in shown[5:]),
        ])  # fmt: skip
    rest = [""] * len(shown)
    if len(rows) > 1:
        rows.append(["mean", "", "", number(result.rate, 4), "", *rest])
        rows.append(["largest", "", "", number(result.envelope, 4), "", *rest])
    if len(result.labels) > 1:
        rows.append(["sd over releases", "", "", number(result.sd["rate"], 4), "", *rest])
    header = ["release", "attacker", "at risk", "rate", called("release"), "margin", "null", "null 95 %", "ceiling",
              "excess", "p", quality]  # fmt: skip
    process = result.interval("process")
    return "\n".join(
        [
            f"RAPID of {result.target!r} ({result.kind}): {result.n_counted} of {result.n_original} original records, "
            f"keys {', '.join(result.keys)}; {result.scoring}, {result.symbol} {result.threshold:g}",
            "",
            text_table(header, rows),
            "",
            paragraph(*_in_words(result)),
            paragraph(*kinds_in_words(process.in_words("rate", 4), process.undefined)),
            *(paragraph(f"Note: {note}.") for note in result.notes if note not in result.warnings),
            *warnings_in_words(result.warnings),
        ]
    )


SCORES = {
    "marginal": "0: as likely as its share, 1: certain",
    "conditional": "its probability over the mean of its class",
    "nce": "0: as likely as every other class, 1: certain",
}
"""What the scores of classes mean."""


def _in_words(result: Rapid) -> list[str]:
    known = f"Of 100 original records whose keys are known, for {100 * result.rate:.1f}"
    if result.kind == "continuous":
        what = f"a model trained on the release tells {result.target!r} with an error ({result.scoring}) below"
        sentences = [f"{known} {what} {result.threshold:g}."]
    else:
        what = f"a model trained on the release scores the true {result.target!r} above {result.threshold:g}"
        sentences = [f"{known} {what} ({SCORES[result.scoring]})."]
    nulls = [a["null_mean"] for a in result.attacks if not math.isnan(a["null_mean"])]
    if nulls:
        sentences.append(
            f"If the release said nothing of how {result.target!r} goes with the keys, it would be "
            f"{100 * sum(nulls) / len(nulls):.1f} on average (null: target shuffled); read the rate against that."
        )
    else:
        sentences.append("No null was run (permutations=0): without it the rate cannot be read.")
    sentences.append(
        "margin: the same share without release and keys. ceiling: the same attack trained on the original, each "
        "record predicted by a model without it. excess: (rate - null) / (1 - null)."
    )
    sentences.append(
        "Not shown: whether the record itself was used to make the release. What holds for people in general can be "
        "inferred about those who are in no file."
    )
    return sentences


def several_targets(results: Rapids) -> str:
    """A row per target, the most at risk first."""
    rows: Rows = []
    for result in sorted(results, key=lambda r: -r.rate):
        means = [float(np.mean([a[n] for a in result.attacks])) for n in ("margin", "null_mean", "ceiling", "excess")]
        rows.append([
            result.target, result.kind, f"{result.symbol} {result.threshold:g}", str(result.n_counted),
            number(result.rate, 4), number(result.envelope, 4), *(number(v, 4) for v in means),
        ])  # fmt: skip
    header = ["target", "kind", "threshold", "records", "rate", "largest", "margin", "null", "ceiling", "excess"]
    attackers = list(dict.fromkeys(name for result in results for name in result.attackers))
    return "\n".join(
        [
            f"RAPID: {results[0].n_original} original records, keys {', '.join(results[0].keys)}; "
            f"{', '.join(attackers)}",
            "",
            text_table(header, rows),
            "",
            paragraph(
                "Share of original records whose target a model trained on the release infers; means over attackers "
                "and releases. Read each rate against its null: the same after shuffling the target in the release.",
            ),
            *(
                paragraph(f"{result.target}: {note}.")
                for result in results
                for note in result.notes
                if note not in result.warnings
            ),
            *warnings_in_words(results.warnings),
        ]
    )
