"""How the variables of a fit were modelled, for a provenance file; fits of several strata together are one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.synthesis.cart import CartMethod, FittedCart
from unveil.synthesis.diagnostics import lost_bits
from unveil.synthesis.methods import name_of
from unveil.synthesis.plan import Plan
from unveil.synthesis.provenance import VariableFacts
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.wide_units import UnitSynthesizer


@dataclass(frozen=True)
class PartFacts:
    """How one part of a variable was modelled in one fit.

    Parameters
    ----------
    name, method
        The part, and its method.
    tree
        Number of leaves, of leaves that the collapse removed, of bits lost in all records together, and of records;
        None without a tree.
    """

    name: str
    method: str
    tree: tuple[int, int, float, int] | None = None


PartsOf = Mapping[str, tuple[PartFacts, ...]]
"""The parts of each variable in one fit."""


def parts_of(sequence: Sequence[Plan]) -> PartsOf:
    """Facts of one fit by variable."""
    return {plan.variable.name: tuple(_parts(plan)) for plan in sequence}


def together(fits: Sequence[PartsOf], names: Sequence[str]) -> tuple[VariableFacts, ...]:
    """Facts of several fits of the same variables, as of one: leaves add up, bits are per record of all.

    Parameters
    ----------
    fits
        The fits; a part that one of them lacks, such as that of gaps, is that of the others.
    names
        The variables in the order of the file.

    Examples
    --------
    >>> one, two = PartFacts("age", "cart", (3, 1, 5.0, 10)), PartFacts("age", "cart", (2, 0, 0.0, 40))
    >>> together([{"age": (one,)}, {"age": (two,)}], ["age"])
    (VariableFacts(name='age', method='cart', leaves=5, leaves_removed=1, bits_lost=0.1),)
    """
    facts = []
    for name in names:
        parts: dict[str, list[PartFacts]] = {part.name: [] for part in max((fit[name] for fit in fits), key=len)}
        for part in (part for fit in fits for part in fit[name]):
            parts.setdefault(part.name, []).append(part)
        facts += [_one(same) for same in parts.values()]
    return tuple(facts)


def variable_facts(synthesizer: Any, method: str, names: Sequence[str]) -> tuple[VariableFacts, ...]:
    """Facts by part, in the order of the file; of others' synthesizers and methods for the whole file the names."""
    if isinstance(synthesizer, UnitSynthesizer):
        synthesizer, names = synthesizer.sequence, synthesizer.columns
    if not isinstance(synthesizer, CartSynthesizer):
        return tuple(VariableFacts(name, method) for name in names)
    return together([parts_of(sequence) for sequence in synthesizer.sequences], names)


def _one(parts: Sequence[PartFacts]) -> VariableFacts:
    trees = [part.tree for part in parts if part.tree is not None]
    # a variable that is constant in one stratum may have a tree in another
    method = next((part.method for part in parts if part.tree is not None), parts[0].method)
    if not trees:
        return VariableFacts(parts[0].name, method)
    leaves, removed, lost, records = (sum(column) for column in zip(*trees, strict=True))
    return VariableFacts(parts[0].name, method, int(leaves), int(removed), round(lost / records, 6))


def _parts(plan: Plan) -> Iterator[PartFacts]:
    if plan.lookup is not None:
        source = plan.lookup.source
        yield PartFacts(plan.variable.name, "constant" if source is None else f"recoded from {source}")
        return
    for step in plan.steps:
        if step.method is None:
            yield PartFacts(step.name, "kept" if plan.is_kept else "rules")
            continue
        method = "cart" if type(step.method) is CartMethod else name_of(step.method) or type(step.method).__name__
        fit, tree = step.fitted, None
        if isinstance(fit, FittedCart):
            grown = fit.tree
            removed = grown.n_leaves_full - grown.n_leaves
            tree = (grown.n_leaves, removed, lost_bits(grown) * grown.n_records, grown.n_records)
        yield PartFacts(step.name, method, tree)
