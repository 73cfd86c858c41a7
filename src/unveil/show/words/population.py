"""The risk in the population in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unveil._tables.population import PopulationRisk
from unveil._tables.sample_risks import SAMPLE
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.show.words.tables import grouping_in_words, heading

_LONGEST = 60
"""Most characters of a list of interactions in the table of models."""


def population(risk: PopulationRisk) -> str:
    """A row per group of records and model, the models that were tried, and what the figures mean."""
    shown = f"{100 * risk.level:g} %"
    header = ["unique in", "records", "model", "population uniques", shown, "correct matches", shown]
    rows: list[Row] = []
    for one in risk.figures:
        new = not rows or rows[-1][0] != _who(one)
        rows.append([
            _who(one), one["records"] if new else "", one["model"],
            *(said for name in ("population_uniques", "correct_matches")
              for said in (number(one[name], 1), ends((one[f"{name}_low"], one[f"{name}_high"]), 1))),
        ])  # fmt: skip
    weighted = [] if risk.weights is None else [f"weights {risk.weights}"]
    sampled = f"population {risk.population:.10g}, sampled {100 * risk.n_original / risk.population:.3g} %"
    return "\n".join(
        [
            heading("Risk in the population", risk.n_original, risk.keys, sampled, *weighted),
            *grouping_in_words(risk.grouping),
            "",
            text_table(header, rows),
            "",
            *_models(risk),
            *_sentences(risk),
            *(paragraph(f"The {name} model is not defined: {reason}.") for name, reason in risk.undefined.items()),
            *warnings_in_words(risk.warnings),
        ]
    )


def _who(one: Mapping[str, Any]) -> str:
    return SAMPLE if one["who"] == SAMPLE else f"sample and {one['who']}"


def _models(risk: PopulationRisk) -> list[str]:
    """The log-linear models that were tried."""
    if not risk.tried:
        return []
    rows: list[Row] = [
        [_interactions(one["interactions"]), one["population_uniques"], one["error"], one["z"]] for one in risk.tried
    ]
    table = text_table(["log-linear model", "population uniques", "error B", "B / its deviation"], rows, digits=1)
    explained = paragraph(
        "Main effects, and interactions of two keys; the last model is used. B: how far its population uniques are",
        "from what the sample supports; above 0 the model says too much, below 0 too little.",
    )
    return [table, explained, ""]


def _interactions(pairs: list[list[str]]) -> str:
    text = ", ".join(":".join(pair) for pair in pairs) or "main effects"
    return text if len(text) <= _LONGEST else f"{len(pairs)} interactions, the last {':'.join(pairs[-1])}"


def _sentences(risk: PopulationRisk) -> list[str]:
    lines = [
        paragraph(
            f"Of {risk.sample_uniques} records with a combination of keys that no other record of the sample has,",
            f"about {number(risk.population_uniques, 1)} are expected to be unique in the population, and an intruder",
            "who takes somebody with these keys at random is expected to be right for",
            f"{number(risk.correct_matches, 1)} ({risk.model} model).",
        )
    ]
    for label in risk.labels:
        one = risk.headline(label)
        lines.append(
            paragraph(
                f"{one['records']} of them are unique in {label} too: about {number(one['population_uniques'], 1)} of",
                f"these are unique in the population, and {number(one['correct_matches'], 1)} are matched correctly.",
            )
        )
    lines.append(
        paragraph(
            "An interval says where the number itself lies: by the weights if their model holds; the log-linear one",
            "also allows for the error B.",
            "Not shown: an intruder who knows that a person is in the sample needs no population unique; for that",
            "intruder the sample uniques count.",
        )
    )
    return lines
