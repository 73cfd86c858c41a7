"""Intruders who know the synthesizer and other records, beside one fit of the trees that they walk."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.data import SPECIAL, Data
from benchmarks.row import Row, Side


def persons(data: Data) -> tuple[Any, Any]:
    """Four thousand records of SD2011 that are synthesised, and the others."""
    import numpy as np

    import unveil

    file = unveil.read(data.survey())
    order = np.random.default_rng(0).permutation(file.num_rows)
    return file.part(order[:4000]), file.part(order[4000:])


def fit(data: Data) -> Callable[[], Any]:
    """One fit of the whole sequence of trees."""
    from unveil.synthesis import CartSynthesizer

    original, _ = persons(data)
    return lambda: CartSynthesizer(special_codes=SPECIAL).fit(original)


def asked(question: Callable[[Any, Any, Any], Any], *, everybody: bool = False, **settings: Any) -> Side:
    """A question about the release, after the fit; of four thousand records, or of all; with settings of the trees."""

    def ready(data: Data) -> Callable[[], Any]:
        import unveil
        from unveil.synthesis import CartSynthesizer

        warnings.simplefilter("ignore", unveil.UnveilWarning)
        original, others = (unveil.read(data.survey()), None) if everybody else persons(data)
        synthesizer = CartSynthesizer(special_codes=SPECIAL, **settings).fit(original)
        release = synthesizer.sample(seed=1)
        return lambda: question(unveil.Pair(original, release), synthesizer, others)

    return ready


def membership(game: str) -> Side:
    """A thousand persons, each a game, or two with those who were not used."""

    def question(pair: Any, synthesizer: Any, others: Any) -> Any:
        import unveil

        return unveil.exact_membership(pair, synthesizer, candidates=others, game=game, sample=1000)  # type: ignore[arg-type]

    return asked(question)


def candidates(records: int, rows: int) -> Side:
    """Which of some records stands in the place of each of others."""

    def question(pair: Any, synthesizer: Any, others: Any) -> Any:
        import numpy as np

        import unveil

        some = others.part(np.arange(rows))
        return unveil.posterior(pair, synthesizer, candidates=some, sample=records, structure="exact")

    return asked(question)


def mixed(records: int) -> Side:
    """The values of marital, which is drawn by a regression that is fitted again; trees for all other columns."""

    def question(pair: Any, synthesizer: Any, _: Any) -> Any:
        import unveil

        return unveil.posterior(pair, synthesizer, target="marital", sample=records, structure="exact")

    return asked(question, everybody=True, methods={"marital": "polyreg"})


def losses(persons: int, releases: int) -> Side:
    """Privacy losses of some persons over fresh releases of the original and of every neighbour."""

    def question(pair: Any, synthesizer: Any, others: Any) -> Any:
        import unveil

        return unveil.privacy_loss(
            pair, synthesizer, candidates=others, persons=1000, curves=persons, releases=releases
        ).spreads

    return asked(question)


def unknown(structure: str, persons: int, sweeps: int) -> Side:
    """Chains over the values of depress that nobody knows of some persons; as many sweeps of all chains together."""

    def question(pair: Any, synthesizer: Any, _: Any) -> Any:
        import unveil

        each = sweeps // 4
        return unveil.partial_knowledge(
            pair, synthesizer, target="depress", records_known=1 - persons / pair.n_original, structure=structure,  # type: ignore[arg-type]
            sample=1, sets=1, sweeps=each, most_sweeps=each,
        )  # fmt: skip

    return asked(question, everybody=True)


ROWS = [
    Row("exact membership, swap, 1000 games", "SD2011", membership("swap"), fit, "one fit of CART"),
    Row("exact membership, in_out, 1000 of each", "SD2011", membership("in_out"), fit, "one fit of CART"),
    Row("posterior, 500 records, 100 candidate records", "SD2011", candidates(500, 100), fit, "one fit of CART"),
    Row("posterior, trees and marital by polyreg, 50 records", "SD2011", mixed(50), fit, "one fit of CART"),
    Row("privacy loss, 1000 persons, 5 with 50 releases each way", "SD2011", losses(5, 50), fit, "one fit of CART"),
    Row(
        "partial knowledge, splits disclosed, 800 sweeps",
        "SD2011",
        unknown("splits", 5000, 800),
        fit,
        "one fit of CART",
    ),
    Row(
        "partial knowledge, exact, 30 unknown, 200 sweeps", "SD2011", unknown("exact", 30, 200), fit, "one fit of CART"
    ),
]
