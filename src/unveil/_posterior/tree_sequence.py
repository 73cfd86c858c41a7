"""A CART sequence, its original and its releases in the codes of one common set of values.

Values that only a release or the intruder's list of candidates holds are levels too, so that one record can be given
any of them and the trees fitted again without coding anything anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._posterior.candidates import candidate_values
from unveil._posterior.tree_methods import DrawnFromLeaves, drawn_by_trees, sources
from unveil.columns import CodedColumn, Pair
from unveil.errors import DataError, UnveilWarning
from unveil.files.source import Kind, Scalar, Source
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.encoding import EncodedVariable, encode
from unveil.synthesis.plan import Plan, few_enough
from unveil.trees import Column, Settings

__all__ = [
    "Recoding",
    "SequenceTree",
    "TreeSequence",
    "build_chain",
    "check_released",
    "coded_jointly",
    "plain_chain",
    "used_by",
]

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SequenceTree:
    """One tree of the sequence; a single leaf of all donors where there are no predictors.

    Parameters
    ----------
    name, variable
        Name of the part, and of its variable.
    position
        Place in the order of visit.
    predictors
        Positions of the parts it is predicted by.
    fitted : (n,) bool
        Original records that it is fitted on.
    settings
        How it is fitted.
    released : tuple of (n_r,) bool
        Per release, the records whose value it has drawn.
    """

    name: str
    variable: str
    position: int
    predictors: tuple[int, ...]
    fitted: Flags
    settings: Settings
    released: tuple[Flags, ...]


@dataclass(frozen=True, eq=False)
class Recoding:
    """A variable that follows from an earlier one, level by level, in the original.

    Parameters
    ----------
    variable
        Its name.
    sources
        The earlier variables that it follows from; the first is the one that the synthesizer uses.
    links
        The trees of its parts, which are fitted where one record breaks the recoding.
    """

    variable: str
    sources: tuple[str, ...]
    links: tuple[SequenceTree, ...]


@dataclass(frozen=True, eq=False)
class TreeSequence:
    """All trees, the original and the releases.

    Parameters
    ----------
    links
        The trees of released variables, in the order of visit.
    columns
        Original records by position.
    z : tuple of mapping of int to (n_r,) int32
        Per release, synthetic records by position.
    variables
        By name, all levels of original, releases and further candidates.
    original : mapping of str to (n,) int32
        Level of every original record by variable.
    further : mapping of str to (q,) int32
        Levels of the further candidates by variable.
    positions
        Positions of a variable's parts.
    n
        Number of original records.
    withheld
        Variables that are not in the releases.
    recodings
        Released variables that follow from earlier ones.
    """

    links: tuple[SequenceTree, ...]
    columns: Mapping[int, Column]
    z: tuple[Mapping[int, Codes], ...]
    variables: Mapping[str, EncodedVariable]
    original: Mapping[str, Codes]
    further: Mapping[str, Codes]
    positions: Mapping[str, tuple[int, ...]]
    n: int
    withheld: tuple[str, ...]
    recodings: tuple[Recoding, ...] = ()

    def part_codes(self, variable: str, levels: Codes) -> dict[int, Codes]:
        """Codes of a variable's parts by position, for some of its levels."""
        parts = self.variables[variable].parts
        return {position: part.of_level[levels] for position, part in zip(self.positions[variable], parts, strict=True)}

    def observed(self, position: int, variable: str, levels: Codes) -> Flags:
        """Whether records with these levels belong to the fit of a part."""
        parts = self.variables[variable].parts
        if len(parts) == 1 or position == self.positions[variable][0]:
            return np.ones(levels.size, dtype=np.bool_)
        which = parts[0]
        result: Flags = which.of_level[levels] == which.level_of.size - 1
        return result

    def level_labels(self, variable: str) -> list[object]:
        """Values of the levels; None for the gap."""
        return self.variables[variable].python_values


def coded_jointly(
    pair: Pair,
    names: Sequence[str],
    kinds: Mapping[str, Kind],
    special_codes: Mapping[str, Iterable[Scalar] | Scalar],
    candidates: Mapping[str, Sequence[object]],
    withheld: Iterable[str],
) -> tuple[tuple[EncodedVariable, ...], list[int]]:
    """Code columns over the values of the original, the releases and some candidates.

    Parameters
    ----------
    pair
        The files.
    names
        The columns.
    kinds, special_codes
        As the synthesizer has them.
    candidates
        Further values by column.
    withheld
        Columns whose released values do not count.

    Returns
    -------
    variables : tuple of EncodedVariable
        With the records of the original, then of the releases, then of the candidates.
    sizes : list of int
        Their numbers of records.
    """
    hidden = set(withheld)
    options: dict[str, Any] = {"kinds": dict(kinds), "special_codes": dict(special_codes)}
    shown: dict[str, Any] = {
        option: {name: v for name, v in given.items() if name not in hidden} for option, given in options.items()
    }
    joint = Pair(pair.original, list(pair.releases), **shown)
    with warnings.catch_warnings():
        # That the original is no release is known here.
        warnings.simplefilter("ignore", UnveilWarning)
        alone = Pair(pair.original, pair.original, **options) if hidden else joint
    further = max((len(values) for values in candidates.values()), default=0)
    sizes = [pair.n_original, *pair.n_synthetic, further]
    arrays = {}
    for name in names:
        coded = (alone if name in hidden else joint).column(name)
        filler = coded.original[:1]
        given = list(candidates.get(name, ()))
        releases = [np.repeat(filler, size) for size in pair.n_synthetic] if name in hidden else coded.releases
        pieces = [_values(coded, codes) for codes in (coded.original, *releases)]
        pieces += [
            candidate_values(coded, given, pair.original.variable(name).labels),
            _values(coded, np.repeat(filler, further - len(given))),
        ]
        arrays[name] = pa.chunked_array([pa.concat_arrays(pieces)])
    declared = {name: pair.original.variable(name) for name in names}
    source = Source(pair.original.label, tuple(names), sum(sizes), arrays.__getitem__, declared, pair.flavour)
    return encode(source, **options), sizes


def _values(coded: CodedColumn, codes: Codes) -> pa.Array:
    """Values of some records."""
    return coded.levels.take(pa.array(codes, mask=codes == len(coded.levels)))


def plain_chain(
    pair: Pair,
    names: Sequence[str],
    kinds: Mapping[str, Kind],
    special_codes: Mapping[str, Iterable[Scalar] | Scalar],
    candidates: Mapping[str, Sequence[object]],
    withheld: Iterable[str],
) -> TreeSequence:
    """Original and releases in common codes, without trees; parameters as of :func:`coded_jointly`."""
    hidden = {*withheld, *(name for name in names if any(name not in release for release in pair.releases))}
    encoded, sizes = coded_jointly(pair, names, kinds, special_codes, candidates, hidden)
    bounds = np.cumsum([0, *sizes])
    n = sizes[0]
    columns: dict[int, Column] = {}
    z: list[dict[int, Codes]] = [{} for _ in pair.releases]
    positions: dict[str, tuple[int, ...]] = {}
    for variable in encoded:
        own = tuple(range(len(columns), len(columns) + len(variable.parts)))
        positions[variable.name] = own
        for part, position in zip(variable.parts, own, strict=True):
            codes = part.column.codes
            columns[position] = Column(codes[:n], part.column.kind, part.column.n_levels, part.column.values, part.name)
            for r, released in enumerate(z):
                released[position] = codes[bounds[r + 1] : bounds[r + 2]]
    first = bounds[-2]
    return TreeSequence(
        (),
        columns,
        tuple(z),
        {variable.name: variable for variable in encoded},
        {variable.name: variable.codes[:n] for variable in encoded},
        {variable.name: variable.codes[first : first + len(candidates.get(variable.name, ()))] for variable in encoded},
        positions,
        n,
        tuple(name for name in names if name in hidden),
    )


def build_chain(
    pair: Pair, synthesizer: CartSynthesizer, candidates: Mapping[str, Sequence[object]], withheld: Iterable[str]
) -> TreeSequence:
    """Bring a fitted sequence, its original and its releases together.

    Parameters
    ----------
    pair
        The original and the releases.
    synthesizer
        Fitted to the original.
    candidates
        Further values by variable.
    withheld
        Variables whose released values do not count.

    Returns
    -------
    Chain
        The trees to come and all records in codes.

    Raises
    ------
    DataError
        If a variable that others are predicted by is not released.
    """
    plans = synthesizer.plans
    kinds: dict[str, Kind] = {plan.variable.name: plan.variable.kind for plan in plans}
    special = synthesizer.special_codes or {}
    chain = plain_chain(pair, list(kinds), kinds, special, candidates, withheld)
    drawn = drawn_by_trees(synthesizer)
    links: list[SequenceTree] = []
    recodings: list[Recoding] = []
    for plan in plans:
        name, how, earlier = plan.variable.name, drawn[plan.variable.name], sources(plan, plans)
        if name in chain.withheld:
            continue
        if not earlier:
            check_released(chain, name, used_by(chain, plan, how))
        if isinstance(how, str):
            continue
        own = _links(chain, pair, plan, how)
        if earlier:
            recodings.append(Recoding(name, earlier, own))
        else:
            links.extend(own)
    return replace(chain, links=tuple(links), recodings=tuple(recodings))


def used_by(chain: TreeSequence, plan: Plan, how: DrawnFromLeaves | str) -> list[str]:
    """Variables that a variable is drawn by; of those in its list the ones that vary."""
    if isinstance(how, DrawnFromLeaves) and not how.by_predictors:
        return []
    # What is constant in the original need not be so where a record has another value.
    varying = [name for name in plan.predictors if chain.variables[name].n_levels > 1]
    return [*varying, *(name for rule in plan.rules for name in sorted(rule.variables) if name not in varying)]


def _links(chain: TreeSequence, pair: Pair, plan: Plan, how: DrawnFromLeaves) -> tuple[SequenceTree, ...]:
    """The trees of a variable's parts, one as well where none of the records, but a candidate, has a gap."""
    variable = chain.variables[plan.variable.name]
    ends = np.cumsum([0, pair.n_original, *pair.n_synthetic])
    before = [p for name in used_by(chain, plan, how) for p in chain.positions[name]]
    found = []
    for part, position in zip(variable.parts, chain.positions[variable.name], strict=True):
        own = chain.columns[position]
        flags = chain.observed(position, variable.name, variable.codes)
        pieces = [flags[ends[i] : ends[i + 1]] for i in range(len(ends) - 1)]
        usable = tuple(p for p in before if few_enough(chain.columns[p], own))
        found.append(
            SequenceTree(part.name, variable.name, position, usable, pieces[0], how.settings, tuple(pieces[1:]))
        )
    return tuple(found)


def check_released(chain: TreeSequence, variable: str, predictors: Iterable[str]) -> None:
    """Refuse a released variable one of whose predictors is not in the release.

    Raises
    ------
    DataError
        If there is one.
    """
    for name in predictors:
        if name in chain.withheld:
            raise DataError(
                f"the release has no column {name!r} by which {variable!r} was synthesised: the probability of the "
                "release would be a sum over all its values; give the released column, or a synthesizer whose "
                f"predictors leave {name!r} out"
            )
