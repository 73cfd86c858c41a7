"""Several steps of disclosure control, one after the other, on one file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from unveil.errors import UnveilWarning
from unveil.files.columnar import own_declarations
from unveil.files.opening import open_source
from unveil.files.source import Source, Variable
from unveil.printable import commands_shown
from unveil.result import warnings_in_words
from unveil.synthesis.sdc.records import table_of
from unveil.synthesis.sdc.report import SdcReport

Step = Callable[[Source], tuple[Any, SdcReport]]
"""Makes another file of a file; see the functions of :mod:`unveil.sdc`."""


@dataclass(frozen=True)
class DisclosureControl:
    """A file after several steps of disclosure control.

    Attributes
    ----------
    table
        The records.
    variables
        Declarations by column.
    reports
        What each step did.
    warnings
        What deserves a look in the file, and what a step warned of.
    """

    table: pa.Table
    variables: Mapping[str, Variable]
    reports: tuple[SdcReport, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The reports as plain values."""
        return {"steps": [report.to_dict() for report in self.reports], "warnings": list(self.warnings)}

    @commands_shown
    def __str__(self) -> str:
        return "\n".join(["\n\n".join(map(str, self.reports)), *warnings_in_words(self.warnings)])

    __repr__ = __str__


def controlled(source: Source, steps: Sequence[Step]) -> DisclosureControl:
    """Take steps of disclosure control, each on the file that the one before has made.

    Parameters
    ----------
    source
        The file.
    steps
        The steps, in their order.

    Returns
    -------
    DisclosureControl
        The file after all steps, and a report of each.

    Examples
    --------
    >>> from functools import partial
    >>> from unveil.synthesis.sdc import bottom_code, top_code
    >>> ages = open_source(pa.table({"age": [3, 40, 99]}))
    >>> found = controlled(ages, [partial(bottom_code, column="age", at=18), partial(top_code, column="age", at=80)])
    >>> found.table.column("age").to_pylist(), [report.n_changed for report in found.reports]
    ([18, 40, 80], [1, 1])
    """
    table, reports = table_of(source), []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UnveilWarning)
        for step in steps:
            table, report = step(open_source(table, label=source.label))
            reports.append(report)
    told = [str(one.message) for one in heard]
    said = tuple(dict.fromkeys([*source.remarks_on(source.names), *told]))
    return DisclosureControl(table, own_declarations(table.schema.metadata, source.label), tuple(reports), said)
