"""A file as one code per record and column, and back, for methods that model all columns at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.files import read
from unveil.files.source import Kind, Source
from unveil.synthesis.encoding import encode
from unveil.synthesis.likelihood import require_variable
from unveil.synthesis.output_frame import Palette, make_palette
from unveil.synthesis.variable import EncodedVariable, Levels, open_release

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CodedFile:
    """An original file in codes. Every distinct value is a level, also of numbers, and a gap is a level.

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
    >>> codes, unknown = file.read(file.open(pa.table({"sex": ["m", "x"]})))
    >>> unknown[0].tolist()
    [False, True]
    """

    variables: tuple[EncodedVariable, ...]
    palette: Palette
    n: int

    @classmethod
    def of(cls, original: Any, kinds: Mapping[str, Kind] | None = None, schema: Any = None) -> CodedFile:
        """Open and code a file.

        Parameters
        ----------
        original
            A path, or a frame with the Arrow C stream interface.
        schema
            Declarations of the columns, as for :func:`unveil.read`.
        kinds : mapping of str to kind, optional
            Kinds of columns, if the file does not tell.

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
        source = open_original(original, schema)
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
        """Return the codes of the records of a release.

        Parameters
        ----------
        source : Source
            A file with the same columns.

        Returns
        -------
        codes : list of (n,) int32
            Codes per column; any code of the original for an unknown value.
        unknown : list of (n,) bool
            Per column, whether the original lacks the value.

        Raises
        ------
        DataError
            If a column is missing or its values cannot be compared.
        """
        codes, unknown = [], []
        for variable in self.variables:
            require_variable(source, variable.name)
            levels, impossible = variable.read(source)
            codes.append(levels.codes)
            unknown.append(impossible if levels.new is None else impossible | ~np.isnan(levels.new))
        return codes, unknown

    def open(self, release: Any) -> Source:
        """Return a release as a source."""
        return open_release(release, self.variables)

    def within(self, column: int) -> NDArray[np.float64]:
        """(l,) logarithm of the probability of a value given its level: 0, every value is a level."""
        return np.zeros(self.variables[column].n_levels)

    def frame(self, codes: Sequence[Codes], rng: np.random.Generator) -> Any:
        """Return a frame of records like the original.

        Parameters
        ----------
        codes : sequence of (n,) int32
            Per column.
        rng : numpy.random.Generator
            Not used: every level is one value.

        Returns
        -------
        frame
            In the flavour, and with the types, of the original.
        """
        return self.palette.paint({v.name: Levels(column) for v, column in zip(self.variables, codes, strict=True)})


def open_original(original: Any, schema: Any = None) -> Source:
    """Return the file of real records as a source.

    Raises
    ------
    DataError
        If it has no records or no columns.
    """
    named = isinstance(original, str | os.PathLike | Source)
    source = read(original, label=None if named else "the original", schema=schema)
    if source.num_rows == 0 or not source.names:
        what = "records" if source.names else "columns"
        raise DataError(f"{source.label} has no {what}; there is nothing to synthesise")
    return source


def cells_of(
    codes: Sequence[Codes], n_levels: Sequence[int], columns: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return the cell of every record in the cross table of the columns; the last column runs fastest.

    Parameters
    ----------
    codes : sequence of (n,) int32
        Codes per column of the file.
    n_levels : sequence of int
        Number of levels per column of the file.
    columns : sequence of int, optional
        Positions of the columns; all by default. No columns make one cell.

    Returns
    -------
    (n,) int64
        Numbers of cells, from 0.

    Examples
    --------
    >>> codes = [np.array([0, 1], dtype=np.int32), np.array([2, 0], dtype=np.int32)]
    >>> cells_of(codes, (2, 3)).tolist(), cells_of(codes, (2, 3), [1]).tolist()
    ([2, 3], [2, 0])
    """
    cells = np.zeros(codes[0].size, dtype=np.int64)
    for column in range(len(codes)) if columns is None else columns:
        cells = cells * n_levels[column] + codes[column]
    return cells
