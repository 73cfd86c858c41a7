"""The result of exact membership: what it holds, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.files.source import Flavour
from unveil.result import Result
from unveil.stats.roc import FPRS, RocFigures

Game = Literal["swap", "in_out"]

CHANCE = {"share_right": 0.5, "share_certain": 0.0, "auc": 0.5, "tpr": {f"{fpr:g}": fpr for fpr in FPRS}}
"""What guessing without any release achieves."""


CONTRAST = (
    "The attacks by distance have the release alone to look at; exact membership is the upper end, for an intruder who "
    "has the synthesizer and all other records: where the attacks find little and this intruder is often right, it is "
    "what intruders do not know that protects, and not the release."
)
"""What both say beside each other."""


@dataclass(frozen=True, eq=False)
class Games:
    """The single games; confidential.

    Parameters
    ----------
    record : (g,) int64
        Number of the person's record in the original, or in the file of those who were not used.
    other : (g,) int64 or None
        Number of the record that it was set against; None where it was set against nobody.
    member : (g,) bool
        Whether the record was used.
    log_ratio : (g,) float64
        Logarithm of the likelihood with the record over that without it; infinite where one of them is impossible.
    """

    record: NDArray[np.int64]
    other: NDArray[np.int64] | None
    member: NDArray[np.bool_]
    log_ratio: NDArray[np.float64]

    @property
    def right(self) -> NDArray[np.float64]:
        """(g,) 1 where the likelier answer is the right one, 0 where it is not, half where both are as likely."""
        return 0.5 + 0.5 * np.sign(self.log_ratio) * np.where(self.member, 1, -1)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """(g,) whether one of the two answers is impossible."""
        return np.isinf(self.log_ratio)


@dataclass(frozen=True, repr=False)
class ExactMembership(Result):
    """How well an intruder tells who was used, who knows the synthesizer and all other records.

    Attributes
    ----------
    game
        "swap": which of two persons was used; "in_out": whether one person was used.
    others
        Where persons who were not used come from: "holdout", "halves" or "candidates".
    n_original, n_others
        Records of the original, and of persons who were not used.
    n_games
        Games: persons of the original, and with "in_out" persons who were not used.
    n_alike
        With "swap", games between two persons with the same values, whom nobody can tell apart; with "in_out", persons
        who were not used and have the values of one who was.
    share_right, share_right_interval
        Share of games in which the likelier answer is right, half where both are as likely, and its interval.
    share_certain, share_certain_interval
        Share of games in which one answer is impossible.
    roc
        Area under the ROC curve of the log ratio, and members found at few false alarms.
    likelihood
        Kind of the likelihood in words.
    left_out
        By variable, released values that no record of the original can have given, and that are left out.
    withheld
        Variables that the releases do not show.
    labels, label_original, label_others
        What the files are called.
    level, seed
        Coverage of the intervals, and where the draws come from.
    warnings
        Warnings.
    """

    _words = "words.intruders.exact_membership"
    _drawing = "plots.intruders.plot_exact_membership"

    game: Game
    others: str
    n_original: int
    n_others: int
    n_games: tuple[int, int]
    n_alike: int
    share_right: float
    share_right_interval: tuple[float, float]
    share_certain: float
    share_certain_interval: tuple[float, float]
    roc: RocFigures
    likelihood: str
    left_out: Mapping[str, int]
    withheld: tuple[str, ...]
    labels: tuple[str, ...]
    label_original: str
    label_others: str
    level: float
    seed: int
    warnings: tuple[str, ...]
    flavour: Flavour
    _games: Games = field(repr=False, compare=False)

    @property
    def auc(self) -> float:
        """Probability that a person who was used has a larger log ratio than one who was not, ties counted half."""
        return self.roc.auc

    @property
    def tpr(self) -> tuple[float, ...]:
        """Share of members found where a share of 0.001, 0.01 and 0.1 of the others is taken for members."""
        return self.roc.tpr

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, without those of single persons."""
        found = super().to_dict()
        figures = found.pop("roc")
        return found | {name: figures[name] for name in ("auc", "auc_interval", "tpr", "tpr_interval")} | {
            "baseline": CHANCE
        }  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """A row per figure."""
        rows = [
            ("share_right", self.share_right, self.share_right_interval, 0.5),
            ("share_certain", self.share_certain, self.share_certain_interval, 0.0),
            ("auc", self.roc.auc, self.roc.auc_interval, 0.5),
            *((f"tpr_{fpr:g}", hits, ends, fpr) for fpr, hits, ends in zip(
                FPRS, self.roc.tpr, self.roc.tpr_interval, strict=True)),
        ]  # fmt: skip
        return {
            "figure": [name for name, *_ in rows],
            "value": [value for _, value, _, _ in rows],
            "low": [ends[0] for *_, ends, _ in rows],
            "high": [ends[1] for *_, ends, _ in rows],
            "chance": [chance for *_, chance in rows],
        }

    def records(self, *, flavour: Flavour | None = None) -> Any:
        """Per game the record, whom it was set against, and the logarithm of the likelihood ratio. Confidential.

        Columns: file and record (from 0), member, against (number of the other record, with "swap"), log_ratio (with
        the record over without it), right (1, 0, or 0.5 where both are as likely), certain.

        Parameters
        ----------
        flavour
            Kind of frame; by default that of the original.
        """
        games = self._games
        file = np.where(games.member, self.label_original, self.label_others)
        columns: dict[str, Any] = {"file": file.tolist(), "record": games.record, "member": games.member}
        if games.other is not None:
            columns["against"] = games.other
        columns |= {"log_ratio": games.log_ratio, "right": games.right, "certain": games.certain}
        return self._frame(columns, flavour)
