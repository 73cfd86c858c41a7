"""Synthesizers by name: those of this package, those of others that it can call, and those that packages register."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, ClassVar

from unveil.errors import CallError, MissingPackageError, UnveilError
from unveil.files.made_frames import installed_flavour
from unveil.files.nearest import near_matches
from unveil.files.source import Flavour
from unveil.registered import SYNTHESIZERS, Registered, only_one, registered
from unveil.result import Result
from unveil.synthesis.methods import METHODS
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.sequence import CartSynthesizer


@dataclass(frozen=True)
class Adapter:
    """A synthesizer of another package that this one can call where that package is installed.

    Parameters
    ----------
    place
        File in ``synthesis/adapters``, and class.
    module, package
        What is imported, and what is installed for it.
    licence
        The licence of that package.
    """

    place: tuple[str, str]
    module: str
    package: str
    licence: str

    @property
    def is_installed(self) -> bool:
        """Whether its package is there; it is not imported."""
        return find_spec(self.module) is not None

    def load(self, name: str) -> Any:
        """Return the class.

        Raises
        ------
        MissingPackageError
            If its package is not installed.
        """
        if not self.is_installed:
            raise MissingPackageError(
                f"synthesizer {name!r} needs the package {self.package} (licence {self.licence}): pip install "
                f"{self.package}"
            )
        file, made = self.place
        return getattr(import_module(f"unveil.synthesis.adapters.{file}"), made)


ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        "arf": Adapter(("arf", "AdversarialForest"), "arfpy", "arfpy", "MIT"),
        "py_synthpop": Adapter(("py_synthpop", "PySynthpop"), "synthpop", "py-synthpop", "MIT"),
        "sdv_copula": Adapter(("sdv", "GaussianCopula"), "sdv", "sdv", "BUSL-1.1"),
        "sdv_ctgan": Adapter(("sdv", "Ctgan"), "sdv", "sdv", "BUSL-1.1"),
        "sdv_tvae": Adapter(("sdv", "Tvae"), "sdv", "sdv", "BUSL-1.1"),
    }
)
"""Synthesizers of other packages by name."""
OWN = ("cart", *METHODS, *WHOLE_FILE)
"""Synthesizers of this package by name; all but those for the whole file model every variable in turn."""
READY = "ready"


def is_of_others(name: str) -> bool:
    """Whether a name is of no synthesizer of this package, and of one of others."""
    return name not in OWN and (name in ADAPTERS or only_one(name, registered(SYNTHESIZERS)) is not None)


def check_name(name: str, option: str) -> None:
    """Raise CallError unless there is a synthesizer of the name."""
    if name not in OWN and not is_of_others(name):
        known = (*OWN, *ADAPTERS, *(one.name for one in registered(SYNTHESIZERS)))
        raise CallError(f"{option}: there is no {name!r}{near_matches(name, known)}; choose from {', '.join(known)}")


def synthesizer_by_name(name: str, **settings: Any) -> Any:
    """Make a synthesizer, not yet fitted.

    Parameters
    ----------
    name
        One of those that :func:`synthesizers` lists.
    **settings
        Its settings.

    Raises
    ------
    CallError
        If there is no such name, or it lacks a setting.
    MissingPackageError
        If its package is not installed or cannot be loaded.

    Examples
    --------
    >>> synthesizer_by_name("cart", minbucket=20).cart.minbucket
    20
    """
    check_name(name, "synthesizer")
    if name in WHOLE_FILE:
        maker: Any = WHOLE_FILE[name]
    elif name in OWN:
        maker, settings = CartSynthesizer, settings | ({} if name == "cart" else {"methods": name})
    elif name in ADAPTERS:
        maker = ADAPTERS[name].load(name)
    else:
        found = only_one(name, registered(SYNTHESIZERS))
        assert found is not None
        maker = found.load()
    if not inspect.isclass(maker):
        if settings:
            raise CallError(
                f"synthesizer {name!r} is not a class and takes no settings: leave out {', '.join(settings)}"
            )
        return maker
    try:
        return maker(**settings)
    except TypeError as error:
        raise CallError(f"synthesizer {name!r}: {str(error).rpartition('__init__() ')[2]}") from None


@dataclass(frozen=True, repr=False)
class Synthesizers(Result):
    """The synthesizers that can be named.

    Attributes
    ----------
    names
        Their names.
    packages
        Where each comes from: package and version.
    states
        "ready", or why it cannot be used.
    warnings
        What is wrong with packages that cannot be loaded, one line each.
    """

    names: tuple[str, ...]
    packages: tuple[str, ...]
    states: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    flavour: Flavour = "arrow"

    _words: ClassVar[str] = "words.synthesizers.synthesizers_text"

    def _columns(self) -> dict[str, Any]:
        return {"name": list(self.names), "package": list(self.packages), "state": list(self.states)}

    def plot(self, ax: Any = None) -> Any:
        """Refuse: there is nothing to draw."""
        raise CallError("synthesizers: the list has no plot; print it, or take to_frame()")


def synthesizers() -> Synthesizers:
    """List the synthesizers that can be named, where each comes from, and whether it can be used.

    Packages register their own in ``pyproject.toml``, as entry points of the group ``unveil.synthesizers``. Each of
    these is imported, so that what is broken is seen here.

    Returns
    -------
    Synthesizers
        A table; ``to_frame()`` gives it as a frame.

    Examples
    --------
    >>> found = synthesizers()
    >>> found.names[0], found.packages[0], found.states[0]
    ('cart', 'unveil', 'ready')
    """
    rows = [(name, "unveil", READY) for name in OWN]
    for name, adapter in ADAPTERS.items():
        state = READY if adapter.is_installed else f"not installed (licence {adapter.licence})"
        rows.append((name, adapter.package, state))
    found, said = registered(SYNTHESIZERS), []
    for one in found:
        state, reason = _state(one, found)
        rows.append((one.name, one.package, state))
        said += [reason] if reason else []
    names, packages, states = zip(*rows, strict=True)
    return Synthesizers(names, packages, states, tuple(said), installed_flavour())


def _state(one: Registered, found: tuple[Registered, ...]) -> tuple[str, str]:
    """Whether it can be used, and what is wrong with it."""
    if one.name in OWN or one.name in ADAPTERS:
        return "not used", f"{one.package} registers {one.name!r}, which is a name of unveil; it is not used"
    try:
        only_one(one.name, found)
        one.load()
    except UnveilError as error:
        return "cannot be used", str(error)
    return READY, ""
