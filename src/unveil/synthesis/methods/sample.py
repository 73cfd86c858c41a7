"""Values drawn from the observed values, independently of other variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unveil.synthesis.donors import Donors, require_records
from unveil.trees import Column


@dataclass(frozen=True)
class Sample:
    """Draw with replacement from the observed values.

    ``P(y = v) = n_v / n``, independently of the predictors: the bootstrap of one variable.

    References
    ----------
    Nowok, B., Raab, G. M. & Dibben, C. (2016). synthpop: Bespoke creation of synthetic data in R. Journal of
    Statistical Software 74 (11), section 3. doi:10.18637/jss.v074.i11

    Examples
    --------
    >>> from unveil.synthesis.methods import Sample
    >>> sex = Column(np.array([0, 0, 1, 0]), "categorical", 2)
    >>> fitted = Sample().fit(sex, [], np.random.default_rng(1))
    >>> np.exp(fitted.log_prob(sex, [])).round(2).tolist()
    [0.75, 0.75, 0.25, 0.75]
    """

    draws_in_fit: ClassVar[bool] = False
    uses_predictors: ClassVar[bool] = False

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedSample:
        """Keep the observed values; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        DataError
            If there are no records.
        """
        require_records(response, (response.kind,), "sample", "")
        return FittedSample(Donors.gather(response, np.zeros(response.codes.size, dtype=np.int64), 1))


@dataclass(frozen=True, eq=False)
class FittedSample:
    """The observed values of a variable."""

    donors: Donors
    has_likelihood: bool = True

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw one value per record; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        return self.donors.draw(np.zeros(predictors[0].codes.size, dtype=np.int64), rng)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return log shares of the observed values; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        return self.donors.log_share(np.zeros(response.codes.size, dtype=np.int64), response)
