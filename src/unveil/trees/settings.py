"""How a tree is grown."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.checks import check_flags, check_numbers, check_whole_numbers

LARGEST = 2**31 - 1
"""Largest whole number that the compiled code holds."""


@dataclass(frozen=True)
class Settings:
    """Settings of a tree.

    Parameters
    ----------
    minbucket : int
        Smallest number of original records in a leaf.
    minsplit : int, optional
        Smallest number of original records of a node that is split. Default: 3 times ``minbucket``.
    cp : float
        Complexity parameter: splits that lower the risk by this share of the root's risk or less are removed.
    max_depth : int
        Largest depth of a leaf; the root has depth 0.
    collapse : bool
        Whether splits that do not change the majority are removed, as usual. Without, more dependence is kept.
    surrogates : int
        Number of surrogate splits for levels that a node has not seen; 0: such records follow the majority.

    Raises
    ------
    CallError
        If a setting is out of range.

    Notes
    -----
    The risk of a numeric response is the within sum of squares. That of a categorical response is the number of
    misclassified records with ``collapse``: a subtree that does not change the majority is then removed however small
    ``cp`` is. Without ``collapse`` it is the Gini index. Subtrees are removed that lower the risk by ``cp`` times the
    root's risk or less per split; nodes with at most this risk are not split.

    Examples
    --------
    >>> Settings(minbucket=7).smallest_split
    21
    """

    minbucket: int = 5
    minsplit: int | None = None
    cp: float = 1e-8
    max_depth: int = 30
    collapse: bool = True
    surrogates: int = 0

    def __post_init__(self) -> None:
        check_whole_numbers(1, LARGEST, minbucket=self.minbucket)
        check_whole_numbers(1, LARGEST, minsplit=self.smallest_split)
        check_whole_numbers(0, LARGEST, max_depth=self.max_depth, surrogates=self.surrogates)
        check_numbers(0, cp=self.cp)
        check_flags(collapse=self.collapse)

    @property
    def smallest_split(self) -> int:
        """Smallest number of records of a node that is split."""
        return 3 * self.minbucket if self.minsplit is None else self.minsplit
