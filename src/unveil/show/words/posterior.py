"""The posterior in words and tables."""

from __future__ import annotations

from collections.abc import Mapping

from unveil._posterior.advice import Advice
from unveil._posterior.cross_table import CrossTable
from unveil._posterior.result import PosteriorRisk
from unveil.result import Row, number, paragraph, text_table, warnings_in_words

_PERCENT = {
    "% prior": "mean_prior", "% posterior": "mean_posterior", "% above half": "share_above_half",
    "% certain": "share_certain",
}  # fmt: skip
"""Columns in percent, and the shares that they are of: means of probabilities, and shares of records."""
_MEANING: Mapping[str, str] = {
    "fixed": "donor counts alone, the trees held as they are",
    "exact": "donor counts and the shape of the trees",
    "simulated": "the count of the record's own combination in simulated files; a weak lower bound",
}

_SHAPE = "The shape of the trees tells more (exact), above all where donors are mixed (mix)."


def in_words(risk: PosteriorRisk) -> str:
    """A row per release and structure, and what the figures mean."""
    rows: list[Row] = []
    for label, release in zip(risk.labels, risk.releases, strict=True):
        rows.extend(
            [label, name, *(100 * one[m] for m in _PERCENT.values()), number(one["expected_gain_bits"], 3)]
            for name, one in release.items()
        )
    strongest = risk.structures[-1]
    figures = risk.releases[0][strongest]
    lines = [
        f"Posterior of {', '.join(risk.target)}: {risk.n_records} of {risk.n_original} records, "
        f"{risk.n_values} values, prior {risk.prior}",
        "",
        text_table(["release", "structure", *_PERCENT, "gain in bits"], rows, digits=1),
        "",
        paragraph(
            f"An intruder who knows {_knowledge(risk)}",
            f"gives its true value a probability of {100 * figures['mean_posterior']:.1f} % on average,",
            f"beforehand {100 * figures['mean_prior']:.1f} %;",
            f"for {100 * figures['share_certain']:.1f} of 100 records it is certain.",
            *(f"{name}: {_MEANING[name]}." for name in risk.structures),
            _SHAPE if risk.structures == ("fixed",) else "",
            "Not shown: what intruders learn who know fewer records; all other records are taken as known.",
        ),
    ]
    if risk.intruder_errors:
        misled = risk.to_dict()["releases"][0][strongest]["share_certain_wrong"]
        lines.append(
            paragraph(
                f"{risk.intruder_errors} of the intruder's other records are wrong (one draw of the mistakes): for "
                f"{100 * misled:.1f} of 100 records this intruder is certain of a wrong value."
            )
        )
    if risk.monte_carlo_error is not None:
        lines.append(paragraph(f"Largest Monte-Carlo error: {100 * risk.monte_carlo_error.max():.1f} %."))
    if risk.largest_mean_gain is not None:
        lines.append(paragraph(f"Mean normalised gain: at most {100 * risk.largest_mean_gain:.1f} % on average."))
    if risk.selection.stopped:
        done = ", ".join(f"{name} {n}" for name, n in risk.selection.n_done.items())
        lines.append(paragraph(f"Time ran out: of {risk.n_records} records in random order, {done} were worked out."))
    lines.extend(warnings_in_words(risk.warnings))
    return "\n".join(lines)


def _knowledge(risk: PosteriorRisk) -> str:
    """The knowledge of the intruder, in words."""
    if len(risk.known) + len(risk.target) == len(risk._pair.original.names):
        return f"everything but {', '.join(risk.target)} of one record"
    return f"all other records, and of one record {', '.join(risk.known) or 'nothing'},"


def cross_table(found: CrossTable) -> str:
    """How many records either flags."""
    table = text_table(
        ["records", f"{found.name} yes", f"{found.name} no"],
        [["at risk", found.both, found.only_posterior], ["not at risk", found.only_flag, found.neither]],
    )
    if found.both + found.only_posterior == 0:
        return f"{table}\n" + paragraph(f"No record has a normalised gain above {found.threshold}.")
    return f"{table}\n" + paragraph(
        f"Of the records with normalised gain above {found.threshold}, {100 * found.missed:.0f} % are missed by "
        f"{found.name}."
    )


def advice(found: Advice) -> str:
    """A row per setting, and what the figures mean."""
    structures = tuple(found.rows[0].mean_posterior)
    rows: list[Row] = [
        [f"{row.setting} {row.value}".strip(), *(100 * row.mean_posterior[name] for name in structures),
         100 * row.still_at_risk, 100 * row.share_certain]
        for row in found.rows
    ]  # fmt: skip
    looked = "all" if found.n_looked_at == found.n_at_risk else f"{found.n_looked_at}"
    return "\n".join(
        [
            f"{found.n_at_risk} records at risk (normalised gain above {found.threshold}), {looked} worked out anew",
            "",
            text_table(
                ["setting", *(f"% posterior, {name}" for name in structures), "% still at risk", "% certain"],
                rows,
                digits=1,
            ),
            "",
            paragraph(
                f"Mean probability of the true value over the records at risk; beforehand "
                f"{100 * found.rows[0].mean_prior:.1f} %. The records were picked by what the files at hand tell; "
                "compare new settings with files drawn anew with the same settings. Each was fitted, released and "
                "weighed once; the release drawn is one of many. Not shown: what a setting costs in utility."
            ),
            *(paragraph(f"Not worked out: {text}.") for text in found.left_out),
        ]
    )
