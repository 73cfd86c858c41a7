"""The list of synthesizers in words."""

from __future__ import annotations

from unveil.result import text_table
from unveil.synthesis.named import Synthesizers


def synthesizers_text(found: Synthesizers) -> str:
    """Names, where they come from, and whether they can be used."""
    rows = list(zip(found.names, found.packages, found.states, strict=True))
    lines = [f"warning: {text}" for text in found.warnings]
    return "\n".join([text_table(["name", "package", "state"], rows), *([""] if lines else []), *lines])
