"""What the page of other packages says of this one; the figures of the others were read off their output."""

from __future__ import annotations

from pathlib import Path

import pytest

import unveil
from reference import data_file

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

PAGE = (Path(__file__).parent.parent / "docs" / "compared.md").read_text(encoding="utf-8")
RUN = PAGE.partition("## What was run")[2].partition("**Anonymeter")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in RUN.splitlines() if line.startswith("|")]
KEYS = ["sex", "age", "region", "placesize"]


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    return unveil.Pair(data_file("sd2011_9"), data_file("sd2011_9_s1"))


def without_zero(value: float) -> str:
    return f"{value:.4f}".lstrip("0")


def test_protection_is_one_minus_dcap_of_those_in_the_release(pair: unveil.Pair, shared: Path):
    rows = [row for row in ROWS if row[0] in ("depress", "ls")]
    assert len(rows) == 2
    for target, theirs, ours, parts in rows:
        found = unveil.attribute(pair, KEYS, target=target)
        assert theirs == ours == without_zero(1 - found.DCAPd / found.iS)
        assert parts == f"{found.DCAPd:.2f}, {found.iS:.2f}"


def test_similarity_is_one_minus_tvd(pair: unveil.Pair, shared: Path):
    rows = {row[0]: row[1:] for row in ROWS if len(row) == 3 and row[1].startswith(".")}
    assert len(rows) == 5
    for name, (theirs, ours) in rows.items():
        names = name.split(" with ")
        measure = "variables" if len(names) == 1 else "pairs"
        columns = [*names, "workab"] if len(names) == 1 else names
        found = unveil.utility(pair, columns, measures=["marginals", "pairs"]).to_dict()[measure][0]
        assert theirs == ours == without_zero(1 - found["mean"]["TVD"])
