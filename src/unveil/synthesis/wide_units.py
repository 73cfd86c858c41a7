"""Units kept whole: each is one record with a column for every variable and place, such as a wave or a person."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.coding import coded
from unveil.columns.column import CodedColumn
from unveil.columns.stated_rules import stated_rules
from unveil.columns.units import UnitRows
from unveil.errors import CallError
from unveil.files import read
from unveil.files.arrays import from_numpy
from unveil.files.distinct import distinct_of
from unveil.files.made_frames import make_frame
from unveil.files.source import DerivedColumns, Source, Variable
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer

MOST_PLACES = 20
"""Rows of a unit that are columns of their own; with more, a unit has too many columns."""
_BY_VARIABLE = ("special_codes", "kinds", "smoothing", "methods")
"""Settings by variable, which hold for each of its places."""
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class WideUnits(ABC):
    """A file of rows as a file of units, and back.

    Parameters
    ----------
    source
        The rows.
    rows : (n_places, n_units) intp
        Row of each unit in each place; -1 where it has none.
    whole
        Variables that are the same in all rows of each unit.
    """

    source: Source
    rows: Places
    whole: frozenset[str]

    @property
    @abstractmethod
    def naming(self) -> tuple[str, ...]:
        """The columns that name units and places; they are numbered anew."""

    @abstractmethod
    def called(self, place: int) -> str:
        """What a place is called, such as ``wave 2``."""

    @abstractmethod
    def before(self, place: int) -> dict[str, pa.ChunkedArray]:
        """Columns that come before those of a place, and say which units have a row in it."""

    @abstractmethod
    def without_row(self, place: int) -> Mapping[str, Any] | None:
        """Condition under which a unit has no row in a place; None where all have one."""

    @abstractmethod
    def present(self, drawn: Source) -> Flags:
        """Whether drawn units have a row in each place (n, n_places)."""

    @abstractmethod
    def numbered(self, name: str, units: Places, places: Places) -> pa.Array:
        """Values of a column of :attr:`naming`, of rows of which unit and place are given, from 0."""

    @property
    def variables(self) -> list[str]:
        """All variables."""
        return [name for name in self.source.names if name not in self.naming]

    def in_place(self, name: str, place: int) -> str:
        """What a variable of a place is called."""
        return name if name in self.whole else f"{name} ({self.called(place)})"

    def wide(self) -> Source:
        """A record for each unit: first its own variables, then those of each place."""
        first = from_numpy(self.rows.max(axis=0))
        columns = {name: self.source.column(name).take(first) for name in self.variables if name in self.whole}
        for place, rows in enumerate(self.rows):
            columns |= self.before(place)
            taken = pa.array(np.maximum(rows, 0), mask=rows < 0)
            for name in self.variables:
                if name not in self.whole:
                    columns[self.in_place(name, place)] = self.source.column(name).take(taken)
        variables: dict[str, Variable] = {
            self.in_place(name, place): replace(self.source.variable(name), name=self.in_place(name, place))
            for name in self.variables
            for place in range(len(self.rows))
        }
        return Source(
            self.source.label, tuple(columns), self.rows.shape[1], DerivedColumns(self.source, columns=columns),
            variables=variables,
        )  # fmt: skip

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options of the synthesizer of units: those of a variable for each place, and no values without a row."""
        stated = stated_rules(given.get("rules"))
        for text in (*stated.formulas.values(), *stated.limits):
            raise CallError(f"rules: {text!r}; units of several rows only have rules column=value if condition")
        for option in ("keep", "replace_rows"):
            if given.get(option) is not None:
                raise CallError(f"{option}: units of several rows are synthesised as a whole; leave it out")
        made = {**given, "rules": dict(stated.forced) or None}
        places = range(len(self.rows))
        for option in _BY_VARIABLE:
            if isinstance(by := made.get(option), Mapping):
                made[option] = {
                    wide: value
                    for name, value in by.items()
                    for wide in dict.fromkeys(self.in_place(name, place) for place in places)
                }
        rules = {name: list(pairs) for name, pairs in (made.get("rules") or {}).items()}
        for place in places:
            condition = self.without_row(place)
            for name in () if condition is None else self.variables:
                if name not in self.whole:
                    column = self.in_place(name, place)
                    rules[column] = [(condition, None), *rules.get(column, [])]
        return made | ({"rules": rules} if rules else {})

    def long(self, drawn: Source) -> Any:
        """A row for each place of each drawn unit that has one there."""
        units, places = np.nonzero(self.present(drawn))
        columns: dict[str, pa.ChunkedArray] = {}
        for name in self.source.names:
            if name in self.naming:
                columns[name] = pa.chunked_array([self.numbered(name, units, places)])
            elif name in self.whole:
                columns[name] = drawn.column(name).take(from_numpy(units))
            else:
                columns[name] = self._joined(name, drawn).take(from_numpy(places * drawn.num_rows + units))
        return make_frame(columns, self.source.like, self.source.flavour)

    def _joined(self, name: str, drawn: Source) -> pa.ChunkedArray:
        """The values of all places, place by place."""
        kind = self.source.column(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        parts = [drawn.column(self.in_place(name, place)).cast(kind) for place in range(len(self.rows))]
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind)


class UnitSynthesizer(ABC):
    """Sequential CART of units of several rows, each a record with a column for every variable and place.

    Parameters
    ----------
    **settings
        Options of :class:`unveil.CartSynthesizer`. ``special_codes``, ``kinds``, ``smoothing`` and ``methods`` by
        variable hold for all places; other options name the columns as they are synthesised (:attr:`columns`).
    """

    def __init__(self, **settings: Any):
        self.settings = settings
        CartSynthesizer(**settings)

    @abstractmethod
    def _units_of(self, source: Source) -> WideUnits:
        """The units of a file."""

    def fit(self, original: Any, *, seed: int | None = None) -> UnitSynthesizer:
        """Fit the trees to the units.

        Parameters
        ----------
        original
            The file of real rows: a path, a data frame, or what :func:`unveil.read` gives.
        seed : int, optional
            As of :meth:`unveil.CartSynthesizer.fit`.

        Raises
        ------
        CallError
            If a column or option is unknown, or units have too many rows.
        DataError
            If a row has no unit or place, two rows of a unit have the same one, or the units cannot be synthesised.
        """
        self._units = self._units_of(read(original))
        settings = self._units.settings(self.settings)
        self._synthesizer = CartSynthesizer(**settings).fit(self._units.wide(), seed=seed)
        return self

    @property
    def sequence(self) -> CartSynthesizer:
        """The synthesizer of the units.

        Raises
        ------
        CallError
            If nothing is fitted.
        """
        if not hasattr(self, "_units"):
            raise CallError("the synthesizer is not fitted; call fit first")
        return self._synthesizer

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the units as they are synthesised."""
        return self._units.wide().names

    @property
    def n_units(self) -> int:
        """Number of units of the original."""
        return int(self._units.rows.shape[1])

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw synthetic copies.

        Parameters
        ----------
        n : int, optional
            Number of units of each copy; as many as the original by default.
        m, seed
            As of :meth:`unveil.CartSynthesizer.sample`.

        Returns
        -------
        frame or list of frames
            A row for each place of each unit, in the flavour and with the types of the original.
        """
        drawn = self.sequence.sample(n, m=m, seed=seed_or_secret(seed))
        frames = [self._units.long(read(one)) for one in (drawn if m > 1 else [drawn])]
        return frames if m > 1 else frames[0]


def alone(source: Source, name: str) -> CodedColumn:
    """A column of one file."""
    return coded(name, [distinct_of(source, name)], [source], source.variable(name).kind, None)


def whole_variables(source: Source, units: UnitRows, left_out: Sequence[str]) -> frozenset[str]:
    """Variables that are the same in all rows of each unit."""
    others = [name for name in source.names if name not in left_out]
    return frozenset(name for name in others if units.are_alike(distinct_of(source, name).codes).all())
