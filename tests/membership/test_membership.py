"""Membership inference: attacks by hand and by brute force, what must not matter, and what is refused."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil._membership import ATTACKS, records
from unveil._membership.distance import UNIT, GowerAxes, nearest


def found_in(original: Any, release: Any, holdout: Any, **options: Any) -> Any:
    releases = release if isinstance(release, list) else [release]
    pair = unveil.Pair(pa.table(original), [pa.table(one) for one in releases])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unveil.UnveilWarning)
        return unveil.membership(pair, pa.table(holdout), **({"holdout_unseen": True} | options))


def survey(n: int, seed: Any) -> pa.Table:
    """Persons of one population, different ones for each seed."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
    return pa.table(
        {
            "a": a.astype(str),
            "b": b.astype(str),
            "x": rng.normal(a, 1).round(1),
            "y": rng.exponential(10 * (1 + b)).round(),
        }
    )


# --------------------------------------------------------------------------------------------- by hand
def test_distance_to_closest_record_by_hand_with_ties() -> None:
    original = {"sex": ["f", "f", "m"], "age": [20, 40, 60]}
    release = {"sex": ["f", "m"], "age": [20, 50]}
    holdout = {"sex": ["f", "m"], "age": [30, 30]}
    found = found_in(original, release, holdout, attacks="dcr")
    # Ages are 40 apart at most. Members: 0, 20/40, 10/40; the others: 10/40, 20/40.
    scores = dict(zip(found.records()["record"].to_pylist()[:3], found.records()["dcr"].to_pylist()[:3], strict=True))
    assert [-scores[i] / UNIT for i in range(3)] == pytest.approx([0, 0.5, 0.25])
    # Of six comparisons won: member 0 both; member 1 none and a tie; member 2 a tie and one.
    assert found.together["dcr"].auc == pytest.approx((2 + 0.5 + 1.5) / 6)
    assert found.copies_together.members == pytest.approx(100 / 3)
    assert found.copies_together.held_out == 0
    assert math.isnan(found.together["dcr"].tpr[0])


def test_closest_of_several_releases_counts() -> None:
    original = {"x": [0.0, 10.0, 20.0, 40.0]}
    first, second, holdout = {"x": [0.0]}, {"x": [20.0]}, {"x": [5.0, 30.0]}
    found = found_in(original, [first, second], holdout, attacks="dcr")
    assert [-score * 40 / UNIT for score in found.records()["dcr"].to_pylist()] == pytest.approx(
        [0, 10, 0, 20, 5, 10], abs=1e-4
    )
    # From 0 alone: 0, 10, 20, 40 against 5, 30. From 20 alone: 20, 10, 0, 20 against 15, 10.
    assert [r["dcr"].auc for r in found.releases] == [4 / 8, 3.5 / 8]
    assert found.together["dcr"].auc == 4.5 / 8
    assert found.copies[0].members == 25
    assert found.copies_together.members == 50


def test_gaps_and_special_codes_are_levels() -> None:
    original = pa.table({"income": [0.0, 100.0, -8.0, None], "when": pa.array([0, 10, 20, 40], pa.date32())})
    pair = unveil.Pair(original, original, special_codes={"income": [-8]})
    space = GowerAxes.of([pair.column("income"), pair.column("when")], "range")
    codes = np.column_stack([pair.column(name).original for name in ("income", "when")])
    between = [[nearest(space, codes[[i]], codes[[j]]).distances[0, 0] / UNIT for j in range(4)] for i in range(4)]
    assert np.array(between) == pytest.approx(
        np.array([[0, 1.25, 1.5, 2], [1.25, 0, 1.25, 1.75], [1.5, 1.25, 0, 1.5], [2, 1.75, 1.5, 0]])
    )


def test_days_declared_categorical_are_equal_or_different() -> None:
    days = pa.table({"when": pa.array([0, 10, 40], pa.date32())})
    (axis,) = GowerAxes.of([unveil.Pair(days, days).column("when")], "range").axes
    assert axis is not None
    categorical = unveil.Pair(days, days, kinds={"when": "categorical"}).column("when")
    assert GowerAxes.of([categorical], "range").axes == (None,)


@st.composite
def files(draw: Callable[..., Any]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Original, release and held-out records of a few columns, with gaps and levels of their own."""
    sizes = [draw(st.integers(2, 8)) for _ in range(3)]

    def column(values: Any) -> list[list[Any]]:
        return [draw(st.lists(values | st.none(), min_size=n, max_size=n)) for n in sizes]

    columns = {
        "c": column(st.sampled_from("abc")),
        "n": column(st.integers(0, 5).map(float)),
        "d": column(st.sampled_from("xy")),
    }
    types = {"c": pa.string(), "n": pa.float64(), "d": pa.string()}
    original, release, holdout = (
        pa.table({name: pa.array(values[i], types[name]) for name, values in columns.items()}) for i in range(3)
    )
    return original, release, holdout


def brute_distance(a: Mapping[str, Any], b: Mapping[str, Any], span: float) -> float:
    total = float(a["c"] != b["c"]) + float(a["d"] != b["d"])
    if a["n"] is None or b["n"] is None or not span:
        return total + float(a["n"] != b["n"])
    return total + min(abs(a["n"] - b["n"]) / span, 1)


@settings(max_examples=60)
@given(files())
def test_distances_by_brute_force(three: tuple[pa.Table, pa.Table, pa.Table]) -> None:
    original, release, holdout = three
    try:
        found = found_in(original, release, holdout, attacks="dcr")
    except unveil.DataError:
        return  # by chance the held-out records are those of the original
    amounts = [v for v in original["n"].to_pylist() if v is not None]
    span = max(amounts) - min(amounts) if amounts else 0.0
    rows = found.records().to_pylist()
    files_by_label = {found.label_original: original.to_pylist(), found.label_held_out: holdout.to_pylist()}
    for row in rows:
        person = files_by_label[row["file"]][row["record"]]
        closest = min(brute_distance(person, other, span) for other in release.to_pylist())
        assert -row["dcr"] / UNIT == pytest.approx(closest, abs=1e-5)
        assert row["copied"] == (person in release.to_pylist())
    scores = {flag: [row["dcr"] for row in rows if row["member"] == flag] for flag in (True, False)}
    wins = np.array([[(m > o) + (m == o) / 2 for o in scores[False]] for m in scores[True]])
    assert found.together["dcr"].auc == pytest.approx(wins.mean())


# -------------------------------------------------------------------------------- what must not matter
@settings(max_examples=30)
@given(files(), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(three: tuple[pa.Table, pa.Table, pa.Table], random: Any) -> None:
    def turned(table: pa.Table) -> pa.Table:
        order, names = list(range(table.num_rows)), list(table.column_names)
        random.shuffle(order)
        random.shuffle(names)
        table = table.take(order).select(names)
        renamed = [None if v is None else {"a": "zz", "b": "b", "c": "0"}[v] for v in table["c"].to_pylist()]
        return table.set_column(names.index("c"), "c", pa.array(renamed, pa.string()))

    try:
        first = found_in(*three, attacks="dcr")
    except unveil.DataError:
        return
    second = found_in(*map(turned, three), attacks="dcr")
    assert first.to_dict()["together"] == second.to_dict()["together"]
    assert first.to_dict()["copies"] == second.to_dict()["copies"]


def test_order_of_records_and_columns_does_not_matter_to_any_attack() -> None:
    original, release, holdout = (survey(150, seed) for seed in (1, 2, 3))
    rng = np.random.default_rng(1)
    turned = [t.take(rng.permutation(t.num_rows)).select(["y", "b", "a", "x"]) for t in (original, release, holdout)]
    first, second = found_in(original, release, holdout), found_in(*turned)
    for name in ATTACKS:
        assert first.together[name] == second.together[name], name
    assert first.together == found_in(original, release, holdout, n_jobs=1).together


# -------------------------------------------------------------------------------------------- statistics
@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 400])
def test_interval_covers_one_half_where_nobody_was_seen(n: int) -> None:
    """Of 150 releases at least 90 percent: 2.8 standard errors (1.8) below 95. Bounded above by 100 only."""
    covered = dict.fromkeys(ATTACKS, 0)
    for i in range(150):
        original, release, holdout = (survey(n, [11, i, part]) for part in range(3))
        for name, one in found_in(original, release, holdout, seed=i, n_jobs=1).together.items():
            covered[name] += one.auc_interval[0] <= 0.5 <= one.auc_interval[1]
    assert min(covered.values()) >= 0.90 * 150, covered


def test_a_copy_gives_everybody_away() -> None:
    original, holdout = survey(600, 1), survey(600, 2)
    copy = original.take(np.random.default_rng(1).permutation(600))
    found = found_in(original, copy, holdout)
    for name in ATTACKS:
        assert found.together[name].auc > 0.9, name
        assert found.together[name].auc_interval[0] > 0.88, name
    assert found.copies_together.members == 100
    assert found.copies_together.held_out < 25


def test_more_donors_give_less_away() -> None:
    original, holdout = survey(800, 1), survey(800, 2)
    areas = []
    for minbucket in (1, 80):
        release = unveil.CartSynthesizer(minbucket=minbucket, collapse=False, n_jobs=1).fit(original).sample(seed=1)
        areas.append(found_in(original, release, holdout, attacks="dcr").together["dcr"].auc)
    assert areas[0] > 0.55
    assert areas[0] > areas[1] + 0.03


# ----------------------------------------------------------------------------------------------- refusals
def test_a_holdout_must_be_stated() -> None:
    with pytest.raises(unveil.CallError, match=r"holdout_unseen=True .*measures nothing"):
        found_in(survey(50, 1), survey(50, 2), survey(50, 3), holdout_unseen=False)


def test_a_holdout_cut_afterwards_is_refused() -> None:
    everybody = survey(500, 1)
    release = survey(500, 2)
    with pytest.raises(unveil.DataError, match=r"100 of 100 records are records of the original"):
        found_in(everybody, release, everybody.slice(400))
    with pytest.raises(unveil.DataError, match="not held out"):
        found_in(everybody, release, pa.concat_tables([everybody.slice(450), survey(50, 3)]))
    small = {"x": [number + 0.5 for number in range(12)], "y": list("abcdefghijkl")}
    with pytest.raises(unveil.DataError, match="not held out"):
        found_in(small, small, small)


def test_twins_do_not_make_a_holdout_suspicious() -> None:
    rng = np.random.default_rng(1)
    original, release, holdout = ({"a": rng.integers(0, 3, 300), "b": rng.integers(0, 2, 300)} for _ in range(3))
    assert found_in(original, release, holdout, attacks="dcr").n_held_out == 300


def test_fresh_records_are_not_refused_where_twins_come_in_groups() -> None:
    """Draws from few values of unequal frequency; the refusal's error probability is 0.0001 each."""
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 201)
    for n in (64, 150):
        for _ in range(60):
            original, holdout = ({"x": rng.choice(200, n, p=share / share.sum())} for _ in range(2))
            pair = unveil.Pair(pa.table(original), pa.table(original), pa.table(holdout))
            assert pair.held_out.n_synthetic == (n, n)


@pytest.fixture
def synthesized(tmp_path: Path) -> Path:
    """A folder with an original, held-out records, both together, and releases of the first and the last."""
    from unveil.synthesis.synthetic_files import synthesize_files

    original, holdout = survey(120, 1), survey(80, 2)
    for name, table in (("o", original), ("h", holdout), ("both", pa.concat_tables([original, holdout]))):
        csv.write_csv(table, tmp_path / f"{name}.csv")
    for name in ("o", "both"):
        synthesize_files(tmp_path / f"{name}.csv", tmp_path / f"{name}_release.csv", m=1, seed=1)
    return tmp_path


def test_provenance_tells_what_a_release_was_made_from(synthesized: Path) -> None:
    def measured(original: str, release: str, holdout: str) -> Any:
        pair = unveil.Pair(str(synthesized / original), str(synthesized / release))
        return unveil.membership(pair, str(synthesized / holdout), holdout_unseen=True, attacks="dcr")

    confirmed = measured("o.csv", "o_release.csv", "h.csv")
    assert confirmed.confirmed == ("o_release.csv",)
    assert "no provenance" not in str(confirmed)
    with pytest.raises(unveil.DataError, match=r"200 records of both.csv \(as many as .* together\), not from the 120"):
        measured("o.csv", "both_release.csv", "h.csv")
    with pytest.raises(unveil.DataError, match=r"was made from o.csv itself"):
        measured("h.csv", "o_release.csv", "o.csv")
    csv.write_csv(survey(120, 5), synthesized / "other.csv")
    with pytest.raises(unveil.DataError, match="who was a member is not known"):
        measured("other.csv", "o_release.csv", "h.csv")


# -------------------------------------------------------------------------------------------- hard inputs
HARD: dict[str, tuple[dict[str, list[Any]], ...]] = {
    "five records": tuple({"x": list(rng.normal(size=5)), "k": list("abcde")} for rng in
                          map(np.random.default_rng, range(3))),
    "constant columns": tuple({"x": [1.0] * 30, "k": ["a"] * 30} for _ in range(3)),
    "gaps only": tuple({"x": [None] * 30, "k": [None] * 30} for _ in range(3)),
    "500 levels": tuple({"k": [f"level {v}" for v in rng.integers(0, 500, 300)], "z": list(rng.integers(0, 9, 300))}
                        for rng in map(np.random.default_rng, range(3))),
    "unseen levels": ({"k": ["a", "b"] * 20, "x": list(range(40))}, {"k": ["a", "c"] * 20, "x": list(range(1, 41))},
                      {"k": ["d", "e"] * 20, "x": list(range(1000, 1040))}),
    "infinities": tuple({"x": [math.inf, -math.inf, float(i), float(2 * i)] * 5, "k": list(range(i, i + 20))}
                        for i in (1, 30, 60)),
    "no variation in the original": ({"x": [1.0] * 20}, {"x": [2.0] * 20}, {"x": [1.0] * 20}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(HARD))
def test_hard_inputs(name: str) -> None:
    original, release, holdout = HARD[name]
    found = found_in(original, release, holdout)
    plain = json.loads(json.dumps(found.to_dict()).replace("NaN", "null"))
    assert plain["n_held_out"] == len(holdout["k"] if "k" in holdout else holdout["x"])
    assert "does NOT show" in str(found)
    assert 0 <= found.together["dcr"].auc <= 1
    if name == "five records":
        assert found.together["classifier"].undefined == "needs 20 members and 20 held-out records"
        assert "Not defined, classifier: needs 20" in str(found)
    if name in ("constant columns", "gaps only", "no variation in the original"):
        assert all(found.together[attack].auc == 0.5 for attack in ATTACKS)


def test_a_release_without_records_has_no_figures() -> None:
    original, holdout = survey(20, 1), survey(20, 2)
    found = found_in(original, [original, original.slice(0, 0)], holdout, attacks="dcr")
    assert found.releases[1]["dcr"].undefined == "the release has no records"
    assert math.isnan(found.releases[1]["dcr"].auc)
    assert found.together["dcr"].auc == found.releases[0]["dcr"].auc


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"attacks": "shadow"}, "attacks must be .* not 'shadow'"),
        ({"columns": ["nowhere"]}, "no column 'nowhere'"),
        ({"level": 95}, "between 0 and 1"),
        ({"scale": "sd"}, "scale must be"),
        ({"most_records": 0}, "most_records"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_calls(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(unveil.CallError, match=text):
        found_in(survey(20, 1), survey(20, 2), survey(20, 3), **wrong)


def test_column_missing_in_the_holdout() -> None:
    with pytest.raises(unveil.DataError, match="has no column 'x'"):
        found_in(survey(20, 1), survey(20, 2), survey(20, 3).drop_columns(["x"]), columns=["a", "x"])


def test_drawn_records_are_said() -> None:
    found = found_in(survey(80, 1), survey(80, 2), survey(90, 3), most_records=30)
    assert found.n_attacked == (30, 30)
    assert "Drawn at random: 30 of 80 members and 30 of 90 held-out records." in str(found)
    assert pa.table(found.records()).num_rows == 60
    assert len(set(pa.table(found.records())["record"].to_pylist()[:30])) == 30


def test_a_sample_stands_for_all_within_its_interval() -> None:
    """The release is searched in full, so a sample estimates the very area of all records."""
    people = survey(900, 1)
    release = pa.concat_tables([people.slice(0, 250), survey(400, 2)])
    whole = found_in(people, release, survey(900, 3), attacks="dcr").auc
    assert whole > 0.6
    covered = []
    for seed in range(60):
        found = found_in(people, release, survey(900, 3), attacks="dcr", most_records=120, seed=seed)
        low, high = found.together["dcr"].auc_interval
        covered.append(low <= whole <= high)
    # 95 in 100, and a little more, as the samples are a good part of the files
    assert np.mean(covered) >= 0.9


def test_fewer_are_attacked_where_releases_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_DISTANCES", 80 * 200)
    monkeypatch.setattr(records, "LEAST_RECORDS", 40)
    files = survey(300, 1), survey(200, 2), survey(300, 3)
    assert found_in(*files).n_attacked == (80, 80)
    assert found_in(files[0], [files[1], files[1]], files[2]).n_attacked == (40, 40)
    assert found_in(files[0], files[1].slice(0, 50), files[2]).n_attacked == (300, 300)
    assert found_in(*files, most_records=100).n_attacked == (100, 100)


def test_frames_and_plots() -> None:
    pytest.importorskip("matplotlib")
    found = found_in(survey(120, 1), [survey(120, 2), survey(120, 4)], survey(120, 3))
    rows = pa.table(found.to_frame()).to_pylist()
    assert [row["release"] for row in rows[::3]] == ["release 1", "release 2", "all releases"]
    axes = found.plot()
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(axes.get_legend_handles_labels()[1]) == 4
    assert found.plot(release=0) is not axes
    with pytest.raises(unveil.CallError, match="release must be a whole number from 0 to 1, not 2"):
        found.records(2)


# ---------------------------------------------------------------------------------------- a synthesizer
def test_a_synthesizer_that_copies_and_one_that_does_not_look() -> None:
    people = survey(300, 1)
    copied = unveil.membership_synthesizer(people, lambda frame: frame, repeats=1, attacks="dcr")
    assert copied.auc["dcr"] > 0.9
    blind = unveil.membership_synthesizer(people, lambda frame, seed: survey(150, [9, seed]), repeats=2)
    for name in ATTACKS:
        low, high = blind.auc_interval[name]
        assert low <= 0.5 <= high, name
    assert len(blind.runs) == 4
    assert json.dumps(blind.to_dict())
    assert "does NOT show" in str(blind)
    assert len(pa.table(blind.to_frame())) == 12
    pytest.importorskip("matplotlib")
    assert blind.plot().get_xscale() == "log"


def test_a_file_is_cut_like_a_frame(tmp_path: Path) -> None:
    people = survey(60, 1)
    csv.write_csv(people, tmp_path / "people.csv")
    options: dict[str, Any] = {"repeats": 1, "attacks": "dcr"}
    first = unveil.membership_synthesizer(people, lambda frame: frame, **options)
    second = unveil.membership_synthesizer(str(tmp_path / "people.csv"), lambda frame: frame, **options)
    assert first.auc == second.auc


def test_halves_do_not_depend_on_the_order_of_records() -> None:
    people = survey(80, 5)
    turned = people.take(np.random.default_rng(1).permutation(80))
    maker = unveil.CartSynthesizer(minbucket=3)
    first, second = (unveil.membership_synthesizer(one, maker, repeats=1, seed=2) for one in (people, turned))
    for name in first.auc:
        np.testing.assert_equal(first.auc[name], second.auc[name])
        np.testing.assert_equal(first.tpr[name], second.tpr[name])


def test_both_halves_are_attacked_in_turn() -> None:
    seen: list[list[Any]] = []
    people = pa.table({"x": list(range(40))})

    def synthesizer(frame: Any) -> Any:
        seen.append(frame["x"].to_pylist())
        return frame

    unveil.membership_synthesizer(people, synthesizer, repeats=2, attacks="dcr")
    assert sorted(seen[0] + seen[1]) == sorted(seen[2] + seen[3]) == list(range(40))
    assert seen[0] != seen[2]


def test_several_releases_of_a_half_are_attacked_together() -> None:
    people, seeds = survey(80, 6), []

    class Maker:
        def fit(self, frame: Any, seed: int) -> Maker:
            self.frame = frame
            return self

        def sample(self, n: int, seed: int) -> Any:
            seeds.append(seed)
            # Of a third of the records, so that one release tells of a third, and three of most.
            rng = np.random.default_rng(seed)
            return self.frame.take(rng.choice(rng.permutation(n)[: n // 3], n))

    one, three = (
        unveil.membership_synthesizer(people, Maker(), repeats=2, releases=releases, attacks="dcr")
        for releases in (1, 3)
    )
    assert [len(run.labels) for run in three.runs] == [3] * 4
    assert (one.n_releases, three.n_releases) == (1, 3)
    assert len(set(seeds[4:])) == 12
    assert set(seeds[:4]) <= set(seeds[4:])
    # A record is in none of k releases with probability (27/40)^k, .675 or .31, and is otherwise told nearly for sure.
    assert one.auc["dcr"] < 0.75 < three.auc["dcr"]
    assert "4 releases, each made from one half. The" not in str(one)
    assert "12 releases, each made from one half. The 3 of a half are attacked together." in " ".join(
        str(three).split()
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"repeats": 0}, "repeats"),
        ({"releases": 0}, "releases"),
        ({"holdout": 1}, "cut from the original"),
        ({"seed": True}, "seed"),
    ],
)
def test_wrong_calls_of_a_synthesizer(options: dict[str, Any], text: str) -> None:
    with pytest.raises(unveil.CallError, match=text):
        unveil.membership_synthesizer(survey(20, 1), lambda frame: frame, **options)


def test_the_room_is_the_function() -> None:
    import unveil.membership

    assert callable(unveil.membership)


def test_three_records_have_no_two_halves():
    people = pa.table({"a": [1, 2, 3]})
    with pytest.raises(unveil.DataError, match=r"^two halves need at least 4 records, and the original has 3; give"):
        unveil.membership_synthesizer(people, lambda frame: frame)
