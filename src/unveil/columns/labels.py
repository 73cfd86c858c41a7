"""Bring files that hold codes and files that hold the labels of codes together.

What a value means is settled here, before anything is read as the kind that is stated: every value becomes its code,
and all files are given back either in numbers or in labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unveil.errors import DataError
from unveil.files.arrays import from_numpy, quoted_list, text_array
from unveil.files.distinct import Distinct, level_text, level_texts
from unveil.files.numbers import exact_number
from unveil.files.source import Kind, Variable
from unveil.files.statistical import letter_of
from unveil.files.value_labels import Code, LabelledValues, Labels, Naming
from unveil.notes import Note

_WORDS = ("text", "number", "logical", "empty")


def by_labels(
    found: Sequence[Distinct], variables: Sequence[Variable], kind: Kind | None = None
) -> tuple[list[Distinct], Naming, list[str]]:
    """Bring files that hold codes and files that hold their labels together, if labels are declared.

    Parameters
    ----------
    found
        The column in each file, the original first.
    variables
        Declaration of the column in each file.
    kind
        The declared kind, if any: for "numeric" the result holds numbers, else labels.

    Returns
    -------
    list of Distinct
        The same records; unchanged if all files hold codes, or all labels.
    Naming
        Other names of levels.
    list of str
        Notes on replaced and doubtful values.

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
        LabelledValues(f, own.or_else(shared), variable.labelled, bool(own.by_code))
        for f, own, variable in zip(found, declared, variables, strict=True)
    ]
    # A value without a label in a file of codes is not a label in the other files.
    unlabelled = frozenset().union(*(f.numbers_of_labels for f in files if f.reading == "codes"))
    return _Meeting([replace(file, unlabelled=unlabelled) for file in files], shared, kind).result()


def in_codes(found: Distinct, variable: Variable, kind: Kind | None) -> Distinct:
    """Return the values of one file, with labels replaced by their codes if the declared kind needs numbers."""
    return by_labels([found], [variable], kind)[0][0]


class _Meeting:
    """The files of one column, whose values are compared by code."""

    def __init__(self, files: Sequence[LabelledValues], shared: Labels, kind: Kind | None) -> None:
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

    def _occurring(self, file: LabelledValues) -> dict[Code, str]:
        return {key: file.labels.by_code[key] for key in file.keys if key in file.labels.by_code}

    def _declaring(self) -> list[LabelledValues]:
        return [file for file in self.files if file.declares]

    def _moved(self) -> list[str]:
        """Return the occurring labels that stand for different codes in two files."""
        moved = set()
        for file in self._declaring():
            for text in self._occurring(file).values():
                first = next(codes for one in self._declaring() if (codes := one.labels.labelled(text)))
                if not set(first) & set(file.labels.labelled(text)):
                    moved.add(text)
        return sorted(moved)

    def _renamed(self) -> list[tuple[Code, str, LabelledValues, str, LabelledValues]]:
        """Return the codes that have different labels in two files."""
        found: dict[Code, tuple[Code, str, LabelledValues, str, LabelledValues]] = {}
        known: dict[Code, tuple[str, LabelledValues]] = {}
        for file in self._declaring():
            for code, text in self._occurring(file).items():
                other, where = known.setdefault(code, (text, file))
                if text != other:
                    found.setdefault(code, (code, other, where, text, file))
        return list(found.values())

    def _by_label(self, moved: Sequence[str]) -> list[list[Code]]:
        """Return keys by label if files number their labels differently; the codes are those of the first file."""
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
        """Return keys in which codes are merged that a file of labels cannot tell apart."""
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
        """Raise an error for texts with leading zeros beside numeric codes, which may have lost their zeros."""
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
        """Note values that may be codes or labels of other codes, unless this holds for all files."""
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

    def _say_renamed(self, renamed: Sequence[tuple[Code, str, LabelledValues, str, LabelledValues]]) -> None:
        code, one, where, other, there = renamed[0]
        more = f"; and {len(renamed) - 1} more" if len(renamed) > 1 else ""
        self._note(
            f"{where.found.label} and {there.found.label} label codes differently ({level_text(code)} is {one!r} "
            f"and {other!r}{more}): compared by code",
            f"{where.found.label} and {there.found.label} label codes differently: compared by code",
        )

    def _say_replaced(self, files: Sequence[LabelledValues], what: str) -> None:
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

    def _numbered(self, file: LabelledValues, keys: Sequence[Code]) -> Distinct:
        found = file.found
        if found.family == "empty" or (found.family == "number" and list(keys) == file.values):
            return found
        for i, key in enumerate(keys):
            if isinstance(key, str):
                raise DataError(
                    f"{found.label}: {found.where(i)}: {file.values[i]!r} is neither a number nor "
                    "a label of one; correct the file, or state the kind 'categorical'"
                )
        whole = all(isinstance(key, int) for key in keys)
        return replace(
            found, family="number", values=from_numpy(np.array(keys, dtype=np.int64 if whole else np.float64))
        )

    def _named(self, file: LabelledValues, texts: Sequence[str]) -> Distinct:
        if file.found.family == "empty":
            return file.found
        return replace(file.found, family="text", values=text_array(list(texts)))

    def _names(self, used: Iterable[Code]) -> dict[Code, str]:
        """Return the text of every code: its label, followed by the code if another level has the same text."""
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
    """Whether all files hold codes for sure: only numbers, no labels that read like numbers, the same labels."""
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
