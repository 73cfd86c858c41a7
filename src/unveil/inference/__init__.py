"""Inference: what models trained on a release give away about the target of real persons (RAPID)."""

from unveil.inference.attribution import Attribution
from unveil.inference.cross_validation import RapidCV, rapid_synthesizer_cv
from unveil.inference.curves import RapidCurve
from unveil.inference.rapid import rapid
from unveil.inference.rapids import Rapids
from unveil.inference.result import Rapid
from unveil.inference.scores import categorical_score, normalised_gain, prediction_error, true_class_probability
from unveil.stats import clopper_pearson, wilson

__all__ = [
    "Attribution",
    "Rapid",
    "RapidCV",
    "RapidCurve",
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
