"""Samples of large files, for models whose fit takes long and whose figures are means over records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil.columns.column import CodedColumn
from unveil.models.features import stacked
from unveil.notes import Note
from unveil.plain import Plain

MOST_RECORDS: Mapping[str, int] = {"propensity": 20_000, "prediction": 10_000}
"""Records of each file that a part uses at most, unless another number is asked for."""
DRAWS: Mapping[str, int] = {"propensity": 1, "prediction": 5}
"""Number of samples that a part is computed on: the means of several tell how much a sample decides."""
MOST_TARGETS, LEAST_TARGETS, _PREDICTORS = 50, 10, 10_000
"""Targets that are predicted unless others are named: at most 50, and with more than 200 columns so many fewer that
their predictors are no more than 10 000 together, but at least 10."""


@dataclass(frozen=True)
class Sample(Plain):
    """The records of each file that a part was computed on.

    Parameters
    ----------
    records
        Their number in the original, then in each release.
    of
        How many records the files have.
    draws
        Number of samples of that size.
    """

    records: tuple[int, ...]
    of: tuple[int, ...]
    draws: int = 1

    @property
    def share(self) -> float:
        """Share of the original that a sample is."""
        return self.records[0] / self.of[0]

    def note(self, part: str, seed: int) -> Note:
        """The sentence that says so."""
        first, *rest = (f"{k} of {n}" for k, n in zip(self.records, self.of, strict=True))
        releases = ", ".join(dict.fromkeys(rest))
        samples = f"{self.draws} samples of " if self.draws > 1 else ""
        return Note(
            f"{part} was computed on {samples}{first} records of the original and {releases} of the releases, drawn "
            f"with seed {seed}",
            f"{part} was computed on records drawn at random, not on all",
        )


def sampled(
    variables: Sequence[Compared], most: int, seed: np.random.SeedSequence
) -> tuple[tuple[Compared, ...], Sample | None]:
    """Draw records of every file that has too many, each with equal probability and without repetition.

    The draw does not depend on the order in which the records came.

    Parameters
    ----------
    variables
        The variables of all files.
    most
        Number of records of a file that are kept at most.
    seed
        Seed of the draw.

    Returns
    -------
    tuple of Compared
        The variables of the records that were drawn.
    Sample or None
        How many they are; None where all records were kept.
    """
    files = list(zip(*([v.column.original, *v.column.releases] for v in variables), strict=True))
    sizes = tuple(len(codes[0]) for codes in files)
    if max(sizes) <= most:
        return tuple(variables), None
    columns = [v.column for v in variables]
    drawn = [
        _drawn(columns, codes, most, np.random.default_rng(stream))
        for codes, stream in zip(files, seed.spawn(len(files)), strict=True)
    ]
    kept = tuple(Compared(_taken(v.column, drawn), _taken(v.cells, drawn)) for v in variables)
    return kept, Sample(tuple(len(codes[rows]) for (codes, *_), rows in zip(files, drawn, strict=True)), sizes)


def samples_of(
    variables: Sequence[Compared], part: str, most: int, seed: np.random.SeedSequence
) -> tuple[tuple[tuple[Compared, ...], ...], Sample | None]:
    """As many samples as a part is computed on, drawn independently; all records once where none are left out.

    Parameters
    ----------
    variables, most, seed
        As for :func:`sampled`.
    part
        The part.
    """
    first, sample = sampled(variables, most, seed)
    if sample is None:
        return (first,), None
    others = (sampled(variables, most, stream)[0] for stream in seed.spawn(DRAWS[part] - 1))
    return (first, *others), replace(sample, draws=DRAWS[part])


def sampled_targets(names: Sequence[str], seed: np.random.SeedSequence) -> tuple[str, ...]:
    """As many targets as are predicted without being named, in the order of the columns."""
    most = max(LEAST_TARGETS, min(MOST_TARGETS, _PREDICTORS // max(len(names), 1)))
    if len(names) <= most:
        return tuple(names)
    places = np.random.default_rng(seed).choice(len(names), most, replace=False)
    return tuple(names[place] for place in np.sort(places).tolist())


def _drawn(
    columns: Sequence[CodedColumn], codes: Sequence[NDArray[np.int32]], most: int, rng: np.random.Generator
) -> NDArray[np.intp] | slice:
    """Records of one file: all, or the number asked for."""
    n = len(codes[0])
    if n <= most:
        return slice(None)
    # drawn from an order of its own: records that are equal may stand for each other
    order = stacked(columns, codes).ordering(np.zeros(n, dtype=np.int8))
    return np.sort(order[rng.choice(n, most, replace=False)])


def _taken(column: CodedColumn, records: Sequence[NDArray[np.intp] | slice]) -> CodedColumn:
    """The column of some records of each file; its levels stay."""
    original, *releases = (
        codes[rows] for codes, rows in zip((column.original, *column.releases), records, strict=True)
    )
    return replace(column, original=original, releases=tuple(releases))
