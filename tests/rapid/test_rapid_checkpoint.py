"""A call of RAPID that is interrupted and repeated ends as one that was not; what it keeps says nothing of a record."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called
from unveil._rapid import attack
from unveil.models.learners import fit_attacker

KEYS = ["age", "income"]
INTERRUPTED = 130


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    """An original of simulated persons and two releases."""
    people = [unveil.simulate.rapid_population(90, kappa=10, seed=seed) for seed in (1, 2, 3)]
    return unveil.Pair(people[0], people[1:])


class Counting:
    """Trains attackers, counts them, and is interrupted before a number of them is exceeded."""

    def __init__(self, most: int = 10**9):
        self.trained, self.most = 0, most

    def __call__(self, *given: Any) -> Any:
        if self.trained == self.most:
            raise KeyboardInterrupt
        self.trained += 1
        return fit_attacker(*given)


def measured(pair: unveil.Pair, folder: Path | None = None, **options: Any) -> Any:
    asked = {"target": "disease_status", "attacker": ["cart", "logit"], "permutations": 3, "folds": 2, "seed": 5}
    return unveil.rapid(pair, KEYS, **{**asked, **options}, checkpoint=folder)


# Two attackers with a ceiling of two folds, and on two releases an attack and three shuffles: 20 models.
@pytest.mark.parametrize("at", [0, 1, 3, 7, 19])
def test_a_call_that_is_continued_ends_as_one_that_was_not_interrupted(
    pair: unveil.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
):
    folder = tmp_path / "kept"
    monkeypatch.setattr(attack, "fit_attacker", Counting(at))
    with pytest.raises(KeyboardInterrupt):
        measured(pair, folder)
    again = Counting()
    monkeypatch.setattr(attack, "fit_attacker", again)
    told: list[tuple[int, int]] = []
    found = measured(pair, folder, progress=lambda done, total, _: told.append((done, total)))
    whole = measured(pair)
    assert found.to_dict(curve=True) == whole.to_dict(curve=True)
    assert str(found) == str(whole)
    assert told == [(done, 20) for done in range(1, 21)]


def test_what_is_finished_is_not_done_again(pair: unveil.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    measured(pair, tmp_path)
    again = Counting()
    monkeypatch.setattr(attack, "fit_attacker", again)
    measured(pair, tmp_path)
    # The attack on each of two releases by each of two attackers: its model is a part of the result.
    assert again.trained == 4
    measured(pair, tmp_path, permutations=4)
    assert again.trained == 4 + 8
    measured(pair, tmp_path, tau=0.6)
    assert again.trained == 12 + 4


@pytest.mark.parametrize(
    "options",
    [{"seed": 6}, {"scoring": "nce"}, {"target": "gender"}, {"most_records": 50}, {"kind": "categorical", "folds": 3}],
)
def test_what_belongs_to_another_question_is_not_taken(pair: unveil.Pair, tmp_path: Path, options: dict[str, Any]):
    measured(pair, tmp_path)
    assert measured(pair, tmp_path, **options).to_dict() == measured(pair, **options).to_dict()


def test_what_belongs_to_other_files_is_not_taken(pair: unveil.Pair, tmp_path: Path):
    measured(pair, tmp_path)
    other = unveil.Pair(unveil.simulate.rapid_population(90, kappa=10, seed=9), pair.releases)
    assert measured(other, tmp_path).to_dict() == measured(other).to_dict()


def test_several_targets_and_continuous_ones_share_a_folder(
    pair: unveil.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = {"target": None, "targets": ["disease_status", "health_score"], "attacker": "cart"}
    first = measured(pair, tmp_path, **asked)
    again = Counting()
    monkeypatch.setattr(attack, "fit_attacker", again)
    second = measured(pair, tmp_path, **asked)
    assert [one.to_dict() for one in second] == [one.to_dict() for one in first]
    assert again.trained == 4


def test_both_sizes_of_a_large_forest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("unveil._rapid.null.SMALL", 50)
    people = [unveil.simulate.rapid_population(60, kappa=10, seed=seed) for seed in (1, 2)]
    forest = {"attacker": "rf", "permutations": 2, "ceiling": False, "most_records": 55}
    first = measured(unveil.Pair(*people), tmp_path, **forest)
    assert measured(unveil.Pair(*people), tmp_path, **forest).to_dict() == first.to_dict()
    assert first.runs[0].null[0].half is not None
    assert len(first.runs[0].samples) == attack.SAMPLES


def test_files_are_private_and_hold_no_value_of_a_record(tmp_path: Path):
    people = pa.table({"job": ["Müller-Beruf", "Koch"] * 20, "age": [7001, 7002] * 20, "ill": ["Gicht", "nein"] * 20})
    unveil.rapid(unveil.Pair(people, people), ["job", "age"], target="ill", attacker="cart", checkpoint=tmp_path)
    paths = list(tmp_path.iterdir())
    assert paths
    for path in paths:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        content = path.read_bytes().decode()
        assert not any(text in content for text in ("Beruf", "Koch", "Gicht", "nein", "7001", "job", "ill"))


def test_a_damaged_part_is_told_and_worked_out_anew(pair: unveil.Pair, tmp_path: Path):
    whole = measured(pair, tmp_path)
    victim = sorted(tmp_path.iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:-9] + b"xxxxxxxxx")
    with pytest.warns(unveil.UnveilWarning, match="a finished part that is damaged"):
        assert measured(pair, tmp_path).to_dict() == whole.to_dict()


def test_a_folder_that_cannot_be_is_told_before_anything_is_trained(
    pair: unveil.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(attack, "fit_attacker", Counting(0))
    with pytest.raises(unveil.UnveilError, match="cannot be made a folder"):
        measured(pair, tmp_path / "file")


# ------------------------------------------------------------------------------------------------ the command line
@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("o.csv", 1), ("s.csv", 2)):
        csv.write_csv(unveil.simulate.rapid_population(90, kappa=10, seed=seed), name)
    Path("p.toml").write_text('[[rule]]\nmeasure = "repU"\nlimit = 100\n')

    def run(words: str) -> tuple[int, str, str]:
        return called(words.split(), monkeypatch, capsys)

    return run


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
def test_the_command_line_goes_on_where_it_was_interrupted(call: Any, monkeypatch: pytest.MonkeyPatch):
    words = "rapid o.csv s.csv --keys age,income --target disease_status --attacker cart --permutations 3"
    whole = call(words)
    monkeypatch.setattr(attack, "fit_attacker", Counting(7))
    status, out, err = call(f"{words} --checkpoint kept")
    assert (status, out) == (INTERRUPTED, "")
    assert "what was finished is kept in kept; repeat the call" in err
    again = Counting()
    monkeypatch.setattr(attack, "fit_attacker", again)
    assert call(f"{words} --checkpoint kept") == whole
    # A ceiling of five folds and an attack are followed by three shuffles, of which one was finished.
    assert again.trained == 1 + 2


VERBS = {
    "rapid": ("rapid o.csv s.csv --keys age --target disease_status", "unveil._rapid.rapid"),
    "posterior": ("posterior o.csv s.csv --target disease_status", "unveil._posterior.call.posterior"),
    "partial-knowledge": (
        "partial-knowledge o.csv s.csv --target disease_status", "unveil._intruders.partial_knowledge"
    ),
    "assess": ("assess o.csv s.csv --keys age", "unveil.assessment.run.assess"),
    "tune": ("tune o.csv --keys age --policy p.toml --seed 1", "unveil.tuning.tune"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_with_a_checkpoint_says_what_an_interruption_leaves(
    call: Any, monkeypatch: pytest.MonkeyPatch, verb: str
):
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    words, measure = VERBS[verb]
    monkeypatch.setattr(measure, interrupted)
    status, out, err = call(f"{words} --checkpoint kept")
    assert (status, out) == (INTERRUPTED, "")
    assert "interrupted: what was finished is kept in kept; repeat the call, and it goes on from there" in err
    assert "a call with --checkpoint keeps what is finished" in call(words)[2]
