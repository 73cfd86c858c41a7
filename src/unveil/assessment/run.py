"""An assessment: one scenario run through all measures that apply, into one plain dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unveil.assessment.advice_part import key_advice_part, settings_advice_part
from unveil.assessment.checkpoint import Checkpoint, fingerprint
from unveil.assessment.document import SCHEMA_VERSION, document
from unveil.assessment.key_tables import attribute_part, identity_part, key_sets_part, structure_part
from unveil.assessment.membership_part import membership_part
from unveil.assessment.part import AssessmentPart, Clock, Context, run
from unveil.assessment.policy import Policy, read_policy
from unveil.assessment.posterior_part import posterior_part
from unveil.assessment.rapid_part import inference_part
from unveil.assessment.repetitions import Repetitions
from unveil.assessment.result import Assessment
from unveil.assessment.scenario import Scenario
from unveil.assessment.utility_part import utility_part
from unveil.columns import Pair
from unveil.synthesis.settings import identity_of, in_plain_words
from unveil.version import __version__

Progress = Callable[[int, int, str], None]


def assess(
    pair: Pair, keys: str | Sequence[str], *, targets: str | Sequence[str] | None = None, synthesizer: Any = None,
    holdout: Any = None, holdout_unseen: bool = False, intruders: str | Sequence[str] | None = None,
    measures: str | Sequence[str] | None = None, ngroups_keys: Mapping[str, int] | None = None,
    ngroups_target: int | Mapping[str, int] | None = None, attacker: str = "auto", tau: float = 0.3,
    epsilon: float = 0.10, permutations: int = 19, models: str | Sequence[str] = (), level: float = 0.95,
    budget: float = 180.0, minimum_count: int = 10, release_safe: bool = True,
    policy: str | Path | Policy | None = None, seed: int = 0, checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> Assessment:  # fmt: skip
    """Assess what one or more releases give away, to intruders from weak to strong, and what the releases are good for.

    Every measure that applies is taken, each beside its baseline, its uncertainty, and the measure that would
    contradict it. A measure that fails is reported as failed; the others go on.

    The cheap measures come first. The exact Bayesian risk gets the time that is left: for the persons that the cheap
    measures point at, and for a random sample of all.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        What an intruder knows of a person.
    targets
        What an intruder wants to know; every other common column without it.
    synthesizer
        What made the releases, with its settings: a :class:`unveil.CartSynthesizer`, or another object that
        :func:`unveil.posterior` takes. Without it there is no Bayesian risk and no advice on settings.
    holdout
        Real records that the synthesizer never saw: a frame or a path. Without it (and without a synthesizer) there is
        no membership attack.
    holdout_unseen
        True to state that this is so; see :func:`unveil.membership`.
    intruders
        Which of "release", "release and synthesizer", "all but one record"; all by default.
    measures
        Which of "identity", "attribute", "structure", "key sets", "utility", "membership", "inference", "posterior",
        "advice"; all by default.
    ngroups_keys, ngroups_target
        Number of groups of numeric keys and targets in the key tables. Targets of more than 50 amounts are cut into 20
        groups by default.
    attacker
        Of RAPID; "auto" is a random forest whatever the budget is, with fewer shuffles behind its null, and no ceiling,
        where time is short; named attackers make all of them.
    tau, epsilon
        Thresholds of RAPID for categorical and continuous targets.
    permutations
        Number of shuffles behind each null of RAPID.
    models
        Models whose estimates are compared, such as ``"income ~ age + sex"``.
    level
        Coverage of intervals, between 0 and 1.
    budget
        Seconds that the assessment should take; parts that were begun are finished.
    minimum_count
        Fewest persons of a group that is shown.
    release_safe
        Whether documents are for publication: figures rounded, and names and counts of few persons left out; see
        :class:`Assessment`.
    policy
        The institution's thresholds: a TOML file, or what :func:`unveil.assessment.read_policy` gives.
    seed
        Of all random numbers.
    checkpoint
        A folder that keeps finished parts, so that an interrupted assessment goes on where it stopped.
    progress
        Called with finished parts, their total, and the part that is next.

    Returns
    -------
    Assessment
        With ``to_dict``, ``to_json``, ``to_html``, ``to_markdown``.

    Raises
    ------
    CallError
        If a column or option is unknown or out of its range, or the policy has a rule for a target that is not
        assessed.
    DataError
        If files do not fit together.
    FileError
        If the policy cannot be read.

    Examples
    --------
    >>> import unveil
    >>> original = unveil.simulate.demo_population(300, seed=1)
    >>> pair = unveil.Pair(original, original.slice(0, 200))
    >>> result = unveil.assess(pair, ["sex", "age"], targets="depress", measures=["identity", "attribute"])
    >>> result.figure("repU").value <= result.figure("repU").ceiling
    True
    """
    scenario = Scenario.of(
        pair, keys, targets, intruders=intruders, measures=measures, ngroups_keys=ngroups_keys,
        ngroups_target=ngroups_target, attacker=attacker, tau=tau, epsilon=epsilon, permutations=permutations,
        models=models, level=level, budget=budget, minimum_count=minimum_count, seed=seed,
    )  # fmt: skip
    rules = policy if policy is None or isinstance(policy, Policy) else read_policy(policy)
    if rules is not None:
        rules.check(scenario.targets)
    pair = pair.with_holdout(holdout)
    said = pair.roles.usual(scenario.keys)[1] if targets is None else ()
    said += tuple(pair.roles.identifier_notes([*scenario.keys, *scenario.targets]))
    again = Repetitions(pair, scenario, synthesizer)
    context = Context(pair, scenario, Clock(scenario.budget), synthesizer, holdout_unseen, said=said, again=again)
    parts = _parts(scenario)
    kept = None if checkpoint is None else _kept(checkpoint, context)
    done = []
    for number, part in enumerate(parts):
        if progress is not None:
            progress(number, len(parts), part.name)
        found = kept.load(part.name) if kept else None
        if found is None:
            found = run(part, replace(context, parts_left=len(parts) - number))
            if kept and found["status"] == "done":
                kept.store(found)
        done.append(found | {"measure": part.measure})
    if progress is not None:
        progress(len(parts), len(parts), "done")
    return Assessment(document(context, done, rules), release_safe=release_safe)


def _parts(scenario: Scenario) -> list[AssessmentPart]:
    """What is worked out, cheap measures first; one part per target where a target alone takes its time."""
    whole = {
        "identity": identity_part,
        "attribute": attribute_part,
        "structure": structure_part,
        "key sets": key_sets_part,
        "utility": utility_part,
        "membership": membership_part,
    }
    by_target = {"inference": inference_part, "posterior": posterior_part}
    parts = []
    for measure in scenario.measures:
        if measure in whole:
            parts.append(AssessmentPart(measure, measure, whole[measure]))
        elif measure == "advice":
            parts.append(AssessmentPart("advice: keys", measure, key_advice_part))
            parts.append(AssessmentPart("advice: synthesizer", measure, settings_advice_part))
        else:
            parts.extend(AssessmentPart(f"{measure}: {t}", measure, by_target[measure](t)) for t in scenario.targets)
    return parts


def _kept(folder: str | Path, context: Context) -> Checkpoint:
    maker = None if context.synthesizer is None else in_plain_words(identity_of(context.synthesizer))
    stated = (SCHEMA_VERSION, __version__, context.scenario, maker, context.holdout_unseen)
    return Checkpoint(folder, fingerprint(context.pair, *stated))
