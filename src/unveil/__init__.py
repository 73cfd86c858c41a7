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
from typing import TYPE_CHECKING, Any

from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilError, UnveilWarning

if TYPE_CHECKING:
    from unveil import simulate
    from unveil.assessment import Assessment, RiskUtilityMap, assess, compare
    from unveil.conformance import Conformance, conformance
    from unveil.inference import Rapid, rapid, rapid_synthesizer_cv
    from unveil.membership import Membership, membership, membership_synthesizer
    from unveil.microdata import Pair, Schema, Variable, read, read_schema
    from unveil.posterior import PosteriorRisk, posterior
    from unveil.synthesis import CartSynthesizer, sdc, synthesize
    from unveil.tables import attribute, identity, key_sets, structure
    from unveil.utility import Utility, utility

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "CallError",
    "CartSynthesizer",
    "Conformance",
    "DataError",
    "FileError",
    "Membership",
    "MissingPackageError",
    "Pair",
    "PosteriorRisk",
    "Rapid",
    "RiskUtilityMap",
    "Schema",
    "UnveilError",
    "UnveilWarning",
    "Utility",
    "Variable",
    "assess",
    "attribute",
    "compare",
    "conformance",
    "identity",
    "key_sets",
    "membership",
    "membership_synthesizer",
    "posterior",
    "rapid",
    "rapid_synthesizer_cv",
    "read",
    "read_schema",
    "sdc",
    "simulate",
    "structure",
    "synthesize",
    "utility",
]

# Loaded when first asked for: some bring a compiler, which the table measures do without, and without all of them the
# command line can say in one line that there is no memory to load them.
_LATE = {
    **dict.fromkeys(("Assessment", "RiskUtilityMap", "assess", "compare"), "unveil.assessment"),
    **dict.fromkeys(("Conformance", "conformance"), "unveil.conformance"),
    **dict.fromkeys(("Rapid", "rapid", "rapid_synthesizer_cv"), "unveil.inference"),
    **dict.fromkeys(("Membership", "membership", "membership_synthesizer"), "unveil.membership"),
    **dict.fromkeys(("Pair", "Schema", "Variable", "read", "read_schema"), "unveil.microdata"),
    **dict.fromkeys(("PosteriorRisk", "posterior"), "unveil.posterior"),
    **dict.fromkeys(("CartSynthesizer", "synthesize"), "unveil.synthesis"),
    **dict.fromkeys(("attribute", "identity", "key_sets", "structure"), "unveil.tables"),
    **dict.fromkeys(("Utility", "utility"), "unveil.utility"),
}
# Modules that nothing above has loaded by itself.
_ROOMS = {
    name: f"unveil.{name}"
    for name in ("assessment", "inference", "microdata", "report", "simulate", "synthesis", "tables", "trees")
}
_ROOMS["sdc"] = "unveil.synthesis.sdc"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name not in _LATE:
        raise AttributeError(f"module 'unveil' has no attribute {name!r}")
    room = importlib.import_module(_LATE[name])
    # A room that is named like its function stands for it, from the first use on as later.
    return room if room.__name__ == f"unveil.{name}" else getattr(room, name)
