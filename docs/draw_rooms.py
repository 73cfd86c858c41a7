"""Draw the rooms of the package from its imports: ``python docs/draw_rooms.py`` rewrites the picture in design.md.

A room is a folder or a file directly under ``src/unveil``. An arrow says "imports from". An arrow that follows from
two others is left out, so that the picture stays readable; the order of the layers is not drawn by hand, it is the
longest way down to a room that imports nothing. Imports for type checking count, and imports inside functions too.
"""

from __future__ import annotations

import ast
from pathlib import Path

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "unveil"
# Files of a few lines that every room may import, and that import no room.
GROUND = (
    "checks",
    "docstrings",
    "errors",
    "limits",
    "notebook",
    "notes",
    "plain",
    "printable",
    "registered",
    "threads",
    "version",
)
# The face of the package: files that hand on names of rooms.
FACE = (
    "__init__",
    "__main__",
    "conformance",
    "inference",
    "intruders",
    "membership",
    "posterior",
    "report",
    "tables",
    "utility",
)
BEGIN, END = "<!-- rooms: begin -->", "<!-- rooms: end -->"


def room_of(module: str) -> str:
    """The room of a module: ``unveil.files.source`` stands in ``files``."""
    name = module.split(".")[1]
    return "ground" if name in GROUND else name


def imports() -> dict[str, set[str]]:
    """By room the rooms that its files import from."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[1] in FACE:
            continue
        room = room_of(".".join(parts))
        used = found.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "unveil":
                used |= {room_of(f"unveil.{alias.name}") for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unveil."):
                used.add(room_of(str(node.module)))
            elif isinstance(node, ast.Import):
                used |= {room_of(alias.name) for alias in node.names if alias.name.startswith("unveil.")}
    return {room: used - {room} for room, used in found.items()}


def reached(arrows: dict[str, set[str]], room: str) -> set[str]:
    """All rooms below a room."""
    below = set(arrows[room])
    for other in arrows[room]:
        below |= reached(arrows, other)
    return below


def floors(arrows: dict[str, set[str]]) -> dict[str, int]:
    """The floor of every room: one above the highest room that it imports from."""
    known: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in known:
            known[room] = 1 + max((floor(other) for other in arrows[room]), default=-1)
        return known[room]

    return {room: floor(room) for room in sorted(arrows)}


def picture() -> str:
    """The rooms as a Mermaid flow chart, without arrows that follow from others."""
    arrows = imports()
    floor = floors(arrows)
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'  {room}["{room}"]' for room in sorted(arrows, key=lambda room: (-floor[room], room))]
    for room in sorted(arrows, key=lambda room: (-floor[room], room)):
        through = set().union(*(reached(arrows, other) for other in arrows[room]))
        lines += [f"  {room} --> {other}" for other in sorted(arrows[room] - through)]
    return "\n".join([*lines, "```"])


def replaced(page: str) -> str:
    """The page with the picture that the code gives now."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{picture()}\n{END}{after}"


if __name__ == "__main__":
    page = DOCS / "design.md"
    page.write_text(replaced(page.read_text(encoding="utf-8")), encoding="utf-8")
