"""The summary for publication: one page of at most ten rounded figures, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from unveil.checks import check_choice
from unveil.errors import DataError
from unveil.show.report import figures as numbers
from unveil.show.report.markdown import table, text
from unveil.show.report.page import environment, template_text
from unveil.show.report.schema import checked, drawing


def public_summary(assessment: Mapping[str, Any], form: str = "html") -> str:
    """The summary of an assessment that may be published.

    Its figures were rounded when the assessment was made, so that it is the same however often it is drawn.

    Parameters
    ----------
    assessment
        What `Assessment.to_dict()` gives, or the JSON read back; release-safe or not.
    form
        "html" for a page, or "markdown".

    Raises
    ------
    CallError
        If the form is another one.
    DataError
        As :func:`unveil.report.html`; and if the assessment has no summary.
    """
    check_choice("form", form, ("html", "markdown"))
    a = checked(assessment)
    if a["public_summary"] is None:
        raise DataError("the assessment has no public summary; unveil assess makes one")
    with drawing():
        return _page(a) if form == "html" else _markdown(a)


def _page(a: dict[str, Any]) -> str:
    template = environment().get_template("public.html")
    style = Markup(template_text("report.css"))
    return template.render(a=a, title=TITLE, rows=_rows(a), said=_sentences(a), style=style)


def _markdown(a: dict[str, Any]) -> str:
    said = _sentences(a)
    rows = [[text(row[name]) for name in ("what", "value", "beside")] for row in _rows(a)]
    blocks = [
        f"# {TITLE}",
        f"Made {text(numbers.moment(a['provenance']['created']))} with unveil {text(a['provenance']['unveil'])}.",
        text(said["scenario"]),
        table(["What", "Figure", "Beside it"], rows, 3) if rows else text(said["none"]),
        *(text(said[name]) for name in ("read", "rounded", "protects", "does_not_show") if said[name]),
    ]
    return "\n\n".join(blocks) + "\n"


TITLE = "What the synthetic data give away: summary for publication"


def _rows(a: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "what": one["what"],
            "value": _about(one["value"], one["step"]),
            "beside": "" if one["beside"] is None else f"{_about(one['beside'], one['step'])} {one['beside_what']}",
        }
        for one in a["public_summary"]["figures"]
    ]


def _about(value: float, step: float) -> str:
    """A rounded figure of 100 in words.

    Examples
    --------
    >>> _about(0, 5), _about(15.0, 5), _about(100, 0.2)
    ('under 5', 'about 15', 'over 99.8')
    """
    if value <= 0:
        return f"under {step:.10g}"
    return f"over {100 - step:.10g}" if value >= 100 else f"about {value:.10g}"


def _sentences(a: dict[str, Any]) -> dict[str, str]:
    """The sentences around the figures."""
    found, scenario = a["public_summary"], a["scenario"]
    m, least = len(a["data"]["releases"]), found["minimum_count"]
    files = "one synthetic file" if m == 1 else f"{m} synthetic files"
    steps = " or ".join(f"{step:.10g}" for step in sorted({one["step"] for one in found["figures"]}))
    several = (
        " A figure about answers is of the variable for which it is highest." if len(scenario["targets"]) > 1 else ""
    )
    units = f" A record is a unit of several rows, named by {_listed(unit)}." if (unit := scenario.get("unit")) else ""
    return {
        "scenario": (
            f"Real records were compared with {files} made from them. The intruder is taken to know "
            f"{_listed(scenario['keys'])} of a person and to want to know {_listed(scenario['targets'])}."
            f"{several}{units}"
        ),
        "read": (
            "A figure holds for this intruder only, and means something only beside the second one: what chance gives, "
            "or the original. None is a verdict."
        ),
        "rounded": (
            f"Every figure was rounded up or down at random, to a multiple of {steps}: at least the share that {least} "
            "records are of those behind the figure. It can be off by as much."
        ),
        "none": f"There are too few records for any figure: one takes at least {5 * least}.",
        "protects": _protects(found["told"]),
        "does_not_show": (
            "Not shown: groups of records, single answers, and intruders who know other things. Whatever else was "
            "found stays with those who hold the data."
        ),
    } | ({} if steps else {"rounded": "", "read": ""})


def _protects(told: Mapping[str, Any]) -> str:
    summary, report = (
        "all" if told[name] == 1 else f"at most {100 * told[name]:.3g} of 100"
        for name in ("public summary", "release-safe report")
    )
    return (
        "This page is made to protect even against a reader who has all real records but one. In a test with simulated "
        f"surveys of {told['persons']} records, each with one synthetic file, such a reader, who also knew all but one "
        f"answer of the last record, could work out that answer for {summary} records from this page, and for {report} "
        "from the report, which is made for readers without records. Publish one summary of a release: the mean of "
        "several tells more."
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} and {names[-1]}"
