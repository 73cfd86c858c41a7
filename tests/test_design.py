"""The page on the design says what the code is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
ROOMS = runpy.run_path(str(ROOT / "docs" / "draw_rooms.py"))


def test_the_picture_is_that_of_the_code():
    assert ROOMS["replaced"](PAGE) == PAGE, "run python docs/draw_rooms.py"


def test_the_rooms_of_the_table_are_those_of_the_code():
    table = PAGE.split("## Rooms")[1].split("Rooms of measures")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    drawn = set(ROOMS["imports"]())
    assert named - set(ROOMS["GROUND"]) == drawn - {"ground"}


def test_files_that_the_page_names_exist():
    named = re.findall(r"`([\w/]+\.(?:py|md|txt|toml|c|h))`", PAGE)
    places = (ROOT, ROOT / "src" / "unveil")
    assert len(named) > 30
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_a_way_has_eight_stations_at_most():
    ways = PAGE.split("## Three ways")[1].split("## Where to look")[0].split("\n**")[1:]
    assert len(ways) == 3
    assert all(3 < len(re.findall(r"^\d\. ", way, re.M)) <= 8 for way in ways)
