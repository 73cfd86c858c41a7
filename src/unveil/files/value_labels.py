"""Value labels: whether a file holds codes or the labels of codes.

SPSS, Stata, SAS and R store labels beside the codes of a column; a schema file does it for any other file. One file may
hold the codes and another the labels.

If a value is a code and also the label of another code, the rest of the file decides; if it cannot, there is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from unveil.files.arrays import text_array
from unveil.files.distinct import Distinct, level_text
from unveil.files.numbers import exact_number, plain_text
from unveil.files.source import Scalar
from unveil.files.statistical import LETTERS, letter_code, letter_of

Code = Scalar
Reading = Literal["codes", "labels", "both", "same", "neither"]
"""What the values of a file are: "both" if some can only be codes and others only labels, "same" if each is both."""

_LOGICAL = {"true": True, "false": False}


@dataclass(frozen=True)
class Naming:
    """Other names of levels: a level may be named by its label and by its code.

    Parameters
    ----------
    by_code
        Text of a level by code.
    by_label
        Text of a level by label, without outer blanks.
    """

    by_code: Mapping[Code, str] = field(default_factory=dict)
    by_label: Mapping[str, str] = field(default_factory=dict)

    def of(self, level: object) -> str | None:
        """Return the text of a level that is given by its code or label; None if it is neither.

        Examples
        --------
        >>> naming = Naming({1: "male"}, {"male": "male"})
        >>> naming.of(1), naming.of("1"), naming.of("male "), naming.of("x")
        ('male', 'male', 'male', None)
        """
        if not isinstance(level, str):
            try:
                return self.by_code.get(level)  # type: ignore[call-overload, no-any-return]
            except TypeError:
                return None
        return self.by_label.get(plain_text(level)) or self.by_code.get(code_of(level))


@dataclass(frozen=True)
class Labels:
    """Labels by code.

    Parameters
    ----------
    by_code
        Label without outer blanks by code.
    """

    by_code: Mapping[Code, str]

    @classmethod
    def of(cls, declared: Mapping[Scalar, str]) -> Labels:
        """Return the labels that a variable declares; ``"1"`` and ``1.0`` are the code 1."""
        return cls({code_of(code): plain_text(text) for code, text in declared.items() if text.strip()})

    def or_else(self, others: Labels) -> Labels:
        """Return these labels, and those of other files for other codes with other labels."""
        known = set(self.by_code.values())
        more = {c: text for c, text in others.by_code.items() if c not in self.by_code and text not in known}
        return Labels(more | dict(self.by_code)) if more else self

    @cached_property
    def _by_label(self) -> dict[object, tuple[Code, ...]]:
        """Codes by label: by its text, without the code added by readers, and by its number."""
        found: dict[object, list[Code]] = {}
        for code, text in self.by_code.items():
            number = exact_number(text)
            for name in {text, base_of(code, text), text if number is None else number}:
                found.setdefault(name, []).append(code)
        # A label with its code behind it may stand for the label alone, unless that is the label of one other code.
        own = {text: (code,) for code, text in self.by_code.items() if list(self.by_code.values()).count(text) == 1}
        return {name: tuple(codes) for name, codes in found.items()} | own

    @cached_property
    def _has_letters(self) -> bool:
        return any(letter_of(code) for code in self.by_code)

    def code(self, value: object) -> Code | None:
        """Return the code that a value is: a code with a label, or a letter; else None."""
        code = code_of(value)
        if isinstance(value, str) and self._has_letters and (letter := _letter(value)) is not None:
            return letter
        return code if code in self.by_code else None

    def labelled(self, value: object) -> tuple[Code, ...]:
        """Return the codes that a value is a label of."""
        if isinstance(value, bool):
            return tuple(code for code, text in self.by_code.items() if _LOGICAL.get(text.lower()) is value)
        if not isinstance(value, str):
            return self._by_label.get(value, ())
        text = plain_text(value)
        return self._by_label.get(text) or self._by_label.get(exact_number(text), ())


def code_of(value: Any) -> Code:
    """Return a code in the form in which codes are compared: text that writes an exact number is the number.

    Examples
    --------
    >>> code_of("1"), code_of(" 2.0"), code_of("01"), code_of(True)
    (1, 2, '01', 1)
    """
    if isinstance(value, str):
        text = plain_text(value)
        number = exact_number(text)
        return text if number is None else _whole(number)
    if isinstance(value, bool | np.bool_):
        return int(value)
    return _whole(value)


def _whole(number: Any) -> Code:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _letter(text: str) -> int | None:
    """Return the code of a letter as Stata and SAS write it (``.a``, ``.A``); else None."""
    text = text.strip().lower()
    return letter_code(text[1]) if len(text) == 2 and text[0] == "." and text[1] in LETTERS else None


def base_of(code: Code, label: str) -> str:
    """Return a label without the code that readers add if several codes have the same label.

    Examples
    --------
    >>> base_of(2, "other (2)"), base_of(2, "other")
    ('other', 'other')
    """
    return label.removesuffix(f" ({level_text(code)})")


# What the files hold


@dataclass(frozen=True)
class LabelledValues:
    """The values of one file, and whether they are codes or labels."""

    found: Distinct
    labels: Labels
    is_labelled: bool
    declares: bool
    unlabelled: frozenset[Code] = frozenset()

    @cached_property
    def values(self) -> list[Any]:
        values: list[Any] = self.found.values.to_pylist()
        return values

    @cached_property
    def codes(self) -> list[Code | None]:
        return [None if self.is_labelled else self.labels.code(value) for value in self.values]

    @cached_property
    def meant(self) -> list[tuple[Code, ...]]:
        """Codes by value that the value is a label of."""
        return [self.labels.labelled(value) for value in self.values]

    @cached_property
    def places(self) -> list[tuple[Any, Code | None, tuple[Code, ...]]]:
        """Per value: itself, the code that it is, and the codes that it is a label of."""
        return list(zip(self.values, self.codes, self.meant, strict=True))

    @cached_property
    def numbers_of_labels(self) -> frozenset[Code]:
        """Numbers that are labels and not labelled codes: they may be codes without a label."""
        numbers = (code_of(value) for value, code, meant in self.places if code is None and meant)
        return frozenset(number for number in numbers if not isinstance(number, str))

    @property
    def has_codes(self) -> bool:
        """Whether some value can only be a code."""
        return any(code is not None and not meant for _, code, meant in self.places)

    @property
    def has_words(self) -> bool:
        """Whether some value can only be a label."""
        return any(code is None and meant and isinstance(code_of(value), str) for value, code, meant in self.places)

    @cached_property
    def reading(self) -> Reading:
        if self.is_labelled:
            return "labels"
        if self.has_codes:
            return "both" if self.has_words else "codes"
        if self.has_words or self.numbers_of_labels - self.unlabelled:
            return "labels"
        return "same" if any(code is not None for code in self.codes) else "neither"

    @property
    def shares_labels(self) -> bool:
        """Whether the file holds a label of several codes, which another file may tell apart."""
        return any(is_label and len(meant) > 1 for is_label, meant in zip(self.are_labels, self.meant, strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether the codes are written as they are compared: "1.0" is not, nor is ".a" of Stata."""
        return self.found.family != "text" or all(
            code is None or level_text(code) == value for value, code in zip(self.values, self.codes, strict=True)
        )

    @cached_property
    def doubtful(self) -> list[int]:
        """Places of values that are a code and the label of another code, if the rest of the file cannot decide."""
        if self.reading not in ("both", "same"):
            return []
        places = enumerate(self.places)
        return [i for i, (_, code, meant) in places if code is not None and meant and code not in meant]

    @cached_property
    def keys(self) -> list[Code]:
        """Code of each value; a text that is neither code nor label stands for itself."""
        return [
            meant[0] if is_label else code_of(value) if code is None else code
            for (value, code, meant), is_label in zip(self.places, self.are_labels, strict=True)
        ]

    @cached_property
    def are_labels(self) -> list[bool]:
        """Whether each value is taken as a label."""
        reading = self.reading
        return [
            bool(meant) and (reading == "labels" or (reading == "both" and code is None))
            for _, code, meant in self.places
        ]


def codes_of_labels(texts: Sequence[str], declared: Mapping[Scalar, str]) -> dict[str, str]:
    """Return the code, as text, of each text of a column that is taken as a label.

    Parameters
    ----------
    texts
        Distinct values.
    declared
        Label by code.

    Examples
    --------
    >>> codes_of_labels(["none", "1", "25 or more"], {0: "none", 25: "25 or more"})
    {'none': '0', '25 or more': '25'}
    """
    values = text_array(list(texts))
    found = Distinct("", "", "text", values, np.arange(len(values), dtype=np.int32))
    file = LabelledValues(found, Labels.of(declared), is_labelled=False, declares=True)
    return {
        text: level_text(key)
        for text, key, meant in zip(texts, file.keys, file.meant, strict=True)
        if (meant or letter_of(key)) and text != level_text(key)
    }
