"""The Markdown: tables that hold together, nothing that a reader takes for markup, the same figures as the page."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import pytest

from unveil.show.report import markdown
from unveil.show.report.markdown import text

Assessment = dict[str, Any]


def cells(line: str) -> list[str]:
    """The cells of a row, at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables(document: str) -> list[list[list[str]]]:
    lines = re.sub(r"^(`{3,})\n.*?\n\1$", "", document, flags=re.DOTALL | re.MULTILINE).splitlines()
    return [
        [cells(line) for line in run] for is_table, run in groupby(lines, lambda line: line.startswith("|")) if is_table
    ]


@pytest.mark.parametrize("name", ["example", "minimal", "large", "published"])
def test_tables_are_well_formed(name: str, request: pytest.FixtureRequest) -> None:
    found = tables(markdown(request.getfixturevalue(name)))
    assert len(found) > 5
    for table in found:
        assert len({len(row) for row in table}) == 1, table[0]
        assert all(re.fullmatch(r":--|--:", cell) for cell in table[1])
        assert len(table) > 2


def test_sections_stand_in_the_order_of_the_page(example: Assessment) -> None:
    heads = re.findall(r"^## (.*)$", markdown(example), flags=re.MULTILINE)
    assert heads == ["Summary", "Before you use the figures", "Intruders, from weak to strong", "Target by target",
                     "Which keys, which groups", "Utility", "Risk and utility together", "What to change",
                     "The institution's policy", "Methods and sources", "Provenance"]  # fmt: skip


def test_figures_and_verdicts(example: Assessment) -> None:
    document = markdown(example).replace("\u00a0", " ")
    assert (
        "| RAPID | depress | 22.1 % | 21.0 to 23.3 % | – | 0 % | 13.1 to 14.0 % | 21.2 % | 41.3 % | 10.4 % | no limit |"
        in document
    )
    assert "| posterior certain | depress | 3.1 % |" in document
    assert "| above 1.0 % |" in document
    assert "| DiSCO | depress | value | within | 4.9 % | 10.0 % |" in document
    assert "Of 100 records, for 22.1 a model trained on the release infers depress" in document
    assert "not defined, no record of the release has keys for which the release is certain" in document


@pytest.mark.parametrize(
    "name",
    ["a|b", "<script>alert(1)</script>", "`code`", "*bold*", "[link](javascript:x)", "line\nbreak", "a\\|b", "# head",
     "x_y_z", "&amp;", "$x$", "~~gone~~", "- item", "1. item", "+ item", "===", "-", "3.5"],
)  # fmt: skip
def test_names_stay_names(example: Assessment, name: str) -> None:
    example["targets"][0]["target"] = name
    for figure in example["figures"]:
        figure["target"] = name if figure["target"] == "depress" else figure["target"]
    document = markdown(example)
    escaped = text(name)
    assert not re.match(r"(?:[-+]|\d+[.)])(?: |$)|[-=]+$", escaped)
    assert re.sub(r"\\([-+=.\\`*_{}\[\]<>|&#~$])", r"\1", escaped) == " ".join(name.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|&$~]", escaped)
    row = next(row for table in tables(document) for row in table if row[:2] == ["RAPID", escaped])
    assert row[2].replace("\u00a0", " ") == "22.1 %"
    assert f"### {escaped} (categorical)" in document


def test_a_fence_holds_a_policy_that_has_fences(example: Assessment) -> None:
    example["policy"]["text"] = "# limits\n```\nx = 1\n````\n"
    assert "`````\n# limits\n```\nx = 1\n````\n`````" in markdown(example)


def test_missing_parts_are_named(minimal: Assessment) -> None:
    document = markdown(minimal)
    assert "Utility is not shown: skipped: not asked for." in document
    assert "**This report must stay in the building.**" in document
    assert "policy" not in document
