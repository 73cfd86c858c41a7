"""The site of the documentation shows all that is public; the site itself is built by .ci/site."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import unveil
from unveil.cli.run import VERBS

ROOT = Path(__file__).parent.parent
GENERATED = runpy.run_path(str(ROOT / "docs" / "site" / "generated.py"))


def test_the_reference_has_every_public_name():
    pages = GENERATED["functions"]()
    shown = set(re.findall(r"^      heading: unveil\.([\w.]+)$", "\n".join(pages.values()), re.M))
    assert set(unveil.__all__) - {"sdc", "simulate"} <= shown
    for module in GENERATED["MODULES"]:
        for name in getattr(importlib.import_module(f"unveil.{module}"), "__all__", ()):
            assert name in shown or f"{module}.{name}" in shown, f"{module}.{name}"


def test_every_module_with_public_names_has_a_page():
    rooms = {f"unveil.{room}" for room in unveil._MODULES.values()}
    given = {room for room in rooms if hasattr(importlib.import_module(room), "__all__")}
    assert given <= {f"unveil.{module}" for module in GENERATED["MODULES"]}


def test_the_page_of_commands_has_every_verb_with_its_options():
    page = GENERATED["commands"]()
    assert re.findall(r"^## unveil (.*)$", page, re.M) == list(VERBS)
    assert "`--targets STR...`" in page
    assert "```sh\nunveil report assessment.json -o report.html\n```" in page


def test_every_page_is_in_the_navigation():
    config = SimpleNamespace(nav=[{"Examples": []}, {"Functions": []}])
    examples, functions = (next(iter(one.values())) for one in GENERATED["on_config"](config).nav)
    written = {page.relative_to(ROOT).as_posix() for page in (ROOT / "examples").glob("*/*.md")}
    redone = {f"examples/{page.parent.name}/gallery.md" for page in (ROOT / "examples").glob("*/gallery.py")}
    assert set(examples) == written | redone
    assert {path for one in functions for path in one.values()} == set(GENERATED["functions"]())
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (*(ROOT / "docs").glob("*.md"), Path("gallery.md"), Path("reference/json.md")):
        assert f"{page.name}\n" in text, f"{page.name} has no line in mkdocs.yml"


def test_the_page_of_the_json_has_every_entry():
    page = GENERATED["entries"]()
    assert "| `figures[].value` | number or null | Mean over the releases. |" in page
    assert all(f"| `{name}` |" in page for name in unveil.assessment_schema()["properties"])


def test_the_gallery_shows_every_picture_of_the_examples():
    shown = re.findall(r"!\[[^\]]*\]\((examples/[^)]+)\)", GENERATED["gallery"]())
    kept = [path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").glob("*/*.svg")]
    drawn = [path for path in GENERATED["drawn"]() if path.endswith(".svg")]
    assert drawn
    assert sorted(shown) == sorted([*kept, *drawn])
