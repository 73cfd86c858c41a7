"""Synthesizers of other packages that unveil can call: what they are given, and what becomes of it.

The packages themselves are tested where they are installed, in environments of their own: py-synthpop and arfpy work
with older versions of pandas and NumPy only, and SDV is not a package that this one may depend on.
"""

from __future__ import annotations

import datetime
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import unveil
from unveil.synthesis.named import ADAPTERS

pd = pytest.importorskip("pandas", reason="these packages take frames of pandas")

from unveil.synthesis.adapters.coded_frame import CodedFrame  # noqa: E402

ORIGINAL = pd.DataFrame(
    {
        "text, odd name": ["a", None, "b", "a"],
        "category": pd.Categorical(["x", "y", None, "x"], categories=["y", "x", "unused"], ordered=True),
        "flag": [True, False, True, True],
        "maybe": pd.array([True, None, False, True], "boolean"),
        "whole": np.array([1, -8, 3, 7], np.int16),
        "gaps": pd.array([1, None, -8, 4], "Int64"),
        "amount": [0.25, None, -8.0, 1e9],
        "none": [np.nan] * 4,
        "day": pd.to_datetime(["2020-01-05", None, "1899-12-31", "2021-03-01"]),
        "zone": pd.to_datetime(["2020-01-05 07:00:01", None, "2021-03-01 00:00:00", None]).tz_localize("Europe/Vienna"),
    }
)


def test_codes_hold_numbers_and_categories_alone_and_lead_back() -> None:
    coded = CodedFrame.of(ORIGINAL)
    assert not coded.frame.isna().to_numpy().any()
    assert {str(kind) for kind in coded.frame.dtypes} == {"category", "float64"}
    assert set(coded.kinds) == set(coded.frame.columns)
    pd.testing.assert_frame_equal(coded.back(coded.frame), ORIGINAL)


def test_amounts_between_come_back_in_the_steps_of_the_original() -> None:
    coded = CodedFrame.of(ORIGINAL)
    moved = coded.frame.assign(
        **{name: coded.frame[name] + 0.3 for name in coded.frame.columns if coded.kinds[name] == "float"}
    )
    made = coded.back(moved)
    assert made["whole"].tolist() == ORIGINAL["whole"].tolist()
    assert made["amount"].iloc[0] == pytest.approx(0.55)
    assert made["day"].dropna().tolist() == ORIGINAL["day"].dropna().tolist()


SETTINGS: dict[str, dict[str, Any]] = {
    "arf": {"num_trees": 10}, "sdv_ctgan": {"epochs": 1}, "sdv_tvae": {"epochs": 1}
}  # fmt: skip
PEOPLE = unveil.simulate.demo_population(300, seed=1)


@pytest.fixture(params=list(ADAPTERS))
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    if find_spec(ADAPTERS[found].module) is None:
        pytest.skip(f"{ADAPTERS[found].package} is not installed: it is tested in an environment of its own")
    return found


def made_by(name: str, seed: int = 1) -> Any:
    return unveil.synthesize(PEOPLE, method=name, m=2, k=100, seed=seed, **SETTINGS.get(name, {}))


@pytest.mark.slow
def test_releases_are_like_the_original_and_repeat_with_their_seed(name: str) -> None:
    first, second = made_by(name)
    assert first.schema == PEOPLE.schema
    for column in ("sex", "region", "edu"):
        assert set(first.column(column).to_pylist()) <= set(PEOPLE.column(column).to_pylist())
    assert first.to_pylist() != second.to_pylist()
    assert [one.to_pylist() for one in made_by(name)] == [first.to_pylist(), second.to_pylist()]
    assert made_by(name, 2)[0].to_pylist() != first.to_pylist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_every_measure_takes_it(name: str) -> None:
    from unveil.synthesis import synthesizer_by_name

    maker = synthesizer_by_name(name, **SETTINGS.get(name, {}))
    pair = unveil.Pair(PEOPLE, made_by(name)[0])
    keys = ["sex", "age", "edu"]
    risk = unveil.posterior(pair, maker, target="workab", records=[3], replicates=3)
    assert 0 <= risk.mean_posterior <= 1
    content = unveil.assess(pair, keys, targets=["workab"], synthesizer=maker, measures=["identity", "membership"],
                            budget=300).to_dict()  # fmt: skip
    assert {part["name"]: part["status"] for part in content["parts"]}["membership"] == "done"
    found = unveil.compare(PEOPLE, {"cart": unveil.CartSynthesizer(), name: maker}, keys, targets="workab", m=1)
    assert [point.label for point in found.points] == ["cart", name]
    assert all(np.isfinite(point.utilities["mean TVD"][0]) for point in found.points)


def test_dates_are_dates(name: str) -> None:
    born = [datetime.date(1980, 1, 1) + datetime.timedelta(days=40 * i) for i in range(60)]
    original = pd.DataFrame({"sex": ["f", "m"] * 30, "born": pd.to_datetime(born)})
    made = unveil.synthesize(original, method=name, m=1, seed=1, **SETTINGS.get(name, {}))
    assert made.dtypes.equals(original.dtypes)
    assert (made["born"] == made["born"].dt.normalize()).all()
