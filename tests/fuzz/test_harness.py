"""The harness itself: what must not be is noticed, and sound files are read as their own library reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import strict
from fuzz.campaign import campaign
from fuzz.damage import KINDS, damaged
from fuzz.documents import DOCUMENTS, prepare
from fuzz.seeds import ENDINGS, seeds_of
from fuzz.worker import guarded, outcome
from unveil.errors import FileError


def test_every_way_that_must_not_be_is_noticed():
    found = campaign("planted", 0, 10, seconds=5)
    expected = {"files": 10, "read": 2, "refused": 1, "compared": 3, "different": 1, "traceback": 3, "signal": 1,
                "end": 1, "hang": 1}  # fmt: skip
    assert {word: found.counts[word] for word in expected} == expected
    assert sorted(found.bad) == [2, 3, 4, 5, 6, 7, 8]
    for number, words in {
        2: "an error of several lines", 3: "does not name the file", 4: "IndexError: list index out of range",
        5: "age, record 2: 32 for '31'", 6: "signal: reader, status -11", 7: "end: reader, status 3",
        8: "hang: reader, more than 5 s",
    }.items():  # fmt: skip
        assert words in found.bad[number]


def test_a_worker_that_cannot_begin_is_noticed():
    found = campaign("no such document", 0, 3)
    assert found.counts["end"] == 3
    assert "KeyError" in found.bad[0]


def test_the_same_seed_gives_the_same_damage():
    content = bytes(range(256)) * 8
    for seed in map(str, range(50)):
        assert damaged(content, seed, content) == damaged(content, seed, content)
    found = {seed: damaged(content, str(seed), content) for seed in range(400)}
    assert {kind for kind, _ in found.values()} == set(KINDS)
    assert sum(bad != content for _, bad in found.values()) > 350


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ENDINGS)
def test_sound_files_are_read_as_their_own_library_reads_them(ending: str, tmp_path: Path, format_here: None):
    for number, content in enumerate(seeds_of(ending)):
        path = tmp_path / f"people{ending}"
        path.write_bytes(content)
        found = outcome(path, ending)
        assert found.get("read"), (number, found)
        assert found["differs"] is None, (number, found)


@pytest.mark.parametrize("what", DOCUMENTS)
def test_sound_documents_are_used(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    document = DOCUMENTS[what]
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    path = tmp_path / document.name
    path.write_bytes(document.stored(document.content(tmp_path)))
    assert "found" in guarded(lambda: document.use(path), None)


def test_a_difference_to_the_strict_reader_is_told(tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("sex,age,born\nf,30,1990-01-02\nm,,1991-02-03\n")
    sound = {"sex": ["f", "m"], "age": [30, None], "born": ["1990-01-02", "1991-02-03"]}
    assert strict.difference(sound, path, ".csv") is None
    for name, values in (
        ("age", [30, 0]),
        ("age", [30]),
        ("age", [None, 30]),
        ("sex", ["f", None]),
        ("sex", ["F", "m"]),
    ):
        assert name in str(strict.difference(sound | {name: values}, path, ".csv"))
    assert "columns" in str(strict.difference({"sex": ["f", "m"]}, path, ".csv"))
    # What a warning says of a column is told; of another column it is not.
    gap = sound | {"born": [None, "1991-02-03"]}
    assert strict.difference(gap, path, ".csv", ["column 'born': 1 day that no calendar has"]) is None
    assert strict.difference(gap, path, ".csv", ["column 'age': 1 day that no calendar has"]) is not None
    path.write_text('sex,age\nf,"30\n')
    assert "refuses" in str(strict.difference(sound, path, ".csv"))


def test_an_error_is_one_line_that_names_the_file():
    def fail(text: str) -> None:
        raise FileError(text)

    assert guarded(lambda: fail("people.csv: damaged"), "people.csv") == {"refused": "people.csv: damaged"}
    assert "traceback" in guarded(lambda: fail("damaged"), "people.csv")
    assert "traceback" in guarded(lambda: fail("a\nb"), None)
    assert "KeyError" in guarded(lambda: {}["x"], None)["traceback"]


def test_the_campaign_runs_by_itself():
    program = str(Path(__file__).with_name("campaign.py"))
    ended = subprocess.run(
        [sys.executable, program, "planted", "0", "2"], capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert "2 files" in ended.stdout
