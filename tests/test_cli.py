"""The command line: every verb, what it writes and where, and how it ends when something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import unveil
from oracle import RULES
from oracle import attribute as brute_attribute
from oracle import identity as brute_identity
from reference import assert_same
from unveil.cli import main

# It takes reading sys.argv under pytest for an oversight.
pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

ORIGINAL = {
    "sex": ["f", "f", "m", "m", "m", "f"],
    "age": [30, 31, 30, 30, 52, None],
    "income": [-8, 100, 200, 300, 400, 150],
    "ill": ["no", "yes", "no", "yes", "no", None],
}
RELEASE = {
    "sex": ["f", "m", "m", "f", "f"],
    "age": [30, 30, 40, 31, None],
    "income": [-8, 100, 250, 90, 150],
    "ill": ["no", "no", "yes", "yes", None],
}
SECOND = {"sex": ["m", "f"], "age": [52, 31], "income": [400, 100], "ill": ["no", "no"]}


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with an original, two releases, and whatever is wrong with files."""
    for name, columns in (("o", ORIGINAL), ("s", RELEASE), ("s2", SECOND)):
        csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    pq.write_table(pa.table(ORIGINAL), tmp_path / "o.parquet")
    whole = (tmp_path / "o.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "parquet_inside.csv").write_bytes(whole)
    (tmp_path / "text_inside.parquet").write_bytes((tmp_path / "o.csv").read_bytes())
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "header.csv").write_text("sex,age,income,ill\n")
    (tmp_path / "one.csv").write_text("sex,age,income,ill\nf,30,1,no\n")
    (tmp_path / "latin.csv").write_bytes("sex,age,income,ill\nfé,30,1,no\n".encode("latin-1"))
    csv.write_csv(pa.table(RELEASE).drop(["age"]), tmp_path / "no_age.csv")
    (tmp_path / "twice.csv").write_text("sex,sex,age\nf,f,30\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line here; "unveil" and the words of one string, or a list of words."""

    def call(words: str | Sequence[str]) -> Ended:
        arguments = words.split() if isinstance(words, str) else list(words)
        monkeypatch.setattr(sys, "argv", ["unveil", *arguments])
        capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as ending:
            status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return call


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def strict_json(text: str) -> Any:
    """JSON by the letter: NaN and Infinity, which Python would take, are no JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


# ------------------------------------------------------------------------------------------------ the verbs
def test_identity(run: Run):
    ended = run("identity o.csv s.csv --keys sex,age")
    assert (ended.status, ended.err) == (0, "")
    expected = brute_identity(ORIGINAL, RELEASE, ["sex", "age"])
    (row,) = [line.split() for line in ended.out.splitlines() if line.startswith("s.csv")]
    assert row[1:6] == ["5", *(f"{expected[name]:.2f}" for name in ("UiO", "UiS", "UiOiS", "repU"))]


def test_identity_as_json(run: Run):
    found = strict_json(run("identity o.csv s.csv s2.csv --keys sex,age --json -").out)
    assert (found["unveil"], found["measure"], found["keys"]) == (unveil.__version__, "IdentityRisk", ["sex", "age"])
    expected = [brute_identity(ORIGINAL, release, ["sex", "age"]) for release in (RELEASE, SECOND)]
    assert_same(found["releases"], expected)
    assert_same(found["mean"], {name: sum(r[name] for r in expected) / 2 for name in expected[0]})
    assert (found["labels"], found["n_original"], found["n_synthetic"]) == (["s.csv", "s2.csv"], 6, [5, 2])
    assert [list(interval) for interval in found["intervals"]] == [["UiO", "UiOiS", "repU"]] * 2


def test_attribute_as_json(run: Run):
    found = strict_json(run("attribute o.csv s.csv --keys sex,age --target ill --json -").out)
    expected = brute_attribute(ORIGINAL, RELEASE, ["sex", "age"], "ill")
    assert_same(found["releases"], [expected.measures])
    assert found["measure"] == "AttributeRisk"
    for name, (low, high) in found["intervals"]["ill"][0].items():
        assert low <= expected.measures[name] <= high


def test_attribute_of_all_other_columns(run: Run):
    found = strict_json(run("attribute o.csv s.csv --keys sex,age --json -").out)
    assert [one["target"] for one in found["targets"]] == ["income", "ill"] == list(found["intervals"])
    chosen = strict_json(run("attribute o.csv s.csv --keys sex --targets ill,age --json -").out)
    assert [one["target"] for one in chosen["targets"]] == ["ill", "age"]
    text = run("attribute o.csv s.csv --keys sex,age").out
    assert {line.split()[0] for line in text.splitlines() if line.startswith(("ill", "income"))} >= {"ill", "income"}


def test_what_is_not_defined_is_null_and_explained(run: Run):
    found = strict_json(run("attribute o.csv header.csv --keys sex --target ill --json -").out)
    assert found["releases"][0]["TCAP"] is None
    assert "header.csv" in found["undefined"]["TCAP"]
    assert found["releases"][0]["DiSCO"] == 0
    structure = strict_json(run("structure o.csv header.csv --keys sex --json -").out)
    assert structure["releases"][0]["percent_novel"] is None
    sets = strict_json(run("keysets o.csv header.csv --keys sex --json -").out)
    assert sets["correlation"]["repU"] is None
    printed = run("attribute o.csv header.csv --keys sex --target ill").out
    assert "TCAP is not defined: no original record's keys are disclosive" in " ".join(printed.split())


def test_options_are_passed_on(run: Run):
    words = "attribute o.csv s.csv --keys sex --target ill --not-target-levels no --no-use-target-na --json -"
    removed = strict_json(run(words).out)["exclusions"][0]["original"]
    assert removed == dict.fromkeys(RULES, 0) | {"not_target_levels": 3, "use_target_na": 1, "remaining": 2}
    words = "attribute o.csv s.csv --keys age,sex --target ill --no-use-keys-na --exclude-pairs sex=m:no --json -"
    removed = strict_json(run(words).out)["exclusions"][0]["original"]
    assert removed == dict.fromkeys(RULES, 0) | {"use_keys_na": 1, "exclude_pairs": 2, "remaining": 3}
    words = "attribute o.csv s.csv --keys sex --target ill --denom-limit 1 --exclude-over-denom-limit --json -"
    removed = strict_json(run(words).out)["exclusions"][0]["original"]
    assert removed == dict.fromkeys(RULES, 0) | {"denom_limit": 2, "remaining": 4}
    assert (
        strict_json(run("identity o.csv s.csv --keys age --no-use-keys-na --json -").out)["mean"]["UiO"] == 100 * 2 / 6
    )


def test_groups_and_special_codes_are_passed_on(run: Run):
    """Without the code -8 the incomes of both files are 90 to 400: two groups of equal width."""
    words = "attribute o.csv s.csv --keys sex --target income --special-codes income=-8 --json - --ngroups-target "
    for groups in ("2", "income=2"):
        grouping = strict_json(run(words + groups).out)["grouping"]["income"]
        assert grouping == {"style": "equal-width", "breaks": [90, 245, 400], "levels": ["[90,245)", "[245,400]", "-8"]}
    grouping = strict_json(run("structure o.csv s.csv --keys sex,age --ngroups-keys age=2 --json -").out)
    assert grouping["releases"][0]["combinations_original"] == 4
    assert grouping["releases"][0]["combinations_novel"] == 0


def test_kinds_and_missing_are_passed_on(run: Run, folder: Path):
    (folder / "gap.csv").write_text("sex,age\nf,30\n?,31\n")
    ended = run("structure gap.csv gap.csv --keys sex --missing ? --json -")
    assert strict_json(ended.out)["releases"][0]["combinations_original"] == 2
    ended = run("attribute gap.csv gap.csv --keys sex --target age --kinds age=categorical --ngroups-target age=2")
    assert (ended.status, ended.out) == (2, "")
    assert "column 'age' is categorical and cannot be grouped" in ended.err


def test_structure_and_keysets(run: Run):
    found = strict_json(run("structure o.csv s.csv --keys sex,age --json -").out)
    # o: f30 f31 m30 m52 f-; s: f30 m30 m40 f31 f-; new is m40 only.
    assert (found["measure"], found["releases"][0]["combinations_original"]) == ("Structure", 5)
    assert (found["releases"][0]["combinations_novel"], found["releases"][0]["percent_novel"]) == (1, 20)
    text = run("structure o.csv s.csv --keys sex,age").out
    assert "6 original records" in text
    assert "5 combinations" in text
    found = strict_json(run("keysets o.csv s.csv --keys sex,age,income --target ill --max-size 2 --json -").out)
    assert [s["keys"] for s in found["sets"]] == [
        ["sex"], ["age"], ["income"], ["sex", "age"], ["sex", "income"], ["age", "income"],
    ]  # fmt: skip
    for one in found["sets"]:
        assert one["DiSCO"] == pytest.approx(brute_attribute(ORIGINAL, RELEASE, one["keys"], "ill").measures["DiSCO"])
    assert "without age" in run("keysets o.csv s.csv --keys sex,age --target ill").out


def test_a_key_whose_name_has_a_comma(run: Run, folder: Path):
    (folder / "comma.csv").write_text('"a,b",c\n1,2\n')
    found = strict_json(run(["identity", "comma.csv", "comma.csv", "--keys", "a,b", "--keys", "c", "--json", "-"]).out)
    assert found["keys"] == ["a,b", "c"]


def test_by_prints_the_levels_of_each_release(run: Run):
    out = run("identity o.csv s.csv s2.csv --keys sex,age --by sex").out
    first, second = out.split("\ns.csv, ")[1].split("\ns2.csv, ")
    # Of the women f30, f31 and f- are unique and all in s once; of the men m52 is unique and not in s.
    assert [line.split() for line in first.splitlines() if line[:2] in ("f ", "m ")] == [
        ["f", "3", "100.00", "100.00", "100.00"],
        ["m", "3", "33.33", "0.00", "0.00"],
    ]
    assert [line.split() for line in second.splitlines() if line[:2] in ("f ", "m ")] == [
        ["f", "3", "100.00", "33.33", "33.33"],
        ["m", "3", "33.33", "33.33", "33.33"],
    ]


def test_records_are_written_with_a_notice(run: Run, folder: Path):
    ended = run("identity o.csv s.csv --keys sex,age --records records.csv")
    assert ended.status == 0
    assert ended.err.startswith("notice: records.csv holds figures of every single person")
    assert ended.err.count("\n") == 1
    table = csv.read_csv(folder / "records.csv")
    assert table.column("record").to_pylist() == [0, 1, 2, 3, 4, 5]
    assert table.column("d_q").to_pylist() == [1, 1, 2, 2, 1, 1]
    assert table.column("s_q").to_pylist() == [1, 1, 1, 1, 0, 1]


def test_records_of_several_releases_go_to_a_file_each(run: Run, folder: Path):
    ended = run("attribute o.csv s.csv s2.csv --keys sex --target ill --records records.parquet")
    assert [line.split()[1] for line in ended.err.splitlines()] == ["records_1.parquet", "records_2.parquet"]
    s_q = [pq.read_table(folder / f"records_{i}.parquet").column("s_q").to_pylist() for i in (1, 2)]
    assert s_q == [[3, 3, 2, 2, 2, 3], [1] * 6]


def test_cap_curve(run: Run):
    expected = brute_attribute(ORIGINAL, RELEASE, ["sex"], "ill").measures
    found = strict_json(run("attribute o.csv s.csv --keys sex --target ill --cap-curve --json -").out)
    assert (found["measure"], found["tau"][0], found["tau"][-1]) == ("CapCurve", 0, 1)
    assert found["releases"][0][0] == pytest.approx(expected["DCAPd"])
    assert found["releases"][0][-1] == pytest.approx(expected["DiSCO"])


# ------------------------------------------------------------------------------------------- what is written
def test_json_file_holds_what_standard_output_would(run: Run, folder: Path):
    ended = run("identity o.csv s.csv --keys sex --json out.json")
    assert ended.out.startswith("Identity disclosure")
    assert (folder / "out.json").read_text() == run("identity o.csv s.csv --keys sex --json -").out


def test_an_existing_file_is_not_overwritten(run: Run, folder: Path):
    (folder / "kept.json").write_text("mine")
    before = listing(folder)
    for words in (
        "identity o.csv s.csv --keys sex --json kept.json",
        "identity o.csv s.csv --keys sex --plot kept.json",
        "schema o.csv -o kept.json",
        "demo 20 --folder .",
    ):
        if words.startswith("demo"):
            (folder / "original.csv").write_text("mine")
            before = listing(folder)
        ended = run(words)
        assert ended.status == 1, words
        assert "exists" in ended.err
        assert listing(folder) == before


def test_json_is_written_whole_or_not_at_all(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch):
    def full_disk(self: Path, text: str, **options: Any) -> int:
        self.write_bytes(text[:10].encode())
        raise OSError(28, "No space left on device")

    before = listing(folder)
    monkeypatch.setattr(Path, "write_text", full_disk)
    ended = run("identity o.csv s.csv --keys sex --json out.json")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == "unveil: out.json: cannot be written (No space left on device)\n"
    assert listing(folder) == before


@pytest.mark.parametrize(
    ("words", "ending", "start"),
    [
        ("identity", "png", b"\x89PNG"),
        ("attribute", "svg", b"<?xml"),
        ("attribute --target ill", "pdf", b"%PDF"),
        ("attribute --target ill --cap-curve", "png", b"\x89PNG"),
        ("structure", "svg", b"<?xml"),
        ("keysets", "png", b"\x89PNG"),
    ],
)
def test_plots_are_written(run: Run, folder: Path, words: str, ending: str, start: bytes):
    pytest.importorskip("matplotlib", reason="for plots")
    ended = run(f"{words} o.csv s.csv --keys sex --plot plot.{ending}")
    assert ended.status == 0, ended.err
    assert (folder / f"plot.{ending}").read_bytes().startswith(start)
    assert ended.out


def test_schema_round_trip(run: Run, folder: Path):
    ended = run("schema o.csv -o schema.toml")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    text = (folder / "schema.toml").read_text()
    assert run("schema o.csv").out == text
    plain = run("attribute o.csv s.csv --keys sex,age --json -")
    assert strict_json(run("attribute o.csv s.csv --keys sex,age --schema schema.toml --json -").out) == strict_json(
        plain.out
    )
    # The code is suspected in a comment, and counts only once it is confirmed.
    lines = [line.removeprefix("# ").split("  #")[0] if "special_codes" in line else line for line in text.splitlines()]
    (folder / "confirmed.toml").write_text("\n".join(lines))
    words = "attribute o.csv s.csv --keys sex --target income --ngroups-target 2 --json - --schema "
    assert strict_json(run(words + "schema.toml").out)["grouping"]["income"]["levels"] == ["[-8,196)", "[196,400]"]
    confirmed = strict_json(run(words + "confirmed.toml").out)["grouping"]["income"]["levels"]
    assert confirmed == ["[90,245)", "[245,400]", "-8"]


def test_warnings_go_to_standard_error_and_leave_the_figures(run: Run, folder: Path):
    (folder / "padded.csv").write_text("sex,age\nm,30\n")
    (folder / "other.csv").write_text("sex,age\nf,30\n")
    ended = run("identity padded.csv other.csv --keys sex --json -")
    assert ended.status == 0
    assert ended.err.startswith("warning: column 'sex': no value of padded.csv occurs in other.csv")
    assert ended.err.count("\n") == 1
    assert strict_json(ended.out)["mean"]["UiO"] == 100


# ---------------------------------------------------------------------------------------------- what is wrong
IDENTITY, ATTRIBUTE = "identity o.csv s.csv --keys sex", "attribute o.csv s.csv --keys sex --target"
WRONG = {
    "unknown column": ("identity o.csv s.csv --keys sex,agge", 2, ["o.csv", "'agge'", "'age'"]),
    "unknown target": (f"{ATTRIBUTE} il", 2, ["o.csv", "'il'", "'ill'"]),
    "duplicate key": ("identity o.csv s.csv --keys sex,age,sex", 2, ["'sex'", "more than once"]),
    "target among keys": ("attribute o.csv s.csv --keys sex,ill --target ill", 2, ["'ill' is a key"]),
    "target among keys of sets": ("keysets o.csv s.csv --keys sex,ill --target ill", 2, ["'ill' is a key"]),
    "nothing left as target": ("attribute o.csv s.csv --keys sex,age,income,ill", 2, ["target"]),
    "target and targets": (f"{ATTRIBUTE} ill --targets age", 2, ["either"]),
    "unknown option": (f"{IDENTITY} --bogus 3", 2, ["--bogus"]),
    "unknown verb": ("identify o.csv s.csv --keys sex", 2, ["identify", "identity"]),
    "no keys": ("identity o.csv s.csv", 2, ["--keys"]),
    "no release": ("identity o.csv --keys sex", 2, ["no release given"]),
    "no file": ("identity --keys sex", 2, ["identity needs ORIGINAL"]),
    "bad ngroups_target": (f"{ATTRIBUTE} income --ngroups-target few", 2, ["few", "--ngroups-target"]),
    "one group": (f"{ATTRIBUTE} income --ngroups-target 1", 2, ["'income'", "at least 2"]),
    "fewer groups than none": (f"{ATTRIBUTE} income --ngroups-target -3", 2, ["'income'", "-3"]),
    "groups of text": (f"{ATTRIBUTE} ill --ngroups-target ill=3", 2, ["'ill' is categorical"]),
    "groups of no key": (f"{IDENTITY} --ngroups-keys income=3", 2, ["'income'", "not a key"]),
    "bad special_codes": (f"{IDENTITY} --special-codes income", 2, ["--special-codes", "column=value", "'income'"]),
    "special_codes of no column": (f"{IDENTITY} --special-codes incom=-8", 2, ["'incom'", "'income'"]),
    "unknown kind": (f"{IDENTITY} --kinds sex=nominal", 2, ["'sex'", "'nominal'"]),
    "bad exclude_pairs": (f"{ATTRIBUTE} ill --exclude-pairs sex:f", 2, ["exclude_pairs takes", "'sex:f'"]),
    "exclude_pairs of no column": (f"{ATTRIBUTE} ill --exclude-pairs Sex=f:no", 2, ["with no key", "mean 'sex'"]),
    "unknown level": (f"{ATTRIBUTE} ill --exclude-pairs sex=x:no", 2, ["'sex'", "'x'"]),
    "bad denom_limit": (f"{ATTRIBUTE} ill --denom-limit 0", 2, ["denom_limit", "0"]),
    "limit without number": (f"{ATTRIBUTE} ill --exclude-over-denom-limit", 2, ["denom_limit"]),
    "bad threshold": (f"{ATTRIBUTE} ill --check-1way 5 101", 2, ["check_1way"]),
    "bad max_size": ("keysets o.csv s.csv --keys sex --max-size 0", 2, ["max_size"]),
    "by without target": ("attribute o.csv s.csv --keys sex --by ill", 2, ["--target"]),
    "unknown encoding": (f"{IDENTITY} --encoding utf-88", 2, ["'utf-88'"]),
    "bad decimal": (f"{IDENTITY} --decimal x", 2, ["decimal", "'x'"]),
    "bad number of persons": ("demo 0", 2, ["whole number from 1"]),
    "persons no number": ("demo many", 2, ["many"]),
    "missing file": ("identity gone.csv s.csv --keys sex", 1, ["gone.csv", "no such file"]),
    "missing release": ("identity o.csv s.csv gone.csv --keys sex", 1, ["gone.csv", "no such file"]),
    "missing schema": (f"{IDENTITY} --schema gone.toml", 1, ["gone.toml"]),
    "unknown ending": ("identity o.xls s.csv --keys sex", 1, ["o.xls"]),
    "empty file": ("identity empty.csv s.csv --keys sex", 1, ["empty.csv", "empty"]),
    "empty release": ("identity o.csv empty.csv --keys sex", 1, ["empty.csv", "empty"]),
    "header only": ("identity header.csv s.csv --keys sex", 1, ["header.csv", "no records"]),
    "parquet named csv": ("identity parquet_inside.csv s.csv --keys sex", 1, ["parquet_inside.csv", "Parquet"]),
    "text named parquet": ("identity text_inside.parquet s.csv --keys sex", 1, ["text_inside.parquet"]),
    "truncated parquet": ("identity cut.parquet s.csv --keys sex", 1, ["cut.parquet", "not a complete Parquet file"]),
    "not in the encoding": ("identity o.csv latin.csv --keys sex --encoding utf-8", 1, ["latin.csv", "line 2"]),
    "column in all but one": ("identity o.csv s.csv no_age.csv --keys sex,age", 1, ["no_age.csv", "'age'", "o.csv"]),
    "repeated column": ("identity twice.csv s.csv --keys sex", 1, ["twice.csv", "'sex'", "more than once"]),
    "output folder": (f"{IDENTITY} --json gone/out.json", 1, ["out.json"]),
    "plot folder": (f"{IDENTITY} --plot gone/out.png", 1, ["out.png"]),
    "schema folder": ("schema o.csv -o gone/out.toml", 1, ["out.toml", "cannot be written"]),
    "records folder": (f"{IDENTITY} --records gone/out.csv", 1, ["out.csv"]),
    "schema of a missing file": ("schema gone.csv", 1, ["gone.csv"]),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls_and_files_end_with_one_line_and_leave_nothing(run: Run, folder: Path, what: str):
    words, status, parts = WRONG[what]
    (folder / "o.xls").touch()
    if "plot" in what:
        pytest.importorskip("matplotlib", reason="for plots")
    before = listing(folder)
    ended = run(words)
    assert ended.status == status, ended.err
    assert ended.err.startswith("unveil: ")
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1
    for part in parts:
        assert part in ended.err
    assert ended.out == ""
    assert listing(folder) == before


def test_one_record_is_enough(run: Run):
    ended = run("identity one.csv one.csv --keys sex,age --json -")
    assert strict_json(ended.out)["mean"] == dict.fromkeys(("UiO", "UiS", "UiOiS", "repU"), 100)


def test_help_names_every_verb_and_every_option_of_a_verb(run: Run):
    ended = run("--help")
    assert ended.status == 0
    for verb in ("assess", "identity", "attribute", "structure", "keysets", "compare", "schema", "demo"):
        assert verb in ended.out
    options = run("attribute --help").out
    for name in ("keys", "target", "ngroups-target", "exclude-pairs", "json", "plot", "special-codes", "encoding"):
        assert f"--{name}" in options


# -------------------------------------------------------------------- nothing is written before all is known
@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("demo 20 --seed -1", ["seed"]),
        ("identity o.csv s.csv", ["unveil: identity needs --keys"]),
        ("report o_2.csv", ["unveil: report needs --output"]),
        ("membership o.csv s.csv --holdout s2.csv", ["--holdout-unseen"]),
        ("synthesize o.csv -o o_2.csv -m 1", ["o_2.csv exists", "--overwrite"]),
        ("identity o.csv s.csv --keys sex --plot out.xyz", ["xyz"]),
        ("identity o.csv s.csv --keys sex --json out.json --by agge", ["'agge'"]),
        ("identity o.csv s.csv --keys sex --json out.json --records out.xyz", ["out.xyz"]),
        ("identity o.csv s.csv s2.csv --keys sex --records o.csv", ["o_2.csv"]),
        ("identity o.csv s.csv --keys sex --plot out.png --json o.csv", ["o.csv"]),
        ("attribute o.csv s.csv --keys sex --target income --ngroups-target incom=3", ["'incom'", "income"]),
        ("attribute o.csv s.csv --keys sex --target income --ngroups-target 1", ["'income'", "(or 0 for none), not 1"]),
        ("attribute o.csv s.csv --keys sex --target income --ngroups-target income=1", ["(or 0 for none), not 1"]),
        ("identity o.csv s.csv --keys age --ngroups-keys 1", ["'age'", "(or 0 for none), not 1"]),
        ("identity o.csv s.csv --keys sex --json=", ["--json takes the name of a file, or -"]),
        ("attribute o.csv s.csv --keys sex --target ill --denom-limit 1.5", ["1.5"]),
        ("attribute o.csv s.csv --keys sex --target ill --cap-curve --records out.csv", ["--records"]),
    ],
)  # fmt: skip
def test_wrong_outputs_and_options_leave_nothing_either(run: Run, folder: Path, words: str, parts: list[str]):
    (folder / "o_2.csv").touch()
    if "--plot" in words:
        pytest.importorskip("matplotlib", reason="for plots")
    before = listing(folder)
    ended = run(words)
    assert ended.status in (1, 2)
    assert ended.err.count("\n") == 1
    for part in parts:
        assert part in ended.err
    assert ended.out == ""
    assert listing(folder) == before


# --------------------------------------------------------------------------------------------------- demo
def test_demo_is_the_same_for_a_seed_and_another_for_another(run: Run):
    first, second, other = (run(f"demo 60 --seed {seed} --no-report") for seed in (3, 3, 4))
    assert (first.status, first.err) == (0, "")
    assert first == second
    assert first.out != other.out.replace("seed 4", "seed 3")


def test_demo_shows_what_the_functions_give_on_the_files_it_keeps(run: Run, folder: Path):
    out = run("demo 80 --seed 2 --folder kept --no-report").out
    for name in ("independent", "CART", "real"):
        (label,) = [
            line.split(": ")[1].split(",")[0] for line in out.splitlines() if line.startswith(f"kept/{name}.csv")
        ]
        pair = unveil.Pair(
            folder / "kept" / "original.csv",
            unveil.read(folder / "kept" / f"{name}.csv", label=label),
            special_codes={"income": [-8]},
        )
        keys = ["sex", "age", "region", "placesize"]
        rung = unveil.attribute(pair, keys, target="marital").ladder().mean["DiSCO"]
        (line,) = [line for line in out.splitlines() if line.startswith("DiSCO of marital")]
        assert f"{rung.value:.1f} ({rung.null_mean:.1f})" in line
        (line,) = [line for line in out.splitlines() if line.startswith("repU  ") and "unique" not in line]
        assert f" {unveil.identity(pair, keys).repU:.1f}" in line


def test_demo_leaves_what_a_later_assessment_needs(run: Run, folder: Path):
    run("demo 200 --seed 2 --folder kept --no-report")
    kept = folder / "kept"
    assert {path.name for path in kept.iterdir()} == {
        "original.csv", "schema.toml", "independent.csv", "CART.csv", "CART.provenance.json", "real.csv",
    }  # fmt: skip
    survey = unveil.simulate.demo_population(200, 2)
    pair = unveil.Pair(kept / "original.csv", kept / "CART.csv", schema=kept / "schema.toml")
    for name in ("placesize", "edu"):
        labels = survey.column(name).chunk(0).dictionary.to_pylist()
        assert pair.column(name).kind == "ordered"
        assert pair.column(name).levels.to_pylist() == labels
    assert pair.original.variable("income").special_codes == (-8,)
    asked = (
        "assess kept/original.csv kept/CART.csv --keys sex,age,region --targets workab --measures posterior "
        "--provenance kept/CART.provenance.json --budget 20 --json found.json"
    )
    assert run(asked).status == 0
    found = strict_json((folder / "found.json").read_text())
    (part,) = [part for part in found["parts"] if part["measure"] == "posterior"]
    assert part["status"] == "done", part["reason"]
    (target,) = found["targets"]
    assert target["posterior"]["settings_check"]["verdict"] == "fits"
    alone = (
        "posterior kept/original.csv kept/CART.csv --target workab --structure fixed "
        "--provenance kept/CART.provenance.json"
    )
    assert run(alone).status == 0


@pytest.mark.parametrize("name", ["original.csv", "schema.toml", "CART.csv", "CART.provenance.json", "report.html"])
def test_demo_writes_all_of_its_files_or_none(run: Run, folder: Path, name: str):
    kept = folder / "kept"
    kept.mkdir()
    (kept / name).write_text("mine")
    ended = run("demo 60 --folder kept")
    assert (ended.status, ended.out) == (1, "")
    assert name in ended.err
    assert [path.name for path in kept.iterdir()] == [name]


@pytest.mark.slow
def test_demo_ends_with_a_report(run: Run, folder: Path):
    ended = run("demo 120 --seed 2 --folder kept")
    assert ended.status == 0
    assert "The report: kept/report.html" in ended.err
    page = (folder / "kept" / "report.html").read_text(encoding="utf-8")
    assert page.startswith(("<!doctype html>", "<!DOCTYPE html>"))
    assert "posterior" in page
    again = run("demo 120 --seed 2 --folder kept")
    assert again.status == 1
    assert "exists" in again.err


# ------------------------------------------------------------------------------------------- as a program
def program(*words: str, megabytes: int | None = None) -> subprocess.CompletedProcess[str]:
    limited = "" if megabytes is None else f"import resource as r; r.setrlimit(r.RLIMIT_AS, 2 * ({megabytes} << 20,)); "
    return subprocess.run(
        [sys.executable, "-c", f"{limited}from unveil.cli import main; main()", *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system")
@pytest.mark.parametrize("megabytes", [60, 150, 250, 399])
def test_program_says_in_a_line_that_it_may_have_too_little_memory(folder: Path, megabytes: int):
    ended = program("identity", str(folder / "o.csv"), str(folder / "s.csv"), "--keys", "sex", megabytes=megabytes)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"unveil: {megabytes} MB of memory are allowed here (ulimit -v), and 400 MB are the least to begin with; raise "
        "the limit\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system")
def test_program_says_in_a_line_that_memory_is_used_up(folder: Path):
    values = np.random.default_rng(1).integers(10**9, size=1_000_000)
    pq.write_table(pa.table({"a": values, "b": values[::-1], "c": values.astype(str)}), folder / "large.parquet")
    path = str(folder / "large.parquet")
    ended = program("identity", path, path, "--keys", "a,b,c", megabytes=450)
    assert (ended.returncode, ended.stdout) == (1, "")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("unveil: ")
    assert "not enough memory" in last
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "error",
    [
        ImportError("a.so: failed to map segment from shared object"), MemoryError(), pa.ArrowMemoryError("malloc"),
        OSError(12, "Cannot allocate memory"), RuntimeError("can't start new thread"),
    ],
)  # fmt: skip
def test_every_way_to_say_that_memory_is_used_up_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(words: list[str], **options: Any) -> None:
        raise error

    monkeypatch.setattr("unveil.cli.run.app", fail)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("unveil: not enough memory (")
    assert said.count("\n") == 1


def test_an_error_of_the_program_is_not_called_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch):
    def fail(words: list[str], **options: Any) -> None:
        raise ImportError("no module named x")

    monkeypatch.setattr("unveil.cli.run.app", fail)
    with pytest.raises(ImportError, match="no module named x"):
        main()


def test_the_command_line_loads_nothing_before_it_looks_at_the_limit():
    code = "import sys, unveil.cli; print({'numpy', 'pyarrow', 'cyclopts'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


@pytest.mark.parametrize(("given", "kept"), [({}, "4"), ({"OPENBLAS_THREAD_TIMEOUT": "20"}, "20")])
def test_threads_without_work_sleep_unless_the_user_says_otherwise(given: dict[str, str], kept: str):
    code = """
import os, sys
class Looking:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ["OPENBLAS_THREAD_TIMEOUT"])
sys.meta_path.insert(0, Looking())
from unveil.cli import main
main()
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"} | given
    call = [sys.executable, "-c", code, "schema", "missing.csv"]
    ended = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert ended.stdout == f"{kept}\n"


def test_program_gives_json_and_ends_well(folder: Path):
    ended = program("identity", str(folder / "o.csv"), str(folder / "s.csv"), "--keys", "sex,age", "--json", "-")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert strict_json(ended.stdout)["n_original"] == 6


def test_program_ends_with_a_line_where_the_call_or_the_data_are_wrong(folder: Path):
    for words, status in ((("o.csv", "s.csv", "--keys", "sx"), 2), (("empty.csv", "s.csv", "--keys", "sex"), 1)):
        ended = program("identity", *words)
        assert (ended.returncode, ended.stdout) == (status, "")
        assert ended.stderr.startswith("unveil: ")
        assert ended.stderr.count("\n") == 1


def test_program_does_not_complain_when_nobody_reads_on(folder: Path):
    reader = subprocess.Popen(
        [sys.executable, "-c", "from unveil.cli import main; main()", "demo", "50", "--no-report"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert reader.stdout is not None
    assert reader.stderr is not None
    reader.stdout.close()
    assert reader.stderr.read() == b""
    reader.stderr.close()
    reader.wait(timeout=60)


INTERRUPTED_IMPORT = """
import sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == module:
            raise KeyboardInterrupt

module = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupting())
from unveil.cli import main
main()
"""


@pytest.mark.parametrize("module", ["cyclopts", "unveil.cli.run", "unveil.cli.assess"])
def test_an_interruption_while_the_program_is_loaded_ends_it_without_a_traceback(module: str) -> None:
    """Ctrl-C in the first half second comes while libraries are imported."""
    call = [sys.executable, "-c", INTERRUPTED_IMPORT, module, "assess", "--help"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
