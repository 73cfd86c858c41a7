"""The result of membership inference: what it holds, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.largest import Largest
from unveil._membership.records import AttackedRecords
from unveil.checks import check_whole_numbers
from unveil.files.source import Flavour
from unveil.plain import Plain
from unveil.result import Result, columns_of, drawer
from unveil.stats.roc import FPRS, RocFigures

ALL = "all releases"
"""What the attack on all releases together is called."""
NAMES = {
    "dcr": "distance to the closest synthetic record",
    "density": "closer to the release than to other people",
    "classifier": "a classifier of these distances",
}


BASELINE = {"auc": 0.5, "tpr": {f"{fpr:g}": fpr for fpr in FPRS}}
"""What guessing without any release achieves."""


@dataclass(frozen=True)
class Copies(Plain):
    """Percent of persons whose record a release repeats in all columns compared, with Clopper-Pearson intervals."""

    members: float
    members_interval: tuple[float, float]
    held_out: float
    held_out_interval: tuple[float, float]


@dataclass(frozen=True, repr=False)
class Membership(Result):
    """How well it can be told from a release whose records it was made from.

    Attributes
    ----------
    columns
        The columns that were compared.
    attacks
        Names of the attacks.
    releases
        Per release, :class:`unveil.membership.Figures` by attack.
    together
        The same of the attack on all releases at once; with one release its own figures.
    copies, copies_together
        Records repeated in full, per release and in any of them.
    largest
        The best of the attacks on all releases together beside its null; see :class:`Largest`.
    n_members, n_held_out
        Records of the original, and held-out records.
    n_attacked
        How many of either were attacked: drawn where there are more than ``most_records``.
    n_synthetic, labels, label_original, label_held_out
        Number of records of each release, and what the files are called.
    confirmed
        Releases beside which a provenance file says that the original is what they were made from.
    level, seed
        Coverage of the intervals, and where the draws come from.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        What deserves a look in the files.
    """

    _words = "words.membership.attacks"
    _drawing = "plots.membership.plot_roc"

    columns: tuple[str, ...]
    attacks: tuple[str, ...]
    releases: tuple[Mapping[str, RocFigures], ...]
    together: Mapping[str, RocFigures]
    copies: tuple[Copies, ...]
    copies_together: Copies
    largest: Largest
    n_members: int
    n_held_out: int
    n_attacked: tuple[int, int]
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    label_original: str
    label_held_out: str
    confirmed: tuple[str, ...]
    level: float
    seed: int
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    _records: AttackedRecords = field(repr=False, compare=False)
    _scores: tuple[Mapping[str, NDArray[np.float64] | None], ...] = field(repr=False, compare=False)
    _copied: tuple[NDArray[np.bool_], ...] = field(repr=False, compare=False)

    @property
    def auc(self) -> float:
        """Largest area under the ROC curve of the attacks on all releases together."""
        return self.largest.auc

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        files = {"label_original": "original", "label_held_out": "held_out"}
        found = {files.get(name, name): value for name, value in super().to_dict().items()}
        return found | {"baseline": BASELINE}

    def _listed(self) -> list[tuple[str, Mapping[str, RocFigures]]]:
        listed = list(zip(self.labels, self.releases, strict=True))
        return listed if len(listed) == 1 else [*listed, (ALL, self.together)]

    def _columns(self) -> dict[str, Any]:
        """A row per release and attack, and with several releases of all together."""
        rows = []
        for label, figures in self._listed():
            for name, one in figures.items():
                row = {"release": label, "attack": name, "auc": one.auc, "auc_low": one.auc_interval[0],
                       "auc_high": one.auc_interval[1]}  # fmt: skip
                for fpr, hits, ends in zip(FPRS, one.tpr, one.tpr_interval, strict=True):
                    row |= {f"tpr_{fpr:g}": hits, f"tpr_{fpr:g}_low": ends[0], f"tpr_{fpr:g}_high": ends[1]}
                rows.append(row)
        return columns_of(rows)

    def records(self, release: int | None = None, *, flavour: Flavour | None = None) -> Any:
        """Per attacked record, its file and number from 0, whether it is a member, and its score in every attack.

        A higher score says member. ``copied`` says whether the release repeats the record. This is confidential.

        Parameters
        ----------
        release
            Position of the release; by default all together.
        flavour
            Kind of frame; by default that of the original.

        Raises
        ------
        CallError
            If there is no such release.
        """
        position = self._position(release)
        attacked = self._records
        file = [self.label_original] * len(attacked.members) + [self.label_held_out] * len(attacked.others)
        columns: dict[str, Any] = {
            "file": file,
            "record": np.concatenate([attacked.members.numbers, attacked.others.numbers]),
            "member": attacked.is_member,
            "copied": self._copied[position],
        }
        for name, scores in self._scores[position].items():
            columns[name] = np.full(len(file), np.nan) if scores is None else scores
        return self._frame(columns, flavour)

    def _position(self, release: int | None) -> int:
        if release is None:
            return len(self._scores) - 1
        check_whole_numbers(0, len(self.labels) - 1, release=release)
        return release

    def plot(self, ax: Any = None, *, release: int | None = None) -> Any:
        """ROC curves of the attacks on logarithmic axes; needs matplotlib."""
        scores = self._scores[self._position(release)]
        return drawer(self._drawing)(self, scores, ax=ax)
