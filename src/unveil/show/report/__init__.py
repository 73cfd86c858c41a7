"""An assessment as pages: one HTML file, or Markdown. Nothing is computed here: all figures are in the dict."""

from __future__ import annotations

from unveil.show.report.files import (
    form_of,
    read_assessment,
    write_html,
    write_markdown,
    write_pages,
    write_public_summary,
)
from unveil.show.report.json_schema import assessment_schema
from unveil.show.report.markdown import markdown
from unveil.show.report.page import html
from unveil.show.report.public_summary import public_summary
from unveil.show.report.schema import checked

__all__ = [
    "assessment_schema", "checked", "form_of", "html", "markdown", "public_summary", "read_assessment", "write_html",
    "write_markdown", "write_pages", "write_public_summary",
]  # fmt: skip
