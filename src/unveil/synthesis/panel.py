"""Synthesis of a panel: units stay whole, because each is one record with a column for every variable and wave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.coding import coded
from unveil.columns.unit_files import checked_unit
from unveil.columns.units import UnitRows
from unveil.errors import CallError
from unveil.files import read
from unveil.files.arrays import from_numpy
from unveil.files.distinct import distinct_of
from unveil.files.made_frames import make_frame
from unveil.files.source import DerivedColumns, Source, Variable
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer

MOST_WAVES = 20
"""Waves of a panel; with more, a unit has too many columns."""
_BY_VARIABLE = ("special_codes", "kinds", "smoothing", "methods")
"""Settings by variable, which hold for each of its waves."""
_YES, _NO = "yes", "no"


def check_panel(unit: object, time: object, method: str | None) -> None:
    """Refuse what cannot be synthesised with its units whole.

    Parameters
    ----------
    unit, time
        The columns that name unit and wave, or None for both.
    method
        The method; None for a synthesizer of others.

    Raises
    ------
    CallError
        If one is named without the other, several columns name a unit, or the method is not "cart".
    """
    if unit is None and time is None:
        return
    if not isinstance(unit, str) or not isinstance(time, str):
        raise CallError(
            "a panel is synthesised whole by one unit and the time of its rows, such as unit='person_id', "
            "time='wave'; households have neither order nor fixed places, and are not"
        )
    if method != "cart":
        others = "a synthesizer that is given" if method is None else repr(method)
        raise CallError(f"units are kept whole by method 'cart', not by {others}; leave out unit and time")


class PanelSynthesizer:
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
        check_panel(unit, time, "cart")
        self.unit = unit
        self.time = time
        self.settings = settings
        CartSynthesizer(**settings)

    def fit(self, original: Any, *, seed: int | None = None) -> PanelSynthesizer:
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
            If a column or option is unknown, or there are too many waves.
        DataError
            If a row has no unit or wave, two rows of a unit have the same wave, or the units cannot be synthesised.
        """
        checked_unit(self.unit, self.time)
        self._panel = _Panel.of(read(original), self.unit, self.time)
        settings = self._panel.settings(self.settings)
        self._synthesizer = CartSynthesizer(**settings).fit(self._panel.wide(), seed=seed)
        return self

    @property
    def sequence(self) -> CartSynthesizer:
        """The synthesizer of the units.

        Raises
        ------
        CallError
            If nothing is fitted.
        """
        if not hasattr(self, "_panel"):
            raise CallError("the synthesizer is not fitted; call fit first")
        return self._synthesizer

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the units as they are synthesised."""
        return self._panel.wide().names

    @property
    def n_units(self) -> int:
        """Number of units of the original."""
        return int(self._panel.rows.shape[1])

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
            A row for each wave of each unit, in the flavour and with the types of the original.
        """
        drawn = self.sequence.sample(n, m=m, seed=seed_or_secret(seed))
        frames = [self._panel.long(read(one)) for one in (drawn if m > 1 else [drawn])]
        return frames if m > 1 else frames[0]


@dataclass(frozen=True, eq=False)
class _Panel:
    """A file of rows as a file of units, and back.

    Parameters
    ----------
    source
        The rows.
    unit, time
        The columns that name units and waves.
    waves
        The waves in their order.
    labels
        What they are called.
    rows : (n_waves, n_units) intp
        Row of each unit in each wave; -1 where it has none.
    whole
        Variables that are the same in all rows of each unit.
    """

    source: Source
    unit: str
    time: str
    waves: pa.Array
    labels: tuple[str, ...]
    rows: NDArray[np.intp]
    whole: frozenset[str]

    @classmethod
    def of(cls, source: Source, unit: str, time: str) -> _Panel:
        for name in (unit, time):
            source.require(name)
        column = coded(time, [distinct_of(source, time)], [source], source.variable(time).kind, None)
        if len(column.levels) > MOST_WAVES:
            raise CallError(
                f"{time!r} has {len(column.levels)} values; a panel is synthesised with up to {MOST_WAVES} waves: "
                "merge them, or synthesise the rows one by one (without unit)"
            )
        units = UnitRows.of(source, [unit], column, column.original)
        rows = np.full((len(column.levels), len(units)), -1)
        rows[column.original[units.rows], np.repeat(np.arange(len(units)), units.sizes)] = units.rows
        others = [name for name in source.names if name not in (unit, time)]
        whole = frozenset(name for name in others if units.are_alike(distinct_of(source, name).codes).all())
        return cls(source, unit, time, column.levels, column.labels, rows, whole)

    @property
    def variables(self) -> list[str]:
        """All variables."""
        return [name for name in self.source.names if name not in (self.unit, self.time)]

    def in_wave(self, name: str, wave: int) -> str:
        """What a variable of a wave is called."""
        return name if name in self.whole else f"{name} ({self.time} {self.labels[wave]})"

    def here(self, wave: int) -> str:
        """What the column is called that says whether a unit is in a wave."""
        return f"in {self.time} {self.labels[wave]}"

    def wide(self) -> Source:
        """A record for each unit."""
        first = self.rows.max(axis=0)
        columns = {
            name: self.source.column(name).take(from_numpy(first)) for name in self.variables if name in self.whole
        }
        for wave, rows in enumerate(self.rows):
            absent = rows < 0
            if absent.any():
                columns[self.here(wave)] = pa.chunked_array([np.where(absent, _NO, _YES)])
            places = pa.array(np.maximum(rows, 0), mask=absent)
            for name in self.variables:
                if name not in self.whole:
                    columns[self.in_wave(name, wave)] = self.source.column(name).take(places)
        variables: dict[str, Variable] = {
            self.in_wave(name, wave): replace(self.source.variable(name), name=self.in_wave(name, wave))
            for name in self.variables
            for wave in range(len(self.waves))
        }
        return Source(
            self.source.label, tuple(columns), self.rows.shape[1], DerivedColumns(self.source, columns=columns),
            variables=variables,
        )  # fmt: skip

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options of the synthesizer of units: those of a variable for each wave, and no values without a row."""
        made = dict(given)
        for option in _BY_VARIABLE:
            if isinstance(by := made.get(option), Mapping):
                made[option] = {
                    wide: value
                    for name, value in by.items()
                    for wide in dict.fromkeys(self.in_wave(name, wave) for wave in range(len(self.waves)))
                }
        rules = {name: list(pairs) for name, pairs in (made.get("rules") or {}).items()}
        for wave, rows in enumerate(self.rows):
            if (rows < 0).any():
                for name in self.variables:
                    if name not in self.whole:
                        column = self.in_wave(name, wave)
                        rules[column] = [({self.here(wave): _NO}, None), *rules.get(column, [])]
        return made | ({"rules": rules} if rules else {})

    def long(self, drawn: Source) -> Any:
        """A row for each wave of each drawn unit."""
        n, n_waves = drawn.num_rows, len(self.waves)
        present = np.ones((n, n_waves), dtype=bool)
        for wave in range(n_waves):
            if self.here(wave) in drawn:
                present[:, wave] = np.array(drawn.column(self.here(wave)).to_pylist()) == _YES
        units, waves = np.nonzero(present)
        columns: dict[str, pa.ChunkedArray] = {}
        for name in self.source.names:
            if name == self.unit:
                columns[name] = pa.chunked_array([units + 1])
            elif name == self.time:
                columns[name] = pa.chunked_array([self.waves.take(from_numpy(waves))])
            elif name in self.whole:
                columns[name] = drawn.column(name).take(from_numpy(units))
            else:
                columns[name] = self._joined(name, drawn).take(from_numpy(waves * n + units))
        return make_frame(columns, self.source.like, self.source.flavour)

    def _joined(self, name: str, drawn: Source) -> pa.ChunkedArray:
        """The values of all waves, wave by wave."""
        kind = self.source.column(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        parts = [drawn.column(self.in_wave(name, wave)).cast(kind) for wave in range(len(self.waves))]
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind)
