"""Where results go: the screen, JSON, plots, files of single records; and the exit status."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.cli.groups import OUTPUT
from unveil.cli.screen import is_quiet, remark, say
from unveil.errors import CallError, FileError
from unveil.files.addresses import Address, numbered

WITH_WARNINGS = 3
"""Exit status of a measure that was taken, where --strict was asked for and warnings concern the result."""

POLICY_NOT_MET = 4
"""Exit status of an assessment whose policy is not met, where --policy-exit was asked for."""

PLOT_ENDINGS = (".png", ".svg", ".pdf")

WORKING_DOCUMENT = (
    "A working document, not for publication: its figures are exact, and it may name levels and count records that few "
    "persons have.",
    "Whoever has all records of the original but one can try out that one with any exact figure.",
    "For publication: unveil assess, whose documents pass a gate; for everybody its --public-summary.",
)
"""What the JSON of a single measure says of itself."""


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class Output:
    """Files that the results are written to.

    Parameters
    ----------
    json
        Write the result as JSON to this file, or to standard output with -.
    plot
        Write the plot to this file (png, svg, pdf).
    overwrite
        Replace these files if they exist; never an input.
    strict
        End with exit status 3 if warnings concern the result; it is written in full anyway.
    """

    json: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    plot: Path | None = None
    overwrite: bool = False
    strict: Annotated[bool, Parameter(negative=())] = False

    def check(self, inputs: tuple[Path, ...], *documents: Path, tables: Sequence[Path] = ()) -> None:
        """Raise an error, before anything is computed, if a file could not be written afterwards.

        Parameters
        ----------
        inputs
            Files that are read, or that hold what was done so far.
        documents, tables
            Files to be written besides; those of tables in the format that their ending says.
        """
        from unveil.files.folders import is_part_of, stands_for_several
        from unveil.files.path_checks import check_replaceable
        from unveil.show.plots.axes import pyplot

        if self.json == "":
            raise CallError("--json takes the name of a file, or - for standard output; it is empty")
        named = [Path(self.json)] if self.json not in (None, "-") else []
        written = [*named, *([self.plot] if self.plot else []), *documents, *tables]
        for position, path in enumerate(written):
            check_replaceable(path, str(path))
            if any(path.resolve() == other.resolve() for other in written[:position]):
                raise CallError(f"{path} would be written twice; name another file for one of them")
            for given in inputs:
                if is_part_of(path, given):
                    what = f"would be read with {given}" if stands_for_several(given) else "is an input"
                    raise CallError(f"{path} {what}; name another file to write to")
            if isinstance(path, Address):
                continue
            if path.exists() and not self.overwrite:
                raise FileError(f"{path} exists; name another file, or replace it with --overwrite")
            if not path.parent.is_dir():
                raise FileError(f"{path}: there is no folder {path.parent}")
        if tables:
            from unveil.files.write import check_ending

            for path in tables:
                check_ending(path)
        if self.plot is not None:
            if self.plot.suffix.lower() not in PLOT_ENDINGS:
                raise CallError(f"{self.plot}: plots are written as {', '.join(PLOT_ENDINGS)}")
            pyplot()

    def give(
        self, result: Any, extra: dict[str, Any] | None = None, view: dict[str, Any] | None = None,
        document: Callable[[], dict[str, Any]] | None = None,
    ) -> int:  # fmt: skip
        """Write the result as JSON and one view of it as a plot, if these are named; print it; return the status.

        Parameters
        ----------
        result
            What was measured.
        extra
            What the JSON holds besides.
        view
            Options of the plot.
        document
            Makes the JSON, where that is more than ``result.to_dict()``; called only if one is named.
        """
        from unveil.plain import without_nan
        from unveil.version import __version__

        if self.plot is not None:
            _save_plot(result, self.plot, self.overwrite, view or {})
        if self.json is not None:
            about = {"unveil": __version__, "measure": type(result).__name__}
            # An assessment says of itself whether it passed the gate; nothing else does pass it.
            stays = {"release_safe": False, "confidential": list(WORKING_DOCUMENT)}
            content = about | stays | (document or result.to_dict)() | (extra or {})
            text = json.dumps(without_nan(content), indent=2, ensure_ascii=self.json == "-", allow_nan=False)
            if self.json == "-":
                say(text.replace("\x7f", r"\u007f"))
                return self.status(result)
            write_text(Path(self.json), text + "\n", self.overwrite)
        say(result)
        return self.status(result)

    def status(self, result: Any) -> int:
        """Exit status: that of warnings if there are any and --strict is given."""
        return WITH_WARNINGS if self.strict and result.warnings else 0


def _save_plot(result: Any, path: Path, overwrite: bool, view: dict[str, Any]) -> None:
    import numpy as np

    from unveil.files.atomic import replacing

    # A grid of several axes is an array.
    axes = np.ravel(result.plot(**view))[0]
    with replacing(path, overwrite=overwrite) as temporary:
        axes.figure.savefig(temporary, format=path.suffix.lower().lstrip("."))


def write_text(path: Path, text: str, overwrite: bool = False) -> None:
    from unveil.files.atomic import replacing

    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


def record_files(records: Path | None, n_releases: int) -> list[Path]:
    """Files for the records of each release: numbered where there are several."""
    if records is None:
        return []
    return [records] if n_releases == 1 else [numbered(records, i + 1) for i in range(n_releases)]


def save_records(risk: Any, records: Path | None, overwrite: bool) -> None:
    """Write the figures of every original record, and say that they are confidential."""
    if records is None:
        return
    labels = risk.labels
    for i, (path, label) in enumerate(zip(record_files(records, len(labels)), labels, strict=True)):
        save_confidential(risk.records(i, flavour="arrow"), path, overwrite, f" ({label})")


def save_where_counted(risk: Any, records: Path | None, overwrite: bool) -> None:
    """Write the figures of every original record where they are counted, if a file is named."""
    if records is None:
        return
    for i, (path, label) in enumerate(zip(record_files(records, len(risk.labels)), risk.labels, strict=True)):
        risk.write_records(path, i, overwrite=overwrite)
        say_confidential(path, f" ({label})")


def save_confidential(table: Any, path: Path, overwrite: bool, of: str = "") -> None:
    """Write figures of single persons, and say that they are confidential."""
    from unveil.files.write import write_table

    write_table(table, str(path), overwrite=overwrite, confidential=True)
    say_confidential(path, of)


def say_confidential(path: Path, of: str = "") -> None:
    """Say that a file holds figures of single persons."""
    remark(f"notice: {path} holds figures of every single person{of}: keep it in the building")


def print_frame(title: str, table: Any) -> None:
    """Print an Arrow table below its title."""
    from unveil.result import text_table

    say(f"\n{title}\n")
    say(text_table(table.column_names, [list(row.values()) for row in table.to_pylist()], digits=3))


@contextmanager
def progress_bar(first: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show a progress bar on standard error if that is a terminal, and all is to be shown."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from unveil.printable import one_line

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, name: bar.update(
            task, completed=done, total=total, description=escape(one_line(name))
        )
