"""One variable by a classification or regression tree: leaves and their donors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.checks import check_choice, check_range
from unveil.core import loop
from unveil.synthesis.bandwidth import BandwidthRule, Noise
from unveil.synthesis.donors import Donors
from unveil.trees import Column, Settings, Tree, grow

BLOCK = 1 << 16

_draw_donors = loop("draw_donors", int, np.int32, np.int64, None, int, np.float64, np.int32)
"""Records that are drawn together: few enough to take little memory."""


@dataclass(frozen=True)
class CartMethod(Settings):
    """Draw a donor from the leaf of a tree that the record falls into.

    Parameters
    ----------
    minbucket, minsplit, cp, max_depth, collapse, surrogates
        See :class:`unveil.trees.Settings`.
    smoothing : {None, "density"}
        None for observed numbers, "density" for normal noise.
    bandwidth : {"sheather-jones", "silverman"}
        Rule for the standard deviation of the noise.
    mix : float
        Probability, from 0 to 1, that the donor comes from all records of the fit and not from the leaf.

    Raises
    ------
    CallError
        If a setting is out of range.

    Notes
    -----
    A value v is drawn in leaf l with probability ``(1 - mix) N_lv / M_l + mix N_v / n``: N_lv of the M_l donors of the
    leaf, and N_v of all n donors, have it. Noise is added to the number that was drawn, wherever its donor is from.

    References
    ----------
    Reiter, J. P. (2005). Using CART to generate partially synthetic public use microdata. Journal of Official
    Statistics 21, 441-462.

    Examples
    --------
    >>> ill = Column(np.array([0] * 10 + [1] * 10), "categorical", 2)
    >>> age = Column.from_values(np.arange(20))
    >>> rng = np.random.default_rng(1)
    >>> CartMethod().fit(ill, [age], rng).draw([Column.from_values([3, 17])], rng).codes.tolist()
    [0, 1]
    """

    draws_in_fit: ClassVar[bool] = False

    smoothing: Literal["density"] | None = None
    bandwidth: BandwidthRule = "sheather-jones"
    mix: float = 0.0

    def __post_init__(self) -> None:
        check_range(0, 1, mix=self.mix)
        check_choice("smoothing", self.smoothing, (None, "density"))
        check_choice("bandwidth", self.bandwidth, ("sheather-jones", "silverman"))
        super().__post_init__()

    @cached_property
    def settings(self) -> Settings:
        """How the tree is grown."""
        return Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedCart:
        """Grow the tree; nothing is random in it."""
        tree = grow(response, predictors, self.settings)
        noise = None
        if self.smoothing and response.values is not None:
            noise = Noise.of(response.values[response.codes], self.bandwidth)
        return FittedCart(tree, noise, self.mix)


@dataclass(frozen=True, eq=False)
class FittedCart:
    """A fitted tree; ``noise`` is added to the numbers that are drawn, a share ``mix`` of them from any leaf."""

    tree: Tree
    noise: Noise | None = None
    mix: float = 0.0

    @property
    def has_likelihood(self) -> bool:
        """Whether values have no noise: with noise there are no probabilities."""
        return self.noise is None

    @cached_property
    def pool(self) -> NDArray[np.unsignedinteger]:
        """Codes of the donors by leaf, in the smallest type that holds them."""
        like = self.tree.response
        return self.tree.by_leaf(like.codes.astype(np.min_scalar_type(max(like.n_levels - 1, 0))))

    @cached_property
    def donors(self) -> Donors:
        """The donors, gathered to be counted."""
        pool = np.repeat(np.arange(self.tree.n_leaves), np.diff(self.tree.leaf_start))
        like = self.tree.response
        return Donors.gather(like.with_codes(self.tree.by_leaf(like.codes)), pool, self.tree.n_leaves)

    def leaf(self, predictors: Sequence[Column]) -> NDArray[np.int32]:
        """Leaf of every record: by codes where they are those of the fit, else by values."""
        if not self.tree.predictors:
            return np.zeros(predictors[0].codes.size, dtype=np.int32)
        given: list[ArrayLike | Column] = [
            column if column.values is fitted.values or column.values is None else column.values[column.codes]
            for column, fitted in zip(predictors, self.tree.predictors, strict=True)
        ]
        return self.tree.apply(given)

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """A donor's value for every record; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        leaf = self.leaf(predictors)
        like = self.tree.response
        codes = np.empty(leaf.size, dtype=np.int32)
        for start in range(0, leaf.size, BLOCK):
            part, drawn = leaf[start : start + BLOCK], codes[start : start + BLOCK]
            self._draw(part, self.tree.leaf_start, rng.random(part.size), drawn)
            if self.mix:
                anywhere = np.flatnonzero(rng.random(part.size) < self.mix)
                drawn[anywhere] = self._drawn_anywhere(rng.random(anywhere.size))
        if self.noise is not None and like.values is not None:
            return Column.from_values(self.noise.add(like.values[codes], rng), name=like.name)
        return like.with_codes(codes)

    def _draw(
        self, leaf: NDArray[np.int32], start: NDArray[np.int64], share: NDArray[np.float64], codes: NDArray[np.int32]
    ) -> None:
        """Write the code of a donor for every record: leaves begin at ``start``, and share says where in its leaf."""
        _draw_donors(leaf.size, leaf, start, self.pool, self.pool.itemsize, share, codes)

    def _drawn_anywhere(self, share: NDArray[np.float64]) -> NDArray[np.int32]:
        """Codes of donors from all leaves, as if these were one."""
        codes = np.empty(share.size, dtype=np.int32)
        self._draw(np.zeros(share.size, dtype=np.int32), np.array([0, self.pool.size]), share, codes)
        return codes

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Logarithm of the share of donors in the record's leaf that have its value, mixed with that of all donors."""
        leaf = self.leaf(predictors) if self.tree.predictors else np.zeros(response.codes.size, dtype=np.int32)
        if not self.mix:
            return self.donors.log_share(leaf, response)
        own, of_all = self.donors.share(leaf, response), self.donors.together.share(np.zeros_like(leaf), response)
        with np.errstate(divide="ignore"):
            mixed: NDArray[np.float64] = np.log((1 - self.mix) * own + self.mix * of_all)
        return mixed
