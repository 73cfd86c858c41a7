"""What the simulated populations share: checks of arguments, random draws, and the kind of frame."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unveil.checks import check_choice, check_whole_numbers
from unveil.errors import MissingPackageError

Flavour = Literal["arrow", "pandas", "polars"]
Seed = int | np.random.Generator
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


def checked_generator(n: int, least: int, seed: Seed, flavour: Flavour) -> np.random.Generator:
    """Check number of records, seed and kind of frame.

    Returns
    -------
    numpy.random.Generator
        The given generator, or a new one from a whole number.
    """
    check_whole_numbers(least, n=n)
    check_choice("flavour", flavour, get_args(Flavour))
    return generator(seed)


def generator(seed: Seed) -> np.random.Generator:
    """Return the given generator, or a new one from a whole number."""
    if isinstance(seed, np.random.Generator):
        return seed
    check_whole_numbers(0, seed=seed)
    return np.random.default_rng(int(seed))


def truncated_normal(rng: np.random.Generator, n: int, mean: float, sd: float, low: float, high: float) -> Floats:
    """Draw n values of a normal distribution truncated to [low, high], by rejection.

    The expected number of draws is n divided by the interval's probability, so this is for likely intervals.
    """
    kept = np.empty(0)
    while kept.size < n:
        draws = rng.normal(mean, sd, n)
        kept = np.concatenate([kept, draws[(draws >= low) & (draws <= high)]])
    return kept[:n]


def standardised(x: Floats) -> Floats:
    """Return (x - mean) / standard deviation, both of the sample."""
    scaled: Floats = (x - x.mean()) / x.std(ddof=1)
    return scaled


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow for any finite x."""
    value: Floats = 0.5 * (1.0 + np.tanh(0.5 * x))
    return value


def draw_codes(rng: np.random.Generator, weights: Floats) -> Codes:
    """Draw one category per row, with probabilities proportional to the row's weights (n, k)."""
    cumulated = weights.cumsum(axis=1)
    points = rng.random((len(weights), 1)) * cumulated[:, -1:]
    codes: Codes = (points >= cumulated[:, :-1]).sum(axis=1, dtype=np.int32)
    return codes


def draw_logit(rng: np.random.Generator, utilities: Sequence[Floats]) -> Codes:
    """Draw one category per record from a multinomial logit, given k utilities (n,)."""
    stacked = np.column_stack(utilities)
    return draw_codes(rng, np.exp(stacked - stacked.max(axis=1, keepdims=True)))


def labelled(
    codes: npt.NDArray[np.integer[Any]],
    levels: Sequence[str],
    *,
    ordered: bool = False,
    missing: npt.NDArray[np.bool_] | None = None,
) -> pa.DictionaryArray:
    """Return codes (n,) as a dictionary column of text; records marked as missing have no value."""
    indices = pa.array(codes.astype(np.int32), mask=missing)
    return pa.DictionaryArray.from_arrays(indices, pa.array(levels, pa.string()), ordered=ordered)


def as_flavour(table: pa.Table, flavour: Flavour) -> Any:
    """Return the table as a frame of the flavour."""
    if flavour == "arrow":
        return table
    try:
        package = importlib.import_module(flavour)
    except ImportError as error:
        raise MissingPackageError(f"flavour={flavour!r} needs the package {flavour}: pip install {flavour}") from error
    return table.to_pandas() if flavour == "pandas" else package.from_arrow(table)
