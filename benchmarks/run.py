"""All groups of rows, measured one by one."""

from __future__ import annotations

import resource
import signal
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks import intruders, posterior, rapid, reading, starts, synthesis, tables, utility
from benchmarks.data import Data
from benchmarks.page import Line, drawn
from benchmarks.row import Measured, Row, Side, measure

MODULES = (tables, reading, starts, synthesis, posterior, intruders, rapid, utility)
RECORDS_PER_SECOND = 200_000
"""A side that counts fewer is ended."""
GROUPS = {module.__name__.rpartition(".")[2]: module.ROWS for module in MODULES}


def side_of(group: str, place: int, ours: bool) -> Side | None:
    """One side of a row, by its place: a new process cannot be handed the function itself."""
    row = GROUPS[group][place]
    return row.ours if ours else row.peer


def work(group: str, place: int, ours: bool, folder: Path, limit: int, answer: Connection) -> None:
    """Measure one side of a row in this process, and send what was found."""
    side = side_of(group, place, ours)
    assert side is not None
    limit = limit_of(GROUPS[group][place], limit)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    try:
        answer.send(measure(side, Data(folder)))
    except Exception as error:
        answer.send(f"failed: {type(error).__name__} {error}".replace("|", "/").replace("\n", " "))


def limit_of(row: Row, limit: int) -> int:
    """CPU seconds after which a side is ended: more than the limit where records are very many."""
    return max(limit, row.n // RECORDS_PER_SECOND)


def apart(group: str, place: int, ours: bool, folder: Path, limit: int) -> Measured | str:
    """Measure one side of a row in a process of its own."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(group, place, ours, folder, limit, sender))
    process.start()
    sender.close()
    try:
        found: Measured | str = receiver.recv()
    except EOFError:
        found = ""
    process.join()
    if process.exitcode == -signal.SIGXCPU:
        return f"over {limit_of(GROUPS[group][place], limit)}"
    return found or f"failed: exit code {process.exitcode}"


def lines_of(group: str, folder: Path, large: bool, limit: int) -> list[Line]:
    """All rows of a group, measured and printed one by one."""
    lines = []
    for place, row in enumerate(GROUPS[group]):
        if row.large and not large:
            line = Line(group, row, "not run (--large)", "not run (--large)")
        else:
            ours = apart(group, place, True, folder, limit)
            line = Line(group, row, ours, peer_of(row, group, place, folder, limit))
        print(drawn(line), flush=True)
        lines.append(line)
    return lines


def peer_of(row: Row, group: str, place: int, folder: Path, limit: int) -> Measured | str:
    """The other side, or why there is none."""
    if row.peer is None:
        return ""
    return apart(group, place, False, folder, limit) if row.peer_is_installed() else "not installed"
