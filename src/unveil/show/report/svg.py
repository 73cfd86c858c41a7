"""Pieces of inline SVG. Positions are percentages, so a plot fills its box while letters and marks keep their size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape


def tag(name: str, *content: str | Markup, **attributes: object) -> Markup:
    """An element; `class_` and `stroke_width` lose or change their underscores, None is left out.

    Examples
    --------
    >>> tag("text", "a < b", class_="tick", text_anchor="end", dx=None)
    Markup('<text class="tick" text-anchor="end">a &lt; b</text>')
    """
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(content)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup(text), inside)


def percent(position: float) -> str:
    """A position from 0 to 100 as SVG takes it."""
    return f"{position:.4g}%"


def mark(kind: str, x: float, y: float = 50.0) -> Markup:
    """One of the marks that the page defines once: value, margin, null, ceiling, held, point, hollow."""
    return tag("use", href=f"#mark-{kind}", x=percent(x), y=percent(y))


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line between two positions."""
    return tag("line", x1=percent(x1), y1=percent(y1), x2=percent(x2), y2=percent(y2), class_=class_)


def area(points: Iterable[tuple[float, float]], class_: str, closed: bool = False) -> Markup:
    """A path through the points, which are positions from 0 to 100."""
    steps = [f"{10 * x:.5g} {10 * y:.5g}" for x, y in points]
    return tag("path", d="M" + "L".join(steps) + ("Z" if closed else ""), class_=class_)


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers that cover an axis.

    Examples
    --------
    >>> ticks(0, 1), ticks(0.13, 0.22)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.14, 0.16, 0.18, 0.2, 0.22])
    """
    span = max(high - low, 1e-9)
    rough = span / about
    power = 10.0 ** int(f"{rough:e}".split("e")[1])
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first = int(-(-low // step)) if low % step > 1e-9 * step else round(low / step)
    return [round(k * step, 10) for k in range(first, int((high + 1e-9 * span) / step) + 1)]


@dataclass(frozen=True)
class Frame:
    """A plot with two axes.

    Attributes
    ----------
    x, y
        Low and high end of the axes, in the units of the data.
    x_title, y_title
        Names of the axes.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_title: str
    y_title: str

    def across(self, value: float) -> float:
        """Position of a value on the horizontal axis, 0 to 100."""
        return 100 * (value - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, value: float) -> float:
        """Position of a value on the vertical axis, 0 (top) to 100."""
        return 100 - 100 * (value - self.y[0]) / (self.y[1] - self.y[0])

    def axes(self, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]]) -> Markup:
        """Grid lines and their labels."""
        parts = [line(0, self.up(v), 100, self.up(v), "grid") for v, _ in y_ticks]
        parts += [line(self.across(v), 100, self.across(v), 0, "grid faint") for v, _ in x_ticks]
        parts.append(line(0, 100, 100, 100, "axis"))
        parts += [tag("text", text, x="0", y=percent(self.up(v)), dx=-8, dy="0.32em", class_="tick end")
                  for v, text in y_ticks]  # fmt: skip
        parts += [tag("text", text, x=percent(self.across(v)), y="100%", dy="1.6em", class_="tick middle")
                  for v, text in x_ticks]  # fmt: skip
        return Markup("").join(parts)

    def curves(self, *paths: Markup) -> Markup:
        """Paths, stretched to the box; their strokes keep their width."""
        inside = Markup("").join(paths)
        return Markup('<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%" '
                      'class="curves">{}</svg>').format(inside)  # fmt: skip

    def drawing(self, name: str, title: str, description: str, *content: Markup, height: int = 300) -> Markup:
        """The plot with its name and its description in words; names of axes stand outside, where long ones wrap."""
        inside = tag("title", title, id=f"{name}-title") + tag("desc", description, id=f"{name}-desc")
        svg = tag("svg", inside, *content, width="100%", height=height, role="img", class_="plot",
                  aria_labelledby=f"{name}-title", aria_describedby=f"{name}-desc")  # fmt: skip
        return tag("div", tag("div", self.y_title, class_="axis-title y"), svg,
                   tag("div", self.x_title, class_="axis-title x"), class_="frame")  # fmt: skip
