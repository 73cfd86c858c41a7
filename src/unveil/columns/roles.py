"""The columns that are measured by default, without identifiers, and notes on the columns that are left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from unveil.columns.column import CodedColumn
from unveil.columns.identifiers import Identifier, identifier_in_file, identifier_of, is_named_like_one
from unveil.engines.engine import CountedValues
from unveil.errors import UnveilError, UnveilWarning
from unveil.files.nearest import folded
from unveil.files.source import Source
from unveil.notes import Note

_MANY = 100_000
"""Number of records from which on identifiers of text are looked for in the original alone."""


@dataclass(eq=False)
class Roles:
    """Which columns of an original and its releases are measured by default, and which look like identifiers.

    Parameters
    ----------
    original, releases
        The files.
    coded
        Function from the name of a column that all files have to the column.
    counted
        Function from the name of a column of the original to what an engine knows of it; None without an engine.
    weights
        The column of design weights, which is not measured by default; None where there is none.
    of_units
        Whether the records are units already, so that nobody looks for numbers of units.
    """

    original: Source
    releases: tuple[Source, ...]
    coded: Callable[[str], CodedColumn]
    counted: Callable[[str], CountedValues] | None = None
    weights: str | None = None
    of_units: bool = False
    _found: dict[str, Identifier | None] = field(default_factory=dict)

    def identifier(self, name: str) -> Identifier | None:
        """Return the identifier that a column of all files looks like in the original; else None.

        Raises
        ------
        DataError
            If the column cannot be read or compared.
        """
        if name not in self._found:
            self._found[name] = self._of_many_values(name) or identifier_of(self.coded(name))
        return self._found[name]

    def _of_many_values(self, name: str) -> Identifier | None:
        """Return what the original alone shows of a column of text, so that millions of names need not be compared."""
        if self.original.num_rows < _MANY or self.original.variable(name).kind is not None:
            return None
        found = identifier_in_file(self.original, name, self.counted(name) if self.counted else None, only_text=True)
        return found if found is not None and found.of == "record" else None

    def identifier_notes(self, names: Iterable[str]) -> list[Note]:
        """Return a note on each of the columns that looks like an identifier."""
        return [
            Note(
                f"column {name!r} looks like an identifier: {one.reason}; leave it out, unless the value itself is "
                "what an intruder knows or wants to know"
            )
            for name in names
            if (one := self.identifier(name)) is not None
        ]

    def default_columns(self, exclude: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[Note, ...]]:
        """Return the columns that are measured by default: columns of every file, without identifiers and weights.

        Parameters
        ----------
        exclude
            Columns that are left out because they have another role.

        Returns
        -------
        tuple of str
            The columns.
        tuple of Note
            Notes on columns that are left out.
        """
        exclude = (*exclude,)
        names = [name for name in self.original.names if name not in {*exclude, self.weights}]
        common = [name for name in names if all(name in release for release in self.releases)]
        left = [name for name in common if self.identifier(name) is not None]
        notes = [
            Note(f"column {name!r} looks like an identifier and is left out; name it to have it measured")
            for name in left
        ]
        missing = self.not_in_every_release(exclude)
        return tuple(name for name in common if name not in left), (*notes, *([] if missing is None else [missing]))

    def not_in_every_release(self, exclude: Iterable[str] = ()) -> Note | None:
        """Return a note on the columns of the original that a release lacks, but for identifiers; None without any.

        Parameters
        ----------
        exclude
            Columns that are left out because they have another role.
        """
        names = [name for name in self.original.names if name not in {*exclude, self.weights}]
        missing = [name for name in names if not all(name in release for release in self.releases)]
        missing = [name for name in missing if not self._looks_like_one(name)]
        if not missing:
            return None
        meant = [hint for name in missing for hint in self._called_otherwise(name)]
        return Note("; ".join([f"not in every release, and not compared: {', '.join(missing)}", *meant]))

    @cached_property
    def repeated_identifiers(self) -> tuple[Note, ...]:
        """Return notes on columns with the name of an identifier that repeat like numbers of persons."""
        looked_at = [] if self.of_units else [name for name in self.original.names if is_named_like_one(name)]
        units = {name: one for name in looked_at if (one := self._quietly(name)) is not None and one.of == "unit"}
        if not units:
            return ()
        name = max(units, key=lambda n: units[n].values)
        one = units[name]
        start = f"column {name!r} of {self.original.label} repeats as numbers of persons or households do"
        end = (
            "figures count records, and nobody who has several alike is unique in any of them: name it as the unit "
            f"(unit={name!r}; --unit)"
        )
        counted = f"{one.values} values, each about {one.records / one.values:.3g} times"
        return (Note(f"{start} ({counted}); {end}", f"{start}; {end}"),)

    def _called_otherwise(self, name: str) -> list[str]:
        """Return the releases with a column whose name differs only in letter case, blanks or accents."""
        return [
            f"{release.label} has {other!a}, perhaps for {name!a}"
            for release in self.releases
            if name not in release
            for other in release.names
            if folded(other) == folded(name) and other not in self.original
        ]

    def _looks_like_one(self, name: str) -> bool:
        return self._quietly(name) is not None

    def _quietly(self, name: str) -> Identifier | None:
        """Return the identifier that a column looks like, without warnings and errors; else None."""
        if name not in self._found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnveilWarning)
                with suppress(UnveilError):
                    return identifier_in_file(self.original, name, self.counted(name) if self.counted else None)
        return self._found.get(name)
