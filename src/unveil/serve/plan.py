"""What is assessed, and how: the content of a scenario file, and the call that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from unveil.assessment.run import assess
from unveil.assessment.scenario import FILES, Options, Scenario
from unveil.columns import Pair
from unveil.errors import CallError
from unveil.files.toml_text import key_text, value_text
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import reading_of, rebuilt

SCENARIO = "scenario.toml"


@dataclass(frozen=True)
class Plan:
    """Files, how they are read, and what is measured, by the names of a scenario file.

    Parameters
    ----------
    files
        Paths by role; a role may have several.
    reading
        Options of reading that differ from the default.
    options
        Options of the assessment.
    holdout_unseen
        Whether it is stated that the synthesizer never saw the held-out records.
    release_safe
        Whether documents are for publication.
    """

    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    holdout_unseen: bool = False
    release_safe: bool = True

    @staticmethod
    def option_names() -> list[str]:
        """Names of the options of an assessment."""
        return [option.name for option in fields(Options)]

    def path(self, role: str) -> Path | None:
        """The one file of a role, if there is one."""
        return next(iter(self.files.get(role, ())), None)

    def reading_options(self) -> dict[str, Any]:
        """How the files are read: as a provenance file says where nothing else is said."""
        provenance, schema = self.path("provenance"), self.path("schema")
        said: dict[str, Any] = {"schema": schema} if provenance is None else reading_of(provenance, schema)
        said.update(self.reading)
        schema, missing = said.pop("schema", None), said.pop("missing", ())
        gaps = ("", *([missing] if isinstance(missing, str) else missing))
        return said | {"schema": None if schema is None else str(schema), "missing": gaps}

    def pair(self) -> Pair:
        """Open the files.

        Raises
        ------
        CallError, DataError
            If they cannot be read, or do not fit together.
        """
        original = self.path("original")
        if original is None or not self.files.get("synthetic"):
            raise CallError("no files are chosen: choose the original and a release")
        return Pair(original, list(self.files["synthetic"]), self.path("holdout"), **self.reading_options())

    def check(self, pair: Pair) -> None:
        """Check the options against the files, before anything is worked out.

        Raises
        ------
        CallError, DataError
            If an option is out of its range, or names what is not there.
        """
        Scenario.of(pair, Options(**self.options))
        provenance = self.path("provenance")
        if provenance is not None and read_provenance(provenance).seed == self.options.get("seed", Options.seed):
            raise CallError(
                "seed is that of the synthesis, which must not be known, and the report names it; take another"
            )

    def assess(self, pair: Pair, progress: Callable[[int, int, str], None], page: Callable[[Any], None]) -> Any:
        """Run the assessment; the arguments are those of :func:`unveil.assess`."""
        provenance, original = self.path("provenance"), self.files["original"][0]
        maker = None if provenance is None else rebuilt(provenance, original, self.files["synthetic"])
        return assess(
            pair, **self.options, synthesizer=maker, holdout_unseen=self.holdout_unseen, policy=self.path("policy"),
            release_safe=self.release_safe, progress=progress, page=page,
        )  # fmt: skip

    def scenario(self, copies: Path | None = None) -> str:
        """The scenario file that says the same.

        Parameters
        ----------
        copies
            The folder of copies, which goes with the process: files in it are called by their names alone, to be looked
            for beside the scenario file.

        Examples
        --------
        >>> plan = Plan({"original": (Path("o.csv"),)}, {"special_codes": {"income": [-8]}}, {"keys": ["sex", "age"]})
        >>> print(plan.scenario().split("#")[0].strip())
        original = "o.csv"
        keys = ["sex", "age"]
        special_codes = { income = [-8] }
        """
        lines = []
        for role in FILES:
            named = [path.name if copies and path.is_relative_to(copies) else str(path)
                     for path in self.files.get(role, ())]  # fmt: skip
            if named:
                lines.append(f"{role} = {value_text(named if len(named) > 1 else named[0])}")
        if self.holdout_unseen:
            lines.append("holdout_unseen = true")
        said = {**self.options, **self.reading}
        lines += [f"{key_text(name)} = {value_text(value)}" for name, value in said.items()]
        return "\n".join([*lines, "", f"# {self.command()}", ""])

    def command(self) -> str:
        """The command line that does the same with this scenario file."""
        confidential = "" if self.release_safe else " --no-release-safe"
        return f"unveil assess --scenario {SCENARIO} --html report.html --json assessment.json{confidential}"
