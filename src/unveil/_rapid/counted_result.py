"""The result of inference where an engine counts the persons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack
from unveil._rapid.figures import intervals_of, resampled_rates
from unveil._rapid.result import Intervals, Rapid
from unveil._rapid.sample import sampling_half, widened
from unveil._rapid.scored_cells import ScoreCells
from unveil.columns.counted import by_raw_code
from unveil.columns.pair import Pair
from unveil.errors import CallError
from unveil.files.folders import PARQUET
from unveil.stats import Interval, Kind, rate_interval

Floats = NDArray[np.float64]
TIMES = 10
"""How many times as many records are drawn of a file as models are trained on: several samples, and persons."""
_CORRECTION = math.sqrt(TIMES / (TIMES - 1))
"""Samples of drawn records differ less than those of a release of any size; see :class:`CountedRapid`."""


@dataclass(frozen=True, repr=False)
class CountedRapid(Rapid):
    """RAPID of persons whom an engine counts, by models that are trained on records drawn from the releases.

    Every person is scored: ``rate``, ``n_at_risk``, ``margin``, ``accuracy`` and the other figures of predictions are
    sums over all of them. The null, the ceiling, curves, groups and the attribution of keys are those of persons who
    were drawn.

    The interval of the rate p of N persons, of whom n were drawn, has on each side the half-length

    ``sqrt(h^2 n / N + (t s)^2 M / (M - k))``

    with h that of the n persons. The second part is over the draw of the training sample: s is the standard deviation
    of the rates of five samples of k records, and t the quantile of Student's t with four degrees of freedom. The five
    are taken from M drawn records of the release, so that their variance is ``1 - k / M`` of that of samples of a
    release of any size (Cochran 1977, Sampling techniques, theorem 2.2).

    Attributes
    ----------
    persons
        How many of the original records that count were drawn.
    """

    persons: int = field(kw_only=True)
    _score: ScoreCells = field(kw_only=True, repr=False, compare=False)
    _files: Pair = field(kw_only=True, repr=False, compare=False)

    def intervals(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> list[Intervals]:
        """Per attack, release intervals of the rate and of its excess; see :meth:`Rapid.intervals`."""
        found = []
        for run, figures in zip(self.runs, self.attacks, strict=True):
            drawn = self._of_all(resampled_rates(run, self.runner, n=n, seed=seed), run.rate, figures["rate"])
            found.append(
                intervals_of(
                    run, self.runner, figures["rate"], drawn, self.n_counted, self._half([run], level), n=n, seed=seed,
                    level=level,
                )
            )  # fmt: skip
        return found

    def interval(self, kind: Kind = "release", **options: Any) -> Interval:
        """An interval of a named kind for the rate; see :meth:`Rapid.interval`."""
        found = super().interval(kind, **options)
        if found.kind == "release":
            return found
        moved = self.rate - found.value
        return replace(found, value=self.rate, low=max(found.low + moved, 0.0), high=min(found.high + moved, 1.0))

    def _over_persons(self, n: int, seed: int, level: float) -> tuple[Floats, tuple[float, float]]:
        of_drawn = super()._over_persons(n, seed, level)[0]
        drawn = self._of_all(of_drawn, sum(run.rate for run in self.runs) / len(self.runs), self.rate)
        ends = rate_interval(self.rate, drawn, self.n_counted, level)["bootstrap"]
        return drawn, widened(self.rate, ends, self._half(self.runs, level))

    def _of_all(self, rates: Floats, of_drawn: float, of_all: float) -> Floats:
        """Rates in resamples of all persons, from those in resamples of the drawn ones."""
        found: Floats = np.clip(of_all + (rates - of_drawn) * math.sqrt(self.persons / self.n_counted), 0.0, 1.0)
        return found

    def _half(self, runs: Sequence[Attack], level: float) -> float:
        return float(sampling_half(runs, [self.threshold], self.runner.rule, level)[0]) * _CORRECTION

    def records(self, release: int = 0, attacker: int | str = 0, *, flavour: Any = None) -> Any:
        """Records of persons do not come here; see :meth:`write_records`.

        Raises
        ------
        CallError
            Always.
        """
        raise CallError(
            "these persons were scored where they are: write what is said of each to a Parquet file with "
            "write_records('flags.parquet') (--records flags.parquet)"
        )

    def write_records(
        self, path: str | Path, release: int = 0, attacker: int | str = 0, *, overwrite: bool = False
    ) -> None:  # fmt: skip
        """Write a row per original record as Parquet, where the records are counted. It is confidential.

        Its number, ``g`` (probability of the true class) and the score ``r``, or the error ``e`` (NaN for who has no
        number), and whether at risk. The workers of Spark write a folder of files, each its part.

        Parameters
        ----------
        path
            The file or folder; it ends in .parquet.
        release, attacker
            Which attack.
        overwrite
            Whether a file that exists may be replaced.

        Raises
        ------
        CallError
            If there is no such release or attacker, or the ending is another.
        FileError
            If the file exists and ``overwrite`` is not set, or cannot be written.
        """
        if not str(path).lower().endswith(PARQUET):
            raise CallError(f"{path}: persons who are scored where they are can be written as Parquet alone (.parquet)")
        assert self._files.engine is not None
        number = next(i for i, run in enumerate(self.runs) if run is self.run(release, attacker))
        score = replace(self._score, models=self._score.models[number : number + 1])
        coded = by_raw_code(map(self._files.compared, (*self.keys, self.target)))
        self._files.engine.write_flags(coded[:-1], coded[-1:], score.flags, str(path), overwrite=overwrite)
