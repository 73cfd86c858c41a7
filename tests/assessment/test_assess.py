"""The whole assessment: what is in it, what happens when a part fails or it is interrupted, and that it is one dict."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._rapid.attribution import Coefficient
from unveil.assessment import Assessment, advice_part, key_tables, posterior_part
from unveil.assessment import rapid_part as inference_part
from unveil.assessment import run as call
from unveil.assessment.groups import OTHERS
from unveil.assessment.part import Clock, Context, Skipped
from unveil.assessment.posterior_part import Planned
from unveil.assessment.scenario import Options, Scenario
from unveil.errors import CallError, UnveilWarning

# What most tests here share takes long: one worker computes it.
pytestmark = pytest.mark.xdist_group("assessment")

KEYS = ["sex", "age", "region"]
DOCUMENT = Path(__file__).parents[2] / "docs" / "assessment.md"


@pytest.fixture(scope="module")
def people():
    return unveil.simulate.demo_population(400, seed=1)


@pytest.fixture(scope="module")
def synthesizer(people):
    return unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people)


@pytest.fixture(scope="module")
def pair(people, synthesizer):
    return unveil.Pair(people, [synthesizer.sample(seed=2), synthesizer.sample(seed=3)], special_codes={"income": [-8]})


@pytest.fixture(scope="module")
def whole(pair, synthesizer):
    return unveil.assess(
        pair, KEYS, targets=["depress", "workab"], synthesizer=synthesizer, models="income ~ age + sex", budget=3600,
        permutations=5, release_safe=False,
    )  # fmt: skip


def documented(first: str) -> set[str]:
    """Names in the first column of the table of docs/assessment.md that has a row for the given one."""
    tables = DOCUMENT.read_text(encoding="utf-8").split("\n\n")
    table = next(t for t in tables if f"| `{first}`" in t)
    return {
        name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)
    }


def test_the_document_is_as_documented(whole):
    content = whole.to_dict()
    # No institution gave a head for the page; nobody asked for rules, or for measures of other packages.
    not_asked = {"masthead", "plausibility", "other_measures"}
    assert {name for name in content if not name.endswith("_public")} == documented("schema") - not_asked
    for figure in content["figures"]:
        assert {name for name in figure if not name.endswith("_public")} == documented("measure")
    for target in content["targets"]:
        assert {"target", "kind", "sentences", "curve", "attribution", "groups", "posterior", "checks"} <= set(target)


def test_every_measure_of_every_target_is_there(whole):
    content = whole.to_dict()
    found = {(f["measure"], f["target"]) for f in content["figures"]}
    for target in ("depress", "workab"):
        assert {(m, target) for m in ("DiSCO", "DCAP", "RAPID", "posterior", "posterior certain")} <= found
    assert ("repU", None) in found
    assert {part["status"] for part in content["parts"]} <= {"done", "partial", "skipped"}
    assert content["utility"]["models"]
    assert content["map"]["points"]
    assert any(row["action"].startswith("Raise minbucket") for row in content["advice"])


def test_figures_equal_those_of_the_measures_alone(whole, pair):
    assert whole.figure("repU").value == unveil.identity(pair, KEYS).repU
    assert whole.figure("repU").ceiling == unveil.identity(pair, KEYS).UiO
    for target, groups in (("depress", None), ("workab", None)):
        risk = unveil.attribute(pair, KEYS, target=target, ngroups_target=groups)
        assert whole.figure("DiSCO", target).value == pytest.approx(risk.DiSCO, abs=1e-12)
        assert whole.figure("DCAP", target).value == pytest.approx(risk.mean["DCAPd"], abs=1e-12)


def test_figures_hold_together(whole):
    for figure in whole.to_dict()["figures"]:
        top = {"percent": 100, "share": 1, "auc": 1}[figure["unit"]]
        assert 0 <= figure["low"] <= figure["value"] <= figure["high"] <= top
        for name in ("margin", "null_mean", "null_95", "ceiling"):
            assert figure[name] is None or 0 <= figure[name] <= top
        if figure["excess_low"] is not None:
            assert figure["excess_low"] <= figure["excess"] <= figure["excess_high"]
        assert figure["sentence"].endswith(".")
        assert figure["does_not_show"].endswith(".")


def test_json_holds_everything_and_nothing_undefined(whole, tmp_path):
    text = whole.to_json(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == text
    assert json.loads(text) == json.loads(json.dumps(whole.to_dict(), allow_nan=False))
    with pytest.raises(unveil.FileError, match=r"a\.json: the file exists"):
        whole.to_json(tmp_path / "a.json")


def test_no_group_is_smaller_than_the_minimum(whole):
    content = whole.to_dict()
    rows = [*content["keys"]["groups"], *(row for target in content["targets"] for row in target["groups"])]
    assert rows
    assert all(row["persons"] >= content["scenario"]["minimum_count"] for row in rows)
    for target in content["targets"]:
        for groups in target["posterior"]["subgroups"].values():
            for row in groups[0]:
                assert row["n"] >= 10 or row["mean_posterior"] is None


def test_a_posterior_of_few_records_is_not_given(pair, synthesizer, monkeypatch):
    """Three records say nothing of a hundred persons, and are persons who could be known."""
    monkeypatch.setattr(posterior_part, "planned", lambda *_: Planned(9, 9, 3, 9, 0.4))
    measures = ["identity", "attribute", "structure", "posterior"]
    result = unveil.assess(pair, KEYS, targets=["depress"], synthesizer=synthesizer, measures=measures, budget=60,
                           release_safe=False)  # fmt: skip
    content = result.to_dict()
    for measure in ("posterior", "posterior certain"):
        (figure,) = [f for f in content["figures"] if f["measure"] == measure]
        assert [figure[name] for name in ("value", "low", "high", "excess")] == [None] * 4
        assert figure["per_release"] == [None]
        assert "9 records were" in figure["undefined"]
        assert figure["sentence"] not in content["summary"]
    (target,) = content["targets"]
    by_who = {row["who"]: row for row in target["posterior"]["rows"]}
    assert by_who["random sample"] == {
        "who": "random sample", "structure": "exact", "records": 9, **dict.fromkeys(
            ("mean_prior", "mean_posterior", "mean_normalised_gain", "share_above_half", "share_above_90",
             "share_certain")),
    }  # fmt: skip
    assert by_who["all records, donor counts alone"]["mean_posterior"] > 0
    assert not any(warning["part"] == "posterior" for warning in content["warnings"])
    for text in (result.to_html(), result.to_markdown()):
        assert "9 records were" in text


def test_log_odds_that_nothing_but_the_prior_holds_are_left_out():
    coefficients = [
        Coefficient("town", level, "a", estimate, error, estimate - 2 * error, estimate + 2 * error, n)
        for level, estimate, error, n in (("b", 0.5, 0.2, 90), ("c", -8.0, 33.0, 40), ("d", 0.1, 1.0, 9))
    ]

    def risk(n_at_risk):
        found = SimpleNamespace(n_at_risk=n_at_risk, n=200, coefficients=coefficients)
        return SimpleNamespace(attribution=lambda level: found)

    rows, note = inference_part._attribution(risk(60), 10, 0.95)
    assert [row["term"] for row in rows] == ["town: b against a"]
    assert note == "log odds are not known where nobody, or everybody, is at risk: town c"
    for n_at_risk, words in (
        (0, "as nobody is at risk"), (200, "as everybody is at risk"), (9, "as fewer than 10 records are at risk"),
        (195, "as all but fewer than 10 records are at risk"),
    ):  # fmt: skip
        rows, note = inference_part._attribution(risk(n_at_risk), 10, 0.95)
        assert rows == []
        assert words in note


def test_advice_compares_new_settings_with_files_drawn_anew(whole, pair, synthesizer):
    """The records at risk were picked by what the files at hand tell."""
    rows = [row for row in whole.to_dict()["advice"] if row["target"] == "depress"]
    actions = [row["action"] for row in rows]
    # cp 0.001 was tried too, and lowers nothing
    assert actions == [
        "Release 1 file instead of all.", "Set minbucket to 20.", "Set minbucket to 50.",
        "Draw values from donors of the whole column with probability 0.05 (mix).",
        "Merge the levels of depress into levels of 100 records at least, before synthesis.",
        "Top-code the largest 5 % of depress before synthesis.",
        "Replace 5 % of the values of depress at random before synthesis.",
        "Replace 20 % of the values of depress at random before synthesis.",
    ]  # fmt: skip
    risk = unveil.posterior(pair, synthesizer, target="depress", sample=400, structure="fixed", seed=0)
    advice = risk.advice(most_records=100, minbucket=[20], cp=[1e-3], merge=[], top=[], noise=[])
    released, anew, *_ = advice.rows
    (pruned,) = (row for row in advice.rows if row.setting == "cp")
    assert pruned.mean_posterior["fixed"] > anew.mean_posterior["fixed"] - 0.001
    assert pruned.share_certain > anew.share_certain - 0.001
    for action, row in (("Release 1 file instead of all.", released), ("Set minbucket to 20.", anew)):
        (found,) = [one for one in rows if one["action"] == action]
        before = {effect["measure"]: effect["before"] for effect in found["effects"]}
        assert before == {"posterior": row.mean_posterior["fixed"], "posterior certain": row.share_certain}
        assert f"Of 400 records looked at, {advice.n_at_risk} are at risk (gain above 0.3)." == found["because"]


def test_a_small_prior_is_not_rounded_away():
    """One of 406 incomes."""
    weighed = SimpleNamespace(posterior=np.linspace(0.2, 0.4, 20), prior=np.full(20, 1 / 406))
    sentence = posterior_part.mean_figure(weighed, "income", "exact", 0.95, 1).sentence
    assert "a probability of 30 % on average, 0.25 % before" in sentence
    assert "a probability of 30 % on average, 0.2 % before" in sentence.public


def test_no_smallest_or_largest_value(whole, people):
    """Ages are shown as groups, of which the outer ones are open."""
    ages = [value for value in people.column("age").to_pylist() if value is not None]
    levels = {row["level"] for row in whole.to_dict()["keys"]["groups"] if row["by"] == "age"}
    assert levels
    assert not any(re.search(rf"\b({min(ages)}|{max(ages)})\b", level) for level in levels - {OTHERS})


@pytest.mark.filterwarnings("ignore:column")
def test_a_report_quotes_no_value_that_only_the_original_has():
    n = 60
    original = {"sex": ["f", "m"] * 30, "ill": ["y", "n"] * 30, "pay": [70001 + 7 * i for i in range(n)]}
    original["ill"][:3] = ["oddity", "oddity ", "ODDITY"]
    release = {"sex": ["f", "m"] * 30, "ill": ["y", "n"] * 30, "pay": [90001 + 7 * i for i in range(n)]}
    pair = unveil.Pair(pa.table(original), pa.table(release))
    result = unveil.assess(pair, "sex", measures=["attribute", "utility", "inference"], permutations=2, budget=20)
    assert any("no value of the original occurs" in note for note in result.content["targets"][1]["notes"])
    for text in (result.to_html(), result.to_markdown(), result.to_json()):
        assert "oddity" not in text.lower()
        assert "70001" not in text
        assert str(70001 + 7 * (n - 1)) not in text


def test_same_seed_same_figures(pair, synthesizer):
    options = {"targets": ["depress"], "measures": ["identity", "attribute", "inference"], "permutations": 3}
    first, second = (unveil.assess(pair, KEYS, seed=4, **options).content for _ in range(2))
    assert first["figures"] == second["figures"]
    assert first["targets"] == second["targets"]
    shuffled = unveil.Pair(
        pair.original.fetch and pa.table({n: pair.original.column(n) for n in pair.names}).take(
            pa.array(np.random.default_rng(0).permutation(pair.n_original))
        ),
        [pa.table({n: r.column(n) for n in pair.names}) for r in pair.releases],
        special_codes={"income": [-8]},
    )  # fmt: skip
    third = unveil.assess(shuffled, KEYS, seed=4, **options).content
    for one, other in zip(first["figures"], third["figures"], strict=True):
        assert other["value"] == pytest.approx(one["value"], abs=1e-9)


def test_no_part_depends_on_the_order_of_records(monkeypatch):
    monkeypatch.setattr(posterior_part, "planned", lambda *_: Planned(40, 40, 400, 40, 0.2))
    rng = np.random.default_rng(2)
    people = unveil.simulate.demo_population(120, seed=1)
    people = pa.concat_tables([people, people.slice(0, 5)])
    maker = unveil.CartSynthesizer(special_codes={"income": [-8]})
    release = maker.fit(people).sample(seed=2)

    def mixed(table):
        return table.take(pa.array(rng.permutation(table.num_rows)))

    first, second = (
        unveil.assess(
            unveil.Pair(*files, special_codes={"income": [-8]}), KEYS, targets=["workab"], budget=1e6, attacker="cart",
            synthesizer=unveil.CartSynthesizer(special_codes={"income": [-8]}), permutations=2, seed=3,
        ).content
        for files in ((people, release), (mixed(people), mixed(release)))
    )  # fmt: skip
    assert {part["status"] for part in first["parts"]} == {"done"}
    for name in ("summary", "figures", "targets", "keys", "membership", "utility", "advice", "warnings"):
        assert_close(first[name], second[name], name)


def assert_close(one, other, where):
    """Equal but for rounding."""
    if isinstance(one, dict):
        assert list(one) == list(other), where
        for name in one:
            assert_close(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_close(a, b, f"{where}[{i}]")
    elif isinstance(one, float):
        assert other == pytest.approx(one, abs=1e-9, nan_ok=True), where
    else:
        assert one == other, where


def test_held_out_persons_stand_beside_every_attribute_figure(pair):
    others = unveil.simulate.demo_population(200, seed=77)
    found = unveil.assess(
        pair, KEYS, targets=["depress"], holdout=others, holdout_unseen=True, attacker="cart", permutations=3,
        measures=["attribute", "inference", "membership"], budget=3600,
    )  # fmt: skip
    # the same measures of the same releases, with the others in the place of the original
    alone = unveil.Pair(others, list(pair.releases), special_codes={"income": [-8]})
    attribute = unveil.attribute(alone, KEYS, target="depress")
    rapid = unveil.rapid(alone, KEYS, target="depress", attacker="cart", permutations=0, ceiling=False)
    for measure, value in (("DiSCO", attribute.DiSCO), ("DCAP", attribute.DCAPd), ("RAPID", rapid.rate)):
        assert found.figure(measure, "depress").held_out == pytest.approx(value, abs=1e-12), measure
    assert found.figure("membership AUC").low <= found.figure("membership AUC").value
    content = unveil.assess(
        pair, KEYS, targets=["depress"], holdout=others, measures=["membership"], budget=3600, release_safe=False
    ).to_dict()
    assert content["parts"][0]["status"] == "failed", "nobody said that the synthesizer never saw them"
    assert "holdout_unseen" in content["parts"][0]["reason"]


def test_dates_are_inferred_by_errors_that_mean_something():
    days = [f"{1950 + i % 50}-0{1 + i % 9}-1{i % 10}" for i in range(300)]
    rng = np.random.default_rng(3)
    people = pa.table({"sex": ["f", "m"] * 150, "born": pa.array(rng.permutation(days)).cast(pa.date32())})
    release = people.take(pa.array(rng.permutation(300)))
    found = unveil.assess(
        unveil.Pair(people, pa.table({"sex": people.column("sex"), "born": release.column("born")})), ["sex"],
        targets="born", measures="inference", permutations=3, budget=3600,
    )  # fmt: skip
    assert found.figure("RAPID").value < 0.5, "relative to 1970 every error is small"


class Broken:
    """A synthesizer that cannot be fitted."""

    def fit(self, _):
        raise RuntimeError("out of order")

    def sample(self, n, seed):
        raise AssertionError("was never fitted")


def test_a_measure_that_fails_stands_beside_the_others(pair):
    content = unveil.assess(
        pair,
        KEYS,
        targets=["depress"],
        synthesizer=Broken(),
        measures=["identity", "posterior"],
        budget=3600,
        release_safe=False,
    ).to_dict()
    status = {part["name"]: (part["status"], part["reason"]) for part in content["parts"]}
    assert status["identity"] == ("done", None)
    assert status["posterior: depress"][0] == "failed"
    assert "out of order" in status["posterior: depress"][1]
    assert any("These parts failed: posterior: depress" in sentence for sentence in content["summary"])


def test_a_target_that_cannot_be_measured_takes_no_other_with_it():
    rng = np.random.default_rng(6)
    wealth = rng.normal(size=150)
    wealth[7] = np.inf
    original = pa.table({"sex": rng.integers(0, 2, 150), "age": rng.integers(20, 60, 150),
                         "ill": rng.integers(0, 2, 150), "wealth": wealth})  # fmt: skip
    synthesizer = unveil.CartSynthesizer().fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=2))
    measures = ["attribute", "inference", "key sets", "posterior", "advice"]
    content = unveil.assess(
        pair, ["sex", "age"], targets=["ill", "wealth"], synthesizer=synthesizer, measures=measures, budget=3600,
        permutations=2, release_safe=False,
    ).to_dict()  # fmt: skip
    reasons = {part["name"]: part["reason"] or "" for part in content["parts"]}
    status = {part["name"]: part["status"] for part in content["parts"]}
    for name in ("attribute", "key sets"):
        assert status[name] == "partial"
        assert "'wealth' holds infinite values" in reasons[name]
    assert status["inference: wealth"] == "failed"
    assert "'wealth' is inf in row 8" in reasons["inference: wealth"]
    assert {status[name] for name in ("inference: ill", "posterior: ill", "posterior: wealth")} == {"done"}
    assert {status[name] for name in status if name.startswith("advice")} == {"done"}
    measured = {(figure["measure"], figure["target"]) for figure in content["figures"]}
    assert measured >= {("DiSCO", "ill"), ("RAPID", "ill"), ("posterior", "ill"), ("posterior", "wealth")}
    assert ("DiSCO", "wealth") not in measured


def test_a_key_that_cannot_be_grouped_takes_no_part_with_it():
    rng = np.random.default_rng(6)
    wealth = rng.normal(size=150).round(1)
    wealth[[7, 9]] = np.inf, -np.inf
    original = pa.table({"sex": rng.integers(0, 2, 150), "wealth": wealth, "ill": rng.integers(0, 2, 150)})
    synthesizer = unveil.CartSynthesizer().fit(original)
    content = unveil.assess(
        unveil.Pair(original, synthesizer.sample(seed=2)), ["sex", "wealth"], targets=["ill"], synthesizer=synthesizer,
        budget=3600, permutations=2, minimum_count=1, release_safe=False,
    ).to_dict()  # fmt: skip
    parts = {part["name"]: (part["status"], part["reason"]) for part in content["parts"]}
    status, reason = parts.pop("advice: keys")
    assert status == "partial"
    assert "'wealth' holds infinite values (-inf, inf)" in reason
    assert set(parts.values()) == {("done", None)}
    levels = [row["level"] for row in content["keys"]["groups"] if row["by"] == "wealth"]
    assert {"inf", "-inf"} < set(levels)
    assert len(levels) == 7, "fifths of the finite values, and the others"
    assert any(row["action"] == "Leave wealth out of the release." for row in content["advice"])


def test_trees_that_cannot_be_walked_are_worked_out_by_full_fits():
    rng = np.random.default_rng(5)
    grade = rng.integers(0, 3, 60)
    original = pa.table(
        {"sex": np.array(["f", "m"])[rng.integers(0, 2, 60)], "age": rng.integers(20, 30, 60),
         "school": np.array(["low", "middle", "high"])[grade], "years": np.array([8, 10, 13])[grade]}
    )  # fmt: skip
    synthesizer = unveil.CartSynthesizer(collapse=False, surrogates=1).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=2))
    content = unveil.assess(
        pair, ["sex", "age"], targets=["school"], synthesizer=synthesizer, measures=["attribute", "posterior"],
        budget=60, release_safe=False,
    ).to_dict()  # fmt: skip
    [part] = [part for part in content["parts"] if part["name"] == "posterior: school"]
    assert part["status"] in ("done", "partial"), part["reason"]
    assert any("surrogate splits are used" in warning["text"] for warning in content["warnings"])
    [row] = content["targets"][0]["posterior"]["rows"]
    assert (row["who"], row["structure"]) == ("random sample", "exact")
    assert sum(content["targets"][0]["posterior"]["gain_histogram"]["counts"]) == row["records"] >= 1
    figure = next(f for f in content["figures"] if f["measure"] == "posterior")
    assert f"(exact, {row['records']} records" in figure["sentence"]
    assert figure["value"] == row["mean_posterior"]


def test_a_budget_without_end_ends(monkeypatch):
    """Fits for every record and value are not begun without end, and the list of parts says what they would take."""
    for module in (posterior_part, advice_part):
        monkeypatch.setattr(module, "MOST_SECONDS", 1.5)
    # All of them take a fast machine many times as long as a target gets.
    people = unveil.simulate.demo_population(3000, seed=2).select(["sex", "age", "marital", "workab"])
    synthesizer = unveil.CartSynthesizer(surrogates=1, collapse=False).fit(people)
    content = unveil.assess(
        unveil.Pair(people, synthesizer.sample(seed=2)), ["sex", "age"], targets=["marital"], synthesizer=synthesizer,
        measures=["attribute", "posterior", "advice"], budget=1e9, release_safe=False,
    ).to_dict()  # fmt: skip
    parts = {part["name"]: part for part in content["parts"]}
    assert parts["posterior: marital"]["status"] == "partial"
    assert re.search(r"of 3000 records \(all of them would take about \d+ ", parts["posterior: marital"]["reason"])
    assert "1.5 seconds at most, whatever the budget is" in parts["posterior: marital"]["reason"]
    assert parts["advice: synthesizer"]["reason"].startswith("posterior of marital: every setting would take a fit")
    assert content["advice"], "keys, and settings by what can be measured"
    assert content["provenance"]["wall_seconds"] < 60


@pytest.mark.parametrize(("keys", "size"), [(1, 4), (8, 4), (9, 3), (19, 2), (22, 1), (60, 1)])
def test_sets_of_many_keys_are_small(keys, size):
    assert key_tables._largest_set(keys) == size


def spent(budget, records, *, targets=1, permutations=19, attacker="auto"):
    scenario = SimpleNamespace(
        attacker=attacker, permutations=permutations, targets=("depress",) * targets, budget=budget
    )
    return inference_part.effort(
        SimpleNamespace(scenario=scenario, pair=SimpleNamespace(n_synthetic=(records,), n_original=records))
    )


def test_time_is_spared_of_what_stands_beside_the_figure():
    """A record takes .04 ms in a forest: 5000 records, an attack, 19 fifths of one and 5 folds make 1.96 seconds."""
    assert spent(9, 5000) == inference_part.Effort("rf", 19, ceiling=True, repeats=False)
    # twenty attacks on resampled originals take 4 seconds more, of a third of the budget
    assert spent(18, 5000) == inference_part.Effort("rf", 19, ceiling=True, repeats=True)
    some = spent(5.8, 5000)
    assert (some.attacker, some.permutations, some.ceiling) == ("rf", 18, True)
    assert some.reason.startswith("1 of 19 shuffles of the null left out of RAPID for want of time")
    few = spent(1.47, 5000)
    assert (few.attacker, few.permutations, few.ceiling) == ("rf", 7, False)
    assert "12 of 19 shuffles of the null and the ceiling left out" in few.reason
    none = spent(0.1, 5000, targets=40)
    assert (none.attacker, none.permutations, none.ceiling) == ("rf", 4, False)
    assert spent(0.1, 5000, permutations=0).permutations == 0


def test_forests_take_five_minutes_per_target_at_most():
    assert spent(1e9, 50_000).reason is None
    large = spent(1e9, 5_000_000)
    assert (large.attacker, large.permutations, large.ceiling) == ("rf", 4, True)
    assert large.reason.endswith("attacker 'rf' takes all of them")
    with pytest.raises(Skipped, match=r"about 328 seconds.*choose attacker 'rf'"):
        spent(1e9, 9_000_000)


def test_forests_of_large_files_take_the_time_of_a_sample():
    """A million records: 4 seconds to train, 18 to predict the others; 80 % of both for four more samples."""
    forests, samples, ceiling = inference_part._seconds(1_000_000, (1_000_000, 50_000))
    assert forests == pytest.approx(22 + 20)
    assert samples == pytest.approx(0.8 * 22)
    assert ceiling == pytest.approx(20)
    assert spent(1e9, 1_000_000).reason is None
    assert spent(1, 8_000_000, attacker="cart") == inference_part.Effort("cart", 19, ceiling=True)


def test_the_headline_does_not_depend_on_the_budget(pair):
    """Nor on the clock: the same call gives the same figures."""
    options = {"targets": ["marital"], "measures": "inference"}
    found = [unveil.assess(pair, KEYS, budget=budget, **options) for budget in (1e-3, 0.2, 0.2, 3600)]
    own = unveil.rapid(pair, KEYS, target="marital", permutations=0, ceiling=False)
    assert {one.figure("RAPID").value for one in found} == {own.rate}
    assert found[1].to_dict()["figures"] == found[2].to_dict()["figures"]
    assert [one.to_dict()["parts"][0]["status"] for one in found] == ["partial", "partial", "partial", "done"]
    assert all("random forest" in one.figure("RAPID").sentence for one in found)


def test_the_curve_gives_the_figure_no_second_interval(whole):
    for target in whole.to_dict()["targets"]:
        curve, figure = target["curve"], whole.figure("RAPID", target["target"])
        (chosen,) = [p for p in curve["points"] if p["threshold"] == curve["chosen"]]
        assert (chosen["low"], chosen["high"]) == (figure.low, figure.high)


def test_without_a_synthesizer_the_strong_intruders_are_said_not_to_apply(pair):
    content = unveil.assess(pair, KEYS, targets=["depress"], measures=["identity", "posterior", "membership"]).to_dict()
    assert {p["name"]: p["status"] for p in content["parts"]} == {
        "identity": "done",
        "membership": "skipped",
        "membership: all but one record": "skipped",
        "posterior: depress": "skipped",
    }
    assert [i["applies"] for i in content["intruders"]] == [True, False, False]
    assert all(i["applies"] or i["reason"] for i in content["intruders"])


def test_membership_says_nothing_of_a_release_that_the_synthesizer_did_not_make(pair, people):
    columns = [
        people.column(name).take(np.random.default_rng(i).permutation(400))
        for i, name in enumerate(people.schema.names)
    ]
    other = unveil.Pair(people, pa.table(columns, people.schema.names), special_codes={"income": [-8]})
    maker = unveil.CartSynthesizer(special_codes={"income": [-8]})
    for files, status in ((pair, "done"), (other, "failed")):
        found = unveil.assess(files, KEYS, targets=["depress"], synthesizer=maker, measures=["membership"], budget=3600)
        parts = found.content["parts"]
        assert [part["status"] for part in parts] == [status] * 2, parts
    assert all("did not make" in part["reason"] for part in parts)


def test_a_holdout_cut_from_the_original_takes_nothing_else_with_it(pair, people):
    options = {"targets": ["depress"], "measures": ["attribute", "membership"]}
    cut = unveil.assess(pair, KEYS, holdout=people.slice(0, 80), holdout_unseen=True, **options)
    without = unveil.assess(pair, KEYS, **options)
    assert cut.figure("DiSCO").value == without.figure("DiSCO").value
    assert math.isnan(cut.figure("DiSCO").held_out)
    content = dict(cut.content)
    assert [(p["name"], p["status"]) for p in content["parts"]] == [
        ("attribute", "done"),
        ("membership", "failed"),
        ("membership: all but one record", "skipped"),
    ]
    assert any("were not held out" in one["text"] for one in content["warnings"] if one["part"] == "attribute")


def test_an_interrupted_assessment_goes_on(pair, tmp_path, monkeypatch):
    ran = []
    original_run = call.run

    def interrupted(part, context, *, first):
        if part.name == "structure" and "again" not in ran:
            raise KeyboardInterrupt
        ran.append(part.name)
        return original_run(part, context, first=first)

    monkeypatch.setattr(call, "run", interrupted)
    options = {"targets": ["depress"], "measures": ["identity", "attribute", "structure"], "checkpoint": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        unveil.assess(pair, KEYS, **options)
    assert ran == ["identity", "attribute"]
    ran[:] = ["again"]
    resumed = unveil.assess(pair, KEYS, **options)
    assert ran == ["again", "structure"]
    fresh = unveil.assess(pair, KEYS, **(options | {"checkpoint": None}))
    assert resumed.content["figures"] == fresh.content["figures"]
    assert resumed.to_dict()["figures"] == fresh.to_dict()["figures"], "what may be published is kept as well"
    ran[:] = ["again"]
    unveil.assess(pair, KEYS, **(options | {"seed": 9}))
    assert ran[1:] == ["identity", "attribute", "structure"], "parts of another scenario were taken"


@pytest.mark.parametrize("spoilt", ["", "{}", "[]", "half", "5"])
def test_a_kept_part_that_was_changed_is_worked_out_anew(pair, tmp_path, spoilt):
    options = {"targets": ["depress"], "measures": ["identity"], "checkpoint": tmp_path}
    fresh = unveil.assess(pair, KEYS, **options).figure("repU").value
    (path,) = tmp_path.iterdir()
    text = path.read_text(encoding="utf-8")
    value = f'"value": {fresh}'
    assert value in text
    for other in (text.replace(value, '"value": 77.0'), text.replace('"figures"', '"figure"'), text[: len(text) // 2]):
        for damaged in (spoilt and f"{text.partition(chr(10))[0]}\n{spoilt}", other):
            path.write_text(damaged, encoding="utf-8")
            with pytest.warns(UnveilWarning, match="a finished part that is damaged; it is worked out anew"):
                again = unveil.assess(pair, KEYS, **options)
            assert again.figure("repU").value == fresh
    assert path.stat().st_mode & 0o777 == 0o600


def test_kept_parts_with_undefined_figures_are_taken(pair, tmp_path):
    releases = [
        pair.releases[0],
        unveil.read(pa.table({n: pair.releases[0].column(n).slice(0, 0) for n in pair.names})),
    ]
    files = unveil.Pair(pair.original, releases, special_codes={"income": [-8]})
    options = {"targets": ["depress"], "measures": ["attribute", "utility"], "checkpoint": tmp_path}
    first, again = (unveil.assess(files, KEYS, **options).to_dict() for _ in range(2))
    assert first["map"]["points"] == again["map"]["points"]
    assert first["map"]["points"][1]["utility"] is None


def test_parts_of_another_synthesizer_are_not_taken(pair, synthesizer, tmp_path):
    options = {"targets": ["depress"], "measures": ["posterior"], "checkpoint": tmp_path, "budget": 3600}
    fine = unveil.assess(pair, KEYS, synthesizer=synthesizer, **options)
    other = unveil.CartSynthesizer(minbucket=6, special_codes={"income": [-8]})
    again = unveil.assess(pair, KEYS, synthesizer=other, **options)
    assert fine.content["scenario"]["synthesizer"] != again.content["scenario"]["synthesizer"]
    assert fine.content["figures"] != again.content["figures"]


def test_kept_parts_hold_no_records(pair, tmp_path):
    unveil.assess(pair, KEYS, targets=["depress"], measures=["identity", "attribute"], checkpoint=tmp_path)
    for path in tmp_path.iterdir():
        content = json.loads(path.read_text(encoding="utf-8").partition("\n")[2])

        def lengths(value):
            if isinstance(value, dict):
                return [n for v in value.values() for n in lengths(v)]
            if isinstance(value, list):
                return [len(value), *(n for v in value for n in lengths(v))]
            return []

        assert all(n < pair.n_original / 2 for n in lengths(content))


def test_a_parts_list_cut_by_the_budget(pair):
    content = unveil.assess(pair, KEYS, targets=["depress"], measures=["identity", "utility"], budget=1e-6).to_dict()
    status = {part["name"]: (part["status"], part["reason"]) for part in content["parts"]}
    assert status["identity"][0] == "done"
    assert status["utility"][0] == "skipped"
    assert "budget" in status["utility"][1]


def test_a_figure_that_is_not_there(whole):
    with pytest.raises(unveil.CallError, match="there is no figure 'repu'"):
        whole.figure("repu")
    assert math.isnan(whole.figure("repU").margin)


def test_it_prints(whole):
    text = str(whole)
    assert "repU" in text
    assert "posterior certain" in text
    assert all(len(line) <= 160 for line in text.splitlines())
    assert isinstance(whole, Assessment)


def test_small_shares_are_printed_with_digits_that_tell_them_apart(whole):
    content = copy.deepcopy(dict(whole.content))
    (rapid,) = (f for f in content["figures"] if f["measure"] == "RAPID" and f["target"] == "depress")
    rapid |= {"value": 0.04512, "low": 0.04486, "high": 0.04539, "null_mean": 0.00438, "excess": 0.00119}
    content["policy"] = {"label": "p.toml", "rows": [
        {"measure": "RAPID", "target": "depress", "statistic": "value", "direction": "at most", "limit": 0.0045,
         "value": 0.00462, "verdict": "above"},
        {"measure": "posterior", "target": "depress", "statistic": "value", "direction": "at most", "limit": 0.5,
         "value": None, "verdict": "not measured"},
    ]}  # fmt: skip
    lines = str(Assessment(content)).splitlines()
    (shown,) = (line for line in lines if line.split()[:3] == ["RAPID", "depress", "percent"])
    assert {"4.51", "4.49 to 4.54", "0.44", "0.12"} <= set(re.split(r"  +", shown))
    (unique,) = (line for line in lines if line.startswith("repU "))
    assert f"{whole.figure('repU').value:.2f}" in re.split(r"  +", unique)
    assert any(line.split()[-3:] == ["0.462", "%", "above"] for line in lines)
    assert any(re.split(r"  +", line)[-2:] == ["-", "not measured"] for line in lines)


def test_an_interval_over_something_else_is_not_passed_off_as_this_release(whole):
    other = next(f for f in whole.to_dict()["figures"] if f["measure"] == "membership AUC")
    assert other["over"] == "repeated fits"
    said = "In its column that of membership AUC is over repeated fits instead."
    assert said in " ".join(str(whole).split())
    content = copy.deepcopy(dict(whole.content))
    content["figures"] = [f for f in content["figures"] if f["over"] == "this release"]
    assert "In its column" not in str(Assessment(content))


def test_the_plot_shows_every_figure(whole):
    pytest.importorskip("matplotlib").use("Agg")
    ax = whole.plot()
    assert len(ax.get_yticklabels()) == len(whole.to_dict()["figures"])
    named = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"interval, this release", "interval, repeated fits"} <= named
    (low, high), n = ax.get_ylim(), len(whole.to_dict()["figures"])
    assert low <= -0.5, "marks of the lowest row are not cut"
    assert high >= n - 0.5
    assert ax.get_xlim()[1] > 100
    marks = {line.get_label(): line.get_marker() for line in ax.get_lines()}
    assert (marks["null"], marks["margin"], marks["ceiling"]) == ("^", "D", "s"), "as in the report"


def test_the_map_shows_what_is_left_of_the_pairs():
    """Two variables, one pair, four cells: one release is as the original, the other has one record of four moved."""
    original = pa.table({"k": list("aabb") * 10, "t": list("xyxy") * 10})
    same, moved = original, pa.table({"k": list("aabb") * 10, "t": list("xyxx") * 10})
    found = unveil.assess(
        unveil.Pair(original, [same.slice(0, 20), moved]), "k", targets="t", measures=["attribute", "utility"],
        release_safe=False,
    )  # fmt: skip
    points = found.to_dict()["map"]["points"]
    assert [point["utility"] for point in points] == pytest.approx([0.0, 0.25])


def test_as_many_records_are_drawn_as_the_precision_takes_or_the_budget_allows(pair):
    def plan(**options):
        scenario = Scenario.of(pair, Options(KEYS, targets=["depress", "income"], **options))
        return posterior_part.planned(Context(pair, scenario, Clock(0.0)), "depress")

    rich = plan(budget=1e9, precision=0.1)
    # 1.96^2 / (4 * 0.01) = 96.04
    assert (rich.sampled, rich.wanted, rich.notes("depress")) == (97, 97, [])
    assert plan(budget=1e9, precision=0.01).sampled == 400, "there are no more records"
    assert plan(budget=1e9, precision=0.1, level=0.5).sampled == 12
    poor = plan(budget=1e-9)
    assert (poor.sampled, poor.flagged, poor.wanted) == (20, 20, 385)
    (note,) = poor.notes("depress")
    assert "20 records were drawn at random, and it takes 385" in note
    assert "385" not in note.public
    assert plan(budget=0.5).sampled > plan(budget=0.3).sampled > 20


def test_a_precision_is_a_share():
    with pytest.raises(CallError, match="precision must lie between 0 and 1"):
        unveil.assess(unveil.Pair(*[unveil.simulate.demo_population(20, seed=1)] * 2), KEYS, precision=0)
