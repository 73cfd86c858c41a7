"""Memory: a check that synthetic records fit into it, and its return to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from unveil.errors import CallError
from unveil.files.path_checks import installed_memory

BYTES_PER_VALUE = 4
"""Least memory of a value: its code."""
MANY_RECORDS = 200_000


@contextmanager
def enough_memory(n: int, m: int, n_variables: int) -> Iterator[None]:
    """Raise an error, before or while the block runs, if this machine has no memory for the records.

    Parameters
    ----------
    n
        Number of records of each copy.
    m
        Number of copies.
    n_variables
        Number of variables.

    Raises
    ------
    CallError
        If they need more memory than there is.

    Examples
    --------
    >>> with enough_memory(1000, 5, 20):
    ...     pass
    """
    copies = f"{m} copies of " if m > 1 else ""
    refusal = CallError(
        f"{copies}{n} records of {n_variables} variables are more than this machine has memory for; "
        "ask for fewer (k, m)"
    )
    if n * m * n_variables * BYTES_PER_VALUE > installed_memory():
        raise refusal
    try:
        yield
    except MemoryError:
        raise refusal from None


def give_back(n: int = MANY_RECORDS) -> None:
    """Return freed memory to the system after much work, or work on many records, if the system allows it.

    The C library keeps memory that a thread freed for later allocations of the thread. In a large file these have other
    sizes, or come from another library, so that the memory would stay taken.

    Parameters
    ----------
    n
        Number of records; below 200 000 nothing is done, as it takes as long as a small fit. By default it is done.
    """
    if n < MANY_RECORDS:
        return
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # not the GNU C library
        return
