"""Membership: whether a release gives away whose records it was made from.

The room is named like its function, and can be called like it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from unveil.membership.attacks import ATTACKS
from unveil.membership.infer import membership
from unveil.membership.largest import Largest
from unveil.membership.refit import MembershipOfSynthesizer, membership_synthesizer
from unveil.membership.result import Copies, Membership
from unveil.membership.roc import FPRS, Figures

__all__ = [
    "ATTACKS",
    "FPRS",
    "Copies",
    "Figures",
    "Largest",
    "Membership",
    "MembershipOfSynthesizer",
    "membership",
    "membership_synthesizer",
]


class _Room(ModuleType):
    """``unveil.membership`` is this module as soon as anything of it is imported, whatever the package says."""

    def __call__(self, *args: Any, **kwargs: Any) -> Membership:
        return membership(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
