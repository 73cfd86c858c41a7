"""The cells of every notebook run, one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("examples/**/*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_cells_run_and_show_their_results(path: Path) -> None:
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 3
    names: dict[str, Any] = {}
    for cell in cells:
        *_, last = cell.splitlines()
        exec(compile(cell, str(path), "exec"), names)
        # What a cell ends with is shown under it.
        if last.isidentifier() or last.startswith(("unveil.", "risks[")):
            assert len(str(eval(last, names))) > 50


def test_notebooks_hold_no_output() -> None:
    """What they print holds paths and figures of the machine that ran them."""
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs"), path
