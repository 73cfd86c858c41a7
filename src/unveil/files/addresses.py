"""Addresses of files that are on no disk of this machine: ``hdfs://office/people``, ``s3a://bucket/people``."""

from __future__ import annotations

import re
from pathlib import Path

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Address(type(Path())):  # type: ignore[misc]
    """An address in the place of a path: unlike a path it keeps all of its slashes.

    Examples
    --------
    >>> str(Address("hdfs://office:8020/census.parquet")), str(Address("file:///data"))
    ('hdfs://office:8020/census.parquet', 'file:///data')
    """

    _written: str

    def __new__(cls, written: str) -> Address:
        """Keep the text as it was written."""
        made: Address = super().__new__(cls, written)
        made._written = written
        return made

    def __str__(self) -> str:
        # what is derived from an address (its folder) is a path
        return str(getattr(self, "_written", "") or super().__str__())


def path_or_address(written: str) -> Path:
    """The path or address that a text names.

    Examples
    --------
    >>> type(path_or_address("data//people.csv")) is type(Path("people.csv")), path_or_address("s3a://b/p").name
    (True, 'p')
    """
    return Address(written) if _ADDRESS.match(written) else Path(written)


def numbered(path: Path, number: int) -> Path:
    """The path or address with a number before its ending.

    Examples
    --------
    >>> str(numbered(path_or_address("hdfs://o/flags.parquet"), 2)), str(numbered(Path("flags.csv"), 1))
    ('hdfs://o/flags_2.parquet', 'flags_1.csv')
    """
    stem = str(path).removesuffix(path.suffix)
    return path_or_address(f"{stem}_{number}{path.suffix}")
