"""Which engine counts the records of some files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Literal, get_args

from unveil.checks import check_choice
from unveil.engines.engine import Engine
from unveil.engines.streamed import MEMORY, Streamed
from unveil.errors import CallError, MissingPackageError
from unveil.files.source import Source

EngineName = Literal["auto", "memory", "files", "spark"]
_MANY = 1_000_000
"""Number of records of all files together from which on they are counted batch by batch."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(|[KMGT]I?)B?\s*", re.IGNORECASE)
_LEAST = 16 << 20


def engine_for(
    files: Sequence[Source], name: EngineName, memory_limit: int | str | None, temp_dir: str | os.PathLike[str] | None
) -> Engine | None:
    """The engine that was asked for, or that fits the files; None where columns are coded in memory.

    Raises
    ------
    CallError
        If there is no such engine, it cannot read the files, or a limit is none.
    MissingPackageError
        If the engine needs a package that is not installed.
    """
    check_choice("engine", name, get_args(EngineName))
    if name == "spark" or (name == "auto" and any(file.distributed is not None for file in files)):
        return _spark(files, memory_limit, temp_dir)
    limit = MEMORY if memory_limit is None else bytes_of(memory_limit)
    folder = None if temp_dir is None else _folder(temp_dir)
    whole = [file.label for file in files if file.batches is None]
    if name == "memory" or (name == "auto" and (whole or sum(file.num_rows for file in files) < _MANY)):
        return None
    return Streamed(files, limit, folder)


def _folder(path: str | os.PathLike[str]) -> str:
    """The folder for what does not fit, looked at before anything is counted."""
    if not os.path.isdir(path):
        raise CallError(f"temp_dir: there is no folder {os.fspath(path)!r}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise CallError(f"temp_dir: nothing may be written into {os.fspath(path)!r}; name another folder")
    return os.fspath(path)


def _spark(files: Sequence[Source], memory_limit: int | str | None, temp_dir: object) -> Engine:
    own = [file for file in files if file.distributed is None]
    if own and len(own) == len(files) and find_spec("pyspark") is None:
        raise MissingPackageError("engine='spark' needs the package pyspark: pip install 'unveil[spark]'")
    if own:
        raise CallError(
            f"{own[0].label} is no Spark DataFrame, and Spark counts all files or none: open every file with Spark "
            "(spark.read, spark.table), or take engine='memory'"
        )
    if memory_limit is not None or temp_dir is not None:
        raise CallError(
            "memory_limit and temp_dir are those of this process; Spark has its own (spark.executor.memory, "
            "spark.local.dir)"
        )
    from unveil.engines.spark import Spark

    return Spark(files)


def bytes_of(size: int | str) -> int:
    """A size in bytes.

    Raises
    ------
    CallError
        If it is none, or too small to count in.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("512 MiB"), bytes_of(10**9)
    (2000000000, 536870912, 1000000000)
    """
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is not None:
        n = int(float(found[1]) * _UNITS[found[2].upper()])
    elif isinstance(size, int) and not isinstance(size, bool):
        n = size
    else:
        raise CallError(f"memory_limit is a number of bytes, or a text such as '2GB', not {size!r}")
    if n < _LEAST:
        raise CallError(f"memory_limit must be at least {_LEAST >> 20} MiB, not {size!r}")
    return n
