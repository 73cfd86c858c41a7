"""The verb `unveil sdc`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.cli.groups import FILES, OUTPUT
from unveil.cli.options import Listed, Whole
from unveil.cli.output import Output
from unveil.cli.parsing import assignments, named_path, names_of, plain_value
from unveil.cli.reading import Reading
from unveil.cli.screen import remark
from unveil.errors import CallError


@Parameter(name="*")
@dataclass(frozen=True)
class Steps:
    """What is done, in this order.

    Parameters
    ----------
    bottom_code
        Set smaller amounts to a limit: age=18 (repeat, or separate by commas).
    bottom_quantile
        The same, with a limit below which no more than a share of the amounts is: age=0.01.
    top_code
        Set larger amounts to a limit: income=9000.
    top_quantile
        The same, with a limit that a share of the amounts does not exceed: income=0.99.
    merge_rare_levels
        Merge levels that fewer records have than a number: region=10.
    into
        The level that they are merged into: region=elsewhere; default: other.
    smooth
        Add normal noise to amounts: income, or with the standard deviation of the noise, income=50.
    seed
        Seed of the noise, which must stay secret; default: one that nobody can guess.
    drop_replicated_uniques
        Remove the records of a release that replicate an original record that is unique on these keys, separated by
        commas; needs --original.
    label
        Add a column with this text in every record: "synthetic, not real persons".
    label_column
        Name of that column.
    """

    bottom_code: Listed = None
    bottom_quantile: Listed = None
    top_code: Listed = None
    top_quantile: Listed = None
    merge_rare_levels: Listed = None
    into: Listed = None
    smooth: Listed = None
    seed: Whole | None = None
    drop_replicated_uniques: Listed = None
    label: str | None = None
    label_column: str = "synthetic_label"

    def of(self, source: Any, original: Path | None, reading: Reading) -> list[Any]:
        """The steps that are asked for, for :func:`unveil.synthesis.sdc.steps.controlled`.

        Raises
        ------
        CallError
            If there are none, or one lacks what it needs.
        """
        if (original is None) != (self.drop_replicated_uniques is None):
            raise CallError("--drop-replicated-uniques KEYS and --original FILE go together: give both, or neither")
        steps = [*self._coding(), *self._merging(source), *self._smoothing()]
        if original is not None:
            steps.append(self._dropping(original, reading))
        if self.label is not None:
            from unveil.synthesis.sdc import label

            steps.append(partial(label, text=self.label, column=self.label_column))
        if not steps:
            raise CallError("nothing to do: name a step, such as --top-code income=9000; see unveil sdc --help")
        return steps

    def _coding(self) -> Iterator[Any]:
        from unveil.synthesis.sdc import bottom_code, top_code

        for option, function, limit in (
            ("bottom_code", bottom_code, "at"), ("bottom_quantile", bottom_code, "quantile"),
            ("top_code", top_code, "at"), ("top_quantile", top_code, "quantile"),
        ):  # fmt: skip
            for column, value in assignments(getattr(self, option), option):
                limits: dict[str, Any] = {limit: _number(value, option)}
                yield partial(function, column=column, **limits)

    def _merging(self, source: Any) -> Iterator[Any]:
        from unveil.synthesis.sdc import merge_rare_levels

        into = dict(assignments(self.into, "into"))
        for column, minimum in assignments(self.merge_rare_levels, "merge_rare_levels"):
            source.require(column)
            # The level is of the type of the column: 99 of a text is a text.
            level = into.pop(column, "other")
            holds_numbers = str(source.column(column).type) in ("int64", "double")
            yield partial(
                merge_rare_levels, column=column, minimum=_number(minimum, "merge_rare_levels"),
                into=plain_value(level) if holds_numbers else level,
            )  # fmt: skip
        if into:
            raise CallError(f"--into {next(iter(into))}: this column is not among those of --merge-rare-levels")

    def _smoothing(self) -> Iterator[Any]:
        from unveil.synthesis.sdc import smooth

        for text in (part for given in self.smooth or () for part in given.split(",")):
            column, sign, bandwidth = text.rpartition("=")
            width = _number(bandwidth, "smooth") if sign else None
            yield partial(smooth, column=column if sign else text, seed=self.seed, bandwidth=width)

    def _dropping(self, original: Path, reading: Reading) -> Any:
        from unveil.columns.pair import Pair
        from unveil.synthesis.sdc import drop_replicated_uniques

        def dropped(release: Any) -> Any:
            pair = Pair(reading.source(original), release)
            return drop_replicated_uniques(pair, names_of(self.drop_replicated_uniques or [], pair.names), data=release)

        return dropped


def sdc(
    file: Annotated[Path, Parameter(group=FILES)], *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], converter=named_path, group=OUTPUT)],
    original: Annotated[Path | None, Parameter(group=FILES)] = None, steps: Steps = Steps(),
    json: Annotated[str | None, Parameter(allow_leading_hyphen=True, group=OUTPUT)] = None,
    overwrite: Annotated[bool, Parameter(negative=(), group=OUTPUT)] = False,
    strict: Annotated[bool, Parameter(negative=(), group=OUTPUT)] = False, reading: Reading = Reading(),
) -> int:  # fmt: skip
    """Change a file by disclosure control, before or after synthesis: code, merge, smooth, remove.

    Gaps and special codes do not change. What the file then gives away is measured as before: unveil assess.

    Parameters
    ----------
    file
        The file of real records, or a release.
    original
        The file of real records that a release was made from, for --drop-replicated-uniques.
    output
        The file to write, in the format that its ending says. Only you can read it: it may hold real records.
    json
        Write the report of every step as JSON to this file, or to standard output with -. It stays in the building.
    overwrite
        Replace these files if they exist; never an input.
    strict
        End with exit status 3 if there are warnings; all is written anyway.
    """
    from unveil.files.write import write_table
    from unveil.synthesis.sdc.steps import controlled

    documents = Output(json=json, overwrite=overwrite, strict=strict)
    inputs = (file, *reading.files, *([original] if original else []))
    documents.check(inputs, tables=[output])
    source = reading.source(file)
    found = controlled(source, steps.of(source, original, reading))
    write_table(found.table, output, found.variables, source.form, overwrite=overwrite, confidential=True)
    remark(f"written: {output}")
    return documents.give(found)


def _number(text: str, option: str) -> Any:
    value = plain_value(text)
    if isinstance(value, str):
        raise CallError(f"--{option.replace('_', '-')} takes column=number, not {text!r}")
    return value
