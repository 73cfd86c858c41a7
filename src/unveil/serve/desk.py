"""What one person has chosen so far, step by step, and the assessment that was started."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from unveil._tables import identity
from unveil.assessment.policy import read_policy
from unveil.assessment.scenario import SEVERAL
from unveil.columns import Pair
from unveil.demo import CART, ORIGINAL, PROVENANCE, SCHEMA, TARGET, keep
from unveil.errors import CallError, UnveilError, UnveilWarning
from unveil.files import read, read_schema
from unveil.files.opening import open_releases
from unveil.files.source import Kind
from unveil.serve.columns import ColumnView, columns_of, typed_codes, typed_number
from unveil.serve.copies import FIELDS
from unveil.serve.forms import Form
from unveil.serve.plan import Plan
from unveil.serve.question import Problem, beside, options_of
from unveil.serve.run import Run
from unveil.simulate import DEMO_KEYS, demo_population

KINDS: tuple[str, ...] = get_args(Kind)
DEMO_PERSONS, DEMO_SEED, DEMO_BUDGET = 2000, 1, 15.0
DEMO = "demo"
"""The folder of its files."""
DEMO_COMMAND = f"unveil demo {DEMO_PERSONS} --seed {DEMO_SEED} --folder study --no-report"
"""Writes the same files."""
READING = ("encoding", "delimiter", "decimal")


@dataclass
class Desk:
    """All that the pages show; one thread at a time works on it.

    Parameters
    ----------
    folder
        The private folder, for copies of files.
    """

    folder: Path
    plan: Plan = field(default_factory=Plan)
    copied: dict[str, list[Path]] = field(default_factory=dict)
    pair: Pair | None = None
    as_read: tuple[ColumnView, ...] = ()
    columns: tuple[ColumnView, ...] = ()
    run: Run | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the desk; what is warned of stands on the pages and in the report."""
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            yield

    def copy_came(self, role: str, path: Path) -> None:
        """Take a file that the browser sent; a role that has one file takes the last."""
        with self.at_work():
            known = [one for one in self.copied.get(role, []) if one != path]
            self.copied[role] = [*known, path] if role in SEVERAL else [path]

    def forget_copies(self, role: str) -> None:
        """Remove the files of a role that the browser sent."""
        with self.at_work():
            for path in self.copied.pop(role, []):
                path.unlink(missing_ok=True)

    def choose_demo(self) -> None:
        """Simulate a survey and a release of it in the private folder, and choose them."""
        with self.at_work():
            folder = self.folder / DEMO
            if not (folder / PROVENANCE).exists():
                keep(folder, demo_population(DEMO_PERSONS, DEMO_SEED), {}, DEMO_SEED)
            files = {"original": ORIGINAL, "synthetic": CART, "provenance": PROVENANCE, "schema": SCHEMA}
            options = {"keys": list(DEMO_KEYS), "targets": [TARGET], "budget": DEMO_BUDGET, "permutations": 9}
            self._open(Plan({role: (folder / name,) for role, name in files.items()}, options=options))

    def choose_files(self, form: Form) -> list[Problem]:
        """Take the files that a form names, or say what is wrong with each."""
        with self.at_work():
            files = {role: (*self.copied.get(role, []), *_paths(form.text(role))) for role in FIELDS}
            reading: dict[str, Any] = {name: form.text(name) for name in READING if form.text(name)}
            if form.text("missing"):
                reading["missing"] = form.text("missing").splitlines()
            plan = Plan(
                {role: paths for role, paths in files.items() if paths}, reading,
                self.plan.options, holdout_unseen=bool(form.text("holdout_unseen")),
            )  # fmt: skip
            problems = _problems_of_files(plan, self.folder)
            if not problems:
                try:
                    self._open(plan)
                except UnveilError as error:
                    problems = [beside(str(error), READING)]
            return problems

    def _open(self, plan: Plan) -> None:
        pair = plan.pair()
        if not pair.names:
            raise CallError("the files have no column in common; choose a release of this original, or rename columns")
        self.columns = self.as_read = columns_of(pair)
        self.plan, self.pair = plan, pair

    def correct_columns(self, form: Form) -> list[Problem]:
        """Read the files again as a form says, or say what is wrong with each column."""
        with self.at_work():
            base = replace(self.plan, reading={n: v for n, v in self.plan.reading.items() if n not in _OF_COLUMNS})
            reading, problems = _corrections(form, self.as_read, base.reading_options())
            if problems:
                return problems
            plan = replace(base, reading={**base.reading, **reading})
            try:
                pair = plan.pair()
            except UnveilError as error:
                return [self._of_column(str(error))]
            views = columns_of(pair)
            problems = _not_corrected(self.as_read, views, reading.get("special_codes", {}))
            if not problems:
                self.plan, self.pair, self.columns = plan, pair, views
            return problems

    def _of_column(self, message: str) -> Problem:
        """An error beside the column that it names."""
        named = [n for n, view in enumerate(self.as_read) if f"column {view.name!r}" in message]
        if named:
            return Problem(f"column.{named[0]}", message)
        return beside(message, ("weights", "population", "unit", "time"))

    def uniques(self, form: Form) -> str:
        """How many persons the chosen keys single out, in a sentence."""
        with self.at_work():
            pair = self._opened()
            options, _ = options_of(form, self.names)
            if not options.get("keys"):
                return "No keys are chosen yet."
            found = identity(pair, options["keys"], ngroups_keys=options.get("ngroups_keys"))
            return (
                f"With these {len(found.keys)} keys {found.UiO:.1f} of 100 original records are unique, and "
                f"{found.repU:.1f} are so in the release too (repU)."
            )

    def ask(self, form: Form) -> list[Problem]:
        """Take the question that a form asks and start the assessment, or say what is wrong."""
        with self.at_work():
            pair = self._opened()
            options, problems = options_of(form, self.names)
            plan = replace(self.plan, options=options, release_safe=bool(form.text("release_safe")))
            if not problems:
                problems = self._refused(plan, pair)
            if not problems:
                self.plan, self.run = plan, Run(plan)
            return problems

    def _refused(self, plan: Plan, pair: Pair) -> list[Problem]:
        if self.run is not None and self.run.status == "running":
            return [Problem("", "an assessment is running; stop it first, or wait until it has ended")]
        try:
            plan.check(pair)
            policy = plan.path("policy")
            if policy is not None:
                read_policy(policy).check(plan.options["targets"])
        except UnveilError as error:
            return [beside(str(error), Plan.option_names())]
        return []

    @property
    def by_name(self) -> dict[str, ColumnView]:
        """The columns as they are read now, by their names."""
        return {view.name: view for view in self.columns}

    @property
    def names(self) -> list[str]:
        """Columns that may be keys or targets."""
        return [view.name for view in self.columns if not view.error]

    def _opened(self) -> Pair:
        if self.pair is None:
            raise CallError("no files are chosen: choose the original and a release")
        return self.pair

    def named_by_path(self, role: str) -> list[Path]:
        """Files of a role that are read in place."""
        return [path for path in self.plan.files.get(role, ()) if not path.is_relative_to(self.folder)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What deserves a look in the files as a whole."""
        with self.at_work():
            pair = self._opened()
            missing = pair.roles.not_in_every_release()
            return pair.notes([]) if missing is None else (*pair.notes([]), missing)

    def is_demo(self, plan: Plan) -> bool:
        """Whether a plan is of the demonstration."""
        return plan.files["original"][0].is_relative_to(self.folder / DEMO)

    def has_copies(self, plan: Plan) -> bool:
        """Whether a file of a plan goes with the process."""
        return any(path.is_relative_to(self.folder) for paths in plan.files.values() for path in paths)

    def close(self) -> None:
        """End the work that is under way."""
        if self.run is not None:
            self.run.stop()


_OF_COLUMNS = ("kinds", "special_codes", "weights", "population", "unit", "time")
"""Options of reading that the page of columns sets."""


def _corrections(
    form: Form, as_read: Iterable[ColumnView], known: dict[str, Any]
) -> tuple[dict[str, Any], list[Problem]]:
    """Options of reading where the form says something else than what was read."""
    kinds, codes, problems = {}, {}, []
    for position, view in enumerate(as_read):
        kind, text = form.text(f"kind.{position}"), form.text(f"codes.{position}")
        if kind in KINDS and kind != view.kind:
            kinds[view.name] = kind
        if text != view.codes:
            try:
                codes[view.name] = typed_codes(text)
            except CallError as error:
                problems.append(Problem(f"column.{position}", f"special codes of {view.name}: {error}"))
    found: dict[str, Any] = {}
    for option, changed in (("kinds", kinds), ("special_codes", codes)):
        if changed:
            found[option] = {**(known.get(option) or {}), **changed}
    found |= {name: form.text(name) for name in ("weights", "time") if form.text(name)}
    if form.all("unit"):
        found["unit"] = form.all("unit")
    if form.text("population"):
        try:
            found["population"] = typed_number(form.text("population"))
        except CallError as error:
            problems.append(Problem("population", f"population: {error}"))
    return found, problems


def _not_corrected(as_read: Iterable[ColumnView], now: Iterable[ColumnView], codes: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with columns since they were corrected."""
    before = {view.name: (position, view) for position, view in enumerate(as_read)}
    problems = []
    for view in now:
        position, old = before[view.name]
        if view.error and not old.error:
            problems.append(Problem(f"column.{position}", view.error))
        elif view.codes and codes.get(view.name) == []:
            said = f"the schema declares the special codes {view.codes}; correct them there"
            problems.append(Problem(f"column.{position}", said))
    return problems


def _problems_of_files(plan: Plan, copies: Path) -> list[Problem]:
    """What is wrong with each file by itself."""
    problems = [Problem(role, text) for role, text in (
        ("original", "choose the file of real records"), ("synthetic", "choose a release"),
    ) if not plan.files.get(role)]  # fmt: skip
    names = [path.name for paths in plan.files.values() for path in paths if path.is_relative_to(copies)]
    checks: dict[str, Callable[[Path], object]] = {
        "schema": read_schema, "policy": read_policy, "provenance": lambda _: plan.reading_options(),
    }  # fmt: skip
    in_general = partial(_open_alone, plan)
    for role, paths in plan.files.items():
        if len(paths) > 1 and role not in SEVERAL:
            problems.append(Problem(role, "a path and a copy are given; remove one of them"))
        for path in paths:
            if names.count(path.name) > 1 and path.is_relative_to(copies):
                problems.append(Problem(role, f"{path.name}: two files have this name; rename one of them"))
                continue
            try:
                checks.get(role, in_general)(path)
            except UnveilError as error:
                problems.append(Problem(role, str(error)))
    return problems


def _open_alone(plan: Plan, path: Path) -> None:
    """Open a file without what is declared of columns, which others may have."""
    options = {name: value for name, value in plan.reading.items() if name in (*READING, "missing")}
    for data in open_releases(path):
        read(data, **options)


def _paths(text: str) -> list[Path]:
    """Paths that are typed, one a line."""
    return [Path(line.strip()).expanduser().absolute() for line in text.splitlines() if line.strip()]
