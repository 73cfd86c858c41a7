"""The match risk as a figure of an assessment whose releases are partially synthetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called
from unveil.assessment import Policy, Threshold

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
# Of four kinds of persons, 20 each: 20 copies of the four records of the case by hand.
ORIGINAL = pa.table({"sex": ["f", "f", "m", "m"] * 20, "age": [30, 40, 50, 60] * 20, "ill": ["n", "y", "n", "n"] * 20})
# The second kind becomes the first, in every copy: 20 of the first are among 40, the second match nobody.
COPY = ORIGINAL.set_column(1, "age", pa.array([30, 30, 50, 60] * 20))
OPTIONS: dict[str, Any] = {"keys": ["sex", "age"], "targets": "ill", "measures": "identity", "one_to_one": "rows"}


def test_the_figure_is_that_counted_by_hand() -> None:
    result = unveil.assess(unveil.Pair(ORIGINAL, [COPY, COPY]), **OPTIONS)
    figure = result.figure("match risk")
    # 20 persons with 1/40, 40 persons with 1/20, nobody else, of 80.
    assert figure.value == pytest.approx(100 * (20 / 40 + 40 / 20) / 80)
    # In the original every person is one of 20; by chance 60 of 80 are matched with anybody, 1/80 of whom rightly.
    assert figure.ceiling == pytest.approx(100 * 4 / 80)
    assert figure.null_mean == pytest.approx(100 * 60 / 80**2)
    assert figure.excess == pytest.approx((figure.value - figure.null_mean) / (100 - figure.null_mean))
    assert figure.low < figure.value < figure.high
    assert (figure.intruder, figure.unit, figure.target) == ("release", "percent", None)
    assert [part["name"] for part in result.content["parts"]] == ["identity", "linkage", "match risk"]


def test_documents_have_it_rounded_and_a_policy_can_limit_it() -> None:
    policy = Policy("p", "", (Threshold("match risk", 1.0),))
    result = unveil.assess(unveil.Pair(ORIGINAL, COPY), **OPTIONS, policy=policy)
    published = result.to_dict()
    (figure,) = (one for one in published["figures"] if one["measure"] == "match risk")
    step = published["publication"]["percent"]
    assert figure["value"] / step == pytest.approx(round(figure["value"] / step))
    assert [row["verdict"] for row in published["policy"]["rows"]] == ["above"]
    for text in (result.to_markdown(), result.to_html()):
        assert "matched with their own record" in text
        assert "Drechsler" in text


def test_a_synthesizer_that_keeps_columns_says_that_every_row_is_a_person() -> None:
    people = unveil.simulate.demo_population(200, seed=1)
    synthesizer = unveil.CartSynthesizer(keep=["sex", "region"]).fit(people)
    copies = [synthesizer.sample(seed=seed) for seed in (2, 3)]
    asked = {"keys": ["sex", "age", "region"], "targets": "edu", "measures": "identity", "release_safe": False}
    pair = unveil.Pair(people, copies)
    found = unveil.assess(pair, **asked, synthesizer=synthesizer)
    assert found.content["scenario"]["one_to_one"] == "rows"
    wanted = unveil.match_risk(pair, asked["keys"])
    assert found.figure("match risk").value == pytest.approx(100 * wanted.expected / 200)
    rest = asked | {"measures": ["membership", "posterior", "partial knowledge", "advice"]}
    parts = unveil.assess(pair, **rest, synthesizer=synthesizer).content["parts"]
    skipped = {part["name"] for part in parts if str(part["reason"]).startswith("every row of a partially synthetic")}
    assert skipped == {part["name"] for part in parts} - {"advice: keys"}
    assert {part["status"] for part in parts if part["name"] in skipped} == {"skipped"}
    whole = unveil.assess(pair, **asked, synthesizer=unveil.CartSynthesizer().fit(people))
    assert [part["name"] for part in whole.content["parts"]] == ["identity"]
    # Where rows were removed none is known to be a person's.
    fewer = unveil.assess(unveil.Pair(people, copies[0].slice(1)), **asked, synthesizer=synthesizer)
    assert fewer.content["scenario"]["one_to_one"] is None


def test_the_provenance_file_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    csv.write_csv(unveil.simulate.demo_population(200, seed=1), "o.csv")
    made = "synthesize o.csv --keep sex,region --seed 5 --output copies"
    status, _, err = called(made.split(), monkeypatch, capsys)
    assert status == 0, err
    (provenance,) = Path("copies").glob("*provenance.json")
    copies = " ".join(str(path) for path in sorted(Path("copies").glob("*.csv")))
    words = f"assess o.csv {copies} --provenance {provenance} --keys sex,age --targets edu --measures identity --json -"
    status, out, err = called(words.split(), monkeypatch, capsys)
    assert status == 0, err
    assert '"measure": "match risk"' in out
