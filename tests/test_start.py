"""The commands of docs/start.md run as they are written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "start.md").read_text(encoding="utf-8")
SHELL = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).replace("\\\n", "")
COMMANDS = SHELL.splitlines()


@pytest.mark.slow
def test_the_commands_run_one_after_the_other(tmp_path):
    assert [command.split()[1] for command in COMMANDS] == ["demo", "schema", "identity", "attribute", "assess"]
    for command in COMMANDS:
        program = [sys.executable, "-c", "from unveil.cli import main; main()", *shlex.split(command)[1:]]
        ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        assert ended.returncode == 0, ended.stderr
    named = set(re.findall(r"`(study/[\w.]+)`", PAGE)) | {"report.html", "mine.toml"}
    assert all((tmp_path / name).exists() for name in named)
