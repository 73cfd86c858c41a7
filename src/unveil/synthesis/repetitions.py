"""Repeat the whole procedure: samples of the original, and releases made from each.

They show how much a figure varies over samples and releases, which the original and its releases alone cannot show.
Halves are for measures that count unique records: a record that is drawn twice would not be unique. Resamples are for
models, whose thresholds change with half as many records.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_whole_numbers
from unveil.columns.pair import Pair
from unveil.columns.pair_first import refuse_units
from unveil.errors import CallError, UnveilWarning
from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew
from unveil.synthesis.record_order import value_order

REPEATS = 20
_LABEL = "a release of a part of the original"


def halves(
    pair: Pair, synthesizer: Any, *, repeats: int = REPEATS, columns: Sequence[str] | None = None, seed: int = 0
) -> tuple[tuple[Pair, Pair], ...]:
    """Fit a synthesizer to random halves of the original, for process intervals of table measures.

    Parameters
    ----------
    pair
        The original and its releases. Each half gives as many releases, with half as many records.
    synthesizer
        The synthesizer of the releases: an object with ``fit`` and ``sample``, or a function of a frame. It is not
        changed.
    repeats
        Number of divisions into halves; each takes two fits.
    columns
        Columns that will be measured; all by default. The synthesizer is fitted to all columns.
    seed
        Seed of the divisions and of the draws.

    Returns
    -------
    tuple of pairs of Pair
        Both halves of each division, with their releases.

    Raises
    ------
    CallError
        If it is not a synthesizer, there are fewer than two records, or a number is out of its range.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(200, seed=1)
    >>> synthesizer = unveil.CartSynthesizer(n_jobs=1)
    >>> pair = unveil.Pair(people, synthesizer.fit(people).sample(seed=1))
    >>> parts = halves(pair, synthesizer, repeats=5, seed=1)
    >>> risk = unveil.attribute(pair, ["sex", "region"], target="marital")
    >>> found = risk.interval("process", halves=parts)["DCAPd"]
    >>> found.low < risk.DCAPd < found.high
    True
    """
    _checked(pair, repeats, seed)
    refuse_units(pair, "halves")
    order, rng = value_order(pair.original), np.random.default_rng([seed, 0])
    half = len(order) // 2
    parts = []
    for _ in range(repeats):
        mixed = rng.permutation(len(order))
        parts += [order[np.sort(mixed[:half])], order[np.sort(mixed[half:])]]
    made = _made(pair, synthesizer, parts, columns, seed)
    return tuple(zip(made[::2], made[1::2], strict=True))


def resamples(
    pair: Pair, synthesizer: Any, *, repeats: int = REPEATS, columns: Sequence[str] | None = None, seed: int = 0
) -> tuple[Pair, ...]:
    """Fit a synthesizer to originals drawn with replacement from the original, for process intervals of RAPID.

    Parameters
    ----------
    pair, synthesizer, columns, seed
        See :func:`halves`; releases have as many records as those of the pair.
    repeats
        Number of resamples.

    Returns
    -------
    tuple of Pair
        The resamples with their releases.

    Raises
    ------
    CallError
        If it is not a synthesizer, there are fewer than two records, or a number is out of its range.
    """
    _checked(pair, repeats, seed)
    refuse_units(pair, "resamples")
    order, rng = value_order(pair.original), np.random.default_rng([seed, 1])
    parts = [order[np.sort(rng.integers(0, len(order), len(order)))] for _ in range(repeats)]
    return _made(pair, synthesizer, parts, columns, seed)


def _checked(pair: Pair, repeats: int, seed: int) -> None:
    check_whole_numbers(2, repeats=repeats)
    check_whole_numbers(0, seed=seed)
    if pair.n_original < 2:
        raise CallError(f"{pair.original.label} has one record; a synthesizer cannot be fitted to parts of it")


def _made(
    pair: Pair, synthesizer: Any, parts: Sequence[NDArray[np.intp]], columns: Sequence[str] | None, seed: int
) -> tuple[Pair, ...]:
    """Return every part of the original with releases made from it, coded jointly."""
    import narwhals as nw

    maker = as_synthesizer(synthesizer)
    m = pair.n_releases
    seeds = (np.random.SeedSequence([seed, 2]).generate_state(len(parts) * m, np.uint32) >> 1).reshape(-1, m)
    names = pair.names if columns is None else tuple(columns)
    files = []
    with warnings.catch_warnings():
        # The same warnings came for the original.
        warnings.simplefilter("ignore", UnveilWarning)
        for records, of_part in zip(parts, seeds.tolist(), strict=True):
            fitted = fitted_anew(maker, pair.original.part(records, "a part of the original"), seed=of_part[0])
            for n, one in zip(pair.n_synthetic, of_part, strict=True):
                release = fitted.sample(max(round(n * len(records) / pair.n_original), 1), seed=one)
                frame = nw.from_native(release, pass_through=True)
                # Many releases are held at a time, and only these columns are measured.
                if isinstance(frame, nw.DataFrame):
                    release = frame.select([name for name in names if name in frame.columns]).to_native()
                files.append(release)
        whole = pair.with_files(files, _LABEL)
        for name in names:
            whole.column(name)
    return tuple(whole.part(records, range(i * m, (i + 1) * m)) for i, records in enumerate(parts, start=1))
