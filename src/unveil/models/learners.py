"""Attackers: models that an intruder may train on the release and apply to real keys.

An attacker is trained on a :class:`~unveil.models.features.KeyTable` and predicts, for any table of the same keys, the
probability of every class of all files (n, classes), or the expected number (n,).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import isclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.models.boosting import fit_boosted
from unveil.models.design import Coding, Design
from unveil.models.features import KeyTable
from unveil.models.forest import Forest, grow_forest
from unveil.models.least_squares import fit_least_squares
from unveil.models.logit import NotConverged, fit_logistic
from unveil.models.multinomial import Multinomial, maximum_likelihood, penalised
from unveil.models.pruning import pruned
from unveil.registered import ATTACKERS as GROUP
from unveil.registered import only_one, registered
from unveil.trees import Column, Settings, grow

Floats = NDArray[np.float64]
Predictor = Callable[[KeyTable], Floats]
_FOLDS = 5
_CP = 0.01
KEYS = Coding("first", average=True, constants=True)
"""How linear attackers read keys: a level that the release lacks is neither the reference nor another one."""


@dataclass(frozen=True, eq=False)
class TrainingTarget:
    """What the attacker is trained to predict.

    Parameters
    ----------
    y : (n,)
        Class codes over the classes of all files, or numbers.
    n_classes
        Number of classes, or None for numbers.
    """

    y: NDArray[Any]
    n_classes: int | None

    def take(self, records: NDArray[Any]) -> TrainingTarget:
        """Some of the records."""
        return TrainingTarget(self.y[records], self.n_classes)

    def joined(self, other: TrainingTarget) -> TrainingTarget:
        """These records and then those."""
        return TrainingTarget(np.concatenate([self.y, other.y]), self.n_classes)


def fold_of(target: TrainingTarget, folds: int, seed: np.random.SeedSequence) -> NDArray[np.intp]:
    """The fold of every record: of equal size, and within each class as equal as can be."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(target.y))
    if target.n_classes is not None:
        order = order[np.argsort(target.y[order], kind="stable")]
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % folds
    return fold


@runtime_checkable
class Attacker(Protocol):
    """A model by name or an estimator, ready to be trained."""

    @property
    def name(self) -> str:
        """How results call it."""
        ...

    def fit(self, table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
        """Train it, and give back the function that predicts."""
        ...


@dataclass(frozen=True)
class _Named:
    name: str
    method: Callable[[KeyTable, TrainingTarget, np.random.SeedSequence, int], Predictor]
    continuous: bool | None
    """What it can predict: numbers only, classes only, or both (None)."""

    def fit(self, table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
        return self.method(table, target, seed, threads)


@dataclass(frozen=True)
class _Estimator:
    """Any estimator with ``fit`` and ``predict_proba`` or ``predict``."""

    name: str
    estimator: Any

    def fit(self, table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
        from sklearn.base import clone

        design = Design.of(table.coded, KEYS)

        def matrix(other: KeyTable) -> Floats:
            found: Floats = design.matrix(other.coded, len(other)).toarray()
            return found

        model = clone(self.estimator, safe=False)
        model.fit(matrix(table), target.y)
        if target.n_classes is None:
            return _numbers(model, matrix)
        n_classes = target.n_classes
        if not hasattr(model, "predict_proba"):
            return _certain(model, matrix, n_classes, self.name)
        return _by_class(model, matrix, n_classes, self.name)


def _certain(model: Any, matrix: Callable[[KeyTable], Floats], n_classes: int, name: str) -> Predictor:
    """The predicted class with probability 1, of a model that gives no probabilities."""

    def predict(other: KeyTable) -> Floats:
        said = np.asarray(model.predict(matrix(other))).ravel()
        if said.dtype.kind not in "biuf" or not np.isin(said, np.arange(n_classes)).all():
            raise CallError(
                f"attacker {name} predicts what is none of the classes it was trained on: give a classifier"
            )
        return np.eye(n_classes)[said.astype(np.intp)]

    return predict


def _by_class(model: Any, matrix: Callable[[KeyTable], Floats], n_classes: int, name: str) -> Predictor:
    """Columns of the model's probabilities put where their class labels say."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise CallError(f"attacker {name}: it has no classes_ after fit, so its columns of probabilities have no names")
    return _spread(lambda other: model.predict_proba(matrix(other)), np.asarray(classes).astype(np.intp), n_classes)


def _spread(probabilities: Predictor, classes: NDArray[np.intp], n_classes: int) -> Predictor:
    """Columns of probabilities put where their classes stand among all."""

    def predict(other: KeyTable) -> Floats:
        result = np.zeros((len(other), n_classes))
        result[:, classes] = probabilities(other)
        return result

    return predict


def _numbers(model: Any, matrix: Callable[[KeyTable], Floats]) -> Predictor:
    return lambda other: np.asarray(model.predict(matrix(other)), dtype=np.float64).ravel()


def _present(target: TrainingTarget) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The classes that occur in training, and the records' codes among them."""
    classes, position = np.unique(target.y, return_inverse=True)
    return classes.astype(np.intp), position.ravel()


def _constant(target: TrainingTarget) -> Predictor | None:
    """What is predicted when training shows one value only."""
    if len(np.unique(target.y)) > 1:
        return None
    value = target.y[0]
    if target.n_classes is None:
        return lambda other: np.full(len(other), float(value))
    n_classes = target.n_classes
    return lambda other: np.eye(n_classes)[np.full(len(other), int(value))]


@dataclass(frozen=True, eq=False)
class ForestPredictor:
    """A forest trained on some records, which predicts by all of its trees or by its first ones."""

    forest: Forest
    continuous: bool
    n_records: int

    def __call__(self, table: KeyTable) -> Floats:
        """What all of the trees predict."""
        return self.by_first(table, (self.forest.n_trees,))[0]

    def by_first(self, table: KeyTable, sizes: Sequence[int]) -> list[Floats]:
        """What the first trees predict, per number of trees."""
        found = self.forest.predict_by_first(table, sizes)
        return [one[:, 0] for one in found] if self.continuous else found


def _forest(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    forest = grow_forest(table, target.y, target.n_classes, seed=seed, threads=threads)
    return ForestPredictor(forest, target.n_classes is None, len(table))


def _cart(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    if target.n_classes is None:
        response = Column.from_values(target.y)
    else:
        response = Column(target.y.astype(np.int32), "categorical", target.n_classes)
    tree = pruned(grow(response, table.columns(), Settings(minbucket=7, minsplit=20, cp=0.0)), _CP)
    leaf = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
    size = np.bincount(leaf, minlength=tree.n_leaves)
    if target.n_classes is None:
        means = np.bincount(leaf, weights=tree.by_leaf(target.y), minlength=tree.n_leaves) / size
        return lambda other: means[tree.apply(other.columns())]
    n_classes = target.n_classes
    counts = np.bincount(leaf * n_classes + tree.by_leaf(target.y), minlength=tree.n_leaves * n_classes)
    shares = counts.reshape(tree.n_leaves, n_classes) / size[:, None]
    return lambda other: shares[tree.apply(other.columns())]


def _boosted(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    if target.n_classes is None:
        return fit_boosted(table, target.y, None).predict
    classes, y = _present(target)
    return _spread(fit_boosted(table, y, len(classes)).predict, classes, target.n_classes)


def _matrix(design: Design, table: KeyTable) -> scipy.sparse.csr_matrix:
    return design.matrix(table.coded, len(table), constant=True)


def _logit(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    design = Design.of(table.coded, KEYS)
    classes, y = _present(target)
    if len(classes) > 2:
        return _softmax(design, _arrived(maximum_likelihood(*_counted(design, table, y))), target)
    x = _matrix(design, table)
    log_odds = x @ fit_logistic(x, y.astype(np.float64), tolerance=1e-8, as_glm=True).coefficients
    # of many solutions the one of smallest norm: it says what keys give that were never seen together
    second = fit_least_squares(x, log_odds).coefficients
    return _softmax(design, np.column_stack([np.zeros(len(second)), second]), target)


def _lasso(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    # with a penalty a reference level would be a choice that matters
    design = Design.of(table.coded, replace(KEYS, reference="none"))
    counted = _counted(design, table, _present(target)[1])
    return _softmax(design, _arrived(penalised(*counted, lasso=1 / len(table))), target)


def _counted(
    design: Design, table: KeyTable, y: NDArray[np.intp]
) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
    """The design of each combination of keys, and its number of records in each class."""
    first, position = table.distinct()
    counts = scipy.sparse.csr_matrix((np.ones(len(y)), (position, y)))
    return _matrix(design, table.take(first)), counts


def _arrived(fitted: Multinomial) -> Floats:
    """The coefficients; it is said if they are not those of a fit that was done."""
    if not fitted.converged:
        NotConverged.warn(fitted.steps)
    return fitted.coefficients


def _softmax(design: Design, beta: Floats, target: TrainingTarget) -> Predictor:
    def probabilities(other: KeyTable) -> Floats:
        result: Floats = scipy.special.softmax(_matrix(design, other) @ beta, axis=1)
        return result

    return _spread(probabilities, _present(target)[0], target.n_classes or 0)


def _lm(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    design = Design.of(table.coded, KEYS)
    # squares of very large numbers are out of range
    unit = float(np.abs(target.y).max()) or 1.0
    fitted = fit_least_squares(_matrix(design, table), target.y / unit)
    return lambda other: _matrix(design, other) @ fitted.coefficients * unit


def _stack(table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int) -> Predictor:
    """The weighted mean of the suite that predicts best when cross-fitted on the training records.

    Weights are those of the mixture with the largest likelihood (classes) or of non-negative least squares (numbers).
    Sources: Breiman (1996), Stacked regressions, Machine Learning 24, 49-64; van der Laan, Polley & Hubbard (2007),
    Super learner.
    """
    members = [ATTACKERS[name] for name in SUITE[target.n_classes is None] if name != "stack"]
    streams = iter(seed.spawn(len(members) * (_FOLDS + 1) + 1))
    fold = np.arange(len(table)) % _FOLDS
    held_out = np.zeros((len(members), len(table)))
    for f in range(min(_FOLDS, len(table))):
        inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if not len(inside) or not len(outside):
            continue
        for k, member in enumerate(members):
            predict = fit_attacker(member, table.take(inside), target.take(inside), next(streams), threads)
            found = predict(table.take(outside))
            held_out[k, outside] = found if found.ndim == 1 else found[np.arange(len(outside)), target.y[outside]]
    weights = _mixture(held_out) if target.n_classes is not None else _convex(held_out, target.y)
    predictors = [fit_attacker(member, table, target, next(streams), threads) for member in members]

    def predict_mean(other: KeyTable) -> Floats:
        total: Floats = np.sum([w * one(other) for w, one in zip(weights, predictors, strict=True)], axis=0)
        return total

    return predict_mean


def _mixture(likelihoods: Floats) -> Floats:
    """Weights of a mixture with the largest likelihood, by the EM algorithm."""
    weights = np.full(len(likelihoods), 1 / len(likelihoods))
    for _ in range(200):
        shares = weights[:, None] * np.maximum(likelihoods, 1e-10)
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return weights


def _convex(predictions: Floats, y: Floats) -> Floats:
    weights: Floats = scipy.optimize.nnls(predictions.T, y)[0]
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


ATTACKERS: dict[str, _Named] = {
    "rf": _Named("rf", _forest, None),
    "cart": _Named("cart", _cart, None),
    "gbm": _Named("gbm", _boosted, None),
    "logit": _Named("logit", _logit, False),
    "logit_l1": _Named("logit_l1", _lasso, False),
    "lm": _Named("lm", _lm, True),
    "stack": _Named("stack", _stack, None),
}
"""Attackers by name."""

SUITE = {False: ("rf", "cart", "gbm", "logit_l1", "stack"), True: ("rf", "cart", "gbm", "lm", "stack")}
"""The attackers of ``"suite"``, for classes (False) and for numbers (True)."""


def resolve(attacker: Any, continuous: bool) -> tuple[Attacker, ...]:
    """Attackers from a name, ``"suite"``, an estimator, or a list of them.

    Raises
    ------
    CallError
        If a name is unknown, an object cannot be trained, or an attacker does not suit the kind of target.

    Examples
    --------
    >>> [attacker.name for attacker in resolve(["rf", "cart"], False)]
    ['rf', 'cart']
    """
    given = list(attacker) if isinstance(attacker, list | tuple) else [attacker]
    found: list[Attacker] = []
    for one in given:
        if not isinstance(one, str):
            found.append(_estimator(one, continuous, [a.name for a in found]))
            continue
        names = SUITE[continuous] if one == "suite" else (one,)
        for name in names:
            if name not in ATTACKERS:
                found.append(_of_a_package(name, continuous))
                continue
            suits = ATTACKERS[name].continuous
            if suits is not None and suits != continuous:
                raise CallError(
                    f"attacker {name} predicts {'numbers' if suits else 'classes'} and the target is "
                    f"{'continuous' if continuous else 'categorical'}: choose another, or say kind="
                )
            found.append(ATTACKERS[name])
    names_found = [a.name for a in found]
    if not found:
        raise CallError("no attacker given")
    if len(set(names_found)) < len(names_found):
        raise CallError(f"an attacker is given twice among {', '.join(names_found)}")
    return tuple(found)


def attacker_names() -> tuple[str, ...]:
    """Names that an attacker can have: those of this package, and those that others register."""
    return (*ATTACKERS, *(one.name for one in registered(GROUP) if one.name not in ATTACKERS))


def _of_a_package(name: str, continuous: bool) -> Attacker:
    """The attacker that a package has registered by this name: an estimator, or a class that makes one."""
    one = only_one(name, registered(GROUP))
    if one is None:
        known = attacker_names()
        raise CallError(
            f"unknown attacker {name!r}{near_matches(name, (*known, 'suite'))}; choose from {', '.join(known)}, suite, "
            "or pass an estimator"
        )
    loaded = one.load()
    try:
        made = loaded() if isclass(loaded) else loaded
    except Exception as error:
        raise CallError(
            f"attacker {name!r} of the package {one.package} cannot be made without settings ({error}); register an "
            "object in place of the class"
        ) from None
    return replace(_estimator(made, continuous, ()), name=name)


def _estimator(given: Any, continuous: bool, taken: Sequence[str]) -> _Estimator:
    if not callable(getattr(given, "fit", None)) or not (hasattr(given, "predict") or hasattr(given, "predict_proba")):
        raise CallError(
            f"an attacker is a name or an estimator with fit and predict_proba or predict, not {type(given).__name__}"
        )
    name = type(given).__name__
    if continuous and not hasattr(given, "predict"):
        raise CallError(f"attacker {name} has no predict, which a continuous target needs")
    kind, suits = _kind_of(given), "regressor" if continuous else "classifier"
    if kind not in (None, suits):
        raise CallError(
            f"attacker {name} is a {kind} and the target is {'continuous' if continuous else 'categorical'}: give a "
            f"{suits}, or say kind="
        )
    if name in taken:
        name = f"{name} {1 + sum(other.split()[0] == name for other in taken)}"
    return _Estimator(name, given)


def _kind_of(given: Any) -> str | None:
    """What an estimator says it is: "classifier", "regressor", another kind; None where it does not say."""
    found = getattr(given, "_estimator_type", None)
    if found is None and hasattr(given, "__sklearn_tags__"):
        found = given.__sklearn_tags__().estimator_type
    return None if found is None else str(found)


def fit_attacker(
    attacker: Attacker, table: KeyTable, target: TrainingTarget, seed: np.random.SeedSequence, threads: int,
    heard: Callable[[str], None] | None = None,
) -> Predictor:  # fmt: skip
    """Train an attacker; with a single value to be seen, that value is predicted.

    Records are put in the order of :meth:`KeyTable.ordering`: sums round in their order, and it is not to matter.

    Parameters
    ----------
    attacker, table, target, seed, threads
        What is trained on what.
    heard
        Called with the first line of each warning that the fit has not converged. Without it these warnings are
        passed on; other warnings of an attacker by name concern nobody who calls it by its name.
    """
    constant = _constant(target)
    if constant is not None:
        return constant
    order = table.ordering(target.y)
    table, target = table.take(order), target.take(order)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict = attacker.fit(table, target, seed, threads)
    for one in caught:
        unfinished = issubclass(one.category, NotConverged) or one.category.__name__ == "ConvergenceWarning"
        if unfinished and heard is not None:
            heard(str(one.message).partition("\n")[0])
        elif unfinished or not isinstance(attacker, _Named):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return predict
