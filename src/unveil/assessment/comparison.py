"""Several releases or synthesizers assessed alike, for one map of risk and utility."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from os import PathLike
from typing import Any

from unveil.assessment.figure import RISKS, UTILITIES
from unveil.assessment.pareto import pareto
from unveil.assessment.result import Assessment
from unveil.assessment.risk_utility_map import Point, RiskUtilityMap
from unveil.assessment.run import assess
from unveil.checks import check_choice, check_whole_numbers
from unveil.columns import Pair
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files import read
from unveil.files.nearest import near_matches
from unveil.files.source import Source
from unveil.notes import overheard, warn

NEEDS = {"repU": "identity", "RAPID": "inference", "posterior": "posterior", "posterior certain": "posterior",
         "membership AUC": "membership", "exact membership": "membership", "linkage": "identity",
         "match risk": "identity"}  # fmt: skip
"""The part that a risk comes from; the attribute part without it."""
Progress = Callable[[int, int, str], None]


def compare(
    original: Any, candidates: Mapping[str, Any] | None = None, keys: str | Sequence[str] = (), *,
    targets: str | Sequence[str] | None = None, grid: Mapping[str, Sequence[Any]] | None = None, m: int = 5,
    risk: str = "DiSCO", utility: str = "mean TVD", measures: Sequence[str] = ("identity", "attribute", "utility"),
    seed: int | None = None, budget: float = 600.0, progress: Progress | None = None,
    special_codes: Mapping[str, Any] | None = None, kinds: Mapping[str, Any] | None = None,
    breaks: Mapping[str, Sequence[float]] | None = None,
    hierarchies: str | PathLike[str] | Mapping[str, Any] | None = None, weights: Any = None,
    population: float | None = None, unit: str | Sequence[str] | None = None, time: str | None = None, **options: Any,
) -> RiskUtilityMap:  # fmt: skip
    """Put several releases, or synthesizers with their settings, on one absolute map of risk and utility.

    Each candidate is assessed as by :func:`unveil.assess`; a synthesizer is fitted once and makes ``m`` releases.

    Parameters
    ----------
    original
        The file of real records: a frame or a path.
    candidates
        By label: a release, a list of releases, or a synthesizer (an object with ``fit`` and ``sample``, or a function
        of a frame).
    keys
        What an intruder knows of a person.
    targets
        What an intruder wants to know; every other common column without it.
    grid
        Settings of :class:`unveil.CartSynthesizer` by name, each with the values to try; all combinations become
        candidates, such as ``{"minbucket": [5, 20, 50]}``.
    m
        Number of releases that a synthesizer makes.
    risk, utility
        The measures that make the map.
    measures
        What is measured, as for :func:`unveil.assess`; add "inference" or "posterior" for these risks.
    seed
        Of synthesis and measures. Without it releases come from a seed of the operating system, and the measures of
        the same releases are the same. A seed that was given is confidential where a release that was made with it is
        given away.
    budget
        Seconds for all candidates together.
    progress
        Called with finished candidates, their total, and the next one.
    special_codes, kinds, breaks, weights, population
        As for :class:`unveil.Pair`.
    hierarchies
        As for :class:`unveil.Pair`. Each release is measured at its own coarseness, as an intruder has it: the utility
        of a coarse one does not show what coarsening took away.
    unit, time
        As for :class:`unveil.Pair`. A synthesizer has to keep units whole, as those of a grid do:
        :class:`unveil.synthesis.PanelSynthesizer` or :class:`unveil.synthesis.HouseholdSynthesizer`.
    options
        Further options of :func:`unveil.assess`.

    Returns
    -------
    RiskUtilityMap
        One point per candidate.

    Raises
    ------
    CallError
        If there is no candidate, or a name is unknown.
    DataError
        If files do not fit together.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(300, seed=1)
    >>> found = unveil.compare(people, {"copy": people}, ["sex", "age"], targets="depress", measures=["attribute"])
    >>> [point.label for point in found.points]
    ['copy']
    """
    check_choice("risk", risk, RISKS)
    check_choice("utility", utility, UTILITIES)
    if candidates is not None and not isinstance(candidates, Mapping):
        raise CallError(f"candidates are given by label, as a mapping, not as {type(candidates).__name__}")
    everything = _opened(candidates or {}) | _of_grid(grid, special_codes, kinds, unit, time)
    if not everything:
        raise CallError("nothing to compare: give candidates, or a grid of settings")
    needed = NEEDS.get(risk, "attribute")
    if needed not in ((measures,) if isinstance(measures, str) else measures):
        raise CallError(f"risk: {risk} is not measured; add {needed!r} to measures")
    check_whole_numbers(1, m=m)
    if options.get("suppressed") is not None:
        raise CallError(
            "suppressed: a point of the map is one figure, with suppressed values as levels of their own; assess shows "
            "both readings of a release"
        )
    if options.get("rules"):
        raise CallError("rules: the map shows no rules; assess or plausibility of a release says who breaks them")
    source = read(original)
    secret = _seed(seed)
    with overheard() as heard:
        # Weights say whom a record stands for; no release needs them.
        beside = [weights] if isinstance(weights, str) else []
        shared = _shared(source, everything, [*_names(keys), *_names(targets)], beside)
    reading = {"special_codes": special_codes, "kinds": kinds, "breaks": breaks, "hierarchies": hierarchies,
               "weights": weights, "population": population, "unit": unit, "time": time}  # fmt: skip
    found: dict[str, Assessment] = {}
    for done, (label, candidate) in enumerate(everything.items()):
        if progress is not None:
            progress(done, len(everything), label)
        if unit is not None:
            _refuse_single_rows(label, candidate)
        releases, synthesizer = _released(source, candidate, m, secret)
        with warnings.catch_warnings():
            # An original among the candidates is a point like any other.
            warnings.simplefilter("ignore", UnveilWarning)
            pair = Pair(shared, releases, **reading)
        found[label] = assess(
            pair, keys, targets=targets, synthesizer=synthesizer, measures=measures, seed=seed or 0,
            budget=budget / len(everything), **options,
        )  # fmt: skip
    if progress is not None:
        progress(len(everything), len(everything), "done")
    contents = {label: one.content for label, one in found.items()}
    first = next(iter(contents.values()))["scenario"]
    return RiskUtilityMap(
        keys=tuple(first["keys"]),
        targets=tuple(first["targets"]),
        risk=risk,
        utility=utility,
        points=_points(contents, risk, utility),
        assessments=found,
        warnings=_said([one.text for one in heard], found),
        flavour=source.flavour,
    )


def _said(shared: Sequence[str], found: Mapping[str, Assessment]) -> tuple[str, ...]:
    """Warnings, with the label of the candidate where they differ between candidates."""
    by_text: dict[str, list[str]] = {}
    for label, one in found.items():
        for text in one.warnings:
            by_text.setdefault(text, []).append(label)
    return (*shared, *(text if len(labels) == len(found) else f"{', '.join(labels)}: {text}"
                       for text, labels in by_text.items()))  # fmt: skip


def _opened(candidates: Mapping[str, Any]) -> dict[str, Any]:
    """The candidates, with files opened once."""

    def opened(one: Any) -> Any:
        return read(one) if isinstance(one, str | PathLike) else one

    return {
        label: [opened(one) for one in candidate] if isinstance(candidate, list | tuple) else opened(candidate)
        for label, candidate in candidates.items()
    }


def _is_synthesizer(candidate: Any) -> bool:
    from unveil.synthesis.any_synthesizer import is_synthesizer

    return is_synthesizer(candidate)


def _names(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _shared(source: Source, candidates: Mapping[str, Any], named: Sequence[str], beside: Sequence[str]) -> Source:
    """The original, less the columns that a release lacks: figures over other columns cannot be held side by side.

    Raises
    ------
    DataError
        If a key or target that was named is among these.
    """
    compared = [name for name in source.names if not source.variable(name).weight and name not in beside]
    lacking: dict[str, list[str]] = {}
    held_by: dict[str, tuple[str, ...]] = {}
    for label, candidate in candidates.items():
        if not _is_synthesizer(candidate):
            for one in candidate if isinstance(candidate, list | tuple) else [candidate]:
                held = held_by[label] = read(one).names
                for name in compared:
                    if name not in held and label not in lacking.setdefault(name, []):
                        lacking[name].append(label)
    lost = {name: labels for name, labels in lacking.items() if labels}
    for name in named:
        if name in lost:
            hint = near_matches(name, dict.fromkeys(other for names in held_by.values() for other in names))
            raise DataError(f"{', '.join(lost[name])} has no column {name!r}, which was named as key or target{hint}")
    if not lost:
        return source
    if any(_is_synthesizer(one) for one in candidates.values()) or any(len(v) < len(candidates) for v in lost.values()):
        warn(
            "columns that a candidate lacks are left out for all of them, so that the points can be compared: "
            + "; ".join(f"{name!r} ({', '.join(labels)})" for name, labels in lost.items())
        )
    return replace(source, names=tuple(name for name in source.names if name not in lost))


def _of_grid(
    grid: Mapping[str, Sequence[Any]] | None, special_codes: Any, kinds: Any, unit: Any, time: Any
) -> dict[str, Any]:  # fmt: skip
    if not grid:
        return {}
    if not isinstance(grid, Mapping):
        raise CallError(f"grid: settings are given by name, each with the values to try, not as {grid!r}")
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise CallError(f"grid: {name} takes a list of the values to try, not {values!r}")
    from unveil.synthesis import CartSynthesizer
    from unveil.synthesis.whole_units import keeping_units

    maker = keeping_units(unit, time, "cart") or CartSynthesizer
    shared = {name: value for name, value in (("special_codes", special_codes), ("kinds", kinds)) if value}
    made = {}
    for values in itertools.product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        try:
            synthesizer = maker(**settings, **shared)
        except TypeError:
            known = signature(CartSynthesizer).parameters
            unknown = [f"{name!r}{near_matches(name, known)}" for name in settings if name not in known]
            raise CallError(f"grid: CartSynthesizer has no setting {', '.join(unknown)}") from None
        made[", ".join(f"{name} {value}" for name, value in settings.items())] = synthesizer
    return made


def _refuse_single_rows(label: str, candidate: Any) -> None:
    """Refuse a synthesizer that draws rows one by one where several are of one unit."""
    from unveil.synthesis.wide_units import UnitSynthesizer

    if _is_synthesizer(candidate) and not isinstance(candidate, UnitSynthesizer):
        raise CallError(
            f"{label}: this synthesizer draws rows one by one, and the units are not whole; give its releases, or a "
            "synthesizer that keeps units whole (PanelSynthesizer or HouseholdSynthesizer of unveil.synthesis)"
        )


def _released(source: Any, candidate: Any, m: int, seed: int) -> tuple[Any, Any]:
    """The candidate's releases, and its synthesizer if it is one."""
    if not _is_synthesizer(candidate):
        return candidate, None
    from unveil.synthesis.any_synthesizer import Foreign, as_synthesizer, fitted_anew

    maker = fitted_anew(as_synthesizer(candidate), source, seed=seed)
    # By default a synthesizer of this package draws as many records, or units, as the original has.
    n = source.num_rows if isinstance(maker, Foreign) else None
    drawn = [read(maker.sample(n, seed=seed + 1 + copy)) for copy in range(m)]
    # A warning names the candidate before these.
    releases = [replace(one, label="the release" if m == 1 else f"release {i}") for i, one in enumerate(drawn, start=1)]
    # A function has no settings that an intruder could fit anew.
    return releases, None if isinstance(maker, Foreign) and maker.is_function else maker


def _seed(seed: int | None) -> int:
    from unveil.synthesis.seeds import seed_or_secret

    return seed_or_secret(seed)


def _points(contents: Mapping[str, Mapping[str, Any]], risk: str, utility: str) -> tuple[Point, ...]:
    risks = {label: _by_measure(one["figures"], RISKS) for label, one in contents.items()}
    utilities = {
        label: _by_measure((one["utility"] or {}).get("figures", ()), UTILITIES) for label, one in contents.items()
    }
    nothing = (math.nan,) * 3
    best = pareto(
        [(risks[label].get(risk, nothing)[0], utilities[label].get(utility, nothing)[0]) for label in contents]
    )
    return tuple(
        Point(label, len(one["data"]["releases"]), risks[label], utilities[label], marked)
        for (label, one), marked in zip(contents.items(), best, strict=True)
    )


def _by_measure(figures: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """Value and interval by measure, each the mean over the targets."""
    found = {}
    for name in names:
        same = [
            [math.nan if f[k] is None else f[k] for k in ("value", "low", "high")]
            for f in figures
            if f["measure"] == name
        ]
        if same:
            value, low, high = (math.fsum(one) / len(same) for one in zip(*same, strict=True))
            found[name] = (value, low, high)
    return found
