"""Options that several verbs take, each with the one text that all of them show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.groups import ASKED, FILES, OUTPUT
from unveil.cli.parsing import address, whole

Whole = Annotated[int, Parameter(converter=whole)]

Listed = Annotated[list[str] | None, Parameter(negative=())]

# What several verbs take, with the one text that all of them show.

Original = Annotated[
    Path,
    Parameter(
        help="The file of real records; or a folder of Parquet files, or a pattern of names in quotes.",
        group=FILES,
        converter=address,
    ),
]

Synthetic = Annotated[Path, Parameter(help="The release, or several.", group=FILES, converter=address)]

Keys = Annotated[list[str], Parameter(help="Key variables, separated by commas.", negative=(), group=ASKED)]

Target = Annotated[str | None, Parameter(help="One target variable.", group=ASKED)]

Targets = Annotated[
    list[str] | None,
    Parameter(
        help="Several target variables, separated by commas; default: every other column.", negative=(), group=ASKED
    ),
]

GroupsOfKeys = Annotated[
    list[str] | None, Parameter(help="Groups for numeric keys: a number for all, or age=10.", negative=(), group=ASKED)
]

GroupsOfTargets = Annotated[
    list[str] | None,
    Parameter(help="Groups for numeric targets: a number for all, or income=20.", negative=(), group=ASKED),
]

Breaks = Annotated[
    list[str] | None,
    Parameter(
        help="Where numeric keys and targets are cut into groups: age=18:30:65 (repeat, or separate by commas).",
        negative=(), group=ASKED,
    ),
]  # fmt: skip

Hierarchies = Annotated[
    Path | None,
    Parameter(
        help="Coarser levels and intervals (TOML): files are compared at the coarseness of the releases.", group=ASKED
    ),
]

Suppressed = Annotated[
    str | None,
    Parameter(
        help="The sign of suppressed values in the releases, such as '*': also show figures with it as a wildcard.",
        group=ASKED,
    ),
]

UseKeysNa = Annotated[bool, Parameter(help="Whether combinations with a missing key count.", group=ASKED)]

By = Annotated[str | None, Parameter(help="Also show the measures for each level of this column.", group=OUTPUT)]

Records = Annotated[
    Path | None,
    Parameter(
        help="Write the figures of every original record to this file. They are confidential.",
        group=OUTPUT,
        converter=address,
    ),
]  # fmt: skip

VisitOrder = Annotated[
    list[str] | None,
    Parameter(help="Order of synthesis, separated by commas; default: the file's.", negative=()),
]

Method = Annotated[str, Parameter(name=["--method", "--synthesizer"])]

Epsilon = Annotated[
    float | None,
    Parameter(
        help="Privacy loss of catall and dp_bayesnet, for which --schema declares levels and bounds that are known to "
        "everybody; inf: no noise and no claim. Default: inf, of dp_bayesnet 1."
    ),
]
