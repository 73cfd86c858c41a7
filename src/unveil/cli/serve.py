"""The verb `unveil serve`."""

from __future__ import annotations

import sys

from unveil.cli.options import Whole
from unveil.cli.screen import say
from unveil.errors import MissingPackageError


def serve(*, port: Whole = 0, browser: bool = True) -> None:
    """Open a page on this machine to choose files, correct what was read, ask, and read the report.

    Parameters
    ----------
    port
        Port of 127.0.0.1, the address of this machine alone; 0: any that is free.
    browser
        Whether the page is opened in the browser; its address is printed in any case.
    """
    try:
        from unveil.serve.server import serve as answer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise MissingPackageError("the page needs Starlette and uvicorn: pip install 'unveil[serve]'") from None

    def told(line: str) -> None:
        say(line)
        # Who started the program by another one waits for the address.
        sys.stdout.flush()

    answer(port, browser=browser, say=told)
