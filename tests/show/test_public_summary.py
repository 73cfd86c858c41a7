"""The page for publication: what is on it, that it reads well, and that nothing else gets onto it."""

from __future__ import annotations

import html as escaping
import json
import re
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest

from unveil.errors import CallError, DataError
from unveil.show.report import public_summary

Assessment = dict[str, Any]
XHTML = "{http://www.w3.org/1999/xhtml}"


def cells(page: str) -> list[list[str]]:
    root: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=True).parse(page)
    rows = root.findall(f".//{XHTML}tbody/{XHTML}tr")
    return [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in rows]


def test_figures_stand_beside_what_they_are_compared_with(example: Assessment) -> None:
    rows = cells(public_summary(example))
    assert [row[1] for row in rows] == ["about 13.8", "about 9.8", "over 95"]
    assert [row[2].split()[:2] for row in rows] == [["about", "40"], ["under", "0.2"], ["about", "5"]]
    lines = public_summary(example, "markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 5
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in table)


def test_nothing_of_the_assessment_but_the_summary_and_the_scenario(example: Assessment) -> None:
    before = public_summary(example), public_summary(example, "markdown")
    kept = ("schema", "schema_version", "release_safe", "scenario", "publication", "public_summary", "provenance")
    blank = json.loads(json.dumps(example))
    for name in set(blank) - set(kept):
        value = blank[name]
        if name == "data":
            value["original"]["records"] = 1
            value["columns"] = []
        else:
            blank[name] = [] if isinstance(value, list) else "other" if isinstance(value, str) else None
    blank["provenance"]["inputs"] = []
    assert (public_summary(blank), public_summary(blank, "markdown")) == before


def test_it_needs_nothing_and_runs_nothing(example: Assessment) -> None:
    page = public_summary(example)
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="', page.partition("<body>")[2])
    assert "default-src 'none'" in escaping.unescape(page)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a|b", "*bold*"])
def test_names_stay_names(example: Assessment, name: str) -> None:
    example["scenario"]["keys"] = [name]
    page = public_summary(example)
    assert "<script>" not in page
    assert f"know {escaping.escape(name)} of a person" in page
    assert f"know {name} of a person" in public_summary(example, "markdown").replace("\\", "")


def test_too_few_persons_for_any_figure(minimal: Assessment) -> None:
    for form in ("html", "markdown"):
        page = public_summary(minimal, form)
        assert "one takes at least 50" in page
        assert "rounded" not in page


def test_what_cannot_be_drawn(example: Assessment) -> None:
    with pytest.raises(CallError, match="'html' or 'markdown'"):
        public_summary(example, "pdf")
    example["public_summary"] = None
    with pytest.raises(DataError, match="has no public summary"):
        public_summary(example)
    with pytest.raises(DataError, match="not an assessment"):
        public_summary({"schema": "other"})
