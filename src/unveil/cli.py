"""The command line: one verb per function, options named like its parameters; no logic of its own."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter, Token

from unveil.cli_synthesize import synthesize
from unveil.errors import CallError, FileError, UnveilError, UnveilWarning

__all__ = ["app", "main"]

CANNOT_BE_MEASURED, WRONG_CALL, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141
_PLOT_ENDINGS = (".png", ".svg", ".pdf")

app = App(
    name="unveil",
    help="How much a synthetic or anonymised file gives away about the real people behind it.",
    help_format="plaintext",
)


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How the files are read.

    Parameters
    ----------
    special_codes
        Values that are not amounts, by column: income=-8 (repeat, or separate by commas).
    kinds
        What a column holds, by column: region=categorical.
    schema
        A schema file (TOML); `unveil schema FILE` writes a first one.
    missing
        A text that stands for a gap in delimited files, besides the empty field (repeat).
    encoding
        Encoding of delimited files, where it is not found out.
    delimiter
        Character between the fields, where it is not found out.
    decimal
        Decimal sign, where it is not found out.
    """

    special_codes: list[str] | None = None
    kinds: list[str] | None = None
    schema: Path | None = None
    missing: list[str] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None

    @property
    def gaps(self) -> tuple[str, ...]:
        """All texts that stand for a gap."""
        return ("", *(self.missing or ()))

    def pair(self, original: Path, synthetic: tuple[Path, ...]) -> Any:
        """Open the files."""
        from unveil.microdata.pair import Pair

        codes: dict[str, list[Any]] = {}
        for column, value in _assignments(self.special_codes, "special_codes"):
            codes.setdefault(column, []).append(_plain_value(value))
        return Pair(
            str(original), [str(path) for path in synthetic], special_codes=codes,
            kinds=dict(_assignments(self.kinds, "kinds")),  # type: ignore[arg-type]
            schema=None if self.schema is None else str(self.schema), missing=self.gaps,
            encoding=self.encoding, delimiter=self.delimiter, decimal=self.decimal,
        )  # fmt: skip


@Parameter(name="*")
@dataclass(frozen=True)
class Output:
    """Where the results go besides the terminal.

    Parameters
    ----------
    json
        Write the result as JSON to this file, or to standard output with -.
    plot
        Write the plot to this file (png, svg, pdf).
    overwrite
        Replace these files if they exist; never an input.
    """

    json: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    plot: Path | None = None
    overwrite: bool = False

    def check(self, inputs: tuple[Path, ...], *others: Path) -> None:
        """Refuse, before anything is computed, what could not be written afterwards."""
        named = [Path(self.json)] if self.json not in (None, "-") else []
        for path in (*named, *([self.plot] if self.plot else []), *others):
            if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
                raise CallError(f"{path} is an input; name another file to write to")
            if path.exists() and not self.overwrite:
                raise FileError(f"{path} exists; name another file, or replace it with --overwrite")
            if not path.parent.is_dir():
                raise FileError(f"{path}: there is no folder {path.parent}")
        if self.plot is not None and self.plot.suffix.lower() not in _PLOT_ENDINGS:
            raise CallError(f"{self.plot}: plots are written as {', '.join(_PLOT_ENDINGS)}")

    def give(self, result: Any, extra: dict[str, Any] | None = None) -> None:
        """Write the result where asked, then print it."""
        from unveil import __version__

        if self.plot is not None:
            _save_plot(result, self.plot, self.overwrite)
        if self.json is not None:
            document = {"unveil": __version__, "measure": type(result).__name__} | result.to_dict() | (extra or {})
            text = json.dumps(_defined(document), indent=2, ensure_ascii=self.json == "-", allow_nan=False)
            if self.json == "-":
                print(text)
                return
            _write_text(Path(self.json), text + "\n", self.overwrite)
        print(result)


Original = Annotated[Path, Parameter(help="The file of real records.")]
Synthetic = Annotated[tuple[Path, ...], Parameter(help="The release, or several.", negative=())]
Keys = Annotated[list[str], Parameter(help="Key variables, separated by commas.", negative=())]


def _whole(_: type, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; Python's own conversion of a fraction would cut it."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]
Listed = Annotated[list[str] | None, Parameter(negative=())]


@app.command
def identity(
    original: Original, *synthetic: Path, keys: Keys, use_keys_na: bool = True, ngroups_keys: Listed = None,
    by: str | None = None, records: Path | None = None,
    reading: Reading = Reading(), output: Output = Output(),
) -> None:  # fmt: skip
    """Persons who are unique on the keys, and found again in the release.

    Parameters
    ----------
    original
        The file of real records.
    synthetic
        The release, or several.
    keys
        Key variables, separated by commas.
    use_keys_na
        Whether combinations with a missing key count.
    ngroups_keys
        Groups for numeric keys: a number for all, or age=10.
    by
        Also show the measures for each level of this column.
    records
        Write the figures of every original record to this file. They are confidential.
    """
    import unveil

    output.check((original, *synthetic), *_record_files(records, len(synthetic)))
    pair = _opened(reading, original, synthetic)
    risk = unveil.identity(
        pair,
        _names(keys, pair.names),
        use_keys_na=use_keys_na,
        ngroups_keys=_groups(ngroups_keys, "ngroups_keys"),
    )
    groups = _groups_of(risk, by)
    _save_records(risk, records, output.overwrite)
    output.give(risk, {"intervals": _listed(risk.intervals())} | groups)
    _print_groups(groups, silent=output.json == "-")


@app.command
def attribute(
    original: Original, *synthetic: Path, keys: Keys, target: str | None = None, targets: Listed = None,
    ngroups_target: Listed = None, ngroups_keys: Listed = None, not_target_levels: Listed = None,
    use_target_na: bool = True, use_keys_na: bool = True, exclude_pairs: Listed = None,
    denom_limit: Whole | None = None, exclude_over_denom_limit: bool = False,
    check_1way: tuple[float, float] = (50, 90), check_2way: tuple[float, float] = (4, 80),
    cap_curve: bool = False, by: str | None = None,
    records: Path | None = None, reading: Reading = Reading(), output: Output = Output(),
) -> None:  # fmt: skip
    """What the keys give away about a target, through the release.

    Parameters
    ----------
    original
        The file of real records.
    synthetic
        The release, or several.
    keys
        Key variables, separated by commas.
    target
        One target variable.
    targets
        Several target variables, separated by commas; default: every other column.
    ngroups_target
        Groups for numeric targets: a number for all, or income=20.
    ngroups_keys
        Groups for numeric keys: a number for all, or age=10.
    not_target_levels
        Target levels that do not count, separated by commas; with several targets as workab=NO.
    use_target_na
        Whether a missing target counts.
    use_keys_na
        Whether combinations with a missing key count.
    exclude_pairs
        Key level and target level that do not count together: age=19:SINGLE (repeat).
    denom_limit
        Size above which cells do not count, with --exclude-over-denom-limit.
    exclude_over_denom_limit
        Leave out the cells above denom_limit.
    check_1way
        Thresholds of the 1-way check: records and percent.
    check_2way
        Thresholds of the 2-way check: records and percent.
    cap_curve
        Show CAP(tau), from DCAPd at 0 to DiSCO at 1; needs one target.
    by
        Also show the measures for each level of this column; needs one target.
    records
        Write the figures of every original record to this file; needs one target. They are confidential.
    """
    import unveil

    if cap_curve and (by is not None or records is not None):
        raise CallError("--cap-curve shows the curve alone; ask for --by and --records in a call of their own")
    if target is None and (cap_curve or by is not None or records is not None):
        raise CallError("--cap-curve, --by and --records need one target: name it with --target")
    output.check((original, *synthetic), *_record_files(records, len(synthetic)))
    pair = _opened(reading, original, synthetic)
    risk = unveil.attribute(
        pair, _names(keys, pair.names), target=target,
        targets=None if targets is None else _names(targets, pair.names),
        ngroups_target=_groups(ngroups_target, "ngroups_target"), ngroups_keys=_groups(ngroups_keys, "ngroups_keys"),
        not_target_levels=_levels(not_target_levels), use_target_na=use_target_na, use_keys_na=use_keys_na,
        exclude_pairs=_pairs(exclude_pairs), denom_limit=denom_limit,
        exclude_over_denom_limit=exclude_over_denom_limit, check_1way=check_1way, check_2way=check_2way,
    )  # fmt: skip
    if cap_curve:
        output.give(risk.cap_curve())
        return
    each = [risk] if target is not None else risk
    groups = _groups_of(risk, by)
    _save_records(risk, records, output.overwrite)
    output.give(risk, {"intervals": {one.target: _listed(one.intervals()) for one in each}} | groups)
    _print_groups(groups, silent=output.json == "-")


@app.command
def structure(
    original: Original, *synthetic: Path, keys: Keys, ngroups_keys: Listed = None,
    reading: Reading = Reading(), output: Output = Output(),
) -> None:  # fmt: skip
    """Which key combinations of the original the release keeps, and which it invents.

    Parameters
    ----------
    original
        The file of real records.
    synthetic
        The release, or several.
    keys
        Key variables, separated by commas.
    ngroups_keys
        Groups for numeric keys: a number for all, or age=10.
    """
    import unveil

    output.check((original, *synthetic))
    pair = _opened(reading, original, synthetic)
    output.give(unveil.structure(pair, _names(keys, pair.names), ngroups_keys=_groups(ngroups_keys, "ngroups_keys")))


@app.command
def keysets(
    original: Original, *synthetic: Path, keys: Keys, target: str | None = None, max_size: Whole = 4,
    ngroups_target: Listed = None, ngroups_keys: Listed = None, reading: Reading = Reading(), output: Output = Output(),
) -> None:  # fmt: skip
    """The measures over all small sets of keys, and without each key in turn.

    Parameters
    ----------
    original
        The file of real records.
    synthetic
        The release, or several.
    keys
        Key variables, separated by commas.
    target
        A target variable; without one only identity disclosure is measured.
    max_size
        Largest number of keys in a set.
    ngroups_target
        Groups for a numeric target: a number, or income=20.
    ngroups_keys
        Groups for numeric keys: a number for all, or age=10.
    """
    import unveil

    output.check((original, *synthetic))
    pair = _opened(reading, original, synthetic)
    output.give(
        unveil.key_sets(
            pair, _names(keys, pair.names), target=target, max_size=max_size,
            ngroups_target=_groups(ngroups_target, "ngroups_target"),
            ngroups_keys=_groups(ngroups_keys, "ngroups_keys"),
        )
    )  # fmt: skip


@app.command
def schema(
    file: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    *,
    reading: Reading = Reading(),
) -> None:
    """Write a first schema of a file: kinds, levels, suspected special codes; to be read and corrected.

    Parameters
    ----------
    file
        A file of microdata.
    output
        The schema file to write; default: standard output.
    """
    from unveil.microdata.files import open_source
    from unveil.microdata.schema import schema_text

    source = open_source(
        str(file), missing=reading.gaps, encoding=reading.encoding, delimiter=reading.delimiter,
        decimal=reading.decimal,
    )  # fmt: skip
    text = schema_text(source)
    if output is None:
        print(text, end="")
    elif output.exists():
        raise FileError(f"{output} exists; choose another name or remove it first")
    else:
        _write_text(output, text)


@app.command
def demo(n: Whole = 5000, *, seed: Whole = 1, folder: Path | None = None) -> None:
    """Measure two releases of a simulated survey, and explain what is seen.

    Parameters
    ----------
    n
        Number of simulated persons.
    seed
        Seed of the simulation.
    folder
        Keep the files in this folder.
    """
    from unveil.demo import show

    show(n, seed, folder)


app.command(synthesize)


def main() -> None:
    """Run the command line; exit 0, 1 (cannot be measured), 2 (wrong call) or 130 (interrupted)."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UnveilWarning)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its number instead of ending the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        _complain(" ".join(str(error).split()), WRONG_CALL)
    except CallError as error:
        _complain(str(error), WRONG_CALL)
    except UnveilError as error:
        _complain(str(error), CANNOT_BE_MEASURED)
    except BrokenPipeError:
        # Nobody reads any more; without this Python complains while it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        _complain(f"{error.filename or 'output'}: {error.strerror}", CANNOT_BE_MEASURED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _complain(message: str, status: int) -> None:
    print(f"unveil: {message}", file=sys.stderr)
    sys.exit(status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _opened(reading: Reading, original: Path, synthetic: tuple[Path, ...]) -> Any:
    if not synthetic:
        raise CallError("no release given: name the original, then one or more synthetic files")
    return reading.pair(original, synthetic)


def _names(given: list[str], known: tuple[str, ...]) -> list[str]:
    """Names separated by commas; a column whose own name has a comma is taken as it stands."""
    return [name for part in given for name in ([part] if part in known else part.split(","))]


def _assignments(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in (p for text in given or () for p in _split(text)):
        name, sign, value = part.rpartition("=")
        if not sign:
            raise CallError(f"--{option.replace('_', '-')} takes column=value, not {part!r}")
        pairs.append((name, value))
    return pairs


def _split(text: str) -> list[str]:
    """Assignments separated by commas; a comma inside a name separates nothing."""
    parts = text.split(",")
    return parts if all("=" in part for part in parts) else [text]


def _plain_value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _groups(given: list[str] | None, option: str) -> int | dict[str, int | None] | None:
    if given is None:
        return None
    try:
        if len(given) == 1 and "=" not in given[0]:
            return int(given[0])
        return {name: int(value) for name, value in _assignments(given, option)}
    except ValueError:
        raise CallError(f"--{option.replace('_', '-')} takes a whole number, or column=number, not {given!r}") from None


def _levels(given: list[str] | None) -> list[str] | dict[str, list[str]]:
    parts = [part for text in given or () for part in text.split(",")]
    if not any("=" in part for part in parts):
        return parts
    by_target: dict[str, list[str]] = {}
    for name, level in _assignments(given, "not_target_levels"):
        by_target.setdefault(name, []).append(level)
    return by_target


def _pairs(given: list[str] | None) -> list[tuple[str, str, str]]:
    triples = []
    for text in given or ():
        key, sign, levels = text.partition("=")
        level, colon, target_level = levels.partition(":")
        if not sign or not colon:
            raise CallError(f"--exclude-pairs takes key=key level:target level, not {text!r}")
        triples.append((key, level, target_level))
    return triples


def _groups_of(risk: Any, by: str | None) -> dict[str, Any]:
    """The measures by level of a column, per release, as rows."""
    if by is None:
        return {}
    return {"by": {label: risk.by(by, i, flavour="arrow").to_pylist() for i, label in enumerate(risk.labels)}}


def _print_groups(groups: dict[str, Any], *, silent: bool) -> None:
    from unveil.result import text_table

    for label, rows in groups.get("by", {}).items():
        if not silent:
            print(f"\n{label}, percent of the original records of each level\n")
            print(text_table(list(rows[0]), [list(row.values()) for row in rows]))


def _record_files(records: Path | None, n_releases: int) -> list[Path]:
    if records is None:
        return []
    return [records] if n_releases == 1 else [records.with_stem(f"{records.stem}_{i + 1}") for i in range(n_releases)]


def _save_records(risk: Any, records: Path | None, overwrite: bool) -> None:
    from unveil.microdata.write import write_table

    for i, path in enumerate(_record_files(records, len(risk.labels if records else ()))):
        write_table(risk.records(i, flavour="arrow"), str(path), overwrite=overwrite)
        print(f"notice: {path} holds figures of every single person: keep it in the building", file=sys.stderr)


def _listed(intervals: list[dict[str, tuple[float, float]]]) -> list[dict[str, list[float]]]:
    return [{name: list(ends) for name, ends in one.items()} for one in intervals]


def _defined(value: Any) -> Any:
    """JSON has no NaN: what is not defined is null."""
    if isinstance(value, dict):
        return {key: _defined(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(v) for v in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _save_plot(result: Any, path: Path, overwrite: bool) -> None:
    from unveil.microdata.atomic import replacing

    axes = result.plot()
    with replacing(path, overwrite=overwrite) as temporary:
        axes.figure.savefig(temporary, format=path.suffix.lower().lstrip("."))


def _write_text(path: Path, text: str, overwrite: bool = False) -> None:
    from unveil.microdata.atomic import replacing

    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
