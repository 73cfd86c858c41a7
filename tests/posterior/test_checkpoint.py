"""A checkpoint that is damaged, of another run, or no file is refused in one sentence; whole ones are gone on from."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import zipfile
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import Prior, posterior
from unveil._posterior.checkpoint import MAGIC, Checkpoint
from unveil._posterior.posterior_of_records import Posteriors
from unveil._posterior.refit import quietly
from unveil.errors import DataError, FileError, UnveilError
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod


def survey(n=90, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(1)
    return pa.table(
        {"sex": rng.choice(["f", "m"], n), "x": x + shift, "ill": np.where(x + rng.normal(size=n) > 1, "yes", "no")}
    )


@pytest.fixture(scope="module")
def synthesizer():
    return quietly(CartSynthesizer(minbucket=3), survey())


@pytest.fixture(scope="module")
def pair(synthesizer):
    return unveil.Pair(survey(), synthesizer.sample(seed=1))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(import_module("unveil._posterior.posterior_of_records"), "FEW_RECORDS", 10)
    monkeypatch.setattr(import_module("unveil._posterior.checkpoint"), "SECONDS", 0.0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves a second each time that it is asked."""
    run, now = import_module("unveil._posterior.run"), [0.0]

    class Time:
        @staticmethod
        def monotonic():
            now[0] += 1.0
            return now[0]

    monkeypatch.setattr(run, "time", Time)


def interrupted(pair, synthesizer, path, after=30, **options):
    """A run that is stopped."""

    def stop(done, total, name):
        if done > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        posterior(pair, synthesizer, target="ill", progress=stop, checkpoint=path, **options)
    return path


def block(members, n_values=2, seed=0):
    rng = np.random.default_rng(seed)
    r = len(members)
    ints = [rng.integers(0, 2, r) for _ in range(4)]
    floats = [rng.random(r) for _ in range(3)]
    return Posteriors(
        np.array(members), ints[0], floats[0], floats[1], ints[1], floats[2], ints[2], rng.random(r) < 0.5, ints[3],
        ("ill", "x"), rng.random((r, n_values)),
    )  # fmt: skip


@pytest.fixture
def kept(tmp_path):
    """A checkpoint of two tasks, and how it is opened."""
    path = tmp_path / "run.checkpoint"
    made = Checkpoint(path, "this run", np.arange(40), 2)
    made.store((0, "exact"), block(range(10)))
    made.store((0, "exact"), block(range(10, 25), seed=1))
    made.store((1, "fixed"), block([3, 39], seed=2))
    made.write()
    return path


def opened(path, run="this run"):
    return Checkpoint(path, run, np.arange(40), 2)


def refused(path, match="damaged|no checkpoint"):
    before = path.read_bytes()
    with pytest.raises(FileError, match=match) as caught:
        opened(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_what_is_kept_comes_back(kept):
    found = opened(kept)
    one = found.done((0, "exact"))
    wanted = Posteriors.joined([block(range(10)), block(range(10, 25), seed=1)])
    for name in ("members", "posterior", "must_fill", "probabilities", "parts"):
        assert np.array_equal(getattr(one, name), getattr(wanted, name)), name
    assert found.done((1, "fixed")).members.tolist() == [3, 39]
    assert found.done((1, "exact")) is None
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_every_changed_byte_is_told(kept):
    whole = kept.read_bytes()
    rng = np.random.default_rng(1)
    early = range(len(MAGIC) + 200)
    places = {*early, *rng.integers(0, len(whole), 250).tolist()}
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        kept.write_bytes(bytes(changed))
        refused(kept)


def test_every_shorter_or_longer_file_is_told(kept):
    whole = kept.read_bytes()
    for length in {*range(300), *np.random.default_rng(2).integers(300, len(whole), 100).tolist()}:
        kept.write_bytes(whole[:length])
        refused(kept)
    kept.write_bytes(whole + b"\0")
    refused(kept)


def test_exchanged_parts_are_told(kept):
    whole = kept.read_bytes()
    begin = whole.index(b"\n", whole.index(b"\n", len(MAGIC)) + 1) + 1
    rng = np.random.default_rng(3)
    for _ in range(100):
        a, b = sorted(rng.choice((len(whole) - begin) // 8 - 1, 2, replace=False) * 8 + begin)
        changed = bytearray(whole)
        changed[a : a + 8], changed[b : b + 8] = whole[b : b + 8], whole[a : a + 8]
        if bytes(changed) != whole:
            kept.write_bytes(bytes(changed))
            refused(kept)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"n": 25', b'"n": 52'),
        (b'"n": 25', b'"n": -5'),
        (b'"n": 25', b'"n": 1e99'),
        (b'"n": 25', b'"n": 4611686018427387904'),
        (b'"n_values": 2', b'"n_values": 200000000000'),
        (b'"members"', b'"prior"'),
        (b'"tasks": [', b'"tasks": [[], '),
        (b'"group": 0', b'"group": {}'),
        (b'"arrays"', b'"array"'),
        (b'{"run"', b"[" * 100_000 + b'{"run"'),
        (b'{"run"', b"9" * 10_000 + b'{"run"'),
    ],
)
def test_another_description_is_told(kept, old, new):
    """Also with a digest that fits it."""
    whole = kept.read_bytes()
    assert old in whole
    kept.write_bytes(whole.replace(old, new, 1))
    refused(kept)
    body = whole[len(MAGIC) + 65 :].replace(old, new, 1)
    kept.write_bytes(MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    refused(kept)


def test_records_that_are_not_asked_for_are_told(kept):
    with pytest.raises(FileError, match="damaged"):
        Checkpoint(kept, "this run", np.arange(20), 2)


def test_other_files_are_neither_read_nor_replaced(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("run.npy", bytes(50_000_000))
    earlier = io.BytesIO()
    np.savez(earlier, run=np.array("x"))
    for i, content in enumerate([b"", b"age,sex\n1,f\n", archive.getvalue(), earlier.getvalue(), b"\x80\x04."]):
        path = tmp_path / f"{i}"
        path.write_bytes(content)
        refused(path, "no checkpoint")


def test_what_is_no_file_is_refused_at_once(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    os.symlink("/dev/zero", link)
    for path in (tmp_path, pipe, link):
        with pytest.raises(FileError, match="not a file"):
            opened(path)
    with pytest.raises(FileError):
        opened(tmp_path / "no folder" / "run")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()


def test_of_another_run(kept):
    before = kept.read_bytes()
    with pytest.raises(DataError, match="of another run"):
        opened(kept, "that run")
    assert kept.read_bytes() == before


def same(one, other):
    for name in one.structures:
        a, b = one.posteriors(0, name), other.posteriors(0, name)
        assert (a.members == b.members).all()
        for figure in ("prior", "posterior", "likeliest", "possible_worlds", "must_fill", "part", "probabilities"):
            assert (getattr(a, figure) == getattr(b, figure)).all(), figure


def test_a_run_with_a_limit_goes_on_without_one(pair, synthesizer, tmp_path, small_blocks, clock):
    path, whole = tmp_path / "run", posterior(pair, synthesizer, target="ill")
    some = posterior(pair, synthesizer, target="ill", time_limit=12.0, checkpoint=path)
    assert some.selection.stopped
    assert path.exists()
    rest = posterior(pair, synthesizer, target="ill", checkpoint=path)
    same(rest, whole)
    assert not path.exists()


def test_a_run_without_a_limit_goes_on_with_one(pair, synthesizer, tmp_path, small_blocks, clock):
    """What it gives is a random sample all the same: the first records of the random order."""
    path, whole = tmp_path / "run", posterior(pair, synthesizer, target="ill", structure="exact")
    interrupted(pair, synthesizer, path, structure="exact")
    with_it = posterior(pair, synthesizer, target="ill", structure="exact", time_limit=10.0, checkpoint=path)
    n = with_it.posteriors().members.size
    assert 1 < n < 90
    order = import_module("unveil._posterior.checked_options")._by_value(np.arange(90), pair)
    drawn = np.random.default_rng([0, 17]).permutation(order)[:n]
    assert sorted(drawn) == with_it.posteriors().members.tolist()
    assert with_it.posteriors().posterior == pytest.approx(whole.posteriors().posterior[np.sort(drawn)], abs=0)
    longer = posterior(pair, synthesizer, target="ill", structure="exact", time_limit=1e9, checkpoint=path)
    same(longer, whole)
    assert not path.exists()


def test_finished_records_are_not_worked_out_again(pair, synthesizer, tmp_path, small_blocks, monkeypatch):
    path = interrupted(pair, synthesizer, tmp_path / "run", structure="exact")
    run, asked = import_module("unveil._posterior.run"), []
    weigh = run._posteriors_apart

    def counted(likelihoods, outcomes, members, n_members):
        asked.extend(members.tolist())
        return weigh(likelihoods, outcomes, members, n_members)

    monkeypatch.setattr(run, "_posteriors_apart", counted)
    posterior(pair, synthesizer, target="ill", structure="exact", checkpoint=path)
    assert asked == list(range(40, 90))


OPTIONS = {"structure": "exact", "prior": [0.3, 0.7], "records": list(range(80))}


@pytest.mark.parametrize(
    "other",
    [
        {"prior": [0.31, 0.69]},
        {"prior": Prior([0.3, 0.7], given=["sex", "x"])},
        {"prior": "uniform"},
        {"candidates": ["no", "yes"]},
        {"records": list(range(79))},
        {"structure": "both"},
        {"seed": 1},
        {"intruder_errors": 1},
        {"releases": "each", "pair": "two"},
        {"known": ["x"]},
        {"pair": "moved"},
        {"pair": "another release"},
        {"synthesizer": {"minbucket": 4}},
        {"synthesizer": {"minbucket": 3, "methods": {"ill": CartMethod(minbucket=4)}}},
        {"synthesizer": {"minbucket": 3, "methods": {"ill": "sample"}}},
    ],
)
def test_other_questions_are_told_apart(pair, synthesizer, tmp_path, small_blocks, other):
    """Moved values have the same codes, and methods of the same class other settings."""
    path = interrupted(pair, synthesizer, tmp_path / "run", **OPTIONS)
    options = {**OPTIONS, **{name: value for name, value in other.items() if name not in ("pair", "synthesizer")}}
    release = pair.releases[0]
    files = {
        "two": lambda: unveil.Pair(survey(), [release, synthesizer.sample(seed=2)]),
        "moved": lambda: unveil.Pair(survey(shift=1.0), quietly(synthesizer, survey(shift=1.0)).sample(seed=1)),
        "another release": lambda: unveil.Pair(survey(), synthesizer.sample(seed=2)),
    }
    used = files.get(other.get("pair"), lambda: pair)()
    maker = quietly(CartSynthesizer(**other["synthesizer"]), survey()) if "synthesizer" in other else synthesizer
    with pytest.raises(DataError, match="of another run"):
        posterior(used, maker, target="ill", checkpoint=path, check_settings=False, largest_impossible=1.0, **options)
    assert path.exists()
    resumed = posterior(pair, synthesizer, target="ill", checkpoint=path, **OPTIONS)
    same(resumed, posterior(pair, synthesizer, target="ill", **OPTIONS))


def test_withheld_and_replicates_are_told_apart(pair, synthesizer, tmp_path, small_blocks):
    path = interrupted(pair, synthesizer, tmp_path / "run")
    with pytest.raises(DataError, match="of another run"):
        posterior(pair, synthesizer, target="ill", withheld=["ill"], checkpoint=path)
    maker = CartSynthesizer(methods={"ill": "rf"}).fit(survey())
    drawn = unveil.Pair(survey(), maker.sample(seed=1))
    interrupted(drawn, maker, tmp_path / "other", after=0, records=[0, 1], replicates=2)
    with pytest.raises(DataError, match="of another run"):
        posterior(drawn, maker, target="ill", records=[0, 1], replicates=3, checkpoint=tmp_path / "other")


def test_a_damaged_checkpoint_ends_the_call_in_one_sentence(pair, synthesizer, tmp_path, small_blocks):
    path = interrupted(pair, synthesizer, tmp_path / "run")
    whole = path.read_bytes()
    for changed in (whole[:-1], whole[:100], whole[:-20] + bytes(20), b""):
        path.write_bytes(changed)
        with pytest.raises(UnveilError, match="remove it") as caught:
            posterior(pair, synthesizer, target="ill", checkpoint=path)
        assert "\n" not in str(caught.value)
