"""Both kinds of intervals of the table measures: against brute force, by hand, and on files of a few records."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._tables.process import sampling_variance
from unveil.stats import clopper_pearson, score_interval
from unveil.synthesis import halves, resamples

KEYS = ["a", "b"]


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, n), rng.integers(0, 4, n)
    return pa.table(
        {"a": a, "b": np.array(list("pqrs"))[b], "t": np.array(["x", "y", "z"])[(a + rng.integers(0, 2, n)) % 3]}
    )


def maker(**options: Any) -> unveil.CartSynthesizer:
    return unveil.CartSynthesizer(n_jobs=1, **options)


# ------------------------------------------------------------------------------- how a release follows a record
@pytest.mark.parametrize(
    "options",
    [{}, {"not_target_levels": ["y"]}, {"exclude_pairs": [("a", 1, "x"), ("b", "q", "z")]}],
)
def test_what_one_more_release_record_changes_for_the_others(options: dict[str, Any]) -> None:
    """Against brute force: the release with one more record like an original one, judged by the other records."""
    original, release = people(40, 1), people(25, 2)
    risk = unveil.attribute(unveil.Pair(original, release), KEYS, target="t", **options)
    cells, _ = risk._source.counted(0)
    held = [(int(q), int(t)) for q, t in zip(cells.q[cells.d > 0], cells.t[cells.d > 0], strict=True)]
    copied = risk._source.copied(0)
    before = risk.records(flavour="arrow")
    q, t = risk._source.study.combinations.original, risk._source.target.original
    for i in range(40):
        more = pa.concat_tables([release, original.slice(i, 1)])
        after = unveil.attribute(unveil.Pair(original, more), KEYS, target="t", **options).records(flavour="arrow")
        at = held.index((int(q[i]), int(t[i])))
        for name, column in (("DiSCO", "disco"), ("DCAPd", "ps")):
            change = [float(after[column][j].as_py()) - float(before[column][j].as_py()) for j in range(40) if j != i]
            counts = options == {} or _counts(original, i, options)
            assert copied[name][at] == pytest.approx(sum(change) if counts else 0.0), (i, name)


def _counts(original: pa.Table, i: int, options: dict[str, Any]) -> bool:
    """Whether a record is in no excluded cell; a copy of one in an excluded cell is taken to change nothing."""
    row = original.slice(i, 1).to_pylist()[0]
    pairs = {(key, str(level), target) for key, level, target in options.get("exclude_pairs", ())}
    return row["t"] not in options.get("not_target_levels", ()) and not any(
        (key, str(row[key]), row["t"]) in pairs for key in KEYS
    )


def test_the_variance_that_comes_from_persons_by_hand() -> None:
    """Two releases: twice the covariance of what they say of the persons, over 2 * 1 pairs, over n persons."""
    weights = np.array([2, 1, 1])
    one, two = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    persons = [np.repeat(values, weights) for values in (one, two)]
    covariance = np.mean(persons[0] * persons[1]) - persons[0].mean() * persons[1].mean()
    direct = [np.zeros(3), np.zeros(3)]
    assert sampling_variance(direct, [one, two], weights) == pytest.approx(covariance / 4)
    # never below that of the persons with the releases kept
    assert sampling_variance([one, two], direct, weights) == pytest.approx(np.mean(persons, axis=0).var() / 4)


# ------------------------------------------------------------------------- against a plain bootstrap of records
DRAWS = 4000
TOLERANCE = 4 * math.sqrt(1 / (2 * DRAWS))
"""Four standard errors of a standard deviation that is estimated from so many resamples."""


def scattered(n: int, seed: int) -> pa.Table:
    """Persons of whom some are alone with their keys."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 15, n), rng.integers(0, 4, n)
    return pa.table(
        {"a": a, "b": np.array(list("pqrs"))[b], "t": np.array(list("xyz"))[rng.integers(0, 3, n) * (a > 5)]}
    )


def added_by_each(original: pa.Table, release: pa.Table, without: str | None) -> dict[str, np.ndarray]:
    """What each original record adds to every measure, from the definitions; a target level may be left out."""
    people_, drawn = ([(row["a"], row["b"], row["t"]) for row in table.to_pylist()] for table in (original, release))
    keys_d, keys_s = Counter(p[:2] for p in people_), Counter(p[:2] for p in drawn)
    cells_d, cells_s = Counter(people_), Counter(drawn)
    left_d = Counter(p[:2] for p in people_ if p[2] != without)
    left_s = Counter(p[:2] for p in drawn if p[2] != without)
    found: dict[str, list[float]] = {name: [] for name in MEANS}
    for person in people_:
        keys, counts = person[:2], person[2] != without
        sure = [t for t in "xyz" if keys_s[keys] and cells_s[(*keys, t)] == keys_s[keys]]
        alike = cells_d[person] == keys_d[keys]
        found["Dorig"].append(alike and counts)
        found["iS"].append(keys_s[keys] > 0 and counts)
        found["DiS"].append(bool(sure) and counts)
        found["DiSCO"].append(person[2] in sure and counts)
        found["DiSDiO"].append(person[2] in sure and alike and counts)
        found["CAPd"].append(cells_d[person] / left_d[keys] if counts else 0.0)
        found["DCAPd"].append(cells_s[person] / left_s[keys] if counts and left_s[keys] else 0.0)
    return {name: np.array(values, dtype=float) for name, values in found.items()}


MEANS = ("Dorig", "iS", "DiS", "DiSCO", "DiSDiO", "CAPd", "DCAPd")


@pytest.mark.parametrize("without", [None, "y"])
def test_release_intervals_are_those_of_a_plain_bootstrap(without: str | None) -> None:
    """Records drawn one by one with replacement; the variance of the means goes into the same score interval."""
    n = 150
    original, releases = scattered(n, 1), [scattered(120, 2), scattered(60, 3)]
    risk = unveil.attribute(
        unveil.Pair(original, releases), KEYS, target="t", not_target_levels=[without] if without else []
    )
    rows = np.random.default_rng(7).integers(0, n, (DRAWS, n))
    each = [added_by_each(original, release, without) for release in releases]
    for figures, ends, added in zip(risk.releases, risk.intervals(), each, strict=True):
        for name, values in added.items():
            assert figures[name] == pytest.approx(100 * values.mean())
            _same_interval(ends[name], values.mean(), values[rows].mean(axis=1), n)
        certain = added["DiS"][rows].sum(axis=1)
        shares = added["DiSCO"][rows].sum(axis=1)[certain > 0] / certain[certain > 0]
        n_certain = int(added["DiS"].sum())
        _same_interval(ends["TCAP"], added["DiSCO"].sum() / n_certain, shares, n_certain, tolerance=0.15)
    for name, found in risk.interval().items():
        mean = (each[0][name] + each[1][name]) / 2
        assert found.value == pytest.approx(100 * mean.mean())
        _same_interval((found.low, found.high), mean.mean(), mean[rows].mean(axis=1), n)


def test_release_intervals_of_identity_are_those_of_a_plain_bootstrap() -> None:
    """UiO is a mean over records; of the combinations that count in the release, some are met by one record alone."""
    n = 80
    original, releases = scattered(n, 1), [scattered(40, 2), scattered(50, 3)]
    risk = unveil.identity(unveil.Pair(original, releases), KEYS)
    d = Counter((row["a"], row["b"]) for row in original.to_pylist())
    s = [Counter((row["a"], row["b"]) for row in release.to_pylist()) for release in releases]
    rng = np.random.default_rng(8)
    alone = np.array([d[(row["a"], row["b"])] == 1 for row in original.to_pylist()], dtype=float)
    draws = alone[rng.integers(0, n, (DRAWS, n))].mean(axis=1)

    def trials(most: float, releases: list[Counter[tuple[int, str]]]) -> np.ndarray:
        """Of the combinations that count in some release, in which part of the releases an original record is met."""
        found = {q: sum(1 <= one[q] <= most for one in releases) / len(releases) for one in releases for q in one}
        return np.array([part * (d[q] == 1) for q, part in sorted(found.items()) if part > 0])

    for ends, one in zip(risk.intervals(), s, strict=True):
        _same_interval(ends["UiO"], alone.mean(), draws, n)
        for name, most in (("UiOiS", math.inf), ("repU", 1)):
            _of_trials(ends[name], trials(most, [one]), n, rng)
    found = risk.interval()
    _of_trials((found.low, found.high), trials(1, s), n, rng)


def _of_trials(ends: tuple[float, float], hits: np.ndarray, n: int, rng: np.random.Generator) -> None:
    m = len(hits)
    drawn = hits[rng.integers(0, m, (DRAWS, m))].mean(axis=1)
    _same_interval((ends[0] * n / m, ends[1] * n / m), hits.mean(), drawn, m)


def _same_interval(
    ends: tuple[float, float], value: float, replicates: np.ndarray, n: int, tolerance: float = TOLERANCE
) -> None:
    """The interval that the replicates' variance gives, within the error of that variance."""
    assert replicates.std() > 0
    low, high = score_interval(value, float(replicates.var()), n)
    assert ends == pytest.approx((100 * low, 100 * high), abs=100 * tolerance * (high - low) / 2)


@pytest.mark.filterwarnings("ignore:Cyclopts")
def test_the_command_line_works_out_no_interval_for_a_document_that_nobody_asked_for(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Printing needs the intervals of each release; those of the mean are for the JSON document alone."""
    import pyarrow.csv

    from unveil.cli import main

    for i, table in enumerate((people(40, 1), people(40, 2))):
        pyarrow.csv.write_csv(table, tmp_path / f"{i}.csv")
    asked: list[str] = []
    whole = unveil.tables.AttributeRisk.interval

    def counted(self: Any, kind: Any = "release", **options: Any) -> Any:
        asked.append(kind)
        return whole(self, kind, **options)

    monkeypatch.setattr(unveil.tables.AttributeRisk, "interval", counted)

    def run(*more: str) -> None:
        monkeypatch.setattr("sys.argv", [*call, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0

    call = ["unveil", "attribute", str(tmp_path / "0.csv"), str(tmp_path / "1.csv"), "--keys", "a,b", "--target", "t"]
    run()
    assert asked == ["process"]
    asked.clear()
    run("--json", str(tmp_path / "out.json"))
    assert sorted(asked) == ["process", "process", "release"]
    assert set(json.loads((tmp_path / "out.json").read_text())["intervals_of_mean"]["t"]) == {"release", "process"}


# --------------------------------------------------------------------------------------------------- the kinds
def test_one_release_has_no_process_interval_and_says_why() -> None:
    pair = unveil.Pair(people(60, 1), people(60, 2))
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="t")
    ladder = attribute.ladder(permutations=5)
    for found in (identity.interval("process"), *attribute.interval("process").values()):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert "one release does not show" in (found.undefined or "")
    for name in ("repU", "DiSCO", "DCAPd"):
        assert all(map(math.isnan, ladder.mean[name].process_interval))
        assert "one release does not show" in ladder.undefined[f"{name}.process_interval"]
    text = " ".join(str(ladder).split())
    assert "95 % interval, this release: over other records of the same population, with the release kept" in text
    assert "95 % interval, the process (other records, and a release made from each): not defined, one release" in text
    for found in (identity, attribute):
        shown = " ".join(str(found).split())
        assert "95 % interval, this release" in shown
        assert "the process (other records, and a release made from each): not defined, one release" in shown
    json.dumps(ladder.to_dict())


def test_several_releases_have_both_kinds_and_the_text_names_them() -> None:
    pair = unveil.Pair(people(60, 1), [people(60, seed) for seed in (2, 3, 4)])
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="t")
    ladder = attribute.ladder(permutations=5)
    for kind in ("release", "process"):
        spans = {"repU": identity.interval(kind)} | attribute.interval(kind)
        for name, found in spans.items():
            assert found.kind == kind
            assert found.value == pytest.approx(ladder.mean[name].value)
            assert 0 <= found.low < found.value < found.high <= 100
            shown = ladder.mean[name].interval if kind == "release" else ladder.mean[name].process_interval
            assert shown == pytest.approx((found.low, found.high))
    text = " ".join(str(ladder).split())
    low, high = ladder.mean["DiSCO"].process_interval
    assert f"DiSCO {low:.2f} to {high:.2f}" in text
    assert all(math.isnan(rung["DiSCO"].process_interval[0]) for rung in ladder.releases)


def test_the_mean_of_one_release_has_the_interval_of_that_release() -> None:
    """One figure has one interval, wherever it is shown."""
    pair = unveil.Pair(people(60, 1), people(50, 2))
    risk = unveil.attribute(pair, KEYS, target="t")
    rungs = risk.ladder(permutations=2).mean
    for name, interval in risk.interval("release").items():
        assert risk.intervals()[0][name] == (interval.low, interval.high)
        assert rungs[name].interval == (interval.low, interval.high)
    identity = unveil.identity(pair, KEYS)
    interval = identity.interval("release")
    assert identity.intervals()[0]["repU"] == (interval.low, interval.high)


def test_the_release_interval_of_a_mean_is_shorter_than_of_its_releases() -> None:
    pair = unveil.Pair(people(200, 1), [people(200, seed) for seed in range(2, 8)])
    risk = unveil.attribute(pair, KEYS, target="t")
    (_, of_mean), each = risk.interval().items(), [ends["DCAPd"] for ends in risk.intervals()]
    assert of_mean[1].high - of_mean[1].low < min(high - low for low, high in each)


@pytest.mark.parametrize("kind", ["release", "process"])
def test_no_interval_depends_on_the_order_of_records(kind: Any) -> None:
    files = [people(60, seed) for seed in (1, 2, 3)]
    mixed = [table.take(np.random.default_rng(i).permutation(60)) for i, table in enumerate(files)]
    pairs = [unveil.Pair(one[0], one[1:]) for one in (files, mixed)]
    found = [unveil.identity(pair, KEYS).interval(kind, seed=3) for pair in pairs]
    assert found[0] == found[1]
    one, two = (unveil.attribute(pair, KEYS, target="t").interval(kind, seed=3) for pair in pairs)
    assert one == two


@pytest.mark.filterwarnings("ignore:.*nothing can match")
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_records(n: int) -> None:
    """All, none or some of a few persons: intervals hold the value, and are never a point."""
    some = pa.table({"a": list(range(n)), "t": list("xyxyx")[:n]})
    other = pa.table({"a": [9] * 4, "t": list("xxyy")})
    same = pa.table({"a": [1] * n, "t": ["x"] * n})
    for original, releases in (
        (some, [some, other]),
        (some, [some, some]),
        (some, [other, other]),
        (same, [same, other]),
    ):
        pair = unveil.Pair(original, releases)
        for kind in ("release", "process"):
            spans = [
                unveil.identity(pair, "a").interval(kind),
                *unveil.attribute(pair, "a", target="t").interval(kind).values(),
            ]
            for found in spans:
                assert 0 <= found.low <= found.value <= found.high <= 100
            assert all(found.high > found.low for found in spans[1:])


@pytest.mark.filterwarnings("ignore:.*nothing can match")
def test_nobody_and_everybody() -> None:
    table = pa.table({"a": list(range(40)), "t": ["x", "y"] * 20})
    away = pa.table({"a": [99, 99], "t": ["x", "y"]})
    none, every = clopper_pearson(0, 40), clopper_pearson(40, 40)
    for releases, ends in (([away, away], none), ([table, table], every)):
        risk = unveil.attribute(unveil.Pair(table, releases), "a", target="t")
        for kind in ("release", "process"):
            for found in risk.interval(kind).values():
                assert (found.low, found.high) == pytest.approx((100 * ends[0], 100 * ends[1]))


@pytest.mark.parametrize("option", [{"kind": "both"}, {"level": 1.0}, {"level": 0.0}])
def test_wrong_calls(option: dict[str, Any]) -> None:
    pair = unveil.Pair(people(20, 1), people(20, 2))
    for found in (unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="t")):
        with pytest.raises(unveil.CallError):
            found.interval(**option)


# ------------------------------------------------------------------------------------- with the synthesizer
def test_halves_are_halves_with_releases_of_their_own() -> None:
    table = people(61, 1)
    synthesizer = maker(minbucket=3)
    pair = unveil.Pair(table, [synthesizer.fit(table).sample(40, seed=seed) for seed in (1, 2)])
    made = halves(pair, maker(minbucket=3), repeats=3, seed=1)
    rows = sorted(map(str, table.to_pylist()))
    for one, other in made:
        assert (one.n_original, other.n_original) == (30, 31)
        assert one.n_synthetic == (20, 20)
        assert other.n_synthetic == (20, 20)
        together = [
            str({name: part.column(name).label(part.column(name).original[i]) for name in table.column_names})
            for part in (one, other)
            for i in range(part.n_original)
        ]
        assert len(together) == 61
        assert sorted(text.replace("'", "") for text in together) == sorted(text.replace("'", "") for text in rows)
    assert len({tuple(one.column("a").original) for one, _ in made}) == 3
    # codes are those of the pair and of all the parts together
    assert {one.column("a").labels for one, _ in made} == {pair.column("a").labels}


def test_a_half_has_the_figures_of_a_pair_of_its_own() -> None:
    """A part of the files is measured as the same records and releases by themselves are, cut at the same breaks."""
    table = people(80, 1)
    pair = unveil.Pair(table, maker().fit(table).sample(seed=1))
    ((one, other),) = halves(pair, maker(), repeats=2, seed=2)[:1]
    risk = unveil.attribute(pair, KEYS, target="t", not_target_levels=["z"], ngroups_keys={"a": 3})
    from unveil._tables.intervals import _of_part

    for part in (one, other):
        frames = [
            pa.table(
                {
                    name: [part.column(name).labels[code] for code in codes(part.column(name))]
                    for name in table.column_names
                }
            )
            for codes in (lambda c: c.original, lambda c: c.releases[0])
        ]
        cuts = risk._source.study.columns[KEYS.index("a")].grouping.cuts
        frames = [
            frame.set_column(
                0, "a", pa.array(np.searchsorted(cuts[1:-1], np.array(frame["a"], dtype=float), side="right"))
            )
            for frame in frames
        ]
        alone = unveil.attribute(unveil.Pair(*frames), KEYS, target="t", not_target_levels=["z"])
        found = _of_part(risk._source.over(part, risk.options))
        assert found["DiSCO"] == pytest.approx(alone.DiSCO)
        assert found["DCAPd"] == pytest.approx(alone.DCAPd)


def test_the_synthesizer_gives_a_process_interval_to_one_release() -> None:
    table = people(150, 1)
    synthesizer = maker()
    release = synthesizer.fit(table).sample(seed=1)
    before = synthesizer.sample(seed=5)
    pair = unveil.Pair(table, release)
    parts = halves(pair, synthesizer, repeats=6, seed=1)
    assert synthesizer.sample(seed=5).equals(before)  # it is still the one fitted to all records
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="t")
    for found in (identity.interval("process", halves=parts), *attribute.interval("process", halves=parts).values()):
        assert found.undefined is None
        assert 0 <= found.low <= found.value < found.high <= 100
        assert found.low < found.value or found.value == 0
    ladder = attribute.ladder(permutations=5, halves=parts)
    assert ladder.mean["DiSCO"].process_interval == pytest.approx(
        [getattr(attribute.interval("process", halves=parts)["DiSCO"], end) for end in ("low", "high")]
    )
    assert not any(name.endswith("process_interval") for name in ladder.undefined)


def test_parts_do_not_depend_on_the_order_of_records() -> None:
    table = people(50, 1)
    release = people(50, 2)
    mixed = table.take(np.random.default_rng(3).permutation(50))
    pairs = [unveil.Pair(one, release) for one in (table, mixed)]
    found = [
        unveil.attribute(pair, KEYS, target="t").interval("process", halves=halves(pair, maker(), repeats=3, seed=4))
        for pair in pairs
    ]
    assert found[0] == found[1]
    again = [resamples(pair, maker(), repeats=3, seed=4) for pair in pairs]
    for one, two in zip(*again, strict=True):
        assert (np.sort(one.column("a").original) == np.sort(two.column("a").original)).all()
        assert (one.column("t").releases[0] == two.column("t").releases[0]).all()


def test_a_function_of_a_frame_is_a_synthesizer_too() -> None:
    table = people(40, 1)
    pair = unveil.Pair(table, table.slice(0, 40))
    ((one, other), *_) = halves(pair, lambda frame: frame, repeats=2, seed=1)
    for part in (one, other):
        assert (np.sort(part.column("a").original) == np.sort(part.column("a").releases[0])).all()


@pytest.mark.parametrize("make", [halves, resamples])
def test_wrong_calls_of_parts(make: Any) -> None:
    pair = unveil.Pair(people(20, 1), people(20, 2))
    for option in ({"repeats": 1}, {"repeats": True}, {"repeats": 2.5}, {"seed": -1}):
        with pytest.raises(unveil.CallError, match="whole number"):
            make(pair, maker(), **option)
    with pytest.raises(unveil.CallError, match="a synthesizer is"):
        make(pair, 3)
    alone = unveil.Pair(people(1, 1), people(5, 2))
    with pytest.raises(unveil.CallError, match="one record"):
        make(alone, maker())
