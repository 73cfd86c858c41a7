"""Measures that other packages register: found by name, run in an assessment, and let out by the kind they declare."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv
import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
CODE = '''
import math

class Found:
    """Shares and counts of original records that stand in the release."""

    figures = {"found": "share", "rows found": "count", "few": "count", "undefined": "share"}
    flavour = "arrow"

    def __call__(self, original, releases, keys, targets):
        assert keys == ["sex", "age"] and targets == ["edu"] and len(releases) == 2
        known = set(map(str, releases[0].select(keys).to_pylist()))
        found = sum(str(row) in known for row in original.select(keys).to_pylist())
        return {"found": (found / original.num_rows, original.num_rows), "rows found": (found, original.num_rows),
                "few": (3, 7), "undefined": (math.nan, original.num_rows)}


def measure(result, figures):
    def found(original, releases, keys, targets):
        if isinstance(result, Exception):
            raise result
        return result
    found.figures = figures
    return found

name = measure({"age 97": (1, 1)}, {"found": "share"})
large = measure({"found": (1.5, 10)}, {"found": "share"})
persons = measure({"found": (0.5, 10**6)}, {"found": "share"})
pair = measure({"found": 0.5}, {"found": "share"})
text = measure({"found": ("97", 3)}, {"found": "share"})
kind = measure({}, {"found": "income"})
fails = measure(ValueError("the person of 97"), {"found": "share"})
nothing = 5
'''
NAMES = ("name", "large", "persons", "pair", "text", "kind", "fails", "nothing")
ENTRIES = "[unveil.measures]\nfound = theirs:Found\n" + "".join(f"{name} = theirs:{name}\n" for name in NAMES)
PEOPLE = unveil.simulate.demo_population(300, seed=1)
RELEASES = [unveil.simulate.demo_population(300, seed=seed) for seed in (2, 3)]


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with entry points in front of all others, as pip would put it."""
    about = tmp_path / "site" / "theirs-1.2.dist-info"
    about.mkdir(parents=True)
    (tmp_path / "site" / "theirs.py").write_text(CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path / "site")


def assessed(*names: str, **options: object) -> unveil.Assessment:
    given = {"targets": "edu", "measures": ["structure"], "other_measures": names}
    return unveil.assess(unveil.Pair(PEOPLE, RELEASES), ["sex", "age"], **(given | options))


def test_figures_stand_in_the_document_and_on_the_pages() -> None:
    whole = assessed("found", release_safe=False)
    known = {(row["sex"], row["age"]) for row in RELEASES[0].to_pylist()}
    found = sum((row["sex"], row["age"]) in known for row in PEOPLE.to_pylist())
    (one,) = whole.to_dict()["other_measures"]
    assert (one["measure"], one["package"]) == ("found", "theirs 1.2")
    assert [f["value"] for f in one["figures"]] == [found / 300, found, 3, None]
    assert "other measures: found" in [part["name"] for part in whole.to_dict()["parts"]]
    for page in (whole.to_html(), whole.to_markdown()):
        assert "Measures of other packages" in page
        assert "rows found" in page
    assert "other_measures" not in assessed().to_dict()
    assert "Measures of other packages" not in assessed().to_html()


def test_the_gate_rounds_by_the_declared_kind_and_tells_nothing_of_few() -> None:
    safe, whole = assessed("found"), assessed("found", release_safe=False)
    exact = {f["name"]: f["value"] for f in whole.to_dict()["other_measures"][0]["figures"]}
    (one,) = safe.to_dict()["other_measures"]
    rounded = {f["name"]: f for f in one["figures"]}
    # Of 300 records with at least 10 each: multiples of 5 percent, and of 10 records.
    assert rounded["found"]["value"] == pytest.approx(0.05 * round(exact["found"] / 0.05))
    assert rounded["rows found"]["value"] == 10 * int(exact["rows found"] / 10 + 0.5)
    assert (rounded["few"]["value"], rounded["few"]["persons"]) == (None, None)
    assert rounded["undefined"]["value"] is None
    assert "not given" in safe.to_html()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("name", "returned 'age 97', which its figures do not declare"),
        ("large", "found is 1.5; a share is from 0 to 1"),
        ("persons", "rests on 1000000 persons; the original has 300"),
        ("pair", "has to be a pair, its value and the number of persons"),
        ("text", "found is '97', which is no number"),
        ("kind", "'found': 'income' is not one of its figures"),
        ("fails", "failed with ValueError: the person of 97"),
        ("nothing", "is no function with figures"),
    ],
)
def test_a_measure_that_breaks_its_word_fails_alone_and_nothing_of_it_is_published(name: str, said: str) -> None:
    part = next(p for p in assessed(name, release_safe=False).to_dict()["parts"] if p["name"].startswith("other"))
    assert part["status"] == "failed"
    assert said in part["reason"]
    safe = assessed(name)
    assert "97" not in str([p for p in safe.to_dict()["parts"] if p["name"].startswith("other")])
    assert "other_measures" not in safe.to_dict() or safe.to_dict()["other_measures"] == []
    assert safe.to_dict()["structure"] is not None


def test_an_unknown_name_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(unveil.CallError, match="there is no measure 'fond'; did you mean 'found'"):
        assessed("fond")


def test_the_command_line_takes_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in (("o.csv", PEOPLE), ("a.csv", RELEASES[0]), ("b.csv", RELEASES[1])):
        pyarrow.csv.write_csv(table, name)
    words = "assess o.csv a.csv b.csv --keys sex,age --targets edu --measures structure --other-measures found --json -"
    status, out, err = called(words.split(), monkeypatch, capsys)
    assert status == 0, err
    assert '"rows found"' in out
