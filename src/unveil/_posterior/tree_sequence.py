"""A CART sequence, its original and its releases in the codes of one common set of values.

Values that only a release or the intruder's list of candidates holds are levels too, so that one record can be given
any of them and the trees fitted again without coding anything anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._posterior.candidates import candidate_values
from unveil._posterior.tree_methods import DrawnFromLeaves, drawn_by_trees, sources
from unveil.columns import CodedColumn, Pair
from unveil.columns.harmonise import own_levels
from unveil.errors import DataError, UnveilWarning
from unveil.files.arrays import from_numpy
from unveil.files.distinct import Distinct, classified, distinct_values
from unveil.files.source import Kind, Scalar, Source
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import FittedCart
from unveil.synthesis.encoding import encoded, in_model_order
from unveil.synthesis.plan import Plan, PlanStep, few_enough
from unveil.synthesis.variable import EncodedVariable
from unveil.trees import Column, Settings, Tree

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
    grown
        The synthesizer's tree if it was grown from the codes of this sequence; else None.
    mix
        Probability that a donor is one of all and not of the leaf.
    """

    name: str
    variable: str
    position: int
    predictors: tuple[int, ...]
    fitted: Flags
    settings: Settings
    released: tuple[Flags, ...]
    grown: Tree | None = None
    mix: float = 0.0


@dataclass(frozen=True, eq=False)
class Recoding:
    """A variable that follows from an earlier one, level by level, in the original.

    Parameters
    ----------
    variable
        Its name.
    sources
        The earlier variables that it follows from; the first is the one that the synthesizer uses.
    trees
        The trees of its parts, which are fitted where one record breaks the recoding.
    """

    variable: str
    sources: tuple[str, ...]
    trees: tuple[SequenceTree, ...]


@dataclass(frozen=True, eq=False)
class TreeSequence:
    """All trees, the original and the releases.

    Parameters
    ----------
    trees
        The trees of released variables, in the order of visit.
    columns
        Original records by position.
    z : tuple of mapping of int to (n_r,) int32
        Per release, synthetic records by position.
    variables
        By name, all levels of original, releases and further candidates.
    original : mapping of str to (n,) int32
        Level of every original record by variable.
    released : mapping of str to tuple of (n_r,) int32
        Level of every synthetic record by variable and release; nothing for variables that are withheld.
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

    trees: tuple[SequenceTree, ...]
    columns: Mapping[int, Column]
    z: tuple[Mapping[int, Codes], ...]
    variables: Mapping[str, EncodedVariable]
    original: Mapping[str, Codes]
    released: Mapping[str, tuple[Codes, ...]]
    further: Mapping[str, Codes]
    positions: Mapping[str, tuple[int, ...]]
    n: int
    withheld: tuple[str, ...]
    recodings: tuple[Recoding, ...] = ()

    def part_codes(self, variable: str, levels: Codes) -> dict[int, Codes]:
        """Codes of a variable's parts by position, for some of its levels."""
        parts = self.variables[variable].parts
        return {position: part.codes(levels) for position, part in zip(self.positions[variable], parts, strict=True)}

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


def sequence_without_trees(
    pair: Pair,
    names: Sequence[str],
    kinds: Mapping[str, Kind],
    special_codes: Mapping[str, Iterable[Scalar] | Scalar],
    candidates: Mapping[str, Sequence[object]],
    withheld: Iterable[str],
    rows: Source | None = None,
) -> TreeSequence:
    """Original and releases in common codes, without trees.

    Parameters
    ----------
    pair
        The files.
    names
        The columns.
    kinds, special_codes
        Kinds and special codes that the synthesizer uses.
    candidates
        Further values by column.
    withheld
        Columns whose released values do not count.
    rows
        Candidates that are records.
    """
    hidden = {*withheld, *(name for name in names if any(name not in release for release in pair.releases))}
    columns: dict[int, Column] = {}
    z: list[dict[int, Codes]] = [{} for _ in pair.releases]
    variables, released, further, positions = {}, {}, {}, {}
    for name in names:
        column = joint_column(pair, name, kinds.get(name), withheld=name in hidden)
        if rows is not None and name in rows:
            beside = _coded_beside(pair, rows, name, kinds.get(name), withheld=name in hidden)
            variable, files, _ = _with_candidates(pair, beside, special_codes.get(name), beside.levels[:0])
            released[name], further[name] = files[:-1], files[-1]
        else:
            given = candidate_values(column, candidates.get(name, ()), pair.original.variable(name).labels)
            variable, released[name], further[name] = _with_candidates(pair, column, special_codes.get(name), given)
        variables[name] = variable
        positions[name] = tuple(range(len(columns), len(columns) + len(variable.parts)))
        for position, part in zip(positions[name], variable.parts, strict=True):
            columns[position] = part.column
            for codes, by_position in zip(released[name], z, strict=False):
                by_position[position] = part.codes(codes)
    return TreeSequence(
        (),
        columns,
        tuple(z),
        variables,
        {name: variable.codes for name, variable in variables.items()},
        released,
        further,
        positions,
        pair.n_original,
        tuple(name for name in names if name in hidden),
    )


def joint_column(pair: Pair, name: str, kind: Kind | None, *, withheld: bool = False) -> CodedColumn:
    """Return the pair's column; it is coded again only if the synthesizer uses another kind.

    Parameters
    ----------
    pair
        The files.
    name
        The column.
    kind
        Kind that the synthesizer uses; None: that of the pair.
    withheld
        Whether released values do not count; the column then has no releases.
    """
    kinds = None if kind is None else {name: kind}
    if withheld:
        with warnings.catch_warnings():
            # That the original is no release is known here.
            warnings.simplefilter("ignore", UnveilWarning)
            return replace(Pair(pair.original, pair.original, kinds=kinds).column(name), releases=())
    if kinds:
        # What cannot be compared as the pair takes it may be as the synthesizer does.
        with suppress(DataError):
            column = pair.column(name)
            if column.kind == kind:
                return column
        pair = Pair(pair.original, list(pair.releases), kinds=kinds)
    return pair.column(name)


def _coded_beside(pair: Pair, rows: Source, name: str, kind: Kind | None, *, withheld: bool) -> CodedColumn:
    """The pair's column with that of candidate records as one more release; what is to be said of it was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        if withheld:
            kinds = None if kind is None else {name: kind}
            return Pair(pair.original, rows, kinds=kinds).column(name)
        return joint_column(pair.with_files([rows], rows.label), name, kind)


def of_original(pair: Pair, column: CodedColumn) -> EncodedVariable:
    """A column over the levels of the original alone."""
    return _with_candidates(pair, replace(column, releases=()), (), column.levels[:0])[0]


def _with_candidates(
    pair: Pair, column: CodedColumn, special: Iterable[Scalar] | Scalar | None, candidates: pa.Array
) -> tuple[EncodedVariable, tuple[Codes, ...], Codes]:
    """A column's parts over the levels of its records and of some candidates; levels of releases and candidates.

    Levels are those of the pair's column that a record of these files has, in the order that trees take them in.
    """
    declared = pair.original.variable(column.name)
    used = np.sum(column.counts, axis=0) > 0
    held = np.flatnonzero(used[:-1])
    levels = column.levels if held.size == len(column.levels) else column.levels.take(from_numpy(held))
    places = np.arange(held.size, dtype=np.int32)
    table = classified(Distinct(pair.original.label, column.name, "empty", levels, places))
    if len(candidates):
        both = pa.chunked_array([pa.concat_arrays([levels, candidates])])
        table = own_levels(distinct_values(both, label=table.label, name=column.name))
    table = in_model_order(table, column.kind, declared)
    gap, further = len(table.values), table.codes[held.size :]
    new = np.full(used.size, gap, dtype=np.int32)
    new[held] = table.codes[: held.size]
    same = bool((new == np.arange(used.size)).all())
    original, *released = (codes if same else new[codes] for codes in (column.original, *column.releases))
    variable = encoded(
        replace(table, codes=original), column.kind, special, declared, has_gap=bool(used[-1] or (further == gap).any())
    )
    return variable, tuple(released), further


def build_sequence(
    pair: Pair, synthesizer: CartSynthesizer, candidates: Mapping[str, Sequence[object]], withheld: Iterable[str],
    rows: Source | None = None,
) -> TreeSequence:  # fmt: skip
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
    rows
        Candidates that are records.

    Returns
    -------
    TreeSequence
        The trees and the codes of all records.

    Raises
    ------
    DataError
        If a variable that others are predicted by is not released.
    """
    plans = synthesizer.plans
    kinds: dict[str, Kind] = {plan.variable.name: plan.variable.kind for plan in plans}
    special = synthesizer.special_codes or {}
    sequence = sequence_without_trees(pair, list(kinds), kinds, special, candidates, withheld, rows)
    drawn = drawn_by_trees(synthesizer)
    alike = _alike_positions(sequence, plans)
    trees: list[SequenceTree] = []
    recodings: list[Recoding] = []
    for plan in plans:
        name, how, earlier = plan.variable.name, drawn[plan.variable.name], sources(plan, plans)
        if name in sequence.withheld:
            continue
        if not earlier:
            check_released(sequence, name, used_by(sequence, plan, how))
        if isinstance(how, str):
            continue
        own = tuple(_trees_of(sequence, plan, how, alike))
        if earlier:
            recodings.append(Recoding(name, earlier, own))
        else:
            trees.extend(own)
    return replace(sequence, trees=tuple(trees), recodings=tuple(recodings))


def _alike_positions(sequence: TreeSequence, plans: Sequence[Plan]) -> dict[int, int]:
    """The synthesizer's position by position of this sequence, for parts that have the same codes in both."""
    found = {}
    for plan in plans:
        positions = sequence.positions[plan.variable.name]
        if len(positions) == len(plan.steps):
            for position, step in zip(positions, plan.steps, strict=True):
                if _same(sequence.columns[position], plan.variable.parts[step.part].column):
                    found[position] = step.position
    return found


def _same(one: Column, other: Column) -> bool:
    return (
        one.kind == other.kind
        and one.n_levels == other.n_levels
        and (one.values is None or other.values is None or np.array_equal(one.values, other.values))
        and np.array_equal(one.codes, other.codes)
    )


def used_by(sequence: TreeSequence, plan: Plan, how: DrawnFromLeaves | str) -> list[str]:
    """Variables that a variable is drawn by; of those in its list the ones that vary."""
    if isinstance(how, DrawnFromLeaves) and not how.by_predictors:
        return []
    # What is constant in the original need not be so where a record has another value.
    varying = [name for name in plan.predictors if sequence.variables[name].n_levels > 1]
    return [*varying, *(name for name in plan.ruled_by if name not in varying)]


def _trees_of(
    sequence: TreeSequence, plan: Plan, how: DrawnFromLeaves, alike: Mapping[int, int]
) -> Iterator[SequenceTree]:
    """The trees of a variable's parts, one as well where none of the records, but a candidate, has a gap."""
    variable = sequence.variables[plan.variable.name]
    before = [p for name in used_by(sequence, plan, how) for p in sequence.positions[name]]
    steps = {step.position: step for step in plan.steps}
    for part, position in zip(variable.parts, sequence.positions[variable.name], strict=True):
        own = sequence.columns[position]
        usable = tuple(p for p in before if few_enough(sequence.columns[p], own))
        fitted = sequence.observed(position, variable.name, variable.codes)
        released = tuple(
            sequence.observed(position, variable.name, codes) for codes in sequence.released[variable.name]
        )
        step = steps.get(alike.get(position, -1))
        grown = None
        if step is not None and step.predictors == tuple(alike.get(p) for p in usable):
            grown = _tree_of(step, own, how.settings)
        yield SequenceTree(part.name, variable.name, position, usable, fitted, how.settings, released, grown, how.mix)


def _tree_of(step: PlanStep, response: Column, settings: Settings) -> Tree | None:
    """The tree that a step was fitted with, over all records; None where it has none with these settings."""
    if not isinstance(step.fitted, FittedCart) or step.fitted.tree.settings != settings:
        return None
    rows = None if step.rows is None else step.rows.astype(np.int32)
    return replace(step.fitted.tree, response=response, rows=rows)


def check_released(sequence: TreeSequence, variable: str, predictors: Iterable[str]) -> None:
    """Refuse a released variable one of whose predictors is not in the release.

    Raises
    ------
    DataError
        If there is one.
    """
    for name in predictors:
        if name in sequence.withheld:
            raise DataError(
                f"the release has no column {name!r} by which {variable!r} was synthesised: the probability of the "
                "release would be a sum over all its values; give the released column, or a synthesizer whose "
                f"predictors leave {name!r} out"
            )
