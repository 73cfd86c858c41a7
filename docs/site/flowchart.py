"""Flow charts of Mermaid, drawn as SVG while the site is built, so that a reader needs no script and no network.

mkdocs calls :func:`on_page_markdown`. Only what ``docs/draw_rooms.py`` writes is understood: boxes, and arrows down.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from typing import Any

CHART = re.compile(r"^```mermaid\nflowchart TD\n(.*?)^```$", re.M | re.S)
BOX = re.compile(r'^ +(\w+)\["(.*)"\]$', re.M)
ARROW = re.compile(r"^ +(\w+) --> (\w+)$", re.M)
WIDTH, HEIGHT, ACROSS, DOWN = 130, 34, 150, 84


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a picture in the place of each flow chart."""
    return CHART.sub(lambda chart: drawn(dict(BOX.findall(chart[1])), ARROW.findall(chart[1])), markdown)


def drawn(boxes: dict[str, str], arrows: list[tuple[str, str]]) -> str:
    """Boxes on floors, each below all boxes that point to it.

    Examples
    --------
    >>> drawn({"a": "top", "b": "bottom"}, [("a", "b")]).count("<rect")
    2
    """
    floors: dict[int, list[str]] = defaultdict(list)
    for box in boxes:
        floors[_floor(box, arrows)].append(box)
    across = max(map(len, floors.values())) * ACROSS
    at = {
        box: (round(across * (place + 0.5) / len(row)), DOWN * floor + HEIGHT)
        for floor, row in floors.items()
        for place, box in enumerate(row)
    }
    lines = [_line(*at[above], *at[below]) for above, below in arrows]
    shapes = [_box(*at[box], text) for box, text in boxes.items()]
    return (
        f'<svg class="flowchart" role="img" aria-label="Which room imports from which" '
        f'viewBox="0 0 {across} {DOWN * len(floors)}" xmlns="http://www.w3.org/2000/svg">'
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 8 4 0 8z"/></marker>{"".join(lines + shapes)}</svg>'
    )


def _floor(box: str, arrows: list[tuple[str, str]]) -> int:
    return max((1 + _floor(above, arrows) for above, below in arrows if below == box), default=0)


def _line(x: int, y: int, to_x: int, to_y: int) -> str:
    y, to_y = y + HEIGHT // 2, to_y - HEIGHT // 2
    bend = (to_y - y) // 2
    return f'<path class="arrow" d="M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}"/>'


def _box(x: int, y: int, text: str) -> str:
    shape = f'<rect x="{x - WIDTH // 2}" y="{y - HEIGHT // 2}" width="{WIDTH}" height="{HEIGHT}"/>'
    return f'{shape}<text x="{x}" y="{y}">{html.escape(text)}</text>'
