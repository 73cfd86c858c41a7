"""The table as Markdown, and its place in the page."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from statistics import linear_regression

from benchmarks.data import have_reference
from benchmarks.row import Measured, Row

PAGE = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEAD = (
    "| group | what is measured | data | how | ours, s | peer | peer, s | ours / peer | ours, MB | peer, MB |\n"
    "|---|---|---|---|---:|---|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Line:
    """A row and what both sides took; a text says why a side was not measured."""

    group: str
    row: Row
    ours: Measured | str
    peer: Measured | str


def drawn(line: Line) -> str:
    """One line of the table."""
    row, ours, peer = line.row, line.ours, line.peer
    both = isinstance(ours, Measured) and isinstance(peer, Measured)
    how = ours.how if isinstance(ours, Measured) else ""
    if isinstance(peer, Measured) and peer.how not in ("", how):
        how = f"{how}; peer {peer.how}"
    cells = [
        line.group, row.measured, row.data, how, _seconds(ours), row.peer_name, _seconds(peer),
        f"{ours.seconds / peer.seconds:.3g}" if both else "", _peak(ours), _peak(peer),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def growth(lines: Sequence[Line]) -> list[str]:
    """The exponents of rows that differ only in the number of records."""
    found = []
    for name in dict.fromkeys(line.row.measured for line in lines if line.row.n):
        series = [line for line in lines if line.row.measured == name]
        sides = [_exponent([(line.row.n, side(line)) for line in series]) for side in (_ours, _peer)]
        found.append(f"| {name} | {sides[0]} | {sides[1]} |")
    if not found:
        return []
    return ["Seconds grow as a power of the number of records; its exponent (slope of log seconds on log records):", "",
            "| series | ours | peer |", "|---|---:|---:|", *found]  # fmt: skip


def document(lines: Sequence[Line]) -> str:
    """Head, table and exponents."""
    return "\n".join([head(), "", HEAD, *map(drawn, lines), "", *growth(lines)])


def head() -> str:
    """The commit, the machine and the versions of peers."""
    git = ["git", "-C", str(PAGE.parent)]
    commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False).stdout
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    names = ("numpy", "pyarrow", "scikit-learn", "duckdb", "polars", "pandas")
    return (
        f"Commit {commit.strip() or 'unknown'}{' with changes' * bool(changed)}; {platform.system()} "
        f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, "
        f"{', '.join(f'{name} {_version(name)}' for name in names)}."
        + ("" if have_reference() else " Without the reference data: Adult and SD2011 are simulated files.")
    )


def replaced(page: str, table: str) -> str:
    """The page with another table between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}"


def _ours(line: Line) -> Measured | str:
    return line.ours


def _peer(line: Line) -> Measured | str:
    return line.peer


def _exponent(points: Sequence[tuple[int, Measured | str]]) -> str:
    known = [(log(n), log(side.seconds)) for n, side in points if isinstance(side, Measured)]
    return f"{linear_regression(*zip(*known, strict=True)).slope:.2f}" if len(known) > 1 else "not measured"


def _seconds(side: Measured | str) -> str:
    return f"{side.seconds:.3g}" if isinstance(side, Measured) else side


def _peak(side: Measured | str) -> str:
    return f"{side.megabytes:.0f}" if isinstance(side, Measured) and side.megabytes else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
