"""The first page: the strongest intruder first, each figure beside chance, few sentences, and what was not computed."""

from __future__ import annotations

import copy
from typing import Any

import html5lib
import pytest

from unveil.assessment.gate import release_safe
from unveil.assessment.masthead import Masthead
from unveil.errors import CallError
from unveil.show.report import arrange, first_page, html, markdown

Assessment = dict[str, Any]
XHTML = "{http://www.w3.org/1999/xhtml}"


def table_of(page: str) -> list[list[str]]:
    """The cells of the picture, row by row."""
    root = html5lib.HTMLParser(strict=True).parse(page)
    (found,) = [t for t in root.iter(f"{XHTML}table") if "learns" in (t.get("class") or "").split()]
    return [[" ".join("".join(c.itertext()).split()) for c in row] for row in found.iter(f"{XHTML}tr")][1:]


def test_the_strongest_intruder_stands_first(example: Assessment) -> None:
    rows = table_of(html(example))
    assert [row[0] for row in rows if len(row) == 1] == [
        "Knows all but one record", "Holds the release and knows the synthesizer", "Holds the release",
    ]  # fmt: skip
    assert rows[1] == ["is certain of the value · depress", "", "3.1 %, 0 % by chance"]


def test_figures_are_compared_with_chance_and_without_it_with_the_guess(example: Assessment) -> None:
    figure = next(f for f in example["figures"] if f["measure"] == "DiSCO" and f["target"] == "depress")
    (line,) = first_page.lines([figure])
    assert line.beside.replace("\u00a0", " ") == "3.3 to 3.9 % by chance"
    (line,) = first_page.lines([figure | {"null_mean": None, "null_95": None}])
    assert line.beside.replace("\u00a0", " ") == "9.6 % without the release"
    (line,) = first_page.lines([figure | {"null_mean": None, "null_95": None, "margin": None}])
    assert line.beside == ""


def test_of_many_targets_the_furthest_above_chance_are_drawn(example: Assessment) -> None:
    figure = next(f for f in example["figures"] if f["measure"] == "DiSCO")
    many = [figure | {"target": f"t{n}", "excess": n / 10} for n in range(6)] + [figure | {"value": None}]
    assert [line.figure["target"] for line in first_page.lines(many)] == ["t5", "t4", "t3"]


def test_there_are_at_most_five_sentences_each_with_who_learns_it(example: Assessment, minimal: Assessment) -> None:
    found = first_page.sentences(arrange.arrange(example))
    assert len(found) <= 5
    assert [who for who, _ in found][:3] == [
        "Knows all but one record", "Holds the release and knows the synthesizer", "Holds the release",
    ]  # fmt: skip
    assert found[-1] == ("", example["utility"]["sentence"])
    assert [text for _, text in first_page.sentences(arrange.arrange(minimal))] == minimal["summary"][:5]
    minimal["summary"] = []
    assert "No figure was computed." in html(minimal)


def test_what_was_not_computed_is_named(example: Assessment) -> None:
    for page in (html(example), markdown(example)):
        assert "Not computed, or not whole: " in page
        assert "k-map (failed)" in page
    for part in example["parts"]:
        part["status"] = "done"
    assert "Not computed, or not whole: nothing" in html(example)


def test_the_head_is_printed_as_it_is(example: Assessment) -> None:
    example["masthead"] = {"title": "Lives & <b>living</b>", "organisation": "Institute <1>", "contact": "a@b.org"}
    page = html(example)
    assert "<h1><bdi>Lives &amp; &lt;b&gt;living&lt;/b&gt;</bdi></h1>" in page
    assert "Disclosure risk report · <bdi>Institute &lt;1&gt;</bdi>" in page
    assert "Contact: <bdi>a@b.org</bdi>" in page
    assert markdown(example).startswith("# Disclosure risk: Lives \\& \\<b\\>living\\</b\\>\n\nInstitute")
    assert release_safe(example)["masthead"] == example["masthead"]
    del example["masthead"]
    assert "Contact" not in html(example)


@pytest.mark.parametrize("name", ["title", "organisation", "contact"])
def test_a_head_without_words_is_refused(name: str) -> None:
    with pytest.raises(CallError, match=f"{name} takes a text"):
        Masthead(**{name: "  "})


def test_no_table_ranks_figures_of_different_baselines(example: Assessment) -> None:
    group = {"by": "sex", "level": "FEMALE", "persons": 100, "value": 9.0, "measure": "DCAP", "low": None, "high": None}
    rows = [group | {"measure": measure, "value": float(n)} for n in range(40) for measure in ("DCAP", "DiSCO")]
    found = arrange.by_measure(rows)
    assert [measure for measure, _ in found] == ["DCAP", "DiSCO"]
    assert [[one["value"] for one in some[:2]] for _, some in found] == [[39, 38], [39, 38]]
    assert sum(len(some) for _, some in found) == arrange.MOST_ROWS["groups"]
    example["targets"][0]["groups"] = copy.deepcopy(rows)
    assert "of all records it is 4.9\u00a0%, 3.3\u00a0% by chance" in html(example)


def test_sets_of_keys_stand_by_target_the_highest_first() -> None:
    values = {"x": 1.0, "y": None, "z": 3.0}
    sets = [{"keys": [key], "target": t, "figures": {"repU": values[key]}} for t in "ab" for key in values]
    assert [(s["target"], s["keys"][0]) for s in arrange.sorted_sets(sets)] == [
        ("a", "z"), ("a", "x"), ("a", "y"), ("b", "z"), ("b", "x"), ("b", "y"),
    ]  # fmt: skip
