"""Compare at the coarseness of the releases: the original is recoded to the levels that they hold.

The releases of a pair hold levels of a hierarchy. Each value, of all files, becomes its coarsest level that some
release holds: itself, or a coarser one. Where releases mix coarsenesses, so that one holds a level and a finer one
below it, the finer one is recoded too: what is compared is the coarsest common cut through the hierarchy. A value of
which no release holds any level is raised as many steps as the least coarse level of the releases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyarrow as pa

from unveil.columns.coding import coded
from unveil.columns.column import CodedColumn
from unveil.columns.hierarchy import Hierarchy
from unveil.errors import DataError
from unveil.files.distinct import distinct_of
from unveil.files.nearest import near_matches
from unveil.files.source import DerivedColumns, Scalar, Source
from unveil.notes import Note

SpecialCodes = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class CommonCut:
    """To which levels one column of all files is recoded.

    Parameters
    ----------
    name
        The column.
    hierarchy
        Its levels.
    held
        Levels that the releases hold.
    least
        Steps that the least coarse of them is above the finest.
    """

    name: str
    hierarchy: Hierarchy
    held: frozenset[str]
    least: int

    def level_of(self, level: str, amount: float | None) -> str:
        """The level that a value becomes."""
        path = self.hierarchy.path(level, amount)
        held = [one for one in path if one in self.held]
        if held:
            return held[-1]
        return [one for one in path if self.hierarchy.heights.get(one, 0) <= self.least or one == level][-1]

    def recoded(self, column: CodedColumn) -> pa.ChunkedArray:
        """The values of one file, coded by itself."""
        levels = [
            self.level_of(*value) if code not in column.special else value[0]
            for code, value in enumerate(_values(column, self.hierarchy))
        ]
        codes = pa.array(column.original, mask=column.original == len(levels))
        return pa.chunked_array([pa.array(levels, pa.string()).take(codes).dictionary_encode()])


def at_common_cut(
    sources: Sequence[Source], hierarchies: Mapping[str, Hierarchy], special_codes: SpecialCodes
) -> tuple[list[Source], list[CommonCut], list[Note]]:
    """The original and its releases at the coarseness of the releases, the cuts, and what deserves a look.

    Columns of which no release holds a coarser level stay as they are.

    Raises
    ------
    DataError
        If a level of the original or a release has no place in its hierarchy.
    """
    cuts, notes = [], []
    for name, hierarchy in hierarchies.items():
        if not all(name in source for source in sources):
            continue
        columns = [_alone(source, name, special_codes) for source in sources]
        cut = _cut(name, hierarchy, columns, [source.label for source in sources])
        if cut is None:
            continue
        cuts.append(cut)
        finer = [level for level in cut.held if cut.level_of(level, _amount(level)) != level]
        if finer:
            words = f"column {name!r}: the releases hold coarse levels and finer ones below them; these are recoded too"
            notes.append(Note(f"{words} ({len(finer)} levels)", words))
    return [recoded(source, cuts, special_codes) for source in sources], cuts, notes


def recoded(source: Source, cuts: Sequence[CommonCut], special_codes: SpecialCodes) -> Source:
    """A file at the coarseness of the cuts."""
    columns = {cut.name: cut.recoded(_alone(source, cut.name, special_codes)) for cut in cuts if cut.name in source}
    if not columns:
        return source
    variables, declared = (
        MappingProxyType({name: one for name, one in by_name.items() if name not in columns})
        for by_name in (source.variables, source.declared)
    )
    return replace(source, fetch=DerivedColumns(source, columns=columns), native=None, batches=None,
                   variables=variables, declared=declared)  # fmt: skip


def _alone(source: Source, name: str, special_codes: SpecialCodes) -> CodedColumn:
    return coded(name, [distinct_of(source, name)], [source], None, special_codes.get(name))


def _values(column: CodedColumn, hierarchy: Hierarchy) -> list[tuple[str, float | None]]:
    """Each level as the hierarchy calls it, by its text or its label, and the amount that it is."""
    by_label = {code: label for label in column.naming.by_label for code in [column.code_of(label)]}
    found = []
    for code in range(len(column.levels)):
        text = column.label(code)
        other = by_label.get(code)
        level = other if other is not None and not hierarchy.knows(text) and hierarchy.knows(other) else text
        found.append((level, float(column.amounts[code]) if column.is_amount[code] else _amount(text)))
    return found


def _amount(text: str) -> float | None:
    """The finite number that a text is, as among intervals in a column of texts."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _cut(name: str, hierarchy: Hierarchy, columns: Sequence[CodedColumn], labels: Sequence[str]) -> CommonCut | None:
    """The cut of a column; None where no release holds a coarser level."""
    known, files = set[str](), []
    for column in columns:
        values = _values(column, hierarchy)
        files.append({value[0]: value[1] for code, value in enumerate(values) if code not in column.special})
        known |= {column.label(code) for code in column.special}
    held = frozenset(level for file in files[1:] for level in file)
    if not any(level in hierarchy.heights for level in held):
        return None
    for label, file in zip(labels, files, strict=True):
        for level, amount in file.items():
            if not hierarchy.knows(level) and len(hierarchy.path(level, amount)) == 1 and level not in known:
                names = sorted({*hierarchy.parents, *hierarchy.heights})
                raise DataError(
                    f"column {name!r}: {label} holds {level!r}, which has no place in the hierarchy"
                    f"{near_matches(level, names)}; add it to the hierarchy"
                )
    return CommonCut(name, hierarchy, held, min(hierarchy.heights.get(level, 0) for level in held))
