"""What does not count for DiSCO and DCAP: named by the advice, pasted into the call, stated in the report."""

from __future__ import annotations

import json
import shlex
import sys

import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from unveil.cli import main

MEASURES = ["identity", "attribute", "advice"]


def assess(pair, keys, targets, **options):
    return unveil.assess(pair, keys, targets=targets, **({"measures": MEASURES} | options))


def options_of(action):
    """The options that an advice ends with, as keywords: what a shell makes of the pasted text."""
    words = shlex.split(action.partition(": --")[2])
    found = {"exclude_pairs": [], "not_target_levels": []}
    for name, value in zip(["--" + words[0], *words[2::2]], words[1::2], strict=True):
        found[name.removeprefix("--").replace("-", "_")].append(value)
    return found


# 60 records of a, all x; 20 of b, all y; the release knows a alone.
COMMON = pa.table({"k": ["a"] * 60 + ["b"] * 20, "t": ["x"] * 60 + ["y"] * 20, "u": ["v", "w"] * 40})
PAIR = unveil.Pair(COMMON, COMMON.slice(0, 60))


def test_the_report_says_how_many_do_not_count_and_what_would_be_if_all_did():
    found = assess(PAIR, "k", ["t", "u"], exclude_pairs="k=a:x", release_safe=False).to_dict()
    t, u = found["targets"]
    assert t["exclusions"] | {"sentence": "", "sentence_public": ""} == {
        "sentence": "",
        "sentence_public": "",
        "records": 60,
        "DiSCO_of_all": 75.0,
        "DCAP_of_all": 75.0,
        "rows": [{"what": "k=a:x", "what_public": "k=a:x", "records": 60}],
    }
    assert u["exclusions"] is None, "the target has no level x"
    disco = {one["target"]: one["value"] for one in found["figures"] if one["measure"] == "DiSCO"}
    assert disco == {"t": 0.0, "u": 0.0}
    said = "t: 60 original records do not count for DiSCO and DCAP, as was asked (exclude_pairs, not_target_levels)."
    assert t["exclusions"]["sentence"].startswith(f"{said} DiSCO is 0.0 % so, and 75.0 % if all count;")
    assert any(one["text"].startswith(said) for one in found["warnings"])
    assert all("60 do not count, as was asked" in sentence for sentence in t["sentences"])
    assert found["scenario"]["exclude_pairs"] == ["k=a:x"]


def test_a_level_of_a_target_does_not_count():
    by_mapping = assess(PAIR, "k", ["t", "u"], not_target_levels={"t": "x", "u": ["v", "w"]}).to_dict()
    by_texts = assess(PAIR, "k", ["t", "u"], not_target_levels=["t=x", "u=v,u=w"]).to_dict()
    assert by_texts["targets"] == by_mapping["targets"]
    assert [(one["what"], one["records"]) for one in by_mapping["targets"][1]["exclusions"]["rows"]] == [
        ("u=v", 40), ("u=w", 40),
    ]  # fmt: skip
    assert by_mapping["scenario"]["not_target_levels"] == ["t", "u"], "names of targets, without levels"


@pytest.mark.parametrize("keys", [["age"], ["sex", "age"]])
def test_the_advice_pasted_does_what_it_said(keys):
    people = unveil.simulate.demo_population(1500, seed=3)
    pair = unveil.Pair(people, people.slice(0, 900), special_codes={"income": [-8]})
    targets = ["marital", "workab", "income"]
    found = assess(pair, keys, targets, measures=["attribute", "advice"]).content
    advised = [one for one in found["advice"] if "--" in one["action"]]
    assert advised, "the checks flag something"
    for one in advised:
        again = assess(pair, keys, targets, measures="attribute", **options_of(one["action"])).content
        now = {figure["target"]: figure["value"] for figure in again["figures"] if figure["measure"] == "DiSCO"}
        effects = {e["target"]: e for e in one["effects"] if e["measure"] == "DiSCO"}
        assert now == {target: effect["after"] for target, effect in effects.items()}
        assert any(effect["after"] < effect["before"] for effect in effects.values())


def test_what_is_pasted_is_added_to_what_does_not_count_already():
    first = assess(PAIR, "k", "t", exclude_pairs=["k=b:y"]).content
    (action,) = (one["action"] for one in first["advice"] if "exclude-pairs" in one["action"])
    assert options_of(action)["exclude_pairs"] == ["k=a:x"]
    both = assess(PAIR, "k", "t", exclude_pairs=["k=b:y", "k=a:x"]).content
    assert both["targets"][0]["exclusions"]["records"] == 80


def test_the_command_line_names_all_and_takes_what_it_names(tmp_path, monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        with pytest.raises(SystemExit) as ending:
            main()
        return ending.value.code, capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    odd = pa.table({"k": ["10:30", "it's"] * 20, "t": ["x, y", "="] * 20})
    pyarrow.csv.write_csv(odd, "o.csv")
    pyarrow.csv.write_csv(odd, "s.csv")
    status, out = run("attribute", "o.csv", "s.csv", "--keys", "k", "--target", "t")
    (line,) = (line for line in out.splitlines() if line.startswith("  --exclude-pairs"))
    assert (status, line.count("--exclude-pairs")) == (0, 2)
    for verb in (["attribute", "--json", "-"], ["assess", "--measures", "attribute", "--json", "r.json"]):
        status, out = run(*verb, "o.csv", "s.csv", "--keys", "k", "--targets", "t", *shlex.split(line))
        assert status == 0
        (figures,) = json.loads(out)["targets"] if verb[0] == "attribute" else [{}]
        if figures:
            assert figures["mean"]["DiSCO"] == 0.0
    figures = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["figures"]
    assert [one["value"] for one in figures if one["measure"] == "DiSCO"] == [0.0]
    (tmp_path / "s.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nkeys = "k"\nmeasures = "attribute"\n'
        'exclude_pairs = ["k=10:30:x, y"]\n[not_target_levels]\nt = ["="]\n',
        encoding="utf-8",
    )
    assert run("assess", "--scenario", "s.toml", "--json", "r2.json")[0] == 0
    figures = json.loads((tmp_path / "r2.json").read_text(encoding="utf-8"))["figures"]
    assert [one["value"] for one in figures if one["measure"] == "DiSCO"] == [0.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exclude_pairs": "k=a"}, "exclude_pairs takes key=key level:target level, or a comparison such as "),
        ({"exclude_pairs": "K=a:x"}, "exclude_pairs: 'K=a:x' begins with no key; did you mean 'k'?"),
        ({"exclude_pairs": "k=c:x"}, "column 'k' has no level 'c'"),
        ({"exclude_pairs": "k=a:X"}, "exclude_pairs: no target has the level 'X'; did you mean 'x'?"),
        ({"exclude_pairs": [("k", "a", "x")]}, "exclude_pairs takes a text or a list of texts"),
        ({"not_target_levels": {"t": "X"}}, "not_target_levels: column 't' has no level 'X'"),
        ({"not_target_levels": {"T": "x"}}, "not_target_levels names 'T', which is not a target; did you mean 't'?"),
        ({"not_target_levels": "x"}, "not_target_levels takes target=level: not 'x'"),
        ({"not_target_levels": "T=x"}, "'T=x' begins with no target; did you mean 't'?"),
        ({"not_target_levels": 5}, "not_target_levels takes a text or a list of texts, not 5"),
    ],
)
def test_what_is_wrong_is_refused_at_the_door(options, said):
    with pytest.raises(unveil.CallError) as error:
        assess(PAIR, "k", ["t", "u"], **options)
    assert said in str(error.value)


def test_documents_for_publication_name_no_rare_level_and_no_end_of_a_range():
    # Nobody of 17 years and below is alone: the smallest age belongs to 30 records; the largest, 90, to 3.
    age = [16] * 30 + [17] * 40 + [50] * 127 + [90] * 3
    state = ["single"] * 70 + ["wed", "split"] * 63 + ["wed"] + ["hermit"] * 3
    people = pa.table({"age": age, "state": state})
    pair = unveil.Pair(people, people)
    pairs = ["age=16:single", "age=17:single", "age=90:hermit"]
    result = assess(pair, "age", "state", exclude_pairs=pairs, minimum_count=10)
    (target,) = result.to_dict()["targets"]
    assert target["exclusions"]["rows"] == [{"what": "age=17:single", "records": 40}]
    assert target["exclusions"]["records"] == 70
    assert result.to_dict()["scenario"]["exclude_pairs"] is None
    advised = assess(pair, "age", "state", minimum_count=10)
    (row,) = (one for one in advised.to_dict()["advice"] if "exclude-pairs" in one["action"])
    assert row["action"].endswith("(and others, which are not named here): --exclude-pairs age=17:single")
    for one in (result, advised):
        for text in (one.to_json(), one.to_html(), one.to_markdown(), one.to_public_summary()):
            assert "hermit" not in text
            assert "age=16" not in text


def test_the_public_summary_says_that_not_all_count():
    found = assess(PAIR, "k", "t", exclude_pairs="k=a:x").content["public_summary"]["figures"]
    by_measure = {one["measure"]: one["what"] for one in found}
    assert by_measure["DiSCO"].endswith("; some records were left out of the count")
    assert not by_measure["repU"].endswith("left out of the count")
