"""The tests of tables once more, with records counted batch by batch wherever the test names no engine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from unveil.columns import pair as pair_module

TABLES = Path(__file__).parents[1] / "tables"
AGAIN = ("handed", "golden", "results", "large_numbers", "not_target_levels", "papers")
engine_for = pair_module.engine_for


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def files(sources: Any, name: str, *others: Any) -> Any:
        return engine_for(sources, "files" if name == "auto" else name, *others)

    monkeypatch.setattr(pair_module, "engine_for", files)


def of_tables(name: str) -> dict[str, Any]:
    """The tests and fixtures of a file, from a module of its own: nothing that it keeps is shared."""
    spec = importlib.util.spec_from_file_location(f"counted_{name}", TABLES / f"test_{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for attribute, value in vars(module).items():
        if attribute.startswith("test_") and "command_line" not in attribute:
            mark = getattr(module, "pytestmark", None)
            found[attribute] = value if mark is None else mark(value)
        elif type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction"):
            found[attribute] = value
    return found


for again in AGAIN:
    found = of_tables(again)
    assert not set(found) & set(globals()), again
    globals().update(found)
