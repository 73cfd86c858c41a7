"""The command line: one verb per function, options named like its parameters; no logic of its own."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Any

from unveil.errors import is_of_memory

__all__ = ["app", "main"]

LEAST_MEMORY = 400 << 20
"""Bytes of address space below which the libraries end the program, some without a word, while they are loaded."""
INTERRUPTED = 130
"""Exit status of a call that was ended by Ctrl-C."""
YOUNGEST = 10_000
"""New objects after which Python looks whether some of them hold only each other."""
ROOMY = 4 << 30
"""Below, one thread does the work: each takes its part, and a library whose threads have none ends the program."""


def main() -> None:
    """Run the command line; exit 0, 1 (cannot be measured), 2 (wrong call), 130 (interrupted), or as a verb says."""
    # Libraries make a hundred thousand objects that stay; by default Python looks for what it can give back, among the
    # youngest, at every 700th.
    gc.set_threshold(max(YOUNGEST, gc.get_threshold()[0]))
    # At the end the system takes all memory back: what is left needs no search for objects that hold each other.
    atexit.register(gc.freeze)
    try:
        _load_and_run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _load_and_run() -> None:
    """Load the verbs, unless there is not enough memory for them, and run the one that was called."""
    # Read when OpenBLAS is loaded. A thread that has nothing to multiply sleeps; by default it keeps a processor busy
    # for longer than many a verb computes.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    limit = _limit()
    if limit < LEAST_MEMORY:
        sys.exit(f"unveil: {limit >> 20} MB of memory are allowed here (ulimit -v), and {LEAST_MEMORY >> 20} MB are "
                 "the least to begin with; raise the limit")  # fmt: skip
    if limit < ROOMY:
        # Read when NumPy, its OpenBLAS, and Arrow are loaded.
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS"):
            os.environ.setdefault(name, "1")
    try:
        from unveil.cli.run import run
    except (ImportError, MemoryError, OSError) as error:
        # Not a broken installation: the same loads where there is more.
        if not is_of_memory(error):
            raise
        sys.exit("unveil: there is not enough memory to load the program; use a larger machine, or raise the limit")
    run()


def _limit() -> int:
    """Bytes of address space that this process may have."""
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from unveil.cli.run import app

    return app
