"""Who stands in the place of a person in the neighbouring original."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.whole_records import Levels
from unveil._posterior.candidate_records import remarks_on_values
from unveil._posterior.refit import quietly
from unveil._posterior.tree_sequence import TreeSequence
from unveil.columns import Pair
from unveil.errors import CallError
from unveil.files import Source
from unveil.files.opening import open_source
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.record_order import value_order

Ints = NDArray[np.int64]


def drawn_neighbours(pair: Pair, n: int, seed: int) -> Source:
    """Draw persons whose every value has its distribution given the values before it: by trees of the original.

    Parameters
    ----------
    pair
        The files.
    n
        Number of persons.
    seed
        Of the draws.
    """
    maker = CartSynthesizer(kinds=pair.kinds or None, special_codes=pair.special_codes or None)
    fitted: Any = quietly(maker, pair.original.part(value_order(pair.original)))
    return open_source(fitted.sample(n, seed=seed), label="persons drawn by trees of the original")


def neighbours_of(
    original: Levels, members: Ints, rows: Levels, rng: np.random.Generator, label: str
) -> tuple[Ints, int]:
    """(q,) number of the row that stands in the place of each member, and of how many the first one was a twin.

    Everyone is taken before anyone is taken again.

    Parameters
    ----------
    original : mapping of str to (n,) int32
        Levels of the original records.
    members : (q,) int64
        The persons.
    rows : mapping of str to (k,) int32
        Levels of the candidates.
    rng
        Of the draw.
    label
        What messages call the candidates.

    Raises
    ------
    CallError
        If every candidate has the values of a person.
    """
    k = next(iter(rows.values())).size
    rounds = [rng.permutation(k) for _ in range(-(-members.size // k))]
    chosen = np.concatenate(rounds)[: members.size].astype(np.int64)
    n_twins = int(alike(original, members, rows, chosen).sum())
    for _ in range(k):
        same = alike(original, members, rows, chosen)
        if not same.any():
            return chosen, n_twins
        # A person's own values would make the same original: the next candidate is taken.
        chosen[same] = (chosen[same] + 1) % k
    raise CallError(f"{label}: every row has the values of a person in question; give other persons as candidates")


def unknown_levels(sequence: TreeSequence) -> list[str]:
    """What is to be said of persons with levels that no file has; amounts differ from person to person anyway."""
    named = {
        name: levels
        for name, levels in sequence.further.items()
        if sequence.variables[name].kind not in ("numeric", "date", "datetime")
    }
    return remarks_on_values(sequence, named)


def n_twins_of(original: Levels, rows: Levels) -> int:
    """Number of rows that have the values of some original record."""
    table = {name: np.concatenate([original[name], levels]) for name, levels in rows.items()}
    kinds = np.zeros(next(iter(table.values())).size, dtype=np.int64)
    for codes in table.values():
        _, kinds = np.unique(kinds * (int(codes.max()) + 1) + codes, return_inverse=True)
    n = next(iter(original.values())).size
    return int(np.isin(kinds[n:], kinds[:n]).sum())


def alike(original: Levels, members: Ints, rows: Levels, others: Ints) -> NDArray[np.bool_]:
    """(q,) whether members have the values of the persons that they are set against."""
    same = np.ones(members.size, dtype=np.bool_)
    for name, levels in rows.items():
        same &= original[name][members] == levels[others]
    return same
