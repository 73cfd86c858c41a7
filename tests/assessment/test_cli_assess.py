"""The verbs assess and compare, called as a program is: what is written, what is refused, and that no half is left."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.csv
import pytest

import unveil
from unveil.cli import main

pytestmark = [
    pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning"),
    pytest.mark.filterwarnings("default::unveil.errors.UnveilWarning"),
]

QUICK = "--keys sex,age --targets depress --measures identity,attribute --special-codes income=-8"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    people = unveil.simulate.demo_population(200, seed=1)
    for name, table in (("o", people), ("s", people.slice(0, 120)), ("s2", people.slice(80))):
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    def call(words):
        monkeypatch.setattr(sys, "argv", ["unveil", *(words.split() if isinstance(words, str) else words)])
        capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as ending:
            status = ending.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def listing(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_all_documents_at_once(run, folder):
    (folder / "policy.toml").write_text('[[rule]]\nmeasure = "repU"\nlimit = 1\n')
    status, out, _ = run(
        f"assess o.csv s.csv s2.csv {QUICK} --html r.html --markdown r.md --json r.json --policy policy.toml "
        "--no-release-safe"
    )
    assert status == 0
    content = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert content["schema"] == "unveil.assessment"
    assert content["policy"]["rows"][0]["verdict"] == "above"
    assert len(content["provenance"]["inputs"][0]["sha256"]) == 64
    assert "repU" in (folder / "r.html").read_text(encoding="utf-8")
    assert "repU" in (folder / "r.md").read_text(encoding="utf-8")
    assert "Policy policy.toml" in out


def test_documents_leave_out_what_would_give_the_original_away(run, folder):
    words = f"assess o.csv s.csv {QUICK} --html r.html --markdown r.md --json"
    assert run(f"{words} full.json --no-release-safe")[0] == 0
    inputs = json.loads((folder / "full.json").read_text(encoding="utf-8"))["provenance"]["inputs"]
    digest = {one["role"]: one["sha256"] for one in inputs}
    assert digest["original"] in (folder / "r.html").read_text(encoding="utf-8")
    assert run(f"{words} r.json --overwrite")[0] == 0
    for name in ("r.html", "r.md", "r.json"):
        text = (folder / name).read_text(encoding="utf-8")
        assert digest["original"] not in text
        assert digest["release"] in text
        assert str((folder / "o.csv").stat().st_size) not in text.replace("\u202f", "")
        assert "o.csv" not in text, "names of files may hold names of persons"


def test_the_page_for_publication(run, folder):
    files = "--public-summary s.html --html r.html --json r.json"
    status, _, err = run(f"assess o.csv s.csv {QUICK} {files}")
    assert status == 0, err
    assert "written: s.html" in err
    page = (folder / "s.html").read_text(encoding="utf-8")
    assert "Summary for publication" in page
    assert run("report r.json --public-summary t.html")[0] == 0
    assert (folder / "t.html").read_text(encoding="utf-8") == page, "figures are rounded once"


def test_a_scenario_file_says_the_same_as_options(run, folder):
    (folder / "study.toml").write_text(
        'original = "o.csv"\nsynthetic = ["s.csv"]\nkeys = ["sex", "age"]\ntargets = ["depress"]\n'
        'measures = ["identity", "attribute"]\n[special_codes]\nincome = [-8]\n'
    )
    assert run("assess --scenario study.toml --json a.json")[0] == 0
    assert run(f"assess o.csv s.csv {QUICK} --json b.json")[0] == 0
    a, b = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("a.json", "b.json"))
    assert a["figures"] == b["figures"]
    assert a["scenario"] == b["scenario"]
    assert run("assess --scenario study.toml --keys sex --json c.json")[0] == 0
    assert json.loads((folder / "c.json").read_text(encoding="utf-8"))["scenario"]["keys"] == ["sex"]


def test_the_seed_of_the_synthesis_is_not_to_stand_in_a_report(run, folder):
    run("synthesize o.csv -o made -m 1 --seed 7")
    call = (
        "assess o.csv made/o_syn1.csv --keys sex --targets depress --measures identity "
        "--provenance made/o_syn.provenance.json"
    )
    assert "the seed of this assessment is that of the synthesis" in run(f"{call} --seed 7")[2]
    assert "seed" not in run(f"{call} --seed 8")[2]
    assert "seed" not in run(call)[2]


def test_synthesizer_from_its_provenance(run, folder):
    assert run("synthesize o.csv -o made -m 1 --seed 3 --special-codes income=-8")[0] == 0
    (provenance,) = (folder / "made").glob("*.json")
    (release,) = (folder / "made").glob("*.csv")
    status, out, err = run(
        f"assess o.csv {release} --keys sex,age --targets depress --measures posterior --provenance {provenance} "
        "--budget 600 --json a.json --no-release-safe"
    )
    assert status == 0, err
    assert "posterior certain" in out
    scenario = json.loads((folder / "a.json").read_text(encoding="utf-8"))["scenario"]
    assert scenario["special_codes"] == {"income": ["-8"]}, "the provenance file says so"
    assert scenario["synthesizer"]["minbucket"] == 5


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("assess", 2, "no files given"),
        ("assess o.csv --keys sex", 2, "no release given"),
        ("assess o.csv s.csv", 2, "no keys given"),
        ("assess o.csv s.csv --keys sx", 2, "did you mean 'sex'?"),
        ("assess o.csv s.csv --keys sex --measures identities", 2, "not 'identities'"),
        ("assess o.csv s.csv --keys sex --policy none.toml", 1, "none.toml: no such file in"),
        ("assess o.csv s.csv --keys sex --policy bad.toml", 1, "did you mean 'measure'?"),
        ("assess o.csv s.csv --keys sex --public-summary s.pdf", 2, "reports are written as .html"),
        ("assess o.csv s.csv --keys sex --public-summary o.csv --overwrite", 2, "reports are written as .html"),
        ("assess o.csv s.csv --keys sex --public-summary kept.html", 1, "exists"),
        ("assess o.csv s.csv --keys sex --html a.html --public-summary a.html", 2, "a.html would be written twice"),
        ("assess --scenario none.toml", 1, "none.toml: no such file in"),
        ("assess --scenario bad.toml", 1, "unknown option 'rule'"),
        ("assess o.csv s.csv --keys sex --html o.csv --overwrite", 2, "is an input"),
        ("assess o.csv s.csv --keys sex --html kept.html", 1, "exists"),
        ("assess o.csv s.csv --keys sex --html a.html --markdown a.html", 2, "a.html would be written twice"),
        ("assess o.csv s.csv --keys sex --html a.html --json ./a.html --overwrite", 2, "a.html would be written twice"),
        ("assess o.csv s.csv --keys sex --provenance bad.toml --json bad.toml --overwrite", 2, "bad.toml is an input"),
        ("assess o.csv s.csv --keys sex --schema bad.toml --json bad.toml --overwrite", 2, "bad.toml is an input"),
        ("assess o.csv s.csv --keys sex --minbucket 5", 2, "need --synthesizer"),
        ("assess o.csv s.csv --keys sex --synthesizer magic", 2, "there is no 'magic'"),
        ("assess o.csv no_sex.csv --keys sex", 1, "sex"),
        ("assess o.csv s.csv --keys sex age", 1, "separated by commas"),
        ("compare o.csv --keys sex", 2, "nothing to compare"),
        ("compare o.csv s.csv no_sex.csv --keys sex --measures attribute", 1, "no_sex.csv has no column 'sex'"),
        ("compare o.csv no_sex.csv --keys age --targets sex --measures attribute", 1, "no_sex.csv has no column 'sex'"),
        ("compare o.csv s.csv --keys sx --measures attribute", 2, "o.csv has no column 'sx'; did you mean 'sex'?"),
        ("compare o.csv s.csv", 2, "no keys given"),
        ("compare o.csv s.csv --keys sex --grid minbucket", 2, "takes setting=value"),
        ("compare o.csv s.csv --keys sex --grid minbucket=x --measures attribute", 2, "minbucket"),
        ("compare o.csv s.csv --keys sex --csv s.csv", 2, "is an input"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(run, folder, words, status, said):
    (folder / "bad.toml").write_text('[[rule]]\nmaesure = "repU"\nlimit = 1\n')
    (folder / "kept.html").write_text("mine")
    (folder / "no_sex.csv").write_text("age,depress\n3,1\n")
    before = listing(folder)
    ended, out, err = run(words + (" --measures identity" if "--keys" in words and "--measures" not in words else ""))
    assert (ended, out) == (status, ""), err
    assert said in err
    assert len([line for line in err.splitlines() if not line.startswith("warning:")]) == 1
    assert listing(folder) == before


def test_compare_writes_the_points(run, folder):
    status, out, err = run("compare o.csv s.csv s2.csv --keys sex,age --targets depress --csv p.csv --json p.json")
    assert status == 0, err
    table = pyarrow.csv.read_csv(folder / "p.csv")
    assert table.column("label").to_pylist() == ["s.csv", "s2.csv"]
    assert {"DiSCO", "DiSCO low", "mean TVD", "pareto"} <= set(table.column_names)
    assert json.loads((folder / "p.json").read_text(encoding="utf-8"))["schema"] == "unveil.comparison"
    assert "s2.csv" in out


def test_candidates_of_one_name_are_all_compared(run, folder):
    (folder / "again").mkdir()
    (folder / "again" / "s.csv").write_bytes((folder / "s2.csv").read_bytes())
    words = "--keys sex,age --targets depress --measures attribute --json -"
    status, out, err = run(f"compare o.csv s.csv again/s.csv s2.csv {words}")
    assert status == 0, err
    labels = [point["label"] for point in json.loads(out)["points"]]
    assert labels == ["s.csv", str(Path("again/s.csv")), "s2.csv"]
    assert run(f"compare o.csv s.csv s.csv {words}")[::2] == (2, "unveil: a release is named twice: s.csv\n")


def test_a_single_text_for_a_gap_in_a_scenario_is_no_list_of_letters(run, folder):
    (folder / "o.csv").write_text("sex,age,depress\nN,1,x\nA,2,NA\nN,3,y\n")
    (folder / "s.csv").write_text("sex,age,depress\nN,1,x\nA,2,NA\n")
    (folder / "study.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nkeys = "sex"\ntargets = "depress"\nmissing = "NA"\n'
        'measures = "attribute"\n'
    )
    status, out, err = run("assess --scenario study.toml --no-release-safe --json -")
    assert status == 0, err
    gaps = {one["name"]: one["gaps"] for one in json.loads(out)["data"]["columns"]}
    assert gaps == {"sex": 0, "age": 0, "depress": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("rule", "options", "status"),
    [
        ('measure = "repU"\nlimit = 100', "--policy-exit", 0),
        ('measure = "repU"\nlimit = 0', "--policy-exit", 4),
        ('measure = "repU"\nlimit = 0', "", 0),
        ('measure = "RAPID"\nlimit = 1', "--policy-exit", 4),
        ('measure = "repU"\nlimit = 0', "--policy-exit --strict", 4),
        ('measure = "RAPID"\nlimit = 5', "--policy-exit", 1),
        ('measure = "DiSCO"\ntarget = "depres"\nlimit = 5', "", 2),
    ],
)
def test_a_policy_that_is_not_met_has_a_status_of_its_own(run, folder, rule, options, status):
    """Before that of warnings; and everything is written all the same."""
    (folder / "policy.toml").write_text(f"[[rule]]\n{rule}\n", encoding="utf-8")
    ended, _, err = run(f"assess o.csv s.csv {QUICK} --policy policy.toml {options} --json r.json")
    assert ended == status, err
    assert (folder / "r.json").exists() == (status not in (1, 2))


def test_a_status_for_a_policy_needs_one(run, folder):
    status, _, err = run(f"assess o.csv s.csv {QUICK} --policy-exit")
    assert status == 2
    assert "--policy-exit needs the policy" in err
