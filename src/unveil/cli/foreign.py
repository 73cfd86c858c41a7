"""Synthesizers of others, as several verbs name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cyclopts import Parameter

from unveil.cli.groups import OTHERS
from unveil.cli.options import Listed
from unveil.cli.parsing import setting_value
from unveil.errors import CallError


@Parameter(name="*", group=OTHERS)
@dataclass(frozen=True)
class ForeignSynthesizer:
    """A synthesizer that is not of this package.

    Parameters
    ----------
    synthesizer_command
        A program that makes a release from a file: "Rscript my.R {in} {out} {seed}"; {n} is the number of records.
    command_format
        Format of the files that the program reads and writes.
    command_time_limit
        Seconds after which a run of the program is ended.
    settings
        Settings of a synthesizer that is named, as epochs=10 (repeat, or separate by commas).
    """

    synthesizer_command: Listed = None
    command_format: Literal["csv", "parquet"] = "csv"
    command_time_limit: float = 3600.0
    settings: Listed = None

    def made(self, name: str | None) -> Any:
        """The synthesizer that the options and a name stand for; None if there is none.

        Raises
        ------
        CallError
            If they stand for several.
        """
        found = list(self.by_label([] if name is None else [name]).values())
        if len(found) > 1:
            raise CallError("one synthesizer is needed here: give one --synthesizer-command, or a name")
        return found[0] if found else None

    def by_label(self, names: Sequence[str]) -> dict[str, Any]:
        """Synthesizers by name, and those that call a program by their commands."""
        from unveil.synthesis.named import synthesizer_by_name

        if self.settings and len(names) != 1:
            raise CallError("--settings are those of one synthesizer: name it with --synthesizer")
        found = {name: synthesizer_by_name(name, **self.stated) for name in names}
        for command in self.synthesizer_command or ():
            from unveil.synthesis.adapters.command import CommandSynthesizer

            made = CommandSynthesizer(command, format=self.command_format, time_limit=self.command_time_limit)
            if made.__name__ in found:
                raise CallError(f"two synthesizers are called {made.__name__!r}; give their programs different names")
            found[made.__name__] = made
        return found

    @property
    def provenance(self) -> dict[str, Any]:
        """What the provenance of files says of it."""
        if self.synthesizer_command:
            return {"command": self.synthesizer_command[0], "format": self.command_format}
        return self.stated

    @property
    def stated(self) -> dict[str, Any]:
        """Settings by name."""
        found = {}
        for part in (one for text in self.settings or () for one in text.split(",")):
            name, sign, value = part.partition("=")
            if not sign:
                raise CallError(f"--settings takes setting=value, not {part!r}")
            found[name] = setting_value(value)
        return found
