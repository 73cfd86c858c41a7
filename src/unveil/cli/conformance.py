"""The verb `unveil conformance`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.groups import OUTPUT
from unveil.cli.options import Listed, Whole
from unveil.cli.output import Output, progress_bar
from unveil.cli.parsing import names_of
from unveil.errors import CallError


def conformance(
    *, measures: Listed = None, trials: Listed = None, replicates: Whole = 10, seed: Whole = 0,
    csv: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    plot_trial: Annotated[str | None, Parameter(group=OUTPUT)] = None, output: Output = Output(),
) -> int:  # fmt: skip
    """Try measures of risk on constructed worlds of which it is known what an intruder learns.

    No file is needed. A measure that fails is shown with the world in which it fails.

    Parameters
    ----------
    measures
        repU, DiSCO, DCAP, RAPID rate, RAPID excess, membership, exact membership or Bayesian; several separated by
        commas; default: all. Measures of your own: unveil.conformance in Python.
    trials
        Names of trials, as the output has them (repeat); default: all.
    replicates
        Number of times that every world is drawn, at least 3.
    seed
        The same seed draws the same worlds.
    csv
        Write what every measure reads in every world to this file.
    plot_trial
        Draw this trial alone; default: all.
    """
    from unveil._conformance import TRIALS
    from unveil._conformance import conformance as judge
    from unveil.files.write import write_table

    output.check((), tables=() if csv is None else (csv,))
    if plot_trial is not None and output.plot is None:
        raise CallError("--plot-trial says what is drawn: name the file with --plot")
    names = tuple(trial.name for trial in TRIALS)
    chosen = None if trials is None else names_of(trials, names)
    if plot_trial is not None and plot_trial not in (chosen or names):
        raise CallError(f"--plot-trial: {plot_trial!r} is not tried; choose from {'; '.join(chosen or names)}")
    with progress_bar("trials") as progress:
        found = judge(
            None if measures is None else names_of(measures, ()), trials=chosen, replicates=replicates, seed=seed,
            progress=progress,
        )  # fmt: skip
    if csv is not None:
        write_table(found.to_frame("arrow"), csv, overwrite=output.overwrite)
    return output.give(found, view={"trial": plot_trial})
