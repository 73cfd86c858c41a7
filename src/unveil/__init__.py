"""How much a synthetic or anonymised file gives away about the real people behind it.

Examples
--------
>>> import unveil
>>> original = unveil.simulate.demo_population(200, seed=1)
>>> pair = unveil.Pair(original, original.slice(0, 100))
>>> unveil.identity(pair, ["sex", "age"]).keys
('sex', 'age')
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilError, UnveilWarning
from unveil.version import __version__ as __version__

if TYPE_CHECKING:
    from unveil import simulate
    from unveil.assessment import Assessment, RiskUtilityMap, SizeSweep, assess, compare, size_sweep
    from unveil.columns import Pair
    from unveil.conformance import Conformance, conformance
    from unveil.files import Schema, Variable, read, read_schema
    from unveil.inference import Rapid, rapid, rapid_synthesizer_cv
    from unveil.intruders import (
        ExactMembership,
        PartialKnowledge,
        PrivacyLoss,
        exact_membership,
        partial_knowledge,
        privacy_loss,
    )
    from unveil.membership import (
        Linkage,
        MatchRisk,
        Membership,
        linkage,
        match_risk,
        membership,
        membership_synthesizer,
    )
    from unveil.posterior import PosteriorRisk, posterior
    from unveil.report import assessment_schema
    from unveil.synthesis import CartSynthesizer, CommandSynthesizer, sdc, synthesize, synthesizers
    from unveil.tables import anonymity, attribute, identity, key_sets, plausibility, population_risk, structure
    from unveil.tuning import Tuning, tune
    from unveil.utility import Utility, utility

__all__ = [
    "Assessment",
    "CallError",
    "CartSynthesizer",
    "CommandSynthesizer",
    "Conformance",
    "DataError",
    "ExactMembership",
    "FileError",
    "Linkage",
    "MatchRisk",
    "Membership",
    "MissingPackageError",
    "Pair",
    "PartialKnowledge",
    "PosteriorRisk",
    "PrivacyLoss",
    "Rapid",
    "RiskUtilityMap",
    "Schema",
    "SizeSweep",
    "Tuning",
    "UnveilError",
    "UnveilWarning",
    "Utility",
    "Variable",
    "anonymity",
    "assess",
    "assessment_schema",
    "attribute",
    "compare",
    "conformance",
    "exact_membership",
    "identity",
    "key_sets",
    "linkage",
    "match_risk",
    "membership",
    "membership_synthesizer",
    "partial_knowledge",
    "plausibility",
    "population_risk",
    "posterior",
    "privacy_loss",
    "rapid",
    "rapid_synthesizer_cv",
    "read",
    "read_schema",
    "sdc",
    "simulate",
    "size_sweep",
    "structure",
    "synthesize",
    "synthesizers",
    "tune",
    "utility",
]

# Loaded when first used: some modules bring large libraries, which the table measures do without. Without all of them
# the command line can say in one line that there is no memory to load them.
_MODULE_OF = {
    **dict.fromkeys(("Assessment", "RiskUtilityMap", "SizeSweep", "assess", "compare", "size_sweep"), "assessment"),
    "Pair": "columns",
    **dict.fromkeys(("Conformance", "conformance"), "conformance"),
    **dict.fromkeys(("Schema", "Variable", "read", "read_schema"), "files"),
    **dict.fromkeys(("Rapid", "rapid", "rapid_synthesizer_cv"), "inference"),
    **dict.fromkeys(
        ("ExactMembership", "PartialKnowledge", "PrivacyLoss", "exact_membership", "partial_knowledge", "privacy_loss"),
        "intruders",
    ),
    **dict.fromkeys(
        ("Linkage", "MatchRisk", "Membership", "linkage", "match_risk", "membership", "membership_synthesizer"),
        "membership",
    ),
    **dict.fromkeys(("PosteriorRisk", "posterior"), "posterior"),
    "assessment_schema": "report",
    **dict.fromkeys(("CartSynthesizer", "CommandSynthesizer", "synthesize", "synthesizers"), "synthesis"),
    **dict.fromkeys(
        ("anonymity", "attribute", "identity", "key_sets", "plausibility", "population_risk", "structure"), "tables"
    ),
    **dict.fromkeys(("Tuning", "tune"), "tuning"),
    **dict.fromkeys(("Utility", "utility"), "utility"),
}
_MODULES = {name: name for name in (*_MODULE_OF.values(), "models", "report", "show", "simulate", "trees")}
_MODULES["sdc"] = "synthesis.sdc"


class _Package(ModuleType):
    """The package, in which ``unveil.posterior`` is the function, also after ``import unveil.posterior``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in __all__ and isinstance(value, ModuleType) and hasattr(value, name):
            # The import system sets a module here. The function takes its place, with the names that it gives away.
            function = getattr(value, name)
            vars(function).update({given: getattr(value, given) for given in value.__all__})
            value = function
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    loaded = {name for name, value in globals().items() if getattr(value, "__name__", "").startswith("unveil.")}
    return sorted({*__all__, *_MODULES, *loaded, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"unveil.{_MODULE_OF[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"unveil.{_MODULES[name]}")
    raise AttributeError(f"module 'unveil' has no attribute {name!r}")
