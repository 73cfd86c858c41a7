"""Sentences in two versions: with the figures as they are, and as a document for publication holds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from unveil.assessment.rounding import Rounding, significant
from unveil.assessment.wording import of_hundred, probability
from unveil.notes import Note
from unveil.result import counting, in_units, number

HELD_BACK = "left out here, as it may name values or counts; the assessment that stays in the building has it"
"""Stands for a text of which nobody has said what may be published."""
TOO_FEW_REASON = "the records are too few for a figure that may be published"
TOO_FEW = f"{TOO_FEW_REASON[0].upper()}{TOO_FEW_REASON[1:]}."
SUFFIX = "_public"
_LEAST = 0.01
"""Of a hundred persons the smallest expected number that is written."""
_LISTS = ("warnings", "notes", "checks", "sentences", "summary")
"""Fields that hold lists of sentences."""


def notes_in_units(value: Any, unit: Sequence[str]) -> Any:
    """The same with units in the sentences where figures count units; other texts stay.

    Parameters
    ----------
    value
        Lists and mappings with sentences (:class:`unveil.notes.Note`) in them.
    unit
        The columns that name units; none where records are counted.

    Examples
    --------
    >>> notes_in_units(["record", Note("of 100 records")], ["person_id"])
    ['record', 'of 100 units']
    """
    if isinstance(value, Note):
        with counting(unit):
            return Note(in_units(value), in_units(value.public))
    if isinstance(value, Mapping):
        return {name: notes_in_units(part, unit) for name, part in value.items()}
    return [notes_in_units(part, unit) for part in value] if isinstance(value, list | tuple) else value


class Exact:
    """Figures in a sentence as they are."""

    def percent(self, value: float, digits: int = 1) -> str:
        """A percentage, without its sign."""
        return number(value, digits)

    def hundred(self, share: float, digits: int = 1) -> str:
        """Of a hundred persons how many."""
        return number(share) if math.isnan(share) else of_hundred(share, digits)

    def probability(self, value: float) -> str:
        """A mean probability, in percent."""
        return probability(value)

    def prior(self, value: float) -> str:
        """A mean prior, which is no share of persons."""
        return probability(value)

    def expected(self, share: float) -> str:
        """Of a hundred persons about how many are expected: a sum of probabilities, which is no number of persons."""
        return _about(share, of_hundred(share))

    def ratio(self, value: float) -> str:
        """A number without unit."""
        return number(value, 1)

    def amount(self, value: float, unit: str) -> str:
        """A figure in its unit: shares are percent."""
        if unit == "auc":
            return f"{value:.3g}"
        return f"{100 * value if unit == 'share' else value:.3g} %"

    def count(self, n: int) -> str:
        """A number of records."""
        return str(n)


class _TooFewError(Exception):
    """There are too few persons for a figure in a sentence that is published."""


class Rounded(Exact):
    """Figures in a sentence as they are published."""

    def __init__(self, rounding: Rounding):
        self.rounding = rounding

    def percent(self, value: float, digits: int = 1) -> str:
        """The percentage, rounded."""
        return self._plain(self.rounding.percent(value))

    def hundred(self, share: float, digits: int = 1) -> str:
        """Of a hundred persons how many, rounded."""
        return self.percent(100 * share)

    def probability(self, value: float) -> str:
        """A mean probability in percent, rounded as a share of persons is."""
        return self._in_percent(self.rounding.share(value))

    def prior(self, value: float) -> str:
        """A mean prior in percent; below one step it has one digit."""
        return self._in_percent(self.rounding.expected(value))

    def _in_percent(self, rounded: float | None) -> str:
        return f"{self._plain(None if rounded is None else 100 * rounded)} %"

    def expected(self, share: float) -> str:
        """Of a hundred persons about how many are expected, rounded; below one step with one digit."""
        found = self.rounding.expected(share)
        return _about(share, self._plain(None if found is None else 100 * found))

    def _plain(self, rounded: float | None) -> str:
        if self.rounding.step is None:
            raise _TooFewError
        return number(math.nan) if rounded is None else plain(rounded)

    def ratio(self, value: float) -> str:
        """Two digits."""
        return "-" if math.isnan(value) else plain(significant(value))

    def amount(self, value: float, unit: str) -> str:
        """A figure in its unit, rounded."""
        if unit == "auc":
            return self._plain(self.rounding.share(value))
        return f"{self.percent(100 * value if unit == 'share' else value)} %"

    def count(self, n: int) -> str:
        """About how many."""
        found = self.rounding.count(n)
        return f"fewer than {self.rounding.minimum_count}" if found is None else f"about {found}"


def _about(share: float, of_hundred_persons: str) -> str:
    """What is expected; a model may expect so little that its digits say nothing."""
    return f"fewer than {_LEAST}" if 0 < 100 * share < _LEAST else f"about {of_hundred_persons}"


def plain(value: float) -> str:
    """A rounded number with no more digits than it has.

    Examples
    --------
    >>> plain(15.0), plain(0.05), plain(14.2), plain(1e-05)
    ('15', '0.05', '14.2', '0.00001')
    """
    text = f"{value:.12f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def public_note(words: Callable[[Exact], str], rounding: Rounding) -> Note:
    """Return a sentence with its exact figures, and the same sentence with figures rounded for publication.

    Parameters
    ----------
    words
        Function that writes the sentence with a writer of figures.
    rounding
        How far figures are rounded for publication.

    Examples
    --------
    >>> found = public_note(lambda say: f"{say.percent(12.34)} of 100 records", Rounding(300, 10))
    >>> print(found, "|", found.public)
    12.3 of 100 records | 10 of 100 records
    """
    return note_with_figures(lambda say: words(say()), rounding)


class WriterOf(Protocol):
    """Give the writer of a sentence's figures: of figures of all persons, or of a figure of fewer persons."""

    def __call__(self, figure: Mapping[str, Any] | None = None, /) -> Exact:
        """Return the writer for a figure."""
        ...


def rounding_of(figure: Mapping[str, Any], rounding: Rounding) -> Rounding:
    """Return the rounding of a figure: that of all persons, unless the figure says that it is of fewer persons."""
    persons = figure.get("persons")
    return replace(rounding, persons=persons) if isinstance(persons, int) else rounding


def note_with_figures(words: Callable[[WriterOf], str], rounding: Rounding) -> Note:
    """Return a note as :func:`public_note` does, with figures of different numbers of persons.

    Parameters
    ----------
    words
        Function that writes the sentence; it gets the function from a figure (plain values) to the writer of its
        numbers.
    rounding
        How far figures of all persons are rounded for publication.
    """

    def exact(figure: Mapping[str, Any] | None = None) -> Exact:
        return Exact()

    def rounded(figure: Mapping[str, Any] | None = None) -> Exact:
        return Rounded(rounding if figure is None else rounding_of(figure, rounding))

    try:
        return Note(words(exact), words(rounded))
    except _TooFewError:
        return Note(words(exact), TOO_FEW)


def with_public(value: Any) -> Any:
    """Plain values of what holds notes: beside each its public text, as ``name_public``.

    A list of sentences gets a list as long, in which :data:`HELD_BACK` stands for those without a public text.

    Examples
    --------
    >>> with_public({"sentence": Note("7 of 300", "few"), "notes": ["exact"]})["sentence_public"]
    'few'
    """
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for name, one in value.items():
            found[name] = with_public(one)
            if isinstance(one, Note):
                found[name + SUFFIX] = one.public
            elif name in _LISTS and isinstance(one, list | tuple) and all(isinstance(text, str) for text in one):
                found[name + SUFFIX] = [getattr(text, "public", HELD_BACK) for text in one]
        return found
    if isinstance(value, list | tuple):
        return [with_public(one) for one in value]
    return str(value) if isinstance(value, Note) else value
