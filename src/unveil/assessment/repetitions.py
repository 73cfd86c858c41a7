"""The whole procedure once more, for process intervals: as often as there is time for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unveil.assessment.scenario import Scenario
from unveil.columns import Pair
from unveil.errors import UnveilError
from unveil.notes import Note

REPEATS = 20
"""How often the synthesizer is fitted to two halves, and to a resample."""
FEWEST = 10
"""Fewer say too little of the spread."""
SHARE = 1 / 6
"""Share of the budget that fits to halves, and to resamples, should take."""
VALUE_SECONDS = 2e-6
"""Seconds for each value that trees fit, draw and code, on one core."""

Halves = tuple[tuple[Pair, Pair], ...]


@dataclass(frozen=True)
class Repetitions:
    """Parts of the original with releases made from each; made when a measure first needs them.

    Parameters
    ----------
    pair, scenario
        The files, and what is asked.
    synthesizer
        What made the releases, if it is known.
    """

    pair: Pair
    scenario: Scenario
    synthesizer: Any = None

    @property
    def halves(self) -> Halves | None:
        """For table measures; None without a synthesizer, or where :attr:`reason` says why not."""
        return self._halves if self._repeats else None

    def forget_halves(self) -> None:
        """Give back their memory; they are made again if they are needed once more."""
        self.__dict__.pop("_halves", None)

    @property
    def resamples(self) -> tuple[Pair, ...] | None:
        """For models; None without a synthesizer, or where :attr:`reason` says why not."""
        return self._resamples if self._repeats else None

    @property
    def reason(self) -> Note | None:
        """Why there are no parts although the synthesizer was given."""
        return self._settled[1]

    @property
    def _repeats(self) -> int:
        return self._settled[0]

    @cached_property
    def _settled(self) -> tuple[int, Note | None]:
        """How many repetitions there is time for, and why none."""
        from unveil._posterior.choice import check_maker

        if self.synthesizer is None:
            return 0, None
        if self.pair.unit:
            return 0, Note(f"{_NOT_REPEATED}, as it draws rows and the figures count units of several")
        if self.pair.n_original < 2:
            return 0, Note("the original has one record, which has no halves")
        try:
            check_maker(self.pair, self.synthesizer, self.scenario.targets[0])
            seconds = self._seconds()
        except UnveilError as error:
            return 0, Note(f"{_NOT_REPEATED}: {error}", _NOT_REPEATED)
        allowed = int(REPEATS * SHARE * self.scenario.budget / seconds) if seconds > 0 else REPEATS
        if allowed < FEWEST:
            return 0, Note(
                f"{_NOT_REPEATED}, as it would take about {seconds:.0f} seconds; raise the budget", _NOT_REPEATED
            )
        return min(allowed, REPEATS), None

    def _seconds(self) -> float:
        """Return the seconds of all repetitions of one kind: by the sizes of the files, else by a trial."""
        from unveil.synthesis import CartSynthesizer
        from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew

        n, columns = self.pair.n_original + sum(self.pair.n_synthetic), len(self.pair.original.names)
        if type(self.synthesizer) is CartSynthesizer and not self.synthesizer.methods:
            return REPEATS * VALUE_SECONDS * n * columns
        start = time.perf_counter()
        fitted = fitted_anew(as_synthesizer(self.synthesizer), self.pair.original, seed=0)
        fitted.sample(self.pair.n_synthetic[0], seed=0)
        return REPEATS * (time.perf_counter() - start)

    @cached_property
    def _halves(self) -> Halves:
        from unveil.synthesis import halves

        columns = (*self.scenario.keys, *self.scenario.targets)
        return halves(self.pair, self.synthesizer, repeats=self._repeats, columns=columns, seed=self.scenario.seed)

    @cached_property
    def _resamples(self) -> tuple[Pair, ...]:
        from unveil.synthesis import resamples

        columns = (*self.scenario.keys, *self.scenario.targets)
        return resamples(self.pair, self.synthesizer, repeats=self._repeats, columns=columns, seed=self.scenario.seed)


_NOT_REPEATED = "the synthesizer was not fitted again"
