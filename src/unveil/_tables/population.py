"""The risk in the population from which the original is a sample: how many sample uniques are population uniques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._tables.cell_risks import Expected, inverse_size
from unveil._tables.keyed_pair import Groups, KeyedPair
from unveil._tables.log_linear_risk import (
    MOST_CELLS,
    MOST_SEARCHED,
    LogLinear,
    SampleTable,
    UniquesRisk,
    models_tried,
)
from unveil._tables.study import pair_of, study_of
from unveil.checks import check_choice, check_shares, check_whole_numbers
from unveil.columns.pair import Pair
from unveil.columns.weights import Weights, weights_of
from unveil.errors import CallError, enough_memory
from unveil.files.arrays import from_numpy
from unveil.files.source import Flavour
from unveil.notes import Note
from unveil.result import Result, as_frame, columns_of, frame

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Interactions = Literal["selected", "none", "all"]

MODELS = ("log-linear", "weights")
INTERACTIONS = ("selected", "none", "all")
SAMPLE = "sample"
"""What the row of all sample uniques is called."""


@dataclass(frozen=True, repr=False)
class PopulationRisk(Result):
    """How many records that are unique in a sample are unique in its population, and are found there.

    Attributes
    ----------
    keys
        The key variables.
    population
        Number of persons in the population.
    weights
        The column of design weights; None where they were given otherwise, or all records stand for equally many.
    figures
        Per group of records and model a mapping: ``who``, "sample" for all sample uniques, or a release for those that
        are unique in it too; ``records``, their number; ``model``, "log-linear" or "weights"; ``population_uniques``,
        how many of them are expected to be unique in the population, and ``correct_matches``, how many an intruder is
        expected to find who takes one person of the population with the same keys at random; each with ``_low`` and
        ``_high``, the ends of its interval.
    tried
        The log-linear models in the order in which they were tried, each a mapping: ``interactions``, pairs of keys;
        ``error``, ``deviation`` and ``z``, its error about the population uniques, in records and in standard errors;
        ``population_uniques``. The last is the one that is used.
    level
        Coverage of the intervals.
    n_original, n_synthetic
        Number of records of the original, and of each release; no release where the original was measured alone.
    labels
        What the releases are called.
    grouping
        How numeric keys were cut, by key.
    undefined
        By model that is not defined, the reason.
    warnings
        What deserves a look in the files and the weights.
    """

    _words = "words.population.population"
    _drawing = "plots.population.plot_population"

    keys: tuple[str, ...]
    population: float
    weights: str | None
    figures: tuple[Mapping[str, Any], ...]
    tried: tuple[Mapping[str, Any], ...]
    level: float
    n_original: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    grouping: Mapping[str, Mapping[str, object]]
    undefined: Mapping[str, str]
    warnings: tuple[str, ...]
    flavour: Flavour
    _risks: _Risks = field(repr=False, compare=False)

    @property
    def model(self) -> str:
        """The model of the headline figures: the log-linear one where it is defined."""
        return next(model for model in MODELS if model not in self.undefined)

    @property
    def sample_uniques(self) -> int:
        """Number of records that are unique in the sample."""
        return int(self.figures[0]["records"])

    @property
    def population_uniques(self) -> float:
        """How many sample uniques are expected to be unique in the population (tau_1)."""
        return float(self.headline(SAMPLE)["population_uniques"])

    @property
    def correct_matches(self) -> float:
        """How many sample uniques an intruder is expected to match correctly (tau_2)."""
        return float(self.headline(SAMPLE)["correct_matches"])

    def headline(self, who: str) -> Mapping[str, Any]:
        """The figures of a group of records by the model of the headline."""
        return next(one for one in self.figures if one["who"] == who and one["model"] == self.model)

    def _columns(self) -> dict[str, Any]:
        """A row per group of records and model."""
        return columns_of(self.figures)

    def records(self, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per original record: its number from 0, and its risk. This is confidential.

        Returns
        -------
        frame
            ``sample_count``, records with the same keys; ``population_count``, the sum of their weights; ``unique``;
            ``replicated_unique``, where there is a release; ``risk_weights``, E(1/F) by the weights;
            ``alone_log_linear`` and ``risk_log_linear``, of sample uniques, the probability of being unique in the
            population and E(1/F).
        """
        return as_frame(pa.table(self._risks.of_records(release)), flavour or self.flavour)

    def by(self, column: str, *, flavour: Flavour | None = None) -> Any:
        """For each level of a column of the original: records, sample uniques, and what is expected of these."""
        return frame(self._risks.by_level(column, self.model), flavour or self.flavour)


@enough_memory()
def population_risk(
    pair: Any, keys: str | Sequence[str], *, weights: Any = None, population: float | None = None,
    interactions: Interactions = "selected", use_keys_na: bool | Mapping[str, bool] = True,
    ngroups_keys: Groups = None, level: float = 0.95,
) -> PopulationRisk:  # fmt: skip
    """Measure how many persons who are unique in a sample are unique in the population.

    A person who is unique on the keys in the original need not be unique in the population that it was drawn from. An
    intruder who does not know who is in the sample can be sure of a match only where there is nobody else.

    Parameters
    ----------
    pair
        The sample and its releases: a :class:`unveil.Pair`. Or the sample by itself, as :func:`unveil.read` takes it.
    keys
        The key variables: what an intruder knows of a person.
    weights
        Design weights: a column of the original, or one positive number per record; by default those of the pair, or
        the column that a schema declares. Without any, all records stand for equally many persons.
    population
        Number of persons in the population; by default that of the pair, or the sum of the weights.
    interactions
        Of the log-linear model: "selected", those of two keys that its error asks for; "none", main effects alone;
        "all", all of two keys.
    use_keys_na
        Whether combinations in which a key is missing count; one flag, or one per key.
    ngroups_keys
        Number of groups into which numeric keys are cut: for all of them, or by key.
    level
        Coverage of the intervals.

    Returns
    -------
    PopulationRisk
        By both models, of the sample uniques and of those that are unique in each release: how many are unique in the
        population, and how many an intruder matches correctly.

    Raises
    ------
    CallError
        If neither weights nor a population are given, a key is unknown or repeated, or the population is smaller than
        the sample.
    DataError
        If a weight is missing or not positive, or a release lacks a key.

    Notes
    -----
    Of the ``F_k`` persons of the population in cell k (a combination of keys), ``f_k`` are in the sample. Summed over
    the cells with ``f_k = 1``, ``tau_1 = sum Pr(F_k = 1 | f_k = 1)`` and ``tau_2 = sum E(1 / F_k | f_k = 1)``.

    - *weights* (Benedetti & Franconi): ``F_k`` has the negative binomial posterior with ``p_k = f_k / sum of weights``,
      so that a sample unique has ``Pr(F_k = 1) = p_k`` and ``E(1 / F_k) = -p_k log(p_k) / (1 - p_k)``. It knows nothing
      of a cell but its weights, and takes a cell as large as chance made its sample: where few persons share a cell it
      says too little.
    - *log-linear* (Skinner & Shlomo): ``F_k`` is Poisson with mean ``l_k``, and so is the unseen part of the cell, with
      mean ``(1 - pi_k) l_k``. The ``l_k`` follow a log-linear model of the keys, fitted to the sample: a cell learns
      from others with some of its levels. ``Pr(F_k = 1) = exp(-(1 - pi_k) l_k)`` and
      ``E(1 / F_k) = (1 - exp(-(1 - pi_k) l_k)) / ((1 - pi_k) l_k)``. Where weights differ the model is fitted to their
      sums (pseudo maximum likelihood), and ``pi_k = 1 / weight``.

    A log-linear model with too few interactions says too much, one with too many too little. Interactions are added,
    from main effects on, until the error of tau_1 that the sample shows is below 1.96 standard errors.

    The interval says where the number itself lies: given the probabilities it varies as a sum of independent events;
    the log-linear one also has the variance of the fitted model, and the square of the error that the sample shows.

    References
    ----------
    Benedetti, R. & Franconi, L. (1998). Statistical and technological solutions for controlled data dissemination.
    Pre-proceedings of New Techniques and Technologies for Statistics 1, 225-232.
    Skinner, C. & Shlomo, N. (2008). Assessing identification risk in survey microdata using log-linear models. Journal
    of the American Statistical Association 103, 989-1001. doi:10.1198/016214507000001328

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(5000, seed=1)
    >>> risk = unveil.population_risk(people.slice(0, 500), ["sex", "age", "region"], population=5000)
    >>> 0 < risk.population_uniques < risk.correct_matches < risk.sample_uniques
    True
    """
    check_choice("interactions", interactions, INTERACTIONS)
    check_shares(level=level)
    pair, is_alone = pair_of(pair)
    sampled = _sampled(pair, weights, population)
    study = study_of(pair.in_memory, keys, ngroups_keys=ngroups_keys, use_keys_na=use_keys_na)
    risks = _Risks(study, sampled, interactions, 0 if is_alone else pair.n_releases)
    return PopulationRisk(
        keys=study.keys,
        population=sampled.population,
        weights=sampled.column,
        figures=tuple(risks.figures(level)),
        tried=tuple(risks.described()),
        level=level,
        n_original=pair.n_original,
        n_synthetic=() if is_alone else pair.n_synthetic,
        labels=() if is_alone else pair.labels,
        grouping=study.groupings(),
        undefined=risks.undefined,
        warnings=(*study.notes(), *sampled.notes, *risks.notes()),
        flavour=pair.flavour,
        _risks=risks,
    )


def _sampled(pair: Pair, weights: Any, population: float | None) -> Weights:
    """The weights of the call, or else those of the pair."""
    own = pair.weights
    if weights is None and population is None and own is not None:
        return own
    if weights is None and own is not None:
        weights = own.column or own.values
    found = weights_of(pair.original, weights, population)
    if found is None:
        raise CallError(
            "nothing says what the sample stands for: name the column of its weights (weights), or the size of the "
            "population (population)"
        )
    return found


@dataclass(frozen=True, eq=False)
class _Risks:
    """The risks of the records of a sample.

    Parameters
    ----------
    study
        The keys of the files.
    weights
        What the records stand for.
    interactions
        Of the log-linear model.
    n_releases
        Number of releases; 0 where the original is measured alone.
    """

    study: KeyedPair
    weights: Weights
    interactions: str
    n_releases: int

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(n,) sampled records with the keys of each record."""
        q = self.study.combinations
        found: NDArray[np.int64] = q.tallies[0][q.original]
        return found

    @cached_property
    def population_counts(self) -> Floats:
        """(n,) sum of the weights of the records with the keys of each record."""
        q = self.study.combinations
        found: Floats = np.bincount(q.original, self.weights.values, q.size)[q.original]
        return found

    @cached_property
    def share(self) -> Floats:
        """(n,) sampled share of the cell of each record."""
        return np.minimum(1.0, self.counts / self.population_counts)

    @cached_property
    def unique(self) -> Flags:
        """(n,) which records are unique in the sample."""
        found: Flags = (self.counts == 1) & self.study.counted[self.study.combinations.original]
        return found

    @cached_property
    def table(self) -> SampleTable:
        """The sample as a table of its keys."""
        return SampleTable.of([column.original for column in self.study.columns], self.weights.values)

    @cached_property
    def tried(self) -> list[LogLinear]:
        """The log-linear models; none where the table is too large."""
        return [] if self.undefined else models_tried(self.table, self.interactions)

    @cached_property
    def undefined(self) -> dict[str, str]:
        """Why there is no log-linear model."""
        cells = self.table.n_cells
        if cells <= MOST_CELLS:
            return {}
        reason = f"the keys have {cells} combinations, and at most {MOST_CELLS} can be fitted; cut numeric keys into "
        return {"log-linear": Note(reason + "groups (ngroups_keys), or name fewer keys", _TOO_LARGE)}

    @cached_property
    def of_uniques(self) -> UniquesRisk | None:
        """The log-linear risk of the sample uniques."""
        return self._of_model(self.tried[-1]) if self.tried else None

    def _of_model(self, model: LogLinear) -> UniquesRisk:
        return UniquesRisk.of(self.table, model, np.flatnonzero(self.unique), equal=self.weights.are_equal)

    def replicated(self, release: int) -> Flags:
        """(n,) which records are unique in the sample and in a release."""
        found: Flags = self.study.flags(release)["replicated_unique"][self.study.combinations.original]
        return found

    def probabilities(self, model: str) -> tuple[Floats, Floats]:
        """Of each sample unique the probability to be unique in the population, and of a correct match."""
        if model == "log-linear":
            assert self.of_uniques is not None
            return self.of_uniques.alone, self.of_uniques.match
        share = self.share[self.unique]
        return share, inverse_size(np.ones(len(share), np.int64), share)

    def figures(self, level: float) -> Iterator[dict[str, Any]]:
        """What is expected of the sample uniques, and of those that are unique in each release."""
        groups = [(SAMPLE, self.unique)]
        groups += [(self.study.pair.labels[r], self.replicated(r)) for r in range(self.n_releases)]
        for who, flags in groups:
            chosen = flags[self.unique]
            for model in MODELS:
                if model not in self.undefined:
                    yield {"who": who, "records": int(chosen.sum()), "model": model} | self._of(model, chosen, level)

    def _of(self, model: str, chosen: Flags, level: float) -> dict[str, float]:
        found: dict[str, float] = {}
        for which, (name, each) in enumerate(zip(_NUMBERS, self.probabilities(model), strict=True)):
            fitted = self.of_uniques if model == "log-linear" else None
            apart = fitted.variance(which, chosen) + fitted.error(which, chosen) ** 2 if fitted else 0.0
            one = Expected.of(each[chosen], apart, level=level)
            found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        return found

    def described(self) -> Iterator[dict[str, Any]]:
        """The log-linear models that were tried."""
        for model in self.tried:
            pairs = [[self.study.keys[axis] for axis in axes] for axes in model.margins if len(axes) == 2]
            yield {
                "interactions": pairs,
                "error": model.error,
                "deviation": model.deviation,
                "z": model.z,
                "population_uniques": float(self._of_model(model).alone.sum()),
            }

    def notes(self) -> Iterator[Note]:
        """What deserves a look in the figures."""
        if self.interactions == "selected" and MOST_SEARCHED < self.table.n_cells <= MOST_CELLS:
            yield _NOT_SEARCHED
        below = int((self.weights.values < 1 - 1e-9).sum())
        if below:
            text = "weights below 1, which stand for less than one person, count as 1 in the cells of sample uniques"
            yield Note(f"{below} records have {text}", f"some records have {text}")

    def of_records(self, release: int) -> dict[str, pa.Array]:
        """The figures of each record."""
        found: dict[str, NDArray[Any]] = {
            "sample_count": self.counts,
            "population_count": self.population_counts,
            "unique": self.unique,
        }
        if self.n_releases:
            check_whole_numbers(0, self.n_releases - 1, release=release)
            found["replicated_unique"] = self.replicated(release)
        found["risk_weights"] = inverse_size(self.counts, self.share)
        columns = self.study.pair.record_names() | {name: from_numpy(values) for name, values in found.items()}
        if self.of_uniques is not None:
            for name, values in (("alone", self.of_uniques.alone), ("risk", self.of_uniques.match)):
                of_all = np.zeros(len(self.counts))
                of_all[self.unique] = values
                columns[f"{name}_log_linear"] = pa.array(of_all, mask=~self.unique)
        return columns

    def by_level(self, name: str, model: str) -> dict[str, Any]:
        """What is expected of the sample uniques with each level of a column."""
        column = self.study.pair.column(name)
        level, unique = column.original, column.original[self.unique]
        n = np.bincount(level, minlength=column.n_levels)
        held = np.flatnonzero(n)
        sums = zip(_NUMBERS, self.probabilities(model), strict=True)
        figures = {one: np.bincount(unique, each, column.n_levels)[held] for one, each in sums}
        title = name if name not in ("n", "sample_uniques", *_NUMBERS) else f"{name} (level)"
        return {
            title: [column.labels[code] for code in held],
            "n": n[held],
            "sample_uniques": np.bincount(unique, minlength=column.n_levels)[held],
            **figures,
        }


_NUMBERS = ("population_uniques", "correct_matches")
_TOO_LARGE = "the keys have too many combinations for a log-linear model"
_NOT_SEARCHED = Note(
    f"the keys have more than {MOST_SEARCHED} combinations: the log-linear model has main effects alone, and may say "
    "too much; cut numeric keys into groups (ngroups_keys) to have interactions selected"
)
