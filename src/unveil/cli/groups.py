"""The groups under which the help of a verb lists its options, in the order in which they are needed."""

from typing import Any

from cyclopts import Group


def whole_lines(console: Any, options: Any, panel: Any) -> None:
    """Print a group of the help; where a docstring ends a line says nothing about where the help does."""
    from cyclopts.help import DefaultFormatter
    from rich.text import Text

    for text in (getattr(entry.description, "primary_renderable", None) for entry in panel.entries):
        if isinstance(text, Text):
            text.plain = " ".join(text.plain.split())
    DefaultFormatter()(console, options, panel)


FILES = Group("Files", sort_key=1, help_formatter=whole_lines)
ASKED = Group("Keys and targets", sort_key=2, help_formatter=whole_lines)
MEASURED = Group("What is done", sort_key=3, help_formatter=whole_lines)
"""Options that belong to no other group."""
TREES = Group("Trees", sort_key=4, help_formatter=whole_lines)
OTHERS = Group("Other synthesizers", sort_key=5, help_formatter=whole_lines)
READING = Group("How files are read", sort_key=6, help_formatter=whole_lines)
COUNTING = Group("Where records are counted", sort_key=7, help_formatter=whole_lines)
OUTPUT = Group("Output", sort_key=8, help_formatter=whole_lines)

BEGIN = Group("Begin", sort_key=1)
SINGLE = Group("One measure", sort_key=2)
DECIDE = Group("All measures, and the decision", sort_key=3)
OTHER = Group("Other", sort_key=4)
