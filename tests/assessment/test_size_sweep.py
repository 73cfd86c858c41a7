"""Releases of several sizes against the measures taken one by one, and against a count by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called
from reference import data_file

KEYS = ["sex", "age", "region"]


class Recorded:
    """A synthesizer that gives the first records, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []
        self.fitted = 0

    def fit(self, frame: Any) -> Recorded:
        self.fitted += 1
        self.frame = frame
        return self

    def sample(self, n: int, seed: int = 0) -> Any:
        self.asked.append((n, seed))
        return self.frame.slice(seed % 7, n)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return unveil.simulate.demo_population(400, seed=1)


def test_a_case_by_hand():
    original = pa.table({"key": ["a", "b", "c", "c"], "ill": ["y", "n", "y", "n"]})
    known = {1: original.slice(0, 1), 3: original.slice(1, 3)}

    def sample(frame: Any, n: int) -> Any:
        return known[n]

    # one record (a): it is unique in both, and tells a's value; three (b, c, c): b is unique in both and told
    found = unveil.size_sweep(original, sample, "key", targets="ill", sizes=[1, 3], m=1, permutations=0, seed=1)
    assert [found.value("repU", size) for size in (1, 3)] == [25, 25]
    assert [found.value("iS", size, "ill") for size in (1, 3)] == [25, 75]
    assert [found.value("DiSCO", size, "ill") for size in (1, 3)] == [25, 25]
    assert [found.value("TCAP", size, "ill") for size in (1, 3)] == [100, 100]
    assert found.ceiling("repU") == 50
    assert found.ceiling("DiSCO", "ill") == 50
    assert math.isnan(found.ceiling("TCAP", "ill"))


def test_figures_are_those_of_the_measures_of_the_same_releases(people: pa.Table):
    maker = Recorded()
    found = unveil.size_sweep(
        people, maker, KEYS, targets=["marital", "depress"], sizes=[50, 200], m=3, permutations=9, seed=4
    )
    # a copy is fitted, once; all draws have seeds of their own
    assert len(found.rows) == 2 * (1 + 2 * 5)
    for number, size in enumerate((50, 200)):
        seeds = [4 + 1 + number * 3 + copy for copy in range(3)]
        pair = unveil.Pair(people, [people.slice(seed % 7, size) for seed in seeds])
        identity = unveil.identity(pair, KEYS)
        row = found.row("repU", size)
        assert row["value"] == identity.repU
        assert (row["low"], row["high"]) == (identity.interval().low, identity.interval().high)
        assert (row["least"], row["largest"]) == tuple(f(one["repU"] for one in identity.releases) for f in (min, max))
        for risk in unveil.attribute(pair, KEYS, targets=["marital", "depress"]):
            rungs = risk.ladder(permutations=9, seed=4).mean
            for name in ("DiSCO", "DCAPd"):
                row = found.row(name, size, risk.target)
                rung = rungs[name]
                assert row["value"] == risk.mean[name]
                assert (row["low"], row["high"]) == rung.interval
                assert (row["margin"], row["null_mean"], row["ceiling"]) == pytest.approx(
                    (rung.margin, rung.null_mean, rung.ceiling)
                )
            assert found.value("TCAP", size, risk.target) == risk.mean["TCAP"]


def test_the_same_seed_gives_the_same_figures(people: pa.Table):
    one, two = (
        unveil.size_sweep(people, unveil.CartSynthesizer(n_jobs=jobs), KEYS, targets="marital", sizes=[40, 400], m=2,
                          permutations=3, seed=6)
        for jobs in (1, 2)
    )  # fmt: skip
    assert one.to_dict() == two.to_dict()
    other = unveil.size_sweep(people, unveil.CartSynthesizer(n_jobs=1), KEYS, targets="marital", sizes=[40], m=2,
                              permutations=0, seed=7)  # fmt: skip
    assert other.value("repU", 40) != one.value("repU", 40) or other.value("iS", 40, "marital") != one.value(
        "iS", 40, "marital"
    )


def test_words_frame_and_plot(people: pa.Table):
    steps: list[tuple[int, int, str]] = []
    found = unveil.size_sweep(people, Recorded(), KEYS, targets="marital", sizes=[20, 300], m=1, permutations=3, seed=1,
                              progress=lambda *step: steps.append(step))  # fmt: skip
    assert steps == [(0, 2, "fit"), (0, 2, "20 records"), (1, 2, "300 records"), (2, 2, "done")]
    assert "Releases of 20 and 300 records, 1 of each size, from 400 original records" in str(found)
    frame = found.to_frame("arrow")
    assert frame.num_rows == 12
    assert frame.column_names[:4] == ["size", "target", "measure", "value"]
    identity, target = found.plot()
    assert [one.get_title() for one in (identity, target)] == ["identity", "marital"]
    assert identity.lines[0].get_ydata()[0] == found.value("repU", 20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0]}, "sizes"),
        ({"sizes": []}, "sizes"),
        ({"sizes": [2.5]}, "sizes"),
        ({"m": 0}, "m"),
        ({"keys": ["sexx"]}, "no column 'sexx'"),
        ({"targets": "maritl"}, "no column 'maritl'"),
        ({"synthesizer": 3}, "synthesizer"),
        ({"level": 2}, "level"),
    ],
)
def test_what_cannot_be_swept_is_refused_before_the_fit(people: pa.Table, options: dict[str, Any], message: str):
    given = {"synthesizer": Recorded(), "keys": KEYS, "targets": "marital", "sizes": [10], "m": 1} | options
    with pytest.raises(unveil.CallError, match=message) as caught:
        unveil.size_sweep(people, **given)
    assert "\n" not in str(caught.value)


def test_what_was_not_measured_is_said(people: pa.Table):
    found = unveil.size_sweep(people, Recorded(), "sex", targets="marital", sizes=[10], m=1, permutations=0, seed=1)
    with pytest.raises(unveil.CallError, match=r"sizes are 10, targets marital"):
        found.value("DiSCO", 11, "marital")


def test_the_releases_of_sd2011_give_the_figures_of_their_files(shared: Path):
    """DiSCO, DCAPd and TCAP with 250, 1000 and 5000 records: the first two follow the number, TCAP hardly does."""
    files = {250: "sd2011_9_k250", 1000: "sd2011_9_k1000", 5000: "sd2011_9_s1"}

    def sample(frame: Any, n: int) -> Any:
        return csv.read_csv(data_file(files[n]))

    keys = ["sex", "age", "region", "placesize"]
    found = unveil.size_sweep(
        data_file("sd2011_9"), sample, keys, targets="depress", sizes=list(files), m=1, permutations=0, seed=1
    )
    for size, name in files.items():
        pair = unveil.Pair(data_file("sd2011_9"), data_file(name))
        risk = unveil.attribute(pair, keys, target="depress")
        assert found.value("repU", size) == unveil.identity(pair, keys).repU
        assert [found.value(one, size, "depress") for one in ("DiSCO", "DCAPd", "TCAP", "iS")] == [
            risk.mean[one] for one in ("DiSCO", "DCAPd", "TCAP", "iS")
        ]
    values = {name: [found.value(name, size, "depress") for size in files] for name in ("DCAPd", "TCAP", "iS")}
    assert values["DCAPd"] == sorted(values["DCAPd"])
    assert values["DCAPd"][2] > 4 * values["DCAPd"][0]
    assert max(values["TCAP"]) < 2 * min(values["TCAP"])


def test_the_command_line_gives_the_figures_of_the_call(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(people, "o.csv")
    words = "size-sweep o.csv --keys sex,region --targets marital --sizes 30,300 -m 2 --permutations 3 --seed 5"
    status, out, err = called([*words.split(), "--csv", "a.csv", "--json", "b.json", "--plot", "c.png"], monkeypatch,
                              capsys)  # fmt: skip
    assert status == 0, err
    expected = unveil.size_sweep("o.csv", unveil.CartSynthesizer(), ["sex", "region"], targets="marital",
                                 sizes=[30, 300], m=2, permutations=3, seed=5)  # fmt: skip
    assert out.strip() == str(expected).strip()
    assert csv.read_csv("a.csv").num_rows == 12
    status, _, err = called(["size-sweep", "o.csv", "--keys", "sex", "--sizes", "many"], monkeypatch, capsys)
    assert (status, err.count("\n")) == (2, 1)
