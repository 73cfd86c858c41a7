"""RAPID of several targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from unveil._rapid.result import Rapid
from unveil.files.source import Flavour
from unveil.result import Result, drawer, frame


class Rapids(Sequence[Rapid], Result):
    """RAPID of several targets inferred from the same keys; a sequence of :class:`Rapid`."""

    _words = "words.rapid.several_targets"

    def __init__(self, results: Sequence[Rapid], said: Sequence[str] = ()):
        self._results = tuple(results)
        self._said = tuple(said)

    @overload
    def __getitem__(self, index: int) -> Rapid: ...
    @overload
    def __getitem__(self, index: slice) -> Rapids: ...
    def __getitem__(self, index: int | slice) -> Rapid | Rapids:
        return Rapids(self._results[index], self._said) if isinstance(index, slice) else self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Rapid]:
        return iter(self._results)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out, and what deserves a look: of all targets, each once."""
        return tuple(dict.fromkeys([*self._said, *(text for result in self for text in result.warnings)]))

    def to_dict(
        self, *, curve: bool = False, attribution: bool = False, by: str | Sequence[str] = ()
    ) -> dict[str, Any]:
        """The results as plain values: ``keys``, ``targets`` (a list of :meth:`Rapid.to_dict`) and ``warnings``."""
        targets = [result.to_dict(curve=curve, attribution=attribution, by=by) for result in self]
        return {"keys": list(self[0].keys), "targets": targets, "warnings": list(self.warnings)}

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per target, attacker and release."""
        tables = [result.rows() for result in self]
        names = list(dict.fromkeys(name for table in tables for name in table))
        rows: dict[str, list[Any]] = {name: [] for name in names}
        for table in tables:
            for name in names:
                rows[name].extend(table.get(name) or [None] * len(table["target"]))
        return frame(rows, flavour or self[0].runner.problem.pair.flavour)

    def plot(self, ax: Any = None) -> Any:
        """Per target a dot for the rate, with its null and ceiling; needs matplotlib."""
        return drawer("plots.rapid.plot_targets")(self, ax=ax)
