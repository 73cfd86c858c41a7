"""The verb `unveil report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.errors import CallError, FileError


def report(
    assessment: Path, *, output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    public_summary: Path | None = None, title: str | None = None, organisation: str | None = None,
    contact: str | None = None, overwrite: bool = False,
) -> None:  # fmt: skip
    """Draw the report of an assessment from its JSON.

    Parameters
    ----------
    assessment
        The JSON file that `unveil assess --json` wrote.
    output
        The report to write: .html for a page, .md for Markdown.
    public_summary
        Write the page for publication to this file (.html or .md): at most ten figures, rounded.
    title
        Title of the report, printed as it is; default: that of the assessment.
    organisation
        Who made the report, printed as it is; default: that of the assessment.
    contact
        Whom to ask, printed as it is; default: that of the assessment.
    overwrite
        Replace the report if it exists; never the assessment or a file it was made from.
    """
    if output is None and public_summary is None:
        raise CallError("report needs --output FILE, or --public-summary FILE for the page for publication")
    from unveil.assessment.masthead import Masthead
    from unveil.show.report import form_of, html, markdown, read_assessment, write_pages
    from unveil.show.report import public_summary as summary

    for path in (output, public_summary):
        if path is not None:
            _check(path, assessment, overwrite)
    if output is not None and public_summary is not None and output.resolve() == public_summary.resolve():
        raise CallError(f"{output} would be written twice; name two files")
    head = Masthead(title, organisation, contact).to_dict()
    found = read_assessment(assessment)
    if head:
        found["masthead"] = (found.get("masthead") or {}) | head
    pages = {}
    if output is not None:
        pages[output] = html(found) if form_of(output) == "html" else markdown(found)
    if public_summary is not None:
        pages[public_summary] = summary(found, form_of(public_summary))
    write_pages(pages, found, overwrite=overwrite)


def _check(output: Path, assessment: Path, overwrite: bool) -> None:
    """Refuse before anything is written."""
    from unveil.files.path_checks import check_replaceable
    from unveil.show.report import form_of

    form_of(output)
    check_replaceable(output, str(output))
    if output.exists() and assessment.exists() and output.samefile(assessment):
        raise CallError(f"{output} is the assessment itself; name another file to write to")
    if output.exists() and not overwrite:
        raise FileError(f"{output} exists; name another file, or replace it with --overwrite")
    if not output.parent.is_dir():
        raise FileError(f"{output}: there is no folder {output.parent}")
