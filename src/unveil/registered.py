"""What other packages register for this one, as entry points in their ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from unveil.errors import CallError, MissingPackageError

SYNTHESIZERS, ATTACKERS, MEASURES = "unveil.synthesizers", "unveil.attackers", "unveil.measures"
"""Groups of entry points."""


@dataclass(frozen=True)
class Registered:
    """An object that a package has registered by a name; it is imported when it is asked for.

    Parameters
    ----------
    what
        "synthesizer", "attacker" or "measure".
    name
        Its name.
    package
        Name and version of the package.
    entry
        Where it is.
    """

    what: str
    name: str
    package: str
    entry: EntryPoint

    def load(self) -> Any:
        """Import it.

        Raises
        ------
        MissingPackageError
            If that fails, whatever the reason: the package, not this one, is broken.
        """
        try:
            return self.entry.load()
        except Exception as error:
            raise MissingPackageError(
                f"{self.what} {self.name!r} of the package {self.package} cannot be loaded "
                f"({type(error).__name__}: {error!s:.200}); repair or remove that package"
            ) from error


def registered(group: str) -> tuple[Registered, ...]:
    """What is registered in a group of entry points, by name; the same name can be there several times."""
    what = group.rpartition(".")[2].removesuffix("s")
    found = [
        Registered(what, entry.name, f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?", entry)
        for entry in entry_points(group=group)
    ]
    return tuple(sorted(found, key=lambda one: (one.name, one.package)))


def only_one(name: str, found: Sequence[Registered]) -> Registered | None:
    """The object with the name; None if there is none.

    Raises
    ------
    CallError
        If several packages have registered the name.
    """
    same = [one for one in found if one.name == name]
    if len(same) > 1:
        raise CallError(
            f"{same[0].what} {name!r} is registered by several packages: {', '.join(one.package for one in same)}; "
            "uninstall all but one"
        )
    return same[0] if same else None
