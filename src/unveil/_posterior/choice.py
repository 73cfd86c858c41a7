"""Choose the likelihood that fits a synthesizer and the options of the call."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from unveil._posterior.checked_options import CheckedOptions, check_options
from unveil._posterior.likelihood import trees_concerned
from unveil._posterior.mixed import tell_cost
from unveil._posterior.plausible import (
    LARGEST_IMPOSSIBLE,
    CheckedSequence,
    check_refitted,
    check_truth,
    checked_sequence,
    grid_of_far_values,
)
from unveil._posterior.problem import PosteriorProblem, is_proper
from unveil._posterior.recoded import recodings_concerned
from unveil._posterior.refitted_variables import RefittedVariables
from unveil._posterior.simulated import fit_is_random
from unveil._posterior.tree_methods import drawn_by_trees, not_walked, without_likelihood
from unveil._posterior.tree_sequence import TreeSequence, check_released, sequence_without_trees, used_by
from unveil.columns import Pair
from unveil.errors import CallError, DataError
from unveil.files.arrays import quoted_list
from unveil.notes import Note
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.any_synthesizer import named
from unveil.synthesis.methods.catall import CatallSynthesizer


def make_problem(options: CheckedOptions, largest_impossible: float, *, thorough: bool) -> PosteriorProblem:
    """Choose the likelihood, and check that the synthesizer can have made the releases."""
    synthesizer = options.synthesizer
    reasons: Mapping[str, str] = {}
    if isinstance(synthesizer, CartSynthesizer) and not synthesizer.proper:
        reasons, exact = _not_walked(options)
        if exact:
            return _problem_of_sequence(options, reasons, largest_impossible, thorough=thorough)
    sequence = _plain(options)
    kind = _kind(options, sequence.withheld)
    if options.rows is not None and kind != "refit":
        if kind != "catall":
            raise CallError(
                "candidates that are records need a synthesizer whose likelihood is known without a simulation; this "
                "one has none for whole records"
            )
        kind = "refit"
    if kind == "refit" and sequence.withheld:
        raise DataError(
            f"the release has no column {sequence.withheld[0]!r}, or it is withheld: a synthesizer's own likelihood is "
            "that of all columns; give the released column"
        )
    texts = _on_simulation(options, sequence, reasons) if kind == "simulated" else []
    _refuse_errors(options)
    problem = PosteriorProblem(options, sequence, kind, {}, texts)
    if kind in ("refit", "catall"):
        check_truth(options)
    return problem


def _refuse_errors(options: CheckedOptions) -> None:
    if options.intruder_errors:
        raise CallError("intruder_errors: only for sequential CART whose trees can be walked")


def _not_walked(options: CheckedOptions) -> tuple[dict[str, str], bool]:
    """Variables that cannot be walked, each with the reason, and whether all of them have probabilities."""
    pair, synthesizer = options.pair, options.synthesizer
    lacking = [name for name in pair.original.names if any(name not in release for release in pair.releases)]
    asked = synthesizer, options.unknown, {*options.withheld, *lacking}
    reasons = not_walked(*asked)
    return reasons, not reasons or without_likelihood(*asked) is None


def _problem_of_sequence(
    options: CheckedOptions, reasons: Mapping[str, str], largest_impossible: float, *, thorough: bool
) -> PosteriorProblem:
    """A sequence whose variables are walked, except for those that cannot be."""
    checked = checked_sequence(options, largest_impossible, thorough=thorough)
    sequence, trees = checked.sequence, checked.trees
    reasons = grid_of_far_values(sequence, trees, options.unknown) | dict(reasons)
    if not set(reasons) <= set(sequence.withheld):
        return _mixed_problem(options, checked, reasons, largest_impossible)
    if options.intruder_errors and (broken := recodings_concerned(sequence, options.unknown)):
        one = broken[0]
        raise CallError(
            f"intruder_errors: column {one.variable!r} is a recoding of {one.sources[0]!r}, which a wrong record would "
            "break; name other targets, or leave the one column out of the files"
        )
    left_out = {tree.definition.name: tree.n_impossible for tree in trees if tree.n_impossible}
    return PosteriorProblem(options, sequence, "cart", left_out, [*checked.texts], trees, checked.check)


def _refitted(options: CheckedOptions, sequence: TreeSequence, reasons: Mapping[str, str]) -> RefittedVariables:
    """The variables that cannot be walked, fitted to the original.

    Raises
    ------
    DataError
        If the release lacks what one of them is predicted by.
    """
    synthesizer = options.synthesizer
    drawn = drawn_by_trees(synthesizer)
    plans = [plan for plan in synthesizer.plans if plan.variable.name in {*reasons} - {*sequence.withheld}]
    for plan in plans:
        check_released(sequence, plan.variable.name, used_by(sequence, plan, drawn[plan.variable.name]))
    return RefittedVariables(sequence, synthesizer, [plan.variable.name for plan in plans])


def _mixed_problem(
    options: CheckedOptions, checked: CheckedSequence, reasons: Mapping[str, str], largest_impossible: float
) -> PosteriorProblem:
    """A sequence of which some variables, each for a reason, are fitted anew for every world."""
    _refuse_errors(options)
    sequence = checked.sequence
    refitted = _refitted(options, sequence, reasons)
    text = "fitted anew for every record and value, which takes long"
    if options.structures == ("fixed",):
        text += "; structure 'fixed' is for trees alone, and 'exact' is computed"
    why = "; ".join(dict.fromkeys(reasons[name] for name in refitted.names))
    which, are = ("columns", "are") if len(refitted.names) > 1 else ("column", "is")
    what = f"{which} {quoted_list(refitted.names)} {are}"
    texts = [*checked.texts, Note(f"{why}: {what} {text}", f"columns that cannot be walked are {text}")]
    if refitted.told:
        text = "the posterior is that of an intruder who is told the bootstrap samples of random forests"
        texts.append(Note(f"column {quoted_list(sorted(refitted.told))}: {text}", text))
    texts += check_refitted(options, refitted, largest_impossible)
    trees = [tree for tree in checked.trees if tree.definition.variable not in reasons]
    left_out = {tree.definition.name: tree.n_impossible for tree in trees if tree.n_impossible}
    left_out |= {name: refitted.n_impossible(name) for name in refitted.names if refitted.n_impossible(name)}
    parts = {tree.variable for tree in trees_concerned(sequence, options.unknown)}
    parts |= {recoding.variable for recoding in recodings_concerned(sequence, options.unknown)}
    kind = "refit" if parts <= set(reasons) else "mixed"
    problem = PosteriorProblem(options, sequence, kind, left_out, texts, trees, checked.check, refitted)
    if options.time_limit is None:
        tell_cost(refitted, options.members, problem.worlds)
    return problem


def _on_simulation(options: CheckedOptions, sequence: TreeSequence, reasons: Mapping[str, str]) -> list[str]:
    """Warnings about a simulated likelihood."""
    synthesizer, n = options.synthesizer, options.pair.n_original
    name = (
        without_likelihood(synthesizer, options.unknown, sequence.withheld)
        if isinstance(synthesizer, CartSynthesizer)
        else None
    )
    what, hint = "the synthesizer has no likelihood", ""
    if name is not None and not synthesizer.proper:
        what = f"{reasons.get(name, f'column {name!r} has a method of its own')}, which gives no probabilities"
        drawn = drawn_by_trees(synthesizer)
        users = [plan for plan in synthesizer.plans if name in used_by(sequence, plan, drawn[plan.variable.name])]
        if name not in options.targets and not users:
            hint = f"; withheld=[{name!r}] gives the exact posterior of an intruder who does without this column"
    text = "the posterior is simulated from the count of the record's own combination, a weak lower bound"
    texts: list[str] = [Note(f"{what}: {text}{hint}", text)]
    if is_proper(synthesizer):
        left_out = f"a record is left out of the fit of a release with a probability of {(1 - 1 / n) ** n:.2f}"
        text = (
            f"proper synthesis: {left_out}, and nothing is learnt of it then; on average the normalised gain lies "
            "between what was simulated and largest_mean_gain"
        )
        texts.append(Note(text))
    return texts


def check_maker(pair: Pair, synthesizer: Any, target: str) -> None:
    """Check that a synthesizer can have made the releases, as far as its likelihood tells.

    Raises
    ------
    DataError
        If it cannot.
    """
    options = check_options(pair, synthesizer, target=target, structure="fixed")
    maker = options.synthesizer
    if isinstance(maker, CartSynthesizer):
        reasons, exact = _not_walked(options)
        if exact and not maker.proper:
            checked = checked_sequence(options, LARGEST_IMPOSSIBLE, thorough=True)
            check_refitted(options, _refitted(options, checked.sequence, reasons), LARGEST_IMPOSSIBLE)
    elif _kind(options) in ("refit", "catall"):
        check_truth(options)


def _kind(options: CheckedOptions, withheld: Collection[str] = ()) -> str:
    synthesizer = options.synthesizer
    if isinstance(synthesizer, CatallSynthesizer):
        return "catall" if synthesizer.epsilon is None or math.isinf(synthesizer.epsilon) else "histogram"
    if callable(getattr(synthesizer, "delta_log_prob", None)):
        return "delta"
    if isinstance(synthesizer, CartSynthesizer):
        unknown = synthesizer.proper or without_likelihood(synthesizer, options.unknown, withheld)
        return "simulated" if unknown else "refit"
    # What is random in a fit is not known to the intruder, and its outcome is no likelihood.
    if callable(getattr(synthesizer, "log_prob", None)) and not fit_is_random(synthesizer):
        return "refit"
    if callable(getattr(synthesizer, "sample", None)):
        return "simulated"
    raise CallError(f"synthesizer {named(synthesizer)!r} has neither log_prob(frame) nor sample(n, seed=...)")


def _plain(options: CheckedOptions) -> TreeSequence:
    pair, synthesizer = options.pair, options.synthesizer
    names = pair.original.names
    kinds = dict(getattr(synthesizer, "kinds", None) or {})
    special = dict(getattr(synthesizer, "special_codes", None) or {})
    return sequence_without_trees(pair, names, kinds, special, options.candidates, options.withheld, options.rows)
