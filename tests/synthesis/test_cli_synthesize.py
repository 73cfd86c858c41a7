"""`unveil synthesize` on real files: what is written, what is never written, and what is said."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil import cli
from unveil.errors import FileError
from unveil.files.write import write_table
from unveil.synthesis import synthetic_files
from unveil.synthesis.provenance import read_provenance

N = 150
needs_pyreadstat = pytest.mark.skipif(
    not find_spec("pyreadstat") or not (find_spec("pandas") or find_spec("polars")),
    reason="pyreadstat, or the pandas or polars that it writes from, is not installed",
)


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Function from arguments to what the command says."""

    def call(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["unveil", "synthesize", *map(str, arguments)])
        status = 0
        with warnings.catch_warnings():
            # The command line reads its arguments itself, as it does outside of tests.
            warnings.filterwarnings("ignore", "Cyclopts application invoked without tokens")
            try:
                cli.main()
            except SystemExit as stop:
                status = int(stop.code or 0)
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return call


@pytest.fixture
def original(tmp_path: Path) -> Iterator[Path]:
    """A file of simulated persons; whatever a test does, it has to be the same afterwards."""
    folder = tmp_path / "confidential"
    folder.mkdir()
    path = folder / "survey.csv"
    write_table(unveil.simulate.demo_population(N, seed=1), path)
    before = digest(path)
    yield path
    assert digest(path) == before
    assert os.listdir(folder) == ["survey.csv"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def everything(folder: Path) -> dict[str, str]:
    """Content of every file, and every folder, hidden ones too."""
    return {str(p): digest(p) if p.is_file() else "folder" for p in sorted(folder.rglob("*"))}


def columns(path: Path, **options: Any) -> dict[str, list[Any]]:
    source = unveil.read(path, **options)
    return {name: source.column(name).to_pylist() for name in source.names}


# ---------------------------------------------------------------------------------------------- what is written
def test_five_copies_in_a_folder(run: Run, original: Path, tmp_path: Path):
    out = tmp_path / "out"
    said = run(original, "-o", out, "--special-codes", "income=-8")
    assert (said.status, said.err) == (0, "")
    names = [f"survey_syn{i}.csv" for i in range(1, 6)]
    assert sorted(os.listdir(out)) == sorted([*names, "survey_syn.provenance.json"])
    real = columns(original)
    contents = [columns(out / name) for name in names]
    for content in contents:
        assert list(content) == list(real)
        assert len(content["sex"]) == N
        for name, values in content.items():
            assert set(values) <= set(real[name])
    assert all(a != b for i, a in enumerate(contents) for b in contents[:i])


def test_the_table_says_what_happened_and_what_to_do_next(run: Run, original: Path, tmp_path: Path):
    out = tmp_path / "my out"
    said = run(original, "-o", out, "-m", 2, "--special-codes", "income=-8")
    facts = read_provenance(out / "survey_syn.provenance.json")
    assert f"2 copies of {N} records, from survey.csv ({N} records) by cart, " in said.out
    rows = {line.split()[0]: line.split() for line in said.out.splitlines() if line[:1].strip()}
    for variable in facts.variables:
        shown = ["-" if variable.leaves is None else str(variable.leaves),
                 "-" if variable.leaves_removed is None else str(variable.leaves_removed)]  # fmt: skip
        assert rows[variable.name][1:4] == [variable.method, *shown]
    assert any(v.leaves_removed for v in facts.variables)
    assert "--no-collapse" in said.out
    assert "not safe by themselves" in " ".join(said.out.split())
    assert f"unveil identity {original} '{out}/survey_syn'*.csv --keys" in said.out
    assert "unveil attribute" in said.out
    for warning in facts.warnings:
        assert f"warning: {warning}" in said.out


def test_the_seed_decides(run: Run, original: Path, tmp_path: Path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert run(original, "-o", tmp_path / name, "-m", 2, "--seed", seed).status == 0
    first, second, other = (
        [digest(tmp_path / name / f"survey_syn{copy}.csv") for copy in (1, 2)] for name in ("a", "b", "c")
    )
    assert first == second
    assert not set(first) & set(other)


def test_one_file_in_the_format_of_its_name(run: Run, original: Path, tmp_path: Path):
    said = run(original, "-o", tmp_path / "release.parquet", "-m", 1, "--k", 40)
    assert (said.status, said.err) == (0, "")
    release = columns(tmp_path / "release.parquet")
    assert len(release["sex"]) == 40
    assert {type(v) for v in release["age"]} <= {int, type(None)}
    facts = read_provenance(tmp_path / "release.provenance.json")
    assert (facts.m, facts.k, facts.original.records, facts.releases[0].records) == (1, 40, N, 40)
    assert facts.releases[0].sha256 == digest(tmp_path / "release.parquet")
    assert facts.original.sha256 == digest(original)
    assert f"{original} {tmp_path / 'release.parquet'} --keys" in said.out


@pytest.mark.parametrize("ending", ["parquet", ".feather", "TSV", "csv.gz"])
def test_the_format_of_files_in_a_folder(run: Run, original: Path, tmp_path: Path, ending: str):
    assert run(original, "-o", tmp_path / "out", "-m", 1, "--format", ending).status == 0
    name = f"survey_syn1.{ending.lower().lstrip('.')}"
    assert sorted(os.listdir(tmp_path / "out")) == sorted([name, "survey_syn.provenance.json"])
    assert len(columns(tmp_path / "out" / name)["sex"]) == N


def test_zipped_text_stays_zipped_text(run: Run, original: Path, tmp_path: Path):
    zipped = tmp_path / "my.survey.CSV.gz"
    zipped.write_bytes(gzip.compress(original.read_bytes()))
    assert run(zipped, "-o", tmp_path / "out", "-m", 1).status == 0
    assert list(columns(tmp_path / "out" / "my.survey_syn1.csv.gz")) == list(columns(original))


@needs_pyreadstat
def test_statistical_files_keep_labels_and_special_codes(run: Run, tmp_path: Path):
    declared = {
        "sex": unveil.Variable("sex", kind="categorical", levels=("male", "female"), labels={1: "male", 2: "female"}),
        "income": unveil.Variable("income", special_codes=(-8,)),
    }
    sex = pa.array(["male", "female"] * 30).dictionary_encode()
    write_table(pa.table({"sex": sex, "income": [-8, 100, 2000] * 20}), tmp_path / "survey.sav", declared)
    assert run(tmp_path / "survey.sav", "-o", tmp_path / "release.sav", "-m", 1).status == 0
    release = unveil.read(tmp_path / "release.sav")
    assert release.variable("sex").labels == {1: "male", 2: "female"}
    assert release.variable("income").special_codes == (-8,)
    facts = read_provenance(tmp_path / "release.provenance.json")
    assert [v.name for v in facts.variables] == ["sex", "income_part", "income"]


@needs_pyreadstat
def test_what_a_format_cannot_keep_is_said(run: Run, tmp_path: Path):
    write_table(
        pa.table({"income": [-8, 100, 2000] * 20}), tmp_path / "s.parquet",
        {"income": unveil.Variable("income", special_codes=(-8,))},
    )  # fmt: skip
    said = run(tmp_path / "s.parquet", "-o", tmp_path / "r.dta", "-m", 1)
    assert (said.status, said.err) == (0, "")
    assert "warning: r.dta: Stata files do not keep the special codes of column 'income'" in said.out


# --------------------------------------------------------------------------------------------------- options
def test_options_reach_the_synthesizer_and_the_provenance(run: Run, original: Path, tmp_path: Path):
    schema = tmp_path / "schema.toml"
    schema.write_text('[columns.placesize]\nkind = "categorical"\n', encoding="utf-8")
    names = list(columns(original))
    level, last = columns(original)[names[1]][0], columns(original)[names[-1]][0]
    said = run(
        original, "-o", tmp_path / "r.csv", "-m", "1", "--minbucket", "7", "--cp", "0.001", "--no-collapse",
        "--max-depth", "4", "--visit-order", ",".join(reversed(names)), "--methods", "age=norm,region=sample",
        "--predictors", f"{names[0]}={names[-1]},{names[-2]}", "--predictors", f"{names[1]}={names[-1]}",
        "--special-codes", "income=-8", "--special-codes", "income=-9.5", "--kinds", "region=categorical",
        "--smoothing", "income=density", "--proper", "--missing", "NA", "--schema", schema,
        "--minsplit", "20", "--surrogates", "2", "--bandwidth", "silverman", "--n-jobs", "1", "-k", "33",
        "--rules", f"{names[1]}={level} if {names[-1]} == '{last}'", "--rules", "income= if depress < 0",
    )  # fmt: skip
    assert (said.status, said.err) == (0, "")
    facts = read_provenance(tmp_path / "r.provenance.json")
    assert {name: value for name, value in facts.settings.items() if value is not None} == {
        "minbucket": 7,
        "cp": 0.001,
        "collapse": False,
        "max_depth": 4,
        "proper": True,
        "visit_order": names[::-1],
        "methods": {"age": "norm", "region": "sample"},
        "predictors": {names[0]: [names[-1], names[-2]], names[1]: [names[-1]]},
        "special_codes": {"income": [-8, -9.5]},
        "kinds": {"region": "categorical"},
        "smoothing": {"income": "density"},
        "minsplit": 20,
        "surrogates": 2,
        "mix": 0.0,
        "bandwidth": "silverman",
        "rules": [f"{names[1]}={level} if {names[-1]} == '{last}'", "income= if depress < 0"],
    }
    assert facts.k == facts.releases[0].records == 33
    release = columns(tmp_path / "r.csv")
    assert {a for a, b in zip(release[names[1]], release[names[-1]], strict=True) if b == last} == {level}
    assert facts.reading == {"missing": ["", "NA"], "schema": {"name": "schema.toml", "sha256": digest(schema)}}
    methods = {v.name: v.method for v in facts.variables}
    assert (methods["age"], methods["region"]) == ("norm", "sample")
    assert [v.name.removesuffix("_part") for v in facts.variables if not v.name.endswith("_part")] == names
    assert not any(v.bits_lost for v in facts.variables)


def test_a_method_for_all_variables_but_one(run: Run, original: Path, tmp_path: Path):
    run(
        original,
        "-o",
        tmp_path / "r.csv",
        "-m",
        1,
        "--method",
        "sample",
        "--methods",
        "age=cart",
        "--smoothing",
        "density",
    )
    facts = read_provenance(tmp_path / "r.provenance.json")
    assert facts.method == "sample"
    assert facts.settings["methods"]["sex"] == "sample"
    assert facts.settings["methods"]["age"] == "cart"
    assert facts.settings["smoothing"] == "density"
    assert {v.method for v in facts.variables if v.name.removesuffix("_part") != "age"} == {"sample"}


def test_settings_that_are_not_given_are_kept_too(run: Run, original: Path, tmp_path: Path):
    run(original, "-o", tmp_path / "r.csv", "-m", 1)
    settings = read_provenance(tmp_path / "r.provenance.json").settings
    expected = {"minbucket": 5, "cp": 1e-8, "collapse": True, "max_depth": 30, "proper": False, "methods": "cart"}
    assert {name: settings[name] for name in expected} == expected
    assert not {"progress", "n_jobs"} & set(settings)


@pytest.mark.parametrize(
    ("method", "options", "settings"),
    [("catall", [], {"epsilon": None}), ("dp_bayesnet", ["--epsilon", 2, "--degree", 1], {"epsilon": 2, "degree": 1})],
)
def test_a_method_for_the_whole_file(
    run: Run, tmp_path: Path, method: str, options: list[Any], settings: dict[str, Any]
):
    write_table(pa.table({"sex": ["f", "m"] * 30, "ill": ["no", "no", "yes"] * 20}), tmp_path / "s.csv")
    (tmp_path / "public.toml").write_text(
        'columns = { sex = { levels = ["f", "m"] }, ill = { levels = ["yes", "no"] } }', encoding="utf-8"
    )
    options = [*options, "--schema", tmp_path / "public.toml"]
    said = run(tmp_path / "s.csv", "-o", tmp_path / "out", "-m", 2, "--method", method, *options)
    assert (said.status, said.err) == (0, "")
    facts = read_provenance(tmp_path / "out" / "s_syn.provenance.json")
    assert {name: facts.settings[name] for name in settings} == settings
    assert [(v.name, v.method, v.leaves) for v in facts.variables] == [("sex", method, None), ("ill", method, None)]
    assert len(columns(tmp_path / "out" / "s_syn2.csv")["sex"]) == 60


def test_without_collapse_no_leaf_is_removed_from_a_category(run: Run, original: Path, tmp_path: Path):
    facts = []
    for option in ("--collapse", "--no-collapse"):
        run(original, "-o", tmp_path / f"{option}.csv", "-m", 1, option)
        facts.append({v.name: v for v in read_provenance(tmp_path / f"{option}.provenance.json").variables})
    collapsed, full = facts
    assert sum(v.leaves or 0 for v in collapsed.values()) < sum(v.leaves or 0 for v in full.values())
    assert any(v.leaves_removed for v in collapsed.values())


# -------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "--output"),
        (["-o", "r.csv"], 2, "r.csv is one file and there are 5 copies: name a folder, or ask for m = 1"),
        (["-o", "r.csv", "-m", "1", "--format", "sav"], 2, "format 'sav' contradicts the name r.csv"),
        (["-o", "out", "--format", "rds"], 2, "unknown format 'rds'; choose a format from csv, "),
        (["-o", "out", "-m", "0"], 2, "m must be a whole number from 1, not 0"),
        (["-o", "out", "--k", "0"], 2, "k must be a whole number from 1, not 0"),
        (["-o", "caf\udce9"], 2, "'caf\\udce9' is not text, it holds half a character; choose another name"),
        (["-o", "out", "-m", "two"], 2, "Invalid value for -m: 'two' is not a whole number"),
        (["-o", "out", "--seed", "1.5"], 2, "Invalid value for --seed: '1.5' is not a whole number"),
        (["-o", "out", "-m", "1" + "0" * 15], 2, "more than this machine has memory for"),
        (["-o", "out", "--seed", "-1"], 2, "seed must be a whole number from 0, not -1"),
        (["-o", "out", "--minbucket", "0"], 2, "minbucket"),
        (["-o", "out", "--method", "magic"], 2, "method: there is no 'magic'; choose from cart, "),
        (["-o", "out", "--method", "catall", "--cp", "0"], 2, "method 'catall' has no option 'cp'; it has prior, "),
        (["-o", "out", "--epsilon", "1"], 2, "method 'cart' has no option 'epsilon'"),
        (["-o", "out", "--methods", "age=magic"], 2, "not 'magic'"),
        (["-o", "out", "--methods", "norm"], 2, "--methods takes column=value, not 'norm'"),
        (["-o", "out", "--methods", "agee=norm"], 2, "'agee'"),
        (["-o", "out", "--visit-order", "sex,sax"], 2, "visit_order: there is no column 'sax'"),
        (["-o", "out", "--visit-order", "sex"], 2, "visit_order leaves out"),
        (["-o", "out", "--predictors", "sex"], 2, "--predictors takes column=column,column, not 'sex'"),
        (["-o", "out", "--predictors", "sex=income"], 2, "'sex' cannot be predicted by 'income'"),
        (["-o", "out", "--special-codes", "incom=-8"], 2, "no column 'incom'; did you mean 'income'"),
        (["-o", "out", "--special-codes", "-8"], 2, "special-codes"),
        (["-o", "out", "--kinds", "sex=colour"], 2, "'colour'"),
        (["-o", "out", "--smoothing", "incom=density"], 2, "'incom'"),
        (["-o", "out", "--bandwidth", "wide"], 2, "bandwidth must be 'sheather-jones' or 'silverman', not 'wide'"),
        (["-o", "out", "--minsplit", "0"], 2, "minsplit"),
        (["-o", "out", "--surrogates", "-1"], 2, "surrogates"),
        (["-o", "out", "--n-jobs", "0"], 2, "n_jobs"),
        (["-o", "out", "--rules", "sex=female"], 2, "rules: there is no column 'female'"),
        (["-o", "out", "--rules", "sex=FEMALE if"], 2, "a rule is written column=value if condition"),
        (["-o", "out", "--rules", "sex=FEMALE if income > 3"], 2, "looks at 'income', which is not yet synthesised"),
        (["-o", "out", "--rules", "region=Caldervalle if age > 3"], 2, "did you mean 'Caldervale'"),
        (["-o", "out", "--rules", "income=900 if age in 5"], 2, "in takes a list, such as [5]"),
        (["-o", "out", "--special-codes", "sex=female"], 2, "special_codes: column 'sex' is categorical"),
        (["-o", "out", "-k", "1000000000000"], 2, "more than this machine has memory for"),
        (["-o", ""], 2, "the output has no name"),
        (["-o", "out", "--schema", "none.toml"], 1, "none.toml"),
        (["-o", "confidential/survey.csv/out"], 1, "survey.csv is a file, not a folder"),
        (["-o", "nowhere/r.csv", "-m", "1"], 1, "r.csv: there is no folder nowhere; make it first"),
        (["-o", "confidential/survey.csv", "-m", "1"], 2, "is survey.csv itself, which is never overwritten"),
        (["-o", "confidential/survey.csv", "-m", "1", "--overwrite"], 2, "never overwritten; choose another name"),
    ],
)
def test_a_refusal_is_one_line_and_leaves_nothing(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int,
    message: str,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = everything(tmp_path)
    said = run(original, *arguments)
    assert said.status == status
    assert message in said.err
    assert said.err.startswith("unveil: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "none.csv: no such file"),
        ("empty.csv", "a,b\n", "empty.csv has no records"),
        ("survey.rds", "x", "survey.rds"),
        ("survey.xyz", "x", "survey.xyz: unknown ending"),
        ("survey.parquet", "x", "survey.parquet: not a complete Parquet file"),
    ],
)
def test_an_original_that_cannot_be_used(run: Run, tmp_path: Path, name: str, content: str | None, message: str):
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    before = everything(tmp_path)
    said = run(tmp_path / name, "-o", tmp_path / "out")
    assert said.status == 1
    assert message in said.err
    assert said.err.count("\n") == 1
    assert everything(tmp_path) == before


def test_a_format_that_can_only_be_read(run: Run, tmp_path: Path):
    table = unveil.simulate.demo_population(30, seed=1)
    write_table(table, tmp_path / "s.tsv")
    (tmp_path / "s.tsv").rename(tmp_path / "s.tab")
    said = run(tmp_path / "s.tab", "-o", tmp_path / "out")
    assert said.status == 2
    assert "s.tab: files like this cannot be written; choose a format from csv, " in said.err
    assert run(tmp_path / "s.tab", "-o", tmp_path / "out", "--format", "tsv").status == 0


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_the_original_is_not_replaced_through_a_link(run: Run, original: Path, tmp_path: Path, link: str):
    out = tmp_path / "out"
    out.mkdir()
    getattr(out / "survey_syn2.csv", link)(original)
    said = run(original, "-o", out, "--overwrite")
    assert said.status == 2
    assert "survey_syn2.csv is survey.csv itself" in said.err
    assert os.listdir(out) == ["survey_syn2.csv"]


def test_the_schema_is_not_replaced_either(run: Run, original: Path, tmp_path: Path):
    schema = tmp_path / "r.provenance.json"
    schema.write_text("", encoding="utf-8")
    said = run(original, "-o", tmp_path / "r.csv", "-m", 1, "--schema", schema, "--overwrite")
    assert said.status == 2
    assert "is r.provenance.json itself" in said.err


@pytest.mark.parametrize("name", ["survey_syn2.csv", "survey_syn.provenance.json"])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_an_existing_file_is_kept_unless_told_otherwise(run: Run, original: Path, tmp_path: Path, name: str, kind: str):
    out = tmp_path / "out"
    out.mkdir()
    if kind == "file":
        (out / name).write_text("mine", encoding="utf-8")
    elif kind == "folder":
        (out / name).mkdir()
    else:
        (out / name).symlink_to(tmp_path / "nowhere")
    before = everything(out)
    said = run(original, "-o", out, "-m", 2)
    assert said.status == 1
    assert name in said.err
    assert everything(out) == before
    again = run(original, "-o", out, "-m", 2, "--overwrite")
    assert again.status == (1 if kind == "folder" else 0)
    if kind != "folder":
        assert len(os.listdir(out)) == 3
        assert not (tmp_path / "nowhere").exists()


def test_copies_of_an_earlier_run_are_named(run: Run, original: Path, tmp_path: Path):
    out = tmp_path / "out"
    run(original, "-o", out, "-m", 3)
    said = run(original, "-o", out, "-m", 2, "--overwrite")
    assert said.status == 0
    assert "still holds 'survey_syn3.csv' of an earlier run" in said.out


# ---------------------------------------------------------------------------------------------- all or nothing
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (KeyboardInterrupt(), 130),
        (FileError("survey_syn2.csv: cannot be written"), 1),
        (OSError(28, "No space left"), 1),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_while_writing_leaves_nothing(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int,
    exists: bool,
):  # fmt: skip
    out = tmp_path / "new" / "out"
    if exists:
        out.mkdir(parents=True)
        (out / "survey_syn1.csv").write_text("mine", encoding="utf-8")
    before = everything(tmp_path)

    def failing(table: Any, path: Path, *rest: Any) -> None:
        if "syn2" in path.name:
            raise error
        write_table(table, path, *rest)

    monkeypatch.setattr(synthetic_files, "write_table", failing)
    said = run(original, "-o", out, "--overwrite")
    assert said.status == status
    assert "Traceback" not in said.err
    assert everything(tmp_path) == before


@pytest.mark.parametrize("nth", range(1, 9))
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_while_moving_brings_everything_back(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int, error: BaseException
):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("survey_syn1.csv", "survey_syn3.csv", "survey_syn.provenance.json"):
        (out / name).write_text(f"old {name}", encoding="utf-8")
    before = everything(tmp_path)
    rename, moved = os.rename, 0

    def failing(source: Path, target: Path) -> None:
        nonlocal moved
        moved += 1
        if moved == nth:
            raise error
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    said = run(original, "-o", out, "-m", 4, "--overwrite")
    assert said.status == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert everything(tmp_path) == before


def test_an_interruption_of_the_fit_leaves_nothing(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(synthetic_files.CartSynthesizer, "sample", interrupted)
    before = everything(tmp_path)
    assert run(original, "-o", tmp_path / "out").status == 130
    assert everything(tmp_path) == before


def test_a_termination_leaves_nothing(run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def terminated(table: Any, path: Path, *rest: Any) -> None:
        write_table(table, path, *rest)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(synthetic_files, "write_table", terminated)
    before, handler = everything(tmp_path), signal.getsignal(signal.SIGTERM)
    assert run(original, "-o", tmp_path / "out").status == 128 + signal.SIGTERM
    assert everything(tmp_path) == before
    assert signal.getsignal(signal.SIGTERM) == handler


@pytest.mark.parametrize("nth", range(1, 10))
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_termination_while_moving_leaves_all_or_none(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int, number: int, status: int
):
    out = tmp_path / "out"
    run(original, "-o", out, "-m", 2, "--seed", 7)
    old = everything(out)
    moved = 0

    def interrupted(action: Callable[..., Any]) -> Callable[..., Any]:
        def act(*given: Any, **options: Any) -> Any:
            nonlocal moved
            moved += 1
            if moved == nth:
                os.kill(os.getpid(), number)
                os.kill(os.getpid(), number)
            return action(*given, **options)

        return act

    monkeypatch.setattr(os, "rename", interrupted(os.rename))
    monkeypatch.setattr(os, "rmdir", interrupted(os.rmdir))
    handler = signal.getsignal(number)
    assert run(original, "-o", out, "-m", 2, "--overwrite").status == status
    assert signal.getsignal(number) is handler
    new = everything(out)
    assert set(new) == set(old)
    assert new == old or not set(new.items()) & set(old.items())


def test_a_file_that_appears_meanwhile_is_kept(
    run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sample = synthetic_files.CartSynthesizer.sample
    late = tmp_path / "out" / "survey_syn2.csv"

    def slow(self: Any, *given: Any, **options: Any) -> Any:
        late.parent.mkdir()
        late.write_text("theirs", encoding="utf-8")
        return sample(self, *given, **options)

    monkeypatch.setattr(synthetic_files.CartSynthesizer, "sample", slow)
    said = run(original, "-o", tmp_path / "out")
    assert said.status == 1
    assert "survey_syn2.csv exists by now; nothing was written" in said.err
    assert os.listdir(tmp_path / "out") == ["survey_syn2.csv"]
    assert late.read_text(encoding="utf-8") == "theirs"


# -------------------------------------------------------------------------------------------------- the screen
def test_progress_is_for_terminals(run: Run, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    notice = run(original, "-o", tmp_path / "a.csv", "-m", 1, "--seed", 1).err
    assert notice.startswith("the seed is confidential")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    said = run(original, "-o", tmp_path / "b.csv", "-m", 1, "--seed", 1)
    assert said.status == 0
    assert "100%" not in said.out
    assert digest(tmp_path / "a.csv") == digest(tmp_path / "b.csv")


def test_a_method_without_leaves_has_no_columns_of_them(run: Run, original: Path, tmp_path: Path):
    one = run(original, "-o", tmp_path / "a.csv", "-m", 1, "--method", "sample").out
    two = run(original, "-o", tmp_path / "b.csv", "-m", 1, "--method", "sample", "--methods", "age=norm").out
    assert not re.search(r"(?m)^variable +method", one)
    assert re.search(r"(?m)^variable +method$", two)
    assert re.search(r"(?m)^age +norm$", two)


def test_what_is_said_of_a_seed_fits_a_terminal(run: Run, original: Path, tmp_path: Path):
    lines = run(original, "-o", tmp_path / "a.csv", "-m", 1, "--seed", 9).err.splitlines()
    assert " ".join(lines).startswith("the seed is confidential")
    assert max(map(len, lines)) <= 100


def test_one_copy_is_called_a_copy(run: Run, original: Path, tmp_path: Path):
    assert run(original, "-o", tmp_path / "a.csv", "-m", 1).out.startswith(f"1 copy of {N} records")


def test_the_provenance_is_plain_json(run: Run, original: Path, tmp_path: Path):
    run(original, "-o", tmp_path / "a.csv", "-m", 1, "--seed", 9)
    content = json.loads((tmp_path / "a.provenance.json").read_text(encoding="utf-8"))
    assert content["seed"] == 9
    assert content["seconds"] > 0
    assert str(tmp_path) not in json.dumps(content)
