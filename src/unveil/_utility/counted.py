"""Utility where an engine counts the records: tables from counts of all of them, models from records that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unveil._utility.compared import Compared, in_groups
from unveil._utility.counted_tables import Margins, Products, SpreadAmounts, Table
from unveil._utility.joint import JointTables
from unveil._utility.measures import UtilityMeasures
from unveil._utility.pairs import pair_measures
from unveil._utility.sample import DRAWS, MOST_RECORDS, Sample
from unveil.columns.column import CodedColumn
from unveil.columns.counted import by_raw_code
from unveil.columns.drawn import drawn_pair
from unveil.columns.pair import Pair
from unveil.errors import CallError

MOST_COUNTED: Mapping[str, int] = {**MOST_RECORDS, "models": 100_000}
"""Records of each file that a part draws at most where records are counted, unless another number is asked for."""


def most_drawn(most_records: int | None) -> int:
    """Number of records of a file that are drawn at most, for all parts and their samples together."""
    return max((most_records or most) * DRAWS.get(part, 1) for part, most in MOST_COUNTED.items())


@dataclass(frozen=True, eq=False)
class CountedRecords:
    """The variables of files whose records an engine counts.

    Parameters
    ----------
    pair
        The files.
    variables
        The variables; in the place of records there are the values of each file.
    most_records
        Records of each file that a part draws at most, if a number was asked for.
    seed
        Seed of the draw.
    """

    pair: Pair
    variables: tuple[Compared, ...]
    most_records: int | None
    seed: int

    @classmethod
    def of(cls, pair: Pair, names: Sequence[str], n_groups: int, most_records: int | None, seed: int) -> CountedRecords:
        """Count the values of the columns.

        Raises
        ------
        CallError
            If the original has design weights.
        """
        if pair.weights is not None:
            raise CallError(
                "utility with design weights takes the records themselves: leave out weights, or take engine='memory'"
            )
        pair.prepare(names, [])
        columns = [pair.compared(name, by_amount=True) for name in names]
        return cls(pair, tuple(in_groups(column, n_groups) for column in columns), most_records, seed)

    @cached_property
    def _drawn(self) -> tuple[Compared, ...]:
        names = [variable.name for variable in self.variables]
        drawn = drawn_pair(self.pair, names, most_drawn(self.most_records), self.seed)
        columns = [drawn.column(name, by_amount=True) for name in names]
        return tuple(Compared(column, column) for column in columns)

    def samples_of(self, part: str) -> tuple[tuple[tuple[Compared, ...], ...], Sample]:
        """The samples that a part is computed on, and how large they are."""
        most, draws = self.most_records or MOST_COUNTED[part], DRAWS.get(part, 1)
        made = tuple(tuple(_piece(one, most, number, draws) for one in self._drawn) for number in range(draws))
        of = (self.pair.n_original, *self.pair.n_synthetic)
        first = made[0][0].column
        return made, Sample(tuple(map(len, (first.original, *first.releases))), of, draws)

    def compare_pairs(self, *, corrected: bool, step: Callable[[str], None] | None) -> tuple[UtilityMeasures, ...]:
        """Distances of all two-way tables, and of the associations in them, from counts of all records."""
        found: list[UtilityMeasures] = []
        for place, first in enumerate(self.variables[:-1], start=1):
            others = self.variables[place:]
            tables = self._tables(first, others)
            apart = self._correlations(first, others)
            for number, second in enumerate(others):
                releases = [
                    tables[release][number] for release in range(self.pair.n_releases)
                ]  # fmt: skip
                figures = [
                    one.figures(corrected)[0] | more for one, more in zip(releases, apart[number], strict=True)
                ]  # fmt: skip
                found.append(pair_measures(first, second, figures))
            if step:
                step(first.name)
        return tuple(found)

    def _tables(self, first: Compared, others: Sequence[Compared]) -> list[list[JointTables]]:
        """Per release the table of one variable with each of the others."""
        engine, measure = self.pair.engine, Table()
        assert engine is not None
        keys, beside = by_raw_code([first.cells]), [by_raw_code([other.cells]) for other in others]
        found = [one.ordered() for one in engine.total(keys, beside, [measure] * len(others))]
        return [
            [
                one.joint(first.cells, other.cells, release)
                for one, other in zip(found, others, strict=True)
            ]
            for release in range(self.pair.n_releases)
        ]  # fmt: skip

    def _correlations(self, first: Compared, others: Sequence[Compared]) -> list[list[dict[str, float]]]:
        """Per other variable and release the correlations of amounts; nothing where a variable has none."""
        engine = self.pair.engine
        assert engine is not None
        nothing: list[list[dict[str, float]]] = [[{} for _ in range(self.pair.n_releases)] for _ in others]
        with_amounts = [place for place, other in enumerate(others) if other.column.has_amounts]
        if not first.column.has_amounts or not with_amounts:
            return nothing
        keys = by_raw_code([first.column])
        beside = [by_raw_code([others[place].column]) for place in with_amounts]
        present = [Margins(first.column.is_amount, others[place].column.is_amount) for place in with_amounts]
        margins = engine.total(keys, beside, present)
        spread = [
            SpreadAmounts.of(first, others[place], one) for place, one in zip(with_amounts, margins, strict=True)
        ]  # fmt: skip
        sums = engine.total(keys, beside, [Products(one.first, one.second) for one in spread])
        for place, one, total in zip(with_amounts, spread, sums, strict=True):
            nothing[place] = one.figures(total)
        return nothing


def _piece(drawn: Compared, most: int, number: int, draws: int) -> Compared:
    """The records of one sample: of a file with enough records others than those of the other samples."""

    def some(codes: np.ndarray) -> np.ndarray:
        if len(codes) <= most:
            return codes
        if len(codes) < draws * most:
            # of a file with fewer records the samples overlap, each as far as can be from the last
            start = number * (len(codes) - most) // max(draws - 1, 1)
            return codes[start : start + most]
        return codes[number * most : (number + 1) * most]

    column: CodedColumn = drawn.column
    piece = replace(column, original=some(column.original), releases=tuple(map(some, column.releases)))
    return Compared(piece, piece)
