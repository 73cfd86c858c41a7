"""A program of any language as a synthesizer: it reads a file of records and writes a file of synthetic ones."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa

from unveil.checks import check_choice, check_positive
from unveil.errors import CallError, DataError, FileError
from unveil.files.atomic import tidy_when_ended
from unveil.files.made_frames import make_frame
from unveil.files.opening import open_source
from unveil.files.write import write_table
from unveil.printable import one_line
from unveil.synthesis.adapters.returned_file import read_returned

PLACES = ("{in}", "{out}", "{seed}", "{n}")
"""What stands in a command for the two files, the seed, and the number of records to make."""
SEED_VARIABLE = "UNVEIL_SEED"
"""Environment variable with the seed: other users of the machine can read a command line, but not this."""
LAST = 1 << 16
"""Bytes of the standard error that are looked at for its last line."""


class CommandSynthesizer:
    """Makes each release by one call of a program.

    The program runs without a shell in a folder of its own that only the user can enter, which is removed when the call
    ends in whatever way. Words of the command that name existing files are made absolute. The environment has the seed
    as ``UNVEIL_SEED``, and temporary files go into the folder too.

    Parameters
    ----------
    command : str
        The program and its words, such as ``"Rscript my.R {in} {out} {seed}"``. ``{in}`` and ``{out}`` stand for the
        files, ``{seed}`` for the seed, ``{n}`` for the number of records to make.
    format : {"csv", "parquet"}
        Of both files. CSV is UTF-8 with commas and a header; a gap is an empty field.
    time_limit : float
        Seconds after which a call is ended, with all programs that it has started.

    Raises
    ------
    CallError
        If the command cannot be split into words, or lacks ``{in}`` or ``{out}``.

    Examples
    --------
    >>> import unveil
    >>> copies = CommandSynthesizer("cp {in} {out}")
    >>> people = unveil.simulate.demo_population(20, seed=1)
    >>> copies.fit(people).sample(20, seed=1).to_pylist() == people.to_pylist()
    True
    """

    flavour: ClassVar[Literal["arrow"]] = "arrow"

    def __init__(self, command: str, *, format: str = "csv", time_limit: float = 3600.0):
        check_choice("format", format, ("csv", "parquet"))
        check_positive(time_limit=time_limit)
        self.command, self.format, self.time_limit = command, format, time_limit
        self.__name__ = label_of(command)
        self._given: pa.Table | None = None

    def fit(self, frame: Any) -> CommandSynthesizer:
        """Keep the records; the program sees them at every draw."""
        source = open_source(frame, label="the original")
        self._given = make_frame({name: source.column(name) for name in source.names}, None, "arrow")
        return self

    def sample(self, n: int, seed: int = 0) -> pa.Table:
        """Return the records that the program makes.

        Raises
        ------
        CallError
            If nothing is fitted, or the program is not found.
        DataError
            If the program fails, takes too long, or its output is not a file of ``n`` records with the same columns.
        """
        if self._given is None:
            raise CallError("CommandSynthesizer: fit it to records first")
        with _private_folder() as folder:
            given, made = (folder / f"{name}.{self.format}" for name in ("in", "out"))
            try:
                write_table(self._given, given, confidential=True)
            except FileError as error:
                raise DataError(f"{self._said} cannot be given the records: {error}") from None
            self._run(folder, {"{in}": str(given), "{out}": str(made), "{seed}": str(seed), "{n}": str(n)})
            if not made.is_file():
                raise DataError(f"{self._said} ended well and wrote no file {{out}}; let it write the release there")
            try:
                release = read_returned(made, self._given)
            except DataError as error:
                raise DataError(f"{self._said}: {error}") from None
        self._check(release, n)
        return release

    @property
    def _said(self) -> str:
        return f"command {self.__name__!r}"

    def _check(self, release: pa.Table, n: int) -> None:
        assert self._given is not None
        missing = [name for name in self._given.column_names if name not in release.column_names]
        if missing:
            raise DataError(f"{self._said}: its output lacks the column {missing[0]!r}")
        if release.num_rows != n:
            hint = "" if "{n}" in self.command else "; tell it the number by {n}"
            raise DataError(f"{self._said} made {release.num_rows} records in place of {n}{hint}")

    def _run(self, folder: Path, values: dict[str, str]) -> None:
        words = words_of(self.command)
        if shutil.which(words[0]) is None:
            raise CallError(f"{self._said}: there is no program {words[0]!r}; install it, or give its path")
        words = [_filled(word, values) for word in words]
        variables = {SEED_VARIABLE: values["{seed}"], **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}
        heard = folder / "stderr"
        with heard.open("wb") as errors:
            try:
                process = subprocess.Popen(
                    words, cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=errors, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise DataError(f"{self._said} cannot be started: {error.strerror}") from None
            try:
                status = process.wait(self.time_limit)
            except subprocess.TimeoutExpired:
                raise DataError(
                    f"{self._said} took longer than {self.time_limit:g} s and was ended; allow more by time_limit "
                    "(--command-time-limit), or give fewer records"
                ) from None
            finally:
                end(process)
        if status:
            absent = [word for word in words_of(self.command)[1:] if _is_script(word) and not os.path.exists(word)]
            hint = f"; there is no file {absent[0]!r} in {os.getcwd()}" if absent else ""
            raise DataError(f"{self._said} failed with exit status {status}: {_last_line(heard)}{hint}")


def words_of(command: str) -> list[str]:
    """The words of a command.

    Raises
    ------
    CallError
        If a quote is not closed, or a place is missing.

    Examples
    --------
    >>> words_of("Rscript 'my script.R' {in} {out}")
    ['Rscript', 'my script.R', '{in}', '{out}']
    """
    if not isinstance(command, str):
        raise CallError(f"a command is a text, such as 'Rscript my.R {{in}} {{out}} {{seed}}', not {command!r}")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CallError(f"command {command!r}: {error}") from None
    for place in PLACES[:2]:
        if not any(place in word for word in words[1:]):
            raise CallError(
                f"command {command!r} lacks {place}, the file that it {'reads' if 'in' in place else 'writes'}"
            )
    return words


def label_of(command: str) -> str:
    """A command without its places, as results call it.

    Examples
    --------
    >>> label_of("Rscript code/my.R {in} {out} --seed={seed}")
    'Rscript my.R'
    """
    named = [word for word in words_of(command) if not any(place in word for place in PLACES)]
    return " ".join(Path(word).name if os.sep in word else word for word in named)


def _filled(word: str, values: dict[str, str]) -> str:
    """A word with its places filled; the name of an existing file as a path that holds in every folder."""
    if not any(place in word for place in values):
        # The program itself is looked for by its name unless it has a folder.
        return str(Path(word).absolute()) if os.path.isfile(word) else word
    for place, value in values.items():
        word = word.replace(place, value)
    return word


def _is_script(word: str) -> bool:
    """Whether a word reads like the name of a program's file, such as ``my.R``."""
    return not word.startswith("-") and re.fullmatch(r"\.[A-Za-z]\w*", Path(word).suffix) is not None


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder that only the user can enter, for as long as the block lasts."""
    with tidy_when_ended(), tempfile.TemporaryDirectory(prefix="unveil-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def end(process: subprocess.Popen[Any]) -> None:
    """End a program with all that it has started, if any of it still runs."""
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        # It is the first of its group, whose number is given to nobody else while a member of it runs.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(path: Path) -> str:
    """The last line of a file that is not empty."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - LAST, 0))
        lines = file.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it wrote nothing to its standard error")
    return one_line(last)[:200]
