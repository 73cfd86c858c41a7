"""The verb `unveil tune`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from unveil.assessment.scenario import Options
from unveil.cli import INTERRUPTED
from unveil.cli.assess import TYPED, as_typed, grid_of
from unveil.cli.checkpoints import CheckpointFolder, resumable, say_interrupted
from unveil.cli.derived import Derived, derived
from unveil.cli.groups import ASKED
from unveil.cli.options import Breaks, Listed, Original, Whole
from unveil.cli.output import Output, progress_bar
from unveil.cli.parsing import breaks_of
from unveil.cli.reading import Reading, Sampling
from unveil.cli.screen import remark
from unveil.errors import CallError

NO_SETTING = 4
"""Exit status where no setting satisfies the policy; as of an assessment that is not within it."""


@derived(
    Options, TYPED, groups=dict.fromkeys(("keys", "targets", "ngroups_keys", "ngroups_target"), ASKED),
    only=("keys", "targets", "ngroups_keys", "ngroups_target", "attacker", "tau", "epsilon", "permutations", "level",
          "precision", "minimum_count"),
)  # fmt: skip
class Knowledge(Derived):
    """Who knows what and wants to know what, and how that is measured."""


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class OfOtherVerbs:
    """Options of the other measures, so that it is said why there are none here."""

    hierarchies: str | None = None
    suppressed: str | None = None
    unit: Listed = None
    time: str | None = None

    def given(self) -> dict[str, Any]:
        """Those that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def tune(
    original: Original, *, policy: Path, utility: str = "mean TVD", grid: Listed = None, tries: Whole = 40,
    budget: float = 900.0, seed: Whole | None = None, checkpoint: CheckpointFolder = None, release_safe: bool = True,
    csv: Path | None = None, knowledge: Knowledge = Knowledge(), breaks: Breaks = None,
    sampling: Sampling = Sampling(), refused: OfOtherVerbs = OfOtherVerbs(), reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Find the most useful settings of a synthesizer for which every rule of a policy holds.

    Exit status 4: no setting that was tried satisfies the policy.

    Parameters
    ----------
    policy
        The institution's limits (TOML).
    utility
        The distance that is made small: mean TVD, worst pair TVD, S_pMSE, pMSE or SPECKS.
    grid
        Values to try, as minbucket=5 (repeat, or separate by commas), of minbucket, cp, collapse, mix, smoothing, k, m
        and merge; default: several of most of them.
    tries
        Most settings that are tried, drawn at random among all combinations.
    budget
        Seconds; what was begun is finished.
    seed
        Seed of settings and releases; by default a secret one. It is confidential where a release that was made with it
        is given away. A search with --checkpoint needs one.
    release_safe
        Whether JSON and CSV are for publication: figures are rounded, as in the documents of unveil assess.
    csv
        Write the settings with their figures to this file.
    """
    from unveil.files.opening import open_source
    from unveil.files.write import write_table
    from unveil.result import frame
    from unveil.tuning import tune as search
    from unveil.tuning.result import columns_of_document

    output.check((original, policy, *reading.files), tables=() if csv is None else (csv,))
    options = as_typed(knowledge.given())
    if not options.get("keys"):
        raise CallError("no keys given: name what an intruder knows with --keys")
    with resumable(checkpoint), progress_bar("reading") as progress:
        found = search(
            open_source(str(original), **reading.options), options.pop("keys"), policy=policy, utility=utility,
            grid=grid_of(grid) or None, tries=tries, budget=budget, seed=seed, checkpoint=checkpoint,
            special_codes=reading.codes or None, kinds=reading.stated or None, breaks=breaks_of(breaks),
            progress=progress, **sampling.options, **refused.given(), **options,
        )  # fmt: skip
    document = found.document(release_safe=release_safe)
    if csv is not None:
        write_table(frame(columns_of_document(document), "arrow"), str(csv), overwrite=output.overwrite)
    status = output.give(found, document=lambda: document)
    if found.interrupted:
        say_interrupted(checkpoint)
        remark("what had been measured is shown")
        return INTERRUPTED
    return NO_SETTING if found.winner is None else status
