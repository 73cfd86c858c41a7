"""The verb, called as the command line calls it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from cyclopts import App

import unveil
import unveil.cli
from unveil.cli.posterior import posterior
from unveil.errors import CallError, FileError
from unveil.simulate import latner_population
from unveil.synthesis import CartSynthesizer


@pytest.fixture
def files(tmp_path):
    original = latner_population(200, seed=1)
    release = CartSynthesizer().fit(original).sample(seed=3)
    paths = [tmp_path / "original.csv", tmp_path / "release.csv"]
    for table, path in zip((original, release), paths, strict=True):
        pyarrow.csv.write_csv(table, path)
    return [str(path) for path in paths]


def run(*arguments):
    app = App(name="posterior")
    app.default(posterior)
    app(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")


def test_json(files, capsys):
    run(*files, "--target", "var3,var4", "--rows", "0:3,199", "--json", "-")
    found = json.loads(capsys.readouterr().out)
    assert found["target"] == ["var3", "var4"]
    assert (found["n_records"], found["n_values"]) == (4, 4)
    assert set(found["releases"][0]) == {"fixed", "exact"}


def test_groups_records_and_advice(files, capsys, tmp_path):
    records = tmp_path / "records.csv"
    run(*files, "--target", "var4", "--by", "var1", "--records", str(records), "--structure", "fixed", "--advice")
    said = capsys.readouterr()
    assert "by var1" in said.out
    assert "records at risk" in said.out
    assert "keep it in the building" in said.err
    assert pyarrow.csv.read_csv(records).num_rows == 200


@pytest.mark.parametrize(("releases", "last"), [("each", "records_2.csv"), ("both", "records_3.csv")])
def test_no_file_of_records_is_found_taken_after_the_work(files, tmp_path, releases, last):
    (tmp_path / last).touch()
    with pytest.raises(FileError, match=f"{last} exists"):
        run(*files, files[1], "--target", "no such column", "--releases", releases,
            "--records", str(tmp_path / "records.csv"))  # fmt: skip


def test_settings(files, capsys):
    with pytest.raises(CallError, match="there is no"):
        run(*files, "--target", "var4", "--method", "magic")
    with pytest.raises(CallError, match="takes record numbers"):
        run(*files, "--target", "var4", "--rows", "first")
    run(*files, "--target", "var4", "--minbucket", "40", "--candidates", "0,1", "--prior", "marginal")
    assert "prior marginal" in capsys.readouterr().out


def test_candidates_are_taken_as_they_are_written(tmp_path, capsys):
    """Texts of digits stay texts, numbers may be written in any way, and a gap has the name that is printed."""
    original = pa.table({"zip": ["01", "1", "02"] * 20, "age": pa.array([20, 30, None] * 20)})
    paths = [str(tmp_path / "original.csv"), str(tmp_path / "release.csv")]
    pyarrow.csv.write_csv(original, paths[0])
    pyarrow.csv.write_csv(original.slice(1), paths[1])
    for target, given, wanted in (("zip", "01,02", 2), ("zip", "1", 2), ("age", "20.0,3e1", 2), ("age", "Missing", 2)):
        run(*paths, "--target", target, "--candidates", given, "--kinds", "zip=categorical", "--structure", "fixed",
            "--rows", "0", "--json", "-")  # fmt: skip
        found = json.loads(capsys.readouterr().out)
        assert found["n_values"] == wanted, (target, given)


def test_report(files, capsys):
    run(*files, "--target", "var4", "--keys", "var1,var2", "--by", "var1", "--time-limit", "100", "--json", "-")
    found = json.loads(capsys.readouterr().out)
    assert [row["level"] for row in found["subgroups"]["var1"][0]] == ["0", "1"]
    table = found["cross"][0][0]
    assert table["name"] == "DiSCO"
    assert sum(table[cell] for cell in ("both", "only_posterior", "only_flag", "neither")) == 200
    assert found["records"]["n_done"] == {"fixed": 200, "exact": 200}
    run(*files, "--target", "var4", "--keys", "var1,var2", "--sample", "30")
    said = capsys.readouterr().out
    assert "30 of 200 records" in said
    assert "DiSCO yes" in said
    with pytest.raises(CallError, match="name one target"):
        run(*files, "--target", "var3,var4", "--keys", "var1")


def test_files_are_read_as_the_provenance_file_says(tmp_path, capsys):
    rng = np.random.default_rng(4)
    income = np.where(rng.random(120) < 0.2, "-8", rng.integers(1, 9, 120).astype(str))
    income[:12] = "unknown"
    lines = [f"{sex};{value}" for sex, value in zip(rng.choice(["f", "m"], 120), income, strict=True)]
    original = tmp_path / "original.csv"
    original.write_text("sex;income\n" + "\n".join(lines) + "\n", encoding="utf-8")
    made = tmp_path / "made"
    unveil.cli.app(
        ["synthesize", str(original), "-o", str(made), "--special-codes", "income=-8", "--missing", "unknown",
         "--delimiter", ";"],
        exit_on_error=False, print_error=False, result_action="return_value",
    )  # fmt: skip
    release, provenance = next(made.glob("*.csv")), next(made.glob("*.json"))
    capsys.readouterr()
    asked = [str(original), str(release), "--target", "income", "--structure", "fixed", "--json", "-"]
    run(*asked, "--provenance", str(provenance))
    found = json.loads(capsys.readouterr().out)
    for setting in (["--mix", "0.5"], ["--minbucket", "9"], ["--visit-order", "income,sex"], ["--method", "catall"]):
        with pytest.raises(CallError, match="the provenance file says how the releases were made; leave out"):
            run(*asked, "--provenance", str(provenance), *setting)
    run(*asked, "--special-codes", "income=-8", "--missing", "unknown", "--delimiter", ";")
    assert json.loads(capsys.readouterr().out)["releases"] == found["releases"]
    assert found["n_values"] == 10, "eight amounts, the special code and the gap"


@pytest.fixture
def rows(tmp_path):
    """Files of candidates; record 3 of the original is row 1 of the first one."""
    found = {"whole": latner_population(200, seed=1).slice(2, 4), "part": pa.table({"var4": [1, 0], "var2": [0, 1]}),
             "other": pa.table({"var9": [1]}), "text": pa.table({"var4": ["much"]}), "empty": pa.table({"var4": []}),
             "new": pa.table({"var4": [7]})}  # fmt: skip
    for name, table in found.items():
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    return {name: str(tmp_path / f"{name}.csv") for name in found}


@pytest.mark.filterwarnings("ignore:.*among the candidates themselves")
@pytest.mark.parametrize(("name", "columns"), [("whole", 4), ("part", 2)])
def test_a_file_of_candidate_records_is_the_frame_of_the_function(files, rows, capsys, name, columns):
    run(*files, "--candidates", rows[name], "--rows", "3,199", "--json", "-")
    told = json.loads(capsys.readouterr().out)
    pair = unveil.Pair(*files)
    frame = pyarrow.csv.read_csv(rows[name])
    found = unveil.posterior(pair, CartSynthesizer(), candidates=frame, records=[3, 199])
    assert len(told["target"]) == columns
    assert told["n_values"] == found.n_values
    assert told["releases"] == json.loads(json.dumps(found.to_dict()))["releases"]


@pytest.mark.parametrize(("name", "said"), [("whole", "2 records are among the candidates"),
                                            ("new", "1 of the candidates hold a value of column 'var4'")])  # fmt: skip
def test_own_records_and_new_levels_are_said(files, rows, name, said):
    with pytest.warns(unveil.UnveilWarning, match=said):
        run(*files, "--candidates", rows[name], "--rows", "2:4", "--json", "-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--candidates other", "original.csv has no column 'var9'; leave it out; did you mean 'var"),
        ("--candidates text", "column 'var4'.*'much' is not a number"),
        ("--candidates empty", "there are no records in .*empty.csv"),
        ("--candidates nowhere.csv", "nowhere.csv: no such file"),
        ("--candidates whole --target var4", "leave out --target"),
        ("--candidates whole --known var1", "leave target and known out"),
        ("--candidates whole --keys var1", "--keys and --advice are for the values of a target"),
        ("--candidates whole --advice", "--keys and --advice are for the values of a target"),
        ("--rows 0", "name a target"),
        ("--candidates 0,1", "name a target|no such file"),
    ],
)
def test_wrong_files_of_candidate_records(files, rows, words, message):
    with pytest.raises(unveil.UnveilError, match=message):
        run(*files, *(rows.get(word, word) for word in words.split()))
