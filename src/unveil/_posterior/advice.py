"""What other settings or fewer releases would do: releases are made and measured, not guessed."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.checked_options import PriorChoice
from unveil._posterior.priors import reordered
from unveil._posterior.protections import Protection, merged, noised, posterior_of_truth, top_coded
from unveil._posterior.refit import quietly
from unveil._posterior.result import PosteriorRisk
from unveil._posterior.summary import CERTAIN, exact_mean
from unveil._posterior.tree_methods import refusal
from unveil.columns import CodedColumn, Pair
from unveil.errors import CallError, UnveilWarning
from unveil.files.distinct import python_values
from unveil.files.source import Flavour
from unveil.limits import exceeds, reaches
from unveil.result import Result, columns_of, drawer
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.record_order import value_order

APART = 1_000_000
"""Added to the seeds of releases that are drawn here, so that they differ from those of the pair's releases."""


@dataclass(frozen=True)
class AdviceRow:
    """One setting.

    Attributes
    ----------
    setting, value
        What is changed, and its new value; "as released" for the pair's releases, "drawn anew" for other releases
        with the same settings.
    mean_posterior
        Mean posterior of the truth over the records at risk, by structure.
    mean_prior
        Their mean prior.
    still_at_risk
        Share of them whose normalised gain stays above the threshold, by the strongest structure.
    share_certain
        Share of them whose value stays certain, by the strongest structure.
    """

    setting: str
    value: str
    mean_posterior: Mapping[str, float]
    mean_prior: float
    still_at_risk: float
    share_certain: float


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """Settings side by side, for the records at risk.

    Attributes
    ----------
    n_at_risk, n_looked_at
        Number of records at risk, and of those that were computed again.
    threshold
        Normalised gain above which a record is at risk.
    rows
        One per setting and value. The first row is that of the pair's releases; compare fewer releases with it. The
        second is that of releases drawn anew with the same settings; compare other settings with it. The records at
        risk were chosen by the pair's releases, so that any other releases tell less about them.
    left_out
        Settings that were not tried, and why.
    warnings
        Warnings of the result that the advice is for.
    """

    _words = "words.posterior.advice"
    _drawing = "plots.posterior.plot_advice"

    n_at_risk: int
    n_looked_at: int
    threshold: float
    rows: tuple[AdviceRow, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    flavour: Flavour = "arrow"

    def _columns(self) -> dict[str, Any]:
        """A row per setting and value."""
        return columns_of(
            [
                {"setting": row.setting, "value": row.value}
                | {f"mean_posterior_{name}": value for name, value in row.mean_posterior.items()}
                | {name: getattr(row, name) for name in ("mean_prior", "still_at_risk", "share_certain")}
                for row in self.rows
            ]
        )

    def plot(self, setting: str = "minbucket", ax: Any = None) -> Any:  # type: ignore[override]
        """Mean posterior against one setting ("m", "minbucket", "cp", "mix"); needs matplotlib.

        Raises
        ------
        CallError
            If the setting was not tried.
        """
        return drawer(self._drawing)(self, setting, ax=ax)


def advise(
    pair: Pair,
    synthesizer: CartSynthesizer,
    risk: PosteriorRisk,
    *,
    minbucket: Sequence[int] = (10, 25, 50, 100),
    cp: Sequence[float] = (1e-4, 1e-3, 5e-3),
    mix: Sequence[float] = (0.05,),
    m: Sequence[int] | None = None,
    merge: Sequence[int] = (100, 500),
    top: Sequence[float] = (0.05,),
    noise: Sequence[float] = (0.05, 0.2),
    threshold: float = 0.3,
    most_records: int = 500,
    seed: int = 1,
    prior: PriorChoice = "uniform",
) -> Advice:
    """Compute what other settings or fewer releases do for the records at risk.

    The synthesizer is fitted to the original with every setting, as many releases as the pair has are drawn, and the
    posterior is computed as before. Fewer releases are the first ones of the pair. Merged levels, top coding and noise
    are applied to the target before synthesis, and the posterior is that of the value before them; they are tried for a
    single target with a uniform prior. Smoothing is not tried: smoothed values come from no donor, and their posterior
    could only be simulated.

    Figures do not depend on the order of the records: fits and draws take them in the order of their values.

    Parameters
    ----------
    pair
        The original and its releases.
    synthesizer
        The synthesizer that made them.
    risk
        The result whose records at risk are looked at.
    minbucket, cp, mix
        Settings to try; a mix only above that of the synthesizer.
    m
        Numbers of releases to try; by default 1, 2, 4, ... below the number of the pair.
    merge
        Least numbers of records of a level of the target; smaller ones are merged.
    top
        Shares of records whose largest values are top-coded, where the target is a number.
    noise
        Probabilities with which a value is replaced by a random one.
    threshold
        Records with a larger normalised gain are at risk.
    most_records
        Largest number of records that are computed; a random choice if more are at risk.
    seed
        Seed of choice and releases.
    prior
        As of :func:`unveil.posterior.posterior`.

    Returns
    -------
    Advice
        Settings side by side.

    Raises
    ------
    CallError
        If no record is at risk, or a number is out of range.
    """
    found = risk.posteriors()
    exposed = found.members[exceeds(found.normalised_gain, threshold, unit=1.0)]
    if exposed.size == 0:
        raise CallError(f"no record has a normalised gain above {threshold}; there is nothing to advise on")
    pair, chosen, prior = _by_value(pair, exposed, prior)
    chosen = np.sort(np.random.default_rng([seed, 3]).permutation(chosen)[:most_records])
    synthesizer = quietly(synthesizer, pair.original)
    wanted = _numbers_of_releases(pair.n_releases, m)
    ask = _Asker(risk, chosen, prior, threshold)
    first = ask.row("as released", "", pair, synthesizer)
    rows = [first, ask.row("drawn anew", "", *_released(pair, pair.original, synthesizer, seed))]
    for value in wanted:
        rows.append(ask.row("m", str(value), Pair(pair.original, list(pair.releases[:value])), synthesizer))
    if first is not None and wanted and max(wanted) < pair.n_releases:
        rows.append(replace(first, setting="m", value=str(pair.n_releases)))
    rows += _other_settings(ask, pair, synthesizer, {"minbucket": minbucket, "cp": cp, "mix": mix}, seed)
    if len(risk.target) == 1 and isinstance(prior, str) and prior == "uniform":
        column = pair.column(risk.target[0])
        for protection in _protections(column, synthesizer, merge, top, noise, seed):
            if protection.merges and protection.n_groups(column) < 2:
                ask.left_out.append(f"merged levels {protection.value}, as fewer than two levels would be left")
            elif protection.changes:
                rows.append(ask.protected(protection, column, *_released(
                    pair, protection.source(pair, column), synthesizer, seed)))  # fmt: skip
    done = tuple(row for row in rows if row is not None)
    return Advice(
        int(exposed.size), int(chosen.size), threshold, done, tuple(ask.left_out), risk.warnings, pair.flavour
    )


def _numbers_of_releases(n: int, m: Sequence[int] | None) -> list[int]:
    """Numbers of releases to try, ascending: those asked for, or 1, 2, 4, ... below all."""
    wanted = (1 << np.arange(n.bit_length() - 1)).tolist() if m is None else list(m)
    for value in wanted:
        if not 1 <= value <= n:
            raise CallError(f"m: there are {n} releases, not {value}")
    return sorted({value for value in wanted if value < n or m is not None})


def _other_settings(
    ask: _Asker, pair: Pair, synthesizer: CartSynthesizer, tried: Mapping[str, Sequence[float]], seed: int
) -> Iterator[AdviceRow | None]:
    """Figures of other settings of the trees, each by itself; of a mix only where it is more than there is."""
    for option, values in tried.items():
        for setting in values:
            if option == "mix" and setting <= synthesizer.cart.mix:
                continue
            other = copy.copy(synthesizer)
            # minsplit follows minbucket unless it was set.
            changed: dict[str, Any] = {option: setting}
            other.cart = replace(synthesizer.cart, **changed)
            try:
                released = _released(pair, pair.original, other, seed)
            except CallError as error:  # a variable has a method that does not mix
                ask.left_out.append(f"{option} {setting:g}, as {error}")
                continue
            yield ask.row(option, f"{setting:g}", *released)


def _by_value(pair: Pair, members: NDArray[np.int64], prior: PriorChoice) -> tuple[Pair, NDArray[np.int64], Any]:
    """The pair with the original in the order of its values; places of some records there, and their prior."""
    order = value_order(pair.original)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    original = pair.original.part(order)
    options: dict[str, Any] = {"special_codes": pair.special_codes or None, "kinds": pair.kinds or None}
    return Pair(original, list(pair.releases), **options), np.sort(place[members]), reordered(prior, order)


def _protections(
    column: CodedColumn,
    synthesizer: CartSynthesizer,
    merge: Sequence[int],
    top: Sequence[float],
    noise: Sequence[float],
    seed: int,
) -> list[Protection]:
    for option, shares in (("top", top), ("noise", noise)):
        for share in shares:
            if not 0 < share < 1:
                raise CallError(f"{option}: shares lie between 0 and 1, not {share!r}")
    special = (synthesizer.special_codes or {}).get(column.name, ())
    alone = [special] if isinstance(special, str | int | float) else list(special)
    return [
        *(merged(column, smallest, alone) for smallest in merge),
        *(top_coded(column, share, alone) for share in top),
        *(noised(column, share, seed) for share in noise),
    ]


def _released(pair: Pair, original: Any, synthesizer: CartSynthesizer, seed: int) -> tuple[Pair, CartSynthesizer]:
    """As many releases as the pair has, drawn from an original by a synthesizer fitted to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        fitted = copy.copy(synthesizer).fit(original, seed=APART + seed)
        releases = [fitted.sample(n, seed=APART + seed + r) for r, n in enumerate(pair.n_synthetic)]
    return Pair(original, releases), fitted


class _Asker:
    """Computes the records at risk again.

    Parameters
    ----------
    risk
        The result to advise on.
    chosen
        The records.
    prior, threshold
        See :func:`advise`.
    """

    def __init__(self, risk: PosteriorRisk, chosen: NDArray[np.int64], prior: PriorChoice, threshold: float):
        self.risk, self.chosen, self.prior, self.threshold = risk, chosen, prior, threshold
        self.left_out: list[str] = []

    def posterior(self, pair: Pair, synthesizer: CartSynthesizer) -> PosteriorRisk:
        """The posterior of the records."""
        names = set(self.risk.structures)
        structure: Any = "both" if names == {"fixed", "exact"} else self.risk.structures[-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            return self.risk._posterior(
                pair, synthesizer, target=self.risk.target, known=self.risk.known, prior=self.prior,
                structure=structure, records=self.chosen, withheld=self.risk.withheld, check_settings=False,
            )  # fmt: skip

    def row(self, setting: str, value: str, pair: Pair, synthesizer: CartSynthesizer) -> AdviceRow | None:
        """Figures of another setting; None if they would need a fit for every record and value."""
        if self._refused(setting, value, synthesizer):
            return None
        again = self.posterior(pair, synthesizer)
        found = {name: again.posteriors(0, name).posterior for name in again.structures}  # type: ignore[arg-type]
        return self._figures(setting, value, found, again.posteriors().prior)

    def protected(
        self, protection: Protection, column: CodedColumn, pair: Pair, synthesizer: CartSynthesizer
    ) -> AdviceRow | None:
        """Figures of a protected target; None as in :meth:`row`."""
        if self._refused(protection.setting, protection.value, synthesizer):
            return None
        again = self.posterior(pair, synthesizer)
        place = {label: i for i, label in enumerate([*python_values(column.levels), None])}
        levels = np.array([place[value] for value in again.values], dtype=np.int64)
        truth = column.original[self.chosen].astype(np.int64)
        found = {}
        for name in again.structures:
            probabilities = again.posteriors(0, name).probabilities  # type: ignore[arg-type]
            assert probabilities is not None
            found[name] = posterior_of_truth(protection, truth, levels, probabilities)
        prior = np.full(truth.size, 1 / column.n_levels)
        return self._figures(protection.setting, protection.value, found, prior)

    def _refused(self, setting: str, value: str, synthesizer: CartSynthesizer) -> bool:
        """Whether these trees cannot be walked while those of the result were."""
        if not self.risk.walked:
            return False
        names = [plan.variable.name for plan in synthesizer.plans]
        reason = refusal(synthesizer, [name for name in names if name not in self.risk.known])
        if reason is not None:
            self.left_out.append(f"{setting} {value}, as {reason}")
        return reason is not None

    def _figures(
        self, setting: str, value: str, found: Mapping[str, NDArray[np.float64]], prior: NDArray[np.float64]
    ) -> AdviceRow:
        strongest = found[self.risk.structures[-1]]
        gain = (strongest - prior) / np.where(prior < 1, 1 - prior, 1.0)
        return AdviceRow(
            setting,
            value,
            {name: exact_mean(posterior) for name, posterior in found.items()},
            exact_mean(prior),
            float(exceeds(gain, self.threshold, unit=1.0).mean()),
            float(reaches(strongest, CERTAIN).mean()),
        )
