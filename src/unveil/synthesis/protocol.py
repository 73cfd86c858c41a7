"""Protocols of synthesizers and of methods for one variable.

A *variable method* models one variable given those before it, in integer codes (:class:`unveil.trees.Column`). A
*synthesizer* models a whole file and sees frames. Any object with these methods can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unveil.trees import Column


@runtime_checkable
class VariableMethod(Protocol):
    """Models one variable given earlier ones; holds only settings, so that one object can serve many variables.

    Optional attributes: ``draws_in_fit`` is False if the fit is not random; if it is True, ``log_prob`` is conditional
    on the random fit. ``has_likelihood`` is False if no fit of the method has probabilities. ``uses_predictors`` is
    False if the method ignores other variables: it gets none.
    """

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedVariable:
        """Fit the variable on the original records.

        Parameters
        ----------
        response : Column
            The variable. A numeric variable has no gaps here (records with a gap or special code are left out); in a
            categorical variable a gap is a level.
        predictors : sequence of Column
            Earlier variables, of the same records; may be empty.
        rng : numpy.random.Generator
            Random numbers of this fit.

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
            Synthetic values of the predictors of the fit, in their order. Categorical and ordered predictors have the
            codes of the fit. Numeric predictors have their own ``values``, which may be new (smoothing); if ``values``
            is the same array as in the fit, so are the codes. Without predictors in the fit this is a single column, of
            which only the length matters.
        rng : numpy.random.Generator
            Random numbers of this draw.

        Returns
        -------
        Column
            Categorical and ordered: codes into the levels of the response. Numeric: codes into ``values`` of the
            column; a method that draws only observed values returns the ``values`` array of the response (the same
            object).
        """
        ...

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Natural logarithm of the probability (density) of every record's value given its predictors.

        Parameters
        ----------
        response : Column
            The values; a numeric column has its own ``values``. Categorical codes may be ``n_levels`` of the fit: a
            level that the fit does not know, hence impossible.
        predictors : sequence of Column
            Predictors, as for :meth:`draw`.

        Returns
        -------
        (n,) float64
            ``-inf`` where the value is impossible.
        """
        ...


@runtime_checkable
class Synthesizer(Protocol):
    """Models a whole file. ``log_prob(frame)`` is optional; the exact Bayesian risk needs it."""

    def fit(self, original: Any) -> Synthesizer:
        """Fit on the original records and return itself."""
        ...

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw ``n`` synthetic records (default: as many as the original); a list of frames where ``m`` > 1."""
        ...
