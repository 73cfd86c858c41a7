"""The result of a sweep over the number of released records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unveil.errors import CallError
from unveil.files.source import Flavour
from unveil.result import Result, columns_of

COLUMNS = (
    "size", "target", "measure", "value", "least", "largest", "low", "high", "process_low", "process_high", "margin",
    "null_mean", "null_95", "ceiling",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class SizeSweep(Result):
    """Identity and attribute disclosure of releases of several sizes; in percent of original records.

    Attributes
    ----------
    keys, targets
        The key variables, and the target variables.
    sizes, m
        Numbers of records of the releases, and number of releases of each size.
    n_original
        Number of original records.
    permutations, level
        Number of shuffles behind each null, and coverage of the intervals.
    rows
        Per size, target (None of repU) and measure: ``value``, the mean of the releases; ``least`` and ``largest``, of
        single releases; ``low``, ``high``, the interval over other records, with the releases kept; ``process_low``,
        ``process_high``, over other records and releases made from them; ``margin``, a guess without release;
        ``null_mean``, ``null_95``, of shuffled targets; ``ceiling``, of the original itself. What a measure does not
        have is left out: TCAP, DiS and iS have no interval and no baseline.
    warnings
        What deserves a look in the files.
    """

    _words = "words.size_sweep.sizes"
    _drawing = "plots.size_sweep.plot_sizes"

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    sizes: tuple[int, ...]
    m: int
    n_original: int
    permutations: int
    level: float
    rows: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    flavour: Flavour

    def row(self, measure: str, size: int, target: str | None = None) -> Mapping[str, Any]:
        """All figures of one measure at one size.

        Raises
        ------
        CallError
            If there is no such row.
        """
        wanted = (measure, size, target)
        found = [row for row in self.rows if (row["measure"], row["size"], row["target"]) == wanted]
        if not found:
            raise CallError(
                f"there is no {measure} of {'the keys' if target is None else repr(target)} with {size} records; sizes "
                f"are {', '.join(map(str, self.sizes))}, targets {', '.join(self.targets)}; repU has no target"
            )
        return found[0]

    def value(self, measure: str, size: int, target: str | None = None) -> float:
        """The mean of a measure over the releases of one size."""
        value: float = self.row(measure, size, target)["value"]
        return value

    def ceiling(self, measure: str, target: str | None = None) -> float:
        """What the original itself gives: UiO for repU, Dorig for DiSCO; NaN where it is not defined."""
        value: float = self.row(measure, self.sizes[0], target).get("ceiling", math.nan)
        return value

    def _columns(self) -> dict[str, Any]:
        """A row per size, target and measure."""
        return columns_of([{name: row.get(name) for name in COLUMNS} for row in self.rows])
