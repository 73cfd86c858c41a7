"""Report of a step of disclosure control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unveil.printable import commands_shown
from unveil.result import paragraph


@dataclass(frozen=True)
class SdcReport:
    """Report of one step of disclosure control.

    Attributes
    ----------
    action
        Name of the function.
    data
        Name of the file or frame.
    columns
        The columns that the step used.
    n_records
        Number of records before the step.
    n_changed
        Number of records that were changed or removed.
    figures
        Settings and other counts by name, as plain values.
    sentences
        The report in words.
    """

    action: str
    data: str
    columns: tuple[str, ...]
    n_records: int
    n_changed: int
    figures: Mapping[str, Any]
    sentences: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "action": self.action,
            "data": self.data,
            "columns": list(self.columns),
            "n_records": self.n_records,
            "n_changed": self.n_changed,
            "figures": dict(self.figures),
            "sentences": list(self.sentences),
        }

    @commands_shown
    def __str__(self) -> str:
        return "\n".join([f"{self.action}: {self.data}, {', '.join(self.columns)}", paragraph(*self.sentences)])

    __repr__ = __str__
