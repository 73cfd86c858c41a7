"""The question and its answer: what an intruder learns of single records."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from unveil._posterior.advice import advise
from unveil._posterior.checked_options import CheckedOptions, PriorChoice, check_options
from unveil._posterior.checkpoint import Checkpoint
from unveil._posterior.fingerprint import fingerprint
from unveil._posterior.plausible import LARGEST_IMPOSSIBLE
from unveil._posterior.problem import make_problem
from unveil._posterior.result import PosteriorRisk
from unveil._posterior.run import Progress, work_out
from unveil._posterior.selection import Selection, pooled_label
from unveil._posterior.summary import measures
from unveil.columns import CodedColumn, Pair
from unveil.errors import UnveilError, UnveilWarning
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.synthpop import made_otherwise


def posterior(
    pair: Pair,
    synthesizer: Any,
    *,
    target: str | Sequence[str],
    known: Literal["all"] | Sequence[str] = "all",
    candidates: Any = None,
    prior: PriorChoice = "uniform",
    structure: Literal["fixed", "exact", "both"] = "both",
    records: Any = "all",
    sample: int | None = None,
    releases: Literal["pooled", "each", "both"] = "pooled",
    intruder_errors: int = 0,
    withheld: Iterable[str] = (),
    largest_impossible: float = LARGEST_IMPOSSIBLE,
    check_settings: bool = True,
    replicates: int = 100,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> PosteriorRisk:
    """Compute what an intruder learns of single records who knows all others and the synthesizer.

    The intruder knows every original record but one, the synthesizer with its settings, and of that record what is
    ``known``. After seeing the release Z,

    ``p(value c | Z) = p(Z | D_c) p(c) / sum``, where ``D_c`` is the original with the record given the value c.

    For sequential CART the likelihood is a product of donor shares: with N donors of value v among M in a leaf and S
    synthetic records with it, ``log p(Z | D_c) = sum S log(N / M)``. Nothing is simulated.

    Parameters
    ----------
    pair
        The original and its releases.
    synthesizer
        What made the releases, with its settings: a :class:`unveil.CartSynthesizer`, fitted or not; a saturated
        multinomial (exact), also with differentially private noise; any object with ``fit(frame)`` and
        ``log_prob(frame)`` (fitted anew for every world) or ``sample(n, seed=...)`` (simulated).
    target
        The variable whose value is asked for, or several.
    known : "all" or sequence of str
        What the intruder knows of the record: everything else, or some variables. The others are then summed over,
        with the prior.
    candidates
        Values in question; with several targets by target. Default: all values of the original and the releases. Pairs
        (low, high) are intervals of a numeric target. The truth is always among them.
    prior : {"uniform", "marginal", "conditional"}, Prior or array
        Equal for all values; the frequencies among the other records; the frequencies given what is known, by a tree
        that was fitted to other records, with 5 percent of the marginal; or probabilities by value, in one row or one
        row per original record.
    structure : {"fixed", "exact", "both"}
        Whether the intruder uses donor counts alone, or also that the shape of the trees depends on the record.
    records : "all", indices, truth values or a result
        The records looked at. Of a result such as that of :func:`unveil.attribute` or :func:`unveil.rapid`, the
        records that it flags.
    sample
        Number of records that are drawn at random among these; default: all of them.
    releases : {"pooled", "each", "both"}
        All releases together, as an intruder has them, or one at a time; or both, the pooled ones first.
    intruder_errors
        Number of the intruder's other records that are wrong.
    withheld
        Variables whose released values are not to count, such as those overwritten before release.
    largest_impossible
        Largest share of released values that may be impossible under the synthesizer. Up to it they are left out, with
        a warning.
    check_settings
        Whether to ask, for sequential CART, if the counts of the releases are those that the assumed settings draw from
        this original; a warning where they are not, with at most one false alarm in a million.
    replicates
        Synthetic files per world where the likelihood is simulated.
    seed
        Of simulations, of samples, and of the intruder's errors.
    time_limit
        Seconds after which no further record is begun; default: none. Records are then taken in a random order that
        depends on the seed alone, so that those worked out are a random sample. The time is divided evenly among
        structures and releases; what one leaves over goes to the next. At least one record is always worked out;
        what precedes the records, and the first record of trees that are walked (which may have to wait for a
        compiler), do not count.
    progress
        Called with the number of records done, their total, and what is being done.
    checkpoint
        A file that keeps finished records, so that a run that was interrupted, or had too little time, goes on where
        it stopped, with another time limit or none. It is confidential, and nobody but its owner can read it; it is
        removed when all records are done. One that is damaged, or of other files, settings or questions, is refused.

    Returns
    -------
    PosteriorRisk
        Per record and in all.

    Raises
    ------
    CallError
        If an option does not fit the data.
    DataError
        If the synthesizer cannot have made the releases, or the checkpoint belongs to another run.
    FileError
        If the checkpoint is damaged or no checkpoint, or cannot be written.

    References
    ----------
    Reiter, J. P., Wang, Q. & Zhang, B. (2014). Bayesian estimation of disclosure risks for multiply imputed,
    synthetic data. Journal of Privacy and Confidentiality 6 (1). doi:10.29012/jpc.v6i1.635

    Latner, J., Neunhoeffer, M. & Drechsler, J. (2025), equation 3.

    Examples
    --------
    >>> import unveil
    >>> from unveil.synthesis import CartSynthesizer
    >>> from unveil._posterior import posterior
    >>> original = unveil.simulate.latner_population(1000, seed=1)
    >>> synthesizer = CartSynthesizer().fit(original)
    >>> pair = unveil.Pair(original, synthesizer.sample(seed=3))
    >>> risk = posterior(pair, synthesizer, target=["var1", "var2", "var3", "var4"], records=[999])
    >>> risk.n_values, risk.records(flavour="arrow").column("possible_worlds").to_pylist()
    (16, [1])
    """
    options = check_options(
        pair, synthesizer, target=target, known=known, candidates=candidates, prior=prior, structure=structure,
        records=records, sample=sample, releases=releases, intruder_errors=intruder_errors, withheld=withheld,
        time_limit=time_limit, seed=seed, replicates=replicates,
    )  # fmt: skip
    problem = make_problem(options, largest_impossible, thorough=check_settings)
    finished = (
        None
        if checkpoint is None
        else Checkpoint(
            Path(checkpoint), fingerprint(options, problem.sequence), options.members, problem.outcomes.n_values
        )
    )
    labels = tuple(pooled_label([pair.labels[r] for r in group]) for group in options.groups)
    posteriors = work_out(
        problem, options.groups, labels, time_limit=time_limit, checkpoint=finished, progress=progress
    )
    told = (*made_otherwise(pair.releases, options.synthesizer), *problem.warnings)
    for text in told:
        warnings.warn(text, UnveilWarning, stacklevel=2)
    done = {name: min(one[name].members.size for one in posteriors) for name in problem.structures}
    columns = _shown(pair, problem.sequence.withheld)
    return PosteriorRisk(
        target=options.targets,
        known=options.known,
        structures=problem.structures,
        labels=labels,
        groups=options.groups,
        releases=tuple({name: measures(of_structure) for name, of_structure in one.items()} for one in posteriors),
        n_original=pair.n_original,
        n_records=options.members.size,
        n_values=problem.outcomes.n_values,
        selection=Selection(*options.chosen, options.members.size, done, time_limit),
        prior=prior if isinstance(prior, str) else "given",
        intruder_errors=intruder_errors,
        left_out=problem.left_out,
        withheld=problem.sequence.withheld,
        likelihood=problem.likelihood,
        monte_carlo_error=problem.monte_carlo_error(posteriors[0][problem.structures[-1]].members),
        largest_mean_gain=problem.largest_mean_gain(options.groups[0]),
        settings_check=problem.check,
        unmatched=pair.unmatched(columns),
        warnings=tuple(dict.fromkeys([*pair.notes(columns, by_amount=True), *told])),
        flavour=pair.flavour,
        _posteriors=tuple(posteriors),
        _pair=pair,
        _label_of=problem.outcomes.label_of,
        _posterior=posterior,
        _again=_advisor(options) if isinstance(options.synthesizer, CartSynthesizer) else None,
    )


def _shown(pair: Pair, withheld: Sequence[str]) -> list[CodedColumn]:
    """The columns that are not withheld; what they give rise to was told when they were coded for the likelihood."""
    columns: list[CodedColumn] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        for name in pair.names:
            # The synthesizer may state a kind without which a column cannot be compared.
            with suppress(UnveilError):
                columns += [] if name in withheld else [pair.column(name)]
    return columns


def _advisor(options: CheckedOptions) -> Callable[..., Any]:
    def again(risk: PosteriorRisk, **settings: Any) -> Any:
        return advise(options.pair, options.synthesizer, risk, prior=options.prior, **settings)

    return again
