"""Plots with two axes: threshold curve, risk-utility map, histogram of the gain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from unveil.errors import DataError
from unveil.show.report.arrange import map_units
from unveil.show.report.figures import in_percent, quantity, shown
from unveil.show.report.svg import Frame, area, line, mark, percent, tag, ticks

SYMBOLS = {"tau": "τ", "epsilon": "ε"}
_PERCENT_TICKS = [(v / 100, f"{v} %") for v in range(0, 101, 20)]


def threshold_curve(curve: dict[str, Any], name: str, chosen: int, target: str) -> Markup:
    """Rate over thresholds, with its band, the null band and the ceiling; a line at the chosen threshold."""
    points = curve["points"]
    symbol = SYMBOLS.get(curve["threshold"], curve["threshold"])
    frame = _curve_frame(curve)

    def path(field: str, class_: str) -> Markup:
        found = [(frame.across(p["threshold"]), frame.up(p[field])) for p in points if p[field] is not None]
        return area(found, class_) if len(found) > 1 else Markup("")

    def band(low: str, high: str, class_: str) -> Markup:
        found = [p for p in points if p[low] is not None and p[high] is not None]
        there = [(frame.across(p["threshold"]), frame.up(p[high])) for p in found]
        back = [(frame.across(p["threshold"]), frame.up(p[low])) for p in reversed(found)]
        return area(there + back, class_, closed=True) if len(found) > 1 else Markup("")

    curves = frame.curves(
        band("null_mean", "null_95", "null-area"), band("low", "high", "value-area"),
        path("null_mean", "null-line"), path("ceiling", "ceiling-line"), path("rate", "value-line"),
    )  # fmt: skip
    at, rate = frame.across(points[chosen]["threshold"]), points[chosen]["rate"]
    cursor = [line(at, 0, at, 100, "cursor")]
    if rate is not None:
        cursor.append(mark("value", at, frame.up(rate)))
    return frame.drawing(
        name, f"Records at risk of inference of {target}, by threshold {symbol}", _in_words(points, symbol),
        frame.axes(_labelled(*frame.x), _PERCENT_TICKS), curves, tag("g", *cursor, class_="chosen"),
    )  # fmt: skip


def _labelled(low: float, high: float, unit: str = "") -> list[tuple[float, str]]:
    """Ticks with their labels, in percent where the axis is of percent or of shares."""
    found = [(v, in_percent(v, unit)) for v in ticks(low, high)]
    percents = " %" if unit in ("percent", "share") else ""
    return [(v, f"{label:.6g}{percents}".replace("-", "−")) for v, label in found]


def _curve_frame(curve: dict[str, Any]) -> Frame:
    symbol = SYMBOLS.get(curve["threshold"], curve["threshold"])
    ends = [point["threshold"] for point in curve["points"]]
    room = 0.5 if min(ends) == max(ends) else 0.0
    return Frame((min(ends) - room, max(ends) + room), (0, 1), f"threshold {symbol}", "records at risk")


def across(curve: dict[str, Any], threshold: float) -> str:
    """Position of a threshold on the curve's axis, in percent."""
    return f"{_curve_frame(curve).across(threshold):.4g}"


def _in_words(points: Sequence[dict[str, Any]], symbol: str) -> str:
    first, last = points[0], points[-1]
    text = (
        f"From {symbol} {first['threshold']:g} to {last['threshold']:g} the rate goes from "
        f"{shown(first['rate'], 'share')} to {shown(last['rate'], 'share')}"
    )
    for name, field in (("null", "null_mean"), ("ceiling", "ceiling")):
        if first[field] is not None:
            text += f"; the {name} from {shown(first[field], 'share')} to {shown(last[field], 'share')}"
    return text + ". All points are in the table below."


def risk_utility_map(found: dict[str, Any]) -> Markup:
    """Releases or synthesizers by risk and utility, numbered as in the table, with intervals."""
    points = [(n, p) for n, p in enumerate(found["points"], 1) if p["risk"] is not None and p["utility"] is not None]
    if not points:
        return Markup("")
    frame = Frame(
        _reach([p for _, p in points], "utility", found.get("utility_better") == "low"),
        _reach([p for _, p in points], "risk", True),
        f"utility: {found['utility']}", f"risk: {found['risk']}",
    )  # fmt: skip
    risk_unit, utility_unit = map_units(found)
    content = [frame.axes(_labelled(*frame.x, utility_unit), _labelled(*frame.y, risk_unit))]
    for number, point in points:
        x, y = frame.across(point["utility"]), frame.up(point["risk"])
        if point["risk_low"] is not None and point["risk_high"] is not None:
            content.append(line(x, frame.up(point["risk_low"]), x, frame.up(point["risk_high"]), "map-range"))
        if point["utility_low"] is not None and point["utility_high"] is not None:
            content.append(
                line(frame.across(point["utility_low"]), y, frame.across(point["utility_high"]), y, "map-range")
            )
        content.append(mark("point" if point["pareto"] else "hollow", x, y))
        content.append(tag("text", str(number), x=percent(x), y=percent(y), dx=10, dy=-8, class_="map-label"))
    words = "; ".join(
        f"{number}: {point['label']}, risk {shown(point['risk'], risk_unit)}, "
        f"utility {shown(point['utility'], utility_unit)}" + (", not beaten on both" if point["pareto"] else "")
        for number, point in points
    )
    return frame.drawing("map-plot", f"{found['risk']} and {found['utility']}", words, *content, height=340)


def _reach(points: Sequence[dict[str, Any]], name: str, from_nothing: bool) -> tuple[float, float]:
    """Ends of an axis that leave room beyond the outermost interval, but not for less than nothing or more than all."""
    values = [p[end] for p in points for end in (name, f"{name}_low", f"{name}_high") if p[end] is not None]
    low, high = min(values), max(values)
    if from_nothing:
        # An axis of its own range would make little of much, and much of little.
        low = min(low, 0.0)
    room = 0.08 * (high - low) or max(abs(high) * 0.1, 0.05)
    return max(low - room, 0.0) if low >= 0 else low - room, min(high + room, 1.0) if high <= 1 else high + room


def gain_histogram(histogram: dict[str, Any], name: str, target: str) -> Markup:
    """How many persons have which gain; groups below the minimum count are left out and hatched."""
    edges, counts = histogram["edges"], histogram["counts"]
    if len(edges) != len(counts) + 1 or any(low >= high for low, high in pairwise(edges)):
        raise DataError(f"gain_histogram of {target} needs rising edges, one more than counts")
    top = max([c for c in counts if c is not None], default=0) or 1
    frame = Frame((edges[0], edges[-1]), (0, top * 1.05), "normalised gain of the intruder", "records")
    bars = []
    for low, high, persons in zip(edges, edges[1:], counts, strict=False):
        height = top * 0.04 if persons is None else persons
        left, right = frame.across(low), frame.across(high)
        bars.append(
            tag("rect", x=percent(left + 0.15), width=percent(right - left - 0.3), y=percent(frame.up(height)),
                height=percent(100 - frame.up(height)), class_="bar hidden-count" if persons is None else "bar")
        )  # fmt: skip
    words = "; ".join(
        f"{low:g} to {high:g}: ".replace("-", "−")
        + ("too few to be shown" if persons is None else f"{persons} records")
        for low, high, persons in zip(edges, edges[1:], counts, strict=False)
    )
    axes = frame.axes(_labelled(*frame.x), [(v, quantity(v)) for v in ticks(0, top, 4)])
    return frame.drawing(name, f"Gain of an intruder who knows all but {target}", words, axes, *bars, height=220)


def weakening_curve(found: dict[str, Any], exact: float | None, name: str, target: str) -> Markup:
    """Mean posterior and prior by the share of other records known; shares stand side by side, not to scale.

    The exact posterior, where all are known, is a mark of its own; a share without a figure is a gap.
    """
    points = list(enumerate(found["points"]))
    frame = Frame((-0.4, len(points) - 0.6), (0, 1), "other records known (not to scale)", "probability of the truth")

    def places(field: str) -> list[tuple[float, float]]:
        return [(frame.across(n), frame.up(p[field])) for n, p in points if p[field] is not None]

    paths = [area(places(field), class_) for field, class_ in (("mean_prior", "null-line"),
             ("mean_posterior", "value-line")) if len(places(field)) > 1]  # fmt: skip
    marks = [mark("value", x, y) for x, y in places("mean_posterior")]
    values = [p["mean_posterior"] for _, p in points if p["mean_posterior"] is not None]
    if exact is not None:
        marks.append(mark("hollow", frame.across(0), frame.up(exact)))
    labels = [
        tag("text", shown(value, "share"), x=percent(x), y=percent(y), dy="-0.9em", class_="map-label middle")
        for (x, y), value in zip(places("mean_posterior"), values, strict=True)
    ]
    known = [(float(n), f"{100 * p['share_known']:g} %") for n, p in points]
    words = "; ".join(
        f"{text} known: {'no figure' if p['mean_posterior'] is None else shown(p['mean_posterior'], 'share')}"
        for (_, text), (_, p) in zip(known, points, strict=True)
    )
    return frame.drawing(
        name, f"Mean probability of the true {target}, by the share of other records known", words,
        frame.axes(known, _PERCENT_TICKS), frame.curves(*paths), *marks, *labels, height=240,
    )  # fmt: skip


def heat(value: float | None, top: float) -> str:
    """How strongly a cell of the heat map is coloured, in percent."""
    return "0" if value is None or top <= 0 else f"{100 * min(1.0, max(0.0, value / top)):.0f}"
