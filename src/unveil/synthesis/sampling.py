"""Draw one synthetic copy from fitted plans, as a whole or block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.synthesis.fitting import generator
from unveil.synthesis.likelihood import looked_up
from unveil.synthesis.limits import broken, can_be_listed, limited, part_of
from unveil.synthesis.memory import give_back
from unveil.synthesis.plan import Plan, PlanStep, restricted
from unveil.synthesis.rules import rows_under_rules
from unveil.synthesis.variable import Levels
from unveil.trees import Column

BLOCK = 1 << 20
"""Records that are drawn at a time."""
ATTEMPTS = 100
"""Most draws of a record that breaks a rule."""
ANEW = 1 << 31
"""Key of the random numbers of such draws, after that of the copy."""

Mask = NDArray[np.bool_]
Records = NDArray[np.intp]


def draw_blocks(plans: Sequence[Plan], n: int, seed: int, key: Sequence[int]) -> Iterator[dict[str, Levels]]:
    """Give the levels of one copy by variable, at most so many records at a time.

    Parameters
    ----------
    plans
        The fitted variables in the order of visit.
    n
        Number of records.
    seed, key
        Seed and key of the random numbers of the copy; every block has its own.
    """
    for block, start in enumerate(range(0, max(n, 1), BLOCK)):
        size = min(BLOCK, n - start)
        own = np.arange(start, start + size) if any(plan.released is not None for plan in plans) else None
        yield _drawn_block(plans, size, seed, (*key, block) if block else key, own)


def joined(blocks: Iterable[dict[str, Levels]]) -> dict[str, Levels]:
    """Return the levels of several blocks as those of one."""
    given = list(blocks)
    return given[0] if len(given) == 1 else {name: _one([block[name] for block in given]) for name in given[0]}


def _one(parts: Sequence[Levels]) -> Levels:
    codes = np.concatenate([part.codes for part in parts])
    if all(part.new is None for part in parts):
        return Levels(codes)
    return Levels(
        codes, np.concatenate([np.full(part.codes.size, np.nan) if part.new is None else part.new for part in parts])
    )


def _drawn_block(
    plans: Sequence[Plan], n: int, seed: int, key: Sequence[int], records: Records | None
) -> dict[str, Levels]:
    """Return the levels of some records, drawn one variable after the other.

    Parameters
    ----------
    plans
        The fitted variables in the order of visit.
    n
        Number of records.
    seed, key
        Seed and key of the random numbers of the block.
    records : (n,) int or None
        The original record of each record, where some values are released as they are.

    Returns
    -------
    dict of str to Levels
        Levels by variable, in the order of visit.
    """
    levels, dead = _drawn_records(plans, n, seed, key, records)
    for attempt in range(ATTEMPTS):
        if not dead.size:
            return levels
        # Whatever was drawn for a record before, it depends on nothing but chance that it cannot be completed.
        own = None if records is None else records[dead]
        again, still = _drawn_records(plans, dead.size, seed, (*key, ANEW, attempt), own)
        for name, drawn in levels.items():
            levels[name] = _replaced(drawn, again[name], dead)
        dead = dead[still]
    limits = ", ".join(dict.fromkeys(repr(limit.text) for plan in plans for limit in plan.limits))
    raise DataError(f"some records cannot keep the rules {limits}, in {ATTEMPTS} attempts; check the rules")


def _drawn_records(
    plans: Sequence[Plan], n: int, seed: int, key: Sequence[int], records: Records | None
) -> tuple[dict[str, Levels], NDArray[np.intp]]:
    """Return the levels of records by variable, and which of the records break a rule whatever is drawn."""
    levels: dict[str, Levels] = {}
    columns: dict[int, Column] = {}
    dead = np.zeros(n, dtype=np.bool_)
    for plan in plans:
        released = plan.is_released(records, n)
        if plan.lookup is not None:
            drawn = looked_up(plan, levels, n)
        elif records is not None and released.all():
            drawn = part_of(Levels(plan.variable.codes), records)
        else:
            drawn, free = _forced(plan, levels | {plan.variable.name: _free(plan, columns, n, seed, key)}, n)
            if records is not None and released.any():
                rows = np.flatnonzero(released)
                drawn = _replaced(drawn, part_of(Levels(plan.variable.codes), records[rows]), rows)
            if plan.limits:
                drawn = _within_limits(
                    plan, levels | {plan.variable.name: drawn}, columns, free, ~released, dead, seed, key
                )
        levels[plan.variable.name] = drawn
        for step, column in zip(plan.steps, plan.variable.columns(drawn), strict=True):
            columns[step.position] = column
        give_back(n)
    return levels, np.flatnonzero(dead)


def _within_limits(
    plan: Plan, levels: Mapping[str, Levels], columns: Mapping[int, Column], free: Mask, synthetic: Mask, dead: Mask,
    seed: int, key: Sequence[int],
) -> Levels:  # fmt: skip
    """Return the variable with other values where it broke a rule; records that cannot keep it are marked as dead."""
    n, own = free.size, levels[plan.variable.name]
    # A record that is released as it is may break a rule; it is reported.
    free = free & synthetic
    breaking = broken(plan, levels, n)
    dead |= breaking & ~free & synthetic
    for attempt in range(0 if can_be_listed(plan) else ATTEMPTS):
        rows = np.flatnonzero(breaking & free)
        if not rows.size:
            return own
        few = {position: restricted(column, rows) for position, column in columns.items()}
        again = _free(plan, few, rows.size, seed, (*key, ANEW, ATTEMPTS + attempt))
        own = _replaced(own, again, rows)
        breaking = broken(plan, {**levels, plan.variable.name: own}, n)
    rows = np.flatnonzero(breaking & free)
    if not rows.size:
        return own
    rng = generator(seed, *key, ANEW, plan.steps[0].position)
    codes, unkept = limited(plan, levels, columns, rows, rng)
    dead[unkept] = True
    return _replaced(own, Levels(codes), rows)


def _replaced(own: Levels, other: Levels, rows: NDArray[np.intp]) -> Levels:
    """Return levels with others in some records."""
    codes, new = own.codes.copy(), None if own.new is None else own.new.copy()
    codes[rows] = other.codes
    if new is None and other.new is not None:
        new = np.full(codes.size, np.nan)
    if new is not None:
        new[rows] = np.nan if other.new is None else other.new
    return Levels(codes, new)


def _free(plan: Plan, columns: Mapping[int, Column], n: int, seed: int, key: Sequence[int]) -> Levels:
    """Draw a variable from its models."""
    first = plan.steps[0]
    drawn = _draw(first, columns, n, None, seed, key)
    if drawn is None:  # rules decide the variable for every record of the original
        return Levels(np.zeros(n, dtype=np.int32))
    if len(plan.steps) == 1:
        return plan.variable.levels((drawn,))
    second = plan.steps[1]
    rows = np.flatnonzero(drawn.codes == drawn.n_levels - 1)
    numbers = _draw(second, columns, rows.size, rows, seed, key) if rows.size else None
    template = plan.variable.parts[1].column
    if numbers is None:
        return plan.variable.levels((drawn, template.with_codes(np.zeros(n, dtype=np.int32))))
    codes = np.zeros(n, dtype=np.int32)
    codes[rows] = numbers.codes
    return plan.variable.levels((drawn, numbers.with_codes(codes)))


def _draw(
    step: PlanStep, columns: Mapping[int, Column], n: int, rows: NDArray[np.intp] | None, seed: int, key: Sequence[int]
) -> Column | None:
    if step.fitted is None:
        return None
    predictors = [restricted(columns[p], rows) for p in step.predictors]
    # Without predictors one column says how many records are wanted.
    predictors = predictors or [Column(np.zeros(n, dtype=np.int32), "categorical", 1)]
    return step.fitted.draw(predictors, generator(seed, *key, step.position))


def _forced(plan: Plan, levels: Mapping[str, Levels], n: int) -> tuple[Levels, Mask]:
    """Return the variable with the values that rules force, and which records (n,) no rule decides."""
    own = levels[plan.variable.name]
    free = np.ones(n, dtype=np.bool_)
    for _, mask, forced in rows_under_rules(plan.rules, levels, n):
        rows = np.flatnonzero(mask)
        own = _replaced(own, part_of(forced, rows), rows)
        free &= ~mask
    return own, free
