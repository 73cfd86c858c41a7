"""Predictive mean matching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_whole_numbers
from unveil.errors import CallError
from unveil.models.design import Coded, Design
from unveil.models.least_squares import LeastSquares, fit_least_squares
from unveil.models.scale import Scale, numbers
from unveil.synthesis.donors import known_codes, require_records
from unveil.synthesis.methods.norm import LinearMethod
from unveil.trees import Column


@dataclass(frozen=True)
class Pmm(LinearMethod):
    """Predictive mean matching: copy the value of an original record with a similar expected value.

    With the linear regression of :class:`Norm`, ``X* b*`` of every synthetic record is compared with ``X b`` of the
    original records. One of the ``n_donors`` nearest records gives its value, with equal probability; records as near
    as the last of them are donors too, so that the order of the file does not matter.

    Parameters
    ----------
    n_donors : int
        Number of nearest original records to draw from.
    proper : bool
        Draw ``b*`` from its posterior, once per fit, instead of ``b* = b``. Without it the probability of every
        value is known exactly.

    Raises
    ------
    CallError
        If a setting is out of range.

    References
    ----------
    Little, R. J. A. (1988). Missing-data adjustments in large surveys. Journal of Business & Economic Statistics
    6, 287-296. doi:10.1080/07350015.1988.10509663
    van Buuren, S. (2018). Flexible imputation of missing data, 2nd edition, section 3.4. CRC Press.

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Pmm
    >>> from unveil.trees import Column
    >>> x = Column.from_values([0, 1, 2, 3, 4, 5])
    >>> y = Column.from_values([10, 11, 12, 13, 14, 15])
    >>> fitted = Pmm(n_donors=2).fit(y, [x], np.random.default_rng(1))
    >>> here = Column.from_values([1.4, 1.4, 1.4])
    >>> np.exp(fitted.log_prob(Column.from_values([11, 12, 13]), [here])).round(2).tolist()
    [0.5, 0.5, 0.0]
    """

    n_donors: int = 5
    proper: bool = False

    def __post_init__(self) -> None:
        check_whole_numbers(1, n_donors=self.n_donors)

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedPmm:
        """Fit the regression; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        CallError
            If the variable is not numeric.
        DataError
            If there are no records, or a numeric variable holds infinite values.
        """
        require_records(response, ("numeric",), "pmm", "polyreg, ctree or cart")
        values = numbers(response)
        variables = [*map(Coded.of, predictors)]
        design = Design.of(variables)
        x = design.matrix(variables, values.size, constant=True)
        model = fit_least_squares(x, Scale.of(values).standardised(values))
        expected = _rounded(x @ model.coefficients)
        order = np.argsort(expected, kind="stable")
        codes = response.codes[order]
        keys = np.sort(codes.astype(np.int64) * values.size + np.arange(values.size))
        n_donors = min(self.n_donors, values.size)
        matching = model.redrawn(rng)[0] if self.proper else model
        like = response.without_records()
        return FittedPmm(like, design, matching, expected[order], codes, keys, n_donors, not self.proper)


@dataclass(frozen=True, eq=False)
class FittedPmm:
    """A fitted regression and the original records in order of their expected values.

    Parameters
    ----------
    response : Column
        The variable, without its records.
    design : Design
        Columns of the regression.
    model : LeastSquares
        Expected values of synthetic records.
    expected : (n,) float64
        Expected values of the original records, ascending.
    codes : (n,) int32
        Their values.
    keys : (n,) int64
        ``code * n + position``, ascending: shows how many records of a value are in a range of positions.
    n_donors : int
        Number of nearest records.
    has_likelihood : bool
        Whether the coefficients were not drawn.
    """

    response: Column
    design: Design
    model: LeastSquares
    expected: NDArray[np.float64]
    codes: NDArray[np.int32]
    keys: NDArray[np.int64]
    n_donors: int
    has_likelihood: bool

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw observed values; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        low, high = self._pool(predictors, predictors[0].codes.size)
        codes = self.codes[low + rng.integers(high - low)]
        return self.response.with_codes(codes)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return log shares of donors; see :class:`unveil.synthesis.protocol.FittedVariable`.

        Raises
        ------
        CallError
            If the coefficients were drawn.
        """
        if not self.has_likelihood:
            raise CallError(f"{self.response.name or 'response'}: no log_prob of a proper fit; set proper=False")
        codes = known_codes(self.response, response).astype(np.int64)
        low, high = self._pool(predictors, codes.size)
        n = self.codes.size
        count = np.searchsorted(self.keys, codes * n + high) - np.searchsorted(self.keys, codes * n + low)
        with np.errstate(divide="ignore"):
            log_prob: NDArray[np.float64] = np.log(count) - np.log(high - low)
        return log_prob

    def _pool(self, predictors: Sequence[Column], n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the range of positions of every record's donors."""
        x = self.design.matrix([*map(Coded.of, predictors)], n, constant=True)
        wanted = _rounded(x @ self.model.coefficients)
        low = np.zeros(n, dtype=np.intp)
        high = np.full(n, self.expected.size - self.n_donors, dtype=np.intp)
        # first window of n_donors neighbours that is not nearer one record further
        while (low < high).any():
            middle = (low + high) // 2
            further = np.minimum(middle + self.n_donors, self.expected.size - 1)
            move = (low < high) & (wanted - self.expected[middle] > self.expected[further] - wanted)
            low, high = np.where(move, middle + 1, low), np.where(move, high, middle)
        first = np.searchsorted(self.expected, self.expected[low], side="left")
        last = np.searchsorted(self.expected, self.expected[low + self.n_donors - 1], side="right")
        return first, last


def _rounded(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return expected values without rounding errors, so that equal ones are equal."""
    return np.round(expected, 9)
