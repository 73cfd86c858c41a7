"""The options of an assessment: who knows what, who wants to know what, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from unveil._tables.exclusion_texts import levels_by_target
from unveil._tables.keyed_pair import as_names, only_known, targets_of, ungrouped
from unveil._tables.target_exclusions import TargetExclusions, exclusions_by_target
from unveil._tables.wildcards import check_suppressed
from unveil.assessment.registered_measures import registered_measure
from unveil.checks import (
    as_texts,
    check_choice,
    check_numbers,
    check_positive,
    check_shares,
    check_whole_numbers,
    is_number,
    is_whole_number,
    some_of,
)
from unveil.columns import Pair
from unveil.errors import CallError, FileError
from unveil.files.documents import read_toml
from unveil.files.nearest import near_matches
from unveil.notes import warn

INTRUDERS = ("release", "release and synthesizer", "all but one record")
"""From weak to strong."""

MEASURES = (
    "identity", "attribute", "structure", "key sets", "utility", "membership", "inference", "posterior",
    "partial knowledge", "advice",
)  # fmt: skip
"""The parts of an assessment, in the order in which they are worked out."""

FEWEST_AMOUNTS = 50
"""A numeric target with more distinct values is cut into groups for the key tables, as no two persons share one."""
GROUPS = 20

FILES = ("original", "synthetic", "holdout", "provenance", "policy", "schema", "hierarchies")
SEVERAL = ("synthetic",)
READING = (
    "special_codes", "kinds", "breaks", "weights", "population", "missing", "encoding", "delimiter", "decimal", "unit",
    "time",
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """Options of an assessment, as a call, a command line or a scenario file gives them.

    Parameters
    ----------
    keys
        Key variables: what an intruder knows about a person.
    targets
        Target variables: what an intruder wants to know. Default: every other common column.
    intruders
        Which intruders are looked at: release, release and synthesizer, all but one record. Default: all.
    measures
        Which measures are computed: identity, attribute, structure, key sets, utility, membership, inference,
        posterior, partial knowledge, advice. Default: all.
    other_measures
        Measures that other packages have registered, by their names.
    ngroups_keys
        Number of groups of numeric keys, by column.
    ngroups_target
        Number of groups of numeric targets in the key tables; 0 for none. Default: 20 for targets of more than 50
        amounts.
    exclude_pairs
        Pairs of key level and target level that do not count for DiSCO and DCAP, as age=19:SINGLE or age<20:SINGLE. A
        pair concerns every target that has its level.
    not_target_levels
        Levels of a target that do not count for DiSCO and DCAP, by target.
    rules
        What should be true of every record, as "age >= 16 or marital == 'SINGLE'" or "net = gross - tax", or a TOML
        file with rules = [...]: how many released records break each is counted.
    suppressed
        The sign that stands for a suppressed value in the releases, such as *: repU, DiSCO and DCAP are then also given
        with it as a wildcard.
    one_to_one
        That releases have one record of each person (anonymised, perturbed or partially synthetic files), and which
        record is whose: rows, the one at the same place; or a column that names the persons. Record linkage and the
        match risk are then parts of identity; see :func:`unveil.linkage`, :func:`unveil.match_risk`. Default: rows
        where the synthesizer keeps columns or records of the original.
    attacker
        Attacker of RAPID: rf, cart, gbm, logit, logit_l1, lm, stack, suite, or auto: a random forest, with fewer
        shuffles behind its null, and no ceiling, where time is short.
    tau
        RAPID: a person is at risk above this score of a categorical target.
    epsilon
        RAPID: a person is at risk below this error of a continuous target.
    permutations
        Number of shuffles behind each null of RAPID.
    models
        Models whose estimates are compared, such as "income ~ age + sex".
    level
        Coverage of intervals, between 0 and 1.
    budget
        Seconds that the assessment should take; parts that were begun are finished.
    precision
        Half-width of the interval of a mean posterior that is wanted: as many records are drawn at random, up to what
        the budget allows.
    minimum_count
        Smallest number of persons of a group that is shown.
    seed
        Seed of all random numbers: the same seed gives the same figures.
    """

    keys: str | Sequence[str]
    _: KW_ONLY
    targets: str | Sequence[str] | None = None
    intruders: str | Sequence[str] | None = None
    measures: str | Sequence[str] | None = None
    other_measures: str | Sequence[str] = ()
    ngroups_keys: Mapping[str, int] | None = None
    ngroups_target: int | Mapping[str, int] | None = None
    exclude_pairs: str | Sequence[str] = ()
    not_target_levels: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None
    rules: str | Sequence[str] = ()
    suppressed: str | None = None
    one_to_one: str | None = None
    attacker: str = "auto"
    tau: float = 0.3
    epsilon: float = 0.10
    permutations: int = 19
    models: str | Sequence[str] = ()
    level: float = 0.95
    budget: float = 180.0
    precision: float = 0.05
    minimum_count: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Scenario(Options):
    """Options of an assessment, checked against the files: columns exist, and nothing is left open."""

    keys: tuple[str, ...]
    _: KW_ONLY
    targets: tuple[str, ...]
    intruders: tuple[str, ...] = INTRUDERS
    measures: tuple[str, ...] = MEASURES
    other_measures: tuple[str, ...] = ()
    ngroups_target: Mapping[str, int] | None = None
    exclude_pairs: tuple[str, ...] = ()
    not_target_levels: Mapping[str, Sequence[str]] | None = None
    rules: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, pair: Pair, options: Options) -> Scenario:
        """Check options against the files; None stands for the default.

        Raises
        ------
        CallError
            If a column or an option is unknown or out of its range.
        DataError
            If a release lacks a column.
        """
        keys = as_names(options.keys, "key")
        pair.require(keys)
        targets, _ = targets_of(pair, keys, None, options.targets)
        if options.targets is None:
            # It names persons, whatever its values look like.
            targets = tuple(name for name in targets if name != options.one_to_one)
        given = {f.name: getattr(options, f.name) for f in fields(Options) if f.name not in ("keys", "targets")}
        given = {name: value for name, value in given.items() if value is not None}
        for name, known in (("intruders", INTRUDERS), ("measures", MEASURES)):
            if name in given:
                given[name] = some_of(name, given[name], known)
        for name in ("models", "other_measures"):
            given[name] = as_texts(name, given.get(name, ()))
        if given.get("attacker", "auto") != "auto":
            # Here, because the attackers bring large libraries that the command line starts without.
            from unveil.models.learners import attacker_names

            check_choice("attacker", given["attacker"], (*attacker_names(), "suite", "auto"))
        _check_numbers(given)
        _check_groups(pair, keys, given.get("ngroups_keys"), "ngroups_keys", "key")
        _check_groups(pair, targets, given.get("ngroups_target"), "ngroups_target", "target")
        given["ngroups_target"] = _groups(pair, targets, given.get("ngroups_target"))
        given["exclude_pairs"] = as_texts("exclude_pairs", given.get("exclude_pairs", ()))
        given["not_target_levels"] = _levels(targets, given.get("not_target_levels"))
        given["rules"] = as_texts("rules", given.get("rules", ()))
        if given["rules"]:
            # Here, because few assessments need what reads rules.
            from unveil._tables.plausibility import checked_rules

            given["rules"] = checked_rules(pair, given["rules"])
        for name in given["other_measures"]:
            registered_measure(name)
        scenario = cls(keys=keys, targets=targets, **given)
        scenario.excluded_from(pair, targets)
        if scenario.suppressed is not None:
            scenario.check_suppressed(pair)
        if scenario.one_to_one is not None:
            scenario.check_one_to_one(pair)
        return scenario

    def excluded_from(self, pair: Pair, targets: Sequence[str]) -> dict[str, TargetExclusions]:
        """What does not count for each of some targets.

        Raises
        ------
        CallError
            If a level is unknown: of a pair, for all targets.
        """
        return exclusions_by_target(
            pair, self.keys, targets, self.exclude_pairs, self.not_target_levels or {},
            ngroups_keys=self.ngroups_keys, ngroups_target=self.ngroups_target,
        )  # fmt: skip

    def check_suppressed(self, pair: Pair) -> None:
        """Check that suppressed values can be read as wildcards.

        Raises
        ------
        CallError
            If the sign is no text, some records do not count, or no release holds the sign in a key.
        """
        if not isinstance(self.suppressed, str):
            raise CallError(f"suppressed is the sign of suppressed values, a text such as '*', not {self.suppressed!r}")
        if self.exclude_pairs or self.not_target_levels:
            raise CallError(
                "suppressed values are matched for all records: leave out exclude_pairs and not_target_levels"
            )
        check_suppressed([pair.compared(name) for name in self.keys], self.suppressed)

    def check_one_to_one(self, pair: Pair) -> None:
        """Check that releases have one record of each person; of units the part itself says why it is left out.

        Raises
        ------
        CallError
            If a release has another number of records, or the column is unknown, a key or a target.
        DataError
            If the column does not name one record of each person.
        """
        if not isinstance(self.one_to_one, str):
            raise CallError(f"one_to_one is 'rows', or the name of a column, not {self.one_to_one!r}")
        if self.one_to_one in (*self.keys, *self.targets):
            raise CallError(f"one_to_one: {self.one_to_one!r} names persons, and is neither key nor target")
        if not pair.unit:
            # Here, because the room of linkage brings large libraries that the command line starts without.
            from unveil._membership.correspondence import corresponding

            corresponding(pair, self.one_to_one)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain values."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: _plain(value) for name, value in plain.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _check_numbers(given: Mapping[str, Any]) -> None:
    check_whole_numbers(0, permutations=given.get("permutations", 0), seed=given.get("seed", 0))
    check_whole_numbers(1, minimum_count=given.get("minimum_count", 1))
    check_shares(level=given.get("level", 0.5), precision=given.get("precision", 0.5))
    check_positive(budget=given.get("budget", 1), epsilon=given.get("epsilon", 1))
    check_numbers(tau=given.get("tau", 0))


def _check_groups(pair: Pair, names: Sequence[str], given: Any, option: str, role: str) -> None:
    """Refuse at the door what the parts would each fail at."""
    asked = given if isinstance(given, Mapping) else {} if given is None else {option: given}
    for name, n in asked.items():
        if not is_whole_number(n) or (n < 2 and n != 0):
            where = f"{option}: {name!r}" if isinstance(given, Mapping) else option
            raise CallError(f"{where} takes a whole number of at least 2 groups, or 0 for none, not {n!r}")
    only_known(given, names, option, role)
    if isinstance(given, Mapping):
        for name in given:
            if pair.kind_of(name) != "numeric":
                raise CallError(f"{option}: {name!r} is {pair.kind_of(name)} and cannot be grouped; leave it out")


def _groups(pair: Pair, targets: Sequence[str], given: int | Mapping[str, int] | None) -> dict[str, int]:
    """Groups of numeric targets: as asked for (0: none), else 20 where a target has many amounts and no breaks."""
    asked = given if isinstance(given, Mapping) else {}
    for text in ungrouped(pair, targets, given, "ngroups_target").values():
        warn(text)
    groups = {}
    for name in targets:
        column = pair.rows.column(name)
        if name in asked:
            groups[name] = asked[name]
        elif column.kind == "numeric" and column.is_amount.sum() > FEWEST_AMOUNTS and pair.breaks_of(name) is None:
            groups[name] = given if isinstance(given, int) else GROUPS
    return {name: n for name, n in groups.items() if n}


def _levels(targets: Sequence[str], given: Any) -> dict[str, tuple[object, ...]] | None:
    """Levels that do not count, by target; texts such as ``workab=NO`` name both."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        given = levels_by_target(as_texts("not_target_levels", given), targets)
    only_known(given, targets, "not_target_levels", "target")
    return {
        name: tuple(levels) if isinstance(levels, list | tuple) else (levels,) for name, levels in given.items()
    } or None


def read_scenario(path: str | Path, known: Sequence[str]) -> dict[str, Any]:
    """Read a scenario file: TOML with the names of the options of :func:`unveil.assess`, and of the files.

    Paths are relative to the file's folder.

    Parameters
    ----------
    path
        The file.
    known
        Names of the options that are understood besides those of files and reading.

    Raises
    ------
    FileError
        If the file cannot be read, is no TOML, or holds an unknown name.
    """
    path = Path(path)
    content = read_toml(path, str(path))[1]
    names = (*FILES, *READING, *known)
    for name, value in content.items():
        if name not in names:
            raise FileError(f"{path}: unknown option {name!r}{near_matches(name, names)}")
        if name in FILES:
            many = name in SEVERAL and isinstance(value, list)
            if not all(isinstance(one, str) for one in (value if many else [value])):
                takes = "a file name, or a list of them," if name in SEVERAL else "a file name,"
                raise FileError(f"{path}: {name} takes {takes} not {value!r}")
            content[name] = [path.parent / one for one in value] if many else path.parent / value
        elif not _TAKES[name][1](value):
            raise FileError(f"{path}: {name} takes {_TAKES[name][0]}, not {value!r}")
    if "rules" in content:
        from unveil.columns.stated_rules import files_beside

        content["rules"] = files_beside(path.parent, content["rules"])
    return content


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and not any(isinstance(one, dict) for one in value.values())


def _kind(hint: Any) -> tuple[str, Callable[[Any], bool]]:
    """Return what a scenario file takes for an option of a type: its name in messages, and a check.

    Numbers are checked with the options of a call.
    """
    kinds = {one for one in (get_args(hint) or (hint,)) if one is not type(None)}
    return _KINDS.get(frozenset(kinds), ("anything", lambda value: True))


_TEXTS, _TEXT, _TABLE = frozenset({str, Sequence[str]}), frozenset({str}), frozenset({Mapping[str, int]})
_LEVELS = frozenset({str, Sequence[str], Mapping[str, str | Sequence[str]]})
_KINDS: Mapping[frozenset[Any], tuple[str, Callable[[Any], bool]]] = {
    _TEXTS: ("a text or a list of texts", _is_texts),
    _TEXT: ("a text", lambda value: isinstance(value, str)),
    _TABLE: ("a table by column", _is_table),
    _LEVELS: ("a table by target", _is_table),
    frozenset({bool}): ("true or false", lambda value: isinstance(value, bool)),
}
_TAKES = {name: _kind(hint) for name, hint in get_type_hints(Options).items() if name != "_"}
_TAKES |= {
    "holdout_unseen": _kind(bool),
    "special_codes": _KINDS[_TABLE],
    "kinds": _KINDS[_TABLE],
    "breaks": _KINDS[_TABLE],
    "unit": _KINDS[_TEXTS],
}
_TAKES |= {"missing": _KINDS[_TEXTS], "population": ("a number", is_number)}
_TAKES |= dict.fromkeys(
    ("weights", "encoding", "delimiter", "decimal", "time", "title", "organisation", "contact"), _KINDS[_TEXT]
)
"""By option of a scenario file: the name of what it takes, and a check."""
