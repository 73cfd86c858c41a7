"""Advice says where a figure becomes worse."""

from __future__ import annotations

import pyarrow as pa

import unveil


def test_it_is_said_what_rises():
    # Nobody of the release lives where the persons live; by sex alone it tells who is ill.
    sex, ill = ["f", "f", "m", "m"] * 5, ["yes", "yes", "no", "no"] * 5
    original = pa.table({"sex": sex, "city": ["a", "b", "a", "b"] * 5, "ill": ill})
    pair = unveil.Pair(original, pa.table({"sex": sex, "city": ["c"] * 20, "ill": ill}))
    found = unveil.assess(
        pair, ["sex", "city"], targets=["ill"], measures=["attribute", "advice"], release_safe=False
    ).to_dict()
    because = {one["action"]: one["because"] for one in found["advice"]}
    assert because == {
        "Leave sex out of the release.": "A key that is not released cannot be matched.",
        "Leave city out of the release.": "A key that is not released cannot be matched. But DiSCO of ill rises.",
    }
    (effect,) = (e for one in found["advice"] for e in one["effects"] if e["before"] != e["after"])
    assert (effect["measure"], effect["target"], effect["before"], effect["after"]) == ("DiSCO", "ill", 0.0, 100.0)
