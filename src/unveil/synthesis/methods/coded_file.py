"""A file as one code per record and column, and back, for methods that model all columns at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.microdata import read
from unveil.microdata.source import Kind, Source
from unveil.synthesis.encode import EncodedVariable, Levels, encode
from unveil.synthesis.fitting import generator
from unveil.synthesis.likelihood import ImpossibleCell, LogProbability
from unveil.synthesis.memory import enough_memory
from unveil.synthesis.palette import Palette, make_palette

__all__ = ["CodedFile", "check_epsilon", "noisy_counts", "open_release", "sampled", "summed"]

Codes = NDArray[np.int32]
Draw = Callable[[int, np.random.Generator], list[Codes]]


@dataclass(frozen=True, eq=False)
class CodedFile:
    """An original file in codes. Every distinct value is a level, of numbers too, and a gap is one.

    Parameters
    ----------
    variables : tuple of EncodedVariable
        The columns.
    palette : Palette
        Writes frames of levels.
    n : int
        Number of records.

    Examples
    --------
    >>> import pyarrow as pa
    >>> file = CodedFile.of(pa.table({"sex": ["f", "m", None]}))
    >>> [codes.tolist() for codes in file.codes], file.n_levels
    ([[0, 1, 2]], (3,))
    >>> codes, unknown = file.read(read(pa.table({"sex": ["m", "x"]})))
    >>> unknown[0].tolist()
    [False, True]
    """

    variables: tuple[EncodedVariable, ...]
    palette: Palette
    n: int

    @classmethod
    def of(cls, original: Any, kinds: Mapping[str, Kind] | None = None) -> CodedFile:
        """Open and code a file.

        Parameters
        ----------
        original
            A path, or a frame that speaks the Arrow C stream interface.
        kinds : mapping of str to kind, optional
            What the values of a column are, where the file leaves it open.

        Returns
        -------
        CodedFile
            The file.

        Raises
        ------
        CallError
            If ``kinds`` names a column or kind that does not exist.
        DataError
            If the file cannot be read, or has no records or no columns.
        """
        source = read(original, label=None if isinstance(original, str | os.PathLike) else "the original")
        if source.num_rows == 0 or not source.names:
            what = "records" if source.names else "columns"
            raise DataError(f"{source.label} has no {what}; there is nothing to synthesise")
        variables = encode(source, kinds=kinds)
        return cls(variables, make_palette(original, source, variables), source.num_rows)

    @property
    def codes(self) -> list[Codes]:
        """Per column the codes of the original records."""
        return [variable.codes for variable in self.variables]

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Per column the number of levels."""
        return tuple(variable.n_levels for variable in self.variables)

    def read(self, source: Source) -> tuple[list[Codes], list[NDArray[np.bool_]]]:
        """Codes of the records of a release.

        Parameters
        ----------
        source : Source
            A file with the same columns.

        Returns
        -------
        codes : list of (n,) int32
            Per column; some code of the original where the value is unknown.
        unknown : list of (n,) bool
            Per column, whether the original does not have the value.

        Raises
        ------
        DataError
            If a column is missing or its values cannot be compared.
        """
        codes, unknown = [], []
        for variable in self.variables:
            if variable.name not in source:
                raise DataError(f"{source.label} has no column {variable.name!r}; a release needs every variable")
            levels, impossible = variable.read(source)
            codes.append(levels.codes)
            unknown.append(impossible if levels.new is None else impossible | ~np.isnan(levels.new))
        return codes, unknown

    def frame(self, codes: Sequence[Codes]) -> Any:
        """A frame of records like the original.

        Parameters
        ----------
        codes : sequence of (n,) int32
            Per column.

        Returns
        -------
        frame
            In the flavour, and with the types, of the original.
        """
        return self.palette.paint({v.name: Levels(column) for v, column in zip(self.variables, codes, strict=True)})


def open_release(release: Any) -> Source:
    """A release as a source."""
    return read(release, label=None if isinstance(release, str | os.PathLike) else "the release")


def sampled(file: CodedFile, draw: Draw, n: int | None, m: int, seed: int) -> Any:
    """Frames of drawn records, with a source of randomness of its own for every copy.

    Parameters
    ----------
    file : CodedFile
        The original.
    draw : callable
        From a number of records and a generator to the codes per column.
    n : int or None
        Number of records; as many as the original by default.
    m : int
        Number of copies.
    seed : int
        Seed of the draws.

    Returns
    -------
    frame or list of frames
        A list where ``m`` is above 1.

    Raises
    ------
    CallError
        If an argument is out of its range.
    """
    n = file.n if n is None else n
    for name, value, least in (("n", n, 0), ("m", m, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise CallError(f"{name} must be a whole number from {least}, not {value!r}")
    with enough_memory(n, m, len(file.variables)):
        frames = [file.frame(draw(n, generator(seed, copy))) for copy in range(m)]
    return frames if m > 1 else frames[0]


def summed(logs: Mapping[str, NDArray[np.float64]], value: Callable[[str, int], object]) -> LogProbability:
    """Sum up logarithms of probabilities.

    Parameters
    ----------
    logs : mapping of str to (n,) float64
        By variable, at least one.
    value : callable
        The value of a variable in a record, to name what is impossible.

    Returns
    -------
    LogProbability
        In all, by variable and by record.
    """
    impossible = {name: np.flatnonzero(np.isneginf(log)) for name, log in logs.items()}
    finite = float(sum(log[~np.isneginf(log)].sum() for log in logs.values()))
    first = next((name for name, rows in impossible.items() if rows.size), None)
    cell = None
    if first is not None:
        record = int(impossible[first][0])
        cell = ImpossibleCell(first, record, value(first, record))
    return LogProbability(
        total=finite if cell is None else -math.inf,
        variables={name: float(log.sum()) for name, log in logs.items()},
        records=np.sum(list(logs.values()), axis=0),
        finite=finite,
        n_impossible=sum(rows.size for rows in impossible.values()),
        first_impossible=cell,
    )


def check_epsilon(epsilon: float | None) -> float:
    """The privacy budget as a number.

    Returns
    -------
    float
        ``inf`` for None: no noise.

    Raises
    ------
    CallError
        If it is not above 0.
    """
    if epsilon is None:
        return math.inf
    if not epsilon > 0:
        raise CallError(f"epsilon must be above 0, got {epsilon}; None adds no noise")
    return float(epsilon)


def noisy_counts(counts: NDArray[np.float64], scale: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Counts with independent Laplace noise, those below 0 set to 0.

    Parameters
    ----------
    counts : (c,) float64
        Counts.
    scale : float
        Scale of the noise, its mean absolute value; 0 for none.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (c,) float64
        Not negative.
    """
    if scale > 0:
        counts = counts + rng.laplace(scale=scale, size=counts.shape)
    return np.maximum(counts, 0.0)
