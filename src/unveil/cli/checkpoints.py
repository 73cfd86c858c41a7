"""Where verbs keep what is finished, and what is said of it where a call is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.groups import OUTPUT
from unveil.cli.screen import remark

CheckpointFile = Annotated[
    Path | None,
    Parameter(
        help="A file that keeps what is finished: an interrupted call, repeated, continues where it stopped. It is "
        "removed at the end, and confidential.",
        group=OUTPUT,
    ),
]
CheckpointFolder = Annotated[
    Path | None,
    Parameter(
        help="A folder that keeps what is finished: an interrupted call, repeated, continues where it stopped. It "
        "holds no records, and is confidential.",
        group=OUTPUT,
    ),
]


def say_interrupted(checkpoint: Path | None) -> None:
    """Say what an interrupted call has kept, and how to go on."""
    if checkpoint is None:
        remark("interrupted: a call with --checkpoint keeps what is finished, and can be repeated")
    else:
        remark(f"interrupted: what was finished is kept in {checkpoint}; repeat the call, and it goes on from there")


@contextmanager
def resumable(checkpoint: Path | None) -> Iterator[None]:
    """Say what is kept where the work inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        say_interrupted(checkpoint)
        raise
