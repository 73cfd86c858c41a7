"""The risk in the population from which the original is a sample: how many sample uniques are population uniques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from unveil._tables.keyed_pair import Groups
from unveil._tables.sample_risks import MODELS, SAMPLE, SampleRisks
from unveil._tables.study import pair_of, study_of
from unveil.checks import check_choice, check_shares
from unveil.columns.pair import Pair
from unveil.columns.weights import Weights, weights_of
from unveil.errors import CallError, enough_memory
from unveil.files.source import Flavour
from unveil.result import Result, as_frame, columns_of, frame

Interactions = Literal["selected", "none", "all"]
INTERACTIONS = ("selected", "none", "all")


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
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    _risks: SampleRisks = field(repr=False, compare=False)

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
    risks = SampleRisks(study, sampled, interactions, 0 if is_alone else pair.n_releases)
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
        unit=pair.unit,
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
