"""R data files, by way of the optional package pyreadr."""

from __future__ import annotations

import importlib
from pathlib import Path

from unveil.errors import FileError, MissingPackageError
from unveil.microdata.arrays import quoted_list
from unveil.microdata.frames import open_pandas
from unveil.microdata.source import Source

__all__ = ["read_r"]


def read_r(path: Path, label: str) -> Source:
    """Read the one data frame of an R file (.rds, .rda, .RData).

    Factors keep their levels in their order. Whether R calls that order meaningful is not known to pyreadr:
    declare an ordered factor in a schema.

    Raises
    ------
    MissingPackageError
        If pyreadr or pandas is not installed.
    FileError
        If the file cannot be read or does not hold exactly one data frame.
    """
    try:
        importlib.import_module("pandas")
        pyreadr = importlib.import_module("pyreadr")
    except ImportError:
        raise MissingPackageError(
            f"{label}: reading R files needs pyreadr and pandas; pip install 'unveil[files]'"
        ) from None
    try:
        objects = pyreadr.read_r(str(path))
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{label}: not an R file with a data frame ({reason}); save one data frame") from None
    if len(objects) != 1:
        what = quoted_list(str(name) for name in objects) if objects else "no data frame"
        raise FileError(f"{label}: holds {what}; save exactly one data frame, for instance with saveRDS()")
    frame = next(iter(objects.values()))
    return open_pandas(frame, label, flavour="arrow")
