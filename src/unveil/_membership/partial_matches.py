"""Matches of real persons with the records of partially synthetic files: expected, true and false."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.correspondence import ROWS, corresponding
from unveil._tables.keyed_pair import Groups, KeyedPair
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first, refuse_units
from unveil.errors import enough_memory
from unveil.files.source import Flavour
from unveil.result import Result, columns_of

Positions = NDArray[np.intp]
ROUNDING = 1e-9
"""Relative difference of two probabilities that are the same: sums of fractions, in another order."""
POOLED = "all copies"


@dataclass(frozen=True, eq=False)
class Matches:
    """How persons match the records of some copies.

    Parameters
    ----------
    ties : (n,) int64
        Per person, the number of records that are likeliest to be theirs (c); 0 where none matches.
    is_among : (n,) bool
        Whether their own is one of them (I).
    own : (n,) float64
        Probability of their own record.
    """

    ties: NDArray[np.int64]
    is_among: NDArray[np.bool_]
    own: NDArray[np.float64]

    def figures(self) -> dict[str, float]:
        """The measures by name; those of unique matches are not defined where there is none."""
        n, unique = self.ties.size, self.ties == 1
        expected = float((self.is_among / np.maximum(self.ties, 1)).sum())
        true, matched = int((unique & self.is_among).sum()), int(unique.sum())
        anybody = int((self.ties > 0).sum())
        return {
            "expected": expected,
            "expected_by_chance": anybody / n,
            "true_rate": 100 * true / n,
            "true_rate_by_chance": 100 * matched / n**2,
            "false_rate": 100 * (matched - true) / matched if matched else math.nan,
            "unique": matched,
        }


@dataclass(frozen=True, repr=False)
class MatchRisk(Result):
    """How many persons an intruder who knows their keys matches with their records in partially synthetic files.

    Attributes
    ----------
    keys
        The key variables.
    linked_by
        Which record is whose: "rows", or the column that names the persons.
    pooled
        The measures of an intruder who has all copies: ``expected``, the expected number of true matches;
        ``true_rate``, percent of persons who are matched alone, and truly; ``false_rate``, percent of unique matches
        that are wrong; ``unique``, their number; ``expected_by_chance`` and ``true_rate_by_chance``, the same if the
        records were dealt to persons at random.
    releases
        The same of an intruder who has one copy, for each.
    original
        The same of an intruder who has the original itself: what would be matched without any synthesis.
    n_original
        Number of persons.
    labels
        What the copies are called.
    grouping
        How numeric keys were cut, by key.
    warnings
        What deserves a look in the files.
    """

    _words = "words.match_risk.matched"
    _drawing = "plots.match_risk.plot_match_risk"

    keys: tuple[str, ...]
    linked_by: str
    pooled: Mapping[str, float]
    releases: tuple[Mapping[str, float], ...]
    original: Mapping[str, float]
    n_original: int
    labels: tuple[str, ...]
    grouping: Mapping[str, Mapping[str, object]]
    warnings: tuple[str, ...]
    flavour: Flavour
    _matches: Matches = field(repr=False, compare=False)

    @property
    def expected(self) -> float:
        """Expected number of true matches of an intruder who has all copies."""
        return self.pooled["expected"]

    @property
    def true_rate(self) -> float:
        """Percent of persons whom an intruder who has all copies matches alone, and truly."""
        return self.pooled["true_rate"]

    @property
    def false_rate(self) -> float:
        """Percent of unique matches that are wrong, of an intruder who has all copies."""
        return self.pooled["false_rate"]

    @property
    def rows(self) -> tuple[tuple[str, Mapping[str, float]], ...]:
        """All copies together, each of several copies, and the original: name and measures."""
        each = tuple(zip(self.labels, self.releases, strict=True)) if len(self.labels) > 1 else ()
        return ((POOLED if each else self.labels[0], self.pooled), *each, ("the original itself", self.original))

    def _columns(self) -> dict[str, Any]:
        """A row for all copies together, for each of several, and for the original."""
        return {"file": [name for name, _ in self.rows]} | columns_of([figures for _, figures in self.rows])

    def records(self, *, flavour: Flavour | None = None) -> Any:
        """Per person, how an intruder who has all copies matches them. This is confidential.

        Columns are ``record``, the number of the person's record from 0; ``ties``, the number of records that are
        likeliest to be theirs; ``own_is_likeliest``, whether their own is one of them; ``own_probability``, the
        probability of their own; and ``matched_truly``, whether it alone is the likeliest.
        """
        found = self._matches
        return self._frame(
            {
                "record": np.arange(self.n_original),
                "ties": found.ties,
                "own_is_likeliest": found.is_among,
                "own_probability": found.own,
                "matched_truly": found.is_among & (found.ties == 1),
            },
            flavour,
        )


@enough_memory()
@pair_first
def match_risk(
    pair: Pair, keys: str | Sequence[str], *, linked_by: str = ROWS, ngroups_keys: Groups = None
) -> MatchRisk:
    """Measure how many persons are matched with their own records in partially synthetic copies.

    The intruder knows the keys of every person, some of them kept in the copies and some synthetic there, and that the
    person is in the file. In each of m copies the records with the person's keys are equally likely to be theirs:
    record k is that of person j with

    ``p_jk = (1/m) sum_i [k has the keys of j in copy i] / #{records with the keys of j in copy i}``

    and the intruder takes a record of the largest probability. Of person j, ``c_j`` records have it, and ``I_j`` says
    whether the own record is among them. Then

    - ``expected   = sum_j I_j / c_j``, the expected match risk, a number of persons;
    - ``true_rate  = 100 #{j : c_j = 1, I_j = 1} / n``;
    - ``false_rate = 100 #{j : c_j = 1, I_j = 0} / #{j : c_j = 1}``.

    Parameters
    ----------
    pair
        The original and its copies, each with one record of every person.
    keys
        The key variables: what an intruder knows of a person.
    linked_by
        Which record is whose: "rows", the one at the same place, as :func:`unveil.synthesize` writes them with ``keep``
        or ``replace_rows``; or a column that names the persons in every file.
    ngroups_keys
        Number of groups into which numeric keys are cut: for all of them, or by key.

    Returns
    -------
    MatchRisk
        Of all copies together, of each, of the original itself, and by chance.

    Raises
    ------
    CallError
        If a key is unknown or repeated, or a copy has another number of records.
    DataError
        If a copy lacks a key, its values cannot be compared, or ``linked_by`` does not name every person once.

    Notes
    -----
    A copy in which no record has the keys of a person adds nothing to the probabilities; a person for whom no copy has
    such a record is not matched (``c_j = 0``, ``I_j = 0``). By chance: if records were dealt to persons at random, the
    own record would be among the ``c_j`` with probability ``c_j / n``, so that ``expected`` is the share of persons
    with any match, and the true match rate ``100 #{j : c_j = 1} / n^2``. A gap is a value.

    References
    ----------
    Drechsler, J. & Reiter, J. P. (2008). Accounting for intruder uncertainty due to sampling when estimating
    identification disclosure risks in partially synthetic data. Privacy in Statistical Databases, 227-238.
    doi:10.1007/978-3-540-87471-3_19
    Reiter, J. P. & Mitra, R. (2009). Estimating risks of identification disclosure in partially synthetic data. Journal
    of Privacy and Confidentiality 1 (1), 99-110. doi:10.29012/jpc.v1i1.567

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30]})
    >>> copy = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 30, 40, 30]})
    >>> risk = unveil.match_risk(unveil.Pair(original, copy), ["sex", "age"])
    >>> risk.expected, risk.true_rate, round(risk.false_rate, 1)
    (1.5, 25.0, 50.0)
    """
    refuse_units(pair, "match risk")
    own = corresponding(pair, linked_by)
    study = KeyedPair.of(pair, keys, ngroups_keys=ngroups_keys)
    files = [np.vstack([column.original for column in study.columns])]
    files += [np.vstack([column.releases[i] for column in study.columns]) for i in range(pair.n_releases)]
    known, *copies = _numbered(files)
    # Every record in the place of its person.
    placed = [copy[where] for copy, where in zip(copies, own, strict=True)]
    pooled = matches(known, placed)
    return MatchRisk(
        keys=study.keys,
        linked_by=linked_by,
        pooled=pooled.figures(),
        releases=tuple(matches(known, [one]).figures() for one in placed),
        original=matches(known, [known]).figures(),
        n_original=pair.n_original,
        labels=tuple(pair.labels),
        grouping=study.groupings(),
        warnings=study.notes(),
        flavour=pair.flavour,
        _matches=pooled,
    )


def _numbered(files: Sequence[NDArray[np.int32]]) -> list[Positions]:
    """Return the number (n,) of the combination of every record of each file; the same for the same combination."""
    place = np.unique(np.hstack(files), axis=1, return_inverse=True)[1].ravel()
    return np.split(place, np.cumsum([file.shape[1] for file in files])[:-1])


def matches(known: Positions, copies: Sequence[Positions]) -> Matches:
    """Match persons with the records of some copies.

    Parameters
    ----------
    known : (n,) int
        Combination of the keys of every person.
    copies : sequence of (n,) int
        Combination of the keys of the person's record in each copy.

    Examples
    --------
    >>> found = matches(np.array([0, 1]), [np.array([0, 0]), np.array([0, 1])])
    >>> found.own.tolist(), found.ties.tolist()
    ([0.75, 0.5], [1, 1])
    """
    n, n_levels = known.size, int(max(known.max(), *(copy.max() for copy in copies))) + 1 if known.size else 0
    counts = [np.bincount(copy, minlength=n_levels) for copy in copies]
    # All pairs of a combination and a record that has it in some copy, with the probability that this gives.
    pairs = np.concatenate([copy * n + np.arange(n) for copy in copies])
    share = np.concatenate([1 / (len(copies) * own[copy]) for copy, own in zip(copies, counts, strict=True)])
    pair, place = np.unique(pairs, return_inverse=True)
    probability = np.bincount(place.ravel(), share)
    combination = pair // max(n, 1)
    most = np.zeros(n_levels)
    np.maximum.at(most, combination, probability)
    likeliest = probability >= most[combination] * (1 - ROUNDING)
    ties = np.bincount(combination[likeliest], minlength=n_levels)
    at = np.searchsorted(pair, known * n + np.arange(n))
    found = np.append(pair, -1)[at] == known * n + np.arange(n)
    own = np.where(found, np.append(probability, 0.0)[at], 0.0)
    return Matches(ties[known], found & np.append(likeliest, False)[at], own)
