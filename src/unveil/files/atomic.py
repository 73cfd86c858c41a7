"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unveil.errors import FileError
from unveil.files.path_checks import check_replaceable

OWNER_ONLY = 0o600


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False, confidential: bool = False) -> Iterator[Path]:
    """Give a temporary path in the same folder that becomes ``path`` when the block ends without an error.

    Until then only the owner can read it. If the block ends by an error, an interruption or a termination, the
    temporary file is removed.

    Parameters
    ----------
    path
        The file.
    overwrite
        Whether a file that exists may be replaced; it keeps its mode. Only regular files are replaced.
    confidential
        Whether only the owner may read the file afterwards.

    Raises
    ------
    FileError
        If the file exists and ``overwrite`` is not set, something else than a file exists, or the folder cannot be
        written to.
    """
    import secrets  # loads OpenSSL, which calls that write nothing do without

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
            with suppress(OSError):  # the first error is the one to report
                temporary.unlink(missing_ok=True)


def _make(temporary: Path, label: str) -> None:
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{label}: cannot be written ({reason}); check the folder") from None


def _move(temporary: Path, target: Path, overwrite: bool, confidential: bool) -> None:
    """Move the file to its place, unless another file is there by now; then set its mode."""
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
    """Let a termination signal, of a batch system or a closed terminal, end the block through its clean-up.

    The exit status of the program stays the same. A handler that the program has for a signal stays; nothing is done
    in threads other than the main thread.
    """
    ended = False

    def stop(number: int, *_: object) -> None:
        nonlocal ended
        if not ended:  # a second signal does not interrupt the clean-up
            ended = True
            raise SystemExit(128 + number)

    with handled(("SIGTERM", "SIGHUP"), stop, only_default=True):
        yield


@contextmanager
def handled(names: Iterable[str], handler: Callable[..., None], *, only_default: bool = False) -> Iterator[None]:
    """Handle signals in the block; nothing is done in threads other than the main thread, which get no signals.

    Parameters
    ----------
    names
        Names of the signals; those that the system does not have are ignored.
    handler
        Function of the number of a signal and its frame.
    only_default
        Whether a signal for which the program has a handler keeps it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    known = [getattr(signal, name) for name in names if is_main and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in known}
    replaced = [number for number in known if not only_default or before[number] is signal.SIG_DFL]
    try:
        for number in replaced:
            signal.signal(number, handler)
        yield
    finally:
        for number in replaced:
            signal.signal(number, before[number])
