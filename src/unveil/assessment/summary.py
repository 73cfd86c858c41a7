"""The assessment in plain sentences, without a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from unveil.assessment.published_text import HELD_BACK, SUFFIX, TOO_FEW, WriterOf, note_with_figures
from unveil.assessment.rounding import Rounding
from unveil.assessment.scenario import INTRUDERS
from unveil.assessment.wording import listed
from unveil.limits import within
from unveil.notes import Note
from unveil.result import counted


def summary(found: Mapping[str, Any], rounding: Rounding) -> list[Note]:
    """What the intruders learn, from weak to strong, what the release is good for, and what was not done."""
    return [
        *_files(found, rounding), *_units(found["scenario"]), *_risks(found["figures"], rounding),
        *_weakening(found["targets"]),
        *_use(found["utility"]), *_rules(found.get("plausibility")), *_gaps(found),
    ]  # fmt: skip


def _files(found: Mapping[str, Any], rounding: Rounding) -> Iterator[Note]:
    data, scenario = found["data"], found["scenario"]
    m = len(data["releases"])
    what = f"{m} releases" if m > 1 else "one release"
    yield note_with_figures(
        lambda say: (
            f"{_capital(say().count(data['original']['records']))} real {counted()} and {what} were compared; the "
            f"intruder knows {listed(scenario['keys'])} and wants to know {listed(scenario['targets'])}."
        ),
        rounding,
    )


def _units(scenario: Mapping[str, Any]) -> Iterator[Note]:
    """What a record is where figures count units."""
    if scenario.get("unit"):
        named = " and ".join(scenario["unit"]) + (f", ordered by {scenario['time']}" if scenario["time"] else "")
        yield Note(
            f"Figures count units of several rows (named by {named}): what is said of records is said of units, but "
            f"for {'utility and rules, which look at' if scenario.get('rules') else 'utility, which compares'} rows."
        )


def _risks(figures: Sequence[Mapping[str, Any]], rounding: Rounding) -> Iterator[Note]:
    """Per intruder and measure the target that is highest, by excess where there is one."""
    for intruder in INTRUDERS:
        own = [f for f in figures if f["intruder"] == intruder and _known(f["value"])]
        for measure in dict.fromkeys(f["measure"] for f in own):
            same = [f for f in own if f["measure"] == measure]
            by = "excess" if any(_known(f["excess"]) for f in same) else "value"
            top = max(same, key=lambda f: f[by] if _known(f[by]) else -math.inf)
            beside = note_with_figures(partial(_beside, top, len(same)), rounding)
            public = top.get("sentence" + SUFFIX, HELD_BACK)
            yield Note(top["sentence"] + beside, public if beside.public == TOO_FEW else public + beside.public)


_CEILINGS = {
    "RAPID": "predicted by a model trained without it",
    "DCAP": "guessed from the others with the same keys",
}


def _beside(figure: Mapping[str, Any], n: int, say: WriterOf) -> str:
    """Return in words the baselines that stand beside a figure."""
    scale, hundred = 0.01 if figure["unit"] == "percent" else 1, say(figure).hundred
    found = []
    if _known(figure["null_mean"]) and figure["target"] is not None:
        found.append(
            f"if the release did not say how keys and target go together it would be "
            f"{hundred(scale * figure['null_mean'])} on average"
        )
    if _known(figure["ceiling"]) and figure["measure"] in _CEILINGS:
        found.append(
            f"with the original itself, every record {_CEILINGS[figure['measure']]}, "
            f"{hundred(scale * figure['ceiling'])}"
        )
    text = "; ".join(found)
    beside = f" {text[0].upper()}{text[1:]}." if found else ""
    if n == 1:
        return beside
    if not _known(figure["excess"]):
        return beside + f" Of the {n} targets none has a higher figure."
    if within(figure["excess"], 0):
        return beside + f" None of the {n} targets is above the mean of its null."
    return beside + f" Of the {n} targets none is further above the mean of its null."


def _weakening(targets: Sequence[Mapping[str, Any]]) -> Iterator[Note]:
    """How the strongest intruder weakens, of the first target where it is known."""
    for curve in (one["partial_knowledge"] for one in targets):
        if curve and curve["in_short"]:
            yield Note(curve["in_short"], curve.get("in_short" + SUFFIX, HELD_BACK))
            return


def _use(utility: Mapping[str, Any] | None) -> Iterator[Note]:
    if utility is not None and utility.get("sentence"):
        yield Note(utility["sentence"], utility.get("sentence" + SUFFIX, HELD_BACK))


def _rules(plausibility: Mapping[str, Any] | None) -> Iterator[Note]:
    """Rules that the original keeps and a release breaks."""
    if plausibility is not None and plausibility["in_short"]:
        yield Note(plausibility["in_short"], plausibility.get("in_short" + SUFFIX, HELD_BACK))


def _gaps(found: Mapping[str, Any]) -> Iterator[Note]:
    for status, words in (
        ("failed", "failed"),
        ("skipped", "were left out"),
        ("partial", "are not whole"),
        ("waiting", "were not begun"),
    ):
        names = [part["name"] for part in found["parts"] if part["status"] == status]
        if names:
            yield Note(f"These parts {words}: {listed(names)}; the list of parts says why.")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)
