"""Utility beside the trees of scikit-learn that its predictions need."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.data import CENSUS, SPECIAL, Data
from benchmarks.row import Row, Side

Paths = Callable[[Data], tuple[str, str]]
FOLDS = 5
MOST = 10_000
"""Records of which predictions are made."""


def survey(data: Data) -> tuple[str, str]:
    """SD2011 and a release."""
    return data.survey(), data.survey_release()


def million(data: Data) -> tuple[str, str]:
    """A million records of Adult."""
    return data.drawn(1_000_000, "parquet")


def opened(paths: Paths, data: Data) -> Any:
    """The pair, with the special code of SD2011."""
    import unveil

    warnings.simplefilter("ignore", unveil.UnveilWarning)
    return unveil.Pair(*paths(data), special_codes=SPECIAL if paths is survey else None)


def utility(paths: Paths) -> Side:
    """All parts, from the files."""

    def ready(data: Data) -> Callable[[], Any]:
        import unveil

        paths(data)  # makes files that are not there yet

        def run() -> Any:
            pair = opened(paths, data)
            return unveil.utility(pair, [name for name in pair.names if name != "number"])

        return run

    return ready


def trees(paths: Paths) -> Side:
    """Trees for as many records, targets and folds as the part on predictions makes."""

    def ready(data: Data) -> Callable[[], Any]:
        import numpy as np
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        pair = opened(paths, data)
        columns = [pair.column(name) for name in pair.names if name != "number"]
        real = np.column_stack([column.original[:MOST] for column in columns])
        release = np.column_stack([column.releases[0][:MOST] for column in columns])
        fold_of = np.arange(len(real)) % FOLDS

        def run() -> None:
            for target, column in enumerate(columns):
                tree = (DecisionTreeRegressor if column.has_amounts else DecisionTreeClassifier)(min_samples_leaf=7)
                for fold in range(FOLDS + 1):
                    train = release if fold == FOLDS else real[fold_of != fold]
                    tree.fit(np.delete(train, target, axis=1), train[:, target])
                    tree.predict(np.delete(real, target, axis=1))

        return run

    return ready


def many_columns(data: Data) -> Callable[[], Any]:
    """842 related columns of four kinds, and a release of each column drawn by itself."""
    import numpy as np
    import pyarrow as pa

    import unveil

    n, rng = 2000, np.random.default_rng(1)
    common, found = rng.normal(size=(n, 20)), {}
    for j in range(842):
        x = common @ rng.normal(size=20) * 0.2 + rng.normal(size=n)
        amount = np.where(rng.random(n) < 0.05, np.nan, np.round(1000 * np.exp(x / 2)))
        kinds = (np.digitize(x, [0]), np.digitize(x, [-1, -0.3, 0.3, 1]), amount, np.clip(2 * x + 6, 0, 11).astype(int))
        found[f"v{j}"] = pa.array(kinds[j % 4] if j % 4 == 2 else kinds[j % 4].astype(str), from_pandas=True)
    table = pa.table(found)
    drawn = {name: table[name].take(pa.array(rng.integers(n, size=n))) for name in table.column_names}
    pair = unveil.Pair(table, pa.table(drawn))
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    return lambda: unveil.utility(pair)


PEER = f"scikit-learn, trees of {FOLDS + 1} fits per column"
ROWS = [
    Row("utility, all parts", "SD2011, 9 columns", utility(survey), trees(survey), PEER),
    Row("utility, all parts", f"Adult, {len(CENSUS)} columns", utility(Data.adult), trees(Data.adult), PEER),
    Row("utility, all parts", f"1 000 000 records of Adult, {len(CENSUS)} columns", utility(million), trees(million),
        PEER),
    Row("utility, all parts", "2 000 records, 842 columns", many_columns),
]  # fmt: skip
