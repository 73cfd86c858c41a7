"""Every result says what deserves a look in the files that it rests on, whoever asks for it and in what order."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from unveil.assessment.policy import Policy, Threshold
from unveil.cli import app, main

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")

N = 60
GAP = "o.csv: column 'age': 'NA' read as a gap"
ROW_NAMES = "o.csv: the first column has no name (row names, as R writes them) and is left out"
CODES = "column 'income': of the special codes -8, -9 the files hold -8"
ITSELF = "is the original itself: the figures are those of no protection at all"


def written(path: Path, *, names: bool) -> str:
    """Sixty persons; ages with a gap of the usual kind, perhaps behind row names."""
    rows = []
    for i in range(N):
        age, income = "NA" if i == 3 else 20 + i % 7, -8 if i % 9 == 0 else 100 * (i % 5)
        rows.append(f"{'mf'[i % 2]},{age},{income},{'yn'[i % 3 > 0]},{'pqr'[i % 3]}")
    header = "sex,age,income,ill,job"
    if names:
        rows, header = [f"{i},{row}" for i, row in enumerate(rows)], f",{header}"
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> unveil.Pair:
    """The same persons as original and release; the original alone has row names and a gap."""
    original = written(tmp_path / "o.csv", names=True)
    release = unveil.read(written(tmp_path / "s.csv", names=False), missing=("", "NA"))
    return unveil.Pair(original, release, special_codes={"income": [-8, -9]})


def holdout() -> pa.Table:
    return pa.table(
        {
            "sex": ["x", "y"] * 15,
            "age": list(range(70, 100)),
            "income": [7] * 30,
            "ill": ["y"] * 30,
            "job": ["p", "q", "z"] * 10,
        }
    )


def rapid(pair: unveil.Pair, **options: Any) -> Any:
    return unveil.rapid(pair, ["age", "sex"], attacker="cart", permutations=2, ceiling=False, **options)


def posterior(pair: unveil.Pair) -> Any:
    synthesizer = unveil.CartSynthesizer(cp=0.5).fit(pair.original)
    return unveil.posterior(
        unveil.Pair(pair.original, synthesizer.sample(seed=1)), synthesizer, target="ill", records=[0, 1],
        structure="fixed",
    )  # fmt: skip


MEASURES: dict[str, Callable[[unveil.Pair], Any]] = {
    "identity": lambda p: unveil.identity(p, ["age", "sex"]),
    "structure": lambda p: unveil.structure(p, ["age", "sex"]),
    "key_sets": lambda p: unveil.key_sets(p, ["age", "sex"], target="ill"),
    "attribute": lambda p: unveil.attribute(p, ["age", "sex"], target="ill"),
    "attributes": lambda p: unveil.attribute(p, ["age", "sex"], targets=["ill", "job"]),
    "cap_curve": lambda p: unveil.attribute(p, ["age", "sex"], target="ill").cap_curve(),
    "ladder": lambda p: unveil.attribute(p, ["age", "sex"], target="ill").ladder(permutations=2),
    "rapid": lambda p: rapid(p, target="ill"),
    "rapids": lambda p: rapid(p, targets=["ill", "job"]),
    "rapid curve": lambda p: rapid(p, target="ill").curve(),
    "attribution": lambda p: rapid(p, target="ill").attribution(),
    "rapid cv": lambda p: unveil.rapid_synthesizer_cv(
        p.original, lambda frame: frame, ["age", "sex"], target="ill", attacker="cart", folds=2
    ),
    "membership": lambda p: unveil.membership(p, holdout(), holdout_unseen=True, attacks="dcr"),
    "linkage": lambda p: unveil.linkage(p, ["age", "sex"]),
    "plausibility": lambda p: unveil.plausibility(p, combinations=["age,sex"]),
    "match risk": lambda p: unveil.match_risk(p, ["age", "sex"]),
    "membership of a synthesizer": lambda p: unveil.membership_synthesizer(
        p.original, lambda frame: frame, repeats=1, attacks="dcr"
    ),
    "utility": lambda p: unveil.utility(p, measures="marginals"),
    "posterior": posterior,
    "assess": lambda p: unveil.assess(p, ["age", "sex"], targets="ill", measures=["identity", "attribute"]),
    "compare": lambda p: unveil.compare(
        p.original, {"one": p.releases[0]}, ["age", "sex"], targets="ill", measures=["attribute"]
    ),
    "tune": lambda p: unveil.tune(
        p.original,
        ["age", "sex"],
        targets="ill",
        policy=Policy("p", "", (Threshold("repU", 100.0),)),
        seed=1,
        grid={"m": [1]},
    ),
}


@pytest.mark.parametrize("measure", MEASURES)
def test_what_was_said_while_the_files_were_read_stands_in_the_result(pair: unveil.Pair, measure: str):
    found = MEASURES[measure](pair)
    assert {GAP, ROW_NAMES} <= set(found.warnings)
    told = found.to_dict()["warnings"]
    assert [one["text"] for one in told] if measure == "assess" else told == list(found.warnings)
    json.dumps(told)
    text = " ".join(str(found).split())
    assert GAP in text
    assert ROW_NAMES in text


@pytest.mark.parametrize("measure", MEASURES)
def test_a_second_measure_says_it_again(pair: unveil.Pair, measure: str):
    MEASURES["attributes"](pair)
    first = MEASURES[measure](pair).warnings
    assert MEASURES[measure](pair).warnings == first
    assert {GAP, ROW_NAMES} <= set(first)


def test_only_the_columns_that_were_measured_are_spoken_of(pair: unveil.Pair):
    unveil.identity(pair, ["age", "income"])
    assert unveil.identity(pair, ["sex", "ill"]).warnings == (ROW_NAMES,)
    assert unveil.identity(pair, ["sex", "income"]).warnings == (ROW_NAMES, CODES)
    assert set(unveil.identity(pair, ["income", "age"]).warnings) == {ROW_NAMES, CODES, GAP}


def test_nothing_to_say_is_an_empty_list():
    one = pa.table({"sex": ["f", "f", "m", "m"] * 5, "ill": ["y", "n"] * 10})
    pair = unveil.Pair(one, pa.table(one.to_pydict()))
    for name in ("identity", "structure"):
        found = getattr(unveil, name)(pair, "sex")
        assert (found.warnings, found.to_dict()["warnings"]) == ((), [])
        assert "Warning" not in str(found)
    assert unveil.conformance("repU", replicates=3, trials=["independence"]).to_dict()["warnings"] == []


def test_a_file_that_is_measured_twice_says_it_twice(tmp_path: Path):
    source = unveil.read(written(tmp_path / "o.csv", names=False))
    for _ in range(2):
        assert GAP in unveil.identity(unveil.Pair(source, holdout()), "age").warnings


def test_values_of_several_types_are_told_with_every_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"job": [1, "a", 2.5, "b"], "sex": list("fmfm")})
    text = (
        "the original: column 'job' holds values of several types, or integers beyond 64 bits; all are compared as text"
    )
    pair = unveil.Pair(frame, pa.table({"job": ["1", "a", "2.5", "b"], "sex": list("fmfm")}))
    for _ in range(2):
        assert text in unveil.identity(pair, ["job"]).warnings
        assert unveil.identity(pair, ["sex"]).warnings == ()


def test_the_original_as_its_own_release_is_told_everywhere(tmp_path: Path):
    path = written(tmp_path / "o.csv", names=False)
    pair = unveil.Pair(path, path)
    for _ in range(2):
        assert any(ITSELF in text for text in unveil.identity(pair, "sex").warnings)


def test_warnings_of_python_are_told_once(pair: unveil.Pair):
    with warnings.catch_warnings(record=True) as first:
        warnings.simplefilter("always")
        unveil.identity(pair, "income")
    with warnings.catch_warnings(record=True) as second:
        warnings.simplefilter("always")
        unveil.structure(pair, "income")
    assert [str(one.message) for one in first] == [CODES]
    assert second == []


# ------------------------------------------------------------------------------------------------ the command line
VERBS = {
    "identity": "--keys sex,age",
    "attribute": "--keys sex,age --target ill",
    "attribute --cap-curve": "--keys sex,age --target ill",
    "structure": "--keys sex,age",
    "anonymity": "--keys sex,age --targets ill",
    "population": "--keys sex,age --population 10000",
    "keysets": "--keys sex,age",
    "rapid": "--keys sex,age --target ill --attacker cart --permutations 2",
    "rapid --curve": "--keys sex,age --target ill --attacker cart --permutations 2",
    "membership": "--holdout h.csv --holdout-unseen --attacks dcr",
    "linkage": "--keys sex,age",
    "plausibility": "--combinations sex,age",
    "match-risk": "--keys sex,age",
    "posterior": "--target ill --rows 0,1 --structure fixed --cp 0.5",
    "privacy-loss": "--persons 2 --curves 0 --cp 0.5",
    "partial-knowledge": "--target ill --records-known 1 --rows 0,1 --cp 0.5",
    "utility": "--measures marginals",
    "assess": "--keys sex,age --targets ill --measures identity",
    "compare": "--keys sex,age --targets ill --measures attribute",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files as above, a held-out file, and a release that says nothing of note."""
    written(tmp_path / "o.csv", names=True)
    written(tmp_path / "s.csv", names=False)
    csv.write_csv(holdout(), tmp_path / "h.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(monkeypatch: pytest.MonkeyPatch, words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
    try:
        main()
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


@pytest.mark.parametrize("verb", VERBS)
def test_json_of_every_verb_has_the_warnings_and_strict_tells_by_the_status_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
):
    name, *view = verb.split()
    call = " ".join([name, "o.csv s.csv", VERBS[verb], *view])
    texts = []
    for status, options in ((0, "--json a.json"), (3, "--strict --json b.json")):
        assert ended(monkeypatch, f"{call} {options}") == status
        texts.append(capsys.readouterr().out)
    (plain, strict) = (json.loads((folder / one).read_text()) for one in ("a.json", "b.json"))
    told = [one["text"] if isinstance(one, dict) else one for one in strict["warnings"]]
    # What an assessment writes may be published: it names no file.
    expected = {text.replace("o.csv", "the original") if name == "assess" else text for text in (GAP, ROW_NAMES)}
    assert expected <= set(told)
    assert told == [one["text"] if isinstance(one, dict) else one for one in plain["warnings"]]
    assert all(GAP in " ".join(text.split()) for text in texts)


def test_no_verb_is_forgotten():
    verbs = {verb: signature(app[verb].default_command).parameters for verb in app if not verb.startswith("-")}
    writing = {verb for verb, options in verbs.items() if any(one.annotation == "Output" for one in options.values())}
    # These make their releases themselves.
    assert writing - {"size-sweep", "tune", "cross-validation", "conformance"} == {verb.split()[0] for verb in VERBS}


@pytest.mark.parametrize("verb", [*VERBS, "membership --refit cart"])
def test_json_of_every_verb_says_whether_it_may_be_published(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
):
    name, *view = verb.split()
    options = "--repeats 1 --attacks dcr" if "--refit" in view else f"s.csv {VERBS[verb]}"
    for form in ("a.json", "-"):
        assert ended(monkeypatch, " ".join([name, "o.csv", options, *view, "--json", form])) == 0
        printed = capsys.readouterr().out
        told = json.loads(printed if form == "-" else (folder / form).read_text())
        assert told["release_safe"] == (name == "assess")
        if name != "assess":
            assert told["confidential"][0].startswith("A working document, not for publication")
            assert any("unveil assess" in text for text in told["confidential"])


def test_the_full_json_of_an_assessment_says_that_it_stays(folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert ended(monkeypatch, f"assess o.csv s.csv {VERBS['assess']} --no-release-safe --json a.json") == 0
    told = json.loads((folder / "a.json").read_text())
    assert told["release_safe"] is False
    assert told["confidential"]


def test_strict_says_nothing_where_there_is_nothing_to_say(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert ended(monkeypatch, "identity s.csv h.csv --keys income,sex --strict") == 3
    assert ended(monkeypatch, "structure s.csv s.csv --keys sex --strict") == 3
    (folder / "t.csv").write_text((folder / "s.csv").read_text())
    assert ended(monkeypatch, "structure s.csv t.csv --keys sex --strict") == 0
    assert ended(monkeypatch, "structure s.csv t.csv --keys sexx --strict") == 2
