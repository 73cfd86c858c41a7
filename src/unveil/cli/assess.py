"""The verbs `unveil assess` and `unveil compare`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from unveil.assessment.scenario import Options
from unveil.cli import INTERRUPTED
from unveil.cli.checkpoints import CheckpointFolder, say_interrupted
from unveil.cli.derived import COMMAS, Derived, derived
from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import ASKED, FILES, OUTPUT
from unveil.cli.options import Breaks, Hierarchies, Listed, Whole
from unveil.cli.output import POLICY_NOT_MET, Output, progress_bar, write_text
from unveil.cli.parsing import breaks_of, groups_of, setting_value
from unveil.cli.reading import Counting, Reading, Sampling, Units
from unveil.cli.screen import remark
from unveil.cli.trees import Trees
from unveil.errors import CallError, FileError, UnveilWarning

TYPED = {
    **dict.fromkeys(("keys", "targets", "intruders", "measures", "other_measures"), COMMAS),
    "ngroups_keys": "Typed as age=5.",
    "ngroups_target": "Typed as a number for all, or as income=20.",
    "exclude_pairs": "Repeat the option for several pairs.",
    "not_target_levels": "Typed as workab=NO.",
    "rules": "Repeat the option for several rules.",
    "models": "Repeat the option for several models.",
}
"""How an option is typed."""


OF_KEYS_AND_TARGETS = ("keys", "targets", "ngroups_keys", "ngroups_target", "exclude_pairs", "not_target_levels")


@derived(Options, TYPED, groups=dict.fromkeys(OF_KEYS_AND_TARGETS, ASKED))
class Asked(Derived):
    """Options of an assessment; a scenario file may hold any of them."""

    def options(self) -> dict[str, Any]:
        """Return the given options for :func:`unveil.assess`."""
        return as_typed(self.given())


def as_typed(given: dict[str, Any]) -> dict[str, Any]:
    """Options of an assessment as the command line reads them."""
    for name, value in given.items():
        if TYPED.get(name) == COMMAS:
            given[name] = [one.strip() for part in value for one in part.split(",")]
        elif name.startswith("ngroups"):
            given[name] = groups_of(value, name)
    return given


@Parameter(name="*")
@dataclass(frozen=True)
class Synthesis:
    """How the releases were made.

    Parameters
    ----------
    provenance
        The provenance file that `unveil synthesize` wrote beside the releases.
    synthesizer
        cart: sequential CART with the settings of trees below; or another by its name, with --settings.
    """

    provenance: Path | None = None
    synthesizer: str | None = None
    others: ForeignSynthesizer = ForeignSynthesizer()

    def reading(self, schema: Path | None) -> dict[str, Any]:
        """Options with which the original was read for the synthesis, from the provenance file."""
        if self.provenance is None:
            return {}
        from unveil.synthesis.rebuild import reading_of

        return reading_of(self.provenance, schema)

    def made(self, settings: dict[str, Any], original: Path, releases: Sequence[Path], reading: Reading) -> Any:
        """Return the synthesizer with the settings of its trees, or None if none is named."""
        if self.provenance is not None:
            if settings or self.synthesizer is not None or self.others != ForeignSynthesizer():
                raise CallError(
                    "the provenance file says how the releases were made; leave out --synthesizer and settings"
                )
            from unveil.synthesis.rebuild import rebuilt

            return rebuilt(self.provenance, original, releases)
        if self.synthesizer != "cart":
            if settings:
                raise CallError("settings of trees need --synthesizer cart")
            return self.others.made(self.synthesizer)
        if self.others != ForeignSynthesizer():
            raise CallError("the settings of cart have options of their own; leave out --settings and the command")
        from unveil.synthesis import CartSynthesizer

        return CartSynthesizer(**settings, special_codes=reading.codes or None, kinds=reading.stated or None)

    def keep_secret(self, seed: int) -> None:
        """Warn if the seed of the assessment, which its documents hold, is the seed of the synthesis."""
        if self.provenance is None:
            return
        from unveil.synthesis.provenance import read_provenance

        if read_provenance(self.provenance).seed == seed:
            warnings.warn(
                "the seed of this assessment is that of the synthesis, which must not be known, and reports hold it: "
                "keep them in the building, or give another --seed",
                UnveilWarning,
                stacklevel=2,
            )


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class Documents:
    """Files that the assessment is written to.

    Parameters
    ----------
    html
        Write the report to this file: one page that needs no network.
    markdown
        Write the report as Markdown.
    public_summary
        Write the page for publication to this file (.html or .md): at most ten figures, rounded.
    policy
        The institution's limits (TOML); they add a column of verdicts.
    policy_exit
        End with exit status 4 if a figure is not within the policy or was not measured; all files are written anyway.
    title
        Title of the reports, printed as it is; default: the files.
    organisation
        Who made the reports, printed as it is.
    contact
        Whom to ask, printed as it is.
    release_safe
        Whether documents are for publication: figures are rounded, names and counts of few persons are left out.
    """

    html: Path | None = None
    markdown: Path | None = None
    public_summary: Path | None = None
    policy: Path | None = None
    policy_exit: Annotated[bool, Parameter(negative=())] = False
    title: str | None = None
    organisation: str | None = None
    contact: str | None = None
    release_safe: bool = True
    checkpoint: CheckpointFolder = None

    def masthead(self, given: dict[str, Any]) -> dict[str, Any]:
        """Head of the reports; a scenario file may hold it."""
        return {name: getattr(self, name) or given.pop(name, None) for name in HEAD}

    @property
    def public_form(self) -> str | None:
        """Form of the public summary, by the ending of its file."""
        from unveil.show.report import form_of

        return None if self.public_summary is None else form_of(self.public_summary)

    def paths(self) -> list[Path]:
        """The files to write."""
        return [path for path in (self.html, self.markdown, self.public_summary) if path is not None]


HEAD = ("title", "organisation", "contact")
_ASKED = tuple(field.name for field in fields(Options))


def assess(
    *files: Annotated[Path, Parameter(group=FILES)], scenario: Annotated[Path | None, Parameter(group=FILES)] = None,
    holdout: Annotated[Path | None, Parameter(group=FILES)] = None,
    holdout_unseen: Annotated[bool, Parameter(negative=(), group=FILES)] = False, breaks: Breaks = None,
    hierarchies: Hierarchies = None, asked: Asked = Asked(),
    synthesis: Synthesis = Synthesis(), trees: Trees = Trees(), documents: Documents = Documents(),
    sampling: Sampling = Sampling(), units: Units = Units(), reading: Reading = Reading(),
    counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure what a release gives away to intruders from weak to strong, and how useful it is: one document.

    Parameters
    ----------
    files
        The file of real records, then the release, or several. A scenario file may name them instead.
    scenario
        A TOML file with any of these options by name; options given here count before it.
    holdout
        A file of real records that the synthesizer never saw.
    holdout_unseen
        State that the synthesizer never saw the holdout: records set aside afterwards measure nothing.
    """
    from unveil.assessment.run import assess as compute

    given = _scenario(scenario)
    options = {name: given.pop(name) for name in _ASKED if name in given} | asked.options()
    original, releases = _files(files, given)
    holdout = holdout or given.pop("holdout", None)
    holdout_unseen = holdout_unseen or bool(given.pop("holdout_unseen", False))
    policy = documents.policy or given.pop("policy", None)
    if documents.policy_exit and policy is None:
        raise CallError("--policy-exit needs the policy whose limits are to be met: --policy FILE")
    provenance = synthesis.provenance or given.get("provenance")
    schema = reading.schema or given.get("schema")
    hierarchies = hierarchies or given.pop("hierarchies", None)
    others = (holdout, policy, scenario, provenance, schema, hierarchies, *_rule_files(options))
    kept = _Kept(documents, output)
    inputs = [original, *releases, *(path for path in others if path is not None)]
    output.check(tuple(inputs), *documents.paths())
    head = documents.masthead(given)
    _require_keys(options)
    provenance = given.pop("provenance", None)
    if synthesis == Synthesis() and trees == Trees() and provenance is not None:
        synthesis = Synthesis(provenance=provenance)
    reading = reading.or_else(synthesis.reading(schema) | given)
    cuts, units, sampling = given.pop("breaks", {}) | breaks_of(breaks), units.or_else(given), sampling.or_else(given)
    pair = reading.pair(original, tuple(releases), holdout, counting, cuts, sampling, units, hierarchies)
    maker = synthesis.made(trees.given(), original, releases, reading)
    synthesis.keep_secret(options.get("seed", 0))
    interrupted = False
    with progress_bar("reading") as progress:
        try:
            result = compute(
                pair, **options, synthesizer=maker, holdout_unseen=holdout_unseen, policy=policy,
                release_safe=documents.release_safe, checkpoint=documents.checkpoint, progress=progress, page=kept.show,
                **head,
            )  # fmt: skip
        except KeyboardInterrupt:
            if kept.last is None:
                say_interrupted(documents.checkpoint)
                raise
            result, interrupted = kept.last, True
    kept.say(result)
    try:
        kept.write(result)
    except FileError:
        output.give(result)
        raise
    for path in documents.paths():
        remark(f"written: {path}")
    output.give(result)
    if interrupted:
        say_interrupted(documents.checkpoint)
        remark("what was worked out until then is shown, and the list of parts says what is missing")
        return INTERRUPTED
    if documents.policy_exit and not result.within_policy:
        return POLICY_NOT_MET
    return output.status(result)


def _rule_files(options: dict[str, Any]) -> list[Path]:
    from unveil.columns.stated_rules import is_rule_file

    return [Path(text) for text in options.get("rules") or () if is_rule_file(text)]


class _Kept:
    """The assessment as it stands: said in a few lines, and written whenever it gets better."""

    def __init__(self, documents: Documents, output: Output):
        self.last: Any = None
        self._documents, self._output, self._written = documents, output, False
        self._form = documents.public_form

    def show(self, found: Any) -> None:
        """Say what is new, and write the pages that were asked for."""
        is_first = self.last is None
        self.say(found)
        try:
            self.write(found)
        except FileError as error:
            if is_first:
                raise
            # What is worked out is worth more than the page in between.
            remark(f"warning: {error}; the work goes on")
        if is_first and self._written:
            remark(
                "the page is written from now on whenever it gets better; figures of simple attacks mostly rise; "
                "Ctrl-C keeps the page as it is"
            )

    def say(self, found: Any) -> None:
        """Say which figures are new or better."""
        from unveil.show.words.assessment import news

        for line in news(self.last, found):
            remark(line)
        self.last = found

    def write(self, found: Any) -> None:
        """Write the pages; those that this call has written are replaced."""
        pages = (
            (self._documents.html, found.to_html), (self._documents.markdown, found.to_markdown),
            (self._documents.public_summary, partial(found.to_public_summary, form=self._form)),
        )  # fmt: skip
        for path, text in [(path, drawn()) for path, drawn in pages if path is not None]:
            write_text(path, text, self._output.overwrite or self._written)
        self._written = bool(self._documents.paths())


def compare(
    original: Annotated[Path, Parameter(group=FILES)], *files: Annotated[Path, Parameter(group=FILES)],
    breaks: Breaks = None, hierarchies: Hierarchies = None, grid: Listed = None, synthesizer: Listed = None,
    others: ForeignSynthesizer = ForeignSynthesizer(), m: Annotated[Whole, Parameter(name=["--m", "-m"])] = 5,
    risk: str = "DiSCO", utility: str = "mean TVD",
    view: Annotated[Literal["map", "all"], Parameter(group=OUTPUT)] = "map", csv: Path | None = None,
    asked: Asked = Asked(), sampling: Sampling = Sampling(), units: Units = Units(),
    reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Show several releases or synthesizers on one map of risk and utility.

    Parameters
    ----------
    original
        The file of real records.
    files
        Releases; each is a point of the map.
    grid
        Settings of sequential CART to try besides, as minbucket=5 (repeat, or separate by commas); all combinations.
    synthesizer
        Other synthesizers by name (repeat, or separate by commas).
    m
        Number of releases that each synthesizer makes.
    risk
        repU, DiSCO, DCAP, RAPID, posterior, posterior certain, membership AUC or exact membership; a risk that is not
        measured by default is named in --measures too.
    utility
        mean TVD, worst pair TVD, S_pMSE, pMSE or SPECKS.
    view
        What --plot draws: the map of the two measures, or all, every risk against every utility.
    csv
        Write the points to this file.
    """
    from unveil.assessment.comparison import compare as compute
    from unveil.files.opening import open_source
    from unveil.files.write import write_table

    inputs = (original, *files, *reading.files, *([] if hierarchies is None else [hierarchies]))
    output.check(inputs, tables=() if csv is None else (csv,))
    options = asked.options()
    _require_keys(options)
    with progress_bar("reading") as progress:
        result = compute(
            open_source(str(original), **reading.options),
            {label: open_source(str(path), **reading.options) for label, path in _labels(files).items()}
            | others.by_label([name for text in synthesizer or () for name in text.split(",")]),
            **options, grid=grid_of(grid), m=m,
            risk=risk, utility=utility, special_codes=reading.codes or None, kinds=reading.stated or None,
            breaks=breaks_of(breaks), hierarchies=hierarchies, progress=progress, **sampling.options, **units.options,
        )  # fmt: skip
    if csv is not None:
        write_table(result.to_frame("arrow"), str(csv), overwrite=output.overwrite)
    return output.give(result, view={"kind": view})


def _labels(files: tuple[Path, ...]) -> dict[str, Path]:
    """Files by name; by path where two have the same name."""
    names = [path.name for path in files]
    found = {name if names.count(name) == 1 else str(path): path for name, path in zip(names, files, strict=True)}
    if len(found) < len(files):
        twice = next(path for path in files if files.count(path) > 1)
        raise CallError(f"a release is named twice: {twice}")
    return found


def _scenario(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    from unveil.assessment.scenario import read_scenario

    return read_scenario(path, ["holdout_unseen", *HEAD, *_ASKED])


def _require_keys(options: dict[str, Any]) -> None:
    if not options.get("keys"):
        raise CallError("no keys given: name what an intruder knows with --keys")


def _files(files: tuple[Path, ...], given: dict[str, Any]) -> tuple[Path, list[Path]]:
    original, releases = given.pop("original", None), given.pop("synthetic", [])
    if files:
        original, releases = files[0], list(files[1:]) or releases
    if original is None:
        raise CallError("no files given: name the original, then one or more synthetic files, or a scenario file")
    return original, releases if isinstance(releases, list) else [releases]


def grid_of(given: list[str] | None) -> dict[str, list[Any]]:
    """Settings with the values to try."""
    grid: dict[str, list[Any]] = {}
    for part in (one for text in given or () for one in text.split(",")):
        name, sign, value = part.partition("=")
        if not sign:
            raise CallError(f"--grid takes setting=value, not {part!r}")
        grid.setdefault(name, []).append(setting_value(value))
    return grid
