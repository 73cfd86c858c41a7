"""How much a synthetic or anonymised file gives away about the real people behind it.

Examples
--------
>>> import unveil
>>> original = unveil.simulate.demo_population(200, seed=1)
>>> pair = unveil.Pair(original, original.slice(0, 100))
>>> unveil.identity(pair, ["sex", "age"]).keys
('sex', 'age')
"""

from unveil import simulate
from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilError, UnveilWarning
from unveil.microdata import Pair, Variable, read
from unveil.tables import attribute, identity, key_sets, structure

__version__ = "0.1.0"

__all__ = [
    "CallError",
    "DataError",
    "FileError",
    "MissingPackageError",
    "Pair",
    "UnveilError",
    "UnveilWarning",
    "Variable",
    "attribute",
    "identity",
    "key_sets",
    "read",
    "simulate",
    "structure",
]
