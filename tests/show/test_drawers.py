"""Results find what shows them by name: every name that is used is there, and measuring loads nothing that draws."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unveil
from unveil.result import Result, Results, drawer

SOURCE = Path(unveil.__file__).parent


def asked_for() -> Iterator[tuple[Path, ast.expr]]:
    """What is asked of the drawer, and what results name as their words and their drawing."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "drawer":
                yield path, node.args[0]
            if isinstance(node, ast.Assign | ast.AnnAssign):
                name = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if isinstance(name, ast.Name) and name.id in ("_words", "_drawing") and node.value is not None:
                    yield path, node.value


NAMES = sorted({node.value for _, node in asked_for() if isinstance(node, ast.Constant)})


def test_names_are_written_out_where_they_are_used():
    others = {ast.unparse(node) for _, node in asked_for() if not isinstance(node, ast.Constant)}
    assert others == {"self._words", "self._drawing"}
    assert {name.partition(".")[0] for name in NAMES} == {"plots", "report", "words"}


@pytest.mark.parametrize("name", NAMES)
def test_every_drawer_is_there(name: str):
    assert callable(drawer(name))


def test_every_result_has_words_and_a_drawing():
    unveil.assess, unveil.conformance, unveil.membership, unveil.posterior, unveil.rapid, unveil.utility  # noqa: B018
    results = {*Result.__subclasses__(), *Results.__subclasses__()} - {Results}
    assert len(results) > 10
    assert {type_._words for type_ in results} <= set(NAMES)
    assert {type_._drawing for type_ in results if type_.plot is Result.plot} <= set(NAMES)


def test_a_list_of_names_has_words_and_no_drawing():
    assert "cart" in str(unveil.synthesizers())
    with pytest.raises(unveil.errors.CallError, match="has no plot"):
        unveil.synthesizers().plot()


def test_measuring_loads_nothing_that_draws():
    code = "import sys, unveil; unveil.identity, unveil.attribute; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"matplotlib", "unveil.core", "sklearn", "jinja2"}
    assert "unveil._tables" in loaded
    assert not [name for name in loaded if name.startswith("unveil.show") or name.partition(".")[0] in heavy]
