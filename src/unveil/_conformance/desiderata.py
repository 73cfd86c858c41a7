"""What Latner, Neunhoeffer and Drechsler (2026) require of a measure of disclosure risk, and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping

DESIDERATA: Mapping[str, str] = {
    "D1": "detection: where the intruder is certain, the measure is at its maximum",
    "D2": "monotone in uncertainty: perturbing the release further does not raise the measure",
    "D3": "monotone in information gain: where the intruder learns more, the measure is not lower",
    "D4": "consistent with information gain: the measure follows what is learnt, not patterns in the files",
    "D5": "no false reassurance: the measure is not low where the risk is high",
}

_WORDS = {"x": "fail", "v": "pass", "?": "open", "~": "partial"}

PUBLISHED: Mapping[str, Mapping[str, str]] = {
    measure: {name: _WORDS[sign] for name, sign in zip(DESIDERATA, signs, strict=True)}
    for measure, signs in {
        "repU": "x??xx",
        "DiSCO": "xx?xx",
        "DCAP": "~v~x~",
        "membership": "vvv~~",
        "Bayesian": "vvvvv",
    }.items()
}
"""Their table of measures against desiderata, which was argued, not computed; membership for that threat only."""
