"""The galleries of the papers: every figure that is drawn stands on its page, and every difference has a reason."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pytest
from examples.paper import ROOT, drawn, papers, read_compared

once = cache(drawn)


@pytest.mark.parametrize("paper", papers())
def test_page_and_figures(paper: str):
    files = once(paper)
    page = files["gallery.md"].decode()
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)
    assert sorted(shown) == sorted(name for name in files if name.endswith(".svg"))
    assert len(shown) >= 3
    assert all(content.lstrip().startswith(b"<?xml") for name, content in files.items() if name.endswith(".svg"))
    assert f"Computed by `python -m examples.{paper}`" in page
    assert "nan" not in re.sub(r"\(.*?\)", "", page).lower().split()


@pytest.mark.parametrize("paper", papers())
def test_figures_are_the_same_each_time(paper: str):
    assert drawn(paper) == once(paper)


@pytest.mark.parametrize("paper", papers())
def test_every_number_that_is_not_equal_has_a_reason(paper: str):
    rows = read_compared(ROOT / "examples" / paper / "results")
    assert rows
    assert [row for row in rows if row["verdict"] != "equal" and not row["reason"]] == []


@pytest.mark.parametrize("paper", papers())
def test_each_paper_has_one_command(paper: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    command = importlib.import_module(f"examples.{paper}.__main__")
    assert f"python -m examples.{paper}" in (command.__doc__ or "")
    assert f"python -m examples.{paper}" in Path(ROOT / "examples" / paper / "README.md").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", [paper, "--help"])
    with pytest.raises(SystemExit, match="0"):
        command.main()
    assert "folder of the paper's files" in capsys.readouterr().out
