"""The gate of documents for publication: what leaves, how far it is rounded, and that nothing else does."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.assessment.gate import POSTERIOR, let_out, release_safe
from unveil.assessment.published_text import HELD_BACK, public_note, with_public
from unveil.assessment.rounding import Rounding, readable_step
from unveil.assessment.scenario import INTRUDERS
from unveil.assessment.summary import summary
from unveil.files.write import write_table
from unveil.notes import Note
from unveil.show.report import html, markdown

pytestmark = pytest.mark.xdist_group("gate")

LEAST = 10
RARE = "Zeugin Xylander"
"""A level that three persons have."""


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    table = unveil.simulate.demo_population(300, seed=1)
    job = rng.choice(["Farm", "None", "Shop"], 300).astype(object)
    job[:3] = RARE
    ill = rng.choice(["yes", "no"], 300).astype(object)
    ill[3:6] = RARE.lower()
    return table.append_column("job", pa.array(job)).append_column("ill", pa.array(ill))


@pytest.fixture(scope="module")
def result(people):
    synthesizer = unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people)
    releases = [synthesizer.sample(seed=2), synthesizer.sample(seed=3)]
    pair = unveil.Pair(people, releases, special_codes={"income": [-8]})
    return unveil.assess(
        pair, ["sex", "age", "job"], targets=["depress", "ill"], synthesizer=synthesizer, permutations=3,
        models=["income ~ age + job", "sex ~ job + age"], budget=30, seed=987654321, attacker="cart",
        rules=["age >= 0", "ill in ['yes', 'no']", f"not (job == '{RARE}' and age < 90)"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def full(result):
    return json.loads(json.dumps(result.content))


@pytest.fixture(scope="module")
def safe(full):
    return release_safe(full)


# What leaves -------------------------------------------------------------------------------------------------------

LISTED = (Path(__file__).parent / "leaves.txt").read_text(encoding="utf-8").splitlines()
LEAVES = {line for line in LISTED if line and not line.startswith("#")}
PUBLIC_TEXTS = {path for path in LEAVES if path.removesuffix("[]").endswith("_public")}

SUMMARY = "public_summary"
"""Passes whole: it is made for everybody."""


def leaves(value, path=""):
    """Paths of all values, one for all members of a list."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, f"{path}[]")
    else:
        yield path


def planted(value, wanted, sentinel, path=""):
    """A copy with the sentinel in the place of every value with this path; numbers take its number."""
    if isinstance(value, dict):
        return {name: planted(one, wanted, sentinel, f"{path}.{name}" if path else name) for name, one in value.items()}
    if isinstance(value, list):
        return [planted(one, wanted, sentinel, f"{path}[]") for one in value]
    if path != wanted or isinstance(value, bool):
        return value
    return sentinel[type(value)] if type(value) in sentinel else sentinel[str]


SENTINEL = {str: "Quastenflosser", int: 48_737, float: 37.91846253}
SEEN = re.compile("Quastenflosser|48737|37[.]91846253|0?[.]3791846253")


def with_policy(full):
    rows = [
        {"measure": "repU", "target": None, "statistic": "value", "limit": 5.0, "direction": "at most",
         "value": full["figures"][0]["value"], "verdict": "above", "note": "guideline 7.2"},
    ]  # fmt: skip
    return full | {"policy": {"label": "Müller.toml", "text": "[[rule]]", "rows": rows}}


def test_every_value_is_held_back_that_is_not_on_the_list(full):
    whole = with_policy(full)
    paths = sorted({path for path in leaves(whole) if not path.startswith(SUMMARY)})
    assert len(paths) > 250
    left = {
        path for path in paths if SEEN.search(json.dumps(release_safe(planted(whole, path, SENTINEL)), sort_keys=True))
    }
    assert left - LEAVES == set()
    # What is on the list and in the document does leave; truth values are not planted.
    assert PUBLIC_TEXTS & set(paths) <= left
    for path in ("scenario.tau", "data.releases[].records", "figures[].measure", "policy.rows[].note"):
        assert path in left


def with_a_new_entry(value, path=""):
    """Copies of the document, each with an unknown entry in one kind of place."""
    kinds = {""}
    for p in leaves(value):
        names = p.split(".")
        kinds |= {".".join(names[:n]) for n in range(1, len(names))}
    for kind in sorted(kinds):
        yield kind, entered(value, kind)


def entered(value, wanted, path=""):
    if isinstance(value, dict):
        found = {name: entered(one, wanted, f"{path}.{name}" if path else name) for name, one in value.items()}
        return found | ({"a new entry": "Quastenflosser", "another": [48_737]} if path == wanted else {})
    if isinstance(value, list):
        return [entered(one, wanted, f"{path}[]") for one in value]
    return value


def test_new_entries_are_held_back(full):
    # By name: settings of groups and versions of packages.
    by_name = ("scenario.ngroups_keys", "scenario.ngroups_target", "provenance.packages", SUMMARY)
    places = 0
    for kind, changed in with_a_new_entry(full):
        if not kind.startswith(by_name):
            places += 1
            assert not SEEN.search(json.dumps(release_safe(changed))), kind
    assert places > 40


def test_sizes_digests_seeds_and_names_of_files_stay(tmp_path, people, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = {"Erika Mustermann.csv": 297, "release of Erika.csv": 200, "held out.csv": 293}
    for name, n in records.items():
        write_table(people.select(["sex", "age", "depress"]).slice(0, n), name)
    pair = unveil.Pair("Erika Mustermann.csv", ["release of Erika.csv"])
    found = unveil.assess(
        pair, ["sex", "age"], targets="depress", measures=["identity", "attribute"], seed=987654321,
        holdout="held out.csv",
    )  # fmt: skip
    whole = {one["role"]: one for one in found.content["provenance"]["inputs"]}
    secret = [str(whole[role][name]) for role in ("original", "holdout") for name in ("records", "bytes", "sha256")]
    assert secret[::3] == ["297", "293"]
    for text in (found.to_json(), found.to_html(), found.to_markdown(), found.to_public_summary()):
        plain = text.replace("\u202f", "").replace(whole["release"]["sha256"], "")
        assert [one for one in (*secret, "Erika", "987654321") if one in plain] == []
    safe = {one["role"]: one for one in found.to_dict()["provenance"]["inputs"]}
    assert [safe["release"][name] for name in ("records", "sha256")] == [200, whole["release"]["sha256"]]
    assert [(safe[r]["records"], safe[r]["bytes"], safe[r]["sha256"]) for r in ("original", "holdout")] == [
        (300, None, None), (290, None, None)
    ]  # fmt: skip


# Names of rare levels -----------------------------------------------------------------------------------------------


def test_a_level_of_few_persons_is_named_nowhere(result, full):
    assert RARE.lower() in json.dumps(full, ensure_ascii=False).lower(), "it is in the whole assessment"
    for text in (result.to_json(), result.to_html(), result.to_markdown(), result.to_public_summary()):
        assert RARE.lower() not in text.lower()
    rows = [row for target in result.to_dict()["targets"] for row in target["attribution"]]
    assert any("job" in row["term"] for row in rows), "levels that many have are named"


@pytest.mark.parametrize("level", ["first", "last"])
def test_no_coefficient_of_a_model_tells_of_few_persons(level):
    """Not of those with a rare level, nor of one that others are compared with, nor of a rare outcome."""
    n = 300
    rng = np.random.default_rng(4)
    rare = "aa" if level == "first" else "zz"
    town = rng.choice(["b", "c", "d"], n)
    town[:2] = rare
    pay = rng.normal(2000, 300, n).round()
    pay[:2] = 654_321
    ill = np.where(rng.random(n) < 0.4, "no", "yes")
    odd = np.array(["usual"] * n)
    odd[5:9] = rare
    people = pa.table({"town": town, "pay": pay, "ill": ill, "odd": odd, "sex": rng.choice(["f", "m"], n)})
    pair = unveil.Pair(people, people.take(pa.array(rng.permutation(n))))
    found = unveil.assess(
        pair, "sex", targets="ill", measures="utility", models=["pay ~ town", "odd ~ sex", "ill ~ sex"], budget=300
    ).to_dict()
    text = json.dumps(found)
    assert f'"{rare}"' not in text
    assert f": {rare}" not in text
    assert "65432" not in text
    terms = [(one["model"], one["term"]) for one in found["utility"]["models"]]
    kept = [] if level == "first" else [("pay ~ town", "(intercept)"), ("pay ~ town", "town: c"),
                                         ("pay ~ town", "town: d")]  # fmt: skip
    assert terms == [*kept, ("ill ~ sex", "(intercept)"), ("ill ~ sex", "sex: m")]


def test_ends_of_groups_are_no_values_of_persons(result, people):
    whole = [row["level"] for row in result.content["keys"]["groups"] if row["by"] == "age"]
    levels = [row["level"] for row in result.to_dict()["keys"]["groups"] if row["by"] == "age"]
    assert levels == [f"group {i} of 5, from the lowest" for i in range(1, 6)]
    assert all(re.search(r"\d", level) for level in whole[:5])


# Counts and digits ---------------------------------------------------------------------------------------------------


def counts_of(value, names=("persons", "records", "n", "both", "only_posterior", "only_flag", "neither", "counts",
                            "members", "held_out"), name=""):  # fmt: skip
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in ("releases", "inputs", "figures"):
                yield from counts_of(one, names, key)
    elif isinstance(value, list):
        for one in value:
            yield from counts_of(one, names, name)
    elif name in names and value is not None:
        yield value


def test_no_cell_below_the_minimum_count(full, safe):
    assert any(0 < n < LEAST for n in counts_of(full))
    found = list(counts_of(safe))
    assert len(found) > 40
    assert all(n % LEAST == 0 for n in found)


def test_nothing_smaller_follows_by_subtraction(safe):
    """Percentages of all 300 persons, of any measure and threshold, differ by nothing or by at least ten persons."""
    shares = [
        100 * point[name]
        for target in safe["targets"]
        for point in target["curve"]["points"]
        for name in ("rate", "null_mean", "null_95", "ceiling")
        if point[name] is not None
    ]
    percents = [
        f[name]
        for f in safe["figures"]
        for name in ("value", "margin", "ceiling")
        if f["unit"] == "percent" and f[name]
    ]
    sets = [one["figures"][name] for one in safe["keys"]["sets"] for name in ("repU", "DiSCO", "Dorig")]
    persons = sorted({round(3 * value, 6) for value in (*shares, *percents, *sets)})
    assert len(persons) > 5
    assert all(b - a >= LEAST for a, b in itertools.pairwise(persons))


def test_correlations_have_few_digits():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    people = pa.table({"x": x, "y": x + rng.normal(size=300), "sex": rng.choice(["f", "m"], 300)})
    pair = unveil.Pair(people, people.take(pa.array(rng.permutation(300))))
    found = unveil.assess(pair, "sex", targets="y", measures="utility", budget=300)
    (whole,) = (one for one in found.content["utility"]["pairs"] if (one["first"], one["second"]) == ("x", "y"))
    (row,) = (one for one in found.to_dict()["utility"]["pairs"] if (one["first"], one["second"]) == ("x", "y"))
    assert whole["pearson_original"] == pytest.approx(np.corrcoef(x, people.column("y").to_numpy())[0, 1])
    assert row["pearson_original"] == pytest.approx(round(whole["pearson_original"] / 0.05) * 0.05, abs=1e-12)


def test_the_histogram_and_the_cross_table():
    counts = [0, 3, 0, 40, 7, 12, 0, 230, 8, 0]
    edges = [i / 10 for i in range(11)]
    cross = {"name": "DiSCO", "threshold": 0.3, "both": 7, "only_posterior": 40, "only_flag": 53, "neither": 200,
             "missed": 40 / 47}  # fmt: skip
    posterior = {"rows": [], "gain_histogram": {"edges": edges, "counts": counts}, "cross": [[cross]]}
    safe = release_safe(document(targets=[{"target": "ill", "posterior": posterior}]))
    found = safe["targets"][0]["posterior"]
    assert found["gain_histogram"] == {"edges": edges[3:9], "counts": [40, None, 10, 0, 230]}
    assert found["cross"] == [
        [{"name": "DiSCO", "threshold": 0.3, "both": None, "only_posterior": 40, "only_flag": 50, "neither": 200,
          "missed": None}]
    ]  # fmt: skip
    cross["both"], cross["only_flag"], cross["missed"] = 60, 0, 0.4
    again = release_safe(document(targets=[{"target": "ill", "posterior": posterior}]))["targets"][0]["posterior"]
    # Of the hundred at risk 40 are missed; ten persons are 10 % of them.
    assert again["cross"][0][0] | {"neither": 0} == cross | {"neither": 0, "missed": 0.4}


def document(n=300, **entries):
    """The least that is an assessment."""
    return {
        "schema": "unveil.assessment", "schema_version": "2.0", "release_safe": False, "title": "", "summary": [],
        "scenario": {"minimum_count": LEAST}, "warnings": [], "figures": [], "utility": None,
        "data": {"original": {"label": "o", "records": n}, "releases": [], "columns": []},
    } | entries  # fmt: skip


def test_groups_are_shown_that_are_five_times_the_minimum_count():
    def group(persons, value, **more):
        return {"by": "job", "level": f"of {persons}", "level_public": f"of {persons}", "persons": persons,
                "measure": "RAPID", "unit": "share", "value": value, "low": value, "high": value} | more  # fmt: skip

    rows = [group(200, 0.123), group(51, 1 / 51), group(49, 0.5), group(9, 0.3), group(100, 0.0)]
    unnamed = group(100, 0.3)
    del unnamed["level_public"]
    safe = release_safe(document(keys={"sets": [], "leave_one_out": [], "groups": [*rows, unnamed]}))
    found = [(g["level"], g["persons"], g["value"], g["low"], g["high"]) for g in safe["keys"]["groups"]]
    # Ten of 200 persons are 5 %, of 51 persons 20 %; one of 51 persons is not nobody.
    assert found == [("of 200", 200, 0.1, 0.1, 0.15), ("of 51", 50, 0.2, 0.0, 0.2), ("of 100", 100, 0.0, 0.0, 0.0)]


# Texts ---------------------------------------------------------------------------------------------------------------


def test_texts_pass_by_what_was_written_for_publication():
    plain = with_public(
        {
            "warnings": [{"part": "a", "text": Note("7 of 300", "few")}, {"part": "a", "text": "nobody said"},
                         {"part": "a", "text": "nor here"}],
            "targets": [{"target": "ill", "notes": ["plain", Note("'miner' and 'Miner'", "two spellings"),
                                                    Note("harmless"), "plain too"], "checks": []}],
            "parts": [{"name": "p", "measure": "m", "status": "failed", "seconds": 1.25, "reason": "row 17 holds x"},
                      {"name": "q", "measure": "m", "status": "done", "seconds": 0.5, "reason": None}],
        }
    )  # fmt: skip
    safe = release_safe(document(**plain))
    assert safe["warnings"] == [{"part": "a", "text": "few"}, {"part": "a", "text": HELD_BACK}]
    assert safe["targets"][0]["notes"] == [HELD_BACK, "two spellings", "harmless"]
    assert safe["targets"][0]["checks"] == []
    assert [(p["reason"], p["seconds"]) for p in safe["parts"]] == [(HELD_BACK, None), (None, None)]


def test_no_text_names_a_file():
    text = "Erika.csv: column 'job' holds text; o in Erika.csv.csv, O, co and o; s"
    whole = document(
        data={"original": {"label": "o", "records": 300}, "releases": [{"label": "Erika.csv", "records": 1},
                                                                     {"label": "s", "records": 2}], "columns": []},
        warnings=[{"part": "p", "text": text, "text_public": text}],
    )  # fmt: skip
    assert release_safe(whole)["warnings"][0]["text"] == (
        "release 1: column 'job' holds text; the original in release 1.csv, O, co and the original; release 2"
    )


def test_texts_are_not_mixed_up_where_lists_do_not_fit():
    notes = {"target": "ill", "notes": ["secret", "other"], "notes_public": ["only one"]}
    assert release_safe(document(targets=[notes]))["targets"][0]["notes"] == [HELD_BACK]


@pytest.mark.filterwarnings("ignore:column")
def test_warnings_keep_what_may_be_published_of_them(tmp_path):
    """Also those of a part that was kept in a folder and taken from there."""
    n = 120
    job = ["miner", "Miner"] * 2 + ["smith", "cook"] * (n // 2 - 2)
    original = pa.table({"job": job, "sex": ["f", "m"] * (n // 2), "ill": ["y", "n", "n"] * (n // 3)})
    pair = unveil.Pair(original, original.slice(0, 100))
    options = {"targets": "ill", "measures": ["identity", "attribute"], "checkpoint": tmp_path}
    first, again = (unveil.assess(pair, ["sex", "job"], **options) for _ in range(2))
    whole = [one for one in first.content["warnings"] if "miner" in one["text"].lower()]
    assert whole
    for found in (first, again):
        texts = [one["text"] for one in found.to_dict()["warnings"]]
        assert {one["text_public"] for one in whole} <= set(texts)
        assert not any("miner" in text.lower() for text in texts)
    assert first.to_dict()["warnings"] == again.to_dict()["warnings"]


def test_sentences_hold_the_rounded_figures(result, full, safe):
    for whole, figure in zip(full["figures"], safe["figures"], strict=True):
        assert figure["sentence"] == whole["sentence_public"]
    repu = safe["figures"][0]
    assert f"{repu['ceiling']:g} have a combination" in repu["sentence"]
    assert f"{repu['value']:g} of the 100" in repu["sentence"]
    said = " ".join([*safe["summary"], *(one["text"] for one in safe["warnings"])])
    exact = [f["value"] * (1 if f["unit"] == "percent" else 100) for f in full["figures"]]
    texts = [f"{value:.1f}" for value in exact if value % 5]
    assert len(texts) > 5
    assert any(text in " ".join(full["summary"]) for text in texts)
    assert not any(text in said for text in texts)


# The gate as a whole -------------------------------------------------------------------------------------------------


def test_the_documents_are_drawn_from_what_passed(result, full, safe):
    assert result.to_dict() == safe
    assert json.loads(result.to_json()) == safe
    assert result.to_html() == html(safe)
    assert result.to_markdown() == markdown(safe)
    before = copy.deepcopy(full)
    assert release_safe(full) == safe
    assert full == before
    assert release_safe(safe) == safe


def test_it_says_how_it_was_rounded_and_against_whom_it_protects(result, safe):
    found = safe["publication"]
    assert (found["counts"], found["percent"]) == (10, 5.0)
    assert "multiples of 5 %" in found["rounded"]
    (step,) = map(float, re.findall(r"Log odds are multiples of ([\d.]+),", found["rounded"]))
    rows = [row for target in safe["targets"] for row in target["attribution"]]
    odds = [row[name] for row in rows for name in ("log_odds", "low", "high") if row[name] is not None]
    assert any(odds)
    assert all(one % step == 0 for one in odds)
    for text in (result.to_html(), result.to_markdown()):
        assert "no records of the original" in text
        assert "all records but one" in text


def test_what_computes_has_the_figures_as_they_are(result, full):
    assert result.figure("repU").value == full["figures"][0]["value"]
    assert result.to_frame().column("value").to_pylist()[0] == full["figures"][0]["value"]
    assert f"{full['figures'][0]['value']:.2f}" in str(result)


def test_few_persons_have_no_percentages():
    figure = {"measure": "repU", "intruder": "release", "target": None, "unit": "percent", "value": 12.5, "low": 1.0,
              "high": 30.0, "undefined": None, "per_release": [12.5], "ceiling": 100.0, "margin": 0.0}  # fmt: skip
    safe = release_safe(document(n=40, figures=[figure]))
    (found,) = safe["figures"]
    assert (found["value"], found["low"], found["high"], found["per_release"]) == (None, None, None, [None])
    # A reason ends the sentence that says "not defined".
    assert found["undefined"] == "the records are too few for a figure that may be published"
    # Nobody, or everybody, is told of: these are no few persons.
    assert (found["margin"], found["ceiling"]) == (0.0, 100.0)
    assert safe["publication"]["percent"] is None
    assert release_safe(document(n=9, figures=[figure]))["figures"][0]["ceiling"] is None


def test_that_the_records_are_too_few_is_said_once_per_sentence():
    few = public_note(lambda say: f"Of 100 records {say.hundred(0.125)}.", Rounding(40, 10))
    figure = {"measure": "DiSCO", "intruder": INTRUDERS[0], "target": "ill", "unit": "percent", "value": 12.5,
              "null_mean": 5.0, "ceiling": 20.0, "excess": 0.1, "sentence": few, "sentence_public": few.public,
              "persons": None}  # fmt: skip
    content = {"data": {"original": {"records": 40}, "releases": [{}]}, "figures": [figure], "parts": [],
               "scenario": {"keys": ["sex"], "targets": ["ill"]}, "targets": [], "utility": None}  # fmt: skip
    assert [note.public for note in summary(content, Rounding(40, 10))][1] == few.public


@pytest.mark.parametrize("measure", ["membership AUC", "exact membership"])
@pytest.mark.parametrize("n", [40, 90])
def test_a_lot_stays_a_lot(measure, n):
    """What a guess between two persons achieves is no figure of the records: it is not rounded to 60 %."""
    figure = {"measure": measure, "intruder": "release", "target": None, "unit": "share", "value": 0.83, "low": 0.8,
              "high": 0.9, "undefined": None, "per_release": [0.83], "ceiling": 1.0, "margin": 0.5}  # fmt: skip
    (found,) = release_safe(document(n=n, figures=[figure]))["figures"]
    assert found["margin"] == 0.5
    assert found["value"] == (None if n == 40 else 0.8)  # Of 90 persons ten are a step of 20 %.


# Rounding ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("persons", "least", "step"),
    [(300, 10, 5.0), (5000, 10, 0.2), (1000, 10, 1.0), (999, 10, 2.0), (50, 10, 20.0), (49, 10, None),
     (1_000_000, 10, 0.001), (300, 1, 0.5), (300, 3, 1.0), (10, 10, None), (700, 10, 2.0)],
)  # fmt: skip
def test_the_step_is_a_readable_share_of_at_least_the_minimum_count(persons, least, step):
    assert Rounding(persons, least).step == step


@given(st.integers(1, 10**7), st.integers(1, 10**4))
def test_the_step_is_the_smallest_of_its_kind(a, b):
    least = Fraction(a, b)
    mantissa, exponent = readable_step(least)
    assert mantissa in (1, 2, 5)
    step = mantissa * Fraction(10) ** exponent
    smaller = {1: Fraction(1, 2), 2: Fraction(1, 2), 5: Fraction(2, 5)}[mantissa] * step
    assert smaller < least <= step


@given(st.integers(50, 10**5), st.integers(1, 20), st.data())
def test_a_rounded_share_tells_of_no_few_persons(persons, least, data):
    rounding = Rounding(persons, least)
    k = data.draw(st.integers(0, persons))
    value = 100 * k / persons
    if rounding.step is None:
        assert rounding.percent(value) in ((value,) if k in (0, persons) and persons >= least else (None,))
        return
    rounded = rounding.percent(value)
    steps = Fraction(str(rounded)) / Fraction(str(rounding.step))
    assert steps.denominator == 1
    assert Fraction(str(rounding.step)) * persons / 100 >= least
    assert (rounded == 0) == (k == 0)
    assert (rounded == 100) == (k == persons)
    inside = rounding.step < value < 100 - rounding.step
    assert abs(rounded - value) <= rounding.step * (0.5 if inside else 1) * (1 + 1e-9)
    assert rounding.outward(value, up=False) <= value + 1e-9 * rounding.step
    assert rounding.outward(value, up=True) >= value - 1e-9 * rounding.step
    assert rounding.share(value / 100) == pytest.approx(rounded / 100, rel=1e-12)
    assert rounding.count(k) in ((None,) if 0 < k < least else range(k - least // 2 - 1, k + least // 2 + 2))


def test_a_share_in_the_middle_of_two_steps_is_rounded_as_its_percentage_is():
    rounding = Rounding(100_000, 2)
    value = 100 * 261 / 100_000
    assert (rounding.percent(value), rounding.share(value / 100)) == (0.262, 0.00262)


@pytest.mark.parametrize("value", [0.0, 0.4, 4.999, 5.0, 12.3, 99.9, 100.0])
def test_rounding_at_random_is_right_on_average(value):
    rounding, draws = Rounding(300, 10), [(i + 0.5) / 1000 for i in range(1000)]
    found = [rounding.at_random(value, lambda draw=draw: draw) for draw in draws]
    assert set(found) <= {5.0 * math.floor(value / 5), 5.0 * math.ceil(value / 5)}
    assert np.mean(found) == pytest.approx(value, abs=0.005)


def mean_posterior_of(certain, persons=200, prior=0.01):
    return (certain + (persons - certain) * prior) / persons


def test_few_certain_persons_are_not_told_by_a_mean_posterior():
    """Of 200 persons with a prior of .01, two of whom the intruder is certain and none: means of .02 and .01."""
    means = [mean_posterior_of(certain) for certain in (0, 2)]
    row = {"records": 200, "mean_prior": 0.01}
    told = [let_out({"rows": [row | {"mean_posterior": mean}]}, POSTERIOR, Rounding(200, 10)) for mean in means]
    assert told[0] == told[1] == {"rows": [row | {"mean_posterior": 0.05}]}


def test_a_sentence_is_told_twice():
    def words(say):
        of_persons = f"{say.percent(12.34)}, {say.hundred(0.1234)}, {say.count(7)}"
        return f"{of_persons}, {say.probability(0.0043)}, {say.prior(0.0043)}"

    note = public_note(words, Rounding(300, 10))
    assert (str(note), note.public) == ("12.3, 12.3, 7, 0.43 %, 0.43 %", "10, 10, fewer than 10, 5 %, 0.4 %")
    assert public_note(words, Rounding(20, 10)).public.startswith("The records are too few")
