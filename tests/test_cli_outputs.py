"""Where the command line writes: what no verb may replace, and who can read what it wrote."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.cli import app, main
from unveil.cli.reading import Reading

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

Run = Callable[[str], tuple[int, str]]
FILES = "o.csv s.csv --keys sex,age"
OUTPUTS = {
    "json": f"identity {FILES} --json OUT --overwrite",
    "plot": f"identity {FILES} --plot OUT.png --overwrite",
    "records": f"identity {FILES} --records OUT.csv --overwrite",
    "records of a target": f"attribute {FILES} --target ill --records OUT.parquet --overwrite",
    "html": f"assess {FILES} --targets ill --html OUT --overwrite",
    "markdown": f"assess {FILES} --targets ill --markdown OUT --overwrite",
    "json of an assessment": f"assess {FILES} --targets ill --json OUT --overwrite",
    "settings": "tune o.csv --keys sex --targets ill --policy p.toml --grid m=1 --csv OUT.csv --overwrite",
    "points": f"compare {FILES} --targets ill --csv OUT.csv --overwrite",
    "disclosure control": "sdc s.csv --top-code age=40 -o OUT.csv --overwrite",
    "folds": "cross-validation o.csv --keys sex --target ill --attacker cart --folds 2 --csv OUT.csv --overwrite",
    "worlds": "conformance --measures repU --trials independence --replicates 3 --csv OUT.csv --overwrite",
    "copy": "synthesize o.csv -o OUT.csv -m 1 --overwrite",
    "schema": "schema o.csv -o OUT",
    "json-schema": "json-schema -o OUT",
    "report": "report found.json -o OUT.html --overwrite",
    "membership": "membership o.csv s.csv --holdout s2.csv --holdout-unseen --records OUT.csv --overwrite",
    "posterior": "posterior o.csv s.csv --target ill --records OUT.csv --overwrite",
    "privacy-loss": "privacy-loss o.csv --curves 0 --records OUT.csv --overwrite",
    "partial-knowledge": "partial-knowledge o.csv s.csv --target ill --records OUT.csv --overwrite",
    "rapid": "rapid o.csv s.csv --keys sex --target ill --json OUT --overwrite",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in a folder with files; its status, and what it said on standard error."""
    monkeypatch.chdir(tmp_path)
    rows = ["f,30,no", "f,31,yes", "m,30,no", "m,30,yes", "m,52,no", "f,40,no"]
    for name, first in (("o", 0), ("s", 1), ("s2", 2)):
        Path(f"{name}.csv").write_text("\n".join(["sex,age,ill", *rows[first:], ""]))
    Path("found.json").write_text("{}")
    Path("p.toml").write_text('[[rule]]\nmeasure = "repU"\nlimit = 100\n')

    def call(words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        return status, capsys.readouterr().err

    return call


@pytest.fixture
def example() -> dict[str, Any]:
    """An assessment that can be drawn."""
    found: dict[str, Any] = json.loads(Path(__file__, "../show/example.json").resolve().read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("what", OUTPUTS)
@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_stays_a_pipe(run: Run, tmp_path: Path, what: str, link: bool):
    words = OUTPUTS[what]
    (name,) = [word for word in words.split() if word.startswith("OUT")]
    os.mkfifo("aim" if link else name)
    if link:
        os.symlink("aim", name)
    before = sorted(os.listdir())
    status, said = run(words)
    assert status in (1, 2)
    assert said.startswith("unveil: ")
    assert name in said
    assert said.count("\n") == 1
    assert stat.S_ISFIFO(os.stat(name).st_mode)
    assert os.path.islink(name) == link
    assert sorted(os.listdir()) == before


SEVERAL = {
    "identity": (f"identity {FILES}", ["--json a.json", "--plot b.png", "--records c.csv"]),
    "attribute": (f"attribute {FILES} --target ill", ["--json a.json", "--plot b.svg", "--records c.parquet"]),
    "structure": (f"structure {FILES}", ["--json a.json", "--plot b.pdf"]),
    "anonymity": (f"anonymity {FILES}", ["--json a.json", "--plot b.png"]),
    "population": (f"population {FILES} --population 10000", ["--json a.json", "--plot b.png", "--records c.csv"]),
    "keysets": (f"keysets {FILES}", ["--json a.json", "--plot b.png"]),
    "rapid": ("rapid o.csv s.csv --keys sex --target ill --attacker cart --permutations 2",
              ["--json a.json", "--plot b.png", "--records c.feather"]),
    "posterior": ("posterior o.csv s.csv --target ill --structure fixed",
                  ["--json a.json", "--plot b.png", "--records c.csv", "--checkpoint d"]),
    "membership": ("membership o.csv s.csv --holdout s2.csv --holdout-unseen",
                   ["--json a.json", "--plot b.png", "--records c.csv"]),
    "linkage": ("linkage o.csv s.csv --keys sex", ["--json a.json", "--plot b.png", "--records c.csv"]),
    "plausibility": ("plausibility o.csv s.csv --combinations sex,age",
                     ["--json a.json", "--plot b.png", "--records c.csv"]),
    "match-risk": ("match-risk o.csv s.csv --keys sex", ["--json a.json", "--plot b.png", "--records c.csv"]),
    "privacy-loss": ("privacy-loss o.csv s.csv --persons 2 --curves 1 --releases 2",
                     ["--json a.json", "--plot b.png", "--records c.csv"]),
    "partial-knowledge": ("partial-knowledge o.csv s.csv --target ill --records-known 1,0.5 --sets 1",
                          ["--json a.json", "--plot b.png", "--records c.csv", "--checkpoint d"]),
    "sdc": ("sdc s.csv --top-code age=40", ["--output a.csv", "--json b.json"]),
    "cross-validation": ("cross-validation o.csv --keys sex --target ill --attacker cart --folds 2",
                         ["--csv a.csv", "--json b.json", "--plot c.png"]),
    "conformance": ("conformance --measures repU --trials independence --replicates 3",
                    ["--csv a.csv", "--json b.json", "--plot c.png"]),
    "utility": ("utility o.csv s.csv --measures marginals", ["--json a.json", "--plot b.png"]),
    "assess": (f"assess {FILES} --targets ill --measures identity",
               ["--html a.html", "--markdown b.md", "--public-summary c.html", "--json d.json", "--plot e.png"]),
    "compare": (f"compare {FILES} --targets ill --measures attribute",
                ["--csv a.csv", "--json b.json", "--plot c.png"]),
    "size-sweep": ("size-sweep o.csv --keys sex --targets ill --sizes 3,6 -m 1",
                   ["--csv a.csv", "--json b.json", "--plot c.png"]),
    "tune": ("tune o.csv --keys sex,age --targets ill --policy p.toml --grid m=1 --seed 1",
             ["--csv a.csv", "--json b.json", "--plot c.png"]),
    "synthesize": ("synthesize o.csv -m 1", ["-o new.csv", "new.provenance.json"]),
    "report": ("report found.json", ["-o a.html", "--public-summary b.html"]),
    "demo": ("demo 50 --folder .",
             ["original.csv", "schema.toml", "independent.csv", "real.csv", "CART.csv", "CART.provenance.json",
              "report.html"]),
}  # fmt: skip
"""Calls that write several files; an output without an option is one that goes with another."""
SINGLE = [
    (verb, bad) for verb, (_, outputs) in SEVERAL.items() for bad in outputs if not bad.startswith("--checkpoint")
]


def test_all_verbs_that_write_several_files_are_tried():
    plain = {"schema", "json-schema", "synthesizers", "serve", "--help", "-h", "--version", "--install-completion"}
    assert set(SEVERAL) == set(app) - plain


@pytest.mark.parametrize(("verb", "bad"), SINGLE)
def test_nothing_is_written_where_one_of_the_outputs_exists(run: Run, example: dict[str, Any], verb: str, bad: str):
    Path("found.json").write_text(json.dumps(example))
    words, outputs = SEVERAL[verb]
    name = bad.split()[-1]
    Path(name).write_text("mine")
    before = sorted(os.listdir())
    status, said = run(" ".join([words, *(one for one in outputs if one.startswith("-"))]))
    assert status == 1, said
    assert f"{name} exists" in said
    assert sorted(os.listdir()) == before
    assert Path(name).read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"identity {FILES} --json a.json --records c.txtx", "c.txtx: unknown ending"),
        (f"attribute {FILES} --target ill --json a.json --records c", "c: unknown ending"),
        ("rapid o.csv s.csv --keys sex --target ill --json a.json --records c.xlsx", "c.xlsx: unknown ending"),
        ("posterior o.csv s.csv --target ill --structure fixed --json a.json --records c.json", "unknown ending"),
        ("membership o.csv s.csv --holdout s2.csv --holdout-unseen --json a.json --records c.rds", "unknown ending"),
        (f"compare {FILES} --targets ill --json a.json --csv points", "points: unknown ending"),
        (f"assess {FILES} --targets ill --html a.html --public-summary b.pdf", "b.pdf: reports are written as"),
        (f"assess {FILES} --targets ill --html a.html --json no/b.json", "there is no folder no"),
        ("posterior o.csv s.csv --target ill --structure fixed --json a.json --checkpoint a.json", "is an input"),
        ("posterior o.csv s.csv --target ill --json a.json --checkpoint ./a.json --overwrite", "is an input"),
    ],
)
def test_nothing_is_computed_or_written_where_one_of_the_outputs_cannot_be(
    run: Run, words: str, message: str, monkeypatch: pytest.MonkeyPatch
):
    def opened(*_: object) -> None:
        raise AssertionError("the files were opened before the outputs were looked at")

    monkeypatch.setattr(Reading, "pair", opened)
    monkeypatch.setattr("unveil.files.opening.open_source", opened)
    before = sorted(os.listdir())
    status, said = run(words)
    assert status in (1, 2)
    assert message in said
    assert sorted(os.listdir()) == before


def test_nothing_is_computed_where_the_plot_cannot_be_drawn(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    before = sorted(os.listdir())
    status, said = run(f"identity {FILES} --json a.json --records c.csv --plot b.png")
    assert status == 1
    assert "plots need matplotlib" in said
    assert sorted(os.listdir()) == before


def test_no_report_is_written_where_the_page_beside_it_would_replace_an_input(run: Run, example: dict[str, Any]):
    Path("input.html").write_text("sex,age\nf,30\n")
    example["provenance"]["inputs"][0]["sha256"] = hashlib.sha256(Path("input.html").read_bytes()).hexdigest()
    Path("found.json").write_text(json.dumps(example))
    status, said = run("report found.json -o new.md --public-summary input.html --overwrite")
    assert status == 2
    assert "input.html is an input" in said
    assert not Path("new.md").exists()


@pytest.mark.parametrize("name", ["o_syn1.csv", "o_syn.provenance.json"])
def test_a_pipe_in_the_folder_of_copies_stays_a_pipe(run: Run, name: str):
    os.mkdir("out")
    os.mkfifo(f"out/{name}")
    status, said = run("synthesize o.csv -o out -m 2 --overwrite")
    assert (status, said.count("\n")) == (1, 1)
    assert "a pipe, which is never replaced" in said
    assert os.listdir("out") == [name]


@pytest.mark.parametrize("name", ["original.csv", "report.html"])
def test_a_link_in_the_folder_of_the_demonstration_stays_a_link(run: Run, name: str):
    os.mkdir("out")
    os.symlink("nowhere", f"out/{name}")
    status, said = run("demo 50 --folder out")
    assert (status, said.count("\n")) == (1, 1)
    assert os.listdir("out") == [name]


@pytest.mark.parametrize(
    "words",
    [
        f"identity {FILES} --schema schema.toml --json schema.toml --overwrite",
        f"attribute {FILES} --target ill --schema schema.toml --records schema.toml --overwrite",
        "rapid o.csv s.csv --keys sex --target ill --schema schema.toml --json schema.toml --overwrite",
        "utility o.csv s.csv --schema schema.toml --json schema.toml --overwrite",
        "posterior o.csv s.csv --target ill --schema schema.toml --json schema.toml --overwrite",
        "posterior o.csv s.csv --target ill --provenance found.json --json found.json --overwrite",
        "membership o.csv s.csv --holdout s2.csv --holdout-unseen --schema schema.toml --json schema.toml --overwrite",
        f"compare {FILES} --targets ill --schema schema.toml --json schema.toml --overwrite",
        f"assess {FILES} --targets ill --schema schema.toml --html schema.toml --overwrite",
    ],
)
def test_no_input_of_any_kind_is_replaced(run: Run, words: str):
    Path("schema.toml").write_text("[columns.sex]\nkind = 'categorical'\n")
    os.link("schema.toml", "same.toml")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    for again in (words, words.replace("--json schema", "--json same").replace("--html schema", "--html same")):
        status, said = run(again)
        assert status == 2
        assert "is an input" in said
        assert {name: Path(name).read_bytes() for name in os.listdir()} == before


def test_records_are_for_their_owner_alone(run: Run):
    for words in (
        f"identity {FILES} --records one.csv", "posterior o.csv s.csv --target ill --structure fixed --records two.csv",
        "synthesize o.csv -o three.csv -m 1",
    ):  # fmt: skip
        assert run(words)[0] == 0, words
    for name in ("one.csv", "two.csv", "three.provenance.json"):
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600, name


def test_a_terminal_that_takes_no_more_ends_with_one_line():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no device that is always full")
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", "from unveil.cli import main; main()", "--help"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == "unveil: output: No space left on device\n"
