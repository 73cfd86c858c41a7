"""RAPID beside scikit-learn's fits of the same attackers.

The R package with ranger took 19 s of CPU and 970 MB for the random forest on Adult on another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.data import Data
from benchmarks.row import Row, Side

KEYS = ["age", "education", "marital.status", "occupation", "race", "sex"]
PEOPLE = ["age", "marital.status", "workclass", "race", "sex"]
PENALTY = 1e-3
TOLERANCE = 1e-6


def rapid(**options: Any) -> Side:
    """The measure, from the files."""

    def ready(data: Data) -> Callable[[], Any]:
        import unveil

        paths = data.adult()
        return lambda: unveil.rapid(unveil.Pair(*paths), KEYS, target="income", **options)

    return ready


def attacked(data: Data, target: str) -> tuple[Any, Any, Any, Any]:
    """Codes of keys and target of the release, and of the original."""
    import numpy as np

    import unveil

    pair = unveil.Pair(*data.adult())
    keys, aim = [pair.column(name) for name in KEYS], pair.column(target)
    return (
        np.column_stack([key.releases[0] for key in keys]), aim.releases[0],
        np.column_stack([key.original for key in keys]), aim.original,
    )  # fmt: skip


def forest(data: Data) -> Callable[[], Any]:
    """One forest in one thread: fitted to the release, applied to the original."""
    from sklearn.ensemble import RandomForestClassifier

    x, y, real, _ = attacked(data, "income")
    return lambda: RandomForestClassifier(500, n_jobs=1, random_state=0).fit(x, y).predict_proba(real)


def tree(data: Data) -> Callable[[], Any]:
    """One tree, fitted and applied."""
    from sklearn.tree import DecisionTreeClassifier

    x, y, real, _ = attacked(data, "income")
    return lambda: DecisionTreeClassifier(min_samples_leaf=7).fit(x, y).predict_proba(real)


def counted(data: Data) -> tuple[Any, Any]:
    """The design of each combination of keys in the release, and its records by class of the target."""
    import numpy as np
    import scipy

    import unveil
    from unveil.models.design import Design
    from unveil.models.features import stacked
    from unveil.models.learners import KEYS as CODING

    pair = unveil.Pair(*data.adult())
    keys, aim = [pair.column(name) for name in PEOPLE], pair.column("occupation")
    table = stacked(keys, [key.releases[0] for key in keys])
    first, position = table.distinct()
    y = np.unique(aim.releases[0], return_inverse=True)[1]
    some = table.take(first)
    x = Design.of(table.coded, CODING).matrix(some.coded, len(some), constant=True)
    return x, scipy.sparse.csr_matrix((np.ones(len(y)), (position, y)))


def logit(data: Data) -> Callable[[], Any]:
    """The solver alone."""
    from unveil.models.multinomial import penalised

    x, counts = counted(data)
    return lambda: penalised(x, counts, ridge=PENALTY, tolerance=TOLERANCE)


def logit_of_peer(data: Data) -> Callable[[], Any]:
    """The same rows, weighted by their records; ``C`` is the penalty in the words of scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    x, counts = counted(data)
    cells = counts.tocoo()
    # of its solvers the fastest here
    penalty = {"C": 1 / (PENALTY * cells.data.sum()), "tol": TOLERANCE}
    model = LogisticRegression(**penalty, solver="newton-cg", max_iter=10_000)
    rows = x[cells.row, 1:]
    return lambda: model.fit(rows, cells.col, sample_weight=cells.data)


ROWS = [
    Row("random forest, as by default (null of 19 shuffles, ceiling)", "Adult, 6 keys, income", rapid(), forest,
        "scikit-learn, one forest of 500 trees"),
    Row("forest, boosting and l1 logit, null of 19 shuffles, ceiling", "Adult, 6 keys, income",
        rapid(attacker=["rf", "gbm", "logit_l1"])),
    Row("cart, null of 19 shuffles, ceiling", "Adult, 6 keys, income", rapid(attacker="cart"), tree,
        "scikit-learn, one tree"),
    Row("multinomial logit with ridge, solver alone", "Adult, 5 keys, occupation", logit, logit_of_peer,
        "scikit-learn, newton-cg, same penalty"),
]  # fmt: skip
