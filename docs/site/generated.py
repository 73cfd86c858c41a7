"""Pages that are made while the site is built: commands, functions, and the examples with their pictures.

mkdocs calls :func:`on_config` and :func:`on_files`. What the pages say comes from the help of the command line and from
``__all__`` of the public modules, so that nothing public is left out and no copy of it has to be kept.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples"
THEME = ("site.css", "iframe-worker.js", "access.js")
MODULES = {
    "assessment": "Assessment",
    "tables": "Table measures",
    "inference": "RAPID",
    "posterior": "Bayesian risk",
    "intruders": "Intruders who know the synthesizer",
    "membership": "Membership",
    "utility": "Utility",
    "synthesis": "Synthesis",
    "synthesis.sdc": "Disclosure control",
    "tuning": "Tuning",
    "files": "Files",
    "columns": "Columns",
    "report": "Reports",
    "conformance": "Conformance",
    "simulate": "Simulated populations",
    "trees": "Trees",
    "errors": "Errors",
}
"""Public modules in the order of the reference, with their headings."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation by the pages of which there is one for each example and each module."""
    assert config.nav is not None
    for section in config.nav:
        for title, pages in section.items():
            if title == "Examples":
                pages += [_in_site(path) for path in examples() if path.suffix == ".md"]
                pages += [path for path in drawn() if path.endswith(".md")]
            elif title == "Functions":
                pages += [{title: f"reference/{module}.md"} for module, title in MODULES.items()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the examples and what the theme needs to the files of the folder."""
    from mkdocs.structure.files import File

    single = {"reference/commands.md": commands(), "reference/json.md": entries(), "gallery.md": gallery()}
    for path, text in {**single, **functions()}.items():
        files.append(File.generated(config, path, content=text))
    for source in examples():
        files.append(File.generated(config, _in_site(source), abs_src_path=str(source)))
    for path, content in drawn().items():
        files.append(File.generated(config, path, content=content))
    for name in THEME:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(HERE / name)))
    return files


def commands() -> str:
    """The page of all verbs, from their own help."""
    from unveil.cli.run import VERBS, app

    parts = ["# Commands", "The help of every verb, as `unveil VERB --help` prints it.", app.help_epilogue or ""]
    for verb, (_, _, _, example) in VERBS.items():
        described = app[verb].generate_docs(heading_level=2, usage_name=f"unveil {verb}")
        # Its own heading names the verb alone.
        described = re.sub(r"\A## .*", f"## unveil {verb}", described)
        parts += [described, f"Example:\n\n```sh\nunveil {verb} {example}\n```"]
    return "\n\n".join(parts)


def entries() -> str:
    """The page of all entries of an assessment, from its JSON Schema."""
    from unveil.show.report.json_schema import assessment_schema
    from unveil.show.report.json_schema import entries as named

    head = (
        "# The JSON of an assessment\n\nEvery entry by its path, as `unveil json-schema` gives it; `[]` stands for "
        "each member of a list. [In short](../assessment.md#the-json).\n\n"
        "| entry | type | meaning |\n| --- | --- | --- |"
    )
    rows = (f"| `{path}` | {_types(one)} | {one.get('description', '')} |" for path, one in named(assessment_schema()))
    return "\n".join([head, *rows])


def functions() -> dict[str, str]:
    """A page for each public module, with every name that it gives away."""
    pages = {}
    for name, title in MODULES.items():
        module = importlib.import_module(f"unveil.{name}")
        room = _room(module)
        said = (inspect.getdoc(room) or "").partition("\n\n")[0]
        names = sorted(public_names(module), key=lambda member: (_rank(getattr(module, member)), member))
        parts = [_described(module, room, member) for member in names]
        pages[f"reference/{name}.md"] = "\n\n".join([f"# {title}", said, *parts])
    return pages


def public_names(module: ModuleType) -> list[str]:
    """Names that a module gives away: those it lists, else the classes that it defines."""
    own = (name for name, one in vars(module).items() if getattr(one, "__module__", None) == module.__name__)
    return list(getattr(module, "__all__", None) or (name for name in own if inspect.isclass(vars(module)[name])))


def gallery() -> str:
    """The page of all examples, with their first sentences and their pictures."""
    parts = ["# Gallery", "Examples with their pictures. The texts and scripts are in the folder `examples`."]
    for page in sorted(EXAMPLES.glob("*/README.md")):
        folder = f"examples/{page.parent.name}"
        title, _, text = page.read_text(encoding="utf-8").partition("\n\n")
        parts += [f"## [{title.removeprefix('# ')}]({folder}/README.md)", text.partition("\n\n")[0]]
        pictures = [_in_site(picture) for picture in sorted(page.parent.glob("*.svg"))]
        pictures += [path for path in drawn() if path.startswith(f"{folder}/") and path.endswith(".svg")]
        if f"{folder}/gallery.md" in drawn():
            parts += [f"[Tables, figures, and printed against computed numbers]({folder}/gallery.md)"]
        parts += [f"![{Path(picture).stem}]({picture})" for picture in pictures]
    return "\n\n".join(parts)


def examples() -> Iterator[Path]:
    """Texts, pictures and notebooks of the examples."""
    for path in sorted(EXAMPLES.glob("*/*")):
        if path.suffix in (".md", ".ipynb", ".svg"):
            yield path


@cache
def drawn() -> dict[str, bytes]:
    """Pages and figures of the papers that are redone, drawn now from the results of their commands."""
    # Scripts of the examples import each other from the folder of the project.
    sys.path.insert(0, str(ROOT))
    from examples.paper import drawn as drawn_of
    from examples.paper import papers

    return {f"examples/{paper}/{name}": content for paper in papers() for name, content in drawn_of(paper).items()}


def _in_site(example: Path) -> str:
    return f"examples/{example.relative_to(EXAMPLES).as_posix()}"


def _types(entry: Mapping[str, Any]) -> str:
    if "anyOf" in entry:
        return " or ".join(map(_types, entry["anyOf"]))
    if "const" in entry:
        return f'"{entry["const"]}"'
    kinds = entry.get("type", "any")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _room(module: ModuleType) -> ModuleType:
    """The room whose names a public module hands on."""
    handed = re.search(r"The public names of :mod:`(unveil[\w.]+)`", module.__doc__ or "")
    return importlib.import_module(handed[1]) if handed else module


def _rank(member: object) -> int:
    """Functions stand before classes, and these before constants."""
    return 0 if inspect.isfunction(member) else 1 if inspect.isclass(member) else 2


def _described(module: ModuleType, room: ModuleType, member: str) -> str:
    """What mkdocstrings puts in the place of one name."""
    import unveil
    from unveil.result import Result

    value = getattr(module, member)
    # A room may hold a file and a function of the same name; the file in which the function stands tells them apart.
    defined = getattr(value, "__module__", None) if _rank(value) < 2 else room.__name__
    shown = f"unveil.{member}" if member in unveil.__all__ else f"{module.__name__}.{member}"
    lines = [f"::: {defined}.{member}", "    options:", f"      heading: {shown}", f"      toc_label: {member}"]
    if inspect.isclass(value) and issubclass(value, Result):
        # Nobody makes a result by hand.
        lines += ["      separate_signature: false", "      show_signature: false", "      inherited_members: true"]
    return "\n".join(lines)
