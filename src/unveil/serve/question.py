"""What is asked of the files: the options of an assessment as fields of a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from unveil.assessment.scenario import INTRUDERS, MEASURES, Options
from unveil.docstrings import parameter_texts
from unveil.errors import CallError
from unveil.serve.columns import typed_number
from unveil.serve.forms import Form

NUMBERS = ("budget", "minimum_count", "seed", "permutations", "precision", "level", "tau", "epsilon")
"""Options that are numbers, those that are changed most often first."""
LISTS: dict[str, tuple[str, ...]] = {"measures": MEASURES, "intruders": INTRUDERS}
"""Options that leave something out of all that there is."""
FOLDED = (*NUMBERS[2:], *LISTS, "attacker", "models")
"""Options that the page shows when they are asked for."""
TEXTS = {name: text.replace("``", "") for name, text in parameter_texts(Options).items()}
DEFAULTS: dict[str, Any] = {option.name: option.default for option in fields(Options)}
ROLES = ("key", "target")


@dataclass(frozen=True)
class Problem:
    """What is wrong with a form, and the field that it is shown beside; an empty name stands for the whole form."""

    field: str
    text: str


def options_of(form: Form, names: Iterable[str]) -> tuple[dict[str, Any], list[Problem]]:
    """The options that a form states, but for those that it leaves as they are by default, and what is wrong with it.

    Parameters
    ----------
    form
        The form: ``role.N`` and ``groups.N`` for the column at position N, and options by their names.
    names
        The columns, in the order in which the form lists them.
    """
    problems: list[Problem] = []

    def number(field: str, text: str, about: str) -> Any:
        try:
            return typed_number(text)
        except CallError as error:
            problems.append(Problem(field, f"{about}: {error}"))
            return None

    roles = {name: form.text(f"role.{position}") for position, name in enumerate(names)}
    chosen = {role: [name for name, has in roles.items() if has == role] for role in ROLES}
    groups = {
        name: number(f"groups.{position}", text, f"groups of {name}")
        for position, name in enumerate(roles)
        if (text := form.text(f"groups.{position}"))
    }
    found: dict[str, Any] = {"keys": chosen["key"], "targets": chosen["target"]}
    for option, role in (("ngroups_keys", "key"), ("ngroups_target", "target")):
        found[option] = {name: n for name, n in groups.items() if roles[name] == role}
    found |= {name: number(name, form.text(name), name) for name in NUMBERS if form.text(name)}
    found |= {name: kept for name, known in LISTS.items() if (kept := form.all(name)) != list(known)}
    found["attacker"] = form.text("attacker") or DEFAULTS["attacker"]
    found["models"] = form.text("models").splitlines()
    problems += _missing(found, form)
    unsaid: tuple[Any, ...] = (None, [], {})
    return {name: value for name, value in found.items() if value not in (*unsaid, DEFAULTS[name])}, problems


def _missing(found: Mapping[str, Any], form: Form) -> list[Problem]:
    problems = []
    if not found["keys"]:
        problems.append(Problem("roles", "no keys given: choose what an intruder knows about a person"))
    if not found["targets"]:
        problems.append(Problem("roles", "no target given: choose what an intruder wants to know"))
    problems += [Problem(name, f"choose at least one of the {name}") for name in LISTS if not form.all(name)]
    return problems


def beside(message: str, names: Iterable[str], rest: str = "") -> Problem:
    """An error of an option, beside the field of the option that it names.

    Examples
    --------
    >>> beside("budget must be a number above 0, not -1", ["seed", "budget"]).field
    'budget'
    """
    begins = [name for name in names if message.startswith((name, name.replace("_", " ")))]
    return Problem(max(begins, key=len, default=rest), message)
