"""Conformance: any measure of disclosure risk, run through worlds of which it is known what an intruder learns."""

from __future__ import annotations

from unveil._conformance.desiderata import DESIDERATA, PUBLISHED
from unveil._conformance.measures import BUILT_IN, Measure
from unveil._conformance.result import Conformance, Reading
from unveil._conformance.run import conformance
from unveil._conformance.trials import TRIALS
from unveil._conformance.world import REQUIREMENTS, Trial, World

__all__ = [
    "BUILT_IN",
    "DESIDERATA",
    "PUBLISHED",
    "REQUIREMENTS",
    "TRIALS",
    "Conformance",
    "Measure",
    "Reading",
    "Trial",
    "World",
    "conformance",
]
