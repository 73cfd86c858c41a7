"""The page as text: valid, complete, free of what must not be in it, and equal to the figures it was given."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest

from unveil.errors import DataError
from unveil.show.report import charts, html, markdown
from unveil.show.report import row_plots as strips

Assessment = dict[str, Any]
XHTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"


def parsed(page: str) -> Element:
    """The page by a parser that raises at the first error in it."""
    found: Element = html5lib.HTMLParser(strict=True).parse(page)
    return found


def words(element: Element | None) -> str:
    """All text in an element, with single spaces of one kind."""
    assert element is not None
    return " ".join("".join(element.itertext()).replace("\u00a0", " ").replace("\u202f", " ").split())


def main_text(page: str) -> str:
    return words(parsed(page).find(f".//{XHTML}main"))


def row_of(root: Element, caption: str, *heads: str) -> list[str]:
    """The cells of the row that begins with these texts, in the table with this caption."""
    for table in root.iter(f"{XHTML}table"):
        if words(table.find(f"{XHTML}caption")) == caption:
            for row in table.iter(f"{XHTML}tr"):
                cells = [words(cell) for cell in row]
                if cells[: len(heads)] == list(heads):
                    return cells
    raise AssertionError(f"no row {heads} in a table {caption!r}")


@pytest.mark.parametrize("name", ["example", "minimal", "large", "published"])
def test_the_page_is_valid_and_its_parts_refer_to_each_other(name: str, request: pytest.FixtureRequest) -> None:
    root = parsed(html(request.getfixturevalue(name)))
    every = list(root.iter())
    ids = Counter(e.get("id") for e in every if e.get("id"))
    assert [i for i, n in ids.items() if n > 1] == []
    for element in every:
        for attribute in ("aria-controls", "aria-labelledby", "aria-describedby", "for"):
            for target in (element.get(attribute) or "").split():
                assert target in ids, f"{attribute}={target}"
        link = element.get("href") or ""
        if link.startswith("#"):
            assert link[1:] in ids, link
    labelled = {e.get("for") for e in root.iter(f"{XHTML}label")}
    assert all(e.get("id") in labelled for e in root.iter(f"{XHTML}input"))
    html_element = root if root.tag == f"{XHTML}html" else root.find(f"{XHTML}html")
    assert html_element is not None
    assert html_element.get("lang") == "en"


@pytest.mark.parametrize("name", ["example", "minimal"])
def test_headings_go_down_one_step_at_a_time(name: str, request: pytest.FixtureRequest) -> None:
    levels = [int(e.tag[-1]) for e in parsed(html(request.getfixturevalue(name))).iter()
              if re.fullmatch(rf"{re.escape(XHTML)}h[1-6]", str(e.tag))]  # fmt: skip
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_scopes_and_plots_have_words(example: Assessment) -> None:
    root = parsed(html(example))
    for table in root.iter(f"{XHTML}table"):
        assert words(table.find(f"{XHTML}caption"))
        assert all(head.get("scope") in ("row", "col", "rowgroup") for head in table.iter(f"{XHTML}th"))
    for svg in root.iter(f"{SVG}svg"):
        if svg.get("role") == "img":
            assert words(svg.find(f"{SVG}title"))
            assert words(svg.find(f"{SVG}desc"))
    pictures = [svg for svg in root.iter(f"{SVG}svg") if svg.get("role") == "img"]
    assert len(pictures) == 4  # two threshold curves, a histogram, the map


def test_sections_stand_in_the_order_of_reading(example: Assessment, minimal: Assessment) -> None:
    ids = [h.get("id") for h in parsed(html(example)).iter(f"{XHTML}h2")]
    assert ids == ["contents-title", "summary", "care", "intruders", "targets", "keys", "utility", "map", "advice",
                   "policy", "methods", "provenance"]  # fmt: skip
    assert "policy" not in [h.get("id") for h in parsed(html(minimal)).iter(f"{XHTML}h2")]


def test_figures_stand_beside_their_baselines(example: Assessment) -> None:
    root = parsed(html(example))
    row = row_of(root, "Figures for: Holds the release", "RAPID", "depress")
    assert row == ["RAPID", "depress", "22.1 % 21.0 to 23.3 %", "", "13.1 %", "41.3 %", "0 %", "no limit"]
    row = row_of(root, "Figures for: Holds the release", "repU", "–")
    assert row[2] == "13.7 % 13.1 to 15.0 %"
    assert row[-1] == "▲ above 5.0 %"
    text = main_text(html(example))
    for figure in example["figures"]:
        for part in ("sentence", "does_not_show", "contradicted_by", "undefined"):
            assert figure[part] is None or " ".join(figure[part].split()) in text


def test_percent_and_share_are_printed_alike(example: Assessment) -> None:
    before = row_of(parsed(html(example)), "Figures for: Holds the release", "DiSCO", "depress")
    figure = next(f for f in example["figures"] if f["measure"] == "DiSCO" and f["target"] == "depress")
    figure["unit"] = "share"
    for name in ("value", "low", "high", "margin", "null_mean", "null_95", "ceiling", "held_out"):
        figure[name] /= 100
    after = row_of(parsed(html(example)), "Figures for: Holds the release", "DiSCO", "depress")
    assert after[:-1] == before[:-1]


def test_marks_stand_where_the_figures_are(example: Assessment) -> None:
    page = html(example)
    article = page[page.index("replicated uniques") :]
    article = article[: article.index("</article>")]
    # The axis ends at 20 %: 13.72 stands at 68.6 % of it, its interval from 65.45 to 74.85.
    assert 'href="#mark-value" x="68.6%"' in article
    assert 'class="value-range" x1="65.45%" x2="74.85%"' in article
    assert 'href="#mark-null" x="47.05%"' in article
    assert 'href="#mark-beyond" x="100%"' in article
    assert "mark-margin" not in article


def test_an_interval_that_is_cut_has_no_end_mark() -> None:
    whole, cut, both = (str(strips.forest(0.4, low, high, 0.9)) for low, high in ((-0.1, 0.9), (-0.1, 1.1), (-2, 2)))
    assert [one.count('class="value-range"') for one in (whole, cut, both)] == [3, 2, 1]


def test_the_map_leaves_no_room_for_what_cannot_be() -> None:
    risk, utility = (charts._reach([{name: v, f"{name}_low": None, f"{name}_high": None}], name, name == "risk")
                     for name, v in (("risk", 0.02), ("utility", 0.97)))  # fmt: skip
    assert risk[0] == 0
    assert utility[1] == 1
    (low, high) = charts._reach(
        [{"risk": 0, "risk_low": 0, "risk_high": 0}, {"risk": 1.2, "risk_low": None, "risk_high": None}], "risk", True
    )
    assert (low, high > 1.2) == (0, True)
    (low, _) = charts._reach([{"risk": -0.1, "risk_low": None, "risk_high": None}], "risk", True)
    assert low < -0.1


def test_it_is_said_which_measure_the_bars_of_sets_of_keys_show(example: Assessment) -> None:
    assert "The bars show repU." in " ".join(words(parsed(html(example))).split())


@pytest.mark.parametrize("draw", [html, markdown])
def test_it_is_said_how_the_synthesizer_comes_back(
    example: Assessment, minimal: Assessment, draw: Callable[[Assessment], str]
) -> None:
    assert "--provenance" in draw(example)
    assert "--provenance" not in draw(minimal)


def test_every_share_of_false_alarms_is_named_in_full(example: Assessment) -> None:
    for attack in example["membership"]["attacks"]:
        attack |= {name: attack.pop(name) for name in ("tpr_0.001", "tpr_0.01", "tpr_0.1")}
    page = html(example)
    for share in ("0.1 %", "1 %", "10 %"):
        assert f">Found at {share} false alarms</th>" in page


def test_the_membership_attacks_are_a_table(example: Assessment) -> None:
    root = parsed(html(example))
    row = row_of(root, "Membership attacks", "likelihood ratio")
    assert row == ["likelihood ratio", "0.534", "0.517", "0.551", "12.1 %", "1.9 %", "–"]


def test_membership_stands_with_the_intruder_who_asks_for_it(example: Assessment) -> None:
    def order() -> list[str]:
        ids = [e.get("id") or "" for e in parsed(html(example)).iter()]
        return [one for one in ids if one == "membership" or one.startswith("intruder-")]

    assert order() == ["intruder-1", "intruder-2", "membership", "intruder-3"]
    drawn = markdown(example)
    places = [drawn.index(title) for title in ("### 2. ", "#### Whose records were used: membership", "### 3. ")]
    assert places == sorted(places)
    example["figures"] = [f for f in example["figures"] if f["intruder"] != "release and synthesizer"]
    del example["intruders"][1]
    assert order() == ["intruder-1", "intruder-2", "membership"]


def test_limits_of_an_excess_are_shares(example: Assessment) -> None:
    root = parsed(html(example))
    row = row_of(root, "Figures against the policy", "DiSCO", "income")
    assert row == ["DiSCO", "income", "Upper end of excess", "2.0 %", "at most 10.0 %", "● within"]
    assert row_of(root, "Figures against the policy", "S_pMSE", "–")[3:] == ["1.840", "at most 3", "● within"]
    assert row_of(root, "Figures of utility", "S_pMSE")[-1] == "● within 3"


@pytest.mark.parametrize("draw", [html, markdown])
def test_a_report_for_publication_says_against_whom_it_protects(
    example: Assessment, published: Assessment, draw: Callable[[Assessment], str]
) -> None:
    whole, page = draw(example), draw(published)
    for role, sha256 in ((one["role"], one["sha256"]) for one in example["provenance"]["inputs"]):
        assert sha256 in whole
        assert (sha256 in page) == (role == "release")
    for name in ("rounded", "protects", "does_not_protect"):
        assert published["publication"][name] in page.replace("\\_", "_")
    assert "must stay in the building" in whole
    assert "must stay in the building" not in page


def test_rounded_figures_have_no_decimals_that_they_do_not_have(published: Assessment) -> None:
    published["figures"][0] |= {"value": 15.0, "low": 10.0, "high": 20.0}
    published["publication"]["percent"] = 5.0
    page = words(parsed(html(published)))
    assert "15 % 10 to 20 %" in page
    assert "15.0 %" not in page
    published["publication"] = None
    assert "15.0 % 10.0 to 20.0 %" in words(parsed(html(published)))


def test_the_curve_starts_where_it_was_chosen(example: Assessment) -> None:
    curve = example["targets"][0]["curve"]
    curve["chosen"] = curve["points"][4]["threshold"]
    assert f"The line marks τ = {curve['chosen']:g}." in main_text(html(example))


def test_counts_that_are_not_told_are_hatched(example: Assessment) -> None:
    counts = example["targets"][0]["posterior"]["gain_histogram"]["counts"]
    counts[0], counts[1] = None, 0
    assert "−0.2 to −0.1: too few to be shown; −0.1 to 0: 0 records" in html(example)


def test_what_is_undefined_says_why_and_is_no_zero(example: Assessment) -> None:
    root = parsed(html(example))
    name = example["targets"][2]["target"]
    assert row_of(root, "Figures for: Holds the release", "TCAP", " ".join(name.split()))[2] == "not defined"
    assert "no record of the release has keys for which the release is certain after exclusions" in words(root)


def test_no_figure_is_lost(example: Assessment) -> None:
    example["intruders"][2]["applies"] = False
    example["figures"][3]["target"] = "a target without a page"
    root = parsed(html(example))
    assert row_of(root, "Figures for: Knows all but one record", "posterior certain", "depress")[2].startswith("3.1 %")
    assert row_of(root, "Figures for: Holds the release", "DiSCO", "a target without a page")[2].startswith("4.9 %")
    example["figures"][0]["intruder"] = "somebody else"
    with pytest.raises(DataError, match=r"figures\[0\]\.intruder is 'somebody else'"):
        html(example)


def test_parts_that_are_missing_are_named_with_their_reason(minimal: Assessment) -> None:
    text = main_text(html(minimal))
    assert "Membership is not shown: skipped: no holdout was given." in text
    assert "Utility is not shown: skipped: not asked for." in text
    assert "The map is not shown: skipped: fewer than two releases." in text
    assert "Not assessed: no synthesizer was given" in text


def test_markup_in_names_stays_text(example: Assessment) -> None:
    name = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

    def everywhere(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: everywhere(v) for k, v in value.items()}
        if isinstance(value, list):
            return [everywhere(v) for v in value]
        return value + name if isinstance(value, str) else value

    kept = {k: example[k] for k in ("schema", "schema_version")}
    root = parsed(html(everywhere(example) | kept))
    assert len(list(root.iter(f"{XHTML}script"))) == 1
    assert list(root.iter(f"{XHTML}img")) == []
    assert not [e for e in root.iter() if any(a.startswith("on") for a in e.keys())]  # noqa: SIM118
    assert name.replace("  ", " ") in words(root.find(f".//{XHTML}h1"))


def test_nothing_is_loaded_and_only_our_script_may_run(example: Assessment) -> None:
    page = html(example)
    root = parsed(page)
    for element in root.iter():
        assert element.get("src") is None
        assert str(element.tag) != f"{XHTML}link"
        link = element.get("href") or "#"
        if not link.startswith("#"):
            assert str(element.tag) == f"{XHTML}a"
            assert link.startswith(("https://doi.org/", "https://arxiv.org/"))
    style = words(root.find(f".//{XHTML}style"))
    assert "url(" not in style.replace("url(#hatch)", "")
    assert "@import" not in style
    script = root.find(f".//{XHTML}script")
    assert script is not None
    digest = base64.b64encode(hashlib.sha256("".join(script.itertext()).encode()).digest()).decode()
    policy = next(m.get("content") or "" for m in root.iter(f"{XHTML}meta") if m.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_a_confidential_report_says_so(minimal: Assessment) -> None:
    text = words(parsed(html(minimal)))
    assert "confidential: not for release" in text
    assert "This report must stay in the building." in text


def test_of_many_targets_those_that_stand_out_are_shown_in_detail(large: Assessment) -> None:
    names = [target["target"] for target in large["targets"]]
    for figure in large["figures"]:
        if figure["excess"] is not None and figure["target"] in (names[20], names[39]):
            figure["excess"] = 0.99
    panels = [one for one in parsed(html(large)).iter(f"{XHTML}div") if (one.get("class") or "") == "panel"]
    assert len(panels) == 40
    detailed = [k for k, panel in enumerate(panels) if panel.find(f".//{XHTML}figure") is not None]
    assert detailed == [*range(14), 20, 39]
    text = words(panels[14])
    assert "for the 16 of 40 targets with the highest excess over chance" in text
    for figure in large["figures"]:
        if figure["target"] == names[14]:
            assert figure["measure"] in text


@pytest.mark.parametrize("name", ["example", "minimal", "large"])
def test_the_page_is_small(name: str, request: pytest.FixtureRequest) -> None:
    assert len(html(request.getfixturevalue(name)).encode()) < 1.5e6


def test_the_policy_is_printed_with_its_verdicts(example: Assessment) -> None:
    page = html(example)
    assert "Thresholds of the Research Data Centre, 2026" in page
    row = row_of(parsed(page), "Figures against the policy", "posterior certain", "depress")
    assert row == ["posterior certain", "depress", "Figure", "3.1 %", "1.0 %", "▲ above"]
    example["policy"] = None
    text = main_text(html(example))
    assert "▲" not in text
    assert "policy limit" not in text


def test_same_assessment_same_page(example: Assessment) -> None:
    assert html(example) == html(json.loads(json.dumps(example)))


def test_nan_is_drawn_like_null(example: Assessment) -> None:
    figure = example["figures"][0]
    figure["p_value"] = figure["held_out"] = None
    with_null = html(example)
    figure["p_value"] = figure["held_out"] = float("nan")
    assert html(example) == with_null


def test_a_curve_of_one_point_and_an_empty_assessment_are_drawn(example: Assessment) -> None:
    example["targets"][0]["curve"]["points"] = example["targets"][0]["curve"]["points"][6:7]
    example["targets"][1]["curve"]["points"] = []
    example["map"]["points"] = []
    example["utility"].update(pairs=[], variables=[], models=[], prediction=[], summary={})
    example["keys"].update(sets=[], leave_one_out=[], groups=[])
    parsed(html(example))
    example.update(summary=[], figures=[], targets=[], intruders=[], parts=[], advice=[])
    parsed(html(example))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += _paths(value[key], (*path, key))
    elif isinstance(value, list) and value:
        found += _paths(value[0], (*path, 0))
    return found


def test_whatever_is_missing_ends_with_one_line_that_names_it(example: Assessment) -> None:
    # What may be called anything, and what may be left out.
    free = {"packages", "scenario", "figures", "pairs", "variables", "models", "prediction", "leave_one_out", "n",
            "posterior", "membership", "structure", "unit", "utility_better", "tvd", "s_pmse", "pmse"}  # fmt: skip
    kept = {("scenario", "keys"), ("scenario", "minimum_count"), ("figures",), ("scenario",), ("structure",)}
    free |= {
        "confidential",
        "notes",
        "chosen",
        "cross",
        "rows",
        "direction",
        "note",
        "grouped_into",
        "attacks",
        "measure",
    }
    kept |= {("policy", "rows", 0, "limit"), ("figures", 0, "measure"), ("figures", 0, "value")}
    kept |= {("figures", 0, name) for name in example["figures"][0]} | {("utility", "pairs", 0, "first")}
    asked = 0
    for path in _paths(example):
        if not isinstance(path[-1], str) or (free.intersection(path) and path not in kept):
            continue
        broken = json.loads(json.dumps(example))
        holder = broken
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        with pytest.raises(DataError) as raised:
            html(broken)
        asked += 1
        assert repr(path[-1]) in str(raised.value) or path[-1].startswith("schema")
        assert "\n" not in str(raised.value)
    assert asked > 100


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("figures",), "none", "assessment.figures is 'none', expected a list"),
        (("figures", 0, "value"), "high", "assessment.figures[0].value is 'high', expected a whole number or a number"),
        (("release_safe",), 1, "assessment.release_safe is 1, expected true or false"),
        (
            ("data", "original", "records"),
            True,
            "assessment.data.original.records is True, expected a whole number or a number or null",
        ),
        (("map",), [], "assessment.map is a list, expected names with values"),
        # What a measure adds to a row is checked by its kind, whatever its name.
        (("utility", "pairs", 0, "tvd"), "high", "assessment.utility.pairs[0].tvd is 'high', expected a whole number"),
        (("utility", "pairs", 0, "TVD"), {}, "assessment.utility.pairs[0].TVD is an object, expected a whole number"),
        (("utility", "variables", 0, "new"), [1], "assessment.utility.variables[0].new is a list"),
        (("utility", "summary", "pMSE"), "x", "assessment.utility.summary.pMSE is 'x'"),
        (("structure", "percent_novel"), [], "assessment.structure.percent_novel is a list"),
        (("scenario", "tau"), "x", "assessment.scenario.tau is 'x'"),
        (("provenance", "packages", "numpy"), {}, "assessment.provenance.packages.numpy is an object"),
        (("figures", 0, "value"), 1e308, "assessment.figures[0].value is beyond 1e+100"),
        (("figures", 0, "value"), 10**400, "assessment.figures[0].value is beyond 1e+100"),
    ],
)
def test_what_has_the_wrong_type_is_named(example: Assessment, path: tuple[Any, ...], value: Any, message: str) -> None:
    holder: Any = example
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    with pytest.raises(DataError, match=re.escape(message)):
        html(example)


def test_what_the_shape_allows_and_nobody_can_draw_is_one_error(example: Assessment) -> None:
    example["targets"][0]["curve"]["threshold"] = "keys"
    example["targets"][0]["curve"].pop("chosen", None)
    with pytest.raises(DataError, match="holds something the report cannot draw") as raised:
        html(example)
    assert "TypeError: " in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("other", [{}, {"schema": "x"}, [], None])
def test_something_else_is_refused(other: Any) -> None:
    with pytest.raises(DataError, match="not an assessment"):
        html(other)


def test_other_versions(example: Assessment) -> None:
    example["schema_version"] = "2.7"
    example["a key of a later version"] = {"x": 1}
    html(example)
    example["schema_version"] = "3.0"
    with pytest.raises(DataError, match=r"version 3\.0"):
        html(example)
