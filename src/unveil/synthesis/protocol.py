"""What a synthesizer is: the parts that can be exchanged.

A *variable method* models one variable given those that come before it, in integer codes
(:class:`unveil.trees.Column`). A *synthesizer* models a whole file and sees frames. Both are plain protocols:
any object with these methods will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unveil.trees import Column


@runtime_checkable
class VariableMethod(Protocol):
    """Models one variable given earlier ones; holds settings only, so that one object can serve many variables.

    An attribute ``draws_in_fit`` that is False says that the fit uses no randomness; one that is True, that it does,
    and that ``log_prob`` holds for what was drawn only. One called ``has_likelihood`` that is False says that no fit of
    the method has probabilities. One called ``uses_predictors`` that is False says that it looks at no other variable:
    it is given none.
    """

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedVariable:
        """Fit the variable on the original records.

        Parameters
        ----------
        response : Column
            The variable. A numeric one has no gaps here (records with a gap or special code are left out); a
            gap of a categorical one is a level.
        predictors : sequence of Column
            Earlier variables, of the same records; may be empty.
        rng : numpy.random.Generator
            Source of randomness of this fit.

        Returns
        -------
        FittedVariable
            The fitted model.
        """
        ...


@runtime_checkable
class FittedVariable(Protocol):
    """A fitted variable."""

    @property
    def has_likelihood(self) -> bool:
        """Whether :meth:`log_prob` may be called."""
        ...

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw one value for every record of the predictors.

        Parameters
        ----------
        predictors : sequence of Column
            Synthetic values of the predictors of the fit, in their order. Categorical and ordered ones are in
            the codes of the fit. Numeric ones have their own ``values``, which need not have occurred in the
            fit (smoothing); where ``values`` is the very array of the fit, codes are those of the fit.
            Without predictors in the fit this is a single column, of which only the length counts.
        rng : numpy.random.Generator
            Source of randomness of this draw.

        Returns
        -------
        Column
            Categorical and ordered: codes into the levels of the response. Numeric: codes into its own
            ``values``; a method that only ever draws observed values returns the ``values`` array of the
            response itself (the same object).
        """
        ...

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Natural logarithm of the probability (density) of every record's value given its predictors.

        Parameters
        ----------
        response : Column
            Values in question; numeric ones with their own ``values``. Categorical codes may be
            ``n_levels`` of the fit: a level that the fit does not know, hence impossible.
        predictors : sequence of Column
            As for :meth:`draw`.

        Returns
        -------
        (n,) float64
            ``-inf`` where the value is impossible.
        """
        ...


@runtime_checkable
class Synthesizer(Protocol):
    """Models a whole file. ``log_prob(frame)`` is optional and unlocks the exact Bayesian risk."""

    def fit(self, original: Any) -> Synthesizer:
        """Fit on the original records and return itself."""
        ...

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw ``n`` synthetic records (default: as many as the original); a list of frames where ``m`` > 1."""
        ...
