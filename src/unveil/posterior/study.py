"""The question, put together: who knows what, which worlds there are, and what the releases say about them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.errors import CallError, DataError, UnveilWarning
from unveil.microdata import Pair
from unveil.microdata.nearest import near_matches
from unveil.posterior.chain import Chain, build_chain, plain_chain, refusal
from unveil.posterior.checkpoint import Checkpoint
from unveil.posterior.closed import CatallEvidence, HistogramEvidence, Table
from unveil.posterior.errors_of_intruder import with_errors
from unveil.posterior.evidence import CartEvidence, Evidence, fit_fixed_trees, links_concerned
from unveil.posterior.fixed import FixedTree
from unveil.posterior.priors import PriorChoice, prior_table
from unveil.posterior.refit import Altered, DeltaEvidence, RefitEvidence, candidates_by_name, quietly
from unveil.posterior.risk import PosteriorRisk, measures, pooled_label
from unveil.posterior.simulated import SimulatedEvidence
from unveil.posterior.weigh import KEPT, Question, Weighed, blocks_of, weigh
from unveil.posterior.worlds import Worlds, make_worlds
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer

__all__ = ["posterior"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]

MOST_EXACT = 200_000_000
MOST_FIXED = 20_000_000_000
"""Most record-world pairs that are worked on."""
MOST_VALUES = 50_000_000
"""Most values that a posterior is kept of while one record is worked on."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What is asked, checked.

    Parameters
    ----------
    pair
        The files.
    synthesizer
        Fitted to the original.
    targets, known, unknown
        Variables asked for, known of the record, and not known (targets included), in the order of visit.
    candidates
        Values in question by target, intervals apart.
    intervals
        Intervals of the values of a single numeric target, or none.
    members
        The records.
    prior
        Choice of prior.
    structures
        "fixed", "exact" or both.
    seed, replicates
        Of simulations, and of the intruder's errors.
    """

    pair: Pair
    synthesizer: Any
    targets: tuple[str, ...]
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    candidates: Mapping[str, Sequence[Any]]
    intervals: tuple[tuple[float, float], ...]
    members: Ints
    prior: PriorChoice
    structures: tuple[str, ...]
    intruder_errors: int
    seed: int
    replicates: int


def posterior(
    pair: Pair,
    synthesizer: Any,
    *,
    target: str | Sequence[str],
    known: Literal["all"] | Sequence[str] = "all",
    candidates: Any = None,
    prior: PriorChoice = "uniform",
    structure: Literal["fixed", "exact", "both"] = "both",
    records: Literal["all"] | ArrayLike = "all",
    releases: Literal["pooled", "each"] = "pooled",
    intruder_errors: int = 0,
    withheld: Iterable[str] = (),
    largest_impossible: float = 0.001,
    replicates: int = 100,
    seed: int = 0,
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
    records : "all", indices or truth values
        The records looked at.
    releases : {"pooled", "each"}
        All releases together, as an intruder has them, or one at a time.
    intruder_errors
        Number of the intruder's other records that are wrong.
    withheld
        Variables whose released values are not to count, such as those overwritten before release.
    largest_impossible
        Largest share of released values that may be impossible under the synthesizer. Up to it they are left out, with
        a warning.
    replicates
        Synthetic files per world where the likelihood is simulated.
    seed
        Of simulations, and of the intruder's errors.
    progress
        Called with the number of records done, their total, and what is being done.
    checkpoint
        A file that keeps finished records, so that an interrupted run goes on where it stopped. It is confidential.

    Returns
    -------
    PosteriorRisk
        Per record and in all.

    Raises
    ------
    CallError
        If an option does not fit the data.
    DataError
        If the synthesizer cannot have made the releases.

    References
    ----------
    Reiter, J. P., Wang, Q. & Zhang, B. (2014). Bayesian estimation of disclosure risks for multiply imputed,
    synthetic data. Journal of Privacy and Confidentiality 6 (1). doi:10.29012/jpc.v6i1.635

    Latner, J., Neunhoeffer, M. & Drechsler, J. (2025), equation 3.

    Examples
    --------
    >>> import unveil
    >>> from unveil.synthesis import CartSynthesizer
    >>> from unveil.posterior import posterior
    >>> original = unveil.simulate.latner_population(1000, seed=1)
    >>> synthesizer = CartSynthesizer().fit(original)
    >>> pair = unveil.Pair(original, synthesizer.sample(seed=3))
    >>> risk = posterior(pair, synthesizer, target=["var1", "var2", "var3", "var4"], records=[999])
    >>> risk.n_values, risk.records(flavour="arrow").column("possible_worlds").to_pylist()
    (16, [1])
    """
    setting = _setting(
        pair, synthesizer, target, known, candidates, prior, structure, records, releases, intruder_errors, seed,
        replicates,
    )  # fmt: skip
    groups = [tuple(range(pair.n_releases))] if releases == "pooled" else [(r,) for r in range(pair.n_releases)]
    labels = (pooled_label(pair.labels),) if releases == "pooled" else pair.labels
    kept = None if checkpoint is None else Checkpoint(Path(checkpoint), _fingerprint(setting, groups))
    study = _study(setting, withheld, largest_impossible)
    outcomes: list[dict[str, Weighed]] = []
    total = setting.members.size * len(groups) * len(study.structures)
    done = 0
    for g, group in enumerate(groups):
        outcome: dict[str, Weighed] = {}
        for name in study.structures:
            blocks: list[Weighed] = []
            evidence: list[tuple[Evidence, Ints]] | None = None
            slices = blocks_of(setting.members.size, study.question.n_worlds, study.slow(name))
            for i, rows in enumerate(slices):
                members = setting.members[rows]
                block = kept.load((g, name, i)) if kept else None
                if block is None:
                    evidence = study.evidence(group, name) if evidence is None else evidence
                    block = _weigh_apart(evidence, study.question, members, setting.members.size)
                    if kept:
                        kept.store((g, name, i), block)
                blocks.append(block)
                done += members.size
                if progress:
                    progress(done, total, f"{labels[g]}, {name}")
            outcome[name] = Weighed.joined(blocks)
        outcomes.append(outcome)
    if kept:
        kept.remove()
    for text in study.warnings:
        warnings.warn(text, UnveilWarning, stacklevel=2)
    return PosteriorRisk(
        target=setting.targets,
        known=setting.known,
        structures=study.structures,
        labels=tuple(labels),
        releases=tuple({name: measures(one) for name, one in outcome.items()} for outcome in outcomes),
        n_original=pair.n_original,
        n_records=setting.members.size,
        n_values=study.question.n_values,
        prior=prior if isinstance(prior, str) else "given",
        intruder_errors=intruder_errors,
        left_out=study.left_out,
        withheld=study.chain.withheld,
        likelihood=study.likelihood,
        monte_carlo_error=study.monte_carlo_error(setting.members),
        warnings=tuple(study.warnings),
        _weighed=tuple(outcomes),
        _pair=pair,
        _label_of=study.label_of,
        _again=_advisor(setting) if isinstance(setting.synthesizer, CartSynthesizer) else None,
    )


def _weigh_apart(evidence: list[tuple[Evidence, Ints]], question: Question, members: Ints, n_members: int) -> Weighed:
    """Weigh records, each with the evidence that is meant for it."""
    keep = n_members * question.n_values <= KEPT
    if len(evidence) == 1:
        return weigh(evidence[0][0], question, members, keep=keep)
    second = np.isin(members, evidence[1][1])
    order, parts = [], []
    for (one, _), chosen in zip(evidence, (np.flatnonzero(~second), np.flatnonzero(second)), strict=True):
        if chosen.size:
            parts.append(weigh(one, question, members[chosen], keep=keep))
            order.append(chosen)
    return Weighed.joined(parts).taken(np.argsort(np.concatenate(order)))


def _advisor(setting: Setting) -> Callable[..., Any]:
    def again(risk: PosteriorRisk, **settings: Any) -> Any:
        from unveil.posterior.advice import advise

        return advise(setting.pair, setting.synthesizer, risk, prior=setting.prior, **settings)

    return again


def _setting(
    pair: Pair,
    synthesizer: Any,
    target: str | Sequence[str],
    known: Literal["all"] | Sequence[str],
    candidates: Any,
    prior: PriorChoice,
    structure: str,
    records: Any,
    releases: str,
    intruder_errors: int,
    seed: int,
    replicates: int,
) -> Setting:
    names = pair.original.names
    targets = (target,) if isinstance(target, str) else tuple(target)
    if not targets:
        raise CallError("no target given: name the variable that the intruder wants to know")
    for name in targets:
        if name not in names:
            raise CallError(f"{pair.original.label} has no column {name!r}{near_matches(str(name), names)}")
    if len(set(targets)) < len(targets):
        raise CallError("a target is named more than once")
    if isinstance(known, str):
        if known != "all":
            raise CallError(f"known must be 'all' or a list of columns, not {known!r}")
        knows = tuple(name for name in names if name not in targets)
    else:
        for name in known:
            if name not in names:
                raise CallError(f"known: {pair.original.label} has no column {name!r}{near_matches(str(name), names)}")
            if name in targets:
                raise CallError(f"column {name!r} cannot be known and the target")
        knows = tuple(name for name in names if name in set(known))
    if structure not in ("fixed", "exact", "both"):
        raise CallError(f"structure must be 'fixed', 'exact' or 'both', not {structure!r}")
    if releases not in ("pooled", "each"):
        raise CallError(f"releases must be 'pooled' or 'each', not {releases!r}")
    numbers = (("intruder_errors", intruder_errors, 0), ("seed", seed, 0), ("replicates", replicates, 2))
    for option, value, least in numbers:
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise CallError(f"{option} must be a whole number from {least}, not {value!r}")
    if intruder_errors >= pair.n_original:
        raise CallError(f"intruder_errors: the intruder knows only {pair.n_original - 1} other records")
    by_name = candidates_by_name(candidates, targets)
    intervals = _intervals(by_name, targets)
    fitted = _fitted(synthesizer, pair)
    order = [plan.variable.name for plan in fitted.plans] if isinstance(fitted, CartSynthesizer) else list(names)
    return Setting(
        pair,
        fitted,
        targets,
        knows,
        tuple(name for name in order if name not in knows),
        {} if intervals else by_name,
        intervals,
        _members(records, pair.n_original),
        prior,
        ("fixed", "exact") if structure == "both" else (structure,),
        intruder_errors,
        seed,
        replicates,
    )


def _intervals(candidates: Mapping[str, Sequence[Any]], targets: Sequence[str]) -> tuple[tuple[float, float], ...]:
    """Candidates that are intervals, in ascending order."""
    given = next(iter(candidates.values()), ())
    if not given or not all(isinstance(one, tuple | list) and len(one) == 2 for one in given):
        return ()
    if len(targets) > 1:
        raise CallError("candidates can be intervals of a single numeric target only")
    found = sorted((float(low), float(high)) for low, high in given)
    for low, high in found:
        if not low <= high:
            raise CallError(f"candidates: the interval ({low}, {high}) is empty")
    for one, other in pairwise(found):
        if other[0] <= one[1]:
            raise CallError(f"candidates: the intervals {one} and {other} overlap; both ends belong to an interval")
    return tuple(found)


def _members(records: Any, n: int) -> Ints:
    if isinstance(records, str):
        if records != "all":
            raise CallError(f"records must be 'all', record numbers or truth values, not {records!r}")
        return np.arange(n, dtype=np.int64)
    given = np.atleast_1d(np.asarray(records))
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise CallError(f"records: {given.size} truth values for {n} records")
        given = np.flatnonzero(given)
    if given.size == 0:
        raise CallError("records: none is chosen")
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n:
        raise CallError(f"records must be record numbers from 0 to {n - 1}")
    if np.unique(given).size < given.size:
        raise CallError("records: a record is named more than once")
    return given.astype(np.int64)


def _fitted(synthesizer: Any, pair: Pair) -> Any:
    """The synthesizer, fitted to the pair's original."""
    if not callable(getattr(synthesizer, "fit", None)):
        raise CallError("synthesizer: give an object with fit(frame), such as CartSynthesizer()")
    if isinstance(synthesizer, CatallSynthesizer):
        # Noise that was drawn is not known to the intruder, and a fit would draw it again.
        return synthesizer
    return quietly(synthesizer, pair.original)


def _fingerprint(setting: Setting, groups: Sequence[tuple[int, ...]]) -> str:
    """What a checkpoint belongs to."""
    parts = [
        setting.targets, setting.known, setting.structures, setting.members.tolist(), groups, setting.pair.n_original,
        setting.pair.n_synthetic, setting.intruder_errors, setting.seed, dict(setting.candidates), setting.intervals,
        setting.prior if isinstance(setting.prior, str) else "given", repr(vars(setting.synthesizer).get("cart")),
    ]  # fmt: skip
    return repr(parts)


class Study:
    """A setting with its worlds, and how their likelihood is found.

    Parameters
    ----------
    setting
        What is asked.
    chain
        Codes of the files.
    kind
        "cart", "catall", "histogram", "delta", "refit" or "simulated".
    left_out
        Impossible released values by variable.
    texts
        Warnings.
    trees
        The trees of a sequence, with all releases pooled.
    """

    def __init__(
        self,
        setting: Setting,
        chain: Chain,
        kind: str,
        left_out: Mapping[str, int],
        texts: list[str],
        trees: Sequence[FixedTree] = (),
    ):
        self.setting, self.chain, self.kind = setting, chain, kind
        self.trees = {tree.link.position: tree for tree in trees}
        self.left_out, self.warnings = left_out, texts
        only = {name: _among(chain, setting, name) for name in setting.candidates}
        self.worlds = make_worlds(chain, setting.unknown, only)
        self.structures = (
            setting.structures if kind == "cart" else (("simulated",) if kind == "simulated" else ("exact",))
        )
        self.question, self.label_of = _question(setting, chain, self.worlds)
        self._simulated: SimulatedEvidence | None = None
        self._check_size()

    @property
    def likelihood(self) -> str:
        """How the likelihood was found, in words."""
        return {
            "cart": "donor shares of sequential CART",
            "catall": "closed form of the saturated multinomial",
            "histogram": "closed form of the noised histogram",
            "delta": "the synthesizer's own",
            "refit": "the synthesizer fitted to every world",
            "simulated": f"{self.setting.replicates} simulated files per world",
        }[self.kind]

    def slow(self, structure: str) -> bool:
        """Whether every record takes its time."""
        return self.kind != "cart" or structure == "exact"

    def evidence(self, releases: Sequence[int], structure: str) -> list[tuple[Evidence, Ints]]:
        """Evidence, and the records that it is meant for if not for all."""
        s = self.setting
        if self.kind == "cart":
            if s.intruder_errors:
                return [
                    (self._cart(chain, releases, structure), own)
                    for chain, own in with_errors(self.chain, s.intruder_errors, s.members, s.seed)
                ]
            return [(self._cart(self.chain, releases, structure), s.members)]
        if self.kind in ("catall", "histogram"):
            return [(self._table(releases), s.members)]
        altered = Altered(s.pair, self.chain, self.worlds)
        if self.kind == "delta":
            labels = [self.worlds.label(w, self.chain) for w in range(self.worlds.size)]
            return [(DeltaEvidence(s.synthesizer, labels), s.members)]
        if self.kind == "refit":
            return [(RefitEvidence(altered, s.synthesizer, [s.pair.releases[r] for r in releases]), s.members)]
        names = [name for name in s.pair.original.names if name not in self.chain.withheld]
        self._simulated = SimulatedEvidence(altered, s.synthesizer, self.chain, names, releases, s.replicates, s.seed)
        return [(self._simulated, s.members)]

    def monte_carlo_error(self, members: Ints) -> Floats | None:
        """Standard error of the posterior of the truth by record, where it was simulated."""
        if self._simulated is None:
            return None
        errors = np.zeros(members.size)
        for i, record in enumerate(members):
            logs = self._simulated.errors.get(int(record))
            if logs is None:
                continue
            logs = logs + self.question.log_prior(members[i : i + 1], 0, self.question.n_worlds)
            weight = np.exp(logs - logs.max(axis=1, keepdims=True))
            truth = self.question.value_of(np.arange(self.question.n_worlds)) == self.question.truth[record]
            errors[i] = float((weight[:, truth].sum(axis=1) / weight.sum(axis=1)).std())
        return errors

    def _cart(self, chain: Chain, releases: Sequence[int], structure: str) -> Evidence:
        links = links_concerned(chain, self.worlds.unknown)
        if chain is self.chain and len(releases) == len(chain.z):
            trees = [self.trees[link.position] for link in links]
        else:
            trees = fit_fixed_trees(chain, links, releases)
        if self.setting.intruder_errors:
            # Such an intruder cannot tell which values to leave out.
            trees = [replace(tree, possible=tree.link.released) for tree in trees]
        return CartEvidence(chain, self.worlds, trees, releases, exact=structure == "exact")

    def _table(self, releases: Sequence[int]) -> Evidence:
        s, chain = self.setting, self.chain
        names = [name for name in s.pair.original.names if name not in chain.withheld]
        if len(names) < len(s.pair.original.names):
            raise DataError(f"a release lacks column {chain.withheld[0]!r}; cells need all columns")
        ends = np.cumsum([chain.n, *s.pair.n_synthetic])
        released = [
            np.concatenate([chain.variables[name].codes[ends[r] : ends[r + 1]] for r in releases]) for name in names
        ]
        table = Table(
            [chain.original[name] for name in names], released, [chain.variables[name].n_levels for name in names],
            names, self.worlds,
        )  # fmt: skip
        if self.kind == "catall":
            return CatallEvidence(table, s.synthesizer.prior)
        sensitivity = 1 if s.synthesizer.neighbours == "add_remove" else 2
        if len(releases) > 1 and table.n_combinations < 2:
            raise DataError("there is only one cell; nothing is learnt from it")
        return HistogramEvidence(table, s.synthesizer.prior, sensitivity / s.synthesizer.epsilon)

    def _check_size(self) -> None:
        pairs = self.question.n_worlds * self.setting.members.size
        most = MOST_EXACT if "exact" in self.structures else MOST_FIXED
        if pairs > most or self.question.n_values > MOST_VALUES:
            raise CallError(
                f"{self.question.n_worlds} worlds for {self.setting.members.size} records are too many for structure "
                f"{self.structures[-1]!r}; name candidates, fewer records, or more that the intruder knows"
            )


def _among(chain: Chain, setting: Setting, name: str) -> NDArray[np.int32]:
    """Levels in question: the user's candidates, and the truths of the records looked at."""
    return np.concatenate([chain.further[name], chain.original[name][setting.members]])


def _study(setting: Setting, withheld: Iterable[str], largest_impossible: float) -> Study:
    """Find out how the likelihood can be had, and whether the synthesizer can have made the releases."""
    pair, synthesizer = setting.pair, setting.synthesizer
    hidden = list(withheld)
    for name in hidden:
        if name not in pair.original:
            raise CallError(f"withheld: there is no column {name!r}{near_matches(name, pair.original.names)}")
    texts: list[str] = []
    reason = None
    if isinstance(synthesizer, CartSynthesizer) and not synthesizer.proper:
        reason = refusal(synthesizer, setting.unknown)
        if reason is None:
            chain, trees = _checked_chain(setting, hidden, largest_impossible, texts)
            left_out = {tree.link.name: tree.n_impossible for tree in trees if tree.n_impossible}
            return Study(setting, chain, "cart", left_out, texts, trees)
        texts.append(f"{reason}: the synthesizer is fitted anew for every record and value, which takes long")
    chain = _plain(setting, hidden)
    kind = _kind(synthesizer)
    if kind == "simulated":
        texts.append(
            "the synthesizer has no likelihood: the posterior is simulated from the count of the record's own "
            "combination, a weak lower bound"
        )
    if setting.intruder_errors:
        raise CallError("intruder_errors: only for sequential CART whose trees can be walked")
    study = Study(setting, chain, kind, {}, texts)
    _check_truth(study, setting)
    return study


def _kind(synthesizer: Any) -> str:
    if isinstance(synthesizer, CatallSynthesizer):
        return "catall" if synthesizer.epsilon is None or math.isinf(synthesizer.epsilon) else "histogram"
    if callable(getattr(synthesizer, "delta_log_prob", None)):
        return "delta"
    if isinstance(synthesizer, CartSynthesizer):
        steps = [step.fitted for plan in synthesizer.plans for step in plan.steps]
        known = all(fitted is None or fitted.has_likelihood for fitted in steps)
        return "refit" if known and not synthesizer.proper else "simulated"
    if callable(getattr(synthesizer, "log_prob", None)):
        return "refit"
    if callable(getattr(synthesizer, "sample", None)):
        return "simulated"
    raise CallError("synthesizer: it has neither log_prob(frame) nor sample(n, seed=...)")


def _plain(setting: Setting, hidden: Sequence[str]) -> Chain:
    pair, synthesizer = setting.pair, setting.synthesizer
    names = pair.original.names
    kinds = dict(getattr(synthesizer, "kinds", None) or {})
    special = dict(getattr(synthesizer, "special_codes", None) or {})
    return plain_chain(pair, names, kinds, special, setting.candidates, hidden)


def _checked_chain(
    setting: Setting, hidden: list[str], largest_impossible: float, texts: list[str]
) -> tuple[Chain, list[FixedTree]]:
    """Codes of the files, after a look at whether the sequence can have made the releases."""
    pair, synthesizer = setting.pair, setting.synthesizer
    everything = tuple(range(pair.n_releases))
    chain = build_chain(pair, synthesizer, setting.candidates, hidden)
    trees = fit_fixed_trees(chain, chain.links, everything)
    overwritten = sorted({tree.link.variable for tree in trees if tree.n_impossible and _constant(chain, tree)})
    if overwritten:
        texts.append(
            f"column {', '.join(map(repr, overwritten))} has one value in the releases, which the synthesizer cannot "
            "have drawn for every record: taken as withheld"
        )
        chain = build_chain(pair, synthesizer, setting.candidates, [*hidden, *overwritten])
        trees = fit_fixed_trees(chain, chain.links, everything)
    impossible = sum(tree.n_impossible for tree in trees)
    released = sum(int(drawn.sum()) for tree in trees for drawn in tree.link.released)
    if impossible > largest_impossible * released:
        worst = max(trees, key=lambda tree: tree.n_impossible)
        raise DataError(
            f"the assumed synthesizer did not make {pooled_label(pair.labels)}: {impossible} of {released} released "
            f"values are impossible under it, most in column {worst.link.variable!r} ({worst.n_impossible}); give the "
            "settings and the original that the releases were made with"
        )
    if impossible:
        texts.append(
            f"{impossible} of {released} released values are impossible under the assumed synthesizer and are left "
            "out; its settings may be others than those that were used"
        )
    return chain, trees


def _constant(chain: Chain, tree: FixedTree) -> bool:
    """Whether all releases hold one value of a variable that the original varies in."""
    name = tree.link.variable
    released = chain.variables[name].codes[chain.n : chain.n + sum(z[tree.link.position].size for z in chain.z)]
    return np.unique(released).size == 1 and np.unique(chain.original[name]).size > 1


def _check_truth(study: Study, setting: Setting) -> None:
    """Check that the true original can have given the releases."""
    if study.kind not in ("refit", "catall"):
        return
    synthesizer = quietly(setting.synthesizer, setting.pair.original)
    from unveil.posterior.refit import as_figures

    impossible = sum(as_figures(synthesizer.log_prob(release))[0] for release in setting.pair.releases)
    if impossible:
        raise DataError(
            f"the assumed synthesizer did not make {pooled_label(setting.pair.labels)}: {impossible} released values "
            "are impossible under it; give the settings and the original that the releases were made with"
        )


def _question(setting: Setting, chain: Chain, worlds: Worlds) -> tuple[Question, Callable[[int], object]]:
    """Values that the worlds are grouped into, and their prior."""
    sizes = {name: len(levels) for name, levels in zip(worlds.unknown, worlds.choices, strict=True)}
    choices = dict(zip(worlds.unknown, worlds.choices, strict=True))
    bins, bin_labels = _bins(setting, chain, choices)
    radix, n_values = {}, 1
    for name in reversed(setting.targets):
        radix[name] = n_values
        n_values *= int(bins[name].max()) + 1
    others = [name for name in worlds.unknown if name not in setting.targets]
    simple = worlds.unknown == setting.targets and not setting.intervals

    def digits(world: Ints) -> dict[str, Ints]:
        found = {}
        for name in reversed(worlds.unknown):
            world, found[name] = np.divmod(world, sizes[name])
        return found

    def value_of(world: Ints) -> Ints:
        if simple:
            return world
        found = digits(world)
        value: Ints = np.zeros_like(world)
        for name in setting.targets:
            value = value + bins[name][found[name]] * radix[name]
        return value

    def label_of(value: int) -> object:
        labels = []
        for name in setting.targets:
            place, value = divmod(value, radix[name])
            labels.append(bin_labels[name](place))
        return labels[0] if len(labels) == 1 else tuple(labels)

    truth = value_of(worlds.truth)
    known_columns = [chain.columns[p] for name in setting.known for p in chain.positions[name]]
    table = prior_table(setting.prior, truth, n_values, setting.known, known_columns)
    counts = {name: np.bincount(chain.original[name], minlength=chain.variables[name].n_levels) for name in others}
    allowed = _allowed(setting, chain, worlds, n_values)
    even = isinstance(setting.prior, str) and setting.prior == "uniform"
    uniform = even and not setting.intervals and allowed is None
    last: dict[str, Any] = {}

    def log_prior(members: Ints, start: int, stop: int) -> Floats:
        if uniform:
            return np.full((members.size, stop - start), -math.log(worlds.size))
        if last.get("members") is not members:
            shares = table(members)
            if allowed is not None:
                shares = np.where(allowed(members), shares, 0.0)
                shares = shares / shares.sum(axis=1)[:, None]
            with np.errstate(divide="ignore"):
                last["log"], last["members"] = np.log(shares), members
        world = np.arange(start, stop)
        found = digits(world)
        log: Floats = last["log"][:, value_of(world)].copy()
        for name in setting.targets:
            within = np.bincount(bins[name])
            log -= np.log(within[bins[name][found[name]]])[None, :]
        for name in others:
            log += _log_of_other(setting, chain, name, choices[name][found[name]], counts[name], members, sizes[name])
        return log

    n = chain.n
    wrong = -math.log(2.0 * n * max(n_values, 2)) if setting.intruder_errors else -math.inf
    return Question(worlds.size, n_values, value_of, worlds.truth, truth, log_prior, wrong), label_of


def _log_of_other(
    setting: Setting,
    chain: Chain,
    name: str,
    levels: NDArray[np.int32],
    counts: Ints,
    members: Ints,
    size: int,
) -> Floats:
    """Prior of an unknown variable that is not asked for."""
    if isinstance(setting.prior, str) and setting.prior == "uniform":
        return np.full((1, levels.size), -math.log(size))
    held = counts[levels][None, :] - (chain.original[name][members][:, None] == levels[None, :])
    log: Floats = np.log((held + 1.0 / size) / chain.n)
    return log


def _allowed(
    setting: Setting, chain: Chain, worlds: Worlds, n_values: int
) -> Callable[[Ints], NDArray[np.bool_]] | None:
    """Values in question by record, where the user named them: these and the truth."""
    if not setting.candidates:
        return None
    named = np.ones(1, dtype=np.bool_)
    for name in setting.targets:
        levels = dict(zip(worlds.unknown, worlds.choices, strict=True))[name]
        own = np.ones(levels.size, dtype=np.bool_)
        if name in setting.candidates:
            own = np.isin(levels, chain.further[name])
        named = (named[:, None] & own[None, :]).reshape(-1)
    if named.all():
        return None
    order = [worlds.unknown.index(name) for name in setting.targets]
    if order != sorted(order):
        raise CallError("candidates of several targets: name the targets in the order of synthesis")

    def allowed(members: Ints) -> NDArray[np.bool_]:
        result = np.tile(named, (members.size, 1))
        truth = np.zeros(members.size, dtype=np.int64)
        for name in setting.targets:
            levels = dict(zip(worlds.unknown, worlds.choices, strict=True))[name]
            truth = truth * levels.size + np.searchsorted(levels, chain.original[name][members])
        result[np.arange(members.size), truth] = True
        return result

    assert named.size == n_values
    return allowed


def _bins(
    setting: Setting, chain: Chain, choices: Mapping[str, NDArray[np.int32]]
) -> tuple[dict[str, Ints], dict[str, Callable[[int], object]]]:
    """By target, the value that each of its choices belongs to, and how values are called."""
    bins: dict[str, Ints] = {}
    labels: dict[str, Callable[[int], object]] = {}
    for name in setting.targets:
        known, levels = chain.level_labels(name), choices[name]
        if not setting.intervals:
            bins[name] = np.arange(levels.size)
            labels[name] = lambda place, known=known, levels=levels: known[levels[place]]  # type: ignore[misc]
            continue
        place = np.full(levels.size, -1, dtype=np.int64)
        called: list[object] = []
        for low, high in setting.intervals:
            inside = [i for i, level in enumerate(levels) if _within(known[level], low, high, name)]
            if inside:
                place[inside] = len(called)
                called.append(f"{low:g} to {high:g}")
        for i in np.flatnonzero(place < 0):
            place[i] = len(called)
            called.append(known[levels[i]])
        bins[name] = place
        labels[name] = called.__getitem__
    return bins, labels


def _within(value: object, low: float, high: float, name: str) -> bool:
    if value is None:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CallError(f"candidates: column {name!r} is not numeric; name values instead of intervals")
    return low <= value <= high
