"""Results of inference in words and tables."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unveil._rapid.attribution import Attribution
from unveil._rapid.cross_validation import RapidCV
from unveil._rapid.curves import RapidCurve
from unveil._rapid.rapids import Rapids
from unveil._rapid.result import Rapid
from unveil.result import Row, counted, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import Interval, called, kinds_in_words


def one_target(result: Rapid) -> str:
    """A row per attack, and what the figures mean."""
    quality = "accuracy" if result.kind == "categorical" else "mae"
    shown = ("margin", "null_mean", "null_95", "ceiling", "excess", "p_value", quality)
    rows: list[Row] = []
    for attack, interval in zip(result.attacks, result.intervals(), strict=True):
        rows.append([
            attack["release"], attack["attacker"], f"{attack['n_at_risk']}/{attack['n']}",
            number(100 * attack["rate"], 2), _ends_in_percent(interval["bootstrap"]),
            *(number(100 * attack[m], 2) for m in shown[:5]), number(attack["p_value"], 3),
            number(100 * attack[quality], 1) if quality == "accuracy" else number(attack[quality], 3),
        ])  # fmt: skip
    rest = [""] * len(shown)
    if len(rows) > 1:
        rows.append(["mean", "", "", number(100 * result.rate, 2), "", *rest])
        rows.append(["largest", "", "", number(100 * result.envelope, 2), "", *rest])
    if len(result.labels) > 1:
        rows.append(["sd over releases", "", "", number(100 * result.sd["rate"], 2), "", *rest])
    header = ["release", "attacker", "at risk", "% at risk", called("release"), "margin", "null", "null 95 %",
              "ceiling", "excess", "p", "% right" if quality == "accuracy" else quality]  # fmt: skip
    process = result.interval("process")
    return "\n".join(
        [
            f"RAPID of {result.target!r} ({result.kind}): {result.n_counted} of {result.n_original} original "
            f"{counted()}, keys {', '.join(result.keys)}; {result.scoring}, {result.symbol} {result.threshold:g}",
            "",
            text_table(header, rows),
            "",
            paragraph(*_in_words(result)),
            paragraph(*kinds_in_words(_percent(process).in_words("% at risk"), process.undefined)),
            *(paragraph(f"Note: {note}.") for note in _notes(result)),
            *warnings_in_words(result.warnings),
        ]
    )


def _ends_in_percent(interval: tuple[float, float]) -> str:
    low, high = interval
    return ends((100 * low, 100 * high))


def _percent(found: Interval) -> Interval:
    """An interval of a rate in percent."""
    return replace(found, **{name: 100 * getattr(found, name) for name in ("value", "low", "high")})


def _notes(result: Rapid) -> list[str]:
    return [note for note in result.notes if note not in result.warnings]


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
        "record predicted by a model without it. excess: (rate - null) / (100 - null). "
        f"All but p{'' if result.kind == 'categorical' else ' and mae'} are percent."
    )
    sentences.append(
        "Not shown: whether the record itself was used to make the release. What holds for people in general can be "
        "inferred about those who are in no file."
    )
    return sentences


def several_targets(results: Rapids) -> str:
    """A row per target, the most at risk first."""
    rows: list[Row] = []
    for result in sorted(results, key=lambda r: -r.rate):
        means = [float(np.mean([a[n] for a in result.attacks])) for n in ("margin", "null_mean", "ceiling", "excess")]
        rows.append([
            result.target, result.kind, f"{result.symbol} {result.threshold:g}", str(result.n_counted),
            number(100 * result.rate, 2), number(100 * result.envelope, 2), *(number(100 * v, 2) for v in means),
        ])  # fmt: skip
    header = ["target", "kind", "threshold", "records", "% at risk", "largest", "margin", "null", "ceiling", "excess"]
    attackers = list(dict.fromkeys(name for result in results for name in result.attackers))
    return "\n".join(
        [
            f"RAPID: {results[0].n_original} original {counted()}, keys {', '.join(results[0].keys)}; "
            f"{', '.join(attackers)}",
            "",
            text_table(header, rows),
            "",
            paragraph(
                "Percent of original records whose target a model trained on the release infers; means over attackers "
                "and releases. Read each rate against its null: the same after shuffling the target in the release."
            ),
            *(paragraph(f"{result.target}: {note}.") for result in results for note in _notes(result)),
            *warnings_in_words(results.warnings),
        ]
    )


def curve(found: RapidCurve) -> str:
    """A row per threshold, a column per curve."""
    many = len(found.lines) > 1
    header = [found.symbol]
    for line in found.lines:
        header.append(" ".join(filter(None, (line.attacker, line.release, line.group))) if many else "% at risk")
    first = found.lines[0]
    beside = [] if many or first.null_mean is None else ["null", "null 95 %"]
    columns = [*(line.rate for line in found.lines), *([first.null_mean, first.null_95] if beside else [])]
    rows = [
        [f"{threshold:g}", *(number(100 * float(column[i]), 1) for column in columns if column is not None)]
        for i, threshold in enumerate(found.thresholds)
    ]
    return "\n".join(
        [f"Percent of {counted()} at risk of inference of {found.target!r}", "", text_table([*header, *beside], rows),
         *warnings_in_words(found.warnings)]
    )  # fmt: skip


def attribution(found: Attribution) -> str:
    """The coefficients, and what is lost when a key is permuted."""
    rows: list[Row] = [
        [c.key, "per sd" if c.level is None else f"{c.level}" + (f" vs {c.reference}" if c.reference else ""),
         str(c.n), number(c.estimate), ends((c.low, c.high))]
        for c in found.coefficients
    ]  # fmt: skip
    importance: list[Row] = [
        [i["key"], number(i["score"], 3), number(100 * i["rate"], 1)]
        for i in sorted(found.importance, key=lambda i: -i["score"])
    ]
    return "\n".join(
        [
            f"Attribution: {found.n_at_risk} of {found.n} {counted()} at risk of inference of {found.target!r} "
            f"({found.attacker}, {found.release})",
            "",
            text_table(["key", "level", "n", "log odds", called("release", found.level)], rows),
            "",
            text_table(["key permuted", "loss of score", "loss of % at risk"], importance),
            "",
            paragraph(
                "Log odds of being at risk, all keys together; 0 is no difference. Below: what the attacker loses",
                "when a key is permuted among records.",
                *(["Some level decides the flag alone: its coefficient is as large as a weak prior lets it be."]
                  * found.separated),
            ),
            *warnings_in_words(found.warnings),
        ]
    )  # fmt: skip


def cross_validation(cv: RapidCV) -> str:
    """A row per fold, and what the rates mean."""
    rows: list[Row] = [
        [str(i), number(100 * a, 1), number(100 * b, 1)]
        for i, (a, b) in enumerate(zip(cv.held_out, cv.in_sample, strict=True), start=1)
    ]
    rows.append(["mean", number(100 * cv.mean, 1), number(100 * cv.in_sample_mean, 1)])
    rows.append(["sd", number(100 * cv.sd, 1), number(100 * cv.in_sample_sd, 1)])
    low, high = cv.interval
    inside = cv.inclusion_interval
    return "\n".join(
        [
            f"RAPID of a synthesizer: {cv.target!r} from {', '.join(cv.keys)}; {cv.n} records, "
            f"{len(cv.held_out)} folds, {', '.join(cv.attackers)}",
            "",
            text_table(["fold", "% held out", "% in sample"], rows),
            "",
            paragraph(
                f"Of 100 records that were NOT used, {100 * cv.mean:.1f} (95 % interval,",
                f"repeated fits: {100 * low:.1f} to {100 * high:.1f}) have their target inferred;",
                f"of those that were used {100 * cv.in_sample_mean:.1f}.",
                f"Inclusion adds {100 * cv.inclusion:.1f}",
                f"({100 * inside[0]:.1f} to {100 * inside[1]:.1f}): folds share records, so intervals are rough.",
            ),
            *warnings_in_words(cv.warnings),
        ]
    )
