"""Synthesis of households: first the household and its size, then its persons, each given those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.columns.unit_files import checked_unit
from unveil.columns.units import UnitRows
from unveil.errors import CallError, DataError
from unveil.files.arrays import from_numpy
from unveil.files.source import Source
from unveil.synthesis.wide_units import MOST_PLACES, Flags, Places, UnitSynthesizer, WideUnits, alone, whole_variables

_SIZE = "number of persons"


class HouseholdSynthesizer(UnitSynthesizer):
    """Sequential CART of households with a row for each person.

    First come the variables that are the same for all persons of each household, then its number of persons. The
    variables of the first person are synthesised given these, those of the second given these and the first person, and
    so on. Persons stand in the order of their numbers: what is known of a household (head first, spouse next) should be
    in that order. Where a household has no more persons, nothing is drawn.

    Parameters
    ----------
    unit
        The column that names the household of each row, and the one that numbers persons in it. Households have up to
        20 persons. Those of a copy have numbers of their own, and so have persons: within the household, if they do so
        in the original (1, 2, ...), and else through the file.
    **settings
        Options of :class:`unveil.CartSynthesizer`. ``special_codes``, ``kinds``, ``smoothing`` and ``methods`` by
        variable hold for all persons; other options name the columns as they are synthesised, such as
        ``"age (place 2)"``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"home": [i // 2 for i in range(80)], "person": [1, 2] * 40,
    ...                  "region": ["n", "n", "s", "s"] * 20, "age": [30, 32, 50, 54] * 20})
    >>> copy = HouseholdSynthesizer(["home", "person"]).fit(rows, seed=1).sample(2, seed=2)
    >>> copy.column_names, copy["home"].to_pylist(), copy["person"].to_pylist()
    (['home', 'person', 'region', 'age'], [1, 1, 2, 2], [1, 2, 1, 2])
    """

    def __init__(self, unit: Sequence[str], **settings: Any):
        self.unit = checked_unit(unit, None)
        if len(self.unit) != 2:
            raise CallError("households are named by two columns, such as unit=['household', 'person']")
        super().__init__(**settings)

    def _units_of(self, source: Source) -> _Households:
        return _Households.of(source, *self.unit)


@dataclass(frozen=True, eq=False)
class _Households(WideUnits):
    """A file of persons as a file of households with all their persons.

    Parameters
    ----------
    household, person
        The columns that name households and number persons.
    is_within
        Whether persons are numbered 1, 2, ... in every household.
    """

    household: str
    person: str
    is_within: bool

    @classmethod
    def of(cls, source: Source, household: str, person: str) -> _Households:
        for name in (household, person):
            source.require(name)
        column = alone(source, person)
        if (gaps := np.flatnonzero(column.original == len(column.levels))).size:
            raise DataError(f"{source.label}: row {gaps[0] + 1} has no {person!r}; number all persons of a household")
        units = UnitRows.of(source, [household], None, None).in_order(column.original)
        n, most = np.repeat(np.arange(len(units)), units.sizes), int(units.sizes.max(initial=1))
        if most > MOST_PLACES:
            raise CallError(
                f"a household of {source.label} has {most} persons; households are synthesised with up to "
                f"{MOST_PLACES}: leave larger ones out, or synthesise the persons one by one (without unit)"
            )
        codes = column.original[units.rows]
        if (same := np.flatnonzero((np.diff(n) == 0) & (np.diff(codes) == 0))).size:
            one, other = sorted((units.rows[same[0] : same[0] + 2] + 1).tolist())
            raise DataError(
                f"{source.label}: rows {one} and {other} are of one household and have the same {person!r}; number the "
                "persons of a household differently"
            )
        place = np.arange(len(n)) - np.repeat(units.starts[:-1], units.sizes)
        rows = np.full((most, len(units)), -1)
        rows[place, n] = units.rows
        is_within = column.kind == "numeric" and bool((column.amounts[codes] == place + 1).all())
        whole = whole_variables(source, units, (household, person))
        return cls(source, rows, whole, household, person, is_within)

    @property
    def naming(self) -> tuple[str, ...]:
        return self.household, self.person

    def called(self, place: int) -> str:
        return f"place {place + 1}"

    def before(self, place: int) -> dict[str, pa.ChunkedArray]:
        if place or len(self.rows) == 1:
            return {}
        # A text, so that no number is drawn between two sizes.
        return {_SIZE: pa.chunked_array([(self.rows >= 0).sum(axis=0).astype(str)])}

    def without_row(self, place: int) -> Mapping[str, Any] | None:
        if (self.rows[place] >= 0).all():
            return None
        return {_SIZE: [str(size) for size in range(1, place + 1)]}

    def present(self, drawn: Source) -> Flags:
        sizes = np.ones(drawn.num_rows, dtype=np.intp)
        if _SIZE in drawn:
            sizes = np.array(drawn.column(_SIZE).to_pylist()).astype(np.intp)
        found: Flags = np.arange(len(self.rows)) < sizes[:, None]
        return found

    def numbered(self, name: str, units: Places, places: Places) -> pa.Array:
        if name == self.household:
            return from_numpy(units + 1)
        return from_numpy(places + 1 if self.is_within else np.arange(1, len(units) + 1))
