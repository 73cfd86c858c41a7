"""The measures of this package, read for the persons under attack in a world."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._conformance.world import World
from unveil._intruders import exact_membership
from unveil._posterior import posterior
from unveil._rapid import Rapid, rapid
from unveil._tables import attribute, identity
from unveil._tables.attribute_risk import AttributeRisk
from unveil.columns import Pair
from unveil.errors import UnveilWarning

ATTACKS = ("dcr", "density")
"""Attacks on membership that need no training."""


@dataclass(frozen=True)
class Measure:
    """A measure of disclosure risk.

    Attributes
    ----------
    name
        Name of the measure.
    function
        From a world to a number: the higher, the riskier. NaN where the measure does not apply.
    maximum
        The number that stands for certain disclosure.
    about
        Meaning of the number, in a few words.
    """

    name: str
    function: Callable[[World], float]
    maximum: float = 1.0
    about: str = ""


def _mean(world: World, flags: list[NDArray[Any]]) -> float:
    """Mean over the persons under attack and the releases."""
    return float(np.mean([flag[list(world.records)] for flag in flags]))


@lru_cache(maxsize=1)
def _attribute(world: World) -> AttributeRisk:
    found: AttributeRisk = attribute(world.pair, world.keys, target=world.target)
    return found


def _column(result: Any, name: str, n_releases: int) -> list[NDArray[Any]]:
    return [
        result.records(release=r, flavour="arrow").column(name).to_numpy(zero_copy_only=False).astype(np.float64)
        for r in range(n_releases)
    ]


def _rep_u(world: World) -> float:
    return _mean(world, _column(identity(world.pair, world.keys), "replicated_unique", len(world.releases)))


def _disco(world: World) -> float:
    return _mean(world, _column(_attribute(world), "disco", len(world.releases)))


def _dcap(world: World) -> float:
    risk = _attribute(world)
    base = risk.mean["baseCAPd"] / 100
    return (_mean(world, _column(risk, "ps", len(world.releases))) - base) / (1 - base)


@lru_cache(maxsize=1)
def _rapid(world: World) -> Rapid:
    found: Rapid = rapid(world.pair, world.keys, target=world.target, permutations=1, ceiling=False)
    return found


def _rapid_rate(world: World) -> float:
    return _mean(world, _column(_rapid(world), "at_risk", len(world.releases)))


def _rapid_excess(world: World) -> float:
    null = float(np.mean([attack["null_mean"] for attack in _rapid(world).attacks]))
    return (_rapid_rate(world) - null) / (1 - null) if null < 1 else 0.0


def _membership(world: World) -> float:
    if world.holdout is None:
        return math.nan
    membership = importlib.import_module("unveil._membership").membership
    # Persons who look alike are different persons: a number tells them apart, and is not compared.
    files = [world.original, *world.releases, world.holdout]
    ends = np.cumsum([0, *(file.num_rows for file in files)])
    original, *releases, holdout = (
        file.append_column("person", [np.arange(start, stop)])
        for file, (start, stop) in zip(files, pairwise(ends), strict=True)
    )
    with warnings.catch_warnings():
        # The numbers occur in no other file, as they should.
        warnings.simplefilter("ignore", UnveilWarning)
        found = membership(Pair(original, releases, holdout), holdout_unseen=True, attacks=ATTACKS,
                           columns=[*world.keys, world.target]).records(flavour="arrow")  # fmt: skip
    member = found.column("member").to_numpy(zero_copy_only=False)
    asked = member & np.isin(found.column("record").to_numpy(), world.records)
    advantages = []
    for name in ATTACKS:
        score = found.column(name).to_numpy(zero_copy_only=False)
        advantages.append(np.sign(score[asked][:, None] - score[~member][None, :]).mean())
    return float(max(advantages))


def _exact_membership(world: World) -> float:
    if world.synthesizer is None or world.holdout is None:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        found = exact_membership(world.pair, world.synthesizer, candidates=world.holdout, records=world.records,
                                 check_settings=False)  # fmt: skip
    return 2 * found.share_right - 1


def _bayesian(world: World) -> float:
    if world.synthesizer is None:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risk = posterior(world.pair, world.synthesizer, target=world.target, records=list(world.records),
                         structure="exact")  # fmt: skip
    return float(np.mean(risk.posteriors().normalised_gain))


_MEMBERSHIP = (
    [
        Measure("membership", _membership, 1.0, "probability that a person looks more like a member than a held-out "
                "person does, less the reverse: 2 AUC - 1 of the better of two attacks by distance")
    ]
    if importlib.util.find_spec("unveil._membership")
    else []
)  # fmt: skip

BUILT_IN: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("repU", _rep_u, 1.0, "share of persons unique by their keys in both files"),
        Measure("DiSCO", _disco, 1.0, "share of persons whose keys are disclosive in the release, rightly so"),
        Measure("DCAP", _dcap, 1.0, "probability of the right target among released records with a person's keys, "
                "over the baseline: (DCAPd - baseCAPd) / (100 - baseCAPd)"),
        Measure("RAPID rate", _rapid_rate, 1.0, "share of persons at risk of a random forest, tau 0.3"),
        Measure("RAPID excess", _rapid_excess, 1.0, "the same over its null: (rate - null) / (1 - null)"),
        *_MEMBERSHIP,
        Measure("exact membership", _exact_membership, 1.0, "probability that an intruder who knows all other records "
                "and the synthesizer names the person who was used, of that person and a held-out one, less the "
                "reverse"),
        Measure("Bayesian", _bayesian, 1.0, "mean (posterior - prior) / (1 - prior) of the true target"),
    )
}  # fmt: skip
