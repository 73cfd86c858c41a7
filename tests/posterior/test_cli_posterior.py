"""The verb, called as the command line calls it."""

from __future__ import annotations

import json

import pyarrow.csv
import pytest
from cyclopts import App

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
    with pytest.raises(CallError, match="unknown method"):
        run(*files, "--target", "var4", "--method", "magic")
    with pytest.raises(CallError, match="takes record numbers"):
        run(*files, "--target", "var4", "--rows", "first")
    run(*files, "--target", "var4", "--minbucket", "40", "--candidates", "0,1", "--prior", "marginal")
    assert "prior marginal" in capsys.readouterr().out


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
