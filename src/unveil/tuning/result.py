"""The result of a search for settings: what it holds, and how it is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unveil.files.source import Flavour
from unveil.plain import Plain, without_nan
from unveil.result import Result, columns_of
from unveil.synthesis import CartSynthesizer
from unveil.tuning.rules import HeldRule
from unveil.tuning.setting import Setting


@dataclass(frozen=True)
class Tried(Plain):
    """A setting with its figures over some sets of releases.

    Attributes
    ----------
    setting
        How the releases were made.
    stage
        "search", "final" for finalists, "check" for fresh releases that took no part in the choice.
    sets
        Number of sets of releases.
    rules
        The rules of the policy: means of figures over the sets, ends of intervals in the worst set.
    limit_used
        Largest share of a limit that is used: at most 1 if every rule holds in every set; infinite where a figure was
        not measured.
    utility, utility_low, utility_high
        Mean distance from the original over the sets, and its interval; nan where it is not defined.
    frontier
        Whether no other setting uses less of the limits and is more useful at once.
    """

    setting: Setting
    stage: str
    sets: int
    rules: tuple[HeldRule, ...]
    limit_used: float
    utility: float
    utility_low: float
    utility_high: float
    frontier: bool = False

    @property
    def holds(self) -> bool:
        """Whether every rule holds in every set."""
        return self.limit_used <= 1


@dataclass(frozen=True)
class InTheWay(Plain):
    """A rule that keeps settings from satisfying the policy.

    Attributes
    ----------
    rule
        The rule, with the figures of the setting that comes nearest to meeting it.
    setting
        That setting.
    n_within
        Number of settings that were tried and meet this rule.
    """

    rule: HeldRule
    setting: Setting
    n_within: int


@dataclass(frozen=True, repr=False)
class Tuning(Result):
    """The most useful setting for which a policy holds, and all that was tried; made by :func:`unveil.tune`.

    Attributes
    ----------
    keys, targets
        What the intruder knows and wants.
    utility
        The distance that is made small.
    policy, policy_text
        Name and text of the policy.
    space
        The values that were offered, by setting.
    n_possible
        Number of their combinations.
    tried
        The settings that were tried, the most useful of those that keep the policy first.
    winner
        The most useful setting that keeps the policy, with the figures of fresh releases; None if there is none.
    not_confirmed
        Settings that were chosen before, and whose fresh releases did not keep the policy.
    in_the_way
        Rules that keep settings from satisfying the policy, where there is no winner.
    n_sets, n_releases
        Number of sets of releases that were drawn and measured, and of releases in them.
    complete
        Whether the search ended by itself: neither the time nor a user ended it before.
    interrupted
        Whether a user ended it.
    n_original, minimum_count
        Records of the original; smallest number of persons that a document for publication tells of.
    warnings
        What deserves a look.
    """

    _words = "words.tuning.tuning"
    _drawing = "plots.tuning.plot_tuning"

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    utility: str
    policy: str
    policy_text: str
    space: Mapping[str, tuple[Any, ...]]
    n_possible: int
    tried: tuple[Tried, ...]
    winner: Tried | None
    not_confirmed: tuple[Setting, ...]
    in_the_way: tuple[InTheWay, ...]
    n_sets: int
    n_releases: int
    complete: bool
    interrupted: bool
    n_original: int
    minimum_count: int
    warnings: tuple[str, ...] = ()
    flavour: Flavour = "arrow"
    _shared: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def frontier(self) -> tuple[Tried, ...]:
        """The settings that no other one betters in both."""
        return tuple(one for one in self.tried if one.frontier)

    def synthesizer(self) -> CartSynthesizer:
        """The winner's synthesizer, not yet fitted; merged levels, ``k`` and ``m`` are up to the caller.

        Raises
        ------
        CallError
            If there is no winner.
        """
        from unveil.errors import CallError

        if self.winner is None:
            raise CallError("no setting that was tried satisfies the policy; there is no synthesizer to give")
        return self.winner.setting.synthesizer(**self._shared)

    def document(self, *, release_safe: bool = True) -> dict[str, Any]:
        """The result as plain values.

        Parameters
        ----------
        release_safe
            Whether they are for publication: figures are rounded, and texts that may name values are left out.
        """
        from unveil.tuning.published import published

        whole = self.to_dict()
        return published(whole, self.warnings) if release_safe else whole

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, with its figures as they are; what is not defined is None."""
        content: dict[str, Any] = super().to_dict()
        document: dict[str, Any] = without_nan(
            {
                "schema": "unveil.tuning", "schema_version": "1.0", "release_safe": False,
                **{name: content[name] for name in ("keys", "targets", "utility")},
                "policy": {"label": self.policy, "text": self.policy_text},
                **{name: content[name] for name in ("space", "n_possible")},
                "tried": [_row(one) for one in self.tried],
                "winner": None if self.winner is None else _row(self.winner),
                **{name: content[name] for name in ("not_confirmed", "n_sets", "n_releases", "complete",
                                                    "interrupted", "n_original",
                                                    "minimum_count", "warnings")},
                "in_the_way": [
                    {"setting": one.setting.to_dict(), "n_within": one.n_within} | one.rule.to_dict()
                    for one in self.in_the_way
                ],
            }
        )  # fmt: skip
        return document

    def _columns(self) -> dict[str, Any]:
        """A row per setting, and one of the winner's fresh figures: settings, utility, and the rules."""
        return columns_of_document(self.to_dict())


def _row(one: Tried) -> dict[str, Any]:
    return one.to_dict() | {"setting": one.setting.to_dict(), "holds": one.holds}


def columns_of_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a document, of the whole one or of that for publication."""
    rows = [*document["tried"], *([document["winner"]] if document["winner"] else [])]
    flat = []
    for row in rows:
        figures = {name: value for name, value in row.items() if name not in ("setting", "rules")}
        for one in row["rules"]:
            name = " ".join(filter(None, [f"rule {one['rule']}:", one["measure"], one["target"]]))
            figures |= {name: one["value"], f"{name} end": one["end"]}
        flat.append({**row["setting"], **figures})
    columns = columns_of(flat)
    return {name: [math.nan if v is None and _is_number(values) else v for v in values]
            for name, values in columns.items()}  # fmt: skip


def _is_number(values: list[Any]) -> bool:
    return any(isinstance(value, float) for value in values)
