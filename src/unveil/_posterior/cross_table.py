"""Records at risk beside those that another measure flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.plain import Plain
from unveil.printable import printable
from unveil.result import drawer

Flags = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class CrossTable(Plain):
    """Records at risk against the flags of another measure.

    Attributes
    ----------
    name
        The other measure.
    threshold
        Records with a larger normalised gain are at risk.
    both, only_posterior, only_flag, neither
        Numbers of records.
    """

    name: str
    threshold: float
    both: int
    only_posterior: int
    only_flag: int
    neither: int

    @property
    def missed(self) -> float:
        """Share of the records at risk that the other measure does not flag; NaN where none is at risk."""
        at_risk = self.both + self.only_posterior
        return self.only_posterior / at_risk if at_risk else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name; ``missed`` is None where no record is at risk."""
        return super().to_dict() | {"missed": self.missed if self.both + self.only_posterior else None}

    def __str__(self) -> str:
        return printable(drawer("words.posterior.cross_table")(self))

    __repr__ = __str__


def flags_of(flags: Any, releases: Sequence[int], n: int) -> tuple[Flags, str]:
    """Flags per original record, and what they are called.

    Parameters
    ----------
    flags
        A result whose ``records(release)`` have a column "disco" or "at_risk", or one truth value per record.
    releases
        The releases that are pooled; a record that is flagged in any of them is flagged.
    n
        Number of original records.

    Returns
    -------
    flags : (n,) bool
        The flags.
    name : str
        "DiSCO", "RAPID" or "the flag".

    Raises
    ------
    CallError
        If they do not fit.
    """
    if not hasattr(flags, "records"):
        return _as_flags(flags, n), "the flag"
    found: Flags = np.zeros(n, dtype=np.bool_)
    called = "DiSCO"
    for release in releases:
        table = flags.records(release, flavour="arrow")
        column = next((name for name in ("disco", "at_risk") if name in table.column_names), None)
        if column is None:
            raise CallError("flags: the records of this result have no column 'disco' or 'at_risk'; give truth values")
        called = "DiSCO" if column == "disco" else "RAPID"
        found |= _as_flags(table.column(column).to_pylist(), n)
    return found, called


def _as_flags(flags: Any, n: int) -> Flags:
    array = np.asarray(flags)
    if array.shape != (n,) or array.dtype.kind not in "bui":
        raise CallError(f"flags: give one truth value for each of the {n} original records")
    return array.astype(np.bool_)
