"""Bayesian risk beside one fit of the trees that it asks about."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.data import SPECIAL, Data
from benchmarks.row import Row, Side


def survey(data: Data) -> tuple[Any, dict[str, Any]]:
    """SD2011 and how it is synthesised."""
    return data.survey(), {"special_codes": SPECIAL}


def adult(data: Data) -> tuple[Any, dict[str, Any]]:
    """Adult and how it is synthesised."""
    return data.adult()[0], {}


def correlated(variables: int, levels: int) -> Callable[[Data], tuple[Any, dict[str, Any]]]:
    """A thousand records of categorical variables that share a latent one, and how they are synthesised."""

    def original(data: Data) -> tuple[Any, dict[str, Any]]:
        import numpy as np
        import pyarrow as pa

        rng = np.random.default_rng(0)
        latent = rng.normal(size=1000)
        edges = np.linspace(-1.2, 1.2, levels - 1) if levels > 2 else np.array([0.0])
        drawn = {f"v{i}": np.digitize(latent + rng.normal(size=1000), edges) for i in range(variables)}
        return pa.table({name: np.char.add("l", codes.astype(str)) for name, codes in drawn.items()}), {
            "collapse": False
        }

    return original


def latner(data: Data) -> tuple[Any, dict[str, Any]]:
    """A thousand records of four binary variables."""
    import unveil

    return unveil.simulate.latner_population(1000, seed=1), {}


def posterior(
    original: Callable[[Data], tuple[Any, dict[str, Any]]], target: str | None = None, **options: Any
) -> Side:
    """The posterior, after the fit; without a target of all variables together."""

    def ready(data: Data) -> Callable[[], Any]:
        import unveil
        from unveil.synthesis import CartSynthesizer

        warnings.simplefilter("ignore", unveil.UnveilWarning)
        file, settings = original(data)
        synthesizer = CartSynthesizer(**settings).fit(file)
        release = synthesizer.sample(seed=1)

        def run() -> Any:
            # a new pair: nothing is kept from the call before
            pair = unveil.Pair(file, release)
            return unveil.posterior(pair, synthesizer, target=target or pair.names, **options)

        return run

    return ready


def fit(original: Callable[[Data], tuple[Any, dict[str, Any]]]) -> Side:
    """One fit of the whole sequence of trees."""

    def ready(data: Data) -> Callable[[], Any]:
        from unveil.synthesis import CartSynthesizer

        file, settings = original(data)
        return lambda: CartSynthesizer(**settings).fit(file)

    return ready


def _row(measured: str, label: str, original: Any, target: str | None = None, **options: Any) -> Row:
    return Row(measured, label, posterior(original, target, **options), fit(original), "one fit of CART")


ROWS = [
    _row("16 worlds, exact, 1 record", "4 binary variables, n = 1000", latner, records=[999], structure="exact"),
    _row("depress, all records, fixed", "SD2011", survey, "depress", structure="fixed"),
    _row("depress, all records, exact", "SD2011", survey, "depress", structure="exact"),
    _row("9.8 million worlds, fixed, 1 record", "10 variables of 5 levels, n = 1000", correlated(10, 5), records=[0],
         structure="fixed"),
    *(
        _row(f"{target}, 100 records, exact", "Adult", adult, target, sample=100, structure="exact")
        for target in ("income", "occupation", "hours.per.week")
    ),
]  # fmt: skip
