"""The command line, called within this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from unveil.cli import main


def called(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Exit status of `unveil WORDS`, and what it prints to the output and to the stream of errors."""
    monkeypatch.setattr(sys, "argv", ["unveil", *words])
    status = 0
    try:
        main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err
