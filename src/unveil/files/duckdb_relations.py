"""Relations of DuckDB: opened by their types and their number of records, read batch by batch.

Columns are asked for by position: names that differ only in letter case (``SELECT Sex, sex``) are one name for DuckDB.
Nothing is compared there, so that its collation, its wide sums and its conversions do not touch the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import Any

import pyarrow as pa

from unveil.errors import DataError, is_of_memory
from unveil.files.arrays import check_names, normalise
from unveil.files.arrow_checks import valid
from unveil.files.columnar import declared_by_arrow
from unveil.files.path_checks import no_memory, reason_of
from unveil.files.source import BATCH, Source


def is_relation(data: object) -> bool:
    """Whether the object is a relation of DuckDB."""
    return type(data).__name__ == "DuckDBPyRelation"


def open_relation(relation: Any, label: str) -> Source:
    """Return a relation as a source; its query runs when columns are read.

    Columns that are read as a whole come from one run of the query, since another may give the records in another
    order.

    Raises
    ------
    DataError
        If column names are repeated or blank, or the query fails.
    """
    with _refusing(label):
        names = check_names(list(relation.columns), label)
        positions = {name: number for number, name in enumerate(names, start=1)}
        types = dict(zip(names, relation.types, strict=True))
        num_rows = int(relation.aggregate("count(*)").fetchall()[0][0])
        with closing(_reader(relation.limit(0))) as reader:
            schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])

    def batches(wanted: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        found = 0
        with _refusing(label):
            chosen = relation.project(", ".join(f"#{positions[name]}" for name in wanted))
            with closing(_reader(chosen)) as reader:
                for batch in reader:
                    columns = {name: _plain_text(batch.column(i)) for i, name in enumerate(wanted)}
                    for name, values in columns.items():
                        valid(pa.chunked_array([values]), name, label)
                    found += batch.num_rows
                    yield columns
        if found != num_rows:
            raise DataError(
                f"{label}: the relation gives {found} records, and gave {num_rows} when it was opened; leave its "
                "tables and its connection alone while it is measured"
            )

    @cache
    def whole() -> dict[str, pa.ChunkedArray]:
        chunks = list(batches(names))
        return {
            name: pa.chunked_array([one[name] for one in chunks], None if chunks else schema.field(name).type)
            for name in names
        }

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(whole()[name], name, label)

    def levels(name: str) -> Sequence[Any]:
        return tuple(dict(types[name].children)["values"])

    variables = declared_by_arrow(schema, levels, fetch, label, enumerations=True)
    return Source(label, names, num_rows, fetch, variables, like=schema, batches=batches)


def _reader(relation: Any) -> pa.RecordBatchReader:
    # Newer versions warn of the older name.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(BATCH)


def _plain_text(array: pa.Array) -> pa.Array:
    return array.cast(pa.string()) if pa.types.is_string_view(array.type) else array


@contextmanager
def _refusing(label: str) -> Iterator[None]:
    """Turn errors of DuckDB, and of Arrow about what comes from it, into one line."""
    import duckdb

    try:
        yield
    except (duckdb.Error, pa.ArrowException, MemoryError, OSError) as error:
        if is_of_memory(error):
            raise no_memory(label) from None
        raise DataError(
            f"{label}: the relation cannot be read ({reason_of(error):.300}); keep its connection open and its tables "
            "in place, and make the relation anew"
        ) from None
