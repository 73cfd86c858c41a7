"""What an intruder believes before the release is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.errors import CallError
from unveil.trees import Column, grow

__all__ = ["Prior", "PriorChoice", "in_order", "prior_table"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDS = 5
SHARE_OF_MARGINAL = 0.05
"""Part of the marginal in a conditional prior, so that nothing is ruled out beforehand."""
MOST_CLASSES = 50
PRIOR_BUCKET = 20
LARGEST = 100_000_000


@dataclass(frozen=True, eq=False)
class Prior:
    """Probabilities of the user's own, and what they are conditioned on.

    Parameters
    ----------
    probabilities : (v,) or (n, v) array_like
        By value of the target, in the order of ``PosteriorRisk.values``; one row for all or one per original record.
    given : sequence of str, optional
        The variables that they are conditioned on; None: on nothing but the target's frequency.
    """

    probabilities: ArrayLike
    given: Sequence[str] | None = None


PriorChoice = Literal["uniform", "marginal", "conditional"] | Prior | ArrayLike


def in_order(choice: PriorChoice, order: Ints) -> PriorChoice:
    """The same prior for the original's records in another order."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, Prior):
        return replace(choice, probabilities=in_order(choice.probabilities, order))  # type: ignore[arg-type]
    rows = np.asarray(choice, dtype=np.float64)
    return rows[order] if rows.ndim == 2 and rows.shape[0] == order.size else rows


def prior_table(
    choice: PriorChoice,
    truth: Ints,
    n_values: int,
    known: Sequence[str],
    known_columns: Sequence[Column],
) -> Callable[[Ints], Floats]:
    """Prior probabilities by record and value.

    Parameters
    ----------
    choice
        See :func:`unveil.posterior.posterior`.
    truth : (n,) int64
        Value of every original record.
    n_values
        Number of values.
    known
        Variables that the intruder knows of the record.
    known_columns
        Their parts.

    Returns
    -------
    callable
        From records to (r, v) float64.

    Raises
    ------
    CallError
        If the prior does not fit the values, or is conditioned on less or more than is known.
    """
    n = truth.size
    if isinstance(choice, str):
        if choice == "uniform":
            return lambda members: np.full((members.size, n_values), 1.0 / n_values)
        counts = np.bincount(truth, minlength=n_values).astype(np.float64)

        def marginal(members: Ints) -> Floats:
            # The record itself is unknown; what nobody else has stays possible.
            others = np.tile(counts, (members.size, 1))
            others[np.arange(members.size), truth[members]] -= 1
            return (others + 1.0 / n_values) / n

        if choice == "marginal":
            return marginal
        if choice == "conditional":
            if n * n_values > LARGEST:
                raise CallError(
                    f"a conditional prior of {n} records and {n_values} values does not fit in memory; "
                    "use 'marginal', or name fewer candidates"
                )
            model = _out_of_fold(truth, n_values, known_columns)
            return lambda members: (1 - SHARE_OF_MARGINAL) * model[members] + SHARE_OF_MARGINAL * marginal(members)
        raise CallError(f"unknown prior {choice!r}; choose from uniform, marginal, conditional, or give probabilities")
    if isinstance(choice, Prior):
        given = None if choice.given is None else set(choice.given)
        if given is not None and given != set(known):
            less, more = sorted(set(known) - given), sorted(given - set(known))
            parts = [f"lacks {', '.join(less)}"] if less else []
            parts += [f"uses {', '.join(more)}, which the intruder does not know"] if more else []
            raise CallError(f"the prior has to be conditioned on exactly what is known: it {' and '.join(parts)}")
        choice = choice.probabilities
    return _given(np.asarray(choice, dtype=np.float64), n, n_values)


def _given(table: Floats, n: int, n_values: int) -> Callable[[Ints], Floats]:
    if table.shape not in ((n_values,), (n, n_values)):
        raise CallError(
            f"the prior has shape {table.shape}; give {n_values} probabilities, one per value of the target, or "
            f"{n} rows of them"
        )
    if not np.isfinite(table).all() or (table < 0).any() or (table.sum(axis=-1) <= 0).any():
        raise CallError("prior probabilities must be numbers from 0 that do not sum to 0")
    table = table / table.sum(axis=-1, keepdims=True)
    return lambda members: np.tile(table, (members.size, 1)) if table.ndim == 1 else table[members]


def _out_of_fold(truth: Ints, n_values: int, known: Sequence[Column]) -> Floats:
    """Share of each value in the leaf of a tree that was fitted to other records."""
    n = truth.size
    response = (
        Column(truth.astype(np.int32), "categorical", n_values)
        if n_values <= MOST_CLASSES
        else Column.from_values(truth.astype(np.float64))
    )
    fold = _folds(truth, known)
    shares = np.zeros((n, n_values))
    for held_out in range(FOLDS):
        inside = np.flatnonzero(fold != held_out)
        outside = np.flatnonzero(fold == held_out)
        if inside.size == 0 or outside.size == 0:
            shares[outside] = np.bincount(truth, minlength=n_values) / n
            continue
        tree = grow(response, known, rows=inside, minbucket=PRIOR_BUCKET, collapse=False)
        leaf_of_donor = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
        counts = np.zeros((tree.n_leaves, n_values))
        np.add.at(counts, (leaf_of_donor, truth[tree.donors]), 1.0)
        counts /= counts.sum(axis=1)[:, None]
        leaf = tree.apply([column.codes[outside] for column in known]) if known else np.zeros(outside.size, np.int32)
        shares[outside] = counts[leaf]
    return shares


def _folds(truth: Ints, known: Sequence[Column]) -> Ints:
    """Fold by place among the sorted records: the same for any order of the file, but for equal records."""
    order = np.lexsort(np.stack([truth, *(column.codes for column in known)]))
    fold = np.empty(truth.size, dtype=np.int64)
    fold[order] = np.arange(truth.size) % FOLDS
    return fold
