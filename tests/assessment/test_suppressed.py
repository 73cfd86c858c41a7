"""Suppressed values in an assessment: both readings of repU, DiSCO and DCAP, rounded where they are published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
KEYS = ["region", "age"]


def people(seed: int, n: int = 300) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "region": rng.choice(["n", "s", "e", "w"], n),
            "age": np.char.mod("%d", rng.integers(20, 60, n)),
            "ill": rng.choice(["yes", "no"], n, p=[0.2, 0.8]),
        }
    )


def suppressed(table: pa.Table, every: int = 5) -> pa.Table:
    ages = ["*" if i % every == 0 else one for i, one in enumerate(table["age"].to_pylist())]
    return table.set_column(1, "age", pa.array(ages))


PAIR = unveil.Pair(people(1), [suppressed(people(1)), suppressed(people(2), 3)])


def assessed(**options: object) -> unveil.Assessment:
    given = {"targets": "ill", "measures": ["identity", "attribute"], "suppressed": "*", "release_safe": False}
    return unveil.assess(PAIR, KEYS, **(given | options))


def test_both_readings_are_those_of_the_measures() -> None:
    identity = unveil.identity(PAIR, KEYS, suppressed="*")
    attribute = unveil.attribute(PAIR, KEYS, target="ill", suppressed="*")
    document = assessed().to_dict()
    wanted = {name: np.mean([one[name] for one in identity.as_wildcards]) for name in ("UiOiS", "repU")}
    assert document["keys"]["as_wildcards"] == pytest.approx(wanted)
    wanted = {name: np.mean([one[name] for one in attribute.as_wildcards]) for name in ("iS", "DiS", "DiSCO", "DCAPd")}
    (target,) = document["targets"]
    assert target["as_wildcards"] == pytest.approx(wanted)
    figures = {one["measure"]: one for one in document["figures"]}
    assert figures["DiSCO"]["value"] == pytest.approx(attribute.mean["DiSCO"])
    said = f"If a suppressed value (*) matches every value: {wanted['DiSCO']:.1f}."
    assert figures["DiSCO"]["sentence"].endswith(said)
    assert "If a suppressed value (*) matches every value" in figures["repU"]["sentence"]
    assert document["scenario"]["suppressed"] == "*"


def test_for_publication_both_readings_are_rounded() -> None:
    safe, whole = assessed(release_safe=True).to_dict(), assessed().to_dict()
    step = safe["publication"]["percent"]
    for part, exact in ((safe["keys"], whole["keys"]), (safe["targets"][0], whole["targets"][0])):
        for name, value in part["as_wildcards"].items():
            assert value == pytest.approx(step * round(value / step))
            assert abs(value - exact["as_wildcards"][name]) <= step


def test_a_higher_reading_is_a_warning_and_stands_on_the_page() -> None:
    # Of 120 persons, of whom no two are alike, two are suppressed: as a level of its own these meet nobody.
    alone = pa.table({"region": ["n", "s"] * 60, "age": [str(i) for i in range(120)], "ill": ["yes", "no", "no"] * 40})
    pair = unveil.Pair(alone, suppressed(alone, 61))
    found = unveil.assess(pair, KEYS, targets="ill", measures=["identity"], suppressed="*", release_safe=False)
    document = found.to_dict()
    (figure,) = document["figures"]
    # Each wildcard meets its own person and the 59 others of the region, who now meet two.
    assert figure["value"] == pytest.approx(100 * 118 / 120)
    assert document["keys"]["as_wildcards"]["repU"] == pytest.approx(100 * 2 / 120)
    release = alone.set_column(1, "age", pa.array(["*" if i < 2 else f"x{i}" for i in range(120)]))
    found = unveil.assess(
        unveil.Pair(alone, release), KEYS, targets="ill", measures=["identity"], suppressed="*", release_safe=False
    )
    # Nobody is met but by the two wildcards, one of each region.
    assert found.to_dict()["keys"]["as_wildcards"]["repU"] == pytest.approx(100)
    texts = [one["text"] for one in found.to_dict()["warnings"]]
    assert any(text.startswith("repU: higher where a suppressed value matches every value") for text in texts)
    assert "matches every value" in found.to_html()
    assert "--suppressed" in found.to_html()
    without = assessed(suppressed=None)
    assert without.to_dict()["keys"]["as_wildcards"] is None
    assert "matches every value" not in without.to_html()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"suppressed": "#"}, "no release holds '#' in a key"),
        ({"suppressed": 5}, "a text such as"),
        ({"not_target_levels": {"ill": ["no"]}}, "leave out exclude_pairs and not_target_levels"),
    ],
)
def test_what_cannot_be_read_so_is_refused_at_the_door(options: dict[str, object], said: str) -> None:
    with pytest.raises(unveil.CallError, match=said):
        assessed(**options)


def test_maps_and_searches_refuse_it() -> None:
    with pytest.raises(unveil.CallError, match="a point of the map is one figure"):
        unveil.compare(people(1), {"a": suppressed(people(1))}, KEYS, suppressed="*")
    policy = unveil.assessment.Policy("limits", "", (unveil.assessment.Threshold("repU", 20.0),))
    with pytest.raises(unveil.CallError, match="suppressed: the releases that are tried hold no suppressed values"):
        unveil.tune(people(1), KEYS, policy=policy, suppressed="*")
    with pytest.raises(unveil.CallError, match="unit: the synthesizers that are tried draw rows one by one"):
        unveil.tune(people(1), KEYS, policy=policy, unit="region")


def test_a_scenario_and_the_command_line_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people(1), "o.csv")
    pyarrow.csv.write_csv(suppressed(people(1)), "s.csv")
    Path("s.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nkeys = ["region", "age"]\ntargets = "ill"\nsuppressed = "*"\n'
        'measures = "attribute"\n',
        encoding="utf-8",
    )
    wanted = unveil.attribute(unveil.Pair("o.csv", "s.csv"), KEYS, target="ill", suppressed="*").as_wildcards[0]
    said = f"matches every value: {wanted['DCAPd']:.1f}."
    for call in (
        "assess --scenario s.toml",
        "assess o.csv s.csv --keys region,age --targets ill --measures attribute --suppressed *",
    ):
        status, out, err = called([*call.split(), "--no-release-safe", "--json", "-"], monkeypatch, capsys)
        assert status == 0, err
        assert said in out
