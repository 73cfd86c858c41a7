"""The verb `unveil rapid`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from unveil.cli.checkpoints import CheckpointFolder, resumable
from unveil.cli.options import Hierarchies, Keys, Listed, Original, Records, Synthetic, Target, Targets, Whole
from unveil.cli.output import Output, print_frame, progress_bar, record_files, save_where_counted
from unveil.cli.parsing import names_of
from unveil.cli.reading import Counting, Reading, Sampling, Units, checked_pair
from unveil.cli.screen import say
from unveil.errors import CallError


@Parameter(name="*")
@dataclass(frozen=True)
class Intruder:
    """How the intruder attacks, and which persons are at risk.

    Parameters
    ----------
    attacker
        rf, cart, gbm, logit, logit_l1, lm, stack, suite (the most of them), or one that a package registers; several
        separated by commas.
    kind
        categorical or continuous; default: as the column is.
    scoring
        Score of a categorical target: marginal, conditional or nce.
    tau
        A person is at risk above this score; default 0.3.
    metric
        Error of a continuous target: relative, symmetric, absolute, sd or range.
    epsilon
        A person is at risk below this error; default 0.10.
    delta
        Keeps relative errors defined at 0.
    target_na
        Gaps of a continuous target: exclude, median, or a number that replaces them.
    permutations
        Shuffles of the release's target for the null; 0 for none.
    ceiling
        Whether the attack is also trained on the original.
    most_records
        Records of a file that models are trained on at most, drawn where it has more; default 100000.
    side_information
        A file of real records that the intruder has besides.
    side_weight
        How many records of the release one of them counts for.
    seed
        The same seed gives the same figures.
    n_jobs
        Number of threads; default: all.
    """

    attacker: Listed = None
    kind: Literal["categorical", "continuous"] | None = None
    scoring: str = "marginal"
    tau: float | None = None
    metric: str = "relative"
    epsilon: float | None = None
    delta: float = 0.01
    target_na: str = "exclude"
    permutations: int = 19
    ceiling: bool = True
    most_records: Whole | None = None
    side_information: Path | None = None
    side_weight: float = 1.0
    seed: int = 0
    n_jobs: int | None = None

    def options(self) -> dict[str, Any]:
        """Options of :func:`unveil._rapid.rapid`."""
        names = [name for part in self.attacker or ["rf"] for name in part.split(",")]
        side = None if self.side_information is None else str(self.side_information)
        return {field.name: getattr(self, field.name) for field in fields(self)} | {
            "attacker": names if len(names) > 1 else names[0],
            "target_na": _filling(self.target_na),
            "side_information": side,
        }


@Parameter(name="*")
@dataclass(frozen=True)
class Views:
    """Views of one target.

    Parameters
    ----------
    curve
        Show the rate over a grid of thresholds instead.
    attribution
        Show which keys put persons at risk instead.
    joint
        Also show who is at risk for all targets at once.
    power
        Also show how many persons it takes for the rate to stand above its null.
    by
        Also show the rate for each level of these columns.
    worst_subgroups
        Also show the groups with the highest rates.
    """

    curve: Annotated[bool, Parameter(negative=())] = False
    attribution: Annotated[bool, Parameter(negative=())] = False
    joint: Annotated[bool, Parameter(negative=())] = False
    power: Annotated[bool, Parameter(negative=())] = False
    by: Listed = None
    worst_subgroups: Annotated[bool, Parameter(negative=())] = False

    def check(self, target: str | None) -> None:
        """Raise CallError if a view needs one target and none is named."""
        if target is None and (self.curve or self.attribution):
            raise CallError("--curve and --attribution show one target: name it with --target")
        if target is not None and self.joint:
            raise CallError("--joint shows several targets: name them with --targets")


def rapid(
    original: Original, *synthetic: Synthetic, keys: Keys, target: Target = None, targets: Targets = None,
    hierarchies: Hierarchies = None, records: Records = None, checkpoint: CheckpointFolder = None,
    intruder: Intruder = Intruder(), views: Views = Views(), sampling: Sampling = Sampling(), units: Units = Units(),
    reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure what a model trained on the release infers about real people."""
    if records is not None and target is None:
        raise CallError("--records needs one target: name it with --target")
    tables = record_files(records, len(synthetic))
    pair = checked_pair(
        original, synthetic, reading, output, tables=tables, counting=counting, sampling=sampling, units=units,
        hierarchies=hierarchies,
    )  # fmt: skip
    chosen = None if targets is None else names_of(targets, pair.names)
    with resumable(checkpoint):
        result = measure(pair, names_of(keys, pair.names), target, chosen, intruder, views, output, checkpoint)
    save_where_counted(result, records, output.overwrite)
    return output.status(result)


def measure(
    pair: Any, keys: list[str], target: str | None, targets: list[str] | None, intruder: Intruder, views: Views,
    output: Output, checkpoint: Path | None = None,
) -> Any:  # fmt: skip
    """Run :func:`unveil._rapid.rapid` and show what was asked for.

    Parameters
    ----------
    pair
        The opened files.
    keys, target, targets
        Names of columns.
    intruder, views, output
        Options of the command line.
    checkpoint
        The folder that keeps what is finished.

    Returns
    -------
    Rapid or Rapids
        The result.

    Raises
    ------
    CallError
        If a view needs one target and there are several.
    """
    from unveil._rapid import rapid

    views.check(target)
    columns = [] if views.by is None else names_of(views.by, pair.names)
    for column in columns:
        pair.compared(column)
    with progress_bar("models") as progress:
        result = rapid(
            pair, keys, target=target, targets=targets, progress=progress, checkpoint=checkpoint, **intruder.options()
        )
    if views.curve:
        output.give(result.curve())
    elif views.attribution:
        output.give(result.attribution())
    else:
        each = [result] if target is not None else list(result)
        found = {one.target: one.power() for one in each} if views.power else {}
        extra = {"power": {name: one.to_dict() for name, one in found.items()}} if found else {}
        together = result.joint(permutations=intruder.permutations) if views.joint else None
        if together is not None:
            extra["joint"] = together.to_dict()
        output.give(result, extra, document=partial(result.to_dict, curve=True, by=columns))
        for power in found.values() if output.json != "-" else ():
            say(f"\n{power}")
        if together is not None and output.json != "-":
            say(f"\n{together}")
    if output.json != "-":
        for one in [result] if target is not None else result:
            _show(one, columns, views.worst_subgroups)
    return result


def _filling(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _show(result: Any, columns: list[str], worst_subgroups: bool) -> None:
    views: list[tuple[str, Callable[[int, str], Any]]] = [
        (f"by {column}", partial(result.by, column, flavour="arrow")) for column in columns
    ]
    if worst_subgroups:
        views.append(("worst subgroups", partial(result.worst_subgroups, flavour="arrow")))
    for title, table_of in views:
        for release, label in enumerate(result.labels):
            for attacker in result.attackers:
                print_frame(f"{result.target}: {title}; {label}, {attacker}", table_of(release, attacker))
