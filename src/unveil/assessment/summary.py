"""The assessment in plain sentences, without a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unveil.assessment.scenario import INTRUDERS
from unveil.assessment.wording import of_hundred

__all__ = ["listed", "summary"]


def summary(found: Mapping[str, Any]) -> list[str]:
    """Say what the intruders learn, from weak to strong, what the release is good for, and what was not done."""
    return [*_files(found), *_risks(found["figures"]), *_use(found["utility"]), *_gaps(found)]


def _files(found: Mapping[str, Any]) -> Iterator[str]:
    data, scenario = found["data"], found["scenario"]
    m = len(data["releases"])
    what = f"{m} releases" if m > 1 else "one release"
    yield (
        f"{data['original']['records']} real records and {what} were compared; the intruder knows "
        f"{listed(scenario['keys'])} and wants to know {listed(scenario['targets'])}."
    )


def _risks(figures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Per intruder and measure the target that stands out, by excess where there is one."""
    for intruder in INTRUDERS:
        own = [f for f in figures if f["intruder"] == intruder and _known(f["value"])]
        for measure in dict.fromkeys(f["measure"] for f in own):
            same = [f for f in own if f["measure"] == measure]
            by = "excess" if any(_known(f["excess"]) for f in same) else "value"
            top = max(same, key=lambda f: f[by] if _known(f[by]) else -math.inf)
            yield top["sentence"] + _beside(top, len(same))


_CEILINGS = {
    "RAPID": "predicted by a model without themselves",
    "DCAP": "guessed from the others with the same keys",
}


def _beside(figure: Mapping[str, Any], n: int) -> str:
    """What stands beside a figure, in words."""
    scale = 0.01 if figure["unit"] == "percent" else 1
    found = []
    if _known(figure["null_mean"]):
        found.append(
            f"if the release did not say how keys and target go together it would be "
            f"{of_hundred(scale * figure['null_mean'])}"
        )
    if _known(figure["ceiling"]) and figure["measure"] in _CEILINGS:
        found.append(
            f"with the original itself, every person {_CEILINGS[figure['measure']]}, "
            f"{of_hundred(scale * figure['ceiling'])}"
        )
    text = "; ".join(found)
    beside = f" {text[0].upper()}{text[1:]}." if found else ""
    if n == 1:
        return beside
    if _known(figure["excess"]) and figure["excess"] <= 0:
        return beside + f" None of the {n} targets stands out from chance."
    return beside + f" Of the {n} targets this one stands out most."


def _use(utility: Mapping[str, Any] | None) -> Iterator[str]:
    if utility is not None and utility.get("sentence"):
        yield utility["sentence"]


def _gaps(found: Mapping[str, Any]) -> Iterator[str]:
    for status, words in (("failed", "failed"), ("skipped", "were left out"), ("partial", "are not whole")):
        names = [part["name"] for part in found["parts"] if part["status"] == status]
        if names:
            yield f"These parts {words}: {listed(names)}; the list of parts says why."


def listed(names: Sequence[str]) -> str:
    """The names in one phrase.

    Examples
    --------
    >>> listed(["age", "sex", "region"])
    'age, sex and region'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)
