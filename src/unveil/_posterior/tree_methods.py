"""How each variable of a sequence takes part in the likelihood: what its method says, and what can be walked.

Of two methods it is known how they draw: CART from the leaf of a tree, ``sample`` from all donors, which is a tree
without predictors. Such variables are walked, one record at a time. What any other method makes of a record is not
guessed at: it is asked for probabilities after a fit to every world, and where it has none, it is simulated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.likelihood import has_numbers_for
from unveil.synthesis.method_choice import carries_recodings, choose_methods
from unveil.synthesis.methods.sample import Sample
from unveil.synthesis.plan import Plan
from unveil.synthesis.protocol import VariableMethod
from unveil.synthesis.variable import EncodedVariable
from unveil.trees import Settings


@dataclass(frozen=True)
class DrawnFromLeaves:
    """How the parts of a variable are drawn where each comes from the leaf of a tree.

    Parameters
    ----------
    settings
        How the tree is grown.
    by_predictors
        Whether there are predictors; without them all donors are one leaf.
    mix
        Probability that a donor is one of all and not of the leaf.
    """

    settings: Settings
    by_predictors: bool
    mix: float = 0.0


def concerned(plan: Plan, unknown: Iterable[str]) -> bool:
    """Whether the probability of a variable's released values can depend on the unknown variables."""
    return not {plan.variable.name, *plan.predictors, *plan.ruled_by}.isdisjoint(unknown)


def drawn_by_trees(synthesizer: CartSynthesizer) -> dict[str, DrawnFromLeaves | str]:
    """By variable, how it is drawn; or why that is not the way of a tree that can be walked."""
    names = [plan.variable.name for plan in synthesizer.plans]
    methods, parts = choose_methods(names, synthesizer.cart, synthesizer.methods, synthesizer.smoothing)
    found = {}
    for plan in synthesizer.plans:
        name = plan.variable.name
        # A number that can be missing has a part that says so; a candidate can be the first gap.
        own = (methods[name],) if plan.variable.numeric is None else (methods[name], parts[name])
        found[name] = _drawn(plan, own, synthesizer.cart)
    return found


def _drawn(plan: Plan, methods: Sequence[VariableMethod], cart: CartMethod) -> DrawnFromLeaves | str:
    name = plan.variable.name
    if plan.rules or plan.limits:
        return f"column {name!r} has rules"
    for method in methods:
        # A user's class may differ from the one that it inherits from.
        if type(method) is CartMethod:
            if method.surrogates:
                return "surrogate splits are used"
            if method.smoothing and plan.variable.numeric is not None:
                return f"column {name!r} is smoothed"
        elif type(method) is not Sample and plan.predictors:
            return f"column {name!r} is modelled by {type(method).__name__}"
    own = methods[0]
    tree = own if isinstance(own, CartMethod) else cart
    by_predictors = isinstance(own, CartMethod) and bool(plan.predictors)
    # Where all donors are one leaf, there is nothing to mix.
    return DrawnFromLeaves(replace(tree.settings, surrogates=0), by_predictors, tree.mix if by_predictors else 0.0)


def without_likelihood(
    synthesizer: CartSynthesizer, unknown: Iterable[str], withheld: Collection[str] = ()
) -> str | None:
    """The first variable that concerns the unknown ones and whose method has no probabilities; None if all have.

    Those that are withheld do not count. A variable that is looked up, or whose predictors are constant, may need its
    method in another world.
    """
    wanted = set(unknown)
    names = [plan.variable.name for plan in synthesizer.plans]
    methods, parts = choose_methods(names, synthesizer.cart, synthesizer.methods, synthesizer.smoothing)
    for plan in synthesizer.plans:
        name, numeric = plan.variable.name, plan.variable.numeric is not None
        earlier = sources(plan, synthesizer.plans)
        if name in withheld or not concerned(plan, wanted) or (earlier and wanted.isdisjoint({name, *earlier})):
            continue
        asked = [methods[name], parts[name]] if numeric else [methods[name]]
        used = asked if plan.predictors else [one for one in asked if isinstance(one, CartMethod)]
        fits = [step.fitted for step in plan.steps if step.fitted is not None]
        if not all(_has_likelihood(one, plan) for one in used) or not all(one.has_likelihood for one in fits):
            return name
    return None


def _has_likelihood(method: VariableMethod, plan: Plan) -> bool:
    if isinstance(method, CartMethod):
        return not (method.smoothing and plan.variable.numeric is not None)
    # What is random in a fit is not known to the intruder, and its outcome is no likelihood, unless it is told.
    told = getattr(method, "bootstrap_known", False) or not getattr(method, "draws_in_fit", False)
    return told and getattr(method, "has_likelihood", True) and has_numbers_for(method, plan)


def refusal(synthesizer: CartSynthesizer, unknown: Iterable[str], withheld: Collection[str] = ()) -> str | None:
    """Why a released variable that concerns the unknown ones cannot be walked; None if all can."""
    return next(iter(not_walked(synthesizer, unknown, withheld).values()), None)


def not_walked(synthesizer: CartSynthesizer, unknown: Iterable[str], withheld: Collection[str] = ()) -> dict[str, str]:
    """Released variables that concern the unknown ones and cannot be walked one record at a time, each with the reason.

    They are in the order of visit. Everything named here is still exact when the variable is fitted anew for every
    world, where its method has probabilities. Variables that the unknown ones do not concern do not matter: their
    probabilities are the same whatever the unknown values are.
    """
    wanted = set(unknown)
    drawn = drawn_by_trees(synthesizer)
    found: dict[str, str] = {}
    for plan in synthesizer.plans:
        name, how = plan.variable.name, drawn[plan.variable.name]
        if name in withheld or not concerned(plan, wanted):
            continue
        earlier = sources(plan, synthesizer.plans)
        if earlier:
            if {name, *earlier} & wanted and (reason := _recoding_not_walked(plan, earlier, how)):
                found[name] = reason
        elif isinstance(how, str):
            found[name] = how
    names = [plan.variable.name for plan in synthesizer.plans]
    methods, _ = choose_methods(names, synthesizer.cart, synthesizer.methods, synthesizer.smoothing)
    carried = {name for name, method in methods.items() if carries_recodings(method)} - set(withheld)
    found = _nearly_recoded(synthesizer.plans, wanted, carried) | found
    return {name: found[name] for name in names if name in found}


def sources(plan: Plan, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Earlier predictors that a variable follows from level by level, the synthesizer's first; none with a tree."""
    if plan.lookup is None or plan.lookup.source is None:
        return ()
    used = {position for step in plan.steps for position in step.predictors}
    others = [
        one.variable.name
        for one in plans
        if one.variable.name != plan.lookup.source
        and used & {step.position for step in one.steps}
        and _match(one.variable, plan.variable)
    ]
    return (plan.lookup.source, *others)


def _match(one: EncodedVariable, other: EncodedVariable) -> bool:
    """Whether two variables are recodings of each other."""
    if one.n_levels != other.n_levels:
        return False
    table = np.zeros(one.n_levels, dtype=np.int32)
    table[one.codes] = other.codes
    return bool((table[one.codes] == other.codes).all())


def _recoding_not_walked(plan: Plan, earlier: Sequence[str], how: DrawnFromLeaves | str) -> str | None:
    """Why it cannot be told without a fit what becomes of a recoding; None if it can."""
    what = f"column {plan.variable.name!r} is a recoding of {earlier[0]!r}"
    # One record more or less must not decide whether levels match by chance; see the plan of a synthesis.
    if 2 * (plan.variable.n_levels + 1) > plan.variable.codes.size:
        return f"{what} with hardly two records per value"
    if isinstance(how, str) or not how.by_predictors:
        return f"{what} that would otherwise be modelled in another way than by a tree without surrogates and smoothing"
    return None


def _nearly_recoded(plans: Sequence[Plan], unknown: set[str], carried: Collection[str]) -> dict[str, str]:
    """Variables that would be carried over, if it were not for one record, and the other one of each pair."""
    nearly: dict[str, str] = {}
    seen: dict[str, Plan] = {plan.variable.name: plan for plan in plans}
    settled = {frozenset((name, source)) for name, plan in seen.items() for source in sources(plan, plans)}
    for name in unknown:
        one = seen[name].variable
        for other_name, plan in seen.items():
            other = plan.variable
            follows = name if other_name in seen[name].predictors else other_name
            if (
                (name not in plan.predictors and other_name not in seen[name].predictors)
                or follows not in carried
                or {name, other_name} in settled
                or abs(one.n_levels - other.n_levels) > 1
                or min(one.n_levels, other.n_levels) < 2
            ):
                continue
            # If nearly every record is another pair, a match counts as chance, unless the values are the same.
            few = 2 * (min(one.n_levels, other.n_levels) - 1) <= one.codes.size
            if few or _alike(one, other):
                found = _matched(one.codes, other.codes)
                if found is not None:
                    nearly[follows] = f"columns {name!r} and {other_name!r} are recodings of each other{found}"
    return nearly


def _matched(one: NDArray[np.integer], other: NDArray[np.integer]) -> str | None:
    """In what way values match one to one: in all records, or in all but one; None if in neither."""
    radix = int(other.max(initial=0)) + 1
    pairs, count = np.unique(one.astype(np.int64) * radix + other, return_counts=True)
    left, right = np.unique(pairs // radix, return_inverse=True)[1], np.unique(pairs % radix, return_inverse=True)[1]
    of_left, of_right = np.bincount(left), np.bincount(right)
    crowded = (of_left[left] > 1) | (of_right[right] > 1)
    if not crowded.any():
        return ""
    if max((of_left - 1).sum(), (of_right - 1).sum()) > 1:
        return None
    # The record that is too many is alone with its pair, and takes part in all there is of too much.
    for pair in np.flatnonzero(crowded & (count == 1)):
        rest = (np.delete(left, pair), np.delete(right, pair))
        if all(np.bincount(levels).max(initial=0) <= 1 for levels in rest):
            return " but for one record"
    return None


def _alike(one: EncodedVariable, other: EncodedVariable) -> bool:
    """Whether one record can keep two variables from having the same values."""
    if one.values.type != other.values.type:
        return False
    alike = int(pc.sum(pc.is_in(one.values, other.values)).as_py())
    return alike >= max(len(one.values), len(other.values)) - 1
