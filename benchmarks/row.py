"""One row of the table, and how its two sides are measured.

Every side of a row runs in a process of its own, so that its peak of memory is its own, and that of Arrow counts. The
modules here load large libraries inside functions only: a process that is started inherits the peak of its parent.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks.data import Data

CALLS = 5
PATIENCE = 3.0
"""CPU seconds after which a call is not repeated."""


@dataclass(frozen=True)
class Measured:
    """What one side of a row takes.

    Parameters
    ----------
    seconds
        CPU seconds of all threads.
    how
        Cold (a new process from its start), warm (the least of some calls) or a first call.
    megabytes
        Peak of resident memory, data included; 0 if it is not known.
    """

    seconds: float
    how: str
    megabytes: float = 0.0


Side = Callable[[Data], Callable[[], object] | Measured]
"""Gets the data ready, and gives the call that is timed, or what has been measured outside this process."""


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Parameters
    ----------
    measured, data
        What is measured, on which data.
    ours
        This package.
    peer, peer_name
        What it is compared with.
    packages
        Packages that the peer needs, or the environment variable that says where it is.
    n
        Number of records, for rows that differ only in it.
    large
        Whether it runs only with ``--large``.
    """

    measured: str
    data: str
    ours: Side
    peer: Side | None = None
    peer_name: str = ""
    packages: tuple[str, ...] = ()
    n: int = 0
    large: bool = False

    def peer_is_installed(self) -> bool:
        """Whether all packages of the peer are there."""
        return all(package in os.environ or find_spec(package) for package in self.packages)


def cpu(work: Callable[[], object]) -> tuple[float, int]:
    """Smallest CPU time of some calls, and their number; long calls are not repeated."""
    times: list[float] = []
    while len(times) < CALLS and sum(times) < PATIENCE:
        start = _spent()
        work()
        times.append(_spent() - start)
    return min(times), len(times)


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    return _megabytes(resource.getrusage(resource.RUSAGE_SELF))


def measure(side: Side, data: Data) -> Measured:
    """Get ready and measure."""
    work = side(data)
    if isinstance(work, Measured):
        return work
    seconds, calls = cpu(work)
    return Measured(seconds, f"warm, least of {calls}" if calls > 1 else "first call", peak_megabytes())


def cold(command: Sequence[str]) -> Measured:
    """The least of some runs of a command, from the start of its process to the end."""
    runs: list[tuple[float, float]] = []
    while len(runs) < CALLS and sum(seconds for seconds, _ in runs) < PATIENCE:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        with process.stderr as stream:
            message = stream.read()
        # unlike the figures of all children, those of one child are not mixed with what made its files
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: {message.decode().strip()[-200:]}")
        runs.append((used.ru_utime + used.ru_stime, _megabytes(used)))
    return Measured(
        min(seconds for seconds, _ in runs), f"cold, least of {len(runs)}", max(megabytes for _, megabytes in runs)
    )


def printed(command: Sequence[str], environment: dict[str, str]) -> Measured:
    """A command that prints the CPU seconds it took."""
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr.strip()[-200:])
    return Measured(float(run.stdout), "first call")


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _megabytes(used: resource.struct_rusage) -> float:
    """The peak is in kilobytes, on macOS in bytes."""
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
