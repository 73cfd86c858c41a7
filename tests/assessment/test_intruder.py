"""An intruder with all records but one, who works every document out anew for each answer the last person might have.

Of the last person too everything but one answer is known, and so are the release and all settings. A person is told of
by a document where the true answer alone makes it, or where the intruder, to whom all answers were as likely before, is
sure of the true one by more than 95 %. The shares are printed (``pytest -s``) and stand on the public summary.
"""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.assessment.public_summary import MOST_FIGURES, TOLD, public_summary
from unveil.assessment.rounding import Rounding
from unveil.files.write import write_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("intruder")]

N = TOLD["persons"]
VISITS = (0, 5, 12)
REGIONS = tuple("abcd")
ANSWERS = {"visits": VISITS, "region": REGIONS}
SURVEYS = {100: "visits", 101: "visits", 102: "visits", 108: "visits", 103: "region", 104: "region"}
"""What is not known of a person, by the seed of the survey; in some a figure lies at the edge of two multiples."""
PERSONS = 10
SURE = 0.95
DRAWS = 200


@dataclass(frozen=True)
class World:
    """What would be published if the person had given an answer."""

    size: int
    full: str
    safe: str
    page: str
    correlations: tuple[float, ...]
    exact: tuple[float, ...]


def survey(seed: int) -> pa.Table:
    """Persons of whom age tells something of the number of visits, and both of the pay."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, N)
    visits = np.clip(np.round((age - 20) / 25 + rng.normal(0, 0.7, N)), 0, 2).astype(int)
    pay = np.round(1500 + 400 * visits + rng.normal(0, 300, N)).astype(int)
    return pa.table(
        {"sex": rng.choice(["f", "m"], N), "age": age, "region": rng.choice(REGIONS, N), "pay": pay,
         "visits": np.array(VISITS)[visits]}
    )  # fmt: skip


def figures_of(content: dict[str, Any]) -> tuple[float, ...]:
    """The percentages on the public summary before they are rounded."""
    found = []
    for measure, beside in (("repU", "ceiling"), ("DiSCO", "null_mean"), ("DCAP", "null_mean")):
        (one,) = (f for f in content["figures"] if f["measure"] == measure)
        found += [one["value"], one[beside]]
    uses = {f["measure"]: 100 * f["value"] for f in content["utility"]["figures"]}
    return (*found, uses["mean TVD"], uses["worst pair TVD"])


def world(people: pa.Table, release: pa.Table, path: Any) -> World:
    write_table(people, path, overwrite=True)
    result = unveil.assess(
        unveil.Pair(path, release), ["sex", "age", "region"], targets="visits",
        measures=["identity", "attribute", "utility"], budget=1e6,
    )  # fmt: skip
    content = json.loads(json.dumps(result.content))
    return World(
        size=path.stat().st_size,
        full=text(content),
        safe=text(result.to_dict()),
        page=re.sub(r"\d+ \w+ 20\d\d, \d\d:\d\d UTC", "", result.to_html()),
        correlations=tuple(p["pearson_original"] for p in content["utility"]["pairs"] if "pearson_original" in p),
        exact=figures_of(content),
    )


def text(content: dict[str, Any]) -> str:
    """A document without what differs each time it is made."""
    plain = {name: one for name, one in content.items() if name not in ("provenance", "parts", "public_summary")}
    inputs = [one for one in content["provenance"]["inputs"] if one["role"] == "original"]
    return json.dumps(plain | {"inputs": inputs}, sort_keys=True)


def likelihood(published: list[float], exact: tuple[float, ...], rounding: Rounding) -> float:
    """Probability that figures are rounded at random to those that were published."""
    product = 1.0
    for shown, value in zip(published, exact, strict=True):
        steps = value / rounding.step - shown / rounding.step
        product *= max(0.0, 1 - abs(steps)) if abs(steps) > 1e-9 else 1.0
    return product


def nearest(exact: tuple[float, ...], rounding: Rounding) -> tuple[float, ...]:
    return tuple(math.floor(value / rounding.step + 0.5) for value in exact)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Per person the world of the true answer, and those of the others."""
    path = tmp_path_factory.mktemp("intruder") / "original.csv"
    found = []
    for seed, unknown in SURVEYS.items():
        people = survey(seed)
        release = unveil.CartSynthesizer().fit(people).sample(seed=1)
        answers, place = people.column(unknown).to_pylist(), people.column_names.index(unknown)
        truth = world(people, release, path)
        for person in np.random.default_rng(seed).choice(N, PERSONS, replace=False).tolist():
            others = []
            for answer in ANSWERS[unknown]:
                if answer != answers[person]:
                    given = [*answers[:person], answer, *answers[person + 1 :]]
                    others.append(world(people.set_column(place, unknown, pa.array(given)), release, path))
            found.append((truth, others))
    return found


def told_alone(worlds, of):
    """Share of persons whose true answer alone makes a document."""
    return sum(all(of(other) != of(truth) for other in others) for truth, others in worlds) / len(worlds)


def test_what_an_intruder_with_all_records_but_one_is_told(worlds, capsys):
    rounding = Rounding(N, 10)
    draw = random.Random(7).random
    sure = []
    for truth, others in worlds:
        for _ in range(DRAWS):
            published = [rounding.at_random(value, draw) for value in truth.exact]
            own = likelihood(published, truth.exact, rounding)
            rest = sum(likelihood(published, other.exact, rounding) for other in others)
            assert own > 0
            sure.append(own / (own + rest) > SURE)
    shares = {
        "size of the original": told_alone(worlds, lambda w: w.size),
        "correlations, all digits": told_alone(worlds, lambda w: w.correlations),
        "correlations, three digits": told_alone(worlds, lambda w: tuple(round(r, 3) for r in w.correlations)),
        "full report": told_alone(worlds, lambda w: w.full),
        "release-safe report": told_alone(worlds, lambda w: w.safe),
        "release-safe page": told_alone(worlds, lambda w: w.page),
        "figures of the summary, rounded to the nearest": told_alone(worlds, lambda w: nearest(w.exact, rounding)),
        "public summary": float(np.mean(sure)),
    }
    with capsys.disabled():
        print(f"\nPersons told of, of {len(worlds)} in {len(SURVEYS)} surveys of {N}:")
        for name, share in shares.items():
            print(f"  {name}: {100 * share:.1f} %")
    assert shares["full report"] == 1.0
    assert shares["correlations, all digits"] > 0.5
    for name in ("full report", "release-safe report", "public summary"):
        assert shares[name] <= TOLD[name], "the documents say less than is so"
    assert shares["public summary"] <= 0.05


def test_the_summary_holds_these_figures_and_no_others():
    people = survey(0)
    release = unveil.CartSynthesizer().fit(people).sample(seed=1)
    result = unveil.assess(
        unveil.Pair(people, release), ["sex", "age", "region"], targets=["visits", "pay"], budget=1e6,
        measures=["identity", "attribute", "utility", "structure", "key sets"],
    )  # fmt: skip
    found = public_summary(result.content)["figures"]
    numbers = [one[name] for one in found for name in ("value", "beside") if one[name] is not None]
    assert len(numbers) == 8 <= MOST_FIGURES
    assert all(one["step"] == 5.0 and number % 5 == 0 for one in found for number in numbers)
    # Of two targets the one that is found out most often; up or down, by less than a step.
    for one in found[:3]:
        highest = max(f["value"] for f in result.content["figures"] if f["measure"] == one["measure"])
        assert abs(one["value"] - highest) < 5


def test_the_draws_are_new_each_time_but_one_assessment_has_one_summary():
    people = survey(0)
    pair = unveil.Pair(people, people.slice(0, 200))
    pages = set()
    for _ in range(12):
        result = unveil.assess(pair, ["sex", "age", "region"], targets="visits", measures=["attribute"], seed=3)
        summary = result.content["public_summary"]["figures"]
        pages.add(json.dumps(summary))
        assert result.to_dict()["public_summary"]["figures"] == summary
        assert result.to_public_summary() == result.to_public_summary()
    assert len(pages) > 1, "the same seed gives the same figures, not the same draws"


def test_the_page_says_what_was_measured():
    people = survey(0)
    pair = unveil.Pair(people, people.slice(0, 200))
    result = unveil.assess(pair, ["sex", "age", "region"], targets=["visits", "pay"], measures=["attribute"])
    for page in (result.to_public_summary(), result.to_public_summary(form="markdown")):
        plain = page.replace("\\", "")
        assert f"at most {100 * TOLD['public summary']:g} of 100 records" in plain
        assert f"simulated surveys of {N} records" in plain
        assert "sex, age and region" in plain
    safe = result.to_dict()["public_summary"]["figures"]
    assert [one["value"] for one in safe] == [one["value"] for one in result.content["public_summary"]["figures"]]
