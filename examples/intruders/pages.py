"""What the studies of this folder share: the survey, and how rows are written and shown."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import unveil

FOLDER = Path(__file__).parent
SPECIAL = {"income": [-8]}
DIGITS = 6

Row = Mapping[str, Any]


def survey(folder: Path, **settings: Any) -> tuple[unveil.Pair, unveil.CartSynthesizer]:
    """Social Diagnosis 2011 with one release, and the synthesizer that made it."""
    original = unveil.read(str(folder / "sd2011_9.csv"))
    maker = unveil.CartSynthesizer(**settings, special_codes=SPECIAL).fit(original)
    return unveil.Pair(original, maker.sample(seed=1), special_codes=SPECIAL), maker


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write rows with the same columns; what is not defined is empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({name: _written(value) for name, value in row.items()} for row in rows)


def read_csv(path: Path) -> list[dict[str, Any]]:
    """Rows as they were written, numbers as numbers, and NaN where nothing is."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _read(text) for name, text in row.items()} for row in csv.DictReader(file)]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is text, all others are numbers."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, rule, *rows))


def shown(value: float, digits: int = 3, ends: tuple[float, float] | None = None) -> str:
    """A number, with its interval where there is one."""
    text = "" if math.isnan(value) else f"{value:.{digits}f}"
    return text if ends is None else f"{text} ({ends[0]:.{digits}f} to {ends[1]:.{digits}f})"


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return value


def _read(text: str) -> Any:
    if not text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return text
