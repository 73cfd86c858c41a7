"""The files that a synthesis writes: their names, checks that they can be written, and the writing of all or none."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from unveil.errors import CallError, FileError
from unveil.files.arrays import is_broken, quoted_list
from unveil.files.atomic import handled, tidy_when_ended
from unveil.files.folders import is_part_of, stands_for_several
from unveil.files.path_checks import check_replaceable
from unveil.files.write import ENDINGS, check_ending

T = TypeVar("T")

UNWRITABLE = (".xlsx", ".xls", ".ods", ".rds", ".rda", ".rdata", ".sas7bdat", ".por", ".json", ".zip", ".tar.gz")
"""Endings of files that cannot be written; no folder with such an ending is made."""


@dataclass(frozen=True)
class OutputPaths:
    """Paths of the files to write, all in one folder.

    Parameters
    ----------
    releases
        One path per copy.
    provenance
        Path of the provenance file.
    in_own_folder
        Whether the user named a folder, which is made if it does not exist; else the user named a single file.
    """

    releases: tuple[Path, ...]
    provenance: Path
    in_own_folder: bool

    @property
    def folder(self) -> Path:
        """Folder of the files."""
        return self.provenance.parent

    @property
    def pattern(self) -> str:
        """The releases as a pattern for a command line."""
        if len(self.releases) == 1:
            return shlex.quote(str(self.releases[0]))
        stem, ending = _split(self.releases[0])
        return shlex.quote(str(self.folder / stem.removesuffix("1"))) + f"*{shlex.quote(ending)}"

    @property
    def all(self) -> tuple[Path, ...]:
        """All paths."""
        return (*self.releases, self.provenance)


def choose_paths(original: Path, output: Path, m: int, *, format: str | None = None) -> OutputPaths:
    """Return the paths of the files to write.

    Parameters
    ----------
    original
        The file of real records.
    output
        A folder, or the name of a file where ``m`` is 1.
    m
        Number of copies.
    format
        Ending of the files in a folder; that of the original by default.

    Raises
    ------
    CallError
        If the format is unknown or cannot be written, or a single name is given for several copies.

    Examples
    --------
    >>> paths = choose_paths(Path("survey.sav"), Path("out"), 2, format="csv")
    >>> [path.name for path in paths.all]
    ['survey_syn1.csv', 'survey_syn2.csv', 'survey_syn.provenance.json']
    """
    if is_broken(str(output)):
        raise CallError(f"{str(output)!r} is not text, it holds half a character; choose another name")
    stem, ending = _split(output)
    if ending in ENDINGS and not os.path.isdir(output):
        if m > 1:
            raise CallError(f"{output.name} is one file and there are {m} copies: name a folder, or ask for m = 1")
        if format is not None and _ending(format) != ending:
            raise CallError(f"format {format!r} contradicts the name {output.name}; leave one of them out")
        return OutputPaths((output,), output.with_name(f"{stem}.provenance.json"), False)
    if ending in UNWRITABLE and not os.path.isdir(output):
        raise CallError(f"{output.name}: files like this cannot be written; choose from {', '.join(ENDINGS)}")
    stem, own = _split(original)
    ending = own if format is None else _ending(format)
    if ending not in ENDINGS:
        what = f"{original.name}: files like this cannot be written" if format is None else f"unknown format {format!r}"
        raise CallError(f"{what}; choose a format from {', '.join(e[1:] for e in ENDINGS)}")
    names = [f"{stem}_syn{copy}{ending}" for copy in range(1, m + 1)]
    return OutputPaths(tuple(output / name for name in names), output / f"{stem}_syn.provenance.json", True)


def _ending(format: str) -> str:
    return f".{format.lower().lstrip('.')}"


def _split(path: Path) -> tuple[str, str]:
    """Return a file's name without its ending, and the ending in lower case (".csv.gz" is one ending)."""
    zipped = ".gz" if path.suffix.lower() == ".gz" else ""
    name = path.name[: len(path.name) - len(zipped)]
    suffix = Path(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower() + zipped


def check_free(paths: OutputPaths, inputs: Iterable[Path], overwrite: bool) -> None:
    """Raise an error, before anything is computed, if a file cannot be written afterwards.

    Parameters
    ----------
    paths
        The files to write.
    inputs
        Files that are only read.
    overwrite
        Whether existing files may be replaced.

    Raises
    ------
    CallError
        If a file to be written is an input.
    FileError
        If a file exists or cannot be written.
    MissingPackageError
        If the format needs an optional package.
    """
    folder = paths.folder
    for path in paths.all:
        if not os.path.lexists(path):  # or the system does not allow the name
            check_replaceable(path, str(path))
    standing = next(parent for parent in (folder, *folder.absolute().parents) if os.path.exists(parent))
    if not standing.is_dir():
        raise FileError(f"{standing} is a file, not a folder; name a folder, or a file with a known ending")
    if standing != folder and not paths.in_own_folder:
        raise FileError(f"{paths.releases[0].name}: there is no folder {folder}; make it first")
    if not os.access(standing, os.W_OK):
        raise FileError(f"{standing}: nothing can be written to this folder; name another")
    for path in paths.all:
        for given in inputs:
            if is_part_of(path, given):
                what = f"is {given.name} itself, which is never overwritten"
                if stands_for_several(given):
                    what = f"would be read with the files of {given.name}"
                raise CallError(f"{path} {what}; choose another name")
        if os.path.lexists(path) and not overwrite:
            raise FileError(f"{path} exists; name another, or replace it: overwrite=True, --overwrite")
        check_replaceable(path, str(path))
    check_ending(paths.releases[0])


def leftovers(paths: OutputPaths) -> list[str]:
    """Return a warning about copies of an earlier run that had more copies; empty if there are none."""
    if not paths.in_own_folder or not paths.folder.is_dir():
        return []
    stem, ending = _split(paths.releases[0])
    pattern = re.compile(re.escape(stem[:-1]) + r"\d+" + re.escape(ending))
    now = {path.name for path in paths.releases}
    old = sorted(path.name for path in paths.folder.iterdir() if pattern.fullmatch(path.name) and path.name not in now)
    said = f"{paths.folder} still holds {quoted_list(old)} of an earlier run; remove what is out of date"
    return [said] if old else []


def write_all(paths: OutputPaths, write: Callable[[Path], T], *, overwrite: bool) -> T:
    """Write into a temporary folder, then move all files to their places; after any error none is there.

    Parameters
    ----------
    paths
        The files to write.
    write
        Function that writes the files, under their names, into a folder.
    overwrite
        Whether existing files may be replaced.

    Returns
    -------
    T
        Result of ``write``.

    Raises
    ------
    FileError
        If a file exists by now, or the folder cannot be written to.
    """
    with tidy_when_ended():
        return _write_all(paths, write, overwrite)


def _write_all(paths: OutputPaths, write: Callable[[Path], T], overwrite: bool) -> T:
    folder = paths.folder
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    staged = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".unveil-", dir=folder))
        made = write(staged)
        with _undisturbed():
            _move(paths, staged, overwrite)
            shutil.rmtree(staged, ignore_errors=True)
        return made
    except BaseException as error:
        with _undisturbed():
            if staged is not None:
                shutil.rmtree(staged, ignore_errors=True)
            for parent in missing:
                with suppress(OSError):
                    parent.rmdir()
        if isinstance(error, OSError):
            raise FileError(f"{folder}: cannot be written to ({error.strerror or error}); nothing was") from None
        raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay an interruption until the end of the block: it would leave some of the files, or the temporary folder."""
    received: list[int] = []
    with handled(("SIGINT", "SIGTERM", "SIGHUP"), lambda number, _: received.append(number)):
        yield
    if received:
        signal.raise_signal(received[0])


def _move(paths: OutputPaths, staged: Path, overwrite: bool) -> None:
    replaced = staged / "replaced"
    replaced.mkdir()
    try:
        for path in paths.all:
            if os.path.lexists(path):
                if not overwrite:
                    raise FileError(f"{path} exists by now; nothing was written")
                check_replaceable(path, str(path))
                os.rename(path, replaced / path.name)
            os.rename(staged / path.name, path)
    except BaseException:
        for path in paths.all:
            if not (staged / path.name).exists():
                path.unlink(missing_ok=True)
            if os.path.lexists(replaced / path.name):
                os.replace(replaced / path.name, path)
        raise
