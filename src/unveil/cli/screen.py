"""Everything that the command line says goes through here, so that no name in a file commands the terminal."""

from __future__ import annotations

import sys

from unveil.printable import one_line, printable

_loudness = {"quiet": False}


def say(*parts: object, end: str = "\n") -> None:
    """Print a result on standard output."""
    print(*(printable(str(part)) for part in parts), sep="\n", end=end)


def be_quiet(quiet: bool) -> None:
    """Show results and errors alone, or remarks and progress too."""
    _loudness["quiet"] = quiet


def is_quiet() -> bool:
    """Whether results and errors are all that is shown."""
    return _loudness["quiet"]


def remark(text: object) -> None:
    """Print one line on standard error, unless nothing but results and errors is wanted."""
    if not is_quiet():
        complain(text)


def complain(text: object) -> None:
    """Print one line on standard error in any case."""
    print(one_line(str(text)), file=sys.stderr, flush=True)
