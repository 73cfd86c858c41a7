"""Reports as files, and the verb that draws them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.cli import main
from unveil.errors import CallError, DataError, FileError
from unveil.show.report import (
    html,
    markdown,
    public_summary,
    read_assessment,
    write_html,
    write_markdown,
    write_public_summary,
)

# It takes reading sys.argv under pytest for an oversight.
pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
Assessment = dict[str, Any]
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, example: Assessment, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the example as a file."""
    (tmp_path / "a.json").write_text(json.dumps(example), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; its status and what it says in complaint."""

    def call(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), capsys.readouterr().err
        return 0, capsys.readouterr().err

    return call


def test_the_verb_writes_what_the_functions_give(run: Run, folder: Path, example: Assessment) -> None:
    assert run("report", "a.json", "-o", "r.html") == (0, "")
    assert (folder / "r.html").read_text(encoding="utf-8") == html(example)
    assert run("report", "a.json", "--output", "r.md") == (0, "")
    assert (folder / "r.md").read_text(encoding="utf-8") == markdown(example)


def test_the_verb_writes_the_page_for_publication(run: Run, folder: Path, example: Assessment) -> None:
    assert run("report", "a.json", "--public-summary", "s.html", "-o", "r.html") == (0, "")
    assert (folder / "s.html").read_text(encoding="utf-8") == public_summary(example)
    assert (folder / "r.html").read_text(encoding="utf-8") == html(example)
    assert run("report", "a.json", "--public-summary", "s.md") == (0, "")
    assert (folder / "s.md").read_text(encoding="utf-8") == public_summary(example, "markdown")
    write_public_summary(example, "t.md")
    assert (folder / "t.md").read_bytes() == (folder / "s.md").read_bytes()
    status, said = run("report", "a.json", "--public-summary", "s.md")
    assert (status, said.count("\n")) == (1, 1)
    assert "exists" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "b.json: not JSON"),
        (b"\xff{}", "b.json: byte 0 is not UTF-8"),
        (b"[]", "b.json: holds no JSON object"),
        (b"[" * 100_000, "b.json: nested too deeply"),
        (b'{"schema": "other"}', "not an assessment: schema is 'other'"),
        (b'{"schema": "unveil.assessment", "schema_version": "1.3"}', "version 1.3, this program draws version 2"),
        (b'{"schema": "unveil.assessment", "schema_version": "2.0"}', "assessment has no 'release_safe'"),
    ],
)
def test_what_cannot_be_drawn_leaves_nothing_behind(run: Run, folder: Path, content: bytes, message: str) -> None:
    (folder / "b.json").write_bytes(content)
    status, said = run("report", "b.json", "-o", "r.html")
    assert status == 1
    assert message in said
    assert said.count("\n") == 1
    assert sorted(p.name for p in folder.iterdir()) == ["a.json", "b.json"]


@pytest.mark.parametrize(
    ("name", "value"), [("groups", {"low": "x"}), ("groups", {"high": {}}), ("sets", {"figures": {"combinations": []}})]
)
def test_a_number_that_was_changed_by_hand_is_named(
    run: Run, folder: Path, name: str, value: dict[str, object]
) -> None:
    content = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    content["keys"][name][0] |= value
    (folder / "b.json").write_text(json.dumps(content), encoding="utf-8")
    status, said = run("report", "b.json", "-o", "r.html")
    assert status == 1
    assert f"b.json: assessment.keys.{name}[0]" in said
    assert not (folder / "r.html").exists()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("nowhere.json", "-o", "r.html"), 1, "nowhere.json: no such file in"),
        (("a.json", "-o", "r.pdf"), 2, "reports are written as .html"),
        (("a.json", "-o", "no/r.html"), 1, "there is no folder no"),
        (("a.json",), 2, "--output"),
        (("a.json", "--public-summary", "s.txt"), 2, "reports are written as .html"),
        (("a.json", "-o", "r.html", "--public-summary", "./r.html"), 2, "would be written twice"),
        (("a.json", "--public-summary", "no/s.html"), 1, "there is no folder no"),
    ],
)
def test_wrong_calls(run: Run, words: tuple[str, ...], status: int, message: str) -> None:
    found, said = run("report", *words)
    assert found == status
    assert message in said.lower()


def test_nothing_is_replaced_unasked(run: Run, folder: Path) -> None:
    (folder / "r.html").write_text("mine")
    assert run("report", "a.json", "-o", "r.html")[0] == 1
    assert (folder / "r.html").read_text() == "mine"
    assert run("report", "a.json", "-o", "r.html", "--overwrite")[0] == 0
    assert "mine" not in (folder / "r.html").read_text(encoding="utf-8")[:100]


def test_the_verb_sets_the_head(run: Run, folder: Path) -> None:
    assert run("report", "a.json", "-o", "r.html", "--title", "Lives", "--organisation", "Institute") == (0, "")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Lives</bdi></h1>" in page
    assert "Institute" in page
    status, said = run("report", "a.json", "-o", "s.html", "--title", " ")
    assert (status, said.count("\n")) == (2, 1)
    assert "title takes a text" in said


def test_inputs_are_never_written_over(run: Run, folder: Path, example: Assessment) -> None:
    (folder / "original.html").write_text("sex,age\nf,30\n")
    digest = hashlib.sha256((folder / "original.html").read_bytes()).hexdigest()
    example["provenance"]["inputs"][0]["sha256"] = digest
    for write in (write_html, write_markdown):
        with pytest.raises(CallError, match=r"original\.html is an input"):
            write(example, folder / "original.html", overwrite=True)
    os.link(folder / "a.json", folder / "same.html")
    status, said = run("report", "a.json", "-o", "same.html", "--overwrite")
    assert status == 2
    assert "the assessment itself" in said


def test_a_failed_write_leaves_the_old_report(folder: Path, example: Assessment) -> None:
    write_html(example, "r.html")
    before = (folder / "r.html").read_bytes()
    del example["figures"]
    with pytest.raises(DataError):
        write_html(example, "r.html", overwrite=True)
    assert (folder / "r.html").read_bytes() == before
    with pytest.raises(FileError, match="exists"):
        write_html(read_assessment("a.json"), "r.html")


def test_names_that_are_no_text_can_be_written(folder: Path, example: Assessment) -> None:
    example["title"] = "half a pair \ud800"
    write_html(example, "r.html")
    assert "half a pair ?" in (folder / "r.html").read_text(encoding="utf-8")


def test_drawing_loads_no_trees_and_no_learning_library(folder: Path) -> None:
    code = (
        "import sys; from unveil.show.report import html, read_assessment; html(read_assessment('a.json'));"
        "print([m for m in ('unveil.trees', 'sklearn', 'scipy', 'pandas', 'polars', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.strip() == "[]"
