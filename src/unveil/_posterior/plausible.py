"""Whether the assumed synthesizer can have made the releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.fixed import FixedTree
from unveil._posterior.likelihood import fit_fixed_trees
from unveil._posterior.refit import as_figures, quietly
from unveil._posterior.refitted_variables import RefittedVariables
from unveil._posterior.selection import pooled_label
from unveil._posterior.settings_check import SettingsCheck, check_settings
from unveil._posterior.tree_sequence import TreeSequence, build_sequence
from unveil.columns import Pair
from unveil.errors import DataError
from unveil.limits import exceeds
from unveil.notes import Note
from unveil.trees.response import grid_is_kept

LARGEST_IMPOSSIBLE = 0.001
"""Default of the share of released values that may be impossible."""


@dataclass(frozen=True, eq=False)
class CheckedSequence:
    """Codes of the files, and whether a sequence can have made the releases; they do not depend on the target.

    Parameters
    ----------
    sequence
        Codes of the files.
    trees
        All trees, with all releases pooled.
    check
        Whether the counts fit; None if that was not checked.
    texts
        Warnings.
    """

    sequence: TreeSequence
    trees: list[FixedTree]
    check: SettingsCheck | None
    texts: tuple[str, ...]


_LAST: WeakKeyDictionary[Pair, tuple[Any, Any, CheckedSequence]] = WeakKeyDictionary()
"""Last result for a pair, and what it depends on; forgotten with the pair."""


def checked_sequence(options: CheckedOptions, largest_impossible: float, *, thorough: bool) -> CheckedSequence:
    """Return the codes of the files after a check that the sequence can have made the releases.

    Parameters
    ----------
    options
        Options of the call.
    largest_impossible
        Largest share of released values that may be impossible.
    thorough
        Whether the counts of possible values are checked too.

    Raises
    ------
    DataError
        If too many released values are impossible.
    """
    pair, maker = options.pair, options.synthesizer
    asked = (repr(maker.cart), repr(maker.special_codes), options.withheld, largest_impossible, thorough)
    plans, last, checked = _LAST.get(pair, (None, None, None))
    if checked is None or options.candidates or options.rows or plans is not maker.plans or last != asked:
        checked = _checked(options, largest_impossible, thorough=thorough)
        if not options.candidates and options.rows is None:
            _LAST[pair] = maker.plans, asked, checked
    return checked


_NOT_MADE = "the assumed synthesizer did not make"
_LEFT_OUT = (
    "released values are impossible under the assumed synthesizer and are left out; its settings may be others than "
    "those that were used"
)
_GIVE = "give the settings and the original that the releases were made with"


def _checked(options: CheckedOptions, largest_impossible: float, *, thorough: bool) -> CheckedSequence:
    texts: list[str] = []
    pair, synthesizer = options.pair, options.synthesizer
    everything = tuple(range(pair.n_releases))
    sequence = build_sequence(pair, synthesizer, options.candidates, options.withheld, options.rows)
    trees = fit_fixed_trees(sequence, sequence.trees, everything)
    overwritten = sorted(
        {tree.definition.variable for tree in trees if tree.n_impossible and _constant(sequence, tree)}
    )
    if overwritten:
        texts.append(
            Note(
                f"column {', '.join(map(repr, overwritten))} has one value in the releases, which the synthesizer "
                "cannot have drawn for every record: taken as withheld"
            )
        )
        hidden = [*options.withheld, *overwritten]
        sequence = build_sequence(pair, synthesizer, options.candidates, hidden, options.rows)
        trees = fit_fixed_trees(sequence, sequence.trees, everything)
    impossible = sum(tree.n_impossible for tree in trees)
    released = sum(int(drawn.sum()) for tree in trees for drawn in tree.definition.released)
    if released and exceeds(impossible / released, largest_impossible, unit=0.0):
        worst = max(trees, key=lambda tree: tree.n_impossible)
        closer = thorough and check_settings(sequence, trees, everything).verdict == "finer"
        hint = "; they follow the original more closely than these settings let them" if closer else ""
        raise DataError(
            Note(
                f"{_NOT_MADE} {pooled_label(pair.labels)}: {impossible} of {released} released values are impossible "
                f"under it, most in column {worst.definition.variable!r} ({worst.n_impossible}){hint}; "
                f"{_GIVE}",
                f"{_NOT_MADE} the releases; {_GIVE}",
            )
        )
    if impossible:
        texts.append(Note(f"{impossible} of {released} {_LEFT_OUT}", f"some {_LEFT_OUT}"))
    check = check_settings(sequence, trees, everything) if thorough else None
    if check is not None and check.warning is not None:
        texts.append(check.warning)
    return CheckedSequence(sequence, trees, check, tuple(texts))


def _constant(sequence: TreeSequence, tree: FixedTree) -> bool:
    """Whether all releases hold one value of a variable."""
    return np.unique(np.concatenate(sequence.released[tree.definition.variable])).size == 1


def grid_of_far_values(sequence: TreeSequence, trees: Sequence[FixedTree], unknown: Sequence[str]) -> dict[str, str]:
    """Return variables whose trees cannot stand for those of other worlds, each with the reason.

    A tree of numbers is fitted to whole steps from the smallest to the largest. Where a candidate, or one record, makes
    the steps much larger than they otherwise are, ties between splits can fall in another way.
    """
    found = {}
    for tree in trees:
        definition = tree.definition
        response = sequence.columns[definition.position]
        if response.values is None or definition.variable not in unknown or not definition.predictors:
            continue
        count = np.bincount(response.codes[definition.fitted], minlength=response.n_levels)
        if not grid_is_kept(response.values, count):
            found[definition.variable] = (
                f"a candidate of column {definition.variable!r}, or one record, has a value far off or of many decimals"
            )
    return found


def check_refitted(options: CheckedOptions, refitted: RefittedVariables, largest_impossible: float) -> list[str]:
    """Check that fits of single variables to the true original can have given the releases, and return warnings.

    Raises
    ------
    DataError
        If too many released values are impossible.
    """
    impossible = sum(map(refitted.n_impossible, refitted.names))
    released = sum(map(refitted.n_released, refitted.names))
    if not impossible:
        return []
    if exceeds(impossible / released, largest_impossible, unit=0.0):
        worst = max(refitted.names, key=refitted.n_impossible)
        raise DataError(
            Note(
                f"{_NOT_MADE} {pooled_label(options.pair.labels)}: {impossible} of {released} released values are "
                f"impossible under it, most in column {worst!r} ({refitted.n_impossible(worst)}); {_GIVE}",
                f"{_NOT_MADE} the releases; {_GIVE}",
            )
        )
    return [Note(f"{impossible} of {released} {_LEFT_OUT}", f"some {_LEFT_OUT}")]


def check_truth(options: CheckedOptions) -> None:
    """Check that the true original can have given the releases."""
    synthesizer = quietly(options.synthesizer, options.pair.original)
    impossible = sum(as_figures(synthesizer.log_prob(release))[0] for release in options.pair.releases)
    if impossible:
        raise DataError(
            Note(
                f"{_NOT_MADE} {pooled_label(options.pair.labels)}: {impossible} released values are impossible under "
                f"it; {_GIVE}",
                f"{_NOT_MADE} the releases; {_GIVE}",
            )
        )
