"""Where the command line writes: what no verb may replace, and who can read what it wrote."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unveil.cli import main

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
    "points": f"compare {FILES} --targets ill --csv OUT.csv --overwrite",
    "copy": "synthesize o.csv -o OUT.csv -m 1 --overwrite",
    "schema": "schema o.csv -o OUT",
    "report": "report found.json -o OUT.html --overwrite",
    "membership": "membership o.csv s.csv --holdout s2.csv --holdout-unseen --records OUT.csv --overwrite",
    "posterior": "posterior o.csv s.csv --target ill --records OUT.csv --overwrite",
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

    def call(words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        return status, capsys.readouterr().err

    return call


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
