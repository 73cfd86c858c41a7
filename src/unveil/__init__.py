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
from unveil.microdata import Pair, Schema, Variable, read, read_schema
from unveil.tables import attribute, identity, key_sets, structure

if TYPE_CHECKING:
    from unveil import simulate
    from unveil.conformance import Conformance, conformance
    from unveil.inference import Rapid, rapid, rapid_synthesizer_cv
    from unveil.posterior import PosteriorRisk, posterior
    from unveil.synthesis import CartSynthesizer, sdc, synthesize

__version__ = "0.1.0"

__all__ = [
    "CallError",
    "CartSynthesizer",
    "Conformance",
    "DataError",
    "FileError",
    "MissingPackageError",
    "Pair",
    "PosteriorRisk",
    "Rapid",
    "Schema",
    "UnveilError",
    "UnveilWarning",
    "Variable",
    "attribute",
    "conformance",
    "identity",
    "key_sets",
    "posterior",
    "rapid",
    "rapid_synthesizer_cv",
    "read",
    "read_schema",
    "sdc",
    "simulate",
    "structure",
    "synthesize",
]

# Loaded when first asked for: they bring a compiler, which the table measures do without.
_LATE = {
    **dict.fromkeys(("Conformance", "conformance"), "unveil.conformance"),
    **dict.fromkeys(("Rapid", "rapid", "rapid_synthesizer_cv"), "unveil.inference"),
    **dict.fromkeys(("PosteriorRisk", "posterior"), "unveil.posterior"),
    **dict.fromkeys(("CartSynthesizer", "sdc", "synthesize"), "unveil.synthesis"),
}


def __getattr__(name: str) -> Any:
    if name == "simulate":
        return importlib.import_module("unveil.simulate")
    if name not in _LATE:
        raise AttributeError(f"module 'unveil' has no attribute {name!r}")
    room = importlib.import_module(_LATE[name])
    # A room that is named like its function stands for it, from the first use on as later.
    return room if room.__name__ == f"unveil.{name}" else getattr(room, name)
