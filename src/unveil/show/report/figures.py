"""Figures in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

DASH = "–"
_SPACE = "\u00a0"


def percentage(value: float | None) -> str:
    """A percentage: one decimal from 1 to 99, two towards the ends, and never rounded to 0 or 100.

    Examples
    --------
    >>> [percentage(v).replace("\\u00a0", " ") for v in (13.98, 0.5, 0.001, 0, 99.97, 100)]
    ['14.0 %', '0.50 %', '<0.01 %', '0 %', '99.97 %', '100 %']
    """
    if value is None:
        return DASH
    return f"{_digits(value)}{_SPACE}%"


def _digits(value: float) -> str:
    if value < 0:
        return f"−{_digits(-value)}"
    if value in (0, 100):
        return f"{value:.0f}"
    if value < 0.005:
        return "<0.01"
    if 99.995 <= value < 100:
        return ">99.99"
    return _no_longer(value, 2 if value < 1 or 99.95 <= value < 100 else 1)


_ROUNDED: ContextVar[bool] = ContextVar("rounded", default=False)


@contextmanager
def rounded_before(yes: bool) -> Iterator[None]:
    """Print figures that were rounded before without further decimals.

    Examples
    --------
    >>> with rounded_before(True):
    ...     percentage(15.0).replace("\\u00a0", " "), quantity(0.6)
    ('15 %', '0.6')
    """
    token = _ROUNDED.set(yes)
    try:
        yield
    finally:
        _ROUNDED.reset(token)


def _no_longer(value: float, decimals: int) -> str:
    """A figure with this number of decimals, or fewer if it was rounded before."""
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if _ROUNDED.get() else text


def in_percent(value: float | None, unit: str) -> float | None:
    """The value in percent where it is a share."""
    return value if value is None or unit != "share" else 100 * value


def shown(value: float | None, unit: str) -> str:
    """A figure in its unit: percent, share (printed as percent) or anything else.

    Examples
    --------
    >>> shown(0.1398, "share").replace("\\u00a0", " "), shown(0.612, "auc"), shown(None, "share")
    ('14.0 %', '0.612', '–')
    """
    if value is None:
        return DASH
    if unit in ("percent", "share"):
        return percentage(in_percent(value, unit))
    return quantity(value, 2) if unit == "log odds" else quantity(value)


def interval(low: float | None, high: float | None, unit: str) -> str:
    """Both ends of an interval, or nothing where it was not computed."""
    if low is None or high is None:
        return ""
    left = shown(low, unit)
    if left == shown(high, unit):
        return left
    return f"{left.removesuffix(_SPACE + '%')} to {shown(high, unit)}"


def quantity(value: float | None, digits: int = 3) -> str:
    """A number of any size: whole numbers in groups of three, others with about three digits.

    Examples
    --------
    >>> quantity(5000).replace("\\u202f", " "), quantity(0.61234), quantity(-12.345), quantity(0.00004), quantity(None)
    ('5 000', '0.612', '−12.3', '4e-05', '–')
    """
    if value is None:
        return DASH
    if value < 0:
        return f"−{quantity(-value, digits)}"
    if isinstance(value, int) or value == int(value):
        return count(int(value))
    if value < 10**-digits:
        return f"{value:.1g}"
    if value < 10:
        return _no_longer(value, digits)
    return _no_longer(value, 1) if value < 1000 else count(round(value))


def count(value: int) -> str:
    """A whole number in groups of three."""
    return f"{value:,}".replace(",", "\u202f")


def seconds(value: float | None) -> str:
    """A span of time.

    Examples
    --------
    >>> seconds(0.04), seconds(12.34), seconds(754), seconds(None)
    ('0.04 s', '12.3 s', '12 min 34 s', '–')
    """
    if value is None:
        return DASH
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def value_text(value: Any) -> str:
    """The value of a table cell as text.

    Examples
    --------
    >>> value_text(True), value_text(["a", "b"]), value_text({"x": -8}), value_text(1e-8), value_text(None)
    ('yes', 'a, b', 'x: −8', '1e−08', '–')
    """
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value) if value >= 0 else f"−{count(-value)}"
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, dict):
        return "; ".join(f"{key}: {value_text(one)}" for key, one in value.items()) or DASH
    if isinstance(value, list):
        return ", ".join(value_text(one) for one in value) or DASH
    return str(value)


def column(values: Sequence[Any]) -> list[str]:
    """The cells of a column of a table: numbers with the same number of decimals, anything else as text.

    Examples
    --------
    >>> column([0.231, 612.0]), column([0.000014, 0.0002, 0.0])
    (['0.231', '612'], ['1.4e−05', '0.0002', '0'])
    >>> column([0.21, 6.52, -13.51, None]), column([0.006, 0.0123]), column([3, 2936]), column(["x", 1.5])
    (['0.21', '6.52', '−13.51', '–'], ['0.0060', '0.0123'], ['3', '2\u202f936'], ['x', '1.5'])
    """
    found = [v for v in values if v is not None]
    numeric = found and not any(isinstance(v, (bool, str, list, dict)) for v in found)
    if not numeric or _ROUNDED.get() or all(isinstance(v, int) for v in found):
        return [value_text(v) for v in values]
    largest = max(abs(v) for v in found)
    decimals = 1 if largest >= 100 else 2 if largest >= 1 else 3 if largest >= 0.1 else 4
    if largest >= 100 and min(abs(v) for v in found) < 1:
        return [value_text(v) for v in values]
    # A figure that is not 0 is not printed as 0.
    if any(0 < abs(v) < 0.5 * 10**-decimals for v in found):
        return [DASH if v is None else f"{v:.2g}".replace("-", "−") for v in values]
    return [DASH if v is None else f"{v:,.{decimals}f}".replace(",", "\u202f").replace("-", "−") for v in values]


def moment(text: str) -> str:
    """A point in time as people write it; unchanged if it is not in ISO format.

    Examples
    --------
    >>> moment("2026-11-27T14:03:22+00:00"), moment("yesterday")
    ('27 November 2026, 14:03 UTC', 'yesterday')
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = f" {found.tzname()}" if found.tzinfo else ""
    return f"{found.day} {found:%B %Y, %H:%M}{zone}"
