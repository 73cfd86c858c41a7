"""One assessment: risk, utility, their map, and what is drawn from them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unveil.assessment.scenario import INTRUDERS, MEASURES, Scenario, read_scenario

if TYPE_CHECKING:
    from unveil.assessment.comparison import compare
    from unveil.assessment.figure import Figure
    from unveil.assessment.policy import Policy, Threshold, read_policy
    from unveil.assessment.result import Assessment
    from unveil.assessment.risk_utility_map import Point, RiskUtilityMap
    from unveil.assessment.run import assess
    from unveil.assessment.sweep import size_sweep
    from unveil.assessment.sweep_result import SizeSweep
else:
    _LATE = {
        "Assessment": "result", "Figure": "figure", "Point": "risk_utility_map", "Policy": "policy",
        "RiskUtilityMap": "risk_utility_map", "assess": "run", "compare": "comparison", "read_policy": "policy",
        "SizeSweep": "sweep_result", "Threshold": "policy", "size_sweep": "sweep",
    }  # fmt: skip

    def __getattr__(name: str) -> Any:
        """Load a name when it is asked for: the command line needs the options of a scenario alone."""
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)


__all__ = [
    "INTRUDERS",
    "MEASURES",
    "Assessment",
    "Figure",
    "Point",
    "Policy",
    "RiskUtilityMap",
    "Scenario",
    "SizeSweep",
    "Threshold",
    "assess",
    "compare",
    "read_policy",
    "read_scenario",
    "size_sweep",
]
