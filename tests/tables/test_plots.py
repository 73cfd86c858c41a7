"""What the plots show: a mark for every figure, at its place, with the names of what it is."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError, MissingPackageError

pytest.importorskip("matplotlib", reason="for plots")

import matplotlib as mpl
import matplotlib.pyplot as plt

ORIGINAL = {
    "sex": ["f", "f", "m", "m", "m", "f"],
    "age": [30, 31, 30, 30, 52, 31],
    "ill": ["no", "yes", "no", "yes", "no", "yes"],
    "job": ["a", "b", "a", "a", "a", "b"],
}
RELEASES = (
    {"sex": ["f", "m", "m", "f"], "age": [30, 30, 40, 31], "ill": ["no", "no", "no", "yes"], "job": list("aaab")},
    {"sex": ["m", "f"], "age": [52, 31], "ill": ["no", "no"], "job": ["a", "b"]},
)
KEYS = ["sex", "age"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def pair() -> unveil.Pair:
    return unveil.Pair(pa.table(ORIGINAL), [pa.table(r) for r in RELEASES])


@pytest.fixture
def alone() -> unveil.Pair:
    return unveil.Pair(pa.table(ORIGINAL), pa.table(RELEASES[0]))


def points(collection: Any) -> list[tuple[float, float]]:
    """Places of the marks that are drawn: one that is not defined is masked."""
    return [(float(x), float(y)) for x, y in collection.get_offsets().compressed().reshape(-1, 2)]


def ticks(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []


def written(ax: Any) -> set[str]:
    """The texts of the drawing as it is written: each comes as a comment beside its outline, or as text."""
    with mpl.rc_context({"svg.fonttype": "none"}):
        file = io.BytesIO()
        ax.figure.savefig(file, format="svg")
    root = ET.fromstring(file.getvalue())
    return {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}


def test_drawn_without_a_display():
    assert mpl.get_backend().lower() == "agg"


# -------------------------------------------------------------------------------------------------- targets
def test_targets_have_a_dot_for_each_file_and_an_interval(pair: unveil.Pair):
    risks = unveil.attribute(pair, KEYS)
    ax = risks.plot()
    ordered = sorted(risks, key=lambda risk: risk.DiSCO)
    assert ticks(ax) == [risk.target for risk in ordered]
    assert len(ax.collections) == 2 * len(risks)
    assert len(ax.lines) == 2 * len(risks)
    for y, risk in enumerate(ordered):
        original, release = ax.collections[2 * y : 2 * y + 2]
        assert points(original) == [(pytest.approx(risk.Dorig), y)]
        assert points(release) == [(pytest.approx(risk.DiSCO), y)]
        between, span = ax.lines[2 * y : 2 * y + 2]
        assert sorted(between.get_xdata()) == pytest.approx(sorted([risk.Dorig, risk.DiSCO]))
        ends = [interval["DiSCO"] for interval in risk.intervals()]
        assert list(span.get_xdata()) == [min(low for low, _ in ends), max(high for _, high in ends)]
    assert ax.get_xlim()[0] < 0 < 100 < ax.get_xlim()[1] < 105
    assert ax.get_ylim()[0] < 0 < len(risks) - 1 < ax.get_ylim()[1]
    assert ax.get_xlabel() == "percent of original records disclosed"
    assert ax.get_title() == "keys: sex, age"
    assert any("Dorig" in text for text in legend(ax))
    assert any("DiSCO" in text for text in legend(ax))


@pytest.mark.parametrize("length", [1, 22])
def test_the_legend_stays_in_the_figure_however_long_the_names_of_targets_are(length: int):
    name = "W" * length
    files = [pa.table({"sex": r["sex"], "age": r["age"], name: r["ill"]}) for r in (ORIGINAL, *RELEASES)]
    ax = unveil.attribute(unveil.Pair(files[0], files[1:]), KEYS).plot()
    ax.figure.canvas.draw()
    drawn = ax.get_legend().get_window_extent()
    assert 0 <= drawn.x0 < drawn.x1 <= ax.figure.bbox.width


def test_a_target_alone_is_drawn_like_one_of_several(alone: unveil.Pair):
    ax = unveil.attribute(alone, KEYS, target="ill").plot()
    assert (ticks(ax), len(ax.collections), len(ax.lines)) == (["ill"], 2, 2)


def test_flagged_targets_are_marked():
    table = pa.table({"k": ["a"] * 60, "t": ["y"] * 60, "u": ["y", "n"] * 30})
    ax = unveil.attribute(unveil.Pair(table, table), "k").plot()
    (marked,) = [text for text in ticks(ax) if text.startswith("t")]
    assert "1-way" in marked
    assert "2-way" in marked
    assert [text for text in ticks(ax) if text.startswith("u")] == ["u"]


def test_many_targets_make_a_higher_figure():
    columns = {f"t{i}": ["a", "b"] for i in range(20)}
    table = pa.table({"k": ["x", "y"]} | columns)
    risks = unveil.attribute(unveil.Pair(table, table), "k")
    assert risks.plot().figure.get_figheight() > risks[0].plot().figure.get_figheight()


# ------------------------------------------------------------------------------------------------ CAP curve
def test_cap_curve_has_a_line_per_release(pair: unveil.Pair):
    curve = unveil.attribute(pair, KEYS, target="ill").cap_curve([0, 0.4, 1])
    ax = curve.plot()
    assert [list(line.get_xdata()) for line in ax.lines] == [[0, 0.4, 1]] * 2
    assert [list(line.get_ydata()) for line in ax.lines] == [list(values) for values in curve.releases]
    assert ax.get_xlim() == (0, 1)
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] >= max(map(max, curve.releases))
    assert ax.get_title() == "ill; keys: sex, age; 2 releases"
    assert {text.get_text() for text in ax.texts} >= {"DCAPd", "DiSCO"}
    assert "tau" in ax.get_xlabel()
    assert "percent of original records" in ax.get_ylabel()


def test_cap_curve_steps_where_shares_lie(alone: unveil.Pair):
    """A share of at least tau counts: the value at a threshold holds to its left, down to the one before."""
    (line,) = unveil.attribute(alone, KEYS, target="ill").cap_curve([0, 1]).plot().lines
    assert line.get_drawstyle() == "steps-pre"


# ------------------------------------------------------------------------------------------------- identity
def test_identity_has_a_dot_per_measure_and_release(pair: unveil.Pair):
    risk = unveil.identity(pair, KEYS)
    ax = risk.plot()
    assert len(ax.collections) == 4
    by_name = {text.split(":")[0].split(",")[0].split(" ")[0]: y for y, text in enumerate(ticks(ax))}
    assert set(by_name) == {"UiO", "UiS", "UiOiS", "repU"}
    for name, y in by_name.items():
        assert points(ax.collections[y]) == [(pytest.approx(r[name]), y) for r in risk.releases]
    assert ax.get_xlim()[0] < 0 < 100 < ax.get_xlim()[1] < 105
    assert ax.get_title() == "keys: sex, age"


def test_a_measure_that_is_not_defined_is_left_out():
    empty = pa.table({"k": pa.array([], pa.string())})
    ax = unveil.identity(unveil.Pair(pa.table({"k": ["a", "b"]}), empty), "k").plot()
    drawn = {y for collection in ax.collections for _, y in points(collection)}
    (uis,) = [y for y, text in enumerate(ticks(ax)) if text.startswith("UiS")]
    assert drawn == set(range(4)) - {uis}
    ax.figure.canvas.draw()


# ------------------------------------------------------------------------------------------------ structure
def test_structure_has_two_bars_per_release(pair: unveil.Pair):
    found = unveil.structure(pair, KEYS)
    ax = found.plot()
    kept, novel = ([bar for bar in ax.patches if bar.get_facecolor() == c] for c in colours(ax))
    assert [bar.get_width() for bar in kept] == [r["combinations_preserved"] for r in found.releases]
    assert [bar.get_width() for bar in novel] == [r["percent_novel"] for r in found.releases]
    assert ticks(ax) == ["release 1", "release 2"]
    for y, (upper, lower) in enumerate(zip(kept, novel, strict=True)):
        assert {upper.get_y() + upper.get_height() / 2 > y, lower.get_y() + lower.get_height() / 2 > y} == {True, False}
    assert ax.get_xlim()[0] < 0 < 100 < ax.get_xlim()[1] < 105
    assert len(legend(ax)) == 2


def colours(ax: Any) -> list[Any]:
    """Colours of the bars in the order of the legend: kept, novel."""
    return [handle.patches[0].get_facecolor() for handle in ax.containers[:2]]


# ------------------------------------------------------------------------------------------------- key sets
def test_key_sets_have_a_dot_per_set_and_a_colour_per_size(pair: unveil.Pair):
    sets = unveil.key_sets(pair, ["sex", "age", "job"], target="ill")
    ax = sets.plot()
    assert legend(ax) == ["1 key", "2 keys", "3 keys"]
    assert [len(points(c)) for c in ax.collections] == [3, 3, 1]
    assert len({tuple(c.get_facecolor()[0]) for c in ax.collections}) == 3
    drawn = [point for c in ax.collections for point in points(c)]
    assert drawn == [(s.combinations, pytest.approx(s.measures["DiSCO"])) for s in sets.sets]
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel().startswith("DiSCO")
    assert "target ill" in ax.get_title()


def test_key_sets_without_a_target_show_replicated_uniques(pair: unveil.Pair):
    sets = unveil.key_sets(pair, ["sex", "age"])
    ax = sets.plot()
    assert ax.get_ylabel().startswith("repU")
    assert "target" not in ax.get_title()
    drawn = [y for c in ax.collections for _, y in points(c)]
    assert drawn == pytest.approx([s.measures["repU"] for s in sets.sets])
    assert sets.plot(measure="UiO").get_ylabel().startswith("UiO")
    with pytest.raises(CallError, match="measure must be 'UiO', 'UiS', 'UiOiS' or 'repU', not 'DiSCO'"):
        sets.plot(measure="DiSCO")


# ----------------------------------------------------------------------------------------------------- all
def results(pair: unveil.Pair, keys: list[str], target: str) -> dict[str, Any]:
    risk = unveil.attribute(pair, keys, target=target)
    return {
        "identity": unveil.identity(pair, keys),
        "attribute": risk,
        "targets": unveil.attribute(pair, keys, targets=[target]),
        "curve": risk.cap_curve(),
        "structure": unveil.structure(pair, keys),
        "key sets": unveil.key_sets(pair, keys, target=target),
    }


NAMES = ["identity", "attribute", "targets", "curve", "structure", "key sets"]


@pytest.mark.parametrize("name", NAMES)
def test_axes_of_the_user_are_drawn_on(pair: unveil.Pair, name: str):
    own = plt.subplots()[1]
    before = plt.get_fignums()
    assert results(pair, KEYS, "ill")[name].plot(ax=own) is own
    assert plt.get_fignums() == before
    assert own.has_data()


@pytest.mark.parametrize("name", NAMES)
def test_without_matplotlib_the_message_says_what_to_install(
    pair: unveil.Pair, name: str, monkeypatch: pytest.MonkeyPatch
):
    result = results(pair, KEYS, "ill")[name]
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[plot\]'"):
        result.plot()


ODD = "a<b & \"c\" 'd' ü_1^2 %"


@pytest.mark.parametrize("name", NAMES)
def test_names_are_written_as_they_are(name: str):
    table = pa.table({ODD: ["x", "y"], "t" + ODD: ["x", "y"]})
    pair = unveil.Pair(table, unveil.read(table, label="s" + ODD))
    texts = written(results(pair, [ODD], "t" + ODD)[name].plot())
    assert any(ODD in text for text in texts)


@pytest.mark.parametrize(
    ("name", "role"), [("attribute", "t"), ("curve", "t"), ("key sets", "t"), ("structure", "s"), ("identity", "k")]
)
def test_dollar_signs_are_written_as_they_are(name: str, role: str):
    odd = "pay $ and debt $"
    table = pa.table({"k" + odd: ["x", "y"], "t" + odd: ["x", "y"]})
    pair = unveil.Pair(table, unveil.read(table, label="s" + odd))
    texts = written(results(pair, ["k" + odd], "t" + odd)[name].plot())
    assert any(role + odd in text for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_leaves_the_figure(pair: unveil.Pair, name: str):
    long = {"sex": "sex of the person", "age": "age at the last birthday", "ill": "has a longstanding illness"}
    tables = [pa.table({long.get(n, n): v for n, v in f.items()}) for f in (ORIGINAL, *RELEASES)]
    both = unveil.Pair(
        tables[0], [unveil.read(t, label=f"a_release_with_a_long_name_{i}.csv") for i, t in enumerate(tables[1:])]
    )
    ax = results(both, [long["sex"], long["age"]], long["ill"])[name].plot()
    figure = ax.figure
    figure.canvas.draw()
    box = figure.bbox
    shown = [*ax.get_yticklabels(), ax.title, ax.xaxis.label, ax.yaxis.label]
    for text in shown:
        if text.get_text():
            extent = text.get_window_extent()
            assert extent.x0 >= box.x0 - 1, text
            assert extent.x1 <= box.x1 + 1, text
            assert extent.y0 >= box.y0 - 1, text
            assert extent.y1 <= box.y1 + 1, text
