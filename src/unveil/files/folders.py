"""Which files a folder or a pattern stands for, and what the names of folders say of their records."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from unveil.errors import FileError

PARQUET = ".parquet"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""Name of the part whose records have no value."""
_NO_RECORDS = (".json", ".md", ".html", ".htm", ".pdf", ".crc", ".toml", ".yaml", ".yml", ".xml")
"""Endings of files that may lie beside those of the records."""
_TABLES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata": "Iceberg"}
"""Folders that show that a table keeps a list of its files; others in the folder may be of the past."""


@dataclass(frozen=True)
class Part:
    """One file of several.

    Parameters
    ----------
    path
        The file.
    within
        Its path within the folder.
    name
        Its name in messages.
    values
        Value of each column that the names of its folders give (``region=3``), None for a gap.
    """

    path: Path
    within: str
    name: str
    values: tuple[tuple[str, str | None], ...]


def stands_for_several(path: str | Path) -> bool:
    """Whether a path is a folder, or a pattern such as ``people/*.parquet`` and no file.

    Examples
    --------
    >>> stands_for_several("people-*.parquet"), stands_for_several("people.parquet")
    (True, False)
    """
    try:
        return os.path.isdir(path) or (glob.has_magic(str(path)) and not os.path.lexists(path))
    except ValueError:  # a name that no file can have
        return False


def label_of(path: str | Path) -> str:
    """What messages call a folder or pattern: a pattern from the folder on in which it begins.

    Examples
    --------
    >>> label_of("/data/people"), label_of("/data/people/year=*/*.parquet")
    ('people', 'people/year=*/*.parquet')
    """
    path = Path(path)
    fixed = _fixed_part(path)
    return path.name or str(path) if fixed == path else path.relative_to(fixed.parent).as_posix()


def parts_of(path: str | Path, label: str | None = None) -> list[Part]:
    """The Parquet files of a folder or pattern, by name.

    Files and folders whose names begin with a dot or an underscore are left out, as programs that write folders mean
    it.

    Parameters
    ----------
    path
        The folder or pattern.
    label
        Its name in messages.

    Raises
    ------
    FileError
        If there are none, others are among them, or the folder is that of a table that keeps a list of its files.
    """
    root, label = _fixed_part(Path(path)), label or label_of(path)
    if os.path.isdir(path):
        found = sorted(_files_in(Path(path), label, set()))
    else:
        matched = [Path(one) for one in glob.glob(str(path), recursive=True)]
        if not matched:
            raise FileError(f"{label}: no file has such a name in {root.absolute()}")
        within = {file for one in matched if one.is_dir() for file in _files_in(one, label, set())}
        found = sorted(within | {one for one in matched if one.is_file()})
        found = [one for one in found if not any(map(_is_hidden, one.relative_to(root).parts))]
    _check_endings(found, label)
    files = [one for one in found if one.suffix.lower() == PARQUET]
    parts = [_part(file, file.relative_to(root), root) for file in files]
    _check_columns_of_names(parts)
    return parts


def is_part_of(path: str | Path, given: str | Path) -> bool:
    """Whether a file is the given one, is in the given folder, or is one that the given pattern finds.

    A file in the folder need not exist: once it is there, it is read with the others.

    Examples
    --------
    >>> is_part_of("people.json", "people.json"), is_part_of("people.json", "people.parquet")
    (True, False)
    """
    several = stands_for_several(path=given)
    for one in glob.glob(str(given), recursive=True) if several and not os.path.isdir(given) else [given]:
        if os.path.isdir(one) and Path(one).resolve() in Path(path).resolve().parents:
            return True
        if os.path.exists(path) and os.path.exists(one):
            if os.path.samefile(path, one):
                return True
        elif Path(path).resolve() == Path(one).resolve():
            return True
    return False


def _fixed_part(path: Path) -> Path:
    """The folder that a pattern is searched in; a path without signs of a pattern, or that exists, is all of it."""
    if os.path.lexists(path) or not glob.has_magic(str(path)):
        return path
    return next(one for one in path.parents if not glob.has_magic(str(one)))


def _files_in(folder: Path, label: str, seen: set[str]) -> Iterator[Path]:
    """All files of a folder and of its folders, without hidden ones."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise FileError(f"{label}: the folder {folder.name} cannot be read ({error.strerror})") from None
    if os.path.realpath(folder) in seen:
        raise FileError(f"{label}: a link leads back to the folder {folder.name}; remove it")
    inside = seen | {os.path.realpath(folder)}
    _refuse_tables(folder, [entry.name for entry in entries if entry.is_dir()], label)
    for entry in entries:
        if _is_hidden(entry.name):
            continue
        if entry.is_dir():
            yield from _files_in(Path(entry.path), label, inside)
        else:
            yield Path(entry.path)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _refuse_tables(folder: Path, folders: Sequence[str], label: str) -> None:
    for name, program in _TABLES.items():
        if name in folders and (name != "metadata" or any(folder.glob("metadata/*.metadata.json"))):
            raise FileError(
                f"{label}: a table of {program}, whose folder also holds records that were changed or deleted; write "
                "the records that count as Parquet files into a folder of their own"
            )


def _check_endings(found: Sequence[Path], label: str) -> None:
    """Records in files of other formats must not be left out without a word."""
    others = [one for one in found if one.suffix.lower() != PARQUET]
    if len(others) == len(found):
        held = f"it holds {others[0].name}" if others else "it holds none"
        raise FileError(
            f"{label}: a folder or pattern stands for Parquet files (names that end in {PARQUET}), and {held}; name "
            "files of other formats one by one"
        )
    data = [one for one in others if one.suffix.lower() not in _NO_RECORDS]
    if data:
        raise FileError(
            f"{label}: beside Parquet files there is {data[0].name}; move it, give it a name that begins with an "
            "underscore, or name the files by a pattern such as *.parquet"
        )


def _part(file: Path, within: Path, root: Path) -> Part:
    values = []
    for folder in within.parts[:-1]:
        column, sign, value = folder.partition("=")
        if sign and column:
            values.append((unquote(column), None if value == NO_VALUE else unquote(value)))
    return Part(file, within.as_posix(), (Path(root.name) / within).as_posix(), tuple(values))


def _check_columns_of_names(parts: Sequence[Part]) -> None:
    first = [column for column, _ in parts[0].values]
    for part in parts:
        columns = [column for column, _ in part.values]
        if columns != first:
            raise FileError(
                f"{part.name}: its folders name {_listed(columns)}, those of {parts[0].name} {_listed(first)}; all "
                "files of a folder need the same"
            )


def _listed(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns)) or "no column"
