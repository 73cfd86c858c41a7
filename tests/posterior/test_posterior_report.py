"""What a report needs: figures without records, a limit of time, and how the records were chosen."""

from __future__ import annotations

import json
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import posterior
from unveil._posterior.refit import quietly
from unveil.errors import CallError, UnveilWarning
from unveil.synthesis import CartSynthesizer


def survey(n=150, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pa.table(
        {
            "sex": pa.array(rng.choice(["f", "m"], n)),
            "age": pa.array((40 + 10 * x).round().astype(int)),
            "ill": pa.array(np.where(x + rng.normal(size=n) > 1, "yes", "no")),
            "job": pa.array(["rare", *rng.choice(["a", "b"], n - 1)]),
        }
    )


@pytest.fixture(scope="module")
def made():
    original = survey()
    synthesizer = quietly(CartSynthesizer(minbucket=3), original)
    return unveil.Pair(original, synthesizer.sample(m=2, seed=1)), synthesizer


@pytest.fixture
def clock(monkeypatch):
    """A clock by which every look takes a second."""

    class Clock:
        now = 0.0

        @classmethod
        def monotonic(cls):
            cls.now += 1.0
            return cls.now

    monkeypatch.setattr(import_module("unveil._posterior.run"), "time", Clock)


def test_all_that_a_report_needs(made):
    pair, synthesizer = made
    risk = posterior(pair, synthesizer, target="ill", releases="both")
    disco = unveil.attribute(pair, ["sex", "age"], target="ill")
    found = risk.to_dict(by=["sex", "job"], beside=[disco], threshold=0.4)
    json.dumps(found, allow_nan=False)
    assert found["labels"][0] == "2 releases pooled"
    assert found["groups"] == [[0, 1], [0], [1]]
    assert found["strongest"] == "exact"
    assert found["records"] == {
        "chosen": "all", "by": "", "n_asked": 150, "n_done": {"fixed": 150, "exact": 150}, "time_limit": None,
        "stopped": False,
    }  # fmt: skip
    for r, release in enumerate(found["releases"]):
        for structure, figures in release.items():
            posteriors = risk.posteriors(r, structure)
            gain = (posteriors.posterior - 0.5) / 0.5
            assert figures["mean_posterior"] == pytest.approx(posteriors.posterior.mean())
            assert figures["mean_prior"] == 0.5
            assert figures["mean_normalised_gain"] == pytest.approx(gain.mean())
            assert figures["share_above_half"] == pytest.approx(np.mean(posteriors.posterior > 0.5))
            assert figures["share_above_90"] == pytest.approx(np.mean(posteriors.posterior > 0.9))
            assert figures["share_certain"] == pytest.approx(np.mean(posteriors.posterior >= 0.999999))
            assert figures["normalised_gain_quantiles"]["0.5"] == pytest.approx(np.median(gain))
            for name in ("gain_bits_histogram", "normalised_gain_histogram"):
                assert sum(figures[name]["counts"]) == 150
                assert len(figures[name]["edges"]) == len(figures[name]["counts"]) + 1
            assert figures["n_truth_ruled_out"] == 0
    jobs = {row["level"]: row for row in found["subgroups"]["job"][0]}
    assert sum(row["n"] for row in jobs.values()) == 150
    assert (jobs["rare"]["n"], jobs["rare"]["mean_posterior"]) == (1, None)
    own = np.array(pair.original.column("job").to_pylist()) == "a"
    assert jobs["a"]["mean_posterior"] == pytest.approx(risk.posteriors().posterior[own].mean())
    table = found["cross"][0][0]
    assert table["name"] == "DiSCO"
    assert table["both"] + table["only_posterior"] == (risk.posteriors().normalised_gain > 0.4).sum()
    assert table["both"] + table["only_flag"] == sum(
        a or b for a, b in zip(*(disco.records(r, flavour="arrow")["disco"].to_pylist() for r in (0, 1)), strict=True)
    )
    assert not {"record", "truth", "posterior", "likeliest"} & set(map(str, _keys(found)))


def _keys(found):
    for key, value in found.items() if isinstance(found, dict) else ():
        yield key
        yield from _keys(value)
    for value in found if isinstance(found, list) else ():
        yield from _keys(value)


def test_a_truth_that_is_ruled_out_has_no_gain_in_bits(made):
    pair, synthesizer = made
    prior = np.zeros((150, 2))
    ill = np.array(pair.original.column("ill").to_pylist()) == "yes"
    prior[np.arange(150), (~ill).astype(int)] = 1.0
    risk = posterior(pair, synthesizer, target="ill", prior=prior, structure="fixed")
    figures = risk.to_dict()["releases"][0]["fixed"]
    assert figures["n_truth_ruled_out"] == 150
    assert figures["expected_gain_bits"] is None


def test_pooled_and_each_are_those_of_single_calls(made):
    pair, synthesizer = made
    both = posterior(pair, synthesizer, target="ill", releases="both", structure="fixed")
    pooled = posterior(pair, synthesizer, target="ill", structure="fixed")
    each = posterior(pair, synthesizer, target="ill", releases="each", structure="fixed")
    assert both.mean_posterior == pooled.mean_posterior
    assert (both.posteriors(0).posterior == pooled.posteriors().posterior).all()
    assert (both.posteriors(2).posterior == each.posteriors(1).posterior).all()


@pytest.mark.parametrize("structure", ["fixed", "exact", "both"])
def test_time_limit_keeps_a_random_sample(made, clock, structure):
    pair, synthesizer = made
    whole = posterior(pair, synthesizer, target="ill", structure=structure)
    some = posterior(pair, synthesizer, target="ill", structure=structure, time_limit=12)
    again = posterior(pair, synthesizer, target="ill", structure=structure, time_limit=12)
    other = posterior(pair, synthesizer, target="ill", structure=structure, time_limit=12, seed=1)
    assert some.selection.stopped
    assert "Time ran out" in str(some)
    for name in some.structures:
        done = some.posteriors(0, name).members
        assert 1 < done.size < 150
        assert some.selection.n_done[name] == done.size
        assert (np.diff(done) > 0).all()
        assert done.tolist() == again.posteriors(0, name).members.tolist()
        assert done.tolist() != other.posteriors(0, name).members.tolist()
        assert (some.posteriors(0, name).posterior == whole.posteriors(0, name).posterior[done]).all()
        assert some.records(structure=name, flavour="arrow").num_rows == done.size


def test_more_time_works_out_more_of_the_same(made, clock):
    pair, synthesizer = made
    less, more = (
        posterior(pair, synthesizer, target="ill", structure="exact", time_limit=t).posteriors().members
        for t in (5, 20)
    )
    assert less.size < more.size
    assert set(less) < set(more)


@pytest.mark.parametrize("seconds_per_record", [0.001, 0.03, 0.4, 3.0])
@pytest.mark.parametrize("structure", ["fixed", "exact"])
def test_time_limit_is_kept_whatever_a_record_takes(made, monkeypatch, structure, seconds_per_record):
    pair, synthesizer = made
    run = import_module("unveil._posterior.run")
    now, sizes = [0.0], []
    work = run._posteriors_apart

    def slow(likelihoods, outcomes, members, n_members):
        sizes.append(members.size)
        # The first record waits until the trees are fitted.
        now[0] += 100 if len(sizes) == 1 else 0.001 + members.size * seconds_per_record
        return work(likelihoods, outcomes, members, n_members)

    monkeypatch.setattr(run, "_posteriors_apart", slow)
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now[0]))
    some = posterior(pair, synthesizer, target="ill", structure=structure, time_limit=2.0)
    taken = now[0] - 100
    assert taken <= max(4.0, seconds_per_record)
    assert sizes[:2] == [1, 1]
    if seconds_per_record < 2.0 / 150:
        assert some.posteriors().members.size == 150
        assert len(sizes) < 8
    else:
        assert taken >= 1.5
        assert some.selection.stopped
    whole = posterior(pair, synthesizer, target="ill", structure=structure)
    done = some.posteriors()
    assert (done.posterior == whole.posteriors().posterior[done.members]).all()


def test_a_first_record_that_takes_all_the_time_is_the_only_one(monkeypatch):
    original = survey(40)
    synthesizer = quietly(CartSynthesizer(minbucket=3, surrogates=1), original)
    pair = unveil.Pair(original, synthesizer.sample(seed=1))
    run = import_module("unveil._posterior.run")
    now = [0.0]
    work = run._posteriors_apart

    def slow(*arguments):
        now[0] += 100
        return work(*arguments)

    monkeypatch.setattr(run, "_posteriors_apart", slow)
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for seconds, expected in ((10, 1), (150, 2)):
        with pytest.warns(UnveilWarning, match="surrogate splits are used: columns .* are fitted anew"):
            some = posterior(pair, synthesizer, target="sex", time_limit=seconds)
        assert some.posteriors().members.size == expected


def test_least_time_works_out_one_record(made):
    pair, synthesizer = made
    risk = posterior(pair, synthesizer, target="ill", structure="exact", time_limit=1e-9)
    assert risk.posteriors().members.size == 1
    with pytest.raises(CallError, match="number of seconds above 0"):
        posterior(pair, synthesizer, target="ill", time_limit=0)


def test_a_run_without_time_goes_on(made, tmp_path):
    pair, synthesizer = made
    path = tmp_path / "run.npz"
    first = posterior(pair, synthesizer, target="ill", structure="exact", time_limit=1e-9, checkpoint=path)
    assert first.selection.stopped
    assert path.exists()
    rest = posterior(pair, synthesizer, target="ill", structure="exact", time_limit=1e9, checkpoint=path)
    assert not rest.selection.stopped
    assert not path.exists()
    whole = posterior(pair, synthesizer, target="ill", structure="exact")
    assert (rest.posteriors().posterior == whole.posteriors().posterior).all()


def test_how_records_were_chosen(made):
    pair, synthesizer = made
    disco = unveil.attribute(pair, ["sex", "age"], target="ill")
    flagged = np.zeros(150, dtype=bool)
    for r in (0, 1):
        flagged |= np.array(disco.records(r, flavour="arrow")["disco"].to_pylist())

    def chosen(**options):
        risk = posterior(pair, synthesizer, target="ill", structure="fixed", **options)
        return risk.posteriors().members, risk.to_dict()["records"]

    members, how = chosen(records=disco)
    assert members.tolist() == np.flatnonzero(flagged).tolist()
    assert (how["chosen"], how["by"]) == ("screened", "DiSCO")
    assert chosen(records=flagged)[1]["chosen"] == "screened"
    assert chosen(records=[1, 5])[1]["chosen"] == "given"
    members, how = chosen(sample=20, seed=3)
    assert members.tolist() == chosen(sample=20, seed=3)[0].tolist() != chosen(sample=20, seed=4)[0].tolist()
    assert (members.size, how["chosen"], how["by"]) == (20, "sampled", "20 at random, seed 3")
    assert set(chosen(records=disco, sample=5)[0]) < set(np.flatnonzero(flagged))
    with pytest.raises(CallError, match="sample must be a whole number from 1"):
        chosen(sample=0)


@pytest.mark.parametrize(("target", "attacker"), [("ill", "cart"), ("age", "lm")])
def test_cross_table_with_rapid(made, attacker, target):
    pair, synthesizer = made
    keys = [name for name in pair.names if name != target]
    rapid = unveil.rapid(pair, keys, target=target, attacker=attacker, permutations=0, ceiling=False)
    flags = [np.array(rapid.records(r, flavour="arrow")["at_risk"].to_pylist()) for r in (0, 1)]
    assert 0 < flags[0].sum() < 150
    risk = posterior(pair, synthesizer, target=target, releases="both", structure="fixed")
    for entry, flagged in enumerate([flags[0] | flags[1], *flags]):
        table = risk.cross(rapid, release=entry)
        at_risk = risk.posteriors(entry).normalised_gain > 0.3
        assert table.name == "RAPID"
        assert (table.both, table.only_posterior) == ((at_risk & flagged).sum(), (at_risk & ~flagged).sum())
        assert (table.only_flag, table.neither) == ((~at_risk & flagged).sum(), (~at_risk & ~flagged).sum())
    assert risk.to_dict(beside=[rapid])["cross"][0][0]["name"] == "RAPID"


def mixed(pair, seed):
    """The same files with their records in another order, and where each original record went."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(pair.n_original)
    original = pa.table({name: pair.original.column(name) for name in pair.original.names}).take(pa.array(order))
    releases = [pa.table({name: one.column(name) for name in one.names}) for one in pair.releases]
    return unveil.Pair(original, [one.take(pa.array(rng.permutation(one.num_rows))) for one in releases]), order


@pytest.mark.parametrize("options", [{"sample": 40}, {"sample": 40, "time_limit": 1e6}, {"intruder_errors": 5}])
def test_what_is_drawn_does_not_depend_on_the_order_of_records(made, options):
    pair, synthesizer = made
    other, _ = mixed(pair, 1)
    one, two = (posterior(files, synthesizer, target="ill", seed=3, **options) for files in (pair, other))
    # Persons who are equal in all values are one and the same to this question.
    persons = [pa.table({n: p.original.column(n) for n in p.original.names}).to_pylist() for p in (pair, other)]
    first, second = (
        sorted(
            (*map(str, person[m].values()), round(float(value), 9)) for m, value in zip(members, values, strict=True)
        )
        for person, members, values in [
            (persons[0], one.posteriors().members, one.posteriors().posterior),
            (persons[1], two.posteriors().members, two.posteriors().posterior),
        ]
    )
    assert first == second
    for name, value in one.releases[0][one.structures[-1]].items():
        assert two.releases[0][one.structures[-1]][name] == pytest.approx(value, abs=1e-12), name


def test_advice_does_not_depend_on_the_order_of_records(made):
    pair, synthesizer = made
    given = np.tile([0.3, 0.7], (pair.n_original, 1))
    given[::3] = 0.5
    for prior in ("uniform", given):
        advices = []
        for files, order in ((pair, np.arange(pair.n_original)), mixed(pair, 2)):
            risk = posterior(files, synthesizer, target="ill", structure="fixed",
                             prior=prior if isinstance(prior, str) else prior[order])  # fmt: skip
            advices.append(risk.advice(minbucket=[10], cp=[], merge=[], noise=[0.3], most_records=30, threshold=0.1))
        first, second = (one.to_dict() for one in advices)
        assert first["n_at_risk"] > 30
        assert [row["setting"] for row in first["rows"]] == [row["setting"] for row in second["rows"]]
        for one, two in zip(first["rows"], second["rows"], strict=True):
            assert one["mean_posterior"]["fixed"] == pytest.approx(two["mean_posterior"]["fixed"], abs=1e-12)
            assert one["mean_prior"] == pytest.approx(two["mean_prior"], abs=1e-12)
            assert one["share_certain"] == two["share_certain"]


class Draws:
    """A synthesizer without a likelihood that draws records by their place."""

    def fit(self, frame):
        self.table = unveil.read(frame)
        return self

    def sample(self, n, seed):
        rows = np.random.default_rng(seed).integers(self.table.num_rows, size=n)
        return pa.table({name: self.table.column(name) for name in self.table.names}).take(pa.array(rows))


def test_simulation_does_not_depend_on_the_order_of_records():
    original = survey(40).select(["sex", "ill"])
    pair = unveil.Pair(original, Draws().fit(original).sample(40, seed=1))
    other, order = mixed(pair, 3)
    with pytest.warns(UnveilWarning, match="weak lower bound"):
        one = posterior(pair, Draws(), target="ill", records=[5], replicates=6)
    with pytest.warns(UnveilWarning, match="weak lower bound"):
        two = posterior(other, Draws(), target="ill", records=[int(np.flatnonzero(order == 5)[0])], replicates=6)
    assert one.posteriors().posterior == pytest.approx(two.posteriors().posterior, abs=1e-12)
    assert one.monte_carlo_error == pytest.approx(two.monte_carlo_error, abs=1e-12)
