"""The result as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unveil._utility.measures import Figures, UtilityMeasures
from unveil._utility.result import Utility
from unveil.result import Row, number, paragraph, text_table, warnings_in_words

_SHOWN = 5
_HEADLINES = {
    "S_pMSE logistic": ("S_pMSE_logistic", 2),
    "S_pMSE cart": ("S_pMSE_cart", 2),
    "% SPECKS cart": ("SPECKS_cart", 1),
    "% TVD mean": ("TVD_mean", 2),
    "% TVD max": ("TVD_max", 2),
    "% weighted TVD mean": ("TVD_weighted_mean", 2),
    "% weighted TVD max": ("TVD_weighted_max", 2),
    "% pairs TVD mean": ("TVD_pairs_mean", 2),
    "% pairs TVD max": ("TVD_pairs_max", 2),
}
"""Columns with their figures and decimals; those with % are shares."""
_SCORES = {"categorical": "accuracy", "continuous": "R2"}


def utility_text(utility: Utility) -> str:
    """Headline figures per release, the worst of everything, and what they mean."""
    blocks = [_title(utility)]
    several = ", mean of the releases" if len(utility.labels) > 1 else ""
    if utility.mean:
        blocks.append(_releases(utility))
    for title, block in (
        (f"worst variables{several}", _variables(utility)),
        (f"worst pairs of variables{several}", _pairs(utility)),
        ("regression coefficients", _models(utility)),
        ("prediction of real records", _prediction(utility)),
    ):
        if block:
            blocks.append(f"{title}\n{block}")
    blocks.append(paragraph(*_sentences(utility)))
    blocks += warnings_in_words(utility.warnings)
    return "\n\n".join(blocks)


def _title(utility: Utility) -> str:
    n = len(utility.columns)
    releases = "1 release" if len(utility.labels) == 1 else f"{len(utility.labels)} releases"
    return f"Utility: {utility.n_original} original records, {releases}; {n} variable{'s' if n > 1 else ''}"


def _releases(utility: Utility) -> str:
    shown = {title: place for title, place in _HEADLINES.items() if place[0] in utility.mean}
    rows: list[Row] = []
    named = list(zip(utility.labels, utility.n_synthetic, utility.releases, strict=True))
    for label, n, figures in named:
        rows.append([label, n, *_headline(figures, shown)])
    if len(named) > 1:
        rows.append(["mean", "", *_headline(utility.mean, shown)])
        rows.append(["sd", "", *_headline(utility.sd, shown)])
    if utility.propensity:
        defined = [c for c in utility.propensity if not math.isnan(c.mean["S_pMSE"])]
        spread = {f"S_pMSE_{c.subject['model']}": c.mean["S_sd"] for c in defined}
        rows.append(["correct model", "", *(_expected(spread, name) for name, _ in shown.values())])
    return text_table(["release", "records", *shown], rows)


def _headline(figures: Figures, shown: Mapping[str, tuple[str, int]]) -> list[str]:
    return [
        number(100 * figures[name] if title.startswith("%") else figures[name], digits)
        for title, (name, digits) in shown.items()
    ]


def _expected(spread: dict[str, float], name: str) -> str:
    if name not in spread:
        return ""
    return "1" if math.isnan(spread[name]) else f"1 +- {spread[name]:.2f}"


def _variables(utility: Utility) -> str:
    rows: list[Row] = []
    for c in utility.worst("variables", n=_SHOWN):
        m = c.mean
        gaps = [m.get(f"no_amount_{file}", math.nan) for file in ("original", "release")]
        rows.append([
            c.subject["variable"], c.subject["cells"], number(100 * m["TVD"], 2), _ratio(m), number(m["S_FT"], 1),
            number(100 * m.get("KS", math.nan), 2), number(m.get("wasserstein"), 4),
            *(number(100 * gap, 1) for gap in gaps),
        ])  # fmt: skip
    header = [
        "variable", "cells", "% TVD", "S_pMSE (correct)", "S_FT", "% KS", "Wasserstein/sd", "% no amount: original",
        "release",
    ]  # fmt: skip
    return text_table(header, rows) if rows else ""


def _ratio(m: Figures) -> str:
    if math.isnan(m["S_pMSE"]):
        return "-"
    return f"{m['S_pMSE']:.1f} (1 +- {m['S_sd']:.1f})"


def _pairs(utility: Utility) -> str:
    rows: list[Row] = []
    for c in utility.worst("pairs", n=_SHOWN):
        m = c.mean
        rows.append([
            f"{c.subject['first']}, {c.subject['second']}", number(100 * m["TVD"], 2), _ratio(m),
            number(m["V_original"], 3), number(m["V_release"], 3),
            number(m.get("spearman_original"), 3), number(m.get("spearman_release"), 3),
        ])  # fmt: skip
    header = ["pair", "% TVD", "S_pMSE (correct)", "Cramér's V: original", "release", "Spearman: original", "release"]
    return text_table(header, rows) if rows else ""


def _models(utility: Utility) -> str:
    blocks = []
    for model in dict.fromkeys((c.subject["model"], c.subject["kind"], c.subject["event"]) for c in utility.models):
        of_model = [c for c in utility.models if c.subject["model"] == model[0] and c.subject["kind"] == model[1]]
        rows: list[Row] = [
            [c.subject["term"], _digits(c.mean["estimate_original"]), _digits(c.mean["se_original"]),
             _digits(c.mean["estimate"]), _digits(c.mean["se"]), number(c.mean["overlap"]),
             number(c.mean["std_difference"])]
            for c in of_model
        ]  # fmt: skip
        event = f", of {model[2]}" if model[2] else ""
        header = [f"{model[0]} ({model[1]}{event})", "original", "se", "release", "se", "overlap", "std difference"]
        blocks.append(text_table(header, rows))
        blocks += [f"  {line}" for line in _why(of_model)]
    return "\n".join(blocks)


def _why(comparisons: Sequence[UtilityMeasures]) -> list[str]:
    reasons = {c.subject["term"]: next(iter(c.undefined.values()), "") for c in comparisons}
    return [f"{term}: {reason}" for term, reason in reasons.items() if reason]


def _digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def _prediction(utility: Utility) -> str:
    chosen = [c for c in utility.worst("prediction", n=len(utility.prediction))
              if c.subject["score"] == _SCORES[c.subject["kind"]] or not math.isfinite(c.mean["TRTR"])]  # fmt: skip
    rows: list[Row] = [
        [c.subject["target"], c.subject["score"], *(number(c.mean[n], 3) for n in ("TRTR", "TSTR", "difference", "se"))]
        for c in sorted(chosen, key=lambda c: c.subject["kind"])
    ]
    header = ["target", "score", "trained on real", "on synthetic", "difference", "se"]
    return text_table(header, rows) if rows else ""


def _sentences(utility: Utility) -> list[str]:
    found = []
    ratios = {c.subject["model"]: c.mean["S_pMSE"] for c in utility.propensity}
    told = [f"{number(value, 1)} ({name})" for name, value in ratios.items() if not math.isnan(value)]
    if told:
        found += [
            f"The mean squared difference that a model finds between the files is {' and '.join(told)} times",
            "what it would be for a release of a correct model (S_pMSE near 1: nothing more to be found by that model;",
            "the logistic one looks at each variable by itself).",
        ]
    found += [
        f"S_pMSE ({c.subject['model']}) is not defined: {c.undefined['S_pMSE']}."
        for c in utility.propensity
        if "S_pMSE" in c.undefined and math.isnan(c.mean["S_pMSE"])
    ]
    if utility.variables:
        worst = utility.worst("variables", by="TVD", n=1)[0]
        found += [
            f"Of 100 records, {100 * worst.mean['TVD']:.1f} would have to move to another cell of",
            f"{worst.subject['variable']} to have it distributed as in the original, the most of any variable.",
        ]
    if "TVD_weighted_mean" in utility.mean:
        found.append("Weighted: the original counts by its design weights, as the population that it stands for.")
    if utility.pairs:
        pair = utility.worst("pairs", by="TVD", n=1)[0]
        found.append(
            f"For {pair.subject['first']} and {pair.subject['second']} together it is {100 * pair.mean['TVD']:.1f}."
        )
    if utility.models:
        found += [
            "An overlap of 1 means that an analyst's confidence interval is the same on both files,",
            "below 0 that they are disjoint.",
        ]
    found += [
        "None of this shows that anybody is protected: a copy of the original is the most useful release there is.",
        "What three variables say only together is seen, if at all, by the cart score and the models asked for.",
    ]
    return found
