"""Value labels: which file holds codes and which the labels of codes, and the two brought together.

SPSS, Stata, SAS and R keep labels beside the codes of a column; a schema file does it for any other file. One file
may then hold the codes and another the labels. What a value means is settled here, before anything is read as the kind
that is stated: every value becomes its code, and all files are given back either in numbers or in labels.

A value that is a code and also the label of another code is told by the rest of its file, and else said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from unveil.errors import DataError
from unveil.microdata.arrays import from_numpy, quoted_list, text_array
from unveil.microdata.coding import Distinct, level_text, level_texts
from unveil.microdata.numbers import exact_number, plain_text
from unveil.microdata.source import Kind, Scalar, Variable
from unveil.microdata.statistical import LETTERS, letter_code, letter_of
from unveil.notes import Note

__all__ = ["Labels", "Naming", "by_labels", "code_of", "codes_of_labels", "in_codes"]

Code = Scalar
Reading = Literal["codes", "labels", "both", "same", "neither"]
"""What a file's values are: "both" where some can only be codes and others only labels, "same" where each is both."""

_WORDS = ("text", "number", "logical", "empty")
_LOGICAL = {"true": True, "false": False}


@dataclass(frozen=True)
class Naming:
    """Other names of levels: how a level that is compared by its label, or by its code, may be called as well.

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
        """The text of a level that is given by its code or label, or None if it is neither.

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
    """Labels by code, and what they say of a value.

    Parameters
    ----------
    by_code
        Label without outer blanks by code.
    """

    by_code: Mapping[Code, str]

    @classmethod
    def of(cls, declared: Mapping[Scalar, str]) -> Labels:
        """Those that a variable declares; ``"1"`` and ``1.0`` are the code 1."""
        return cls({code_of(code): plain_text(text) for code, text in declared.items() if text.strip()})

    def or_else(self, others: Labels) -> Labels:
        """These, and those of other files as far as they say nothing of the same code or label."""
        known = set(self.by_code.values())
        more = {c: text for c, text in others.by_code.items() if c not in self.by_code and text not in known}
        return Labels(more | dict(self.by_code)) if more else self

    @cached_property
    def _by_label(self) -> dict[object, tuple[Code, ...]]:
        """Codes by label: by its text, by its number where it reads like one, and by its truth value."""
        found: dict[object, list[Code]] = {}
        for code, text in self.by_code.items():
            number = exact_number(text)
            for name in {text, base_of(code, text), text if number is None else number}:
                found.setdefault(name, []).append(code)
        # A label with its code behind it stands for the label alone only where no other code has that one.
        own = {text: (code,) for code, text in self.by_code.items() if list(self.by_code.values()).count(text) == 1}
        return {name: tuple(codes) for name, codes in found.items()} | own

    @cached_property
    def _has_letters(self) -> bool:
        return any(letter_of(code) for code in self.by_code)

    def code(self, value: object) -> Code | None:
        """The code that a value is, of those with a label or written as a letter; None if it is none."""
        code = code_of(value)
        if isinstance(value, str) and self._has_letters and (letter := _letter(value)) is not None:
            return letter
        return code if code in self.by_code else None

    def labelled(self, value: object) -> tuple[Code, ...]:
        """The codes that a value is a label of."""
        if isinstance(value, bool):
            return tuple(code for code, text in self.by_code.items() if _LOGICAL.get(text.lower()) is value)
        if not isinstance(value, str):
            return self._by_label.get(value, ())
        text = plain_text(value)
        return self._by_label.get(text) or self._by_label.get(exact_number(text), ())


def code_of(value: Any) -> Code:
    """A code as codes are compared: a text that writes a number exactly is that number.

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
    """The code of a letter as Stata and SAS write it (``.a``, ``.A``)."""
    text = text.strip().lower()
    return letter_code(text[1]) if len(text) == 2 and text[0] == "." and text[1] in LETTERS else None


def base_of(code: Code, label: str) -> str:
    """A label without the code that readers add where several codes have the same one.

    Examples
    --------
    >>> base_of(2, "other (2)"), base_of(2, "other")
    ('other', 'other')
    """
    return label.removesuffix(f" ({level_text(code)})")


# What the files hold


@dataclass(frozen=True)
class _File:
    """One file's values and what the labels say of them."""

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
        """By value, the codes that it is a label of."""
        return [self.labels.labelled(value) for value in self.values]

    @cached_property
    def places(self) -> list[tuple[Any, Code | None, tuple[Code, ...]]]:
        """By value: itself, the code that it is, and the codes that it is a label of."""
        return list(zip(self.values, self.codes, self.meant, strict=True))

    @cached_property
    def numbers_of_labels(self) -> frozenset[Code]:
        """Numbers that are labels and no codes with a label: they may be codes without one."""
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
        """Whether it holds a label of several codes, which another file may tell apart."""
        return any(is_label and len(meant) > 1 for is_label, meant in zip(self.are_labels, self.meant, strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether the codes are written as they are compared: "1.0" is not, nor is ".a" of Stata."""
        return self.found.family != "text" or all(
            code is None or level_text(code) == value for value, code in zip(self.values, self.codes, strict=True)
        )

    @cached_property
    def doubtful(self) -> list[int]:
        """Places of values that are a code and the label of another one, where the rest of the file does not tell."""
        if self.reading not in ("both", "same"):
            return []
        places = enumerate(self.places)
        return [i for i, (_, code, meant) in places if code is not None and meant and code not in meant]

    @cached_property
    def keys(self) -> list[Code]:
        """By value its code; a text that is neither code nor label stands for itself."""
        return [
            meant[0] if is_label else code_of(value) if code is None else code
            for (value, code, meant), is_label in zip(self.places, self.are_labels, strict=True)
        ]

    @cached_property
    def are_labels(self) -> list[bool]:
        """By value, whether it is taken as a label."""
        reading = self.reading
        return [
            bool(meant) and (reading == "labels" or (reading == "both" and code is None))
            for _, code, meant in self.places
        ]


def by_labels(
    found: Sequence[Distinct], variables: Sequence[Variable], kind: Kind | None = None
) -> tuple[list[Distinct], Naming, list[str]]:
    """Bring files that hold codes and files that hold their labels together, if labels are declared.

    Parameters
    ----------
    found
        The column in each file, the original first.
    variables
        What each file declares of it.
    kind
        The kind that is stated, if any. Numbers are given back where they are wanted, else labels.

    Returns
    -------
    list of Distinct
        The same records; unchanged where all files hold codes, or all labels.
    Naming
        How levels may be called besides.
    list of str
        What was replaced, and what deserves a look.

    Raises
    ------
    DataError
        If a numeric column holds a text that is neither a number nor a label.
    """
    declared = [Labels.of(variable.labels) for variable in variables]
    if not any(one.by_code for one in declared) or not all(f.family in _WORDS for f in found):
        return list(found), Naming(), []
    shared = Labels({})
    for one in declared:
        shared = shared.or_else(one)
    if _are_plain_codes(found, declared, shared):
        codes = {code: level_text(code) for code in shared.by_code}
        return list(found), _naming([shared], codes), []
    files = [
        _File(f, own.or_else(shared), variable.labelled, bool(own.by_code))
        for f, own, variable in zip(found, declared, variables, strict=True)
    ]
    # What a file of codes holds without a label is no label in the others.
    unlabelled = frozenset().union(*(f.numbers_of_labels for f in files if f.reading == "codes"))
    return _Meeting([replace(file, unlabelled=unlabelled) for file in files], shared, kind).result()


def in_codes(found: Distinct, variable: Variable, kind: Kind | None) -> Distinct:
    """The values of one file, with labels replaced by their codes where the stated kind asks for numbers."""
    return by_labels([found], [variable], kind)[0][0]


def codes_of_labels(texts: Sequence[str], declared: Mapping[Scalar, str]) -> dict[str, str]:
    """The code, as text, of each text that is a label, by what the texts of a column are together.

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
    file = _File(found, Labels.of(declared), is_labelled=False, declares=True)
    return {
        text: level_text(key)
        for text, key, meant in zip(texts, file.keys, file.meant, strict=True)
        if (meant or letter_of(key)) and text != level_text(key)
    }


class _Meeting:
    """The files of one column, whose values are compared by code."""

    def __init__(self, files: Sequence[_File], shared: Labels, kind: Kind | None) -> None:
        self.files = files
        self.shared = shared
        self.kind = kind
        self.column = files[0].found.column
        self.notes: list[str] = []

    def result(self) -> tuple[list[Distinct], Naming, list[str]]:
        found = [file.found for file in self.files]
        readings = {file.reading for file in self.files} - {"neither"}
        moved = self._moved()
        renamed = [] if moved else self._renamed()
        self._say_doubts()
        wants_codes = self.kind in ("numeric", "logical") and readings & {"labels", "both"}
        if readings <= {"codes", "same"} and not moved and all(file.is_plain for file in self.files):
            return found, self._naming(self._code_texts()), self.notes
        if readings == {"labels"} and not renamed and not wants_codes and not any(f.shares_labels for f in self.files):
            return found, self._naming(dict(self.shared.by_code)), self.notes
        keys = self._by_label(moved) if moved else [file.keys for file in self.files]
        if renamed:
            self._say_renamed(renamed)
        keys = self._merged(keys)
        self._refuse_lost_zeros(keys)
        return self._given_back(keys, bool(moved))

    # Labels that differ between files

    def _occurring(self, file: _File) -> dict[Code, str]:
        return {key: file.labels.by_code[key] for key in file.keys if key in file.labels.by_code}

    def _declaring(self) -> list[_File]:
        return [file for file in self.files if file.declares]

    def _moved(self) -> list[str]:
        """Labels that stand for different codes in two files that declare them, and occur."""
        moved = set()
        for file in self._declaring():
            for text in self._occurring(file).values():
                first = next(codes for one in self._declaring() if (codes := one.labels.labelled(text)))
                if not set(first) & set(file.labels.labelled(text)):
                    moved.add(text)
        return sorted(moved)

    def _renamed(self) -> list[tuple[Code, str, _File, str, _File]]:
        """Codes that have different labels in two files."""
        found: dict[Code, tuple[Code, str, _File, str, _File]] = {}
        known: dict[Code, tuple[str, _File]] = {}
        for file in self._declaring():
            for code, text in self._occurring(file).items():
                other, where = known.setdefault(code, (text, file))
                if text != other:
                    found.setdefault(code, (code, other, where, text, file))
        return list(found.values())

    def _by_label(self, moved: Sequence[str]) -> list[list[Code]]:
        """Keys by label where the files number their labels differently: the first file's codes stand for them."""
        self._note(
            f"the files give {quoted_list(moved)} different codes: compared by label",
            f"the files give {len(moved)} labels different codes: compared by label",
        )
        first = self._declaring()[0].labels
        keys = []
        for file in self.files:
            texts = [file.labels.by_code.get(key) for key in file.keys]
            keys.append(
                [
                    key if text is None else next(iter(first.labelled(text)), text)
                    for key, text in zip(file.keys, texts, strict=True)
                ]
            )
        return keys

    def _merged(self, keys: list[list[Code]]) -> list[list[Code]]:
        """Codes made one that a file of labels cannot tell apart."""
        into: dict[Code, Code] = {}
        for file in self.files:
            for meant, is_label in zip(file.meant, file.are_labels, strict=True):
                if len(meant) > 1 and is_label:
                    into.update(dict.fromkeys(meant, meant[0]))
        if not into or not any(k != into.get(k, k) for one in keys for k in one):
            return keys
        listed = ", ".join(level_text(code) for code in into)
        self._note(
            f"the codes {listed} share labels that a file holds in their place: taken as one",
            "some codes share labels that a file holds in their place: taken as one",
        )
        return [[into.get(k, k) for k in one] for one in keys]

    def _refuse_lost_zeros(self, keys: Sequence[Sequence[Code]]) -> None:
        """Texts with leading zeros beside codes that are numbers: these have lost the zeros, if they had any."""
        if all(isinstance(code, str) for code in self.shared.by_code):
            return
        for file, own in zip(self.files, keys, strict=True):
            for key in own:
                if isinstance(key, str) and key[:1] == "0" and key.isdigit() and int(key) in self.shared.by_code:
                    raise DataError(
                        f"column {self.column!r}: {file.found.label} has codes with leading zeros such as {key!r}, "
                        f"and the labels are those of numbers such as {int(key)}; write both alike"
                    )

    # What is said

    def _note(self, text: str, public: str | None = None) -> None:
        start = f"column {self.column!r}: "
        self.notes.append(Note(start + text, None if public is None else start + public))

    def _say_doubts(self) -> None:
        """Values that may be codes or labels of other codes, unless all files are in the same doubt."""
        for file in self.files:
            numbers = sorted(map(level_text, file.numbers_of_labels - file.unlabelled))
            if numbers and file.reading == "labels" and not file.is_labelled and not file.has_words:
                self._note(
                    f"{file.found.label} holds {quoted_list(numbers)}, labels of other codes and no labelled codes "
                    "themselves: taken as labels",
                    f"{file.found.label} holds numbers that are labels of other codes: taken as labels",
                )
        doubtful = [file for file in self.files if file.doubtful]
        if len(doubtful) == len([file for file in self.files if file.values]):
            return
        for file in doubtful:
            shown = quoted_list(sorted(level_text(file.values[i]) for i in file.doubtful))
            self._note(
                f"{file.found.label} holds {shown}, each a code and the label of another code: taken as codes; if they "
                "are labels, write codes in their place",
                f"{file.found.label} holds values that are codes and labels of other codes: taken as codes",
            )

    def _say_renamed(self, renamed: Sequence[tuple[Code, str, _File, str, _File]]) -> None:
        code, one, where, other, there = renamed[0]
        more = f"; and {len(renamed) - 1} more" if len(renamed) > 1 else ""
        self._note(
            f"{where.found.label} and {there.found.label} label codes differently ({level_text(code)} is {one!r} "
            f"and {other!r}{more}): compared by code",
            f"{where.found.label} and {there.found.label} label codes differently: compared by code",
        )

    def _say_replaced(self, files: Sequence[_File], what: str) -> None:
        if not files:
            return
        held = {"codes": "codes", "labels": "labels", "both": "codes and labels", "same": "codes", "neither": "codes"}
        where = ", ".join(f"{held[file.reading]} in {file.found.label}" for file in self.files if file.values)
        self.notes.append(Note(f"column {self.column!r} holds {where}: {what}"))

    # What is given back

    def _given_back(self, keys: list[list[Code]], moved: bool) -> tuple[list[Distinct], Naming, list[str]]:
        used = list(dict.fromkeys(key for one in keys for key in one))
        if self._as_numbers(used):
            texts = {key: level_text(key) for key in (*used, *self.shared.by_code)}
            results = [self._numbered(file, own) for file, own in zip(self.files, keys, strict=True)]
            changed = [f for f, r in zip(self.files, results, strict=True) if f.reading in ("labels", "both")]
            self._say_replaced(changed, "the labels were replaced by their codes")
            return results, self._naming(texts), self.notes
        texts = self._names(used) if self.kind != "logical" else {key: level_text(key) for key in used}
        results = [self._named(file, [texts[key] for key in own]) for file, own in zip(self.files, keys, strict=True)]
        changed = [
            file
            for file, result in zip(self.files, results, strict=True)
            if file.reading != "labels" and level_texts(file.found.values) != result.values.to_pylist()
        ]
        self._say_replaced(changed, "the codes were replaced by their declared labels")
        return results, self._naming(self._names(self.shared.by_code) | texts), self.notes

    def _as_numbers(self, used: Sequence[Code]) -> bool:
        if self.kind == "numeric":
            return True
        every = all(key in self.shared.by_code for key in used)
        return self.kind is None and not every and not any(isinstance(key, str) for key in used)

    def _numbered(self, file: _File, keys: Sequence[Code]) -> Distinct:
        found = file.found
        if found.family == "empty" or (found.family == "number" and list(keys) == file.values):
            return found
        for i, key in enumerate(keys):
            if isinstance(key, str):
                row = int(np.flatnonzero(found.codes == i)[0]) + 1
                raise DataError(
                    f"{found.label}: column {self.column!r}, record {row}: {file.values[i]!r} is neither a number nor "
                    "a label of one; correct the file, or state the kind 'categorical'"
                )
        whole = all(isinstance(key, int) for key in keys)
        return replace(
            found, family="number", values=from_numpy(np.array(keys, dtype=np.int64 if whole else np.float64))
        )

    def _named(self, file: _File, texts: Sequence[str]) -> Distinct:
        if file.found.family == "empty":
            return file.found
        return replace(file.found, family="text", values=text_array(list(texts)))

    def _names(self, used: Iterable[Code]) -> dict[Code, str]:
        """The text of every code: its label, with the code behind it where another level reads alike."""
        used = list(used)
        texts = {key: self.shared.by_code.get(key, level_text(key)) for key in used}
        taken: dict[str, int] = {}
        for text in texts.values():
            taken[text] = taken.get(text, 0) + 1
        return {
            key: f"{text} ({level_text(key)})" if taken[text] > 1 and key in self.shared.by_code else text
            for key, text in texts.items()
        }

    def _code_texts(self) -> dict[Code, str]:
        return {code: level_text(code) for code in self.shared.by_code}

    def _naming(self, texts: Mapping[Code, str]) -> Naming:
        return _naming([file.labels for file in self.files], texts)


def _are_plain_codes(found: Sequence[Distinct], declared: Sequence[Labels], shared: Labels) -> bool:
    """Whether it takes no look at the values: numbers only, no label that reads like one, the same labels for all."""
    return (
        all(f.family in ("number", "empty") for f in found)
        and all(not one.by_code or one.by_code == shared.by_code for one in declared)
        and all(exact_number(text) is None for text in shared.by_code.values())
    )


def _naming(known: Sequence[Labels], texts: Mapping[Code, str]) -> Naming:
    by_label: dict[str, str] = {}
    for labels in known:
        for code, label in labels.by_code.items():
            if code in texts:
                by_label.setdefault(label, texts[code])
                if letter := letter_of(code):
                    by_label.setdefault(f".{letter}", texts[code])
    return Naming(dict(texts), by_label)
