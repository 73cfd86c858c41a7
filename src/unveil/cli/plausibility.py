"""The verb `unveil plausibility`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from unveil.cli.groups import ASKED
from unveil.cli.options import Listed, Original, Records, Synthetic
from unveil.cli.output import Output, record_files, save_records
from unveil.cli.parsing import rules_of
from unveil.cli.reading import Reading, checked_pair


def plausibility(
    original: Original, *synthetic: Synthetic, rules: Annotated[Listed, Parameter(group=ASKED)] = None,
    combinations: Annotated[Listed, Parameter(group=ASKED)] = None, records: Records = None,
    reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Count released records that break rules, and combinations that nobody in the original has.

    Parameters
    ----------
    rules
        What is true of every record: "not (sex == 'MALE' and pregnant == 'YES')", "net = gross - tax",
        "marital=SINGLE if age < 16" (repeat); or a TOML file with rules = [...].
    combinations
        Columns, separated by commas, whose combinations are looked for in the original (repeat).
    """
    from unveil._tables.plausibility import plausibility as measure

    tables = record_files(records, len(synthetic))
    pair = checked_pair(original, synthetic, reading, output, tables=tables)
    found = measure(pair, rules_of(rules), combinations=combinations or [])
    save_records(found, records, output.overwrite)
    return output.give(found)
