"""Donors pooled over bootstrap trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_flags, check_whole_numbers
from unveil.errors import CallError
from unveil.synthesis.cart import FittedCart
from unveil.synthesis.donors import require_records
from unveil.trees import Column, Settings, grow


@dataclass(frozen=True)
class RandomForest:
    """Trees on bootstrap samples, whose leaves give their donors to one pool.

    A synthetic record falls in one leaf of each tree; its value is drawn uniformly from the donors of all of
    them, so that ``P(y = v | x) = sum_t N_t[v] / sum_t M_t`` with ``N_t[v]`` donors of value ``v`` among the ``M_t``
    in the leaf of tree ``t``. Trees are not collapsed.

    Parameters
    ----------
    n_trees : int
        Number of trees.
    minbucket : int
        Smallest number of records in a leaf.
    n_predictors : int, optional
        Number of predictors that a tree may use, drawn at random for each; all by default (bagging).
    bootstrap_known : bool
        Whether the likelihood is that of somebody who is told the seed of the fit, and so all bootstrap samples.
        Otherwise there is none.

    Raises
    ------
    CallError
        If a setting is out of range.

    References
    ----------
    Caiola, G. & Reiter, J. P. (2010). Random forests for generating partially synthetic, categorical data.
    Transactions on Data Privacy 3, 27-42.
    Breiman, L. (1996). Bagging predictors. Machine Learning 24, 123-140. doi:10.1007/BF00058655
    Ho, T. K. (1998). The random subspace method for constructing decision forests. IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20, 832-844. doi:10.1109/34.709601 (``n_predictors``).

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import RandomForest
    >>> from unveil.trees import Column
    >>> x = Column.from_values(np.arange(100))
    >>> y = Column.from_values(np.repeat([0.0, 9.0], 50))
    >>> fitted = RandomForest().fit(y, [x], np.random.default_rng(1))
    >>> drawn = fitted.draw([Column.from_values([3.0, 96.0])], np.random.default_rng(2))
    >>> drawn.values[drawn.codes].tolist()
    [0.0, 9.0]
    """

    draws_in_fit: ClassVar[bool] = True

    n_trees: int = 10
    minbucket: int = 5
    n_predictors: int | None = None
    bootstrap_known: bool = False

    @property
    def has_likelihood(self) -> bool:
        """Whether fits have probabilities: only given the bootstrap samples."""
        return self.bootstrap_known

    def __post_init__(self) -> None:
        check_flags(bootstrap_known=self.bootstrap_known)
        check_whole_numbers(1, n_trees=self.n_trees, minbucket=self.minbucket)
        check_whole_numbers(1, n_predictors=1 if self.n_predictors is None else self.n_predictors)

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedForest:
        """Grow the trees; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        DataError
            If there are no records, or a numeric response is infinite.
        """
        require_records(response, (response.kind,), "rf", "")
        n, p = response.codes.size, len(predictors)
        trees = []
        used: Sequence[int] = range(p)
        for _ in range(self.n_trees):
            rows = rng.integers(n, size=n).astype(np.int32)
            if self.n_predictors is not None and self.n_predictors < p:
                used = sorted(rng.choice(p, size=self.n_predictors, replace=False).tolist())
            own = [predictors[j] for j in used]
            tree = grow(response, own, Settings(self.minbucket, collapse=False), rows=rows)
            trees.append((FittedCart(tree), tuple(used)))
        return FittedForest(response.without_records(), tuple(trees), self.bootstrap_known)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """Bootstrap trees and the predictors of each.

    Parameters
    ----------
    response : Column
        The variable, without its records.
    trees : tuple of (FittedCart, tuple of int)
        Each tree with the positions of the predictors that it uses.
    has_likelihood : bool
        Whether probabilities given the bootstrap samples are wanted; there are no others.
    """

    response: Column
    trees: tuple[tuple[FittedCart, tuple[int, ...]], ...]
    has_likelihood: bool

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw values of donors; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        n = predictors[0].codes.size
        leaves = self._leaves(predictors, n)
        size = np.stack([tree.donors.size[leaf] for (tree, _), leaf in zip(self.trees, leaves, strict=True)])
        # a uniform draw from the pool is a tree by its number of donors, then one of its donors
        chosen = (np.cumsum(size, axis=0) <= rng.integers(size.sum(axis=0))).sum(axis=0)
        codes = np.empty(n, dtype=np.int32)
        for t, (tree, _) in enumerate(self.trees):
            rows = np.flatnonzero(chosen == t)
            codes[rows] = tree.donors.draw_codes(leaves[t][rows], rng)
        return self.response.with_codes(codes)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return log shares among the donors of all trees, given the bootstrap samples.

        See :class:`unveil.synthesis.protocol.FittedVariable`.

        Raises
        ------
        CallError
            If the bootstrap samples are not to be taken as known.
        """
        if not self.has_likelihood:
            name = self.response.name or "response"
            raise CallError(
                f"{name}: rf depends on its bootstrap samples; use cart, ctree, or RandomForest(bootstrap_known=True) "
                "for the probabilities given these samples"
            )
        leaves = self._leaves(predictors, response.codes.size)
        parts = [(tree.donors, leaf) for (tree, _), leaf in zip(self.trees, leaves, strict=True)]
        count = sum(donors.count(leaf, response) for donors, leaf in parts)
        with np.errstate(divide="ignore"):
            log_prob: NDArray[np.float64] = np.log(count) - np.log(sum(donors.size[leaf] for donors, leaf in parts))
        return log_prob

    def _leaves(self, predictors: Sequence[Column], n: int) -> list[NDArray[np.int32]]:
        """Return the leaf of every record by tree."""
        nothing = [Column(np.zeros(n, dtype=np.int32), "categorical", 1)]
        return [tree.leaf([predictors[j] for j in used] or predictors or nothing) for tree, used in self.trees]
