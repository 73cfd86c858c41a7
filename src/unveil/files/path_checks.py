"""Checks of paths, and errors of reading: only regular files are read, and only regular files are replaced."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from unveil.errors import FileError

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

STANDARD = {1: "standard output", 2: "standard error"}


def check_readable(path: str | Path, label: str) -> os.stat_result:
    """Raise FileError unless the path is a regular file: a device has no end, and a pipe can be read only once.

    Parameters
    ----------
    path
        Path of the file.
    label
        Its name in messages.

    Returns
    -------
    os.stat_result
        State of the file.

    Raises
    ------
    FileError
        If there is no regular file.
    """
    try:
        state = os.stat(path)
    except FileNotFoundError:
        raise FileError(f"{label}: no such file in {Path(path).parent.absolute()}") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{label}: cannot be read ({_reason(error)})") from None
    if not stat.S_ISREG(state.st_mode):
        advice = "name the file itself" if stat.S_ISDIR(state.st_mode) else "save its content to a file first"
        raise FileError(f"{label}: {_kind(state.st_mode)}, not a file; {advice}")
    return state


def check_replaceable(path: str | Path, label: str) -> os.stat_result | None:
    """Raise FileError if the path holds anything but a regular file: a device, pipe, socket, folder, or a link.

    Links are not replaced, so that every name leads to the same file as before; a link that leads nowhere may be.

    Parameters
    ----------
    path
        Path of the file to write.
    label
        Its name in messages.

    Returns
    -------
    os.stat_result or None
        State of the file that will be replaced; None if there is none.

    Raises
    ------
    FileError
        If the path cannot be replaced, or no file can have the name.
    """
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise FileError(f"{label}: cannot be written ({_reason(error)})") from None
    if stat.S_ISLNK(state.st_mode):
        if not os.path.exists(path):
            return state
        raise FileError(f"{label}: a link, which is never replaced; name the file itself: {os.path.realpath(path)}")
    if not stat.S_ISREG(state.st_mode):
        raise FileError(f"{label}: {_kind(state.st_mode)}, which is never replaced; name a file")
    for number, stream in STANDARD.items():
        if _is_stream(state, number):
            raise FileError(f"{label}: {stream} goes to this file; name another")
    return state


def no_memory(label: str) -> FileError:
    """Return the error for a file that is larger than the memory."""
    return FileError(
        f"{label}: there is not enough memory to read the file; name fewer columns, or use a larger machine"
    )


def reason_of(error: BaseException) -> str:
    """Return the text of an error on one line; its class where it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def installed_memory() -> int:
    """Return the bytes of memory that this process can use; 2^50 if the system does not tell."""
    try:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        installed = 1 << 50
    if resource is None:
        return installed
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return installed if limit == resource.RLIM_INFINITY else min(installed, limit)


def _is_stream(state: os.stat_result, number: int) -> bool:
    try:
        return os.path.samestat(state, os.fstat(number))
    except OSError:
        return False


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
