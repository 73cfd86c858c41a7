"""RAPID of several targets at once: persons of whom a model tells all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.counted_result import CountedRapid
from unveil._rapid.result import Rapid
from unveil.checks import check_shares, check_whole_numbers
from unveil.errors import CallError
from unveil.files.source import Flavour
from unveil.models.learners import resolve
from unveil.result import Result, columns_of
from unveil.stats import wilson
from unveil.stats.excess import over_null

Flags = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class JointRapid(Result):
    """Persons who are at risk for several targets at once, by attacker and release.

    Attributes
    ----------
    keys, targets
        What the intruder knows, and the targets that all have to be told.
    n, n_original
        Number of persons who count for every target, and of all.
    permutations, level, seed
        Number of shuffles behind each null, coverage of the intervals, and where the shuffles come from.
    rows
        Per attack: ``release``, ``attacker``, ``rate``, the share of persons at risk for all targets, with ``low`` and
        ``high`` (Wilson); ``correct``, the share for whom the most probable class is the true one besides; ``margin``,
        the rate of a guess without release and keys; ``independent``, the product of the rates of the targets;
        ``null_mean``, ``null_95``, ``p_value`` and ``excess``, of shuffled targets.
    warnings
        What deserves a look in the files.
    """

    _words = "words.rapid_joint.all_targets"
    _drawing = "plots.rapid_joint.plot_joint"

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    n: int
    n_original: int
    permutations: int
    level: float
    seed: int
    rows: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = ()
    _at_risk: tuple[Flags, ...] = field(default=(), repr=False, compare=False)
    _persons: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp), repr=False, compare=False)

    def _columns(self) -> dict[str, Any]:
        """A row per attack."""
        return columns_of(self.rows)

    def records(self, attack: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per person who counts, the number of the record from 0, and whether all targets are told: confidential.

        Parameters
        ----------
        attack
            Position of the attack in ``rows``.
        flavour
            Kind of frame.
        """
        check_whole_numbers(0, len(self._at_risk) - 1, attack=attack)
        return self._frame({"record": self._persons, "at_risk": self._at_risk[attack]}, flavour)


def joint_rapid(results: Sequence[Rapid], *, permutations: int, level: float, said: Sequence[str]) -> JointRapid:
    """Put the attacks on several targets together; see :meth:`unveil.inference.Rapids.joint`."""
    check_whole_numbers(0, permutations=permutations)
    check_shares(level=level)
    if len(results) < 2:
        raise CallError("several targets are told at once only where there are several: name two or more")
    if any(isinstance(one, CountedRapid) for one in results):
        raise CallError("the joint rate takes all persons in one place: take engine='memory', or a sample")
    names = set.intersection(*(set(one.attackers) for one in results))
    attackers = [name for name in results[0].attackers if name in names]
    if not attackers:
        raise CallError("the targets have no attacker in common; name one that suits all of them")
    runners = [one.runner for one in results]
    persons: NDArray[np.intp] = reduce(np.intersect1d, (runner.problem.counted for runner in runners))
    if not len(persons):
        raise CallError("no person has a value of every target that counts")
    kept = [np.searchsorted(runner.problem.counted, persons) for runner in runners]
    margins = [runner.rule.at_risk(runner.score(runner.margin())) for runner in runners]
    margin = float(_all(margins, kept).mean())
    rows, flags = [], []
    for release, label in enumerate(results[0].labels):
        for name in attackers:
            runs = [one.run(release, name) for one in results]
            told = _all([run.at_risk for run in runs], kept)
            right = told & _all([_right(run, runner) for run, runner in zip(runs, runners, strict=True)], kept)
            null = _null(runners, kept, name, release, permutations)
            low, high = wilson(int(told.sum()), len(told), level)
            rate = float(told.mean())
            above = over_null(rate, null, (low, high), level)
            rows.append(
                {
                    "release": label,
                    "attacker": name,
                    "rate": rate,
                    "low": low,
                    "high": high,
                    "n_at_risk": int(told.sum()),
                    "correct": float(right.mean()),
                    "margin": margin,
                    "independent": float(
                        np.prod([run.at_risk[own].mean() for run, own in zip(runs, kept, strict=True)])
                    ),
                    "null_mean": above.null_mean,
                    "null_95": above.null_95,
                    "p_value": above.p_value,
                    "excess": above.excess,
                }
            )
            flags.append(told)
    first = results[0]
    return JointRapid(
        keys=first.keys,
        targets=tuple(one.target for one in results),
        n=len(persons),
        n_original=first.n_original,
        permutations=permutations,
        level=level,
        seed=first.seed,
        rows=tuple(rows),
        warnings=tuple(said),
        flavour=first.flavour,
        unit=first.unit,
        _at_risk=tuple(flags),
        _persons=persons,
    )


def _all(flags: Sequence[Flags], kept: Sequence[NDArray[np.intp]]) -> Flags:
    """Of the persons who count for every target, who is flagged for all."""
    found: Flags = np.all([flag[own] for flag, own in zip(flags, kept, strict=True)], axis=0)
    return found


def _right(run: Attack, runner: Runner) -> Flags:
    """Whether the most probable class is the true one; an error below epsilon is right already."""
    if run.inferred.probability is None:
        return np.ones(len(run.at_risk), dtype=bool)
    right: Flags = run.inferred.predicted == runner.problem.truth
    return right


def _null(
    runners: Sequence[Runner], kept: Sequence[NDArray[np.intp]], name: str, release: int, permutations: int
) -> NDArray[np.float64]:
    """Joint rates (permutations,) where each target is shuffled over the records of the release by itself."""
    attackers = [resolve(name, runner.problem.classes is None)[0] for runner in runners]
    rates = []
    for b in range(permutations):
        flags = [
            runner.at_risk_shuffled(attacker, release, b, number)
            for number, (runner, attacker) in enumerate(zip(runners, attackers, strict=True))
        ]
        rates.append(_all(flags, kept).mean())
    return np.array(rates, dtype=np.float64)
