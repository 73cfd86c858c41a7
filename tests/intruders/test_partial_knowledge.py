"""The function: curves, order of files, checkpoints, bad input, and what is shown."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import unveil
from intruders.small_worlds import small_file
from unveil._intruders import unknown_sets
from unveil._intruders.knowledge import random_sets
from unveil.errors import CallError, DataError, FileError, UnveilWarning

TABLE = small_file(120, 1)
SYNTHESIZER = unveil.CartSynthesizer(minbucket=5).fit(TABLE)
PAIR = unveil.Pair(TABLE, SYNTHESIZER.sample(seed=1))
SHARES = [1, 0.9, 0.5, 0]


def curve(pair=PAIR, records_known=SHARES, **options):
    return unveil.partial_knowledge(pair, SYNTHESIZER, **{"target": "y", "records_known": records_known} | options)


@pytest.fixture(scope="module")
def found():
    return curve()


def test_all_others_known_is_the_posterior(found):
    risk = unveil.posterior(PAIR, SYNTHESIZER, target="y", structure="fixed")
    assert found.points[0].mean_posterior == pytest.approx(risk.mean_posterior)
    of_persons = found.records().to_pylist()[:120]
    by_record = {one["record"]: one["posterior"] for one in of_persons}
    assert [by_record[r] for r in range(120)] == pytest.approx(risk.posteriors().posterior.tolist())


def test_points_of_the_curve(found):
    assert all(point.mean_prior == pytest.approx(1 / 3) for point in found.points)
    assert [point.n_unknown for point in found.points] == [1, 12, 60, 120]
    assert [point.n_sets for point in found.points] == [1, 2, 2, 1]


def test_a_larger_release_of_few_states_is_enumerated():
    one = curve(records_known=[0.97])
    assert one.points[0].n_unknown == 4
    assert one.points[0].method == "enumeration"
    assert one.points[0].monte_carlo_error == 0


def test_every_person_is_in_one_set_of_each_round():
    persons = np.arange(0, 50, 2)
    sets = list(random_sets(persons, 50, 7, np.random.default_rng(0)))
    assert sorted(np.concatenate([own for _, own in sets]).tolist()) == persons.tolist()
    for members, own in sets:
        assert np.unique(members).size == 7
        assert np.isin(own, members).all()


def test_persons_who_were_drawn_share_few_sets_of_random_persons():
    rng, beside = np.random.default_rng(5), np.zeros(12)
    for _ in range(2000):
        persons = np.sort(rng.permutation(12)[:5])
        sets = list(random_sets(persons, 12, 4, rng, drawn=True))
        assert [own.size for _, own in sets] == [4, 1]
        assert sorted(np.concatenate([own for _, own in sets]).tolist()) == persons.tolist()
        assert all(np.unique(members).size == 4 and np.isin(own, members).all() for members, own in sets)
        beside[sets[1][0]] += 1
    # Whoever is drawn, everybody is as often in the set of the last: 2000 times 4 of 12.
    assert np.abs(beside - 2000 / 3).max() < 5 * np.sqrt(2000 * 2 / 9)


def test_the_order_of_files_and_the_number_of_threads_change_nothing(found, monkeypatch):
    order = np.random.default_rng(3).permutation(120)
    release = PAIR.releases[0]
    shuffled = unveil.Pair(TABLE.take(order), release.part(np.random.default_rng(4).permutation(120)))
    monkeypatch.setattr("unveil._intruders.chains.n_threads", lambda n_jobs: 1)
    again = curve(shuffled)
    assert str(again) == str(found)
    rows = {(one["share_known"], int(order[one["record"]])): one["posterior"] for one in again.records().to_pylist()}
    for one in found.records().to_pylist():
        values = TABLE.slice(one["record"], 1)
        same = [p for (share, r), p in rows.items() if share == one["share_known"] and TABLE.slice(r, 1) == values]
        assert any(p == pytest.approx(one["posterior"], abs=1e-9) for p in same)


def test_another_seed_gives_other_draws(found):
    assert curve(records_known=[0.5], seed=1).points[0].mean_posterior != found.points[2].mean_posterior


def test_known_records_that_are_given(found):
    unknown = np.array([5, 17, 80])
    known = TABLE.take(np.setdiff1d(np.arange(120), unknown))
    one = curve(records_known=known)
    assert (one.points[0].n_unknown, one.n_persons) == (3, 3)
    rows = TABLE.to_pylist()
    left = [rows[row["record"]] for row in one.records().to_pylist()]
    assert sorted(map(str, left)) == sorted(str(rows[member]) for member in unknown)
    of_rows = curve(records_known=known.to_pylist(), persons=[5])
    assert of_rows.records().to_pylist()[0]["record"] == 5
    posterior = {str(rows[row["record"]]): row["posterior"] for row in one.records().to_pylist()}
    assert of_rows.records().to_pylist()[0]["posterior"] == pytest.approx(posterior[str(rows[5])])


def test_values_come_from_known_records_and_releases():
    """A value that only unknown persons have, and no release, is not in question."""
    y = ["rare", *["a", "b"] * 20]
    table = pa.table({"x": [f"x{i % 3}" for i in range(41)], "y": y})
    release = pa.table({"x": [f"x{i % 3}" for i in range(40)], "y": ["a", "b"] * 20})
    one = unveil.partial_knowledge(
        unveil.Pair(table, release), unveil.CartSynthesizer(minbucket=5), target="y", records_known=table.slice(2),
    )  # fmt: skip
    first, second = one.records().to_pylist()
    assert (first["record"], first["prior"], first["posterior"]) == (0, 0, 0)
    assert second["prior"] == pytest.approx(0.5)


@pytest.mark.parametrize("prior", ["marginal", "conditional"])
def test_priors_of_the_known_records(prior):
    """With all others known they are those of the posterior; changed values of unknown persons change nothing."""
    unknown = np.arange(30)
    known = TABLE.slice(30)
    one = curve(records_known=known, prior=prior, persons=unknown)
    changed = TABLE.slice(0, 30).set_column(2, "y", pa.array(["y0"] * 30))
    other = unveil.Pair(pa.concat_tables([changed, known]), PAIR.releases[0])
    again = unveil.partial_knowledge(
        other, SYNTHESIZER, target="y", records_known=known, prior=prior, largest_impossible=1.0, persons=unknown,
        check_settings=False,
    )  # fmt: skip
    before = {row["record"]: row["prior"] for row in one.records().to_pylist()}
    after = {row["record"]: row["prior"] for row in again.records().to_pylist()}
    same = [r for r in range(30) if TABLE.column("y")[r].as_py() == "y0"]
    if prior == "marginal":
        counts = known.column("y").to_pylist().count("y0")
        assert before[same[0]] == pytest.approx((counts + 1 / 3) / (90 + 1))
    assert [before[r] for r in same] == pytest.approx([after[r] for r in same])


def test_a_checkpoint_resumes(tmp_path, monkeypatch, found):
    path = tmp_path / "finished"
    answered = []
    answer = unknown_sets.Question.answer

    def failing(self, members, *rest):
        if len(answered) == 7:
            raise KeyboardInterrupt
        answered.append(members)
        return answer(self, members, *rest)

    monkeypatch.setattr(unknown_sets.Question, "answer", failing)
    with pytest.raises(KeyboardInterrupt):
        curve(checkpoint=path)
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(DataError, match="another run"):
        curve(checkpoint=path, seed=5)
    answered.clear()
    monkeypatch.setattr(unknown_sets.Question, "answer", lambda *args: answered.append(1) or answer(*args))
    assert str(curve(checkpoint=path)) == str(found)
    assert len(answered) == sum(len(range(0, 120, size)) for size in (12, 60)) * 2 + 1 - 7
    assert not path.exists()
    path.write_bytes(b"something else")
    with pytest.raises(FileError):
        curve(checkpoint=path)


def test_progress_counts_unknown_persons():
    told = []
    curve(records_known=[1, 0.5], progress=lambda *args: told.append(args))
    assert told[-1] == (360, 360, "50 % known")
    steps = [done for done, *_ in told]
    assert steps == sorted(set(steps))
    assert {120, 180, 240, 300, 360} < set(steps)


def test_what_has_not_mixed_gives_no_figure(monkeypatch):
    monkeypatch.setattr("unveil._intruders.chains.LARGEST_R_HAT", 0.5)
    with pytest.warns(UnveilWarning, match="50 % known: .* % of the persons have not mixed after 6400 sweeps"):
        one = curve(records_known=[1, 0.5], most_sweeps=400)
    point = one.points[1]
    assert point.refused
    assert np.isnan([point.mean_posterior, point.share_above_90, point.spread, point.monte_carlo_error]).all()
    assert point.share_not_mixed > 0.01
    assert " - " in str(one)
    assert json.loads(json.dumps(one.to_dict()))["points"][1]["mean_posterior"] is None
    assert all(np.isnan(row["posterior"]) for row in one.records().to_pylist() if row["share_known"] == 0.5)


def test_a_prior_that_rules_the_release_out_gives_no_figure():
    with pytest.warns(UnveilWarning, match="nothing that this prior allows can have given the release"):
        one = curve(records_known=[0], prior=[1, 0, 0])
    assert one.points[0].refused


def test_a_budget_that_does_not_suffice_is_refused(monkeypatch):
    monkeypatch.setattr(unknown_sets, "PATIENCE", 0.0)
    with pytest.raises(CallError, match=r"would take about .* seconds, and the budget is 0\.001"):
        curve(records_known=[0.5], budget=0.001)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"records_known": 1.5}, "records_known must be shares from 0 to 1, or the known records, not 1.5"),
        ({"records_known": [0.5, -0.1]}, "not -0.1"),
        ({"records_known": []}, "no share is given"),
        ({"records_known": True}, "not True"),
        ({"records_known": TABLE.select(["a", "y"])}, "no column 'b' in the known records"),
        ({"records_known": [{"a": "a0", "b": "b0", "y": "y0", "c": "c9"}]}, "row 0 of the known records is not a rec"),
        ({"records_known": [{"a": "a0"}, {"b": "b0"}]}, "records_known: row 1 and row 0 do not both have column 'a'"),
        ({"records_known": TABLE}, "nobody is left"),
        ({"records_known": TABLE.slice(0, 0)}, "there are no records in the known records; 0 is for"),
        ({"records_known": TABLE.slice(1), "persons": [1, 2]}, "is among the known records"),
        ({"structure": "fixed"}, "structure must be 'splits' or 'exact', not 'fixed'"),
        ({"target": "z"}, "no column 'z'"),
        ({"sets": 0}, "sets"),
        ({"sweeps": 3}, "sweeps"),
        ({"budget": 0}, "budget"),
        ({"target": "c", "withheld": ["c"]}, "no known record and no release holds a value of 'c'"),
        ({"prior": "marginal"}, "no record is known to take it from"),
    ],
)  # fmt: skip
def test_wrong_calls(options, message):
    with pytest.raises(CallError, match=message):
        curve(**options)


def test_synthesizers_that_cannot_be_walked():
    proper = unveil.CartSynthesizer(proper=True)
    with pytest.raises(CallError, match="needs a sequential CART whose trees can be walked"):
        unveil.partial_knowledge(PAIR, proper, target="y")
    with pytest.raises(CallError, match="no synthesizer with mixed donors"):
        unveil.partial_knowledge(PAIR, unveil.CartSynthesizer(mix=0.1), target="y", check_settings=False)
    twice = TABLE.append_column("again", TABLE.column("y"))
    pair = unveil.Pair(twice, unveil.CartSynthesizer().fit(twice).sample(seed=1))
    with pytest.raises(CallError, match="'again' is a recoding of 'y'"):
        unveil.partial_knowledge(pair, unveil.CartSynthesizer(), target="y")


def test_what_is_shown(found):
    text = str(found)
    assert text.startswith("Partial knowledge: y of 120 persons among 120 records, 3 values, prior uniform.")
    assert "NOT a calibrated posterior" in text
    assert "record" not in found.to_frame().column_names
    assert found.to_frame().column("share_known").to_pylist() == [1, 0.9, 0.5, 0]
    assert {"share_known", "record", "prior", "posterior", "spread", "mixed"} == set(found.records().column_names)


def test_the_curve_is_drawn(found):
    ax = found.plot()
    assert [line.get_label() for line in ax.lines] == [
        "mean posterior of the truth", "persons above 90 %", "mean prior",
    ]  # fmt: skip
    assert ax.lines[0].get_ydata() == pytest.approx([point.mean_posterior for point in found.points])
