"""What the examples that redo a paper share: where their data are, their results, and printed beside computed numbers.

A paper has a folder with ``__main__.py`` (computes, minutes at the most, and writes ``results/*.csv``), ``printed.csv``
(numbers as the paper prints them) and ``gallery.py`` (draws the figures and writes the page from the results, in
seconds; the site does it whenever it is built).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import unveil

ROOT = Path(__file__).parents[1]
DIGITS = 8
ERRORS = 3
"""Standard errors by which two simulations may differ."""

Row = Mapping[str, Any]
Cell = tuple[str, str, str]
"""Item of the paper, row and column of a number."""


# ------------------------------------------------------------------------------------------ commands and their data
def arguments(doc: str | None, *more: tuple[str, dict[str, Any]]) -> argparse.Namespace:
    """What the command of a paper was asked for.

    ``data`` is a folder with the paper's files; by default that of the reference data, if it is there.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=reference_data(), help="folder of the paper's files")
    parser.add_argument("--results", type=Path, help="folder for the results (default: that of the example)")
    for name, options in more:
        parser.add_argument(name, **options)
    return parser.parse_args()


def reference_data() -> Path | None:
    """The folder of the reference data, or None on machines that do not have it."""
    folder = Path(os.environ.get("UNVEIL_SHARED") or ROOT.parent / "shared") / "data"
    return folder if folder.is_dir() else None


def found(folder: Path | None, *names: str) -> bool:
    """Whether a folder has all these files; if not, one line says what is missing."""
    missing = [name for name in names if folder is None or file_of(folder, name) is None]
    if missing:
        print(f"left out: {', '.join(missing)} not in {folder or 'any folder (name one)'}")
    return not missing


def file_of(folder: Path, name: str) -> Path | None:
    """The CSV file of a data set, plain or compressed."""
    return next((path for end in (".csv", ".csv.gz") if (path := folder / f"{name}{end}").exists()), None)


def data_file(folder: Path, name: str) -> str:
    """The path of the CSV file of a data set that is there."""
    path = file_of(folder, name)
    if path is None:
        raise FileNotFoundError(f"no {name}.csv and no {name}.csv.gz in {folder}")
    return str(path)


# ---------------------------------------------------------------------------------------------------------- results
def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows with the same columns; what is not defined is empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({name: _written(value) for name, value in row.items()} for row in rows)


def read_rows(path: Path, texts: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Rows as they were written: numbers as numbers, and NaN where nothing is; ``texts`` names columns of texts."""
    kept = frozenset(texts)
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: v if k in kept else _read(v) for k, v in row.items()} for row in csv.DictReader(file)]


def write_made(paper: str, results: Path, data: Path | None) -> None:
    """Write with which command, and with which state of the package, results were made."""
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%H", "--", "src"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    made = {
        "command": f"python -m examples.{paper}",
        "data": "the paper's files" if data else "simulated data",
        "unveil": unveil.__version__,
        "commit": commit.stdout.strip() or None,
    }
    (results / "made.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def made(results: Path) -> str:
    """The sentence that says how results were made."""
    how = json.loads((results / "made.json").read_text(encoding="utf-8"))
    at = f", commit {how['commit'][:12]}" if how["commit"] else ""
    return f"Computed by `{how['command']}` (unveil {how['unveil']}{at}) from {how['data']}."


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


# ---------------------------------------------------------------------------------------- printed beside computed
@dataclass(frozen=True)
class Computed:
    """A number of ours, with the standard error of its difference to the printed one where both are simulated."""

    value: float
    error: float = 0.0


def compare(printed: Path, computed: Mapping[Cell, Computed]) -> list[dict[str, Any]]:
    """Every number that a paper prints beside ours.

    ``verdict`` is "equal" where ours, rounded to as many digits, is the printed number; "within simulation error"
    where both were drawn and differ by three standard errors at most; "not computed" where there is none of ours; else
    "different".
    """
    rows = []
    for row in read_rows(printed, ("item", "row", "column", "printed", "reason")):
        beside = {name: row[name] for name in ("item", "row", "column", "printed")}
        ours = computed.get((row["item"], row["row"], row["column"]))
        if ours is None:
            reason = row["reason"] or "the data are not there"
            rows.append(beside | {"computed": "", "error": math.nan, "verdict": "not computed", "reason": reason})
            continue
        digits = len(row["printed"].partition(".")[2])
        text = f"{ours.value:.{digits}f}"
        difference = abs(ours.value - float(row["printed"]))
        verdict = "equal" if float(text) == float(row["printed"]) else "different"
        if verdict == "different" and ours.error and difference <= ERRORS * ours.error:
            verdict = "within simulation error"
        reason = "" if verdict == "equal" else row["reason"]
        error = ours.error or math.nan
        rows.append(beside | {"computed": text, "error": error, "verdict": verdict, "reason": reason})
    return rows


def read_compared(results: Path) -> list[dict[str, Any]]:
    """Printed beside computed numbers, as they were written."""
    return read_rows(results / "compared.csv", ("item", "row", "column", "printed", "computed", "verdict", "reason"))


def compared_tables(rows: Sequence[Row], level: int = 3) -> str:
    """Printed and computed numbers as tables, one for each item, with the reasons of differences below."""
    parts = []
    for item in dict.fromkeys(row["item"] for row in rows):
        parts += [f"{'#' * level} {item}", compared_table([row for row in rows if row["item"] == item])]
    return "\n\n".join(parts)


def compared_table(rows: Sequence[Row]) -> str:
    """One table of printed and computed numbers; cells that are not equal are bold, and their reasons stand below."""
    columns = list(dict.fromkeys(row["column"] for row in rows))
    cells = {(row["row"], row["column"]): _cell(row) for row in rows}
    lines = [
        [name, *(cells.get((name, column), "") for column in columns)] for name in dict.fromkeys(r["row"] for r in rows)
    ]
    reasons = dict.fromkeys(f"- {row['verdict']}: {row['reason']}" for row in rows if row["verdict"] != "equal")
    text = markdown(["printed / computed", *columns], lines)
    return f"{text}\n{count(rows)}" + "".join(f"\n{reason}" for reason in ["", *reasons] if reasons)


def count(rows: Sequence[Row]) -> str:
    """How many numbers are equal, within simulation error, different, and not computed."""
    verdicts = ("equal", "within simulation error", "different", "not computed")
    numbers = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in verdicts}
    said = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    return f"{len(rows)} numbers: {said}."


def _cell(row: Row) -> str:
    text = f"{row['printed']} / {row['computed']}"
    return text if row["verdict"] == "equal" else f"**{text}**"


def markdown(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table; the first column is text, all others are numbers."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in (header, rule, *rows))


# ------------------------------------------------------------------------------------------------------------ pages
def papers() -> list[str]:
    """Names of the papers that are redone."""
    return sorted(path.parent.name for path in (ROOT / "examples").glob("*/gallery.py"))


def drawn(paper: str, results: Path | None = None) -> dict[str, bytes]:
    """All files of the gallery of a paper: the page, and its figures as SVG."""
    from examples import drawing

    gallery = import_module(f"examples.{paper}.gallery")
    results = results or ROOT / "examples" / paper / "results"
    files = {f"{name}.svg": drawing.svg(figure, paper) for name, figure in gallery.figures(results).items()}
    return {"gallery.md": gallery.page(results).encode(), **files}


def write_gallery(paper: str, results: Path) -> None:
    """Draw the gallery of a paper into the folder of what is built, and say where it is."""
    folder = ROOT / "build" / "examples" / paper
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in drawn(paper, results).items():
        (folder / name).write_bytes(content)
    print(f"results in {results}, page and figures in {folder}")
