"""Reference designs: columns in visit order, numeric parts fitted on observed records only."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from unveil.trees import Column


def read_table(path: Path) -> dict[str, list[str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    header, *rows = csv.reader(text.splitlines())
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def read_design(shared: Path, name: str) -> tuple[dict[str, Column], dict[str, np.ndarray]]:
    """Columns, and the records on which each is fitted."""
    table = read_table(shared / "golden" / "cart" / f"leaves_{name}_design.csv.gz")
    columns, rows = {}, {}
    for column, texts in table.items():
        try:
            columns[column] = Column.from_values([float(text) for text in texts], name=column)
        except ValueError:
            levels, codes = np.unique(np.array(texts), return_inverse=True)
            columns[column] = Column(codes, "categorical", levels.size, name=column)
        part = table.get(f"{column}_part")
        rows[column] = np.arange(len(texts)) if part is None else np.flatnonzero(np.array(part) == "observed")
    return columns, rows
