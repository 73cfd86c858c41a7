"""Everything that the command line says goes through here, so that no name in a file commands the terminal."""

from __future__ import annotations

import sys

from unveil.printable import one_line, printable


def say(*parts: object, end: str = "\n") -> None:
    """Print a result on standard output."""
    print(*(printable(str(part)) for part in parts), sep="\n", end=end)


def remark(text: object) -> None:
    """Print one line on standard error."""
    print(one_line(str(text)), file=sys.stderr, flush=True)
