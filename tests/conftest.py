"""What all tests share: the reference data, the frame flavours, and settings that make runs repeatable."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before anything imports matplotlib: the machine that runs the tests may have no display.
os.environ["MPLBACKEND"] = "Agg"

import pyarrow as pa
import pytest
from hypothesis import settings

# Chromium, for the tests of pages.
pytest_plugins = ["browser"]

PROJECT = Path(__file__).resolve().parent.parent
FLAVOURS = ["arrow", *(name for name in ("pandas", "polars") if find_spec(name))]

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of reference data and figures: $UNVEIL_SHARED, else the folder `shared` beside the project."""
    folder = Path(os.environ.get("UNVEIL_SHARED") or PROJECT.parent / "shared")
    if not folder.is_dir():
        message = f"no reference data: {folder} is not a folder; set UNVEIL_SHARED"
        if os.environ.get("UNVEIL_REQUIRE_SHARED") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> str:
    """Each kind of frame that can be made here: "arrow", and "pandas" and "polars" where installed."""
    name: str = request.param
    return name


@pytest.fixture
def make_frame(flavour: str) -> Callable[[Mapping[str, Any] | pa.Table], Any]:
    """Function from columns by name, or an Arrow table, to a frame of the flavour."""

    def make(columns: Mapping[str, Any] | pa.Table) -> Any:
        table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        if flavour == "pandas":
            return table.to_pandas()
        if flavour == "polars":
            return import_module("polars").from_arrow(table)
        return table

    return make
