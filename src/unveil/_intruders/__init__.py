"""Intruders who know the synthesizer and other records, and ask about a person as a whole."""

from __future__ import annotations

from unveil._intruders.exact_membership import exact_membership
from unveil._intruders.partial_knowledge import partial_knowledge
from unveil._intruders.partial_result import KnowledgePoint, PartialKnowledge
from unveil._intruders.privacy_loss import privacy_loss
from unveil._intruders.privacy_result import PrivacyLoss
from unveil._intruders.result import ExactMembership

__all__ = [
    "ExactMembership",
    "KnowledgePoint",
    "PartialKnowledge",
    "PrivacyLoss",
    "exact_membership",
    "partial_knowledge",
    "privacy_loss",
]
