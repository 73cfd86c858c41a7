"""Methods that model one variable given earlier ones, other than CART.

Methods for a whole file are in :mod:`unveil.synthesis.methods.whole_file`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unveil.synthesis.protocol import VariableMethod

if TYPE_CHECKING:
    from unveil.synthesis.methods.ctree import Ctree
    from unveil.synthesis.methods.forest import RandomForest
    from unveil.synthesis.methods.logistic import Logreg, Polyreg
    from unveil.synthesis.methods.norm import Norm, Normrank
    from unveil.synthesis.methods.pmm import Pmm
    from unveil.synthesis.methods.sample import Sample

__all__ = ["METHODS", "Ctree", "Logreg", "Norm", "Normrank", "Pmm", "Polyreg", "RandomForest", "Sample", "name_of"]

# Loaded when first asked for: some bring models and SciPy, which CART does without.
_CLASSES = {
    "sample": ("sample", "Sample"),
    "ctree": ("ctree", "Ctree"),
    "norm": ("norm", "Norm"),
    "normrank": ("norm", "Normrank"),
    "pmm": ("pmm", "Pmm"),
    "logreg": ("logistic", "Logreg"),
    "polyreg": ("logistic", "Polyreg"),
    "rf": ("forest", "RandomForest"),
}
"""File and class of each method, by its name."""
_FILE_OF = {made: file for file, made in _CLASSES.values()}


class _Methods(Mapping[str, Callable[..., VariableMethod]]):
    def __getitem__(self, name: str) -> Callable[..., VariableMethod]:
        method: Callable[..., VariableMethod] = __getattr__(_CLASSES[name][1])
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


METHODS: Mapping[str, Callable[..., VariableMethod]] = _Methods()
"""Methods by name; each takes its settings."""


def name_of(method: object) -> str | None:
    """Name of a method of this package, or None.

    Examples
    --------
    >>> name_of(METHODS["pmm"](n_donors=3)), name_of(3)
    ('pmm', None)
    """
    called = type(method).__module__, type(method).__name__
    return next((name for name, (file, made) in _CLASSES.items() if called == (_path(file), made)), None)


def _path(file: str) -> str:
    return f"{__name__}.{file}"


def __getattr__(name: str) -> Any:
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_path(_FILE_OF[name])), name)
