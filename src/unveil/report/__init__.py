"""An assessment as pages: one HTML file, or Markdown. Nothing is computed here; what is drawn is in the dict."""

from __future__ import annotations

from unveil.report.markdown import markdown
from unveil.report.page import html
from unveil.report.public import public_summary
from unveil.report.shape import checked
from unveil.report.store import form_of, read_assessment, write_html, write_markdown, write_pages, write_public_summary

__all__ = [
    "checked", "form_of", "html", "markdown", "public_summary", "read_assessment", "write_html", "write_markdown",
    "write_pages", "write_public_summary",
]  # fmt: skip
