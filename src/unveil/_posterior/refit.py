"""Likelihood of any synthesizer with ``log_prob``, which is fitted again for every record and world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._posterior.candidate_records import CandidateRecords
from unveil._posterior.likelihood import LikelihoodTerm, WorldLikelihood
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.tree_sequence import TreeSequence
from unveil.columns import Pair
from unveil.errors import CallError
from unveil.files import Source
from unveil.files.source import DerivedColumns
from unveil.synthesis.any_synthesizer import fitted_anew
from unveil.synthesis.record_order import value_order

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ALL = "all variables"
FIT = 1
"""Seed of fits that are random; what they draw is not released."""


class Altered:
    """The original with the unknown values of one record replaced.

    Records come in the order of their values, and the changed record last: what a synthesizer draws may depend on the
    order of records, and figures must not depend on that of the file.

    Parameters
    ----------
    pair
        The files.
    sequence
        Codes of the files.
    worlds
        The worlds.
    """

    def __init__(self, pair: Pair, sequence: TreeSequence, worlds: PossibleValues | CandidateRecords):
        self.pair, self.sequence, self.worlds = pair, sequence, worlds
        self.levels = worlds.levels()
        self.order = value_order(pair.original)

    def source(self, record: int, world: int) -> Source:
        """The original with a record moved to a world."""
        original = self.pair.original
        rows = np.append(self.order[self.order != record], record)
        changed: dict[str, pa.ChunkedArray] = {}
        for name, by_world in self.levels.items():
            codes = self.sequence.original[name].copy()
            if world != self.worlds.as_it_is:
                codes[record] = by_world[world]
            values = self.sequence.variables[name].values
            taken = values.take(pa.array(codes[rows], mask=codes[rows] == len(values)))
            changed[name] = pa.chunked_array([taken])

        columns = DerivedColumns(original, rows, changed)
        return replace(original, fetch=columns, path=None, form=None, native=None)


def quietly(synthesizer: Any, original: Any) -> Any:
    """Return a fitted copy of a synthesizer without its warnings; figures do not depend on a secret seed."""
    return fitted_anew(synthesizer, original, seed=FIT)


def as_figures(found: Any) -> tuple[int, float]:
    """Impossible values and log-likelihood, however a synthesizer gives them."""
    if hasattr(found, "n_impossible"):
        return int(found.n_impossible), float(found.finite)
    if isinstance(found, tuple):
        return int(found[0]), float(found[1])
    if hasattr(found, "total"):
        found = found.total
    total = float(np.sum(found))
    if np.isnan(total):
        raise CallError("the synthesizer's log_prob is not a number")
    return (1, 0.0) if np.isneginf(total) else (0, total)


class RefitLikelihood(WorldLikelihood):
    """Likelihood by ``fit(D).log_prob(Z)``.

    Parameters
    ----------
    altered
        The worlds as files.
    synthesizer
        The synthesizer.
    releases
        Released files, pooled.
    """

    def __init__(self, altered: Altered, synthesizer: Any, releases: Sequence[Any]):
        self.altered, self.synthesizer, self.releases = altered, synthesizer, list(releases)

    def figures(self, source: Any) -> tuple[int, float]:
        """Impossible values and log-likelihood of the releases under a fit."""
        fitted = quietly(self.synthesizer, source)
        both = [as_figures(fitted.log_prob(release)) for release in self.releases]
        return sum(one[0] for one in both), sum(one[1] for one in both)

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        impossible = np.zeros((members.size, stop - start), dtype=np.int64)
        log = np.zeros((members.size, stop - start))
        for i, record in enumerate(members):
            for w in range(start, stop):
                source = self.altered.source(int(record), w)
                impossible[i, w - start], log[i, w - start] = self.figures(source)
        return [LikelihoodTerm(ALL, impossible, log)]


class DeltaLikelihood(WorldLikelihood):
    """Likelihood by the synthesizer's ``delta_log_prob(record, candidates) -> (impossible, log)``."""

    def __init__(self, synthesizer: Any, labels: Sequence[object]):
        self.synthesizer, self.labels = synthesizer, list(labels)

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        impossible = np.zeros((members.size, stop - start), dtype=np.int64)
        log = np.zeros((members.size, stop - start))
        for i, record in enumerate(members):
            impossible[i], log[i] = self.synthesizer.delta_log_prob(int(record), self.labels[start:stop])
        return [LikelihoodTerm(ALL, impossible, log)]
