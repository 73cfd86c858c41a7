"""Synthesis of a panel: units stay whole, because each is one record with a column for every variable and wave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.columns.unit_files import checked_unit
from unveil.columns.units import UnitRows
from unveil.errors import CallError
from unveil.files.arrays import from_numpy
from unveil.files.source import Source
from unveil.synthesis.wide_units import MOST_PLACES, Flags, Places, UnitSynthesizer, WideUnits, alone, whole_variables

_YES, _NO = "yes", "no"


class PanelSynthesizer(UnitSynthesizer):
    """Sequential CART of persons with a row for each wave.

    A variable that is the same in all rows of each unit is one column; any other has a column for each wave, which is
    synthesised given the units' own columns and all earlier waves. Where some units have no row in a wave, whether they
    have one comes first; where they have none, nothing is drawn.

    Parameters
    ----------
    unit
        The column that names the unit of each row. Units of a copy have numbers of their own.
    time
        The column that holds the wave; it has up to 20 different values.
    **settings
        Options of :class:`unveil.CartSynthesizer`. ``special_codes``, ``kinds``, ``smoothing`` and ``methods`` by
        variable hold for all its waves; other options name the columns as they are synthesised, such as
        ``"income (wave 2)"``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"id": [i // 2 for i in range(80)], "wave": [1, 2] * 40, "sex": ["f", "f", "m", "m"] * 20,
    ...                  "job": ["a", "b", "b", "b"] * 20})
    >>> panel = PanelSynthesizer("id", "wave").fit(rows, seed=1).sample(3, seed=2)
    >>> panel.column_names, panel["id"].to_pylist(), panel["wave"].to_pylist()
    (['id', 'wave', 'sex', 'job'], [1, 1, 2, 2, 3, 3], [1, 2, 1, 2, 1, 2])
    """

    def __init__(self, unit: str, time: str, **settings: Any):
        checked_unit(unit, time)
        self.unit, self.time = unit, time
        super().__init__(**settings)

    def _units_of(self, source: Source) -> _Panel:
        return _Panel.of(source, self.unit, self.time)


@dataclass(frozen=True, eq=False)
class _Panel(WideUnits):
    """A file of rows as a file of persons with all their waves.

    Parameters
    ----------
    unit, time
        The columns that name units and waves.
    waves
        The waves in their order.
    labels
        What they are called.
    """

    unit: str
    time: str
    waves: pa.Array
    labels: tuple[str, ...]

    @classmethod
    def of(cls, source: Source, unit: str, time: str) -> _Panel:
        for name in (unit, time):
            source.require(name)
        column = alone(source, time)
        if len(column.levels) > MOST_PLACES:
            raise CallError(
                f"{time!r} has {len(column.levels)} values; a panel is synthesised with up to {MOST_PLACES} waves: "
                "merge them, or synthesise the rows one by one (without unit)"
            )
        units = UnitRows.of(source, [unit], column, column.original)
        rows = np.full((len(column.levels), len(units)), -1)
        rows[column.original[units.rows], np.repeat(np.arange(len(units)), units.sizes)] = units.rows
        whole = whole_variables(source, units, (unit, time))
        return cls(source, rows, whole, unit, time, column.levels, column.labels)

    @property
    def naming(self) -> tuple[str, ...]:
        return self.unit, self.time

    def called(self, place: int) -> str:
        return f"{self.time} {self.labels[place]}"

    def _here(self, place: int) -> str:
        """What the column is called that says whether a unit is in a wave."""
        return f"in {self.called(place)}"

    def before(self, place: int) -> dict[str, pa.ChunkedArray]:
        absent = self.rows[place] < 0
        return {self._here(place): pa.chunked_array([np.where(absent, _NO, _YES)])} if absent.any() else {}

    def without_row(self, place: int) -> Mapping[str, Any] | None:
        return {self._here(place): _NO} if (self.rows[place] < 0).any() else None

    def present(self, drawn: Source) -> Flags:
        found = np.ones((drawn.num_rows, len(self.rows)), dtype=bool)
        for place in range(len(self.rows)):
            if self._here(place) in drawn:
                found[:, place] = np.array(drawn.column(self._here(place)).to_pylist()) == _YES
        return found

    def numbered(self, name: str, units: Places, places: Places) -> pa.Array:
        return from_numpy(units + 1) if name == self.unit else self.waves.take(from_numpy(places))
