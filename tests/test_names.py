"""Every public name is there in a process that has asked for nothing else before."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unveil

ROOT = Path(__file__).parent.parent
# A copy of the process just after the import is as fresh as a new one, and comes at once; what is not of this package
# is loaded before.
EACH = """
import os, sys
import scipy.stats, sklearn.ensemble, sklearn.linear_model, pyarrow.compute, pyarrow.csv, pyarrow.parquet
import unveil
for path in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            found = unveil
            for name in path.split("."):
                found = getattr(found, name)
            os._exit(0)
        except BaseException as error:
            print(path, type(error).__name__, error, flush=True)
            os._exit(1)
    os.waitpid(child, 0)
"""
ROOMS = (
    "assessment", "columns", "conformance", "errors", "files", "inference", "intruders", "membership", "models",
    "posterior", "report", "sdc", "show", "simulate", "synthesis", "tables", "trees", "utility",
)  # fmt: skip
# What packages register entry points under has the form of a name of Python, and is none.
WRITTEN = re.compile(r"(?<![\w.`/-])(?<!entry-points\.\")unveil((?:\.[a-zA-Z_]\w*)+)")


def named_in_docs() -> list[str]:
    """What README and docs say stands in the package."""
    texts = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    return sorted({path[1:] for text in texts for path in WRITTEN.findall(text)})


def fresh(code: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot copy a process")
def test_every_name_is_there_by_itself():
    docs = named_in_docs()
    assert "simulate.latner_population" in docs
    assert fresh(EACH, *sorted({*unveil.__all__, *ROOMS, *docs})) == ""


def test_all_names_at_once():
    told = fresh("from unveil import *; print(sdc.__name__, callable(assess), callable(posterior), Pair.__name__)")
    assert told.split() == ["unveil.synthesis.sdc", "True", "True", "Pair"]


def test_names_are_listed_before_they_are_loaded():
    listed = fresh("import unveil; print(*dir(unveil))").split()
    assert set(unveil.__all__) | set(ROOMS) <= set(listed)


def test_table_measures_load_no_trees():
    assert fresh("import sys, unveil; unveil.identity; print('unveil.trees' in sys.modules)").strip() == "False"


def test_no_module_imports_the_package_that_it_is_part_of():
    source = ROOT / "src" / "unveil"
    rooms = {path.stem for path in source.iterdir()}
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not isinstance(node, ast.Import) or "unveil" not in names, path
            assert not isinstance(node, ast.ImportFrom) or node.module != "unveil" or set(names) <= rooms, path


def test_what_does_not_exist_is_said_to_be_missing():
    assert not hasattr(unveil, "does_not_exist")


@pytest.mark.parametrize("name", ["posterior", "utility", "membership", "conformance"])
def test_functions_are_not_hidden_by_rooms(name):
    code = f"""
import inspect, pydoc, unveil
from unveil.{name} import {name} as function
import unveil.{name}
assert unveil.{name} is function and inspect.isfunction(function), unveil.{name}
print(pydoc.render_doc(unveil.{name}, renderer=pydoc.plaintext))
"""
    described = fresh(code)
    assert f"{name}(" in described
    assert "->" in described.splitlines()[2] or "->" in described
    assert "Parameters" in described


FACE = {
    "conformance": "_conformance",
    "inference": "_rapid",
    "intruders": "_intruders",
    "membership": "_membership",
    "posterior": "_posterior",
    "report": "show.report",
    "tables": "_tables",
    "utility": "_utility",
}


def test_public_paths_hold_the_names_of_their_room_and_load_nothing_twice():
    code = """
import importlib, sys, unveil
for name, room in zip(sys.argv[1::2], sys.argv[2::2]):
    path, room = importlib.import_module(f"unveil.{name}"), importlib.import_module(f"unveil.{room}")
    assert path.__all__ == room.__all__ and set(room.__all__) <= set(dir(path)), name
    for member in room.__all__:
        assert getattr(path, member) is getattr(room, member) is getattr(getattr(unveil, name), member), member
        assert member in dir(getattr(unveil, name))
    assert path.__file__ != room.__file__ and not hasattr(path, "__path__") and not hasattr(path, "no_such_name")
    try:
        importlib.import_module(f"unveil.{name}.result")
    except ModuleNotFoundError as error:
        assert str(error) == f"No module named 'unveil.{name}.result'; 'unveil.{name}' is not a package"
        print(*(module for module in sys.modules if module.startswith(f"unveil.{name}.")), end="absent ")
"""
    assert fresh(code, *(word for pair in FACE.items() for word in pair)) == "absent " * len(FACE)


def test_functions_have_no_dunder_names_of_their_room_and_are_pickled_by_its_path():
    code = """
import pickle, unveil
from unveil.posterior import Prior
print([name for name in ("__all__", "__path__", "__file__", "__spec__") if hasattr(unveil.posterior, name)])
print(unveil.posterior.__module__.split(".")[:2], Prior.__module__.split(".")[:2])
assert pickle.loads(pickle.dumps(Prior)) is Prior is unveil.posterior.Prior
assert pickle.loads(pickle.dumps(unveil.posterior)) is unveil.posterior
"""
    assert fresh(code).splitlines() == ["[]", "['unveil', '_posterior'] ['unveil', '_posterior']"]
