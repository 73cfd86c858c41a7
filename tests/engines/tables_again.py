"""The tests of tables once more, with records counted by another engine wherever a test names none."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.columns import pair as pair_module
from unveil.columns.opened_files import FileOpener
from unveil.files.source import Source

TABLES = Path(__file__).parents[1] / "tables"
engine_for = pair_module.engine_for
all_opened = FileOpener.all_opened


def of_tables(name: str, again: str) -> dict[str, Any]:
    """The tests and fixtures of a file, from a module of its own: nothing that it keeps is shared."""
    spec = importlib.util.spec_from_file_location(f"{again}_{name}", TABLES / f"test_{name}.py")
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


def counted_by(engine: str, monkeypatch: pytest.MonkeyPatch, as_held: Callable[[Source], Source] | None = None) -> None:
    """Count the records of all pairs by an engine.

    Parameters
    ----------
    engine
        Its name.
    monkeypatch
        What puts things back.
    as_held
        Function from each opened file to the same records where the engine has them.
    """

    def chosen(sources: Any, name: str, *others: Any) -> Any:
        return engine_for(sources, engine if name == "auto" else name, *others)  # type: ignore[arg-type]

    def opened(self: Any, *files: Any) -> list[Source]:
        found = all_opened(self, *files)
        return found if as_held is None else [as_held(one) for one in found]

    monkeypatch.setattr(pair_module, "engine_for", chosen)
    monkeypatch.setattr(FileOpener, "all_opened", opened)
