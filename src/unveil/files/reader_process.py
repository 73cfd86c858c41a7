"""Read files of statistical packages in another process.

The library that reads them is written in C, and some damaged files crash it. Here a crash ends the other process and
raises an error, and the program goes on. The process is kept for the next file, and ends with the program.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from unveil.files import reader_process_child as aside_child

if TYPE_CHECKING:
    import subprocess

CHILD = "import runpy, sys; sys.path[:] = {path!r}; runpy.run_path({file!r}, run_name='__main__')"
LARGE = 32 << 20
"""Bytes of a file; after a larger one the process ends, to free its memory."""


class BrokenReader(Exception):
    """The reading library failed, or its process crashed."""


def read_aside(reader: str, path: Path, **options: Any) -> tuple[dict[str, Any], Any]:
    """Read a file as pyreadstat does, with columns as a dict.

    Parameters
    ----------
    reader
        Name of pyreadstat's function.
    path
        The file.
    options
        Options of the function.

    Returns
    -------
    tuple of dict and metadata
        Columns by name, and metadata of the file.

    Raises
    ------
    BrokenReader, OverflowError, ValueError, MemoryError
        If the file cannot be read.
    """
    ask = _CHILD.answer if sys.executable else aside_child.answer  # embedded Python cannot start another
    # The other process stays in the folder where it started.
    kind, found = ask(reader, os.path.abspath(path), options)
    if kind != "read":
        raise next((error for error in aside_child.KNOWN if error.__name__ == kind), BrokenReader)(found)
    data, facts = found
    if path.stat().st_size > LARGE:
        _CHILD.end()
    return data, SimpleNamespace(**facts)


class _Child:
    """The other process, which starts with the first file."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0
        self.lock = threading.Lock()

    def answer(self, *asked: Any) -> tuple[str, Any]:
        """Return the answer of the other process."""
        with self.lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                pickle.dump(asked, process.stdin)
                process.stdin.flush()
                found: tuple[str, Any] = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError):
                status = process.wait()
                self._end()
                # The system ends a process that takes too much memory by this signal.
                if status == -getattr(signal, "SIGKILL", 9):
                    raise MemoryError from None
                raise BrokenReader("it is damaged in a way that ends the reading library") from None
            except BaseException:  # an interruption: the answer would be taken for that of the next file
                self._end()
                raise
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self.owner != os.getpid():  # a fork of this process must not share the other process
            self.process = None
        if self.process is None:
            import subprocess

            command = [sys.executable, "-c", CHILD.format(path=sys.path, file=aside_child.__file__)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self.owner = os.getpid()
        return self.process

    def end(self) -> None:
        """End the other process, if it runs."""
        with self.lock:
            self._end()

    def _end(self) -> None:
        if self.process is not None and self.owner == os.getpid():
            self.process.kill()
            self.process.communicate()
        self.process = None


_CHILD = _Child()
atexit.register(_CHILD.end)
