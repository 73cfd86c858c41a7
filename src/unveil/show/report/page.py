"""The report as one HTML file with its style and script: it needs no network, and can be read without the script."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from unveil.assessment.wording import words_and_options
from unveil.show.report import arrange, charts, first_page, row_plots, sources
from unveil.show.report import figures as numbers
from unveil.show.report.schema import checked, drawing


def html(assessment: Mapping[str, Any]) -> str:
    """The report of an assessment as an HTML page that needs nothing else.

    Parameters
    ----------
    assessment
        What `Assessment.to_dict()` gives, or the JSON read back.

    Raises
    ------
    DataError
        If the dict is not an assessment, of another major version, or lacks something; the message names it.

    Examples
    --------
    >>> html({"schema": "something else"})
    Traceback (most recent call last):
    ...
    unveil.errors.DataError: not an assessment: schema is 'something else', expected 'unveil.assessment'; unveil \
assess --json makes one
    """
    script = template_text("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    content = checked(assessment)
    with drawing(), numbers.rounded_before(content["publication"] is not None):
        page = arrange.arrange(content)
        return environment().get_template("page.html").render(
            page=page,
            a=page.a,
            style=Markup(template_text("report.css")),
            script=Markup(script),
            script_hash=digest,
            verdicts=partial(arrange.policy_rows, page.a),
            unit_of=partial(arrange.unit_of, page.a),
            why_missing=partial(arrange.why_missing, page.a),
            words_and_options=words_and_options,
            command=arrange.command(page.a), command_note=arrange.command_note(page.a),
        )  # fmt: skip


@cache
def template_text(name: str) -> str:
    """A file beside the templates."""
    return (files("unveil.show.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """The templates, with their filters and functions."""
    made = Environment(
        loader=PackageLoader("unveil.show.report", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters.update(
        name=_name, formula=_formula, heading=_heading, statistic=_statistic, plain_unit=_plain_unit,
        plain_number="{:g}".format,
        shown=numbers.shown, percentage=numbers.percentage, quantity=numbers.quantity, count=numbers.count,
        seconds=numbers.seconds, moment=numbers.moment, cell=numbers.value_text,
    )  # fmt: skip
    made.globals.update(
        arrange=arrange, charts=charts, first_page=first_page, row_plots=row_plots, sources=sources,
        interval=numbers.interval,
        cells_of=_cells_of, wordy=_wordy, chosen_point=_chosen_point, reach=_reach, groups_top=_groups_top,
        utility_names=UTILITY_NAMES, shares=SHARES, posterior_names=POSTERIOR_NAMES, cross_names=CROSS_NAMES,
        attack_names=ATTACK_NAMES, weakening_names=WEAKENING_NAMES,
    )  # fmt: skip
    return made


UTILITY_NAMES = {
    "TVD": "Total variation distance", "TVD_weighted": "Total variation distance, weighted",
    "KS": "Kolmogorov–Smirnov distance", "no_amount_original": "No amount: original",
    "no_amount_release": "No amount: release",
    "S_pMSE": "Standardised pMSE", "VW": "Voas–Williamson",
    "tvd": "Total variation distance", "s_pmse": "Standardised pMSE", "pmse": "pMSE",
    "s_voas_williamson": "Standardised Voas–Williamson", "voas_williamson": "Voas–Williamson",
}  # fmt: skip
STATISTICS = {
    "value": "Figure", "low": "Lower end, this release", "high": "Upper end, this release", "excess": "Excess",
    "p_value": "p-value",
    "excess_low": "Lower end of excess", "excess_high": "Upper end of excess",
}  # fmt: skip
ATTACK_NAMES = {
    "auc": "AUC", "auc_low": "AUC from", "auc_high": "AUC to",
    "tpr_0.1": "Found at 10 % false alarms", "tpr_0.01": "Found at 1 % false alarms",
    "tpr_0.001": "Found at 0.1 % false alarms",
}  # fmt: skip
CROSS_NAMES = {
    "name": "Measure", "threshold": "At risk above", "both": "At risk and flagged", "only_posterior": "At risk only",
    "only_flag": "Flagged only", "missed": "Share missed",
}  # fmt: skip
POSTERIOR_NAMES = {
    "who": "Who", "structure": "Intruder uses",
    "share_above_half": "Share above 0.5", "share_above_90": "Share above 0.9", "expected_gain_bits": "Gain in bits",
    "mean_normalised_gain": "Mean gain", "share_must_fill": "Share that must fill",
}  # fmt: skip

SHARES = frozenset({
    "share_known", "mean_prior", "mean_posterior", "monte_carlo_error", "share_above_half", "share_above_90",
    "share_certain", "share_not_mixed", "share_must_fill", "missed", "TVD", "TVD_weighted", "tvd", "KS",
    "no_amount_original", "no_amount_release", "share_certain_wrong",
})  # fmt: skip
"""Columns of tables that hold shares."""
WEAKENING_NAMES = {
    "share_known": "Share known", "unknown": "Unknown persons", "monte_carlo_error": "Monte-Carlo error",
    "share_above_90": "Share above 0.9", "share_not_mixed": "Share not mixed",
}  # fmt: skip


def _name(value: object) -> Markup:
    """A name from the data, which keeps its direction of writing."""
    return Markup("<bdi>{}</bdi>").format(value)


def _formula(text: str) -> Markup:
    """A formula with its indices lowered and raised."""
    found = re.sub(r"_(?:\{([^}]*)\}|(\w))", _lowered, str(escape(text)))
    return Markup(re.sub(r"\^(\w)", r"<sup>\1</sup>", found))


def _lowered(index: re.Match[str]) -> str:
    return f"<sub>{index[1] or index[2]}</sub>"


def _heading(name: str) -> str:
    """A key of the dict as the head of a column; names of measures keep their spelling."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:] if words.islower() else words


def _statistic(name: str) -> str:
    """Name of the statistic that a policy limits."""
    return STATISTICS.get(name) or _heading(name)


def _cells_of(rows: list[dict[str, Any]], column: str) -> list[str]:
    """The texts of a column; a row may lack it. Shares are percent, as all of them are on the page."""
    if column in SHARES or column.startswith("tpr_"):
        return [numbers.shown(row.get(column), "share") for row in rows]
    return numbers.column([row.get(column) for row in rows])


def _wordy(rows: list[dict[str, Any]], column: str) -> bool:
    """Whether a column holds words, which are set to the left."""
    return any(isinstance(row.get(column), str) for row in rows)


def _groups_top(groups: list[dict[str, Any]], units: dict[str, str]) -> float:
    """End of the axis that all bars of a table share."""
    ends = (
        row_plots.round_top((g["value"], g.get("high")), g.get("unit") or units.get(g["measure"], "share"))
        for g in groups
    )
    return max(ends, default=100)


def _plain_unit(unit: str) -> str:
    return {"percent": "percent of records", "share": "percent of records", "auc": "area under the curve"}.get(
        unit, unit
    )


def _chosen_point(curve: dict[str, Any], scenario: dict[str, Any]) -> int:
    """The point of the curve that is nearest to the threshold of the scenario."""
    wanted = curve.get("chosen", scenario.get(curve["threshold"]))
    points = curve["points"]
    if wanted is None:
        return len(points) // 2
    return min(range(len(points)), key=lambda k: abs(points[k]["threshold"] - wanted))


def _reach(rows: list[dict[str, Any]]) -> float:
    """How far an axis around 0 goes: the largest estimate, and intervals up to twice as far."""
    estimates = [abs(row["log_odds"]) for row in rows if row["log_odds"] is not None]
    ends = [abs(row[end]) for row in rows for end in ("low", "high") if row[end] is not None]
    largest = max(estimates, default=1.0) or 1.0
    return min(max(ends, default=largest), 2 * largest) or 1.0
