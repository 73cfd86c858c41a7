"""Advice says where a figure becomes worse."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unveil


def test_it_is_said_what_rises():
    # Half of the release lives where nobody lives. By sex alone it tells who is ill, of whom it told half, and no
    # longer the jobs, of which it told half; without sex it tells as much as with it.
    sex, city = ["f", "f", "m", "m"] * 5, ["a", "b", "a", "b"] * 5
    ill, job = ["yes", "yes", "no", "no"] * 5, ["p", "q", "r", "s"] * 5
    original = pa.table({"sex": sex, "city": city, "ill": ill, "job": job})
    pair = unveil.Pair(original, pa.table({"sex": sex, "city": ["a", "c", "c", "b"] * 5, "ill": ill, "job": job}))
    found = unveil.assess(
        pair, ["sex", "city"], targets=["ill", "job"], measures=["attribute", "advice"], release_safe=False
    ).to_dict()
    because = {one["action"]: one["because"] for one in found["advice"]}
    assert because == {
        "Leave city out of the release.": "A key that is not released cannot be matched. But DiSCO of ill rises.",
        "Do not count pairs that are known without the release: --exclude-pairs sex=f:yes --exclude-pairs sex=m:no": (
            "More than 80 % of the original records with the level of the key have the level of ill: whoever knows the "
            "one guesses the other without the release. This changes what counts, not the release."
        ),
    }
    changed = [e for one in found["advice"] for e in one["effects"] if e["before"] != e["after"]]
    assert [(e["measure"], e["target"], e["before"], e["after"]) for e in changed] == [
        ("DiSCO", "ill", 50.0, 100.0), ("DiSCO", "job", 50.0, 0.0), ("DiSCO", "ill", 50.0, 0.0),
    ]  # fmt: skip


def test_what_only_raises_is_no_advice():
    # Nobody of the release lives where the persons live; without the city it tells who is ill.
    sex, ill = ["f", "f", "m", "m"] * 5, ["yes", "yes", "no", "no"] * 5
    original = pa.table({"sex": sex, "city": ["a", "b", "a", "b"] * 5, "ill": ill})
    pair = unveil.Pair(original, pa.table({"sex": sex, "city": ["c"] * 20, "ill": ill}))
    found = unveil.assess(pair, ["sex", "city"], targets=["ill"], measures=["attribute", "advice"]).to_dict()
    assert found["advice"] == []
    (part,) = (one for one in found["parts"] if one["name"] == "advice: keys")
    assert part["status"] == "skipped"
    assert "no change of the keys that was tried lowers" in part["reason"]


@pytest.mark.parametrize(("limit", "synthesizer", "broken"), [(0, True, 1), (100, True, 0), (0, False, 0)])
def test_a_broken_policy_leads_to_a_search_for_settings(tmp_path, limit, synthesizer, broken):
    people = unveil.simulate.demo_population(300, seed=1).select(["sex", "age", "marital"])
    cart = unveil.CartSynthesizer().fit(people)
    policy = tmp_path / "rules.toml"
    policy.write_text(
        f'[[rule]]\nmeasure = "repU"\nlimit = {limit}\n[[rule]]\nmeasure = "DiSCO"\nlimit = 100\n', encoding="utf-8"
    )
    found = unveil.assess(
        unveil.Pair(people, cart.sample(seed=1)), ["sex", "age"], targets=["marital"],
        measures=["identity", "attribute", "advice"], synthesizer=cart if synthesizer else None, policy=policy,
        budget=10,
    )  # fmt: skip
    because = [one["because"] for one in found.to_dict()["advice"] if "unveil tune" in one["action"]]
    assert because == ["1 of 2 rules of the policy does not hold."] * broken
    said = [line for line in str(found).splitlines() if "unveil tune" in line]
    assert [line.endswith("policy holds: unveil tune.") for line in said] == [True] * broken
