"""Which keys put persons at risk: a regression of the flag, permutation importance, partial dependence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.problem import AttackRecords, Inferred, infer
from unveil.checks import check_shares, check_whole_numbers
from unveil.files.source import Flavour
from unveil.models.design import Design
from unveil.models.features import Key, KeyTable
from unveil.models.learners import KEYS
from unveil.models.logit import fit_logistic
from unveil.result import Result, columns_of
from unveil.stats import normal_quantile

Floats = NDArray[np.float64]
_PRIOR_PRECISION = 1e-4
_EXACT = 1e-13
_PERMUTED = 1 << 20
"""Records with a permuted key that are attacked at a time."""
_PERSONS = 300
_POINTS = 12


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of the regression of the flag: log odds against the reference level, or per sd of a number."""

    key: str
    level: str | None
    reference: str | None
    estimate: float
    standard_error: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, repr=False)
class Attribution(Result):
    """Which keys put persons at risk, in one attack.

    Attributes
    ----------
    target, attacker, release
        The attack.
    n_at_risk, n
        Persons at risk, and persons.
    intercept
        Log odds of a person at the reference levels and the means of the numbers.
    coefficients
        Logistic regression of the at-risk flag on the keys; numbers per standard deviation.
    separated
        Whether some level decides the flag alone, so that its coefficient has no finite estimate and is held by a
        weak prior.
    importance
        Per key, what is lost when the key is permuted among persons (drawn where there are very many): ``score``
        (mean fall of the score; of errors the rise) and ``rate`` (fall of the rate).
    dependence
        Per key, level and class, the mean of the attacker's probability (or prediction) when all persons have the
        level: dicts with key, level, value, class, mean.
    warnings
        Those of the measure.
    """

    _words = "words.rapid.attribution"
    _drawing = "plots.rapid.plot_attribution"

    target: str
    attacker: str
    release: str
    n_at_risk: int
    n: int
    level: float
    intercept: float
    coefficients: tuple[Coefficient, ...]
    separated: bool
    importance: tuple[dict[str, Any], ...]
    dependence: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)

    def _columns(self) -> dict[str, Any]:
        """A row per coefficient."""
        return {one.name: [getattr(c, one.name) for c in self.coefficients] for one in fields(Coefficient)}

    def importance_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per key."""
        return self._frame(columns_of(self.importance), flavour)

    def dependence_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per key, level and class."""
        return self._frame(columns_of(self.dependence), flavour)


def flag_regression(
    x: Floats | scipy.sparse.csr_matrix, share: NDArray[Any], persons: NDArray[Any] | None = None
) -> tuple[Floats, Floats, bool]:
    """Logistic regression by Newton's method, with a normal prior too weak to be seen where an estimate exists.

    The log-likelihood less ``1e-4/2 * sum(beta^2)`` (intercept excepted) is maximised; standard errors are from its
    second derivative.

    Parameters
    ----------
    x : (n, k)
        Design whose first column is ones.
    share : (n,)
        Whether at risk, or the share at risk of the persons that a row stands for.
    persons : (n,)
        How many persons each row stands for; one where it is not said.

    Returns
    -------
    beta, standard_error : (k,)
        Estimates and their standard errors.
    separated : bool
        Whether some estimate is only held by the prior.

    References
    ----------
    McCullagh & Nelder (1989), Generalized linear models, chapter 4.

    Examples
    --------
    >>> x = np.column_stack([np.ones(8), np.repeat([0.0, 1.0], 4)])
    >>> beta, se, separated = flag_regression(x, np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=bool))
    >>> beta.round(2).tolist(), separated
    ([-1.1, 2.2], False)
    """
    precision = np.full(x.shape[1], _PRIOR_PRECISION)
    # all or none at risk: the intercept too has no finite estimate
    precision[0] = 0.0 if 0 < share.mean() < 1 else _PRIOR_PRECISION
    weight = None if persons is None else persons.astype(np.float64)
    fitted = fit_logistic(
        scipy.sparse.csr_matrix(x), share.astype(np.float64), weight=weight, precision=precision, tolerance=_EXACT
    )
    error = np.sqrt(np.diag(fitted.covariance))
    return fitted.coefficients, error, bool((np.abs(fitted.coefficients) > 8).any())


def attribute_flags(run: Attack, runner: Runner, *, repeats: int = 5, level: float = 0.95) -> Attribution:
    """Explain the flags of one attack.

    Parameters
    ----------
    run, runner
        The attack, and what was asked for.
    repeats
        Number of permutations of each key.
    level
        Coverage of the intervals, which are estimate -+ z * standard error.

    Raises
    ------
    CallError
        If the number of repeats or the level is out of range.
    """
    check_whole_numbers(1, repeats=repeats)
    check_shares(level=level)
    problem = runner.problem
    table = problem.original.table
    ordered = table.take(problem.original.ordering()).coded
    design = Design.of(ordered, replace(KEYS, reference="largest"))
    # persons with the same keys are one row: what the regression takes depends on the combinations
    first, position = table.distinct()
    persons = np.bincount(position)
    x = design.matrix(table.take(first).coded, len(first), constant=True)
    share = np.bincount(position, weights=run.at_risk) / persons
    beta, error, separated = flag_regression(x, share, persons)
    z = normal_quantile(level)
    fitted = dict(zip(design.columns, zip(beta[1:].tolist(), error[1:].tolist(), strict=True), strict=True))
    coefficients = []
    for i, (key, term) in enumerate(zip(table.keys, design.terms, strict=True)):
        reference = None if term.reference is None else key.label(term.reference)
        counts = np.bincount(table.codes[i], minlength=key.n_levels)
        for code in (*term.amount, *key.listed(term.levels)):
            b, e = fitted[i, code]
            label, n = (None, len(table)) if code is None else (key.label(code), int(counts[code]))
            coefficients.append(Coefficient(key.name, label, reference, b, e, b - z * e, b + z * e, n))
    return Attribution(
        problem.target, run.attacker, problem.pair.labels[run.release], int(run.at_risk.sum()), len(run.at_risk),
        level, float(beta[0]), tuple(coefficients), separated, tuple(_importance(run, runner, repeats)),
        tuple(_dependence(run, runner)), runner.warnings, problem.pair.flavour, unit=problem.pair.unit,
    )  # fmt: skip


def _importance(run: Attack, runner: Runner, repeats: int) -> list[dict[str, Any]]:
    persons, keys = runner.persons(), runner.problem.original.table.keys
    changes = [(i, repeat) for i in range(len(keys)) for repeat in range(repeats)]
    # many at once: a forest that is not kept is grown again for every prediction
    size = max(_PERMUTED // max(len(persons), 1), 1)
    falls = [
        fall
        for start in range(0, len(changes), size)
        for fall in _falls(run, runner, persons, changes[start : start + size])
    ]
    means = np.reshape(falls, (len(keys), repeats, 2)).mean(axis=1)
    return [
        {"key": key.name, "score": float(score), "rate": float(rate)}
        for key, (score, rate) in zip(keys, means, strict=True)
    ]


def _falls(
    run: Attack, runner: Runner, persons: NDArray[np.intp], changes: Sequence[tuple[int, int]]
) -> list[tuple[float, float]]:
    """How far the mean score and the rate of some persons fall with a key permuted; for some keys and repeats."""
    original, rule = runner.problem.original.take(persons), runner.rule
    order, n = original.ordering(), len(persons)
    given = run.inferred.probability
    whole = runner.score(Inferred(run.inferred.predicted[persons], None if given is None else given[persons]), original)
    many = original.take(np.tile(np.arange(n), len(changes)))
    codes = many.table.codes.copy()
    for number, (i, repeat) in enumerate(changes):
        rng = np.random.default_rng([runner.seed, i, repeat])
        codes[i, number * n + order] = rng.permutation(original.table.codes[i][order])
    table = KeyTable(original.table.keys, codes)
    inferred = infer(run.predict, AttackRecords(table, many.target), *table.distinct())
    found = []
    for number in range(len(changes)):
        own = slice(number * n, (number + 1) * n)
        probability = None if inferred.probability is None else inferred.probability[own]
        score = runner.score(Inferred(inferred.predicted[own], probability), original)
        lost = float(whole[order].mean() - score[order].mean())
        found.append((lost if rule.above else -lost, float(rule.at_risk(whole).mean() - rule.at_risk(score).mean())))
    return found


def _grid(key: Key, codes: NDArray[np.int32]) -> list[int]:
    """Codes at which the dependence is shown: all levels that occur, or of a number some from low to high."""
    occurs = np.unique(codes)
    if key.kind != "numeric" or len(occurs) <= _POINTS:
        return key.listed(occurs)
    amount = codes[key.column.is_amount[codes]]
    ordered = np.sort(amount)
    points = ordered[np.linspace(0, len(ordered) - 1, _POINTS).astype(np.intp)]
    return [int(c) for c in dict.fromkeys(points.tolist())]


def _dependence(run: Attack, runner: Runner) -> list[dict[str, Any]]:
    problem = runner.problem
    n = len(problem.original)
    persons = np.unique(np.linspace(0, n - 1, min(n, _PERSONS)).astype(np.intp))
    table = problem.original.table.take(problem.original.table.ordering(problem.truth)[persons])
    points = [
        (i, key, code) for i, key in enumerate(table.keys) for code in _grid(key, problem.original.table.codes[i])
    ]
    # all at once: a forest that is not kept is grown again for every prediction
    codes = np.concatenate([table.with_key(i, np.full(len(table), code)).codes for i, _, code in points], axis=1)
    means = run.predict(KeyTable(table.keys, codes)).reshape(len(points), len(table), -1).mean(axis=1)
    found: list[dict[str, Any]] = []
    for (_, key, code), mean in zip(points, means, strict=True):
        value = float(key.column.amounts[code]) if key.column.is_amount[code] else None
        place = {"key": key.name, "level": key.label(code), "value": value}
        if problem.classes is None:
            found.append(place | {"class": None, "mean": float(mean[0])})
        else:
            found.extend(place | {"class": problem.classes[c], "mean": float(mean[c])} for c in problem.listed)
    return found
