"""Methods that model one variable given earlier ones, other than CART.

Methods for a whole file are in :mod:`unveil.synthesis.methods.whole_file`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from unveil.synthesis.methods.ctree import Ctree
from unveil.synthesis.methods.forest import RandomForest
from unveil.synthesis.methods.logistic import Logreg, Polyreg
from unveil.synthesis.methods.norm import Norm, Normrank
from unveil.synthesis.methods.pmm import Pmm
from unveil.synthesis.methods.sample import Sample
from unveil.synthesis.protocol import VariableMethod

__all__ = ["METHODS", "Ctree", "Logreg", "Norm", "Normrank", "Pmm", "Polyreg", "RandomForest", "Sample"]

METHODS: MappingProxyType[str, Callable[..., VariableMethod]] = MappingProxyType(
    {
        "sample": Sample,
        "ctree": Ctree,
        "norm": Norm,
        "normrank": Normrank,
        "pmm": Pmm,
        "logreg": Logreg,
        "polyreg": Polyreg,
        "rf": RandomForest,
    }
)
"""Methods by name; each takes its settings."""
