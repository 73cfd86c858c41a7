"""What is asked of an assessment: who knows what, who wants what, and how long it may take."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from unveil.errors import CallError, FileError
from unveil.microdata import Pair
from unveil.microdata.nearest import near_matches
from unveil.tables.study import as_names

__all__ = ["INTRUDERS", "MEASURES", "Scenario", "read_scenario"]

INTRUDERS = ("release", "release and synthesizer", "all but one record")
"""From weak to strong."""

MEASURES = (
    "identity", "attribute", "structure", "key sets", "utility", "membership", "inference", "posterior", "advice",
)  # fmt: skip
"""The parts of an assessment, in the order in which they are worked out."""

FEWEST_AMOUNTS = 50
"""A numeric target with more distinct values is cut into groups for the key tables, as no two persons share one."""
GROUPS = 20

FILES = ("original", "synthetic", "holdout", "provenance", "policy", "schema")
READING = ("special_codes", "kinds", "missing", "encoding", "delimiter", "decimal")


@dataclass(frozen=True)
class Scenario:
    """What is asked, checked against the files.

    Parameters
    ----------
    keys, targets
        What the intruder knows of a person, and what they want.
    intruders
        Which of :data:`INTRUDERS` are looked at.
    measures
        Which of :data:`MEASURES` are taken.
    ngroups_keys, ngroups_target
        Number of groups of numeric keys and targets in the key tables.
    attacker
        Of RAPID; "auto" takes a random forest where the budget allows it, one tree otherwise.
    tau, epsilon
        Thresholds of RAPID for categorical and continuous targets.
    permutations
        Number of shuffles behind each null of RAPID.
    models
        Models whose estimates are compared, as ``income ~ age + sex``.
    level
        Coverage of intervals, between 0 and 1.
    budget
        Seconds that the assessment should take.
    minimum_count
        Fewest persons of a group that a release-safe report shows.
    seed
        Of all random numbers.
    """

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    intruders: tuple[str, ...] = INTRUDERS
    measures: tuple[str, ...] = MEASURES
    ngroups_keys: Mapping[str, int] | None = None
    ngroups_target: Mapping[str, int] | None = None
    attacker: str = "auto"
    tau: float = 0.3
    epsilon: float = 0.10
    permutations: int = 19
    models: tuple[str, ...] = ()
    level: float = 0.95
    budget: float = 180.0
    minimum_count: int = 10
    seed: int = 0

    @classmethod
    def of(cls, pair: Pair, keys: str | Sequence[str], targets: str | Sequence[str] | None, **options: Any) -> Scenario:
        """Check what is asked against the files.

        Raises
        ------
        CallError
            If a column or an option is unknown or out of its range.
        DataError
            If a release lacks a column.
        """
        keys = as_names(keys, "key")
        pair.require(keys)
        if targets is None:
            targets = tuple(name for name in pair.names if name not in keys)
            if not targets:
                raise CallError("no column is left to be a target: every common column is a key")
        targets = as_names(targets, "target")
        pair.require(targets)
        for name in targets:
            if name in keys:
                raise CallError(f"{name!r} is a key and cannot be a target too")
        given = {name: value for name, value in options.items() if value is not None}
        for name, known in (("intruders", INTRUDERS), ("measures", MEASURES)):
            if name in given:
                given[name] = _chosen(given[name], known, name)
        if "models" in given:
            given["models"] = (given["models"],) if isinstance(given["models"], str) else tuple(given["models"])
        _check_numbers(given)
        given["ngroups_target"] = _groups(pair, targets, given.get("ngroups_target"))
        return cls(keys=keys, targets=targets, **given)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain values."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
            for name, value in plain.items()
        }


def _chosen(given: str | Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise CallError(f"{what}: there is no {name!r}; choose from {', '.join(known)}")
    return tuple(name for name in known if name in names)


def _check_numbers(given: Mapping[str, Any]) -> None:
    for name, least in (("permutations", 0), ("minimum_count", 1), ("seed", 0)):
        value = given.get(name, least)
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise CallError(f"{name} must be a whole number from {least}, not {value!r}")
    for name, low, high in (("level", 0.0, 1.0), ("budget", 0.0, float("inf"))):
        value = given.get(name, 0.5)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            raise CallError(f"{name} must be a number above {low:g} and below {high:g}, not {value!r}")


def _groups(pair: Pair, targets: Sequence[str], given: int | Mapping[str, int] | None) -> dict[str, int]:
    """Groups of numeric targets: as asked for, else 20 where a target has many amounts."""
    asked = given if isinstance(given, Mapping) else {}
    for name in asked:
        if name not in targets:
            raise CallError(f"ngroups_target: {name!r} is not a target{near_matches(name, targets)}")
    groups = {}
    for name in targets:
        column = pair.column(name)
        if name in asked:
            groups[name] = asked[name]
        elif column.kind == "numeric" and len(column.levels) - len(column.special) > FEWEST_AMOUNTS:
            groups[name] = given if isinstance(given, int) else GROUPS
    return groups


def read_scenario(path: str | Path, known: Sequence[str]) -> dict[str, Any]:
    """Read a scenario file: TOML with the names of the options of :func:`unveil.assess`, and of the files.

    Paths are relative to the file's folder.

    Parameters
    ----------
    path
        The file.
    known
        Names of the options that are understood besides those of files and reading.

    Raises
    ------
    FileError
        If the file cannot be read, is no TOML, or holds an unknown name.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise FileError(f"{path}: is not UTF-8 text; a scenario is a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path}: is not TOML ({error})") from None
    names = (*FILES, *READING, *known)
    for name, value in content.items():
        if name not in names:
            raise FileError(f"{path}: unknown option {name!r}{near_matches(name, names)}")
        if name in FILES:
            many = isinstance(value, list)
            if not all(isinstance(one, str) for one in (value if many else [value])):
                raise FileError(f"{path}: {name} takes a file name, or a list of them, not {value!r}")
            content[name] = [path.parent / one for one in value] if many else path.parent / value
    return content
