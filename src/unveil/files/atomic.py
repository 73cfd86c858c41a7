"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unveil.errors import FileError
from unveil.files.path_checks import check_replaceable

OWNER_ONLY = 0o600


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False, confidential: bool = False) -> Iterator[Path]:
    """A temporary path in the same folder that becomes ``path`` when the block ends without an error.

    Until then only the owner can read it. However the block ends, by an error, an interruption or a termination,
    nothing is left of it.

    Parameters
    ----------
    path
        The file.
    overwrite
        Whether a file that exists may be replaced; it keeps its mode. What is no regular file is never replaced.
    confidential
        Whether only the owner may read the file afterwards.

    Raises
    ------
    FileError
        If the file exists and ``overwrite`` is not set, something else than a file exists, or the folder cannot be
        written to.
    """
    target = Path(path)
    _standing(target, overwrite)
    # The name is known before the file exists, so that no interruption can come between.
    temporary = target.with_name(f".{secrets.token_hex(8)}{''.join(target.suffixes[-2:])}")
    with tidy_when_ended():
        try:
            _make(temporary, target.name)
            yield temporary
            _move(temporary, target, overwrite, confidential)
        except OSError as error:
            raise FileError(f"{target.name}: cannot be written ({error.strerror or error})") from None
        finally:
            with suppress(OSError):  # what went wrong before is what is told (a folder that only can be read)
                temporary.unlink(missing_ok=True)


def _make(temporary: Path, label: str) -> None:
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{label}: cannot be written ({reason}); check the folder") from None


def _move(temporary: Path, target: Path, overwrite: bool, confidential: bool) -> None:
    """To its place, unless something has come to be there; who may read it is said afterwards."""
    old = _standing(target, overwrite)
    mode = stat.S_IMODE(old.st_mode) if old is not None and stat.S_ISREG(old.st_mode) else 0o666 & ~_umask()
    os.replace(temporary, target)
    with suppress(OSError):  # a file system without modes
        target.chmod(OWNER_ONLY if confidential else mode)


def _standing(target: Path, overwrite: bool) -> os.stat_result | None:
    """The file that will be replaced, or None."""
    old = check_replaceable(target, target.name)
    if old is not None and not overwrite:
        raise FileError(f"{target.name}: the file exists; name another, or replace it: overwrite=True, --overwrite")
    return old


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def tidy_when_ended() -> Iterator[None]:
    """Let a termination (as batch systems and closed terminals send it) end the block through its clean-up.

    The program ends with the status that it would have had. Where it has a handler of its own for a signal, that one
    stays; threads other than the first are not asked.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = False

    def stop(number: int, *_: object) -> None:
        nonlocal ended
        if not ended:  # the clean-up itself is not ended again
            ended = True
            raise SystemExit(128 + number)

    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in known if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in numbers:
            signal.signal(number, stop)
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
