"""Plots in one row of a table. The cells beside them hold the same figures, for readers who see no plots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from unveil.show.report.figures import in_percent
from unveil.show.report.svg import line, mark, percent, tag

# The rungs of a figure's ladder and the field each is drawn from; the figure itself last, so that it lies on top.
RUNGS = {"null": "null_mean", "margin": "margin", "ceiling": "ceiling", "held": "held_out", "value": "value"}
_ENDS = {"value": ("low", "high"), "null": ("null_mean", "null_95")}
_ROUND = (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)


def position(value: float | None, unit: str, top: float = 100.0) -> float | None:
    """Where a figure stands on an axis from 0 to `top` percent; an area under a curve has an axis from 0 to 1."""
    found = in_percent(value, "share" if unit == "auc" else unit)
    return None if found is None else min(100.0, max(0.0, 100 * found / top))


def round_top(values: Iterable[float | None], unit: str) -> float:
    """A round end, in percent, for an axis from 0 that shows all the values.

    Examples
    --------
    >>> round_top([0.03, 0.041, None], "share"), round_top([13.7, 14.97], "percent"), round_top([], "share")
    (5, 20, 1)
    """
    largest = max(
        (in_percent(v, "share" if unit == "auc" else unit) or 0.0 for v in values if v is not None), default=0
    )
    return next((end for end in _ROUND if end >= largest), 100)


def ladder_top(figure: dict[str, Any]) -> float:
    """End of the axis of one figure: all rungs but the ceiling, which may lie far beyond them."""
    if figure["unit"] == "auc":
        return 100
    return round_top(
        (figure[k] for k in ("value", "high", "margin", "null_mean", "null_95", "held_out")), figure["unit"]
    )


def _strip(*content: Markup, middle: bool = False) -> Markup:
    """The box of a strip; its grid is drawn by the style sheet."""
    zero = [line(50, 0, 50, 100, "grid zero")] if middle else []
    return tag("svg", *zero, *content, class_="strip", aria_hidden="true")


def ladder(figure: dict[str, Any]) -> Markup:
    """All rungs of a figure's ladder on one line from 0 to 100 percent."""
    return _strip(*(piece for kind in RUNGS for piece in _marks(kind, figure, 100)))


def against_chance(figure: dict[str, Any]) -> Markup:
    """The figure with its interval, what there is without the release, and the original itself."""
    beside = "margin" if figure["null_mean"] is None else "null"
    return _strip(*(piece for kind in (beside, "ceiling", "value") for piece in _marks(kind, figure, 100)))


def rung(kind: str, figure: dict[str, Any], top: float) -> Markup:
    """One rung of the ladder on an axis from 0 to `top` percent; an arrow where it lies beyond."""
    value = in_percent(figure[RUNGS[kind]], "share" if figure["unit"] == "auc" else figure["unit"])
    if value is not None and value > top:
        return _strip(line(80, 50, 100, 50, "beyond"), mark("beyond", 100))
    return _strip(*_marks(kind, figure, top))


def _marks(kind: str, figure: dict[str, Any], top: float) -> list[Markup]:
    """The mark of one rung, with its interval or band where there is one."""
    unit = figure["unit"]
    place = position(figure[RUNGS[kind]], unit, top)
    if place is None:
        return []
    low, high = (position(figure[end], unit, top) for end in _ENDS.get(kind, (RUNGS[kind], RUNGS[kind])))
    if low is None or high is None or kind not in _ENDS:
        return [mark(kind, place)]
    return [*(_box(low, high, "null-band") if kind == "null" else whisker(low, high, "value-range")), mark(kind, place)]


def _box(low: float, high: float, class_: str) -> list[Markup]:
    return [tag("rect", class_=class_, x=percent(low), y=5, width=percent(max(high - low, 0.4)), height=14)]


def whisker(low: float, high: float, class_: str) -> list[Markup]:
    """An interval with its ends, at half the height of a strip; where it goes on beyond the strip it has none."""
    shown = [end for end in (low, high) if 0 <= end <= 100]
    left, right = percent(max(0.0, low)), percent(min(100.0, high))
    ends = [tag("line", class_=class_, x1=percent(end), x2=percent(end), y1=6, y2=18) for end in shown]
    return [tag("line", class_=class_, x1=left, x2=right, y1=12, y2=12), *ends]


def bar(value: float | None, low: float | None, high: float | None, unit: str, top: float) -> Markup:
    """A bar from 0 on an axis to `top` percent, with an interval where there is one."""
    length = position(value, unit, top)
    if length is None:
        return _strip()
    left, right = position(low, unit, top), position(high, unit, top)
    ends = [] if left is None or right is None else whisker(left, right, "bar-range")
    return _strip(*_box(0, length, "bar"), *ends)


def beside(original: float | None, releases: Iterable[float | None], top: float) -> Markup:
    """A bar for the share of the original, on an axis to `top` percent, and a mark for that of each release."""
    length = position(original, "share", top)
    places = [place for one in releases if (place := position(one, "share", top)) is not None]
    return _strip(
        *([] if length is None else _box(0, length, "original-bar")), *(mark("value", place) for place in places)
    )


def forest(value: float | None, low: float | None, high: float | None, reach: float) -> Markup:
    """A coefficient, which lies on the axis, with its interval around 0, which may reach beyond it."""

    def place(one: float) -> float:
        return 50 + 50 * one / reach

    if value is None:
        return _strip(middle=True)
    ends = [] if low is None or high is None else whisker(place(low), place(high), "value-range")
    return _strip(*ends, mark("value", place(value)), middle=True)
