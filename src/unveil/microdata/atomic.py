"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unveil.errors import FileError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path in the same folder that becomes ``path`` when the block ends without an error.

    Raises
    ------
    FileError
        If the file exists and ``overwrite`` is not set, or the folder cannot be written to.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileError(f"{target.name}: the file exists; name another, or replace it: overwrite=True, --overwrite")
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix="".join(target.suffixes[-2:]), dir=target.parent)
    except OSError as error:
        raise FileError(f"{target.name}: cannot be written ({error.strerror}); check the folder") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise FileError(f"{target.name}: cannot be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
