"""All variables at once: a saturated multinomial over their cross table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_numbers
from unveil.errors import CallError
from unveil.files.source import Kind
from unveil.synthesis.likelihood import LogProbability, summed
from unveil.synthesis.methods.coded_file import CodedFile, Codes, cells_of, open_original
from unveil.synthesis.methods.coded_synthesizer import SENSITIVITY, CodedSynthesizer, Neighbours
from unveil.synthesis.methods.declarations import public_columns
from unveil.synthesis.methods.laplace import Bits, check_epsilon, noisy_counts
from unveil.synthesis.methods.public import PublicFile
from unveil.synthesis.methods.public_column import PublicColumn

MAX_CELLS = 1 << 26
"""Largest table with noise (half a gigabyte)."""
ALL = "all variables"
"""Name of the cells in messages and tables."""


@dataclass(kw_only=True, eq=False, repr=False)
class CatallSynthesizer(CodedSynthesizer):
    """Draw whole records from the cells of the cross table of all variables.

    With ``N_c`` of ``n`` records in cell ``c`` of ``C`` cells, and ``a`` prior records spread evenly,

    ``P(c) = (N_c + a / C) / (n + a)``.

    Cells are all combinations of the values that occur in each column; numbers count as categories, so group numbers
    with many values beforehand. With ``prior=0`` this resamples original records, and a unique record is often released
    unchanged.

    With ``epsilon`` the table is noised once, in the fit (discrete Laplace mechanism, drawn without rounding):

    ``P(c) = max(0, N_c + a / C + e_c) / sum``, ``e_c`` Laplace with scale ``s / epsilon``,

    where ``s`` is the sum of the changes of the counts between neighbouring files: 2 if a record is replaced, 1 if it
    is added or removed. All releases of a fit together have the privacy loss ``epsilon``; another fit adds its privacy
    loss. Only the schema gives the cells then: all combinations of declared levels, also of levels that no record has;
    amounts are counted in the parts between declared bounds (amounts beyond them in the first or last part), and drawn
    uniformly within a part. A record with a level that is not declared is an error.

    Parameters
    ----------
    prior : float
        Number of prior records ``a``.
    epsilon : float, optional
        Privacy budget; None or infinity for no noise and no guarantee.
    neighbours : {"replace", "add_remove"}
        Files that the guarantee cannot tell apart: with one record replaced, where the number of records is known to
        everybody; or with one record more or less, where :meth:`sample` needs the number of records.
    schema
        Levels and bounds that are known to everybody: a schema file, or a mapping of columns to declarations, such as
        ``{"sex": {"levels": ["f", "m"]}, "income": {"bounds": [0, 100000], "bins": 20, "gaps": True}}``. By default
        the schema with which the original was read (``unveil.read(file, schema=...)``).
    kinds : mapping of str to kind, optional
        Kinds of columns, if the file does not tell.
    noise_seed : int, optional
        Seed of the noise, for experiments only: somebody who knows it can subtract the noise. By default it comes from
        the operating system.

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K. & Smith, A. (2006). Calibrating noise to sensitivity in private data
    analysis. TCC 2006, 265-284. doi:10.1007/11681878_14
    Wasserman, L. & Zhou, S. (2010). A statistical framework for differential privacy. Journal of the American
    Statistical Association 105, 375-389, section 4 (perturbed histogram). doi:10.1198/jasa.2009.tm08651
    Raab, G. M., Nowok, B. & Dibben, C. (2018). Practical data synthesis for large samples. Journal of Privacy and
    Confidentiality 7 (3), 67-97. doi:10.29012/jpc.v7i3.407
    Canonne, C., Kamath, G. & Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from unveil.synthesis.methods.whole_file import CatallSynthesizer
    >>> original = pa.table({"sex": ["f", "f", "m", "m"], "ill": [0, 0, 0, 1]})
    >>> fitted = CatallSynthesizer(prior=0).fit(original)
    >>> np.exp(fitted.log_prob(pa.table({"sex": ["f", "m", "f"], "ill": [0, 1, 1]})).records).round(2).tolist()
    [0.5, 0.25, 0.0]
    >>> fitted.sample(3, seed=1).num_rows
    3
    """

    mechanism = "discrete Laplace noise on the counts of all cells"

    prior: float = 1.0
    epsilon: float | None = None
    neighbours: Neighbours = "replace"
    kinds: Mapping[str, Kind] | None = None
    schema: Any = None
    noise_seed: int | None = None
    _file: CodedFile | PublicFile | None = field(default=None, init=False)
    _shares: NDArray[np.float64] | None = field(default=None, init=False)

    def fit(self, original: Any, *, seed: int | None = None) -> CatallSynthesizer:
        """Count the cells.

        Parameters
        ----------
        original
            A path, or a frame with the Arrow C stream interface.
        seed
            Not used: noise cannot be repeated, and nothing else is random.

        Returns
        -------
        CatallSynthesizer
            Itself.

        Raises
        ------
        CallError
            If a setting is out of range, the table for noise does not fit in memory, or a column lacks public levels or
            bounds for noise.
        DataError
            If the file cannot be read or has no records, or a record has a value that is not declared.
        """
        check_numbers(0, prior=self.prior)
        file = self._open(original)
        self._shares = self._noisy_shares(file) if isinstance(file, PublicFile) else None
        self._file = file
        return self

    def log_prob(self, release: Any) -> LogProbability:
        """Return the natural logarithm of the probability of a release, with its records in their order.

        Parameters
        ----------
        release
            A path or frame with the same columns.

        Returns
        -------
        LogProbability
            Sum and by record; variables are not separated. With noise: given the random noise.

        Raises
        ------
        CallError
            If nothing is fitted.
        DataError
            If the release lacks a column or its values cannot be compared.
        """
        file = self._coded_file()
        source = file.open(release)
        codes, unknown = file.read(source)
        with np.errstate(divide="ignore"):
            if self._shares is not None:
                log = np.log(self._shares[cells_of(codes, file.n_levels)])
                log += sum(file.within(x)[own] for x, own in enumerate(codes))
            else:
                log = np.log(_counts(file.codes, codes))
                if self.prior > 0:
                    log = np.logaddexp(log, math.log(self.prior) - math.log(self.n_cells))
                log -= math.log(file.n + self.prior)
        log[np.any(unknown, axis=0)] = -math.inf

        def values(_: str, record: int) -> tuple[object, ...]:
            return tuple(source.column(variable.name)[record].as_py() for variable in file.variables)

        return summed({ALL: log}, log.size, values)

    def public_columns(self, original: Any) -> tuple[PublicColumn, ...]:
        """Return the declarations of the columns, before or after the fit.

        Raises
        ------
        CallError
            If a column has no public levels or bounds.
        """
        if isinstance(self._file, PublicFile):
            return self._file.variables
        return public_columns(open_original(original, self.schema), self.kinds)

    @property
    def n_cells(self) -> int:
        """Number of cells of the cross table."""
        return math.prod(self._coded_file().n_levels)

    def _noisy_shares(self, file: PublicFile) -> NDArray[np.float64]:
        """Return the shares of all cells from noisy counts; equal shares if all counts are 0."""
        n_cells = math.prod(file.n_levels)
        if n_cells > MAX_CELLS:
            raise CallError(
                f"the cross table of {len(file.variables)} columns has {_many(n_cells)} cells and every one needs "
                f"noise; at most {MAX_CELLS} fit in memory: group or drop columns, or use dp_bayesnet"
            )
        counts = np.bincount(cells_of(file.codes, file.n_levels), minlength=n_cells)
        scale = SENSITIVITY[self.neighbours] / check_epsilon(self.epsilon)
        noisy = noisy_counts(counts, scale, Bits(self.noise_seed), shift=self.prior / n_cells)
        total = noisy.sum()
        return noisy / total if total > 0 else np.full(n_cells, 1 / n_cells)

    def _draw(self, n: int, rng: np.random.Generator) -> list[Codes]:
        file = self._coded_file()
        if self._shares is not None:
            reached = np.cumsum(self._shares)
            cells = np.searchsorted(reached, rng.random(n) * reached[-1], side="right")
            return [codes.astype(np.int32) for codes in np.unravel_index(cells, file.n_levels)]
        # a record comes from the prior with probability a / (n + a): no table of all cells is needed
        records = rng.integers(file.n, size=n)
        from_prior = np.flatnonzero(rng.random(n) * (file.n + self.prior) < self.prior)
        drawn = [codes[records] for codes in file.codes]
        for column, n_levels in zip(drawn, file.n_levels, strict=True):
            column[from_prior] = rng.integers(n_levels, size=from_prior.size)
        return drawn


def _many(number: int) -> str:
    """Return a large number for a message; it may be beyond floating-point numbers."""
    return str(number) if number < 10**12 else f"about 10^{len(str(number)) - 1}"


def _counts(original: Sequence[Codes], release: Sequence[Codes]) -> NDArray[np.int64]:
    """Return the number of original records in the cell of every released record, for any number of cells."""
    n = original[0].size
    cells = np.zeros(n + release[0].size, dtype=np.int64)
    for one, other in zip(original, release, strict=True):
        # renumbered after every column, so that the numbers stay below records times levels
        _, cells = np.unique(cells * (int(one.max()) + 1) + np.concatenate([one, other]), return_inverse=True)
    return np.bincount(cells[:n], minlength=int(cells.max()) + 1)[cells[n:]]
