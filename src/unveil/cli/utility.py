"""The verb `unveil utility`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from unveil.cli.options import Hierarchies, Listed, Original, Synthetic, Whole
from unveil.cli.output import Output, progress_bar
from unveil.cli.parsing import names_of
from unveil.cli.reading import Counting, Reading, Sampling, checked_pair


@Parameter(name="*")
@dataclass(frozen=True)
class Measuring:
    """Measures and their options.

    Parameters
    ----------
    measures
        propensity, marginals, pairs, models, prediction; several separated by commas. Default: all.
    propensity
        Propensity models: logistic, cart; default both.
    null
        How the expectation of pMSE is estimated: permutation of the file that a record is from, or pairs of releases.
        Default: a formula for logistic, permutation for cart.
    permutations
        Number of permutations, spread over the releases.
    minbucket
        Smallest leaf of the cart propensity model.
    ngroups
        Groups that amounts are cut into for tables.
    bias_corrected
        Correct the bias of Cramér's V.
    learner
        Model that predicts the targets: cart, rf, gbm, linear, ...
    folds
        Number of folds for models trained on real records.
    most_records
        Records of each file that propensity and prediction use at most; larger files are sampled. Default: 20 000 for
        propensity, 10 000 for prediction.
    level
        Coverage of confidence intervals.
    seed
        The same seed gives the same figures.
    n_jobs
        Number of threads; default: all.
    """

    measures: Listed = None
    propensity: Listed = None
    null: Literal["permutation", "pairs"] | None = None
    permutations: Whole = 20
    minbucket: Whole = 20
    ngroups: Whole = 5
    bias_corrected: Annotated[bool, Parameter(negative=())] = False
    learner: str = "cart"
    folds: Whole = 5
    most_records: Whole | None = None
    level: float = 0.95
    seed: Whole = 0
    n_jobs: Whole | None = None

    def options(self) -> dict[str, Any]:
        """Options of :func:`unveil.utility.utility` that were given or have a value of their own."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("measures", "propensity"):
            given = found.pop(name)
            if given is not None:
                found[name] = [part.strip() for text in given for part in text.split(",")]
        return found


def utility(
    original: Original, *synthetic: Synthetic, columns: Listed = None, model: Listed = None, targets: Listed = None,
    view: Literal["heatmap", "variables", "models", "prediction", "distributions"] | None = None,
    view_measure: str | None = None,
    hierarchies: Hierarchies = None, measuring: Measuring = Measuring(), sampling: Sampling = Sampling(),
    reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure how useful the release is in place of the original.

    Parameters
    ----------
    columns
        Variables to compare, separated by commas; default: all that the files share.
    model
        A regression to fit to all files, as "income ~ age + sex" or "logistic: ill ~ age" (repeat).
    targets
        Variables that are predicted from all others, separated by commas; default: all.
    view
        What --plot draws: heatmap (of pairs), variables, models, prediction, or distributions (each variable in all
        files); default: the first that was computed.
    view_measure
        The figure that --plot draws, such as S_pMSE; of distributions a variable.
    """
    from unveil._utility.run import utility as compute

    pair = checked_pair(
        original, synthetic, reading, output, counting=counting, sampling=sampling, hierarchies=hierarchies
    )
    with progress_bar("utility") as progress:
        result = compute(
            pair, None if columns is None else names_of(columns, pair.names), models=model or (),
            targets=None if targets is None else names_of(targets, pair.names), progress=progress,
            **measuring.options(),
        )  # fmt: skip
    return output.give(result, view={"kind": view, "measure": view_measure})
