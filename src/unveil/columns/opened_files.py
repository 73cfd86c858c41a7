"""The files of a pair: opened alike, under names that tell them apart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.files.opening import is_delimited, open_releases, open_source
from unveil.files.schema import as_schema
from unveil.files.source import KINDS, UNNAMED, Kind, Source, Variable


@dataclass(frozen=True, eq=False)
class FileOpener:
    """Opens files alike.

    Parameters
    ----------
    kinds
        By column, what the values are.
    reading
        Options of :func:`unveil.files.opening.open_source`; the schema holds the stated kinds.
    """

    kinds: Mapping[str, Kind]
    reading: Mapping[str, Any]

    @classmethod
    def of(cls, kinds: Mapping[str, Kind], schema: Any, **reading: Any) -> FileOpener:
        """The opener of files with some kinds and a schema.

        Raises
        ------
        CallError
            If a kind is unknown.
        """
        return cls(kinds, {"schema": _with_kinds(schema, kinds), **reading})

    def original_and_releases(self, original: Any, synthetic: Any) -> list[Source]:
        """The original, and then the releases.

        Raises
        ------
        CallError
            If there is no release.
        """
        given = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
        releases = [release for data in given for release in open_releases(data, encoding=self.reading["encoding"])]
        if not releases:
            raise CallError("no release given: pass the synthetic file, or a list of them")
        names = ["the release"] if len(releases) == 1 else [f"release {i}" for i in range(1, len(releases) + 1)]
        return told_apart(self.all_opened([original, *releases], ["the original", *names]))

    def all_opened(self, files: Sequence[Any], labels: Sequence[str]) -> list[Source]:
        """Every file; text files last, since others may know the labels that stand in the place of numbers there."""
        last = [bool(self.kinds) and is_delimited(data) for data in files]
        first = [
            None if wait else _opened(data, label, self.reading)
            for data, label, wait in zip(files, labels, last, strict=True)
        ]
        reading = self._with_labels([source for source in first if source is not None])
        return [
            source or _opened(data, label, reading) for source, data, label in zip(first, files, labels, strict=True)
        ]

    def beside(self, others: Sequence[Source], data: Any, label: str) -> Source:
        """A file that is read like others; only what is declared of its own columns holds for it."""
        reading = self._with_labels(others)
        if reading["schema"] is not None:
            names = _opened(data, label, {**reading, "schema": None}).names
            declared = as_schema(reading["schema"])
            reading = {**reading, "schema": {name: declared[name] for name in declared if name in names}}
        return _opened(data, label, reading)

    def _with_labels(self, sources: Sequence[Source]) -> Mapping[str, Any]:
        """How files are read, with the labels that others declare of columns whose kind is stated."""
        schema = as_schema(self.reading["schema"] or {})
        known = {}
        for name in self.kinds:
            labels = next((v.labels for s in sources if (v := s.variable(name)).labels), {})
            if labels and not schema[name].labels:
                known[name] = replace(schema[name], labels=labels)
        return {**self.reading, "schema": dict(schema) | known} if known else self.reading


def told_apart(sources: Sequence[Source]) -> list[Source]:
    """Files of one name under their paths, or with numbers where they have none, as parts of a file."""
    by_label: dict[str, dict[int, int]] = {}
    for one in sources:
        files = by_label.setdefault(one.label, {})
        files.setdefault(id(one.fetch), len(files) + 1)
    return [
        one
        if len(files := by_label[one.label]) == 1
        else replace(one, label=one.path or f"{one.label}, {files[id(one.fetch)]}")
        for one in sources
    ]


def _opened(data: Any, label: str, reading: Mapping[str, Any]) -> Source:
    named = isinstance(data, str | os.PathLike) or (isinstance(data, Source) and data.label != UNNAMED)
    return open_source(data, label=None if named else label, **reading)


def _with_kinds(schema: Any, kinds: Mapping[str, Kind]) -> Any:
    """The schema with the stated kinds, which text files must know before they are read."""
    for name, kind in kinds.items():
        check_choice(f"column {name!r}: kind", kind, KINDS)
    if not kinds:
        return schema
    given = {} if schema is None else dict(as_schema(schema))
    return given | {n: replace(given.get(n, Variable(n)), kind=kind) for n, kind in kinds.items()}
