"""Spark DataFrames: where an engine counts, their records stay; what needs records brings all of them here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pyarrow as pa

from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilError
from unveil.files.arrays import check_names, normalise
from unveil.files.source import Source

_PYTHONS = (
    "the workers of Spark cannot run unveil ({}): give them the Python and the packages of this process, "
    "unveil among them (pip install 'unveil[spark]' on each machine, or spark.archives)"
)
_MEMORY = (
    "Spark ran out of memory ({}): give it more (spark.executor.memory, spark.executor.memoryOverhead, "
    "spark.driver.memory, spark.driver.maxResultSize), more and smaller parts (spark.sql.shuffle.partitions), or name "
    "fewer keys"
)
_LOST = "the connection to Spark is lost ({}): start a session again and open the tables anew"
_FILE = "Spark cannot read a file of the table ({}): mend it, and open the table anew"
_EXISTS = "the file exists; name another, or replace it: overwrite=True, --overwrite"
_TABLE = "Spark does not find what is asked for ({}): see which tables there are with spark.catalog.listTables()"
_KINDS: tuple[tuple[str, type[UnveilError], str], ...] = (
    (r"No module named '[^']*'|\[PYTHON_VERSION_MISMATCH\]", MissingPackageError, _PYTHONS),
    (r"\[PACKAGE_NOT_INSTALLED\][^.]*", MissingPackageError, "a package of unveil[spark] is missing ({}): install it"),
    (r"OutOfMemoryError[^\n]*|\bMemoryError\b|exit code 137|code: 137|maxResultSize|Cannot allocate memory",
     DataError, _MEMORY),
    (r"\[(?:TABLE_OR_VIEW|PATH|SCHEMA)_(?:DOES_NOT_EXIST|NOT_FOUND)\][^\n]*?(?=\. |\n|$)", FileError, _TABLE),
    (r"\[PATH_ALREADY_EXISTS\][^\n]*?(?=\. |\n|$)", FileError, _EXISTS),
    (r"\[FAILED_READ_FILE[^\n]*", FileError, _FILE),
    (r"stopped SparkContext|SparkContext was shut down|SparkContext or SparkSession should be created"
     r"|Answer from Java side is empty|Error while sending or receiving|An error occurred while trying to connect"
     r"|Connection re(?:fused|set)|RETRIES_EXCEEDED|UNAVAILABLE|SESSION_CLOSED|NO_ACTIVE_SESSION", DataError, _LOST),
    (r"ExecutorLostFailure[^\n]*|exited unexpectedly[^\n]*|worker (?:crashed|died)[^\n]*", DataError, _MEMORY),
)  # fmt: skip
"""What the text of an error holds, and what is raised in its place."""
_MOST_VALUES = 1 << 30
"""Most values that are brought here: 8 GiB of numbers."""
_LONGEST = 300
"""Most characters of a message of Spark that are told."""
_OWN = {kind.__name__: kind for kind in (CallError, DataError)}
"""Errors of the package itself that a worker may raise."""


def is_spark_frame(data: object) -> bool:
    """Whether the object is a Spark DataFrame, of a session in this process or of Spark Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "mapInArrow")


def open_spark_frame(frame: Any, label: str) -> Source:
    """A Spark DataFrame as a source.

    Records are counted; no column is read before something asks for its records. Then all columns are brought here
    at once: Spark does not promise that the records of two readings have the same order.

    Raises
    ------
    DataError
        If column names are repeated or blank, or Spark cannot read the records.
    FileError
        If the table does not exist.
    """
    with asking_spark(label):
        names = check_names(list(frame.columns), label)
        num_rows = frame.count()

    @cache
    def table() -> pa.Table:
        if num_rows * len(names) > _MOST_VALUES:
            raise DataError(
                f"{label}: this needs the records in this process, and there are {num_rows} with {len(names)} columns; "
                "measure a sample (frame.sample(0.01, seed=1)) or some columns (frame.select), or write the DataFrame "
                "as Parquet, of which only the columns that are asked for are read"
            )
        with asking_spark(label):
            found = by_position(frame).toArrow()
        if found.num_rows != num_rows:
            raise changed(label)
        return found

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(in_utc(table().column(names.index(name))), name, label)

    return Source(label, names, num_rows, fetch, distributed=frame)


def by_position(frame: Any) -> Any:
    """The frame with its columns named by their position: in Spark 'Sex' and 'sex' are one name, and dots have a sense.

    Examples
    --------
    >>> class Frame:
    ...     columns = ["a.b", "Sex", "sex"]
    ...     def toDF(self, *names):
    ...         return names
    >>> by_position(Frame())
    ('c0', 'c1', 'c2')
    """
    return frame.toDF(*(f"c{position}" for position in range(len(frame.columns))))


def in_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column; times with a zone in UTC, since Spark names the zone of its session and not that of the file.

    Examples
    --------
    >>> in_utc(pa.chunked_array([[0]], pa.timestamp("us", "Europe/Vienna"))).type
    TimestampType(timestamp[us, tz=UTC])
    """
    kind = column.type
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return column
    return column.cast(pa.timestamp(kind.unit, "UTC"))


def changed(label: str) -> DataError:
    """The error where two readings of a table differ."""
    return DataError(
        f"{label}: the records were not the same when they were read again; write the DataFrame to a table first, or "
        "keep it (cache), and take no random numbers in it"
    )


@contextmanager
def asking_spark(label: str) -> Iterator[None]:
    """Turn what Spark raises into one line that says what to do.

    Parameters
    ----------
    label
        The table that is read.
    """
    try:
        yield
    except (UnveilError, KeyboardInterrupt):
        raise
    except Exception as error:
        root = type(error).__module__.split(".")[0]
        if root not in ("pyspark", "py4j", "grpc") and not isinstance(error, OSError | EOFError):
            raise
        raise one_line_of(error, label) from None


def one_line_of(error: BaseException, label: str) -> UnveilError:
    """What to tell of an error of Spark.

    Examples
    --------
    >>> print(one_line_of(OSError("Connection refused"), "the original"))  # doctest: +ELLIPSIS
    the original: the connection to Spark is lost (Connection refused): start a session again and ...
    """
    text = f"{type(error).__name__}: {error}"
    own = re.search(r"unveil\.errors\.(\w+): (.+)", text)
    if own is not None and own[1] in _OWN:
        return _OWN[own[1]](own[2].strip())
    for pattern, kind, told in _KINDS:
        found = re.search(pattern, text)
        if found is not None:
            return kind(f"{label}: {told.format(found[0].strip()[:_LONGEST])}")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told_last = (line for line in reversed(lines) if re.match(r"\w+(\.\w+)*(Error|Exception): ", line))
    reason = next((line for line in lines if re.search(r"\[[A-Z_.]{5,}\] ", line)), None) or next(told_last, lines[0])
    return DataError(f"{label}: Spark cannot read or count the records ({reason[:_LONGEST]})")
