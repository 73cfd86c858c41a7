"""RAPID: what a model trained on the release can infer about real people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from unveil._rapid.attack import SAMPLES, Runner
from unveil._rapid.counted import over_all
from unveil._rapid.counted_result import TIMES
from unveil._rapid.kept_scores import KeptScores
from unveil._rapid.problem import Problem, TargetKind, has_several_amounts, pose
from unveil._rapid.rapids import Rapids
from unveil._rapid.result import Rapid
from unveil._rapid.sample import MOST_RECORDS
from unveil._rapid.scores import DEFAULT_EPSILON, DEFAULT_TAU, METRICS, SCORINGS, rounding_error
from unveil._rapid.threshold import RiskThreshold
from unveil._tables.keyed_pair import as_names, targets_of
from unveil.checks import check_choice, check_flags, check_numbers, check_positive, check_whole_numbers
from unveil.columns.drawn import drawn_pair, is_larger
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.errors import CallError
from unveil.models.learners import resolve
from unveil.notes import Note
from unveil.threads import n_threads

Progress = Callable[[int, int, str], None]


@pair_first
def rapid(
    pair: Pair, keys: str | Sequence[str], *, target: str | None = None, targets: Sequence[str] | None = None,
    attacker: Any = "rf", kind: TargetKind | None = None, scoring: str = "marginal", tau: float | None = None,
    metric: str = "relative", epsilon: float | None = None, delta: float = 0.01,
    target_na: Literal["exclude", "median"] | float = "exclude", permutations: int = 19, ceiling: bool = True,
    folds: int = 5, most_records: int | None = None, side_information: Any = None, side_weight: float = 1.0,
    seed: int = 0, n_jobs: int | None = None, progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> Any:  # fmt: skip
    """Measure the risk of attribute prediction-induced disclosure (RAPID).

    The intruder holds the release and the keys of real persons, trains a model on the release, and applies it to these
    keys. RAPID is the share of persons whose target is then inferred beyond a threshold.

    - Categorical target: with g the model's probability of a person's true class and b the share of that class in the
      original, ``r = (g - b) / (1 - b)``; at risk if ``r > tau``.
    - Continuous target: with y the true and p the predicted value, ``e = |y - p| / (|y| + delta)``; at risk if
      ``e < epsilon``.

    Beside the rate stand the *margin* (guessing without release and keys), the *null* (the release with its target
    shuffled), the *ceiling* (the attack trained on the original, cross-fitted) and the excess
    ``(rate - null) / (1 - null)``.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables: what an intruder knows of a person. A gap is a level, or for numbers a value of its own.
    target
        One target variable.
    targets
        Several target variables; with neither, every other common column.
    attacker
        ``"rf"`` (random forest of 500 trees), ``"cart"``, ``"gbm"``, ``"logit"`` (maximum likelihood), ``"logit_l1"``,
        ``"lm"``, ``"stack"`` (the best combination of the others), ``"suite"`` (all of them), an estimator with ``fit``
        and ``predict_proba`` or ``predict``, or a list of these.
    kind
        ``"categorical"`` or ``"continuous"``; by default as the column is. Numbers with two values are classes.
    scoring
        ``"marginal"`` (r), ``"conditional"`` (g over its mean in the true class) or ``"nce"`` (normalised
        cross-entropy).
    tau
        Threshold of a categorical target; by default 0.3, or 1 for ``"conditional"``.
    metric
        Error of a continuous target: ``"relative"``, ``"symmetric"``, ``"absolute"``, ``"sd"`` or ``"range"``; see
        :func:`unveil.inference.prediction_error`.
    epsilon
        Threshold of a continuous target; by default 0.10, and required for ``"absolute"``.
    delta
        Keeps relative errors defined at 0.
    target_na
        What becomes of records whose continuous target is a gap or a special code: ``"exclude"``, or filled with the
        ``"median"`` of their file or with a number. A gap of a categorical target is a class.
    permutations
        Number of shuffles of the release's target; each trains every attacker anew. 0 for none. Forests of the null
        of 2000 records or more have 100 trees: the p-value compares them with the first 100 trees of the attack, which
        is exact, since all are exchangeable if nothing can be learnt; the mean of their rates v is carried to 500
        trees by ``v_500 = 1.8 v_100 - 0.8 v_50``, and every shuffle moves with it.
    ceiling
        Whether the attack is also trained on the original.
    folds
        Number of folds of the ceiling.
    most_records
        Records of a file that an attacker is trained on at most; by default 100 000. Of a larger release so many are
        drawn, with its target shuffled for the null, and of a larger original for the ceiling; all original records
        are attacked. Each attacker is then trained on four other samples too: intervals are also over the draw of the
        sample. ``sample`` and a note of the result say of how many. Where an engine was asked for that counts records
        (Spark, ``engine="files"``) and a file has more than ten times as many, all persons are scored where they are
        counted; see :class:`unveil._rapid.counted_result.CountedRapid`.
    side_information
        Real records that the intruder has besides, with keys and target: a frame or a path. They are added to the
        training records, of the null too.
    side_weight
        How many records of the release one of them counts for; models are trained on as many copies, a fraction is
        spread evenly.
    seed
        Of all random numbers.
    n_jobs
        Number of threads of the random forest; all by default. Results do not depend on it.
    progress
        Called with the number of models done, their total, and what the last one was.
    checkpoint
        Path of a folder that keeps the scores of finished models: an interrupted call continues where it stopped, and
        one with more attackers, shuffles or targets takes what is there. Those of other files or options are not
        taken. No record is in it, but the scores of persons are, without who has which. The attack on the release
        itself is made anew.

    Returns
    -------
    Rapid or Rapids
        For one target, or a sequence for several.

    Raises
    ------
    CallError
        If a column, attacker, scoring or metric is unknown, an option is out of its range, or the attacker does not
        suit the target.
    DataError
        If there is nothing to train on, or a continuous target is infinite.
    FileError
        If the folder of the checkpoint cannot be made or written to.

    References
    ----------
    Templ, Thees & Müller (2026), RAPID: risk of attribute prediction-induced disclosure, arXiv:2602.09235.

    Examples
    --------
    >>> import unveil
    >>> from unveil._rapid import rapid
    >>> people = unveil.simulate.rapid_population(300, kappa=10, seed=1)
    >>> risk = rapid(unveil.Pair(people, people), ["age", "income", "education"], target="disease_status",
    ...              attacker="cart", permutations=5)
    >>> risk.rate > 0.7, risk.attacks[0]["null_mean"] < 0.5
    (True, True)
    """
    check_whole_numbers(0, permutations=permutations, seed=seed)
    check_whole_numbers(2, folds=folds)
    if most_records is not None:
        check_whole_numbers(1, most_records=most_records)
    most = most_records or MOST_RECORDS
    check_flags(ceiling=ceiling)
    names = as_names(keys, "key")
    wanted, said = targets_of(pair, names, target, targets)
    if target is None and targets is None and kind is None:
        several = [name for name in wanted if has_several_amounts(pair.column(name, by_amount=True))]
        wanted = tuple(name for name in wanted if name not in several)
        said += tuple(Note(f"{name!r} holds amounts that differ within units and is left out") for name in several)
        if not wanted:
            raise CallError("; ".join(["no column is left to be a target", *said]))
    threads = n_threads(n_jobs)
    posed = []
    counted = is_larger(pair, TIMES * most)
    if counted:
        _check_counted(scoring, side_information)
        pair.prepare(names, wanted)
    for name in wanted:
        files = drawn_pair(pair, [*names, name], TIMES * most, int(seed)) if counted else pair
        problem = pose(files, names, name, kind=kind, target_na=target_na, side_information=side_information,
                       side_weight=side_weight)  # fmt: skip
        rule = _rule(problem, scoring, tau, metric, epsilon, delta)
        kept = None if checkpoint is None else KeptScores(checkpoint, problem, rule.scoring, delta, int(seed), most)
        runner = Runner(problem, rule, delta, int(seed), threads, most, kept)
        posed.append((runner, resolve(attacker, problem.classes is None)))
    models = 1 + permutations
    total = sum(
        len(attackers) * (
            sum(models + runner.is_sampled(r) * (SAMPLES - 1) for r in range(pair.n_releases)) + ceiling * folds
        )
        for runner, attackers in posed
    )  # fmt: skip
    done = 0

    def tick(what: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, what)

    settings: dict[str, Any] = {
        "attacker": attacker, "scoring": scoring, "tau": tau, "metric": metric, "epsilon": epsilon, "delta": delta,
        "target_na": target_na, "side_information": side_information, "side_weight": side_weight, "seed": int(seed),
        "n_jobs": n_jobs, "most_records": most_records,
    }  # fmt: skip
    results = []
    for runner, attackers in posed:
        tops = [runner.ceiling(a, k, folds, tick) if ceiling else None for k, a in enumerate(attackers)]
        runs = [
            runner.attack(a, k, release, permutations=permutations, ceiling=tops[k], tick=tick)
            for release in range(pair.n_releases)
            for k, a in enumerate(attackers)
        ]
        found = Rapid.of(runs, runner, [a.name for a in attackers], partial(_again, runner.problem, settings))
        results.append(over_all(found, pair, most, target_na) if counted else found)
    return results[0] if target is not None else Rapids(results, said)


def _check_counted(scoring: str, side_information: Any) -> None:
    """Raise an error if something is asked for that takes all persons in one place."""
    instead = "write a sample of the records to a Parquet file and measure that, or take engine='memory'"
    if scoring == "conditional":
        raise CallError(
            "scoring='conditional' compares a person with all others of the class, which takes all records in one "
            f"place: take 'marginal' or 'nce', {instead}"
        )
    if side_information is not None:
        raise CallError(f"side_information is not taken where records are counted: {instead}")


def _again(problem: Problem, settings: Mapping[str, Any], pair: Pair, number: int) -> Rapid:
    """The same attacks on other files with the same columns, with random numbers of their own."""
    found: Rapid = rapid(
        pair, problem.keys, target=problem.target, kind=problem.kind, permutations=0, ceiling=False,
        **{**settings, "seed": settings["seed"] + 1 + number},
    )  # fmt: skip
    return found


def _rule(
    problem: Problem, scoring: str, tau: float | None, metric: str, epsilon: float | None, delta: float
) -> RiskThreshold:
    check_choice("scoring", scoring, SCORINGS)
    check_choice("metric", metric, METRICS)
    check_positive(delta=delta)
    if problem.classes is not None:
        threshold = DEFAULT_TAU[scoring] if tau is None else tau
        check_numbers(tau=threshold)
        return RiskThreshold(scoring, float(threshold), above=True)
    if epsilon is None and metric not in DEFAULT_EPSILON:
        raise CallError(
            f"metric {metric!r} is in units of {problem.target!r}: say from where on it is a risk with epsilon="
        )
    threshold = DEFAULT_EPSILON[metric] if epsilon is None else epsilon
    check_positive(epsilon=threshold)
    return RiskThreshold(metric, float(threshold), above=False, slack=rounding_error(problem.truth, metric))
