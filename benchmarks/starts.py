"""Commands from the start of their process, beside an import that data scientists are used to."""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.data import SURVEY_KEYS, Data
from benchmarks.row import Measured, Row, Side, cold

KEYS = ["--keys", ",".join(SURVEY_KEYS)]
SPECIAL = ["--special-codes", "income=-8"]


def command(words: Callable[[Data], list[str]]) -> Side:
    """A command of unveil, by the words after its name."""

    def ready(data: Data) -> Measured:
        return cold([sys.executable, "-m", "unveil.cli", *words(data)])

    return ready


def verb(name: str, *options: str) -> Side:
    """A command that takes an original and a release."""
    return command(lambda data: [name, data.survey(), data.survey_release(), *options, *SPECIAL])


def synthesize(data: Data) -> list[str]:
    """One copy, over the last one."""
    path = str(data.folder / "copy.csv")
    return ["synthesize", data.survey(), "-o", path, "-m", "1", "--seed", "1", "--overwrite", *SPECIAL]


def pandas(data: Data) -> Measured:
    """The yardstick."""
    return cold([sys.executable, "-c", "import pandas"])


SIDES = {
    "unveil --help": command(lambda data: ["--help"]),
    "unveil identity": verb("identity", *KEYS),
    "unveil attribute": verb("attribute", *KEYS, "--target", "depress"),
    "unveil synthesize, one copy": command(synthesize),
    "unveil posterior, 16 records": verb("posterior", "--target", "depress", "--rows", "0:16"),
    "unveil rapid --attacker cart": verb("rapid", *KEYS, "--target", "depress", "--attacker", "cart"),
}
ROWS = [
    Row(name, "none" if name == "unveil --help" else "SD2011", side, pandas, "import pandas", ("pandas",))
    for name, side in SIDES.items()
]
