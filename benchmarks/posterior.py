"""Time the Bayesian risk; run ``python benchmarks/posterior.py [FOLDER] [--all]``.

The folder holds sd2011_9.csv and latner_original.csv; without one, simulated files take their place. Times are seconds
of wall clock and CPU after a first call that loads libraries. ``--all`` adds what takes minutes.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import unveil
from unveil._posterior import posterior
from unveil._posterior.likelihood import CartLikelihood, fit_fixed_trees, trees_concerned
from unveil._posterior.possible_values import make_worlds
from unveil._posterior.tree_sequence import build_sequence
from unveil.errors import UnveilWarning
from unveil.simulate import demo_population, latner_population
from unveil.synthesis import CartSynthesizer

VARIABLES = ["var1", "var2", "var3", "var4"]


def timed(name: str, work: Callable[[], Any], bound: float, times: int = 1) -> Any:
    """Print wall clock and CPU seconds of a call, the least of several."""
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    print(f"{name:<58} {min(walls):9.4f} s wall {min(cpus):9.4f} s CPU  (bound {bound:g} s)", flush=True)
    return result


def correlated(n: int, n_variables: int, levels: int) -> pa.Table:
    """Categorical variables that share a latent one."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=n)
    edges = np.linspace(-1.2, 1.2, levels - 1) if levels > 2 else np.array([0.0])
    return pa.table(
        {f"v{i}": pa.array([f"l{c}" for c in np.digitize(latent + rng.normal(size=n), edges)])
         for i in range(n_variables)}
    )  # fmt: skip


def made(original: Any, **settings: Any) -> tuple[unveil.Pair, CartSynthesizer]:
    """A release and what made it."""
    synthesizer = CartSynthesizer(**settings).fit(original)
    return unveil.Pair(original, synthesizer.sample(seed=1)), synthesizer


def sixteen_worlds(original: pa.Table) -> None:
    pair, synthesizer = made(original)
    sequence = build_sequence(pair, synthesizer, {}, [])
    worlds = make_worlds(sequence, VARIABLES, {})
    last = np.array([original.num_rows - 1])

    def work() -> Any:
        trees = fit_fixed_trees(sequence, trees_concerned(sequence, VARIABLES), [0])
        return CartLikelihood(sequence, worlds, trees, [0], exact=True).terms(last, 0, 16)

    def ask(structure: Any) -> Any:
        return posterior(pair, synthesizer, target=VARIABLES, records=last, structure=structure)

    work()
    timed("16 worlds, exact: fit and likelihoods", work, 0.01, times=20)
    timed("16 worlds, exact: first question about the files", lambda: ask("exact"), 0.1)
    timed("16 worlds, exact: a further question", lambda: ask("exact"), 0.01, times=20)


def survey(original: Any, special: Any, everything: bool) -> None:
    pair, synthesizer = made(original, special_codes=special)
    target = "depress" if "depress" in pair.names else pair.names[3]
    posterior(pair, synthesizer, target=target, records=[0])

    def ask(name: str, structure: Any, **options: Any) -> Any:
        return posterior(pair, synthesizer, target=name, structure=structure, **options)

    n = pair.n_original
    timed(f"{target}, {n} records, fixed", lambda: ask(target, "fixed"), 0.3)
    timed(f"{target}, {n} records, exact", lambda: ask(target, "exact"), 60)
    some = min(200, n)
    for name in pair.names:
        ask(name, "exact", records=[0])
    timed(
        f"all {len(pair.names)} targets, {some} records, exact",
        lambda: [ask(name, "exact", sample=some).mean_posterior for name in pair.names],
        900 * some / n,
    )
    timed("income, exact, 5 seconds allowed", lambda: ask("income", "exact", time_limit=5), 10)
    if everything:
        timed("all targets, exact", lambda: [ask(name, "exact").mean_posterior for name in pair.names], 900)


def many_worlds(everything: bool) -> None:
    for n_variables, levels in ((10, 2), (5, 5)):
        pair, synthesizer = made(correlated(1000, n_variables, levels), collapse=False)
        for structure in ("fixed", "exact"):
            timed(
                f"{levels**n_variables} worlds, n = 1000, {structure}",
                lambda p=pair, s=synthesizer, k=structure: posterior(p, s, target=p.names, records=[0], structure=k),
                1,
            )
    if everything:
        pair, synthesizer = made(correlated(1000, 10, 5), collapse=False)
        timed(
            "9.8 million worlds, n = 1000, fixed",
            lambda: posterior(pair, synthesizer, target=pair.names, records=[0], structure="fixed"),
            60,
        )


def large() -> None:
    rng = np.random.default_rng(0)
    n = 100_000
    population = demo_population(n, rng)
    table = population.select(["sex", "age", "region", "placesize"])
    score = pa.array(np.minimum(rng.poisson(np.asarray(table.column("age")) / 12), 22))
    pair, synthesizer = made(table.append_column("score", score))
    timed(
        f"{n} records, 23 candidates, fixed",
        lambda: posterior(pair, synthesizer, target="score", structure="fixed"),
        5,
    )


def main() -> None:
    """Run all."""
    warnings.simplefilter("ignore", UnveilWarning)
    everything = "--all" in sys.argv
    folders = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    original: Any = latner_population(1000, seed=1)
    people: Any = demo_population(5000, seed=1)
    special = None
    if folders:
        original = pyarrow.csv.read_csv(folders[0] / "latner_original.csv")
        people, special = unveil.read(str(folders[0] / "sd2011_9.csv")), {"income": [-8]}
    sixteen_worlds(original)
    survey(people, special, everything)
    many_worlds(everything)
    large()
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
