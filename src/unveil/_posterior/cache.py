"""What one question leaves for the next about the same files and the same synthesizer.

Codes, trees and the check of the settings do not depend on the target. They are kept as long as the pair is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from unveil._posterior.fixed import FixedTree
from unveil._posterior.settings_check import SettingsCheck
from unveil._posterior.tree_sequence import TreeSequence
from unveil.columns import Pair
from unveil.synthesis import CartSynthesizer

__all__ = ["Checked", "is_known", "keep", "look_up"]


@dataclass(frozen=True, eq=False)
class Checked:
    """Files in codes, and whether a sequence can have made the releases.

    Parameters
    ----------
    chain
        Codes of the files.
    trees
        All trees, with all releases pooled.
    check
        Whether the counts fit, where that was asked.
    texts
        Warnings.
    """

    chain: TreeSequence
    trees: list[FixedTree]
    check: SettingsCheck | None
    texts: tuple[str, ...]


_KEPT: WeakKeyDictionary[Pair, tuple[Any, tuple[Any, ...], Checked]] = WeakKeyDictionary()


def look_up(pair: Pair, synthesizer: CartSynthesizer, options: tuple[Any, ...]) -> Checked | None:
    """What was found out about a pair with the same fit and options, or None."""
    plans, asked, checked = _KEPT.get(pair, (None, (), None))
    same = plans is synthesizer.plans and asked == (*_settings(synthesizer), *options)
    return checked if same else None


def keep(pair: Pair, synthesizer: CartSynthesizer, options: tuple[Any, ...], checked: Checked) -> None:
    """Keep it until something else is kept about the pair, or the pair is gone."""
    _KEPT[pair] = synthesizer.plans, (*_settings(synthesizer), *options), checked


def is_known(pair: Pair, synthesizer: CartSynthesizer) -> bool:
    """Whether the last question about the pair was asked with this very fit."""
    return pair in _KEPT and _KEPT[pair][0] is synthesizer.plans


def _settings(synthesizer: CartSynthesizer) -> tuple[Any, ...]:
    return repr(synthesizer.cart), repr(synthesizer.special_codes)
