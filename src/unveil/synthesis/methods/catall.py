"""All variables at once: a saturated multinomial over their cross table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.microdata.source import Kind
from unveil.synthesis.likelihood import LogProbability
from unveil.synthesis.methods.coded_file import CodedFile, Codes, cells_of
from unveil.synthesis.methods.coded_synthesizer import CodedSynthesizer, summed
from unveil.synthesis.methods.laplace import check_epsilon, noisy_counts
from unveil.synthesis.variable import open_release

__all__ = ["CatallSynthesizer"]

MAX_CELLS = 1 << 26
"""Largest table that noise is added to (half a gigabyte)."""
ALL = "all variables"
"""What messages and tables call the cells."""


class CatallSynthesizer(CodedSynthesizer):
    """Draw whole records from the cells of the cross table of all variables.

    With ``N_c`` records in cell ``c`` of ``C`` cells, ``n`` in all, and ``a`` prior records spread evenly,

    ``P(c) = (N_c + a / C) / (n + a)``.

    Cells are all combinations of the values that occur, each column by itself; numbers count as categories, so
    group those with many values beforehand. With ``prior=0`` this resamples original records, and every unique
    record has a good chance to be released as it is.

    With ``epsilon`` the table is noised once, in the fit (Laplace mechanism):

    ``P(c) = max(0, N_c + a / C + e_c) / sum``, ``e_c`` Laplace with scale ``s / epsilon``,

    where ``s`` is how much the counts change in sum between neighbouring files: 1 if one record is added or
    removed (exactly ``1 / epsilon`` then), 2 if one record is replaced. The guarantee takes the values that occur
    in each column, and the number of records asked of :meth:`sample`, as known to everybody. Noise is drawn in
    double precision, without the safeguards of Mironov (2012).

    Parameters
    ----------
    prior : float
        Number of prior records ``a``.
    epsilon : float, optional
        Privacy budget; None or infinity for no noise.
    neighbours : {"add_remove", "replace"}
        Which files the guarantee cannot tell apart.
    kinds : mapping of str to kind, optional
        What the values of a column are, where the file leaves it open.
    noise_seed : int, optional
        Seed of the noise. Whoever knows it can subtract the noise: for experiments only. By default the operating
        system's randomness.

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K. & Smith, A. (2006). Calibrating noise to sensitivity in private data
    analysis. TCC 2006, 265-284. doi:10.1007/11681878_14
    Wasserman, L. & Zhou, S. (2010). A statistical framework for differential privacy. Journal of the American
    Statistical Association 105, 375-389, section 4 (perturbed histogram). doi:10.1198/jasa.2009.tm08651
    Raab, G. M., Nowok, B. & Dibben, C. (2018). Practical data synthesis for large samples. Journal of Privacy and
    Confidentiality 7 (3), 67-97. doi:10.29012/jpc.v7i3.407
    Mironov, I. (2012). On significance of the least significant bits for differential privacy. CCS 2012, 650-661.

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

    def __init__(
        self,
        *,
        prior: float = 1.0,
        epsilon: float | None = None,
        neighbours: Literal["add_remove", "replace"] = "add_remove",
        kinds: Mapping[str, Kind] | None = None,
        noise_seed: int | None = None,
    ):
        self.prior = prior
        self.epsilon = epsilon
        self.neighbours = neighbours
        self.kinds = kinds
        self.noise_seed = noise_seed
        self._file: CodedFile | None = None
        self._shares: NDArray[np.float64] | None = None

    def fit(self, original: Any) -> CatallSynthesizer:
        """Count the cells.

        Parameters
        ----------
        original
            A path, or a frame that speaks the Arrow C stream interface.

        Returns
        -------
        CatallSynthesizer
            Itself.

        Raises
        ------
        CallError
            If a setting is out of range, or noise would need a table that does not fit in memory.
        DataError
            If the file cannot be read or has no records.
        """
        if not 0 <= self.prior < math.inf:
            raise CallError(f"prior must be a number from 0, got {self.prior}")
        if self.neighbours not in ("add_remove", "replace"):
            raise CallError(f"neighbours must be 'add_remove' or 'replace', got {self.neighbours!r}")
        epsilon = check_epsilon(self.epsilon)
        self._file = CodedFile.of(original, self.kinds)
        self._shares = None if epsilon == math.inf else self._noisy_shares(self._file, epsilon)
        return self

    def log_prob(self, release: Any) -> LogProbability:
        """Natural logarithm of the probability of a release, its records in their order.

        Parameters
        ----------
        release
            A path or frame with the same columns.

        Returns
        -------
        LogProbability
            In all and by record; variables are not told apart. With noise: given the noise that was drawn.

        Raises
        ------
        CallError
            If nothing is fitted.
        DataError
            If the release lacks a column or its values cannot be compared.
        """
        file = self._coded_file()
        source = open_release(release, file.variables)
        codes, unknown = file.read(source)
        with np.errstate(divide="ignore"):
            if self._shares is not None:
                log = np.log(self._shares[cells_of(codes, file.n_levels)])
            else:
                log = np.log(_counts(file.codes, codes))
                if self.prior > 0:
                    log = np.logaddexp(log, math.log(self.prior) - math.log(self.n_cells))
                log -= math.log(file.n + self.prior)
        log[np.any(unknown, axis=0)] = -math.inf

        def values(_: str, record: int) -> tuple[object, ...]:
            return tuple(source.column(variable.name)[record].as_py() for variable in file.variables)

        return summed({ALL: log}, values)

    @property
    def n_cells(self) -> int:
        """Number of cells of the cross table."""
        return math.prod(self._coded_file().n_levels)

    def _coded_file(self) -> CodedFile:
        if self._file is None:
            raise CallError("nothing is fitted yet; call fit(original) first")
        return self._file

    def _noisy_shares(self, file: CodedFile, epsilon: float) -> NDArray[np.float64]:
        """Shares of all cells from noisy counts; the same for all where no count is left."""
        n_cells = math.prod(file.n_levels)
        if n_cells > MAX_CELLS:
            raise CallError(
                f"the cross table of {len(file.variables)} columns has {_many(n_cells)} cells and every one needs "
                f"noise; at most {MAX_CELLS} fit in memory: group or drop columns, or use dp_bayesnet"
            )
        counts = np.bincount(cells_of(file.codes, file.n_levels), minlength=n_cells).astype(np.float64)
        sensitivity = 1 if self.neighbours == "add_remove" else 2
        noisy = noisy_counts(
            counts + self.prior / n_cells, sensitivity / epsilon, np.random.default_rng(self.noise_seed)
        )
        total = noisy.sum()
        return noisy / total if total > 0 else np.full(n_cells, 1 / n_cells)

    def _draw(self, n: int, rng: np.random.Generator) -> list[Codes]:
        file = self._coded_file()
        if self._shares is not None:
            reached = np.cumsum(self._shares)
            cells = np.searchsorted(reached, rng.random(n) * reached[-1], side="right")
            return _levels(cells, file.n_levels)
        # the share a / (n + a) of the records comes from the even prior: no table of all cells is needed
        records = rng.integers(file.n, size=n)
        from_prior = np.flatnonzero(rng.random(n) * (file.n + self.prior) < self.prior)
        drawn = [codes[records] for codes in file.codes]
        for column, n_levels in zip(drawn, file.n_levels, strict=True):
            column[from_prior] = rng.integers(n_levels, size=from_prior.size)
        return drawn


def _many(number: int) -> str:
    """A large number for a message; it may be beyond floating-point numbers."""
    return str(number) if number < 10**12 else f"about 10^{len(str(number)) - 1}"


def _levels(cells: NDArray[np.integer[Any]], n_levels: Sequence[int]) -> list[Codes]:
    """Codes of every record; the opposite of :func:`cells_of` for all columns."""
    levels = []
    for size in reversed(n_levels):
        cells, code = np.divmod(cells, size)
        levels.append(code.astype(np.int32))
    return levels[::-1]


def _counts(original: Sequence[Codes], release: Sequence[Codes]) -> NDArray[np.int64]:
    """Number of original records in the cell of every released record, however many cells there are."""
    n = original[0].size
    cells = np.zeros(n + release[0].size, dtype=np.int64)
    for one, other in zip(original, release, strict=True):
        # numbered anew for every column, so that the numbers stay below records times levels
        _, cells = np.unique(cells * (int(one.max()) + 1) + np.concatenate([one, other]), return_inverse=True)
    return np.bincount(cells[:n], minlength=int(cells.max()) + 1)[cells[n:]]
