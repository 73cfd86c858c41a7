"""The cells of every notebook run, one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.conftest import skip_without_spark

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("examples/**/*.ipynb"))


ON_SPARK = [path for path in NOTEBOOKS if path.stem.endswith("_spark")]


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path not in ON_SPARK], ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_cells_run_and_show_their_results(path: Path) -> None:
    run(path)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("path", ON_SPARK, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
def test_cells_run_on_spark(path: Path) -> None:
    skip_without_spark()
    run(path)


def run(path: Path) -> None:
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
