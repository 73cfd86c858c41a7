"""How many persons it takes to see that a rate of RAPID stands above its null."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.checks import check_shares
from unveil.files.source import Flavour
from unveil.result import Result, columns_of
from unveil.stats.power import power_at, smallest_n


@dataclass(frozen=True, repr=False)
class RapidPower(Result):
    """How many persons it takes for a rate to stand above its null, by attacker and release.

    Attributes
    ----------
    target, symbol, threshold
        The target, and the threshold that the rates are of.
    alpha, power
        The test rejects a null that holds with at most this probability, and the rate with at least that.
    rows
        Per attack: ``release``, ``attacker``, ``rate``, ``null``, ``n`` (persons that count), ``power`` with n persons,
        ``n_needed``, and ``undefined``, why there is no number.
    """

    _words = "words.rapid_power.needed"
    _drawing = "plots.rapid_power.plot_power"

    target: str
    symbol: str
    threshold: float
    alpha: float
    power: float
    rows: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = ()

    def _columns(self) -> dict[str, Any]:
        """A row per attack."""
        return columns_of(self.rows)


def rows_of(
    attacks: Sequence[Mapping[str, Any]], rate: float | None, alpha: float, power: float
) -> tuple[Mapping[str, Any], ...]:
    """The rows of :class:`RapidPower`.

    Parameters
    ----------
    attacks
        Figures of each attack.
    rate
        The rate that is to be seen; None for that of each attack.
    alpha, power
        See :func:`unveil.stats.power.smallest_n`.
    """
    check_shares(alpha=alpha, power=power, **({} if rate is None else {"rate": rate}))
    rows = []
    for attack in attacks:
        seen, null, n = attack["rate"] if rate is None else rate, attack["null_mean"], attack["n"]
        reason = None
        if math.isnan(null):
            reason = "no null was run (permutations=0)"
        elif not seen > null:
            reason = "the rate is not above its null"
        at_n = math.nan if reason else float(power_at(np.array([n]), null, seen, alpha=alpha)[0])
        rows.append(
            {
                "release": attack["release"],
                "attacker": attack["attacker"],
                "rate": seen,
                "null": null,
                "n": n,
                "power": at_n,
                "n_needed": math.nan if reason else smallest_n(null, seen, alpha=alpha, power=power),
                "undefined": reason,
            }
        )
    return tuple(rows)
