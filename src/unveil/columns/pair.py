"""An original file and its releases, coded column by column over the union of their levels."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.coding import coded
from unveil.columns.column import CodedColumn, Grouping
from unveil.columns.combinations import KeyCombinations, fold_keys
from unveil.columns.common_cut import CommonCut, at_common_cut, recoded
from unveil.columns.counted import counted_column, held_values
from unveil.columns.grouping import Groups, checked_breaks, grouped, regrouped
from unveil.columns.hierarchy import Hierarchy, hierarchies_of
from unveil.columns.holdout import check_held_out
from unveil.columns.opened_files import FileOpener, told_apart
from unveil.columns.roles import Roles
from unveil.columns.unit_files import named_unit, source_of_units, units_of
from unveil.columns.units import MixedColumn, UnitColumn, UnitRows, in_units, jointly
from unveil.columns.unmatched import apart_of, notes_of, shares_of
from unveil.columns.weights import Weights, weights_of
from unveil.engines.choice import EngineName, engine_for
from unveil.errors import CallError, DataError, enough_memory
from unveil.files.arrays import from_numpy
from unveil.files.distinct import Distinct, distinct_of
from unveil.files.nearest import near_matches
from unveil.files.source import Flavour, Kind, Scalar, Source
from unveil.notes import Note, warn
from unveil.printable import commands_shown


class Pair:
    """An original file and one or more releases made from it.

    Columns are read and coded when a measure first asks for them: the values of all files become integers over
    the union of their levels, so that a level is the same number in every file.

    Parameters
    ----------
    original
        The file of real records: a path, a folder of Parquet files or a pattern of their names, a frame that speaks the
        Arrow C stream interface (pandas, polars, pyarrow, duckdb), a Spark DataFrame, or the result of
        :func:`unveil.read`.
    synthetic
        The release, or a list of m releases.
    holdout
        Real records of the same population that the synthesizer never used: a path or a frame, read like the others.
    special_codes
        By column, the values of a numeric variable that are not amounts, such as ``{"income": [-8]}``; they stay
        levels of their own when the column is grouped.
    kinds
        By column, what the values are ("numeric", "categorical", "ordered", "logical", "date", "datetime"), where
        the file leaves it open or is wrong.
    breaks
        By numeric column, ascending amounts at which the measures from tables cut it into groups, such as
        ``{"age": [18, 30, 65]}``: below 18, from 18 to below 30, from 30 to below 65, 65 or more. An option of a
        measure (``ngroups_keys``, ``ngroups_target``) counts before it.
    hierarchies
        By column the coarser levels of each level, or intervals of numbers: a TOML file or a mapping. The files are
        then compared at the coarseness of the releases: ``{"region": {"Bavaria": ["South", "Germany"]}}``,
        ``{"age": {"0-17": [0, 18], "18+": [18, 120]}}``.
    schema
        A schema file (TOML) or a mapping of column names to :class:`unveil.Variable`, used for every file.
    missing
        Texts that stand for a gap in delimited files; the same for every file. Default: only the empty field.
    encoding, delimiter, decimal
        Of delimited files, where they are not found out; the same for every file. For files that differ, read
        each with :func:`unveil.read`.
    weights
        Design weights of the original where it is a sample: how many persons of the population each record stands for.
        The name of a column, or one positive number per record; by default the column that a schema declares. The
        column is no default target, and is compared only where it is named.
    population
        Number of persons in the population from which the original is a sample; by default the sum of the weights.
        Weights with another sum are scaled. Without weights all records stand for equally many persons.
    engine
        Where records are counted for measures from tables: "memory", in columns that are read whole; "files", batch by
        batch, in little memory; "spark", in the workers of Spark, whose DataFrames all files are then; "auto", by Spark
        where they are its DataFrames, and batch by batch where all files can be read so and have many records together.
    memory_limit
        What counting batch by batch may take of memory, in bytes or as a text such as "2GB"; by default 2 GB.
    temp_dir
        Folder for counts that do not fit in memory; by default that of the system. They are in a file without a name,
        which goes with the process.

    unit
        Where several rows are of one person or household: the column that names a row's unit, or several columns that
        name it together, such as ``["household", "person"]``; by default those that a schema declares. Each file has
        them; their values need not be those of the other files. All columns, numbers of records and measures are then
        those of units: a column that differs within original units has all values of the unit's rows as one level.
    time
        The column by which the rows of a unit are in order, such as the wave of a panel. Without it their order does
        not matter.

    Attributes
    ----------
    original, releases
        The files; with a unit their records are units.
    unit, time
        The columns that name units and order their rows, or an empty tuple and None.
    special_codes, kinds, breaks
        As given, by column.
    weights
        What each original record stands for; None where the original is taken for the whole population.
    engine
        What counts records batch by batch, or where they are; None where columns are in memory.
    engine_is_free
        Whether none was asked for, so that columns may be coded in memory.

    Raises
    ------
    CallError
        If a named column does not exist, a kind is unknown, no release is given, weights are not one per record, or the
        population is smaller than the original.
    DataError
        If a file cannot be read, the original has no records, or a weight is not a positive number; with a unit, if a
        row has no unit or time, two rows of a unit have the same time, or weights differ within a unit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "m", "m"], "ill": [0, 1, None]})
    >>> pair = unveil.Pair(original, pa.table({"sex": ["m", "f"], "ill": [1.0, 0.0]}))
    >>> pair.column("ill").labels, pair.column("ill").original
    (('0', '1', 'Missing'), array([0, 1, 2], dtype=int32))
    """

    def __init__(
        self,
        original: Any,
        synthetic: Any,
        holdout: Any = None,
        *,
        special_codes: Mapping[str, Iterable[Scalar] | Scalar] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        breaks: Mapping[str, Sequence[float]] | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        weights: Any = None,
        population: float | None = None,
        schema: Any = None,
        missing: Sequence[str] = ("",),
        encoding: str | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        engine: EngineName = "auto",
        memory_limit: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        unit: str | Sequence[str] | None = None,
        time: str | None = None,
    ):
        for option, by_column in (("special_codes", special_codes), ("kinds", kinds), ("breaks", breaks)):
            if by_column is not None and not isinstance(by_column, Mapping):
                raise CallError(f"{option} are given by column, as a mapping, not as {by_column!r}")
        self.kinds = dict(kinds or {})
        self._opener = FileOpener.of(
            self.kinds, schema, missing=missing, encoding=encoding, delimiter=delimiter, decimal=decimal
        )
        self.original, *opened = self._opener.original_and_releases(original, synthetic)
        self.releases = tuple(opened)
        self._said: tuple[str, ...] = tuple(
            Note(f"{release.label} is the original itself: the figures are those of no protection at all")
            for release in self.releases
            if release.is_file_of(self.original)
        )
        if self.original.num_rows == 0:
            raise DataError(f"{self.original.label} has no records; there is nothing to measure")
        self.special_codes = {
            name: (codes,) if isinstance(codes, str) or not isinstance(codes, Iterable) else tuple(codes)
            for name, codes in (special_codes or {}).items()
        }
        self.breaks = {name: checked_breaks(name, given) for name, given in (breaks or {}).items()}
        known = {} if hierarchies is None else hierarchies_of(hierarchies)
        for name in (*self.kinds, *self.special_codes, *self.breaks, *known):
            self.original.require(name)
        self._cuts: tuple[CommonCut, ...] = ()
        if known:
            self._coarsen(known, engine)
        self.weights: Weights | None = None
        self._beside = 0
        self._told: set[str] = set()
        self._columns: dict[str, CodedColumn] = {}
        self._counted: dict[str, CodedColumn] = {}
        files = (self.original, *self.releases)
        self.unit, self.time = named_unit(self.original, unit, time)
        if self.unit and (engine not in ("auto", "memory") or any(file.distributed is not None for file in files)):
            raise CallError("units are made in memory: leave out engine, and give files or frames that are not Spark's")
        self.engine = engine_for(files, "memory" if self.unit else engine, memory_limit, temp_dir)
        self.engine_is_free = engine == "auto" and self.original.distributed is None
        self._of: tuple[Pair, NDArray[np.intp], tuple[int, ...]] | None = None
        self._grouped: dict[tuple[str, Groups], tuple[CodedColumn, Grouping]] = {}
        self._counted_grouped: dict[tuple[str, Groups], CodedColumn] = {}
        self._folded: tuple[tuple[CodedColumn, ...], KeyCombinations] | None = None
        self._everybody: Pair | None = None
        self._units: tuple[Pair, tuple[UnitRows, ...]] | None = None
        if self.unit:
            self._see_units(copy.copy(self))
            self._said += self._units_of_one_row()
        for text in self._said:
            warn(text)
        self.weights = weights_of(self.original, weights, population)
        self._weigh_rows()
        self._everybody = self.with_holdout(holdout)._everybody
        if self._everybody is not None:
            self.rows._everybody = self._everybody.rows

    @commands_shown
    def __repr__(self) -> str:
        counted = f"units ({', '.join(self.unit)})" if self.unit else "records"
        releases = ", ".join(f"{r.label} ({r.num_rows} {counted})" for r in self.releases)
        return f"Pair: {self.original.label} ({self.original.num_rows} {counted}) and {releases}"

    def _coarsen(self, hierarchies: Mapping[str, Hierarchy], engine: EngineName) -> None:
        """Take the files at the coarseness of the releases."""
        files = (self.original, *self.releases)
        if engine not in ("auto", "memory") or any(file.distributed is not None for file in files):
            raise CallError(
                "hierarchies are applied in memory: leave out engine, and give files or frames that are not Spark's"
            )
        (self.original, *releases), cuts, notes = at_common_cut(files, hierarchies, self.special_codes)
        for name in (cut.name for cut in cuts):
            if name in self.breaks or name in self.kinds:
                raise CallError(f"{name!r} is compared at the levels of its hierarchy: leave out its breaks and kind")
        self.releases, self._cuts = tuple(releases), tuple(cuts)
        self._said += tuple(notes)

    @property
    def coarsened(self) -> dict[str, tuple[str, ...]]:
        """By column that is compared at the coarseness of the releases, the levels that these hold."""
        return {cut.name: tuple(sorted(cut.held)) for cut in self._cuts}

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that every file has, in the original's order."""
        return tuple(n for n in self.original.names if all(n in r for r in self.releases))

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the releases."""
        return tuple(r.label for r in self.releases)

    @property
    def n_original(self) -> int:
        """Number of original records."""
        return self.original.num_rows

    @property
    def n_synthetic(self) -> tuple[int, ...]:
        """Number of records of each release."""
        return tuple(r.num_rows for r in self.releases)

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return len(self.releases)

    @property
    def flavour(self) -> Flavour:
        """Kind of frame that results are given back in: that of the original."""
        return self.original.flavour

    def column(self, name: str, *, n_groups: Groups | None = None, by_amount: bool = False) -> CodedColumn:
        """One variable as joint codes, cut into groups if asked for.

        Parameters
        ----------
        name
            The column.
        n_groups
            Number of groups that a numeric column is cut into.
        by_amount
            Whether amounts are compared by how far they are apart: then it is not told that none are equal.

        Raises
        ------
        CallError
            If the original has no such column.
        DataError
            If a release lacks the column, or the files' values cannot be compared.
        """
        if n_groups is not None:
            return self.grouping(name, n_groups)[0]
        column = self._whole(name)
        self._tell(apart_of(column, self._compared_labels, by_amount=by_amount))
        return column

    @property
    def in_memory(self) -> Pair:
        """The same files without an engine."""
        other = copy.copy(self)
        other.engine = None
        return other

    @enough_memory()
    def prepare(self, keys: Sequence[str], targets: Sequence[str]) -> None:
        """Have the engine read all files once for some columns; names that a file lacks are left out."""
        if self.engine is not None:
            known = set(self.names)
            self.engine.prepare(*([name for name in names if name in known] for names in (keys, targets)))

    def compared(self, name: str, *, n_groups: Groups | None = None, by_amount: bool = False) -> CodedColumn:
        """One variable as :meth:`column` gives it, or with an engine with its counts only.

        Parameters
        ----------
        name
            The column.
        n_groups
            Number of groups that a numeric column is cut into.
        by_amount
            As of :meth:`column`.
        """
        if self.engine is None:
            return self.column(name, n_groups=n_groups, by_amount=by_amount)
        column = self._counted_whole(name)
        if n_groups is not None:
            if (name, n_groups) not in self._counted_grouped:
                self._counted_grouped[name, n_groups] = grouped(column, n_groups)[0]
            column = self._counted_grouped[name, n_groups]
        self._tell(apart_of(column, self._compared_labels, by_amount=by_amount))
        return column

    @enough_memory()
    def _counted_whole(self, name: str) -> CodedColumn:
        if self.engine is None:
            return self._whole(name)
        if name not in self._counted:
            self._counted[name] = self._count(name)
        return self._counted[name]

    @enough_memory()
    def _whole(self, name: str) -> CodedColumn:
        if name not in self._columns:
            self._columns[name] = self._code(name) if self._of is None else self._taken(name)
        return self._columns[name]

    def breaks_of(self, name: str) -> tuple[float, ...] | None:
        """Where the measures from tables cut a column: as the pair was told, or as a file or schema declares."""
        declared = (source.variable(name).breaks for source in (self.original, *self.releases))
        return self.breaks.get(name) or next(filter(None, declared), None)

    def grouping(self, name: str, n_groups: Groups) -> tuple[CodedColumn, Grouping]:
        """A numeric variable cut into groups, and how it was cut."""
        if (name, n_groups) not in self._grouped:
            self._grouped[name, n_groups] = self._cut(name, n_groups)
        column, grouping = self._grouped[name, n_groups]
        self._tell(apart_of(column, self._compared_labels))
        return column, grouping

    def _cut(self, name: str, n_groups: Groups) -> tuple[CodedColumn, Grouping]:
        if self._units is None:
            return grouped(self._whole(name), n_groups)
        column, grouping = self._units[0].grouping(name, n_groups)
        return self._in_units(column), grouping

    def as_cut(self, column: CodedColumn) -> CodedColumn:
        """The column of the same name, cut into groups as another one was, of these or of more files."""
        if self._units is not None:
            return self._in_units(self._units[0].as_cut(column))
        if self._of is not None and self.unit:
            whole, records, releases = self._of
            return whole.as_cut(column).part(records, releases)
        return regrouped(self.column(column.name), column.grouping)

    def kind_of(self, name: str) -> Kind:
        """What the values of a column are; of units, those of their rows."""
        if self._of is not None:
            return self._of[0].kind_of(name)
        return self.compared(name).kind if self._units is None else self._units[0].kind_of(name)

    @enough_memory()
    def combinations(self, columns: Sequence[CodedColumn]) -> KeyCombinations:
        """The composite key of every record; those that were asked for last are kept for the next measure.

        Parameters
        ----------
        columns
            The key columns, cut into groups or not.
        """
        if self._folded is None or list(map(id, self._folded[0])) != list(map(id, columns)):
            self._folded = (tuple(columns), fold_keys(jointly(columns)))
        return self._folded[1]

    def notes(self, columns: Iterable[CodedColumn], *, by_amount: bool = False) -> tuple[str, ...]:
        """What deserves a look in figures that rest on some columns: on the files, on how they were read and coded.

        They are the same however often and in what order columns are asked for.

        Parameters
        ----------
        columns
            The columns as they were compared, cut into groups or not.
        by_amount
            Whether amounts are compared by how far they are apart, so that they need not be equal.
        """
        chosen = list(columns)
        names = [column.name for column in chosen]
        read = [text for source in (self.original, *self.releases) for text in source.remarks_on(names)]
        coded = [note for column in chosen for note in column.notes]
        coded += self.roles.identifier_notes(c.name for c in chosen if any(c is one for one in self._ungrouped(c.name)))
        labels = self._compared_labels
        unmatched = [
            note
            for column in chosen
            for note in (
                notes_of(column, labels, by_amount=by_amount)
                if self._units is None
                else [
                    *apart_of(column, labels, by_amount=by_amount),
                    *notes_of(self._units[0].as_cut(column), labels, by_amount=by_amount),
                ]
            )
        ]
        return tuple(dict.fromkeys([*self._said, *self.roles.repeated_identifiers, *read, *coded, *unmatched]))

    def _ungrouped(self, name: str) -> list[CodedColumn]:
        return [kept[name] for kept in (self._columns, self._counted) if name in kept]

    @cached_property
    def roles(self) -> Roles:
        """Which columns are measured where none are named, and which number records or persons."""
        in_original = None if self.engine is None else partial(self.engine.values_of, 0)
        column = None if self.weights is None else self.weights.column
        # Not this pair, which holds its roles: files in a circle are freed late, and their memory is missed.
        coded = copy.copy(self)._looked_at
        return Roles(self.original, self.releases, coded, in_original, column, of_units=bool(self.unit))

    def _looked_at(self, name: str) -> CodedColumn:
        """The column whose values show what it is: where it differs within units, that of the rows."""
        column = self._counted_whole(name)
        return column.of_rows if isinstance(column, UnitColumn | MixedColumn) else column

    def unmatched(self, columns: Iterable[CodedColumn]) -> dict[str, dict[str, Any]]:
        """By column, what share of the records of each file hold values that the other lacks.

        Parameters
        ----------
        columns
            The columns as they were compared, cut into groups or not.

        Returns
        -------
        dict
            By column a dict: ``original``, the share of the original's records whose value no release has;
            ``original_by_release``, of those whose value this release lacks; ``releases``, of each release's records
            whose value the original lacks. A gap counts as a value.
        """
        return {column.name: shares_of(column, len(self._compared_labels) - 1) for column in columns}

    @property
    def _compared_labels(self) -> tuple[str, ...]:
        """The original and its releases, without files that were coded beside them."""
        return (self.original.label, *self.labels[: self.n_releases - self._beside])

    def _tell(self, notes: Iterable[str]) -> None:
        """Warn of each once."""
        for note in notes:
            if note not in self._told:
                self._told.add(note)
                warn(note)

    def require(self, names: Iterable[str]) -> None:
        """Check that every file has the columns.

        Raises
        ------
        CallError
            If the original lacks one.
        DataError
            If a release lacks one.
        """
        for name in names:
            if name in self.left_out:
                role = "orders the rows of units" if name == self.time else "names units"
                raise CallError(
                    f"{name!r} {role}, and is neither key nor target; to measure it, give it a second column"
                )
            self.original.require(name)
            for release in self.releases:
                if name not in release:
                    raise DataError(
                        f"{release.label} has no column {name!r}{near_matches(str(name), release.names)}; "
                        f"{self.original.label} has it: measure other columns or correct the file"
                    )

    def with_files(self, files: Sequence[Any], label: str) -> Pair:
        """The same files and more, which are read alike and coded jointly with them, as the last releases.

        They need not have every column.

        Parameters
        ----------
        files
            Paths or frames, as for the original.
        label
            How messages call each of them where it has no name.
        """
        if self._units is not None:
            more = self._anew()
            more._see_units(self.rows.with_files(files, label))
        elif self._of is None:
            more = self._anew()
            known = (self.original, *self.releases)
            beside = (self._opener.beside(known, data, label) for data in files)
            added = [recoded(source, self._cuts, self.special_codes) for source in beside]
            more.original, *others = told_apart([*known, *added])
            more.releases = tuple(others)
        else:
            whole, records, releases = self._of
            joint = whole.with_files(files, label)
            more = joint.part(records, (*releases, *range(whole.n_releases, joint.n_releases)))
        more._beside = self._beside + len(files)
        more.roles = self.roles
        return more

    def with_holdout(self, data: Any) -> Pair:
        """The same original and releases, and other held-out records, read like them.

        Parameters
        ----------
        data
            A path or a frame; None for those that the pair has, False for none.
        """
        if data is None or data is self.holdout:
            return self
        more = copy.copy(self)
        more.__dict__.pop("held_out", None)
        more._everybody = None if data is False else self.with_files([data], "the held-out records")
        return more

    @property
    def holdout(self) -> Source | None:
        """The file of held-out records; None where there is none."""
        return None if self._everybody is None else self._everybody.releases[-1]

    @cached_property
    def held_out(self) -> Pair:
        """All files coded jointly, with the held-out records as the last release.

        Raises
        ------
        CallError
            If there are none.
        DataError
            If they cannot be held out: they have no records, lack a column, or are records of the original.
        """
        joint = self._everybody
        if joint is None:
            raise CallError("no held-out records are given: name real records that the synthesizer never saw (holdout)")
        # A number that is dealt anew tells a copy from its original, and no person from another.
        compared = self.roles.default_columns()[0] or self.names
        check_held_out([joint.original, *joint.releases], joint.names, compared, joint.column)
        return joint

    def held_out_as_original(self) -> Pair:
        """The releases with the held-out records in the place of the original, in the codes of all files."""
        joint, others = self.held_out, self._anew()
        others.original, others.weights, others._units = joint.releases[-1], None, None
        others._columns = {name: joint.column(name).last_as_original() for name in joint.names}
        return others

    def part(self, records: NDArray[np.intp], releases: Sequence[int]) -> Pair:
        """Some original records and some releases, in the codes of all of them.

        Parameters
        ----------
        records
            Positions of original records; one may occur more than once.
        releases
            Positions of releases.
        """
        some = self._anew()
        some.original = self.original.part(records)
        some.weights = None if self.weights is None else self.weights.part(records)
        some.releases = tuple(self.releases[i] for i in releases)
        some._beside, some.roles, some._units = 0, self.roles, None
        some._of = (self, records, tuple(releases))
        return some

    def drawn(self, columns: Sequence[CodedColumn]) -> Pair:
        """Some records of each file, of which only these columns are known, in the codes of all records.

        Parameters
        ----------
        columns
            The columns of these records.
        """
        some, first = self._anew(), columns[0]
        sizes = [len(codes) for codes in (first.original, *first.releases)]
        files = (self.original, *self.releases)
        some.original, *releases = (source.drawn(n) for source, n in zip(files, sizes, strict=True))
        some.releases, some.roles, some.weights = tuple(releases), self.roles, None
        some._columns = {column.name: column for column in columns}
        return some

    def _anew(self) -> Pair:
        """A copy that codes its columns anew, without held-out records."""
        other = copy.copy(self)
        other.__dict__.pop("held_out", None)
        other._columns, other._grouped, other._folded, other._everybody = {}, {}, None, None
        other._counted, other._counted_grouped, other.engine = {}, {}, None
        return other

    def record_names(self) -> dict[str, Any]:
        """What original records are called, by column: their numbers from 0; units by the values that name them."""
        if self._units is None:
            return {"record": from_numpy(np.arange(self.n_original))}
        rows, (units, *_) = self._units
        first = from_numpy(units.first)
        return {name: rows.original.column(name).take(first) for name in self.unit}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that name units and order their rows; they are neither keys nor targets."""
        return (*self.unit, *([] if self.time is None else [self.time]))

    @property
    def rows(self) -> Pair:
        """The rows of the same files, each a record of its own; the pair itself where no unit is named."""
        return self if self._units is None else self._units[0]

    def _see_units(self, rows: Pair) -> None:
        """Take units for records."""
        rows.unit, rows.time, rows.roles.of_units = (), None, True
        sources = (rows.original, *rows.releases)
        units = units_of(sources, self.unit, self.time, rows.column)
        self._units, self._columns, self._grouped = (rows, units), {}, {}
        # Not this pair, which holds the files.
        coded = copy.copy(self)._values_of
        self.original, *releases = [
            source_of_units(source, len(one), self.left_out, partial(coded, number))
            for number, (source, one) in enumerate(zip(sources, units, strict=True))
        ]
        self.releases = tuple(releases)

    def _weigh_rows(self) -> None:
        """Let each row stand for what its unit stands for."""
        if self._units is None or self.weights is None:
            return
        rows, (units, *_) = self._units
        rows.weights = self.weights.of_rows(units.rows, units.sizes)
        rows.roles.weights = self.weights.column

    def _units_of_one_row(self) -> tuple[Note, ...]:
        """What is said where units are the rows."""
        if self.n_original < self.rows.n_original:
            return ()
        return (Note(f"every row of {self.original.label} is a unit of its own by {', '.join(self.unit)}"),)

    def _in_units(self, column: CodedColumn) -> CodedColumn:
        assert self._units is not None
        found = in_units(column, self._units[1], (self.original.label, *self.labels))
        self._tell(found.notes)
        return found

    def _values_of(self, number: int, name: str) -> pa.ChunkedArray:
        """The values of the units of one file: where they differ within none, as the file has them."""
        assert self._units is not None
        rows, units = self._units
        source, own = (rows.original, *rows.releases)[number], units[number]
        if own.are_alike(distinct_of(source, name).codes).all():
            return source.column(name).take(from_numpy(own.first))
        column = self._whole(name)
        codes = (column.original, *column.releases)[number]
        return pa.chunked_array([column.levels.take(pa.array(codes, mask=codes == len(column.levels)))])

    def _taken(self, name: str) -> CodedColumn:
        assert self._of is not None
        whole, records, releases = self._of
        return whole.column(name).part(records, releases)

    def _code(self, name: str) -> CodedColumn:
        self.require([name])
        if self._units is not None:
            return self._in_units(self._units[0].column(name))
        return self._coded(name, [distinct_of(s, name) for s in (self.original, *self.releases)])

    def _count(self, name: str) -> CodedColumn:
        """The column of the engine."""
        assert self.engine is not None
        self.require([name])
        sources = (self.original, *self.releases)
        counted = [self.engine.values_of(number, name) for number in range(len(sources))]
        found, raw = zip(*(held_values(c, s, name) for c, s in zip(counted, sources, strict=True)), strict=True)
        return counted_column(self._coded(name, found), counted, raw)

    def _coded(self, name: str, values: Sequence[Distinct]) -> CodedColumn:
        sources = (self.original, *self.releases)
        is_recoded = any(name == cut.name for cut in self._cuts)
        special = None if is_recoded else self.special_codes.get(name)
        column = coded(name, values, sources, self.kinds.get(name), special)
        self._tell(column.notes)
        return column
