"""The table of benchmarks has one line for every row that is declared; nothing is measured here."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that knows all groups."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.run")


@pytest.fixture
def page(run: ModuleType) -> ModuleType:
    """The module that draws the table."""
    return importlib.import_module("benchmarks.page")


def test_names_of_groups_and_rows_are_unique(run):
    assert len(run.GROUPS) == len(run.MODULES)
    rows = [(group, row.measured, row.data) for group, rows in run.GROUPS.items() for row in rows]
    assert len(set(rows)) == len(rows)


def test_the_page_has_one_line_per_row(run, page):
    assert PAGE.count(page.BEGIN) == PAGE.count(page.END) == 1
    table = PAGE.split(page.BEGIN)[1].split(page.END)[0]
    cells = [tuple(cell.strip() for cell in line.split("|")[1:4]) for line in table.splitlines() if line[:1] == "|"]
    shown = [line for line in cells if line[0] in run.GROUPS]
    assert shown == [(group, row.measured, row.data) for group, rows in run.GROUPS.items() for row in rows]


def test_a_missing_peer_is_named_and_gives_no_figure(run, page):
    row = importlib.import_module("benchmarks.row")
    missing = row.Row("work", "data", lambda data: list, lambda data: list, "peer", ("no_such_package",))
    assert not missing.peer_is_installed()
    line = page.drawn(page.Line("group", missing, row.Measured(2.0, "cold", 30.0), "not installed"))
    assert line == "| group | work | data | cold | 2 | peer | not installed |  | 30 |  |"


def test_the_exponent_of_growth_is_the_slope_of_the_logarithms(run, page):
    row = importlib.import_module("benchmarks.row")
    lines = []
    for n in (10, 100, 1000):
        declared = row.Row("work", str(n), lambda data: list, n=n)
        lines.append(page.Line("group", declared, row.Measured(3.0 * n**1.5, "cold"), "not run"))
    assert page.growth(lines)[-1] == "| work | 1.50 | not measured |"


def test_a_table_replaces_what_stands_between_the_marks(page):
    old = f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n"
    assert page.replaced(old, "new") == f"before\n{page.BEGIN}\nnew\n{page.END}\nafter\n"
