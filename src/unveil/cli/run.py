"""The verbs, and how their errors become one line and an exit status."""

from __future__ import annotations

import atexit
import io
import os
import re
import sys
import time
import warnings
from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, MissingArgumentError

from unveil.cli.groups import BEGIN, DECIDE, MEASURED, OTHER, SINGLE
from unveil.cli.screen import be_quiet, complain, remark
from unveil.errors import CallError, MissingPackageError, UnveilError, UnveilWarning, is_of_memory
from unveil.printable import one_line
from unveil.version import __version__

CANNOT_BE_MEASURED, WRONG_CALL, CLOSED_PIPE = 1, 2, 141
QUIET, VERBOSE = ("-q", "--quiet"), ("-v", "--verbose")

# A verb is imported when it is called. The list of all verbs needs the first sentence of each, and nothing to measure
# with. By verb: its file, its group, this sentence, and an example of its call.
FILES = "original.csv release.csv"
VERBS = {
    "demo": (
        "files", BEGIN, "Measure three releases of a simulated survey, explain what is seen, and write a report.",
        "--folder study",
    ),
    "serve": (
        "serve", BEGIN, "Open a page on this machine to choose files, correct what was read, ask, and read the report.",
        "--port 8765",
    ),
    "schema": (
        "files", BEGIN,
        "Write a first schema of a file: kinds, levels, suspected special codes; to be read and corrected.",
        "original.csv -o schema.toml",
    ),
    "synthesizers": (
        "files", BEGIN, "List the synthesizers that can be named, where each comes from, and whether it can be used.",
        "",
    ),
    "synthesize": (
        "synthesize", BEGIN, "Make synthetic copies of a file, and say beside them how they were made.",
        "original.csv -o copies -m 5 --schema schema.toml",
    ),
    "sdc": (
        "sdc", BEGIN, "Change a file by disclosure control, before or after synthesis: code, merge, smooth, remove.",
        "release.csv -o safer.csv --top-code income=9000",
    ),
    "identity": (
        "tables", SINGLE, "Measure identity disclosure: records that are unique on the keys, also in the release.",
        f"{FILES} --keys sex,age,region",
    ),
    "attribute": (
        "tables", SINGLE,
        "Measure attribute disclosure: what the keys give away about a target through the release.",
        f"{FILES} --keys sex,age --target income",
    ),
    "structure": (
        "tables", SINGLE, "Count the key combinations of the original that the release has, and those that are new.",
        f"{FILES} --keys sex,age,region",
    ),
    "anonymity": (
        "tables", SINGLE, "Measure k-anonymity, l-diversity and t-closeness of each file.",
        f"{FILES} --keys sex,age,region --targets income",
    ),
    "population": (
        "tables", SINGLE, "Measure how many persons who are unique in a sample are unique in the population.",
        f"{FILES} --keys sex,age,region --weights weight",
    ),
    "keysets": (
        "tables", SINGLE, "Compute the measures for all small sets of keys, and without each key in turn.",
        f"{FILES} --keys sex,age,region --target ill",
    ),
    "rapid": (
        "rapid", SINGLE, "Measure what a model trained on the release infers about real people.",
        f"{FILES} --keys sex,age --target income",
    ),
    "posterior": (
        "posterior", SINGLE,
        "Measure what an intruder who knows all other records and the synthesizer learns about a record.",
        f"{FILES} --target income --sample 100",
    ),
    "cross-validation": (
        "cross_validation", SINGLE,
        "Measure what a synthesizer gives away about persons whose records it has not seen, and about those it has.",
        "original.csv --keys sex,age --target income",
    ),
    "membership": (
        "membership", SINGLE, "Measure whether the release gives away whose records it was made from.",
        f"{FILES} --holdout never_seen.csv --holdout-unseen",
    ),
    "linkage": (
        "linkage", SINGLE, "Measure how many persons are found by the nearest record of an anonymised release.",
        f"{FILES} --keys sex,age,region",
    ),
    "plausibility": (
        "plausibility", SINGLE,
        "Count released records that break rules, and combinations that nobody in the original has.",
        f"{FILES} --rules 'age >= 16 or marital == \"SINGLE\"' --combinations sex,marital",
    ),
    "match-risk": (
        "match_risk", SINGLE,
        "Measure how many persons are matched with their own records in partially synthetic copies.",
        f"{FILES} --keys sex,age,region",
    ),
    "privacy-loss": (
        "privacy_loss", SINGLE,
        "Measure how much likelier a release is made with a person than with another one in that place.",
        f"{FILES} --provenance release.provenance.json",
    ),
    "partial-knowledge": (
        "partial_knowledge", SINGLE, "Measure what an intruder learns who knows only a part of the other records.",
        f"{FILES} --target income --records-known 1,0.9,0.5,0",
    ),
    "utility": (
        "utility", SINGLE, "Measure how useful the release is in place of the original.",
        f"{FILES} --model 'income ~ age + sex'",
    ),
    "assess": (
        "assess", DECIDE,
        "Measure what a release gives away to intruders from weak to strong, and how useful it is: one document.",
        f"{FILES} --keys sex,age --html report.html",
    ),
    "compare": (
        "assess", DECIDE, "Show several releases or synthesizers on one map of risk and utility.",
        "original.csv --grid minbucket=5,minbucket=20 --keys sex,age --plot map.png",
    ),
    "size-sweep": (
        "size_sweep", DECIDE,
        "Measure releases of several sizes: how disclosure changes with the number of records released.",
        "original.csv --keys sex,age --targets ill --sizes 250,1000,5000 --plot sizes.png",
    ),
    "tune": (
        "tune", DECIDE, "Find the most useful settings of a synthesizer for which every rule of a policy holds.",
        "original.csv --keys sex,age --targets ill --policy policy.toml",
    ),
    "conformance": (
        "conformance", DECIDE,
        "Try measures of risk on constructed worlds of which it is known what an intruder learns.",
        "--measures repU,DiSCO --replicates 5",
    ),
    "report": (
        "report", DECIDE, "Draw the report of an assessment from its JSON.", "assessment.json -o report.html",
    ),
    "json-schema": (
        "files", DECIDE, "Write the JSON Schema of assessments, for programs that read their JSON.",
        "-o assessment.schema.json",
    ),
}  # fmt: skip


def _on_lines(call: str) -> str:
    """A call on lines that a terminal of 80 columns shows whole, and that a shell takes for one."""
    # An option stays on the line of its value.
    whole = " ".join(part.replace(" ", "\0") for part in re.split(" (?=-)", call))
    lines = wrap(whole, 76, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return " \\\n".join(lines).replace("\0", " ")


app = App(
    name="unveil",
    help="How much a synthetic or anonymised file gives away about the real people behind it.",
    version=__version__,
    help_format="plaintext",
    group_parameters=MEASURED,
    group_commands=OTHER,
    help_epilogue="Every verb takes -q (show results and errors alone) and -v (say at the end what time and memory it "
    "took). Each verb has its own --help, with an example.\n",
)
app.register_install_completion_command(help="Let the shell complete verbs and options.", group=OTHER)
for order, (verb, (file, group, sentence, example)) in enumerate(VERBS.items()):
    app.command(
        f"unveil.cli.{file}:{verb.replace('-', '_')}", name=verb, help=sentence, group=group, sort_key=order,
        group_parameters=MEASURED, help_epilogue=f"Example:\n{_on_lines(f'unveil {verb} {example}')}",
    )  # fmt: skip


def run() -> None:
    """Run the command line; exit 0, 1 (cannot be measured), 2 (wrong call), 130 (interrupted), or as a verb says."""
    words, quiet, verbose = without_switches(sys.argv[1:])
    be_quiet(quiet)
    if verbose:
        atexit.register(_say_what_it_took, time.perf_counter())
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UnveilWarning)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its number instead of ending the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    status = None
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
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


def without_switches(words: Sequence[str]) -> tuple[list[str], bool, bool]:
    """The words of a call without -q and -v, which every verb takes, and whether they were there.

    Examples
    --------
    >>> without_switches(["demo", "-q"])
    (['demo'], True, False)
    """
    end = words.index("--") if "--" in words else len(words)
    quiet, verbose = (any(name in words[:end] for name in names) for names in (QUIET, VERBOSE))
    left = [word for word in words[:end] if word not in (*QUIET, *VERBOSE)]
    return [*left, *words[end:]], quiet, verbose


def _say_what_it_took(began: float) -> None:
    took = f"took {time.perf_counter() - began:.1f} s"
    try:
        import resource
    except ImportError:  # Windows
        complain(took)
    else:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        complain(f"{took}, and {used >> (20 if sys.platform == 'darwin' else 10)} MB of memory at most")


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
    complain(f"unveil: {message}")
    sys.exit(status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(f"warning: {message}")
