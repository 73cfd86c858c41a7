"""All variables at once: a Bayesian network, with differential privacy or without."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_shares, check_whole_numbers
from unveil.errors import CallError
from unveil.files.source import Kind
from unveil.synthesis.likelihood import LogProbability, summed
from unveil.synthesis.methods.coded_file import CodedFile, Codes, cells_of
from unveil.synthesis.methods.coded_synthesizer import SENSITIVITY, CodedSynthesizer, Neighbours
from unveil.synthesis.methods.laplace import Bits, check_epsilon, exponential_choice, noisy_counts
from unveil.synthesis.methods.public import PublicFile

MAX_CELLS = 1 << 20
"""Largest table of a variable and its parents."""
MAX_CANDIDATES = 1_000_000
"""Most candidates (variable and parents) that are compared."""
FINE = 1 << 30
"""Scores are whole numbers of 1 / FINE bit, far above the error of sums in double precision."""
ADDED = 1.2
"""Largest change of the score by a record that is added or removed."""


@dataclass(frozen=True, eq=False)
class NetworkNode:
    """A variable of the network.

    Parameters
    ----------
    name : str
        The variable.
    parents : tuple of str
        The variables that it depends on.
    """

    name: str
    parents: tuple[str, ...]


@dataclass(kw_only=True, eq=False, repr=False)
class BayesNetworkSynthesizer(CodedSynthesizer):
    """Draw records from a Bayesian network that is built greedily (PrivBayes).

    ``P(x_1, ..., x_d) = prod_i P(x_i | parents_i)``, every variable with at most ``degree`` parents among those
    before it. The first variable is drawn at random. Then, ``d - 1`` times, the variable and the parents with the
    largest mutual information ``I`` are taken, by the exponential mechanism: with probability proportional to
    ``exp(e I / (2 S))``, ``e = structure_share * epsilon / (d - 1)``. Where one of ``n`` records is replaced,

    * ``S = log2(n) / n + (n - 1) / n log2(n / (n - 1))`` if the variable or its parents are binary,
    * ``S = 2 / n log2((n + 1) / 2) + (n - 1) / n log2((n + 1) / (n - 1))`` otherwise.

    If one record is added or removed, ``n`` is not known to everybody, and ``n I / (log2(n + 1) + log2(e))`` replaces
    ``I``, with ``S = 1.2`` (see :func:`_score`).

    The rest of ``epsilon`` is for the tables: the counts of ``d - degree`` variables with their parents have discrete
    Laplace noise of scale ``s (d - degree) / ((1 - structure_share) epsilon)``, with ``s = 2`` if a record is replaced
    and 1 if one is added or removed; negative counts become 0, and counts become shares given the parents (equal shares
    if all are 0). The first ``degree`` variables need no table: the table of the next variable holds them. Choices and
    noise are drawn without rounding. All releases of a fit together have the privacy loss ``epsilon``; another fit adds
    its privacy loss.

    With ``epsilon`` only the schema gives levels: declared levels, also those that no record has; amounts are counted
    in the parts between declared bounds (amounts beyond them in the first or last part), and drawn uniformly within a
    part. A record with a level that is not declared is an error. Without ``epsilon`` levels are the values that occur,
    and numbers count as categories.

    Parents whose table with the variable has more than ``2^20`` cells are not considered.

    Parameters
    ----------
    epsilon : float, optional
        Privacy budget; None or infinity for no noise and no guarantee: the best parents at every step, exact shares.
    neighbours : {"replace", "add_remove"}
        Files that the guarantee cannot tell apart: with one record replaced, where the number of records is known to
        everybody; or with one record more or less, where :meth:`sample` needs the number of records.
    degree : int
        Largest number of parents.
    structure_share : float
        Share of the budget that is spent on the network's structure.
    kinds : mapping of str to kind, optional
        Kinds of columns, if the file does not tell.
    schema
        Levels and bounds that are known to everybody: a schema file, or a mapping of columns to declarations, such as
        ``{"sex": {"levels": ["f", "m"]}, "income": {"bounds": [0, 100000], "bins": 20, "gaps": True}}``. By default
        the schema with which the original was read (``unveil.read(file, schema=...)``).
    noise_seed : int, optional
        Seed of the noise and the choices, for experiments only: somebody who knows it can subtract the noise. By
        default they come from the operating system.

    References
    ----------
    Zhang, J., Cormode, G., Procopiuc, C. M., Srivastava, D. & Xiao, X. (2017). PrivBayes: private data release via
    Bayesian networks. ACM Transactions on Database Systems 42 (4), 25, algorithms 1 to 4. doi:10.1145/3134428
    Ping, H., Stoyanovich, J. & Howe, B. (2017). DataSynthesizer: privacy-preserving synthetic datasets. SSDBM
    2017, 42. doi:10.1145/3085504.3091117

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from unveil.synthesis.methods.whole_file import BayesNetworkSynthesizer
    >>> original = pa.table({"x": [0, 0, 1, 1], "same": ["a", "a", "b", "b"]})
    >>> fitted = BayesNetworkSynthesizer(epsilon=None, degree=1, noise_seed=1).fit(original)
    >>> [len(node.parents) for node in fitted.network]
    [0, 1]
    >>> np.exp(fitted.log_prob(pa.table({"x": [1, 1], "same": ["b", "a"]})).records).tolist()
    [0.5, 0.0]
    """

    mechanism = "exponential mechanism for the parents, discrete Laplace noise on the counts of the tables"
    draws_in_fit = True
    """The network and its noise are random: :meth:`log_prob` is conditional on them."""

    epsilon: float | None = 1.0
    neighbours: Neighbours = "replace"
    degree: int = 2
    structure_share: float = 0.3
    kinds: Mapping[str, Kind] | None = None
    schema: Any = None
    noise_seed: int | None = None
    _file: CodedFile | PublicFile | None = field(default=None, init=False)
    _parents: Mapping[int, tuple[int, ...]] = field(default_factory=dict, init=False)
    _tables: Mapping[int, NDArray[np.float64]] = field(default_factory=dict, init=False)

    def fit(self, original: Any, *, seed: int | None = None) -> BayesNetworkSynthesizer:
        """Find the network and its tables.

        Parameters
        ----------
        original
            A path, or a frame with the Arrow C stream interface.
        seed
            Seed of the first variable, if there is no noise; noise cannot be repeated.

        Returns
        -------
        BayesNetworkSynthesizer
            Itself.

        Raises
        ------
        CallError
            If a setting is out of range, there are too many candidate parents, a column has too many values, or a
            column lacks public levels or bounds for noise.
        DataError
            If the file cannot be read or has no records, or a record has a value that is not declared.
        """
        check_whole_numbers(0, degree=self.degree)
        check_shares(structure_share=self.structure_share)
        epsilon = check_epsilon(self.epsilon)
        file = self._open(original)
        degree = min(self.degree, len(file.variables) - 1)
        _check_size(file, degree)
        structure = epsilon * self.structure_share if degree and epsilon < math.inf else 0.0
        bits = Bits(seed if self.noise_seed is None and not self.is_private else self.noise_seed)
        self._parents = _structure(file, degree, structure, self.neighbours, bits)
        rest = (epsilon - structure) / SENSITIVITY[self.neighbours]
        self._tables = _tables(file, self._parents, degree, rest, bits)
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
            Sum, by variable and by record, given the random network and noise.

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
        logs = {}
        for x, parents in self._parents.items():
            row = cells_of(codes, file.n_levels, parents)
            with np.errstate(divide="ignore"):
                log = np.log(self._tables[x][row, codes[x]]) + file.within(x)[codes[x]]
            log[unknown[x]] = -math.inf
            logs[file.variables[x].name] = log
        return summed(logs, source.num_rows, lambda name, record: source.column(name)[record].as_py())

    @property
    def network(self) -> tuple[NetworkNode, ...]:
        """The variables in the order of the network, with their parents."""
        names = [variable.name for variable in self._coded_file().variables]
        return tuple(NetworkNode(names[x], tuple(names[j] for j in others)) for x, others in self._parents.items())

    def _draw(self, n: int, rng: np.random.Generator) -> list[Codes]:
        n_levels = self._coded_file().n_levels
        drawn = [np.zeros(n, dtype=np.int32) for _ in n_levels]
        for x, parents in self._parents.items():
            row = cells_of(drawn, n_levels, parents)
            reached = np.cumsum(self._tables[x], axis=1)
            reached /= reached[:, -1:]
            reached += np.arange(reached.shape[0])[:, np.newaxis]
            # below the next row's first number, whatever the rounding of the sum
            wanted = np.minimum(row + rng.random(n), np.nextafter(row + 1.0, 0.0))
            place = np.searchsorted(reached.ravel(), wanted, side="right")
            drawn[x] = (place - row * n_levels[x]).astype(np.int32)
        return drawn


def _check_size(file: CodedFile | PublicFile, degree: int) -> None:
    """Raise an error for a network that would take hours or not fit in memory."""
    d = len(file.variables)
    candidates = d * math.comb(d - 1, degree)
    if candidates > MAX_CANDIDATES:
        raise CallError(
            f"with degree {degree} the {d} columns have {candidates} candidates for parents, more than "
            f"{MAX_CANDIDATES}; use a smaller degree"
        )
    for variable in file.variables:
        if variable.n_levels > MAX_CELLS:
            raise CallError(
                f"column {variable.name!r} has {variable.n_levels} values, more than {MAX_CELLS}; group or drop it"
            )


def _structure(
    file: CodedFile | PublicFile, degree: int, epsilon: float, neighbours: str, bits: Bits
) -> dict[int, tuple[int, ...]]:
    """Parents of each variable, in the order of the network; without epsilon the best ones."""
    d = len(file.variables)
    parents: dict[int, tuple[int, ...]] = {bits.whole_below(d): ()}
    known: dict[tuple[int, tuple[int, ...]], float] = {}
    while len(parents) < d:
        candidates = _candidates(parents, degree, file.n_levels)
        for x, others in candidates:
            if (x, others) not in known:
                known[x, others] = _information(file, x, others)
        found = [known[candidate] for candidate in candidates]
        if epsilon:
            scores, sensitivity = _score(file, candidates, found, neighbours)
            place = exponential_choice(scores, Fraction(epsilon) / (d - 1), sensitivity, bits)
        else:
            place = int(np.argmax(found))
        x, chosen = candidates[place]
        parents[x] = chosen
    return parents


def _score(
    file: CodedFile | PublicFile,
    candidates: Sequence[tuple[int, tuple[int, ...]]],
    found: Sequence[float],
    neighbours: str,
) -> tuple[list[int], int]:
    """Return scores of candidates as whole numbers, and their largest change between neighbouring files.

    If a record is added to ``n``, ``T = n I`` changes by ``h(a) - h(b) - h(c) + h(n)``, where ``a <= b, c <= n`` are
    the records with the values of the new one, and ``h(k) = (k + 1) log2(k + 1) - k log2(k)`` ascends and is at most
    ``L(k) = log2(k + 1) + log2(e)``: by at most ``L(n)``. As ``T <= n log2(n)``, the score ``T / L(n)`` changes by at
    most ``1 + n log2(n) (1 / L(n) - 1 / L(n + 1))``, which is below 1.2 for every ``n``.
    """
    if neighbours == "replace":
        scores, most = found, max(_sensitivity(file, x, others) for x, others in candidates)
    else:
        scores, most = [file.n * one / (math.log2(file.n + 1) + math.log2(math.e)) for one in found], ADDED
    # Rounding can add one step each way, in the score and in its sums.
    return [round(one * FINE) for one in scores], math.ceil(most * FINE) + 4


def _tables(
    file: CodedFile | PublicFile, parents: Mapping[int, tuple[int, ...]], degree: int, epsilon: float, bits: Bits
) -> dict[int, NDArray[np.float64]]:
    """Return by variable the shares of its levels (columns) given its parents (rows)."""
    # the table of the next variable gives those of the first variables, if it holds all of them
    order = list(parents)
    holder = order[degree]
    free = degree if len(parents[holder]) == degree else 0
    scale = (len(order) - free) / epsilon
    joint = {}
    for x in order[free:]:
        shape = tuple(file.n_levels[j] for j in (*parents[x], x))
        cells = cells_of(file.codes, file.n_levels, (*parents[x], x))
        counts = np.bincount(cells, minlength=math.prod(shape))
        joint[x] = noisy_counts(counts, scale, bits).reshape(shape)
    tables = {x: _conditional(table) for x, table in joint.items()}
    for x in order[:free]:
        tables[x] = _conditional(_margin(joint[holder], parents[holder], (*parents[x], x)))
    return tables


def _candidates(order: Collection[int], degree: int, n_levels: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Return the possible next variables, each with as many parents as the tables allow."""
    remaining = [x for x in range(len(n_levels)) if x not in order]
    for size in range(min(degree, len(order)), -1, -1):
        found = [
            (x, others)
            for others in combinations(sorted(order), size)
            for x in remaining
            if n_levels[x] * math.prod(n_levels[j] for j in others) <= MAX_CELLS
        ]
        if found:
            return found
    raise AssertionError("a variable without parents is always possible")


def _information(file: CodedFile | PublicFile, x: int, others: tuple[int, ...]) -> float:
    """Return the mutual information in bits between a variable and others."""
    if not others:
        return 0.0
    joint = cells_of(file.codes, file.n_levels, (*others, x))
    return _entropy(file.codes[x]) + _entropy(joint // file.n_levels[x]) - _entropy(joint)


def _entropy(cells: NDArray[np.integer[Any]]) -> float:
    """Return the entropy in bits."""
    counts = np.bincount(cells)
    shares = counts[counts > 0] / cells.size
    return float(-(shares * np.log2(shares)).sum())


def _sensitivity(file: CodedFile | PublicFile, x: int, others: tuple[int, ...]) -> float:
    """Return the largest change of the mutual information by a replaced record (PrivBayes, lemma 4.1)."""
    n = file.n
    if n == 1:
        return 1.0
    if file.n_levels[x] <= 2 or math.prod(file.n_levels[j] for j in others) <= 2:
        return math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def _conditional(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of the last variable's levels given the others; equal shares if all counts are 0."""
    table = joint.reshape(-1, joint.shape[-1])
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[1])


def _margin(joint: NDArray[np.float64], axes: tuple[int, ...], wanted: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the sums of a table over all other variables, with the axes in the wanted order."""
    away = tuple(i for i in range(joint.ndim) if i == joint.ndim - 1 or axes[i] not in wanted)
    left = [j for j in axes if j in wanted]
    margin: NDArray[np.float64] = joint.sum(axis=away).transpose([left.index(j) for j in wanted])
    return margin
