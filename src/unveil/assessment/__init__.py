"""One assessment: risk, utility, their map, and what is drawn from them."""

from unveil.assessment.comparison import compare
from unveil.assessment.figure import Figure
from unveil.assessment.policy import Policy, read_policy
from unveil.assessment.result import Assessment
from unveil.assessment.risk_utility_map import Point, RiskUtilityMap
from unveil.assessment.run import assess
from unveil.assessment.scenario import INTRUDERS, MEASURES, Scenario, read_scenario

__all__ = [
    "INTRUDERS",
    "MEASURES",
    "Assessment",
    "Figure",
    "Point",
    "Policy",
    "RiskUtilityMap",
    "Scenario",
    "assess",
    "compare",
    "read_policy",
    "read_scenario",
]
