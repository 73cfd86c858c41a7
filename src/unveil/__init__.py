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
    from unveil._conformance import Conformance, conformance
    from unveil._membership import Membership, membership, membership_synthesizer
    from unveil._posterior import PosteriorRisk, posterior
    from unveil._rapid import Rapid, rapid, rapid_synthesizer_cv
    from unveil._tables import attribute, identity, key_sets, structure
    from unveil._utility import Utility, utility
    from unveil.assessment import Assessment, RiskUtilityMap, assess, compare
    from unveil.columns import Pair
    from unveil.files import Schema, Variable, read, read_schema
    from unveil.synthesis import CartSynthesizer, sdc, synthesize

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
    **dict.fromkeys(("Conformance", "conformance"), "unveil._conformance"),
    **dict.fromkeys(("Rapid", "rapid", "rapid_synthesizer_cv"), "unveil._rapid"),
    **dict.fromkeys(("Membership", "membership", "membership_synthesizer"), "unveil._membership"),
    "Pair": "unveil.columns",
    **dict.fromkeys(("Schema", "Variable", "read", "read_schema"), "unveil.files"),
    **dict.fromkeys(("PosteriorRisk", "posterior"), "unveil._posterior"),
    **dict.fromkeys(("CartSynthesizer", "synthesize"), "unveil.synthesis"),
    **dict.fromkeys(("attribute", "identity", "key_sets", "structure"), "unveil._tables"),
    **dict.fromkeys(("Utility", "utility"), "unveil._utility"),
}
# Modules that nothing above has loaded by itself.
_ROOMS = {
    name: f"unveil.{name}"
    for name in ("assessment", "columns", "files", "models", "show", "simulate", "synthesis", "trees")
}
_ROOMS["sdc"] = "unveil.synthesis.sdc"
# Public paths of rooms that stand elsewhere, because a room and a function cannot both be ``unveil.posterior``.
_PATHS = {
    "conformance": "_conformance",
    "inference": "_rapid",
    "membership": "_membership",
    "posterior": "_posterior",
    "report": "show.report",
    "tables": "_tables",
    "utility": "_utility",
}


class _Path(ModuleType):
    """A public path: ``from unveil.posterior import Prior`` loads the room and takes the name from it."""

    def __getattr__(self, name: str) -> Any:
        room = importlib.import_module(f"unveil.{_PATHS[self.__name__.rpartition('.')[2]]}")
        return getattr(room, name)


for _name in _PATHS:
    # Found by the import system before it looks for a file, it never takes the place of the function.
    sys.modules[f"unveil.{_name}"] = _Path(f"unveil.{_name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS, *_PATHS})


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name in _PATHS:
        return sys.modules[f"unveil.{name}"]
    raise AttributeError(f"module 'unveil' has no attribute {name!r}")
