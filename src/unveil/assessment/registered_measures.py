"""Which measures other packages have registered."""

from __future__ import annotations

from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.registered import MEASURES, Registered, only_one, registered


def registered_measure(name: str) -> Registered:
    """The measure with a name; it is not imported.

    Raises
    ------
    CallError
        If there is none, or several packages have registered the name.
    """
    known = registered(MEASURES)
    one = only_one(name, known)
    if one is None:
        names = [other.name for other in known]
        listed = f"; registered are {', '.join(names)}" if names else "; no package has registered any"
        raise CallError(f"other_measures: there is no measure {name!r}{near_matches(name, names)}{listed}")
    return one
