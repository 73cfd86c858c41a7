"""A CART sequence, its original and its releases in the codes of one common set of values.

Values that only a release or the intruder's list of candidates holds are levels too, so that one record can be given
any of them and the trees fitted again without coding anything anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.microdata import CodedColumn, Pair
from unveil.microdata.source import Kind, Scalar, Source
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.choices import choose_methods
from unveil.synthesis.encode import EncodedVariable, encode
from unveil.synthesis.methods.sample import Sample
from unveil.synthesis.plan import Plan
from unveil.synthesis.protocol import VariableMethod
from unveil.trees import Column, Settings

__all__ = ["Chain", "Link", "Recoding", "build_chain", "check_released", "coded_jointly", "plain_chain", "refusal"]

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Link:
    """One tree of the sequence.

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
    links: tuple[Link, ...]


@dataclass(frozen=True, eq=False)
class Chain:
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

    links: tuple[Link, ...]
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


def refusal(synthesizer: CartSynthesizer, targets: Iterable[str]) -> str | None:
    """Why the trees of a fitted sequence cannot be walked one record at a time; None if they can.

    Everything named here is still exact when the whole synthesizer is fitted anew for every world.
    """
    wanted = set(targets)
    for plan in synthesizer.plans:
        name = plan.variable.name
        if plan.rules:
            return f"column {name!r} has rules"
        sources = _sources(plan, synthesizer.plans)
        if {name, *sources} & wanted and (reason := _not_walked(plan, sources, synthesizer)):
            return reason
        for step in plan.steps:
            method = step.method
            if isinstance(method, CartMethod):
                if method.surrogates:
                    return "surrogate splits are used"
            elif method is not None and not isinstance(method, Sample):
                return f"column {name!r} is modelled by {type(method).__name__}"
    return _nearly_recoded(synthesizer.plans, wanted)


def _sources(plan: Plan, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Earlier predictors that a variable follows from level by level, the synthesizer's first; none with a tree."""
    if plan.lookup is None or plan.lookup.source is None:
        return ()
    used = {position for step in plan.steps for position in step.predictors}
    others = [
        one.variable.name
        for one in plans
        if one.variable.name != plan.lookup.source
        and used & {step.position for step in one.steps}
        and _match(one.variable, plan.variable)
    ]
    return (plan.lookup.source, *others)


def _match(one: EncodedVariable, other: EncodedVariable) -> bool:
    """Whether two variables are recodings of each other."""
    if one.n_levels != other.n_levels:
        return False
    table = np.zeros(one.n_levels, dtype=np.int32)
    table[one.codes] = other.codes
    return bool((table[one.codes] == other.codes).all())


def _not_walked(plan: Plan, sources: Sequence[str], synthesizer: CartSynthesizer) -> str | None:
    """Why it cannot be told without a fit what becomes of a recoding; None if it can."""
    if not sources:
        return None
    name, method = plan.variable.name, _method_of(plan, synthesizer)
    what = f"column {name!r} is a recoding of {sources[0]!r}"
    # One record more or less must not decide whether levels match by chance; see the plan of a synthesis.
    if 2 * (plan.variable.n_levels + 1) > plan.variable.codes.size:
        return f"{what} with hardly two records per value"
    if not isinstance(method, CartMethod) or method.surrogates or method.smoothing:
        return f"{what} that would otherwise be modelled in another way than by a tree without surrogates and smoothing"
    return None


def _method_of(plan: Plan, synthesizer: CartSynthesizer) -> VariableMethod:
    """How a variable is modelled where it does not follow from another."""
    names = [one.variable.name for one in synthesizer.plans]
    return choose_methods(names, synthesizer.cart, synthesizer.methods, synthesizer.smoothing)[0][plan.variable.name]


def _nearly_recoded(plans: Sequence[Plan], targets: set[str]) -> str | None:
    """Name a pair of variables that one record keeps from being recodings of each other."""
    seen: dict[str, Plan] = {plan.variable.name: plan for plan in plans}
    settled = {frozenset((name, source)) for name, plan in seen.items() for source in _sources(plan, plans)}
    for name in targets:
        one = seen[name].variable
        for other_name, plan in seen.items():
            other = plan.variable
            if (
                other_name == name
                or {name, other_name} in settled
                or abs(one.n_levels - other.n_levels) > 1
                or min(one.n_levels, other.n_levels) < 2
            ):
                continue
            pairs = np.unique(one.codes.astype(np.int64) * other.n_levels + other.codes).size
            # One record makes at most one pair too many.
            if pairs <= min(one.n_levels, other.n_levels) + 1 and one.codes.size > pairs:
                return f"columns {name!r} and {other_name!r} are recodings of each other but for one record"
    return None


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
        pieces += [_as_values(given, coded.levels.type, name), _values(coded, np.repeat(filler, further - len(given)))]
        arrays[name] = pa.chunked_array([pa.concat_arrays(pieces)])
    declared = {name: pair.original.variable(name) for name in names}
    source = Source(pair.original.label, tuple(names), sum(sizes), arrays.__getitem__, declared, pair.flavour)
    return encode(source, **options), sizes


def _values(coded: CodedColumn, codes: Codes) -> pa.Array:
    """Values of some records."""
    return coded.levels.take(pa.array(codes, mask=codes == len(coded.levels)))


def _as_values(given: Sequence[object], kind: pa.DataType, name: str) -> pa.Array:
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    values = [None if isinstance(value, float) and np.isnan(value) else value for value in values]
    try:
        return pa.array(values, type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        try:
            return pa.array(values).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise CallError(f"candidates of column {name!r} do not fit its values, which are of type {kind}") from None


def plain_chain(
    pair: Pair,
    names: Sequence[str],
    kinds: Mapping[str, Kind],
    special_codes: Mapping[str, Iterable[Scalar] | Scalar],
    candidates: Mapping[str, Sequence[object]],
    withheld: Iterable[str],
) -> Chain:
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
    return Chain(
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
) -> Chain:
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
    owner = {step.position: plan.variable.name for plan in plans for step in plan.steps}
    ends = np.cumsum([0, pair.n_original, *pair.n_synthetic])
    links: list[Link] = []
    recodings: list[Recoding] = []
    for plan in plans:
        variable = chain.variables[plan.variable.name]
        sources = _sources(plan, plans)
        if variable.name in chain.withheld or (plan.lookup is not None and not sources):
            continue
        if sources:
            method = _method_of(plan, synthesizer)
            settings = _settings_of(method if isinstance(method, CartMethod) else synthesizer.cart)
        else:
            settings = _settings(plan, synthesizer.cart)
        own: list[Link] = []
        earlier = dict.fromkeys(owner[p] for p in plan.steps[0].predictors)
        before = tuple(p for name in earlier for p in chain.positions[name])
        for part, position in zip(variable.parts, chain.positions[variable.name], strict=True):
            drawn = chain.observed(position, variable.name, variable.codes)
            pieces = [drawn[ends[i] : ends[i + 1]] for i in range(len(ends) - 1)]
            own.append(
                Link(
                    part.name,
                    variable.name,
                    position,
                    before,
                    pieces[0],
                    settings,
                    tuple(pieces[1:]),
                )
            )
        if sources:
            recodings.append(Recoding(variable.name, sources, tuple(own)))
        else:
            links.extend(own)
    chain = replace(chain, links=tuple(links), recodings=tuple(recodings))
    _check_withheld(chain)
    return chain


def _settings(plan: Plan, cart: CartMethod) -> Settings:
    return _settings_of(next((step.method for step in plan.steps if isinstance(step.method, CartMethod)), cart))


def _settings_of(method: CartMethod) -> Settings:
    return Settings.of(method.minbucket, method.minsplit, method.max_depth, method.cp, method.collapse, 0)


def _check_withheld(chain: Chain) -> None:
    check_released(chain, chain.links)


def check_released(chain: Chain, links: Sequence[Link]) -> None:
    """Refuse trees whose predictors are not in the release."""
    for name in chain.withheld:
        for link in links:
            if set(link.predictors) & set(chain.positions[name]):
                raise DataError(
                    f"the release has no column {name!r} by which {link.variable!r} was synthesised: the probability "
                    "of the release would be a sum over all its values; give the released column, or a synthesizer "
                    f"whose predictors leave {name!r} out"
                )
