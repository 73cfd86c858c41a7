"""Assessments from files, and reports into files: whole or not at all, never over an input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unveil.errors import CallError, DataError, FileError
from unveil.files.atomic import replacing
from unveil.files.digest import sha256
from unveil.files.documents import read_json
from unveil.files.path_checks import check_replaceable
from unveil.show.report.markdown import markdown
from unveil.show.report.page import html
from unveil.show.report.public_summary import public_summary
from unveil.show.report.schema import checked

ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def form_of(path: str | Path) -> str:
    """The form of a report by the ending of its file: "html" or "markdown".

    Raises
    ------
    CallError
        If the ending is another one.

    Examples
    --------
    >>> form_of("report.md")
    'markdown'
    """
    form = ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise CallError(f"{path}: reports are written as {', '.join(ENDINGS)}")
    return form


def read_assessment(path: str | Path) -> dict[str, Any]:
    """The dict in a JSON file that `unveil assess --json` wrote.

    Raises
    ------
    FileError
        If the file cannot be read or does not hold an assessment that can be drawn; the message names the part.
    """
    source = Path(path)
    found = read_json(source, source.name)
    if not isinstance(found, dict):
        raise FileError(f"{source.name}: holds no JSON object; give the file that --json wrote")
    try:
        checked(found)
    except DataError as error:
        raise FileError(f"{source.name}: {error}") from None
    return found


def write_html(assessment: Mapping[str, Any], path: str | Path, *, overwrite: bool = False) -> None:
    """Write the report as one HTML file.

    Raises
    ------
    CallError
        If the file is one of the assessment's inputs.
    DataError
        If the dict is no assessment, or the file exists and `overwrite` is not set.
    """
    write_pages({Path(path): html(assessment)}, assessment, overwrite=overwrite)


def write_markdown(assessment: Mapping[str, Any], path: str | Path, *, overwrite: bool = False) -> None:
    """Write the report as Markdown; errors as in :func:`write_html`."""
    write_pages({Path(path): markdown(assessment)}, assessment, overwrite=overwrite)


def write_public_summary(assessment: Mapping[str, Any], path: str | Path, *, overwrite: bool = False) -> None:
    """Write the summary for publication, as a page or as Markdown by the ending; errors as in :func:`write_html`."""
    write_pages({Path(path): public_summary(assessment, form_of(path))}, assessment, overwrite=overwrite)


def write_pages(pages: Mapping[Path, str], assessment: Mapping[str, Any], *, overwrite: bool = False) -> None:
    """Write the pages of one assessment, after a check of all paths; errors as in :func:`write_html`.

    Parameters
    ----------
    pages
        The text of each file.
    assessment
        The dict of the assessment.
    overwrite
        Whether existing files may be replaced; inputs of the assessment never are.
    """
    for path in pages:
        check_replaceable(path, path.name)
        if path.exists() and _is_input(path, assessment):
            raise CallError(f"{path.name} is an input of this assessment; name another file to write to")
    for path, text in pages.items():
        with replacing(path, overwrite=overwrite) as temporary:
            # A lone half of a surrogate pair in a column name cannot be written as UTF-8.
            temporary.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def _is_input(path: Path, assessment: Mapping[str, Any]) -> bool:
    """Whether the file has the content of an input: names in an assessment are labels, without their folder."""
    digest = sha256(path)
    return any(one["sha256"] == digest for one in assessment["provenance"]["inputs"])
