"""The posterior in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unveil.result import paragraph, text_table, warnings_in_words

if TYPE_CHECKING:
    from unveil._posterior.result import PosteriorRisk

__all__ = ["in_words"]

_PRINTED = ("mean_prior", "mean_posterior", "share_above_half", "share_certain", "expected_gain_bits")
_MEANING: Mapping[str, str] = {
    "fixed": "donor counts alone, the trees held as they are",
    "exact": "donor counts and the shape of the trees",
    "simulated": "the count of the record's own combination in simulated files; a weak lower bound",
}


def in_words(risk: PosteriorRisk, n_columns: int) -> str:
    """A row per release and structure, and what the figures mean.

    Parameters
    ----------
    risk
        The result.
    n_columns
        Number of columns of the original.
    """
    rows: list[list[float | str | None]] = []
    for label, release in zip(risk.labels, risk.releases, strict=True):
        rows.extend([label, name, *(one[m] for m in _PRINTED)] for name, one in release.items())
    strongest = risk.structures[-1]
    figures = risk.releases[0][strongest]
    lines = [
        f"Posterior of {', '.join(risk.target)}: {risk.n_records} of {risk.n_original} records, "
        f"{risk.n_values} values, prior {risk.prior}",
        "",
        text_table(["release", "structure", *_PRINTED], rows, digits=3),
        "",
        paragraph(
            f"An intruder who knows {_knowledge(risk, n_columns)}",
            f"gives its true value a probability of {figures['mean_posterior']:.3f} on average, beforehand"
            f" {figures['mean_prior']:.3f}; for {100 * figures['share_certain']:.1f} of 100 records it is certain.",
            *(f"{name}: {_MEANING[name]}." for name in risk.structures),
            "Not shown: what intruders learn who know fewer records; all other records are taken as known.",
        ),
    ]
    if risk.intruder_errors:
        lines.append(paragraph(f"{risk.intruder_errors} of the intruder's other records are wrong."))
    if risk.monte_carlo_error is not None:
        lines.append(paragraph(f"Largest Monte-Carlo error: {risk.monte_carlo_error.max():.3f}."))
    if risk.largest_mean_gain is not None:
        lines.append(paragraph(f"Mean normalised gain: at most {risk.largest_mean_gain:.3f} on average."))
    if risk.selection.stopped:
        done = ", ".join(f"{name} {n}" for name, n in risk.selection.n_done.items())
        lines.append(paragraph(f"Time ran out: of {risk.n_records} records in random order, {done} were worked out."))
    lines.extend(warnings_in_words(risk.warnings))
    return "\n".join(lines)


def _knowledge(risk: PosteriorRisk, n_columns: int) -> str:
    """What the intruder knows, in words."""
    if len(risk.known) + len(risk.target) == n_columns:
        return f"everything but {', '.join(risk.target)} of one record"
    return f"all other records, and of one record {', '.join(risk.known) or 'nothing'},"
