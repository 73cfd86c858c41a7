"""Run measures through the worlds of trials."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._conformance.desiderata import DESIDERATA
from unveil._conformance.judge import EXACT, judge
from unveil._conformance.measures import BUILT_IN, Measure
from unveil._conformance.result import Conformance, Reading
from unveil._conformance.trials import TRIALS
from unveil._conformance.world import REQUIREMENTS, Trial, World
from unveil.checks import check_numbers, check_whole_numbers
from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.printable import how_many

Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]


def conformance(
    measure: Any = None,
    *,
    maximum: float = 1.0,
    trials: Sequence[Trial | str] | None = None,
    replicates: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Conformance:
    """Run measures of disclosure risk through constructed worlds, and judge them by five desiderata.

    Each trial draws its worlds ``replicates`` times. A measure fails where the requirement of the trial is broken by
    more than chance explains; the result names the world that breaks it.

    Parameters
    ----------
    measure
        A function from a :class:`World` to a number (the higher, the riskier; NaN where it does not apply), the name
        of a built-in measure, a :class:`Measure`, or several of these: in a sequence, or functions by name. Default:
        all built-in measures.
    maximum
        What a function returns where disclosure is certain.
    trials
        Trials or their names; by default all built-in ones.
    replicates
        Number of times that the worlds are drawn, at least 3.
    seed
        Seed of the worlds.
    progress
        Called with the number of drawings done, their total, and the trial.

    Returns
    -------
    Conformance
        A verdict for each measure and desideratum, with the evidence.

    Raises
    ------
    CallError
        If a measure or trial is unknown, an option is out of its range, or a measure returns no number, or one above
        its maximum.

    References
    ----------
    Latner, J., Neunhoeffer, M. & Drechsler, J. (2026). When privacy measures fail: a theoretical critique of
    empirical disclosure risk assessment for synthetic data. Draft.

    Examples
    --------
    The share of original records that the first release repeats:

    >>> import unveil
    >>> def repeated(world):
    ...     original, release = world.original.to_pylist(), world.releases[0].to_pylist()
    ...     return sum(original[i] in release for i in world.records) / len(world.records)
    >>> found = unveil.conformance(repeated)
    >>> found.verdicts["repeated"]
    {'D1': 'pass', 'D2': 'pass', 'D3': 'pass', 'D4': 'fail', 'D5': 'pass'}
    >>> [one.trial for one in found.breaking("repeated", "D4")]
    ['same pattern, different process', 'independence']
    """
    measures = _measures(measure, maximum)
    chosen = _trials(trials)
    check_whole_numbers(3, replicates=replicates)
    check_whole_numbers(0, seed=seed)
    evidence: list[Reading] = []
    done, total = 0, len(chosen) * replicates
    for trial in chosen:
        values: list[list[list[float]]] = []
        gains: list[list[float]] = []
        labels: tuple[str, ...] = ()
        for replicate in range(replicates):
            rng = np.random.default_rng([seed, zlib.crc32(trial.name.encode()), replicate])
            worlds = list(trial.make(rng))
            labels = _checked_labels(trial, worlds, labels)
            gains.append([world.gain for world in worlds])
            values.append([[_read(one, world) for one in measures] for world in worlds])
            done += 1
            if progress:
                progress(done, total, trial.name)
        read = np.array(values, dtype=np.float64)
        evidence += [_evidence(one, trial, labels, read[:, :, i], np.array(gains)) for i, one in enumerate(measures)]
    return Conformance(tuple(measures), tuple(chosen), tuple(evidence), int(replicates), int(seed))


def _evidence(measure: Measure, trial: Trial, labels: tuple[str, ...], values: Floats, gains: Floats) -> Reading:
    found = judge(trial.requirement, values, measure.maximum, gains)
    return Reading(
        measure=measure.name,
        trial=trial.name,
        desideratum=trial.desideratum,
        requirement=trial.requirement,
        verdict=found.verdict,
        worlds=labels,
        means=tuple(values.mean(axis=0).tolist()),
        standard_errors=tuple((values.std(axis=0, ddof=1) / np.sqrt(len(values))).tolist()),
        gains=tuple(gains.mean(axis=0).tolist()),
        compared=(labels[found.worlds[0]], labels[found.worlds[1]]),
        figures=found.figures,
        margin=found.margin,
    )


def _read(measure: Measure, world: World) -> float:
    value = measure.function(world)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise CallError(f"measure {measure.name!r} returned {value!r} for world {world.label!r}; it has to return a "
                        "number, NaN where it does not apply") from None  # fmt: skip
    if np.isinf(number):
        raise CallError(f"measure {measure.name!r} returned {number} for world {world.label!r}: it has to be bounded")
    if number > measure.maximum + EXACT:
        raise CallError(f"measure {measure.name!r} returned {number:g} for world {world.label!r}, above its maximum "
                        f"{measure.maximum:g}; say with maximum= what it returns where all is disclosed")  # fmt: skip
    return number


def _checked_labels(trial: Trial, worlds: Sequence[World], before: tuple[str, ...]) -> tuple[str, ...]:
    labels = tuple(world.label for world in worlds)
    if before and labels != before:
        raise CallError(f"trial {trial.name!r} made other worlds the second time: {labels}, before {before}")
    if len(labels) < (1 if trial.requirement == "maximum" else 2):
        raise CallError(
            f"trial {trial.name!r} made {how_many(len(labels), 'world')}; {trial.requirement!r} compares more"
        )
    if trial.requirement == "not low" and np.isnan([world.gain for world in worlds]).any():
        raise CallError(f"trial {trial.name!r}: {trial.requirement!r} needs to know the gain of every world")
    return labels


def _measures(given: Any, maximum: float) -> list[Measure]:
    check_numbers(maximum=maximum)
    if given is None:
        return list(BUILT_IN.values())
    if isinstance(given, Mapping):
        found = [Measure(str(name), function, float(maximum)) for name, function in given.items()]
    elif isinstance(given, str | Measure) or callable(given):
        found = [_measure(given, maximum)]
    else:
        found = [_measure(one, maximum) for one in given]
    if not found:
        raise CallError("no measure is given")
    names = [one.name for one in found]
    for one in found:
        if not callable(one.function):
            raise CallError(f"measure {one.name!r} is not a function from a world to a number")
        if names.count(one.name) > 1:
            raise CallError(f"two measures are called {one.name!r}; give them as {{name: function}}")
    return found


def _measure(given: Any, maximum: float) -> Measure:
    if isinstance(given, Measure):
        return given
    if isinstance(given, str):
        if given not in BUILT_IN:
            raise CallError(f"there is no measure {given!r}{near_matches(given, list(BUILT_IN))}; there are "
                            f"{', '.join(BUILT_IN)}")  # fmt: skip
        return BUILT_IN[given]
    return Measure(getattr(given, "__name__", type(given).__name__), given, float(maximum))


def _trials(given: Sequence[Trial | str] | None) -> list[Trial]:
    if given is None:
        return list(TRIALS)
    by_name = {trial.name: trial for trial in TRIALS}
    found = []
    for one in [given] if isinstance(given, str | Trial) else given:
        if isinstance(one, str) and one not in by_name:
            raise CallError(f"there is no trial {one!r}{near_matches(one, list(by_name))}; there are "
                            f"{'; '.join(by_name)}")  # fmt: skip
        trial = by_name[one] if isinstance(one, str) else one
        if trial.desideratum not in DESIDERATA or trial.requirement not in REQUIREMENTS:
            raise CallError(f"trial {trial.name!r}: the desideratum is one of {', '.join(DESIDERATA)}, the requirement "
                            f"one of {', '.join(REQUIREMENTS)}")  # fmt: skip
        found.append(trial)
    if not found:
        raise CallError("no trial is given")
    return found
