"""Reading a CSV file beside polars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.data import Data
from benchmarks.row import Row
from benchmarks.tables import categorical


def ours(data: Data) -> Callable[[], Any]:
    """All columns read and coded."""
    import unveil

    path = data.drawn(1_000_000, "csv")[0]

    def run() -> None:
        source = unveil.read(path)
        for name in source.names:
            source.column(name)

    return run


def peer(data: Data) -> Callable[[], Any]:
    """All columns read, texts as categories."""
    import polars

    path = data.drawn(1_000_000, "csv")[0]
    return lambda: categorical(polars.read_csv(path))


ROWS = [
    Row("read, all columns of a CSV file", "1 000 000 records of Adult", ours, peer, "polars, read_csv and cast",
        ("polars",))
]  # fmt: skip
