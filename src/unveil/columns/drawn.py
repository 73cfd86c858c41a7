"""Records of a pair that are drawn where an engine counts them."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.columns.counted import DrawnColumn, by_raw_code
from unveil.columns.pair import Pair
from unveil.engines.draw import drawn_codes


def is_larger(pair: Pair, most: int) -> bool:
    """Whether an engine was asked for, and a file has more records than are drawn."""
    return pair.engine is not None and not pair.engine_is_free and max(pair.n_original, *pair.n_synthetic) > most


def drawn_pair(pair: Pair, names: Sequence[str], most: int, seed: int) -> Pair:
    """Records of all files with some columns, drawn where they are counted: each with the same probability.

    The draw depends on what records are and on the seed alone. The records come in a random order, so that the first of
    them are a draw, too.

    Parameters
    ----------
    pair
        The files, of which an engine counts the records.
    names
        The columns.
    most
        Number of records that are drawn of a file at most.
    seed
        Seed of the draw.
    """
    assert pair.engine is not None
    pair.require(names)
    columns = [pair.compared(name) for name in names]
    files = drawn_codes(pair.engine, by_raw_code(columns), (pair.n_original, *pair.n_synthetic), most, seed)
    return pair.drawn(
        [DrawnColumn.of(column, [codes[place] for codes in files]) for place, column in enumerate(columns)]
    )
