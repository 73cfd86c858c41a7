"""The verbs, and how their errors become one line and an exit status."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, MissingArgumentError

from unveil.cli.assess import assess, compare
from unveil.cli.files import demo, schema
from unveil.cli.membership import membership
from unveil.cli.posterior import posterior
from unveil.cli.rapid import rapid
from unveil.cli.report import report
from unveil.cli.screen import remark
from unveil.cli.synthesize import synthesize
from unveil.cli.tables import attribute, identity, keysets, structure
from unveil.cli.utility import utility
from unveil.errors import CallError, UnveilError, UnveilWarning
from unveil.files.path_checks import is_of_memory
from unveil.printable import one_line

CANNOT_BE_MEASURED, WRONG_CALL, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141

app = App(
    name="unveil",
    help="How much a synthetic or anonymised file gives away about the real people behind it.",
    help_format="plaintext",
)
for verb in (
    assess,
    identity,
    attribute,
    structure,
    keysets,
    rapid,
    posterior,
    membership,
    utility,
    compare,
    report,
    schema,
    synthesize,
    demo,
):
    app.command(verb)


def run() -> None:
    """Run the command line; exit 0, 1 (cannot be measured), 2 (wrong call), 130 (interrupted), or as a verb says."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UnveilWarning)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its number instead of ending the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    status = None
    try:
        status = app(exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except MissingArgumentError as error:
        _complain(_missing(error), WRONG_CALL)
    except CycloptsError as error:
        _complain(" ".join(str(error).split()), WRONG_CALL)
    except CallError as error:
        _complain(str(error), WRONG_CALL)
    except UnveilError as error:
        _complain(str(error), CANNOT_BE_MEASURED)
    except BrokenPipeError:
        # Nobody reads any more; without this Python complains while it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        if is_of_memory(error):
            _complain(_too_little_memory(error), CANNOT_BE_MEASURED)
        _complain(f"{error.filename or 'output'}: {error.strerror}", CANNOT_BE_MEASURED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if not is_of_memory(error):
            raise
        _complain(_too_little_memory(error), CANNOT_BE_MEASURED)
    if isinstance(status, int):
        sys.exit(status)


def _missing(error: MissingArgumentError) -> str:
    """What the call lacks: a file by its name in the help, an option as it is written."""
    verb, argument = " ".join(error.command_chain or ()), error.argument
    if argument is None:
        return " ".join(str(error).split())
    name = argument.name if argument.index is None else argument.name.lstrip("-").upper()
    return f"{verb} needs {name}; see unveil {verb} --help"


def _too_little_memory(error: Exception) -> str:
    said = (one_line(str(error)) or "more was needed").removesuffix(".")[:200]
    return f"not enough memory ({said}); use a larger machine, or fewer columns"


def _complain(message: str, status: int) -> NoReturn:
    remark(f"unveil: {message}")
    sys.exit(status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(f"warning: {message}")
