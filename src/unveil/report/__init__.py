"""An assessment as pages: one HTML file, or Markdown. Nothing is computed here; what is drawn is in the dict."""

from __future__ import annotations

from unveil.report.markdown import markdown
from unveil.report.page import html
from unveil.report.shape import checked
from unveil.report.store import read_assessment, write_html, write_markdown

__all__ = ["checked", "html", "markdown", "read_assessment", "write_html", "write_markdown"]
