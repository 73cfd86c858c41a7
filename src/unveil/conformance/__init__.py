"""Conformance: any measure of disclosure risk, run through worlds of which it is known what an intruder learns.

The room is named like its function, and can be called like it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from unveil.conformance.desiderata import DESIDERATA, PUBLISHED
from unveil.conformance.measures import BUILT_IN, Measure
from unveil.conformance.result import Conformance, Evidence
from unveil.conformance.run import conformance
from unveil.conformance.trials import TRIALS
from unveil.conformance.world import REQUIREMENTS, Trial, World

__all__ = [
    "BUILT_IN",
    "DESIDERATA",
    "PUBLISHED",
    "REQUIREMENTS",
    "TRIALS",
    "Conformance",
    "Evidence",
    "Measure",
    "Trial",
    "World",
    "conformance",
]


class _Room(ModuleType):
    """``unveil.conformance`` is this module as soon as anything of it is imported, whatever the package says."""

    def __call__(self, *args: Any, **kwargs: Any) -> Conformance:
        return conformance(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
