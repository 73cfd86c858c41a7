"""The server: on this machine alone, for as long as the program runs."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from unveil.errors import CallError
from unveil.files.atomic import OWNER_ONLY, tidy_when_ended
from unveil.serve.desk import Desk
from unveil.serve.guard import Guard
from unveil.serve.pages import Pages

HERE = "127.0.0.1"
PATIENCE = 2
"""Seconds that a browser gets to take the rest of an answer when the program ends."""
OPENING = '<!DOCTYPE html><meta charset="utf-8"><title>unveil</title><meta http-equiv="refresh" content="0; url={}">'


def serve(port: int = 0, *, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Answer a browser on this machine until Ctrl-C, a termination signal, or the end of the terminal.

    Parameters
    ----------
    port
        Port on 127.0.0.1; 0 for any that is free.
    browser
        Whether the page is opened in a browser.
    say
        Prints a line.

    Raises
    ------
    CallError
        If the port is taken, or is none.
    """
    with private_folder() as folder, listening(port) as found:
        desk = Desk(folder)
        guard = Guard(Pages(desk).app(), f"{HERE}:{found.getsockname()[1]}")
        say(f"The page is at {guard.address}")
        say("Only this machine reaches it, and only who knows this address. Ctrl-C ends it.")
        if browser:
            _open(folder, guard.address)
        try:
            _server(guard).run(sockets=[found])
        except KeyboardInterrupt:
            pass
        finally:
            desk.close()
            say(farewell(desk))


def farewell(desk: Desk) -> str:
    """What is kept when the program ends, in a sentence."""
    run = desk.run
    gone = "ended; copies of files are removed, files that were named by their paths are as they were"
    if run is None or not run.documents:
        return f"{gone}, and there was no report"
    if run.saved:
        return f"{gone}; kept, where the browser saved it: {', '.join(sorted(run.saved))}"
    return f"{gone}; the report was not saved and is gone"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder of the owner alone, which is removed when the block ends, also by a termination signal."""
    with tidy_when_ended():
        folder = Path(tempfile.mkdtemp(prefix="unveil-serve-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket of this machine that listens on a port.

    Raises
    ------
    CallError
        If the port is taken, or is none.
    """
    if not 0 <= port < 1 << 16:
        raise CallError(f"port must be a whole number from 0 to 65535, not {port}")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as found:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HERE, port))
        except OSError as error:
            raise CallError(
                f"port {port} cannot be used ({error.strerror}); name another with --port, or leave it out"
            ) from None
        found.listen()
        yield found


def _server(app: Any) -> uvicorn.Server:
    # Nothing is logged: addresses hold names of files, errors may hold values of records.
    return uvicorn.Server(
        uvicorn.Config(
            app, access_log=False, log_config=None, log_level="critical", server_header=False, proxy_headers=False,
            lifespan="off", ws="none", http="h11", loop="asyncio", timeout_graceful_shutdown=PATIENCE,
        )
    )  # fmt: skip


def _open(folder: Path, address: str) -> None:
    """Open the page by a file of the owner: other users see the commands that are run, and addresses in them."""
    path = folder / "open.html"
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY), "w", encoding="utf-8") as file:
        file.write(OPENING.format(address))
    webbrowser.open(path.as_uri())
