"""The function :func:`posterior`: what an intruder learns about single records."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from unveil._posterior.advice import advise
from unveil._posterior.candidate_records import CandidateRecords, perhaps_misspelt, remarks_on
from unveil._posterior.checked_options import CheckedOptions, PriorChoice, check_options
from unveil._posterior.checkpoint import Checkpoint
from unveil._posterior.choice import make_problem
from unveil._posterior.fingerprint import fingerprint
from unveil._posterior.plausible import LARGEST_IMPOSSIBLE
from unveil._posterior.result import PosteriorRisk
from unveil._posterior.run import Progress, work_out
from unveil._posterior.selection import Selection, pooled_label
from unveil._posterior.summary import measures
from unveil.checks import check_flags, is_number
from unveil.columns import CodedColumn, Pair
from unveil.columns.pair_first import pair_first, refuse_units
from unveil.errors import CallError, UnveilError, UnveilWarning
from unveil.notes import warn
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.synthpop import made_otherwise


@pair_first
def posterior(
    pair: Pair,
    synthesizer: Any,
    *,
    target: str | Sequence[str] | None = None,
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
    """Compute what an intruder learns about a record who knows all other records and the synthesizer.

    The intruder knows all original records except one, the synthesizer with its settings, and the ``known`` variables
    of that record. After seeing the release Z,

    ``p(value c | Z) = p(Z | D_c) p(c) / sum``, where ``D_c`` is the original with the record given the value c.

    For sequential CART the likelihood is a product of donor shares: with N donors of value v among M in a leaf and S
    synthetic records with it, ``log p(Z | D_c) = sum S log(N / M)``. Nothing is simulated.

    Parameters
    ----------
    pair
        The original and its releases.
    synthesizer
        The synthesizer that made the releases, with its settings: a :class:`unveil.CartSynthesizer`, fitted or not; a
        saturated multinomial (exact), also with differentially private noise; any object with ``fit(frame)`` and
        ``log_prob(frame)`` (fitted again for every world) or ``sample(n, seed=...)`` (simulated).
    target
        The variable, or the variables, whose value the intruder wants to know.
    known : "all" or sequence of str
        What the intruder knows about the record: all other variables, or some. The posterior is then a sum over the
        variables that are not known, with their prior.
    candidates
        Values in question; with several targets by target. Default: all values of the original and the releases. Pairs
        (low, high) are intervals of a numeric target. The truth is always among them. A frame, or a list of mappings,
        holds records that may stand in the place of each record, in all its columns at once: their columns are then
        what is not known, and ``target`` and ``known`` are left out.
    prior : {"uniform", "marginal", "conditional"}, Prior or array
        The same for all values; the frequencies among the other records; the frequencies given the known variables, by
        a tree fitted to other records, with 5 percent of the marginal; or probabilities by value, in one row or in one
        row per original record.
    structure : {"fixed", "exact", "both"}
        Whether the intruder uses donor counts alone, or also that the shape of the trees depends on the record.
    records : "all", indices, truth values or a result
        The records to compute. A result of :func:`unveil.attribute` or :func:`unveil.rapid` stands for the records
        that it flags.
    sample
        Number of records that are drawn at random from these; default: all of them.
    releases : {"pooled", "each", "both"}
        All releases together, as an intruder has them; each release alone; or both, the pooled ones first.
    intruder_errors
        Number of the intruder's other records that are wrong. Each takes every value from another record; ``seed``
        decides which records and values. The intruder does not know which are wrong: a released value that they make
        impossible rules nothing out, but is a factor of ``1 / (2 n c)`` in the likelihood, for n records and c values.
    withheld
        Variables whose released values do not count, for example because they were overwritten before release.
    largest_impossible
        Largest share of released values that may be impossible under the synthesizer. Up to this share they are left
        out, with a warning.
    check_settings
        Whether to test, for sequential CART, if the assumed settings can have drawn the counts of the releases from
        this original. A warning says if not, with at most one false alarm in a million.
    replicates
        Number of synthetic files per world if the likelihood is simulated.
    seed
        Seed of simulations, samples and the intruder's errors.
    time_limit
        Seconds after which no further record is begun; default: no limit. Records are then taken in a random order that
        depends on the seed alone, so that those computed are a random sample. The time is divided evenly among
        structures and releases; what one does not use goes to the next. At least one record is always computed; the
        time before the records, and that of the first record of trees that are walked, does not count.
    progress
        Function that is called with the number of records done, their total, and the release and structure.
    checkpoint
        File with finished records, so that a run that was interrupted, or ran out of time, continues where it stopped.
        The file is confidential, and nobody but its owner can read it; it is removed when all records are done. A file
        that is damaged, or that belongs to other files or options, is refused.

    Returns
    -------
    PosteriorRisk
        Figures by record and over all records.

    Raises
    ------
    CallError
        If an option does not fit the data.
    DataError
        If the synthesizer cannot have made the releases, or the checkpoint belongs to another run.
    FileError
        If the checkpoint is damaged, is another kind of file, or cannot be written.

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
    refuse_units(pair, "posterior")
    check_flags(check_settings=check_settings)
    if not is_number(largest_impossible) or not 0 <= largest_impossible <= 1:
        raise CallError(f"largest_impossible must be a share from 0 to 1, not {largest_impossible!r}")
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
    told = [*made_otherwise(pair.releases, options.synthesizer), *problem.warnings]
    if isinstance(problem.worlds, CandidateRecords):
        told += remarks_on(problem.sequence, problem.worlds, options.members)
    elif not options.intervals:
        told += perhaps_misspelt(problem.sequence, options.candidates)
    for text in told:
        warn(text)
    done = {name: min(one[name].members.size for one in posteriors) for name in problem.structures}
    columns = shown_columns(pair, problem.sequence.withheld)
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
        _walked=problem.kind == "cart",
        _posterior=posterior,
        _again=_advisor(options) if isinstance(options.synthesizer, CartSynthesizer) else None,
    )


def shown_columns(pair: Pair, withheld: Sequence[str]) -> list[CodedColumn]:
    """Return the columns that are not withheld; their warnings were given when they were coded for the likelihood."""
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
        if options.rows is not None:
            raise CallError("advice is for the values of a target; name one instead of candidates that are records")
        return advise(options.pair, options.synthesizer, risk, prior=options.prior, **settings)

    return again
