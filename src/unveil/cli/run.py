"""The verbs, and how their errors become one line and an exit status."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, MissingArgumentError

from unveil.cli.screen import remark
from unveil.errors import CallError, MissingPackageError, UnveilError, UnveilWarning, is_of_memory
from unveil.printable import one_line
from unveil.version import __version__

CANNOT_BE_MEASURED, WRONG_CALL, CLOSED_PIPE = 1, 2, 141

# A verb is imported when it is called. The list of all verbs needs the first sentence of each, and nothing to measure
# with.
VERBS = (
    ("assess", "assess",
     "Measure what a release gives away to intruders from weak to strong, and how useful it is: one document."),
    ("tables", "identity",
     "Measure identity disclosure: records that are unique on the keys, also in the release."),
    ("tables", "attribute",
     "Measure attribute disclosure: what the keys give away about a target through the release."),
    ("tables", "structure",
     "Count the key combinations of the original that the release has, and those that are new."),
    ("tables", "keysets", "Compute the measures for all small sets of keys, and without each key in turn."),
    ("rapid", "rapid", "Measure what a model trained on the release infers about real people."),
    ("posterior", "posterior",
     "Measure what an intruder who knows all other records and the synthesizer learns about a record."),
    ("membership", "membership", "Measure whether the release gives away whose records it was made from."),
    ("utility", "utility", "Measure how useful the release is in place of the original."),
    ("assess", "compare", "Show several releases or synthesizers on one map of risk and utility."),
    ("report", "report", "Draw the report of an assessment from its JSON."),
    ("files", "schema",
     "Write a first schema of a file: kinds, levels, suspected special codes; to be read and corrected."),
    ("synthesize", "synthesize", "Make synthetic copies of a file, and say beside them how they were made."),
    ("files", "demo", "Measure three releases of a simulated survey, explain what is seen, and write a report."),
)  # fmt: skip

app = App(
    name="unveil",
    help="How much a synthetic or anonymised file gives away about the real people behind it.",
    version=__version__,
    help_format="plaintext",
)
for file, verb, sentence in VERBS:
    app.command(f"unveil.cli.{file}:{verb}", name=verb, help=sentence)


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
    except ImportError as error:
        # That a verb cannot be loaded is said by the error of its own import.
        _not_loaded(error.__cause__ or error)
    except BrokenPipeError:
        # Nobody reads any more; without this Python complains while it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        if is_of_memory(error):
            _complain(_too_little_memory(error), CANNOT_BE_MEASURED)
        _complain(f"{error.filename or 'output'}: {error.strerror}", CANNOT_BE_MEASURED)
    except Exception as error:
        if not is_of_memory(error):
            raise
        _complain(_too_little_memory(error), CANNOT_BE_MEASURED)
    if isinstance(status, int):
        sys.exit(status)


def _not_loaded(error: BaseException) -> NoReturn:
    if isinstance(error, MissingPackageError):
        _complain(str(error), CANNOT_BE_MEASURED)
    if is_of_memory(error):
        _complain(_too_little_memory(error), CANNOT_BE_MEASURED)
    raise error


def _missing(error: MissingArgumentError) -> str:
    """What the call lacks: a file by its name in the help, an option as it is written."""
    verb, argument = " ".join(error.command_chain or ()), error.argument
    if argument is None:
        return " ".join(str(error).split())
    name = argument.name if argument.index is None else argument.name.lstrip("-").upper()
    return f"{verb} needs {name}; see unveil {verb} --help"


def _too_little_memory(error: BaseException) -> str:
    said = (one_line(str(error)) or "more was needed").removesuffix(".")[:200]
    return f"not enough memory ({said}); use a larger machine, or fewer columns"


def _complain(message: str, status: int) -> NoReturn:
    remark(f"unveil: {message}")
    sys.exit(status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(f"warning: {message}")
