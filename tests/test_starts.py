"""What each verb loads: a large library that a verb does not use would be waited for at every call."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli.run import VERBS, app

LOADED = """
import contextlib, io, json, sys
from unveil.cli import main
sys.argv = ["unveil", *json.loads(sys.argv[1])]
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code
print(json.dumps([status, list(sys.modules)]))
"""
LARGE = {
    "numpy", "pyarrow", "scipy", "sklearn", "narwhals", "jinja2", "matplotlib", "pandas", "polars", "pyreadstat",
    "rdata", "rich",
}  # fmt: skip
"""Packages that are waited for."""
GROUND = {
    "checks", "docstrings", "errors", "limits", "notebook", "notes", "plain", "printable", "registered", "threads",
    "version",
}  # fmt: skip
"""Files of a few lines that load nothing."""
ARRAYS = {"numpy", "pyarrow"}
TABLES = {"_tables", "cli", "columns", "core", "engines", "files", "result", "show", "stats"}
TREES = {"columns", "core", "engines", "files", "result", "synthesis", "trees"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An original and a release that CART made of it."""
    folder = tmp_path_factory.mktemp("starts")
    csv.write_csv(unveil.simulate.demo_population(300, seed=1), folder / "o.csv")
    loaded(folder, "synthesize", "o.csv", "-o", "s.csv", "-m", "1", "--seed", "1")
    return folder


def loaded(folder: Path, *words: str) -> tuple[set[str], set[str]]:
    """Large packages and parts of scipy, and rooms of the package, that a call of the command line has loaded."""
    call = [sys.executable, "-c", LOADED, json.dumps(words)]
    done = subprocess.run(call, capture_output=True, text=True, cwd=folder, timeout=120)
    status, modules = json.loads(done.stdout)
    assert status == 0, done.stderr
    packages = {name for name in LARGE if name in modules}
    parts = {f"scipy.{part}" for part in ("linalg", "optimize", "sparse", "special", "stats")} & set(modules)
    rooms = {name.split(".")[1] for name in modules if name.startswith("unveil.")}
    return packages | parts, rooms - GROUND


@pytest.mark.parametrize(
    ("words", "packages", "rooms"),
    [
        ("--help", {"rich"}, {"cli"}),
        ("--version", {"rich"}, {"cli"}),
        ("schema o.csv", ARRAYS, {"cli", "core", "files"}),
        ("identity o.csv s.csv --keys sex,age", ARRAYS, TABLES),
        ("attribute o.csv s.csv --keys sex,age --target depress", ARRAYS, TABLES),
        ("structure o.csv s.csv --keys sex,age", ARRAYS, TABLES),
        ("population o.csv s.csv --keys sex,age --population 9000", ARRAYS, TABLES),
        ("keysets o.csv s.csv --keys sex,age --target depress", ARRAYS, TABLES),
        ("synthesize o.csv -o made.csv -m 1 --seed 1", ARRAYS, {"cli", *TREES}),
        ("posterior o.csv s.csv --target depress --rows 0:16", ARRAYS, {"_posterior", "cli", "show", "stats", *TREES}),
        ("rapid o.csv s.csv --keys sex,age --target depress --attacker cart",
         {*ARRAYS, "scipy", "scipy.special"}, {"_rapid", "_tables", "cli", "models", "show", "stats", *TREES}),
    ],
)  # fmt: skip
def test_a_verb_loads_what_it_uses(folder, words, packages, rooms):
    assert loaded(folder, *words.split()) == (packages, rooms)


def test_the_list_of_verbs_has_the_sentence_of_each():
    for verb, (file, _, sentence, _) in VERBS.items():
        said = importlib.import_module(f"unveil.cli.{file}")
        assert getattr(said, verb.replace("-", "_")).__doc__.splitlines()[0] == sentence
        assert app[verb].help == sentence
