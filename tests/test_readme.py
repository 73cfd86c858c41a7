"""What README.md and the worked example show is what their commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIRST = (ROOT / "README.md").read_text(encoding="utf-8")
README = (ROOT / "docs" / "example.md").read_text(encoding="utf-8")
SCREEN = 60
"""Lines that a screen shows."""
SHOWN = re.findall(r"```sh\n([^`]*?)```\n\n```text\n([^`]*?)```", README)
PYTHON = re.findall(r"```python\n([^`]*?)```", README)


def unveil_program(words: list[str], folder: Path) -> str:
    program = [sys.executable, "-c", "from unveil.cli import main; main()", *words]
    ended = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader of README.md has run the demonstration."""
    found = re.search(r"`unveil (demo --folder \w+)`", README)
    assert found is not None
    place = tmp_path_factory.mktemp("readme")
    unveil_program([*found[1].split(), "--no-report"], place)
    return place


def test_the_first_page_has_two_screens_a_picture_and_every_extra():
    assert FIRST.count("\n") <= 2 * SCREEN
    (picture,) = re.findall(r"!\[[^\]]{20,}\]\((docs/[^)]+)\)", FIRST)
    assert 0 < (ROOT / picture).stat().st_size < 150_000
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_users = set(project["optional-dependencies"]) - {"test", "docs", "lint"}
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^\| (`[^|]*) \|", FIRST.split("## Install")[1]))))
    assert of_users <= named


@pytest.mark.slow
@pytest.mark.xdist_group("readme")
def test_commands_print_what_stands_below_them(folder: Path):
    assert [command.split()[1] for command, _ in SHOWN] == ["identity", "attribute"]
    for command, shown in SHOWN:
        assert unveil_program(shlex.split(command)[1:], folder) == shown


@pytest.mark.slow
@pytest.mark.xdist_group("readme")
def test_examples_in_python_run(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for example in PYTHON:
        exec(example, names)
    assert "releases" in names


@pytest.mark.slow
@pytest.mark.xdist_group("readme")
def test_the_synthetic_file_can_be_assessed_with_its_provenance(folder: Path):
    (command,) = re.findall(r"```sh\nunveil (assess (?:[^`]|\\\n)*?)```", README)
    words = [*shlex.split(command.replace("\\\n", " ")), "--measures", "identity,posterior", "--budget", "8"]
    found = unveil_program(words, folder)
    assert "posterior certain" in found
    assert "failed" not in found
