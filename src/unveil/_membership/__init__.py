"""Membership, whose records a release was made from; and linkage and matches, which record of a release is whose."""

from __future__ import annotations

from unveil._membership.attacks import ATTACKS
from unveil._membership.infer import membership
from unveil._membership.largest import Largest
from unveil._membership.linkage import linkage
from unveil._membership.linkage_result import Linkage
from unveil._membership.partial_matches import MatchRisk, match_risk
from unveil._membership.refit import MembershipOfSynthesizer, membership_synthesizer
from unveil._membership.result import Copies, Membership
from unveil.stats.roc import FPRS, RocFigures

__all__ = [
    "ATTACKS",
    "FPRS",
    "Copies",
    "Largest",
    "Linkage",
    "MatchRisk",
    "Membership",
    "MembershipOfSynthesizer",
    "RocFigures",
    "linkage",
    "match_risk",
    "membership",
    "membership_synthesizer",
]
