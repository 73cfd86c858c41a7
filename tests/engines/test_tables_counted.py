"""The tests of tables once more, with records counted batch by batch wherever the test names no engine."""

from __future__ import annotations

import pytest

from engines.tables_again import counted_by, of_tables

AGAIN = ("handed", "golden", "results", "large_numbers", "not_target_levels", "papers")


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted_by("files", monkeypatch)


for again in AGAIN:
    found = of_tables(again, "counted")
    assert not set(found) & set(globals()), again
    globals().update(found)
