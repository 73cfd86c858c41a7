"""Membership: whether a release gives away whose records it was made from."""

from __future__ import annotations

from unveil._membership.attacks import ATTACKS
from unveil._membership.infer import membership
from unveil._membership.largest import Largest
from unveil._membership.refit import MembershipOfSynthesizer, membership_synthesizer
from unveil._membership.result import Copies, Membership
from unveil.stats.roc import FPRS, RocFigures

__all__ = [
    "ATTACKS",
    "FPRS",
    "Copies",
    "Largest",
    "Membership",
    "MembershipOfSynthesizer",
    "RocFigures",
    "membership",
    "membership_synthesizer",
]
