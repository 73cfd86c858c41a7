"""The verbs that need no pair of files: a schema of one, the schema of assessments, and the demonstration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.options import Whole
from unveil.cli.output import write_text
from unveil.cli.reading import Reading
from unveil.cli.screen import say
from unveil.errors import FileError

Written = Annotated[Path | None, Parameter(name=["--output", "-o"])]


def schema(
    file: Path,
    output: Written = None,
    *,
    reading: Reading = Reading(),
) -> None:
    """Write a first schema of a file: kinds, levels, suspected special codes; to be read and corrected.

    Parameters
    ----------
    file
        A file of microdata.
    output
        The schema file to write; default: standard output.
    """
    from unveil.files.opening import open_source
    from unveil.files.schema import schema_text

    source = open_source(str(file), **(reading.options | {"schema": None}))
    text = schema_text(source)
    _give(text, output)


def json_schema(output: Written = None) -> None:
    """Write the JSON Schema of assessments, for programs that read their JSON.

    Parameters
    ----------
    output
        The file to write; default: standard output.
    """
    import json

    from unveil.show.report import assessment_schema

    _give(json.dumps(assessment_schema(), indent=2) + "\n", output)


def synthesizers() -> None:
    """List the synthesizers that can be named, where each comes from, and whether it can be used."""
    from unveil.synthesis import synthesizers as listed

    say(listed())


def demo(n: Whole = 5000, *, seed: Whole = 1, folder: Path | None = None, report: bool = True) -> None:
    """Measure three releases of a simulated survey, explain what is seen, and write a report.

    Parameters
    ----------
    n
        Number of simulated persons.
    seed
        Seed of the simulation.
    folder
        Keep the files and the report in this folder.
    report
        Whether one of them is assessed as a whole; the report is opened where the output is a terminal.
    """
    from unveil.demo import show

    show(n, seed, folder, report=report)


def _give(text: str, output: Path | None) -> None:
    if output is None:
        say(text, end="")
    elif os.path.lexists(output):
        raise FileError(f"{output} exists; choose another name or remove it first")
    else:
        write_text(output, text)
