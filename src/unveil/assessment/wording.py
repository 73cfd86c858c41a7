"""Figures in sentences: nothing is called none or all that is only nearly so."""

from __future__ import annotations

from collections.abc import Sequence


def probability(value: float) -> str:
    """A probability in percent, with as many digits as it takes to tell it from 0 and 1.

    Examples
    --------
    >>> probability(0.5), probability(1 / 406), probability(0.9987), probability(1.0), probability(0.0)
    ('50 %', '0.25 %', '99.9 %', '100 %', '0 %')
    """
    percent = 100 * value
    if 0 < percent < 1:
        return f"{percent:.2g} %"
    digits, text = 0, f"{percent:.0f}"
    while percent < 100 and float(text) == 100:
        digits += 1
        text = f"{percent:.{digits}f}"
    return f"{text} %"


def of_hundred(share: float, digits: int = 1) -> str:
    """Of a hundred persons how many; not 0 or 100 where it is not just that.

    Examples
    --------
    >>> of_hundred(0.123), of_hundred(0.0), of_hundred(1.0), of_hundred(0.0004), of_hundred(0.99996)
    ('12.3', '0', '100', '0.04', '99.996')
    >>> of_hundred(0.953, digits=0)
    '95'
    """
    if share in (0, 1):
        return f"{100 * share:g}"
    text = f"{100 * share:.{digits}f}"
    while float(text) in (0, 100):
        digits += 1
        text = f"{100 * share:.{digits}f}"
    return text


def listed(names: Sequence[str]) -> str:
    """The names in one phrase.

    Examples
    --------
    >>> listed(["age", "sex", "region"])
    'age, sex and region'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def words_and_options(action: str) -> tuple[str, str | None]:
    """An advice without the options of the command line that it ends with, and these, to be pasted; None without any.

    Examples
    --------
    >>> words_and_options("Do not count pairs: --exclude-pairs age=17:SINGLE")
    ('Do not count pairs.', '--exclude-pairs age=17:SINGLE')
    >>> words_and_options("Leave age out of the release.")
    ('Leave age out of the release.', None)
    """
    words, begin, options = action.partition(": --")
    return (f"{words}.", f"--{options}") if begin else (action, None)
