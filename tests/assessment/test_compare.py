"""Several candidates on one map."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.assessment.risk_utility_map import Point, RiskUtilityMap

KEYS = ["sex", "age", "region"]
pytestmark = pytest.mark.filterwarnings("ignore:the collapse of trees:unveil.errors.UnveilWarning")


@pytest.fixture(scope="module")
def people():
    return unveil.simulate.demo_population(400, seed=1)


@pytest.fixture(scope="module")
def independent(people):
    rng = np.random.default_rng(0)
    return pa.table({n: people.column(n).take(pa.array(rng.permutation(people.num_rows))) for n in people.column_names})


@pytest.fixture(scope="module")
def comparison(people, independent):
    return unveil.compare(
        people,
        {"copy": people.slice(0), "independent": independent},
        KEYS,
        targets=["depress", "workab"],
        grid={"minbucket": [5, 60]},
        m=2,
        special_codes={"income": [-8]},
    )


def test_the_copy_and_the_independent_columns_are_the_ends(comparison):
    by_label = {point.label: point for point in comparison.points}
    copy, independent = by_label["copy"], by_label["independent"]
    assert copy.utilities["mean TVD"][0] == 0
    assert all(copy.risks["DiSCO"][0] > point.risks["DiSCO"][0] for point in comparison.points if point is not copy)
    assert all(point.utilities["mean TVD"][0] > 0 for point in comparison.points if point is not copy)
    assert all(independent.risks["DiSCO"][0] <= point.risks["DiSCO"][0] for point in comparison.points)
    assert copy.pareto
    assert independent.pareto


def test_a_grid_is_fitted_and_drawn_m_times(comparison):
    by_label = {point.label: point for point in comparison.points}
    assert {"minbucket 5", "minbucket 60"} <= set(by_label)
    assert by_label["minbucket 5"].releases == 2
    assert by_label["copy"].releases == 1
    assert by_label["minbucket 60"].risks["DiSCO"][0] < by_label["minbucket 5"].risks["DiSCO"][0]
    low, high = by_label["minbucket 5"].utilities["mean TVD"][1:]
    assert low < high
    assert math.isnan(by_label["copy"].utilities["mean TVD"][1])


def test_points_are_absolute(people, independent, comparison):
    alone = unveil.compare(
        people, {"independent": independent}, KEYS, targets=["depress", "workab"], special_codes={"income": [-8]}
    )
    together = next(point for point in comparison.points if point.label == "independent")
    assert alone.points[0].risks == together.risks
    assert alone.points[0].utilities["mean TVD"][0] == together.utilities["mean TVD"][0]


def test_frame_text_and_plot(comparison):
    table = comparison.to_frame("arrow")
    assert table.num_rows == 4
    assert {"label", "DiSCO", "DiSCO low", "DiSCO high", "mean TVD", "pareto"} <= set(table.column_names)
    assert "minbucket 60" in str(comparison)
    assert comparison.to_dict()["schema"] == "unveil.comparison"
    pytest.importorskip("matplotlib").use("Agg")
    ax = comparison.plot()
    assert ax.get_ylabel() == "DiSCO, percent of records (0: nothing found)"
    assert any("of risk, this release" in text.get_text() for text in ax.get_legend().get_texts())


def test_shares_on_a_map_are_printed_with_digits_that_tell_them_apart():
    point = Point("a", 1, {"DiSCO": (3.308, 3.081, 3.551)}, {"mean TVD": (0.03771, 0.03748, 0.03794)}, True)
    made = RiskUtilityMap(
        risk="DiSCO", utility="mean TVD", keys=("k",), targets=("t",), points=(point,), assessments={}, flavour="arrow",
        warnings=(),
    )  # fmt: skip
    (row,) = (line for line in str(made).splitlines() if line.startswith("a *"))
    assert re.split(r"  +", row) == ["a *", "1", "3.31", "3.08 to 3.55", "3.77", "3.75 to 3.79"]


def several_measures():
    """b is worse than a in the measures of the map, and best in repU; c is worse than a in all; d lacks a measure."""

    def point(label, risks, useful, pareto):
        return Point(label, 1, {k: (v, v - 1, v + 1) for k, v in risks.items()},
                     {k: (v, math.nan, math.nan) for k, v in useful.items()}, pareto)  # fmt: skip

    points = (
        point("a", {"DiSCO": 3.0, "repU": 5.0}, {"mean TVD": 0.1, "pMSE": 0.02}, True),
        point("b", {"DiSCO": 4.0, "repU": 1.0}, {"mean TVD": 0.2, "pMSE": 0.03}, False),
        point("c", {"DiSCO": 4.0, "repU": 6.0}, {"mean TVD": 0.3, "pMSE": 0.04}, False),
        point("d", {"DiSCO": 1.0}, {"mean TVD": 0.4, "pMSE": 0.04}, True),
    )
    return RiskUtilityMap(("sex",), ("ill",), "DiSCO", "mean TVD", points, {})


def test_points_that_none_betters_in_all_measures():
    found = several_measures()
    assert found.measures == (("DiSCO", "repU"), ("mean TVD", "pMSE"))
    assert found.pareto_of_all == (True, True, False, False)
    assert found.to_frame("arrow").column("pareto_of_all").to_pylist() == [True, True, False, False]
    assert [one["pareto_of_all"] for one in found.to_dict()["points"]] == [True, True, False, False]
    said = " ".join(str(found).split())
    assert "In 2 risks and 2 distances (mean TVD, pMSE) at once none is better than a, b." in said


def test_every_risk_against_every_utility():
    pytest.importorskip("matplotlib").use("Agg")
    grid = several_measures().plot("all")
    assert grid.shape == (2, 2)
    assert [ax.get_ylabel() for ax in grid[:, 0]] == ["DiSCO, percent of records", "repU, percent of records"]
    assert [ax.get_xlabel() for ax in grid[1]] == ["mean TVD", "pMSE"]
    # A point that lacks a measure stands in the maps of the others alone.
    assert [[len(ax.texts) for ax in row] for row in grid] == [[4, 4], [3, 3]]
    (legend,) = grid[0, 0].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["1 a (none is better in all)", "2 b (none is better in all)", "3 c", "4 d"]
    with pytest.raises(unveil.CallError, match="axes have room for one map"):
        several_measures().plot("all", ax=grid[0, 0])
    with pytest.raises(unveil.CallError, match="kind"):
        several_measures().plot("every")


def test_columns_that_a_candidate_lacks_count_for_none(people, independent):
    keys = ["sex", "age"]
    short = independent.drop_columns(["income", "marital", "edu"])
    with pytest.warns(unveil.UnveilWarning, match="'income' \\(short\\)"):
        found = unveil.compare(people, {"whole": independent, "short": short}, keys, measures=["attribute", "utility"])
    whole, lacking = found.points
    assert found.targets == ("region", "placesize", "depress", "workab")
    assert repr((whole.risks, whole.utilities)) == repr((lacking.risks, lacking.utilities))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"candidates": {}}, "nothing to compare"),
        ({"risk": "repu"}, "not 'repu'"),
        ({"utility": "TVD"}, "not 'TVD'"),
        ({"grid": {"minbuckets": [5]}}, "has no setting 'minbuckets'; did you mean 'minbucket'?"),
        ({"grid": {"minbucket": [5], "bad": [1]}}, "has no setting 'bad'"),
        ({"grid": {"minbucket": 5}}, "minbucket takes a list of the values to try, not 5"),
        ({"grid": {"minbucket": []}}, "minbucket takes a list of the values to try, not []"),
        ({"grid": [5]}, "settings are given by name"),
        ({"candidates": ["o.csv"]}, "candidates are given by label, as a mapping, not as list"),
        ({"risk": "RAPID"}, "RAPID is not measured; add 'inference' to measures"),
        ({"m": 0}, "m must be a whole number from 1"),
    ],
)
def test_wrong_calls(people, options, said):
    arguments = {"candidates": {"copy": people.slice(0)}, "keys": KEYS} | options
    with pytest.raises(unveil.CallError) as caught:
        unveil.compare(people, **arguments)
    assert said in str(caught.value)
