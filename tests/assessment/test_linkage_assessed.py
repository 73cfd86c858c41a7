"""Record linkage as a figure of an assessment whose releases have one record of each person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called
from unveil.assessment import Policy, Threshold

KEYS = ["sex", "age", "region"]
OPTIONS: dict[str, Any] = {"keys": KEYS, "targets": "depress", "measures": "identity"}


@pytest.fixture(scope="module")
def files() -> tuple[pa.Table, pa.Table]:
    people = unveil.simulate.demo_population(400, seed=3)
    people = people.append_column("who", pa.array([f"p{i:04}" for i in range(400)]))
    age = people["age"].to_numpy() + np.random.default_rng(1).integers(-2, 3, 400)
    return people, people.set_column(1, "age", pa.array(age))


def test_the_figure_is_that_of_the_measure(files: tuple[pa.Table, pa.Table]):
    people, release = files
    shuffled = release.take(np.random.default_rng(2).permutation(400))
    for one, by in ((release, "rows"), (shuffled, "who")):
        pair = unveil.Pair(people, one)
        figure = unveil.assess(pair, **OPTIONS, one_to_one=by).figure("linkage")
        found = unveil.linkage(pair, KEYS, linked_by=by)
        (row,) = found.releases
        assert (figure.value, figure.ceiling, figure.null_mean) == (found.share, found.ceiling, 0.25)
        assert (figure.low, figure.high, figure.null_95) == (row["low"], row["high"], row["null_95"])
        assert figure.value > figure.null_95


def test_without_the_option_there_is_no_such_part(files: tuple[pa.Table, pa.Table]):
    result = unveil.assess(unveil.Pair(*files), **OPTIONS)
    assert [part["name"] for part in result.content["parts"]] == ["identity"]
    assert result.content["scenario"]["one_to_one"] is None


def test_documents_have_it_rounded_and_a_policy_can_limit_it(files: tuple[pa.Table, pa.Table]):
    policy = Policy("p", "", (Threshold("linkage", 1.0), Threshold("linkage", 0.9, statistic="excess")))
    result = unveil.assess(unveil.Pair(*files), **OPTIONS, one_to_one="rows", policy=policy)
    published = result.to_dict()
    assert published["scenario"]["one_to_one"] == "rows"
    (figure,) = (one for one in published["figures"] if one["measure"] == "linkage")
    step = published["publication"]["percent"]
    assert figure["value"] / step == pytest.approx(round(figure["value"] / step))
    assert [row["verdict"] for row in published["policy"]["rows"]] == ["above", "within"]
    for text in (result.to_markdown(), result.to_html()):
        assert "linkage" in text
        assert "nearest record" in text
    assert "--one-to-one rows" in result.to_html()


def test_other_numbers_of_records_are_refused_at_the_door(files: tuple[pa.Table, pa.Table]):
    people, release = files
    with pytest.raises(unveil.CallError, match="the release has 399 records and the original 400"):
        unveil.assess(unveil.Pair(people, release.slice(1)), **OPTIONS, one_to_one="rows")
    with pytest.raises(unveil.CallError, match="neither key nor target"):
        unveil.assess(unveil.Pair(people, release), **OPTIONS, one_to_one="age")
    with pytest.raises(unveil.CallError, match="one_to_one is 'rows'"):
        unveil.assess(unveil.Pair(people, release), **OPTIONS, one_to_one=True)


def test_units_leave_the_part_out(files: tuple[pa.Table, pa.Table]):
    two = [pa.concat_tables([one, one]) for one in files]
    result = unveil.assess(unveil.Pair(*two, unit="who"), **OPTIONS, one_to_one="rows")
    (part,) = (one for one in result.content["parts"] if one["name"] == "linkage")
    assert part["status"] == "skipped"


def test_the_command_line_and_a_scenario_file_take_it(
    files: tuple[pa.Table, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, table in zip("os", files, strict=True):
        csv.write_csv(table, f"{name}.csv")
    scenario = 'keys = ["sex", "age"]\ntargets = ["depress"]\nmeasures = ["identity"]\n'
    Path("s.toml").write_text(f'original = "o.csv"\nsynthetic = "s.csv"\n{scenario}one_to_one = "who"\n')
    calls = (
        "assess o.csv s.csv --keys sex,age --targets depress --measures identity --one-to-one who",
        "assess --scenario s.toml",
    )
    said = [called(words.split(), monkeypatch, capsys) for words in calls]
    assert [status for status, _, _ in said] == [0, 0]
    assert all("linkage" in out for _, out, _ in said)
