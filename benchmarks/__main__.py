"""Measure and draw the table; run ``python -m benchmarks [GROUP...]``."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import page
from benchmarks.run import GROUPS, lines_of
from benchmarks.synthesis import INTERPRETER


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all groups, or those named."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="CPU seconds and memory of unveil beside its peers, as one table."
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"one of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--large", action="store_true", help="also files of ten million records")
    parser.add_argument("--write", action="store_true", help="replace the table of README.md; all groups only")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds after which one side of a row is ended")
    parser.add_argument("--python-synthpop", metavar="PATH", help="interpreter that has py-synthpop")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}: there are {', '.join(GROUPS)}")
    if chosen.write and chosen.groups:
        parser.error("--write replaces the whole table: leave the names of groups out")
    if chosen.python_synthpop:
        os.environ[INTERPRETER] = chosen.python_synthpop
    print(page.HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            line for group in chosen.groups or GROUPS
            for line in lines_of(group, Path(folder), chosen.large, chosen.limit)
        ]  # fmt: skip
    if chosen.write:
        text = page.PAGE.read_text(encoding="utf-8")
        page.PAGE.write_text(page.replaced(text, page.document(lines)), encoding="utf-8")
    else:
        print("\n".join(["", page.head(), "", *page.growth(lines)]))


if __name__ == "__main__":
    main()
