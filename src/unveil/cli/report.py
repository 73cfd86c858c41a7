"""The verb `unveil report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.errors import CallError, FileError

__all__ = ["report"]

ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def report(
    assessment: Path, *, output: Annotated[Path, Parameter(name=["--output", "-o"])], overwrite: bool = False
) -> None:
    """Draw the report of an assessment from its JSON.

    Parameters
    ----------
    assessment
        The JSON file that `unveil assess --json` wrote.
    output
        The report to write: .html for a page, .md for Markdown.
    overwrite
        Replace the report if it exists; never the assessment or a file it was made from.
    """
    form = ENDINGS.get(output.suffix.lower())
    if form is None:
        raise CallError(f"{output}: reports are written as {', '.join(ENDINGS)}")
    from unveil.microdata.doors import check_replaceable

    check_replaceable(output, str(output))
    if output.exists() and assessment.exists() and output.samefile(assessment):
        raise CallError(f"{output} is the assessment itself; name another file to write to")
    if not output.parent.is_dir():
        raise FileError(f"{output}: there is no folder {output.parent}")
    from unveil.report import read_assessment, write_html, write_markdown

    write = write_html if form == "html" else write_markdown
    write(read_assessment(assessment), output, overwrite=overwrite)
