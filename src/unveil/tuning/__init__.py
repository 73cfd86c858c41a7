"""Settings that are sought: the most useful ones for which a policy holds."""

from unveil.tuning.result import InTheWay, Tried, Tuning
from unveil.tuning.rules import HeldRule
from unveil.tuning.setting import Setting
from unveil.tuning.tune import tune

__all__ = ["HeldRule", "InTheWay", "Setting", "Tried", "Tuning", "tune"]
