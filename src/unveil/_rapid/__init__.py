"""Inference: what models trained on a release give away about the target of real persons (RAPID)."""

from unveil._rapid.attribution import Attribution
from unveil._rapid.cross_validation import RapidCV, rapid_synthesizer_cv
from unveil._rapid.curves import RapidCurve
from unveil._rapid.joint import JointRapid
from unveil._rapid.power import RapidPower
from unveil._rapid.rapid import rapid
from unveil._rapid.rapids import Rapids
from unveil._rapid.result import Rapid
from unveil._rapid.scores import categorical_score, normalised_gain, prediction_error, true_class_probability
from unveil.stats import clopper_pearson, wilson

__all__ = [
    "Attribution",
    "JointRapid",
    "Rapid",
    "RapidCV",
    "RapidCurve",
    "RapidPower",
    "Rapids",
    "categorical_score",
    "clopper_pearson",
    "normalised_gain",
    "prediction_error",
    "rapid",
    "rapid_synthesizer_cv",
    "true_class_probability",
    "wilson",
]
