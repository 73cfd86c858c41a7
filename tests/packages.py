"""What is installed decides which files can be written."""

from importlib.util import find_spec

import pytest

STATISTICAL = (".sav", ".zsav", ".dta", ".xpt")


def skip_where_it_cannot_be_written(ending: str) -> None:
    """Files of statistical packages are written by pyreadstat from a frame of pandas or polars."""
    if f".{ending.lstrip('.')}" in STATISTICAL:
        pytest.importorskip("pyreadstat", reason="for files of statistical packages")
        if not (find_spec("pandas") or find_spec("polars")):
            pytest.skip("pyreadstat writes frames of pandas or polars, and neither is installed")
