"""An assessment: one scenario run through all measures that apply, into one plain dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import update_wrapper
from inspect import Parameter, Signature, signature
from pathlib import Path
from textwrap import indent
from typing import Any, Concatenate, ParamSpec, cast

from unveil.assessment.document import SCHEMA_VERSION, document
from unveil.assessment.masthead import Masthead
from unveil.assessment.part import AssessmentPart, Clock, Context, run
from unveil.assessment.plan import plan, shown
from unveil.assessment.policy import Policy, read_policy
from unveil.assessment.repetitions import Repetitions
from unveil.assessment.result import Assessment
from unveil.assessment.scenario import Options, Scenario
from unveil.checks import check_flags
from unveil.columns import Pair
from unveil.columns.checkpoint import Checkpoint, fingerprint
from unveil.docstrings import parameter_texts
from unveil.synthesis.settings import identity_of, in_plain_words
from unveil.version import __version__

P = ParamSpec("P")


@dataclass(frozen=True)
class Call(Options):
    """Everything that an assessment takes besides the pair.

    Parameters
    ----------
    synthesizer
        What made the releases, with its settings: a :class:`unveil.CartSynthesizer`, or another object that
        :func:`unveil.posterior` takes. Without it there is no Bayesian risk and no advice on settings.
    holdout
        Real records that the synthesizer never saw: a frame or a path. Without it (and without a synthesizer) there is
        no membership attack.
    holdout_unseen
        True to state that the synthesizer never saw the held-out records; see :func:`unveil.membership`.
    release_safe
        Whether documents are for publication: figures are rounded, names and counts of few persons are left out; see
        :class:`Assessment`.
    policy
        The institution's limits: a TOML file, or what :func:`unveil.assessment.read_policy` gives.
    title, organisation, contact
        What the reports have at their head, as it is: in documents for publication too.
    checkpoint
        A folder that keeps finished parts, so that an interrupted assessment continues where it stopped.
    progress
        Called with the number of finished parts, their total, and the name of the next part.
    page
        Called with the assessment as it stands: with the first figures, with the first page (table measures, one tree
        as attacker, donor counts alone, single variables), and whenever a part of that page got better. The last page
        is what is returned.
    """

    _: KW_ONLY
    synthesizer: Any = None
    holdout: Any = None
    holdout_unseen: bool = False
    release_safe: bool = True
    policy: str | Path | Policy | None = None
    title: str | None = None
    organisation: str | None = None
    contact: str | None = None
    checkpoint: str | Path | None = None
    progress: Callable[[int, int, str], None] | None = None
    page: Callable[[Assessment], None] | None = None


def _with_options(
    options: Callable[P, Call],
) -> Callable[[Callable[[Pair, Call], Assessment]], Callable[Concatenate[Pair, P], Assessment]]:
    """Let a function of a pair and a call take the options one by one, with their signature and their texts."""

    def decorate(function: Callable[[Pair, Call], Assessment]) -> Callable[Concatenate[Pair, P], Assessment]:
        def taken(pair: Pair, *args: P.args, **kwargs: P.kwargs) -> Assessment:
            try:
                call = options(*args, **kwargs)
            except TypeError as error:
                raise TypeError(str(error).replace("Call.__init__", function.__name__)) from None
            return function(pair, call)

        update_wrapper(taken, function)
        first = Parameter("pair", Parameter.POSITIONAL_OR_KEYWORD, annotation="Pair")
        each = signature(options).parameters.values()
        taken.__signature__ = Signature([first, *each], return_annotation="Assessment")  # type: ignore[attr-defined]
        texts = parameter_texts(Options) | parameter_texts(Call)
        section = "\n".join(f"{name}\n{indent(text, '    ')}" for name, text in texts.items())
        taken.__doc__ = (function.__doc__ or "").replace("    {options}", indent(section, "    "))
        return cast("Callable[Concatenate[Pair, P], Assessment]", taken)

    return decorate


@_with_options(Call)
def assess(pair: Pair, call: Call) -> Assessment:
    """Assess what one or more releases give away, to intruders from weak to strong, and what the releases are good for.

    Every measure that applies is taken, each beside its baseline, its uncertainty, and the measure that would
    contradict it. A measure that fails is reported as failed; the others go on.

    The cheap measures come first. The exact Bayesian risk gets the time that is left: for the persons that the cheap
    measures point at, and for a random sample of all.

    Parameters
    ----------
    pair
        The original and its releases.
    {options}

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
    check_flags(holdout_unseen=call.holdout_unseen)
    masthead = Masthead(call.title, call.organisation, call.contact)
    if call.one_to_one is None and _is_partial(call.synthesizer, pair):
        call = replace(call, one_to_one="rows")
    scenario = Scenario.of(pair, call)
    rules = call.policy if call.policy is None or isinstance(call.policy, Policy) else read_policy(call.policy)
    if rules is not None:
        rules.check(scenario.targets)
    pair = pair.with_holdout(call.holdout)
    said = pair.roles.default_columns(scenario.keys)[1] if call.targets is None else ()
    said += tuple(pair.roles.identifier_notes([*scenario.keys, *scenario.targets]))
    again = Repetitions(pair, scenario, call.synthesizer)
    clock = Clock(scenario.budget)
    context = Context(pair, scenario, clock, call.synthesizer, call.holdout_unseen, said=said, again=again)
    kept = None if call.checkpoint is None else _kept(call.checkpoint, context)

    def page(found: Mapping[str, dict[str, Any]]) -> Assessment:
        return Assessment(document(context, list(found.values()), rules, masthead), release_safe=call.release_safe)

    return page(_work_out(plan(scenario, repeated=call.synthesizer is not None), context, call, kept, page))


def _is_partial(synthesizer: Any, pair: Pair) -> bool:
    """Whether releases hold columns or records of the original as they are, so that every row is a person's."""
    whole = all(n == pair.n_original for n in pair.n_synthetic)
    return whole and not pair.unit and getattr(synthesizer, "is_partial", False)


def _work_out(
    parts: Sequence[AssessmentPart], context: Context, call: Call, kept: Checkpoint | None,
    page: Callable[[Mapping[str, dict[str, Any]]], Assessment],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Run all parts, those of the first page first where somebody looks at it; what is finished is taken as it is."""
    found = {part.name: (kept and kept.load(part.name)) or part.waiting() for part in parts}
    open_parts = [part for part in parts if found[part.name]["status"] == "waiting"]
    steps = [(part, True) for part in open_parts if part.first is not None] if call.page else []
    begun = {part.name for part, _ in steps if part.is_whole_at_first}
    steps += [(part, False) for part in open_parts if part.name not in begun]
    progress = call.progress or (lambda *_: None)
    for number, (part, first) in enumerate(steps):
        progress(number, len(steps), part.name if first or not part.better else f"{part.name}, {part.better}")
        context.clock.parts_left = len(steps) - number
        outcome = run(part, context, first=first)
        if kept and outcome["status"] == "done":
            kept.store(outcome)
        found[part.name] = outcome
        # The last page is what is returned.
        if call.page and number + 1 < len(steps) and shown(steps, number):
            call.page(page(found))
    progress(len(steps), len(steps), "done")
    return found


def _kept(folder: str | Path, context: Context) -> Checkpoint:
    maker = None if context.synthesizer is None else in_plain_words(identity_of(context.synthesizer))
    stated = (SCHEMA_VERSION, __version__, context.scenario, maker, context.holdout_unseen)
    return Checkpoint(folder, fingerprint(context.pair, *stated))
