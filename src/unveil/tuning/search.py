"""Successive halving under limits: which settings are tried, how often, and which is taken.

Every setting makes one set of releases. The better third makes more; of those that are left the best are the finalists.
They make further sets, all of seeds that were not used before, and these decide which is the most useful setting that
keeps all limits. Its figures come from yet other sets, which took no part in the choice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

ROUNDS = (1, 2)
"""Sets of releases that a setting makes in each round of the search."""
KEPT = 3
"""One of so many settings goes on to the next round."""
FINALISTS = 4
FINAL_SETS = 3
CHECK_SETS = 3
STAGES = ("search", "final", "check")
ENDS = {"search": 0.55, "final": 0.8, "check": 1.0}
"""Share of the budget after which no set of a stage is begun."""


class Measured(Protocol):
    """What was measured of one set of releases."""

    @property
    def limit_used(self) -> float:
        """Largest share of a limit that is used; at most 1 if every rule holds."""
        ...

    @property
    def utility(self) -> float:
        """Distance from the original; smaller is more useful."""
        ...


Draw = Callable[[int, str, int], Measured]
"""From the number of a setting, the stage, and the number of the set: a set of releases, measured."""


@dataclass
class Search:
    """The state of a search among numbered settings.

    Parameters
    ----------
    n
        Number of settings.
    draw
        Draws and measures a set of releases.
    budget
        Seconds.
    clock
        The time in seconds.
    """

    n: int
    draw: Draw
    budget: float
    clock: Callable[[], float] = time.monotonic
    sets: dict[str, dict[int, list[Measured]]] = field(default_factory=lambda: {stage: {} for stage in STAGES})
    winner: int | None = None
    not_confirmed: list[int] = field(default_factory=list)
    """Settings that were chosen and whose fresh releases did not keep the limits."""
    out_of_time: set[str] = field(default_factory=set)
    """Stages that ended before all of their sets were drawn."""
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._begin, self._spent, self._drawn = self.clock(), 0.0, 0

    def run(self) -> Search:
        """Search, until the most useful setting is found, none is, or the time has passed; Ctrl-C ends the search."""
        try:
            alive = self._rounds()
            while self.winner is None and alive:
                finalists, alive = alive[:FINALISTS], alive[FINALISTS:]
                self._finals(finalists)
                hopeful = [one for one in alive if _used(self.sets["search"][one]) <= 1]
                alive = hopeful if self._has_time("final") else []
        except KeyboardInterrupt:
            if not self.sets["search"]:
                raise
            self.interrupted = True
        return self

    def known(self, setting: int) -> list[Measured]:
        """The sets of a setting that took part in the choice."""
        return [*self.sets["search"].get(setting, ()), *self.sets["final"].get(setting, ())]

    def _rounds(self) -> list[int]:
        alive = list(range(self.n))
        for more in ROUNDS:
            reached: list[int] = []
            for setting in alive:
                if reached and not self._has_time("search"):
                    break
                self._add("search", setting, more)
                reached.append(setting)
            tried = reached or alive
            ranked = self._ranked(tried, "search")
            alive = ranked[: max(FINALISTS, math.ceil(len(ranked) / KEPT))]
        return alive

    def _finals(self, finalists: Sequence[int]) -> None:
        reached: list[int] = []
        for setting in finalists:
            if reached and not self._has_time("final"):
                break
            self._add("final", setting, FINAL_SETS)
            reached.append(setting)
        for setting in self._ranked(reached, "final"):
            if _used(self.sets["final"][setting]) > 1 or (self.not_confirmed and not self._has_time("check")):
                return
            self._add("check", setting, CHECK_SETS)
            if _used(self.sets["check"][setting]) <= 1:
                self.winner = setting
                return
            self.not_confirmed.append(setting)

    def _add(self, stage: str, setting: int, number: int) -> None:
        known = self.sets[stage].get(setting, [])
        begun = self.clock()
        fresh = [self.draw(setting, stage, len(known) + i) for i in range(number)]
        self._spent += self.clock() - begun
        self._drawn += number
        # Whole or not at all: a setting is not judged by a part of its sets.
        self.sets[stage][setting] = known + fresh

    def _has_time(self, stage: str) -> bool:
        """Whether sets of a stage can be drawn in time, if they take as long as those so far."""
        sets = {"search": max(ROUNDS), "final": FINAL_SETS, "check": CHECK_SETS}[stage]
        needed = sets * self._spent / max(self._drawn, 1)
        if self.clock() - self._begin + needed <= ENDS[stage] * self.budget:
            return True
        self.out_of_time.add(stage)
        return False

    def _ranked(self, settings: Sequence[int], stage: str) -> list[int]:
        return ranked({one: self.sets[stage][one] for one in settings})


def ranked(sets: Mapping[int, Sequence[Measured]]) -> list[int]:
    """Settings by utility where all limits are kept, then the others by how near they come to it."""

    def key(setting: int) -> tuple[bool, float, int]:
        used = _used(sets[setting])
        return (used > 1, used if used > 1 else utility_of(sets[setting]), setting)

    return sorted(sets, key=key)


def utility_of(sets: Sequence[Measured]) -> float:
    """Mean utility of several sets; infinite where one has none."""
    mean = math.fsum(one.utility for one in sets) / len(sets)
    return math.inf if math.isnan(mean) else mean


def _used(sets: Sequence[Measured]) -> float:
    return max(one.limit_used for one in sets)
