"""Small files of invented persons, sound ones, of every format that is read; damage starts from them."""

from __future__ import annotations

import datetime
import gzip
import random
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unveil.files.source import Variable
from unveil.files.write import write_table

__all__ = ["ENDINGS", "FORMATS", "seeds_of"]

ENDINGS = (
    ".csv", ".csv.gz", ".tsv", ".parquet", ".arrow",
    ".sav", ".zsav", ".por", ".dta", ".xpt", ".sas7bdat", ".rds", ".rda",
)  # fmt: skip
"""All formats; of those that nothing here can make or read there are no sound files."""
N = 60
Maker = Callable[[Path], object]


def people(seed: int = 1, n: int = N) -> pa.Table:
    """Persons with a column of every usual type, gaps in some."""
    rng = random.Random(seed)
    towns = ["Ost", "West", "Süd, links", 'the "North"', "zwei\nZeilen"]
    rows = [
        {
            "sex": rng.choice("fm"),
            "age": rng.choice([None, *range(16, 99)]),
            "income": rng.choice([None, -8.0, round(rng.random() * 5000, 2)]),
            "town": rng.choice([*towns, None]),
            "born": datetime.date(1950, 1, 1) + datetime.timedelta(days=rng.randrange(20000)),
            "seen": datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=rng.randrange(10**7)),
            "member": rng.choice([True, False]),
        }
        for _ in range(n)
    ]
    return pa.Table.from_pylist(rows)


def coded(seed: int = 1) -> pa.Table:
    """The same with its texts as dictionaries."""
    table = people(seed)
    for name in ("sex", "town"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, table.column(name).dictionary_encode())
    return table


def _text(**form: Any) -> Maker:
    def make(path: Path) -> None:
        table, delimiter = people(form.get("seed", 1)), form.get("delimiter", ",")
        end = form.get("end", "\n")
        lines = [delimiter.join(table.column_names)]
        for row in table.to_pylist():
            fields = ["" if value is None else str(value) for value in row.values()]
            needs = any(c in field for field in fields for c in (delimiter, '"', "\n")) or form.get("all_quoted")
            if needs:
                fields = ['"' + field.replace('"', '""') + '"' if field else "" for field in fields]
            lines.append(delimiter.join(fields))
        content = (end.join(lines) + end).encode(form.get("encoding", "utf-8"))
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    return make


def _parquet(table: Callable[[], pa.Table], **options: Any) -> Maker:
    return lambda path: pq.write_table(table(), path, **options)


def _arrow(table: Callable[[], pa.Table], *, stream: bool = False, codec: str | None = None) -> Maker:
    def make(path: Path) -> None:
        content, new = table(), pa.ipc.new_stream if stream else pa.ipc.new_file
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.OSFile(str(path), "wb") as sink, new(sink, content.schema, options=options) as writer:
            writer.write_table(content, max_chunksize=25)

    return make


def _own(seed: int) -> Maker:
    """As the package itself writes it, declarations included."""
    declared = {
        "income": Variable("income", kind="numeric", special_codes=(-8,)),
        "sex": Variable("sex", kind="categorical", levels=("f", "m", "x")),
    }

    def make(path: Path) -> None:
        table = people(seed)
        if path.suffix in (".dta", ".xpt", ".sav", ".zsav"):
            table = table.set_column(3, "town", table.column("town").cast(pa.string()))
        write_table(table, path, declared if path.suffix not in (".dta", ".xpt") else None)

    return make


def _labelled(seed: int) -> Maker:
    """Codes with labels, and missing values that the user declared."""

    def make(path: Path) -> None:
        import pyreadstat

        rng = random.Random(seed)
        frame = pa.table(
            {
                "sex": [rng.choice([1.0, 2.0, 9.0]) for _ in range(N)],
                "age": [rng.choice([None, 20.0, 30.5, 99.0]) for _ in range(N)],
                "town": [rng.choice(["Ost", "West", ""]) for _ in range(N)],
            }
        )
        labels = {"sex": {1.0: "male", 2.0: "female", 9.0: "no answer"}}
        options: dict[str, Any] = {"column_labels": ["the sex", "", "where"]}
        if path.suffix in (".sav", ".zsav"):
            options |= {"variable_value_labels": labels, "missing_ranges": {"sex": [9.0]}}
            options |= {"compress": path.suffix == ".zsav"}
        if path.suffix == ".dta":
            options |= {"variable_value_labels": labels}
        write = {".sav": "sav", ".zsav": "sav", ".dta": "dta", ".xpt": "xport", ".por": "por"}[path.suffix]
        getattr(pyreadstat, f"write_{write}")(_frame(frame), str(path), **options)

    return make


def _frame(table: pa.Table) -> Any:
    if find_spec("polars"):
        import polars

        return polars.from_arrow(table)
    return table.to_pandas()


def _stata(seed: int, version: int) -> Maker:
    def make(path: Path) -> None:
        import pyreadstat

        table = people(seed).select(["sex", "age", "income"])
        pyreadstat.write_dta(_frame(table), str(path), version=version)

    return make


def _transport(seed: int) -> Maker:
    def make(path: Path) -> None:
        import pyreadstat

        table = people(seed).select(["sex", "age", "income"])
        pyreadstat.write_xport(_frame(table), str(path), file_format_version=5)

    return make


def _stored(name: str) -> Maker:
    """A file that nothing here can write: haven's write_sas() did, of 50 invented persons."""
    return lambda path: path.write_bytes(gzip.decompress(Path(__file__).with_name(name).read_bytes()))


def _views() -> pa.Table:
    table = people(3)
    return table.set_column(3, "town", table.column("town").cast(pa.large_string())).append_column(
        "amount", pa.array([None if i % 7 == 0 else i for i in range(N)], pa.decimal128(12, 2))
    )


FORMATS: dict[str, list[Maker]] = {
    ".csv": [_text(), _text(seed=2, all_quoted=True, end="\r\n"), _text(seed=3, delimiter=";", encoding="cp1252")],
    ".csv.gz": [_text(), _text(seed=2, all_quoted=True)],
    ".tsv": [_text(delimiter="\t"), _text(seed=2, delimiter="\t", encoding="utf-16")],
    ".parquet": [
        _own(1),
        _parquet(coded, compression="none"),
        _parquet(lambda: people(2), compression="zstd", data_page_version="2.0", write_page_checksum=True),
        _parquet(_views, use_dictionary=False, row_group_size=20, compression="gzip"),
    ],
    ".arrow": [
        _own(1),
        _arrow(coded),
        _arrow(lambda: people(2), codec="zstd"),
        _arrow(_views, codec="lz4"),
        _arrow(lambda: coded(4), stream=True),
        _arrow(lambda: people(5), stream=True, codec="lz4"),
    ],
}
R_FILES = Path(__file__).parent.parent / "files" / "r_files"


def _of_r(name: str) -> Maker:
    """A file that R wrote."""
    return lambda path: path.write_bytes((R_FILES / name).read_bytes())


if find_spec("rdata") and find_spec("pandas"):  # which rdata needs
    FORMATS |= {
        ".rds": [
            _of_r(f"{name}.rds")
            for name in ("people_plain", "people", "people_v2", "people_ascii", "labelled", "synds")
        ],
        ".rda": [_of_r("people.rda"), _of_r("synds_one.rda")],
    }
if find_spec("pyreadstat") and (find_spec("pandas") or find_spec("polars")):
    FORMATS |= {
        ".sav": [_own(1), _labelled(2)],
        ".zsav": [_own(1), _labelled(2)],
        ".por": [_labelled(1), _labelled(2)],
        ".dta": [_own(1), _labelled(2), _stata(3, 8), _stata(4, 13)],
        ".xpt": [_own(1), _labelled(2), _transport(3)],
        ".sas7bdat": [_stored("people.sas7bdat.gz")],
    }


def seeds_of(ending: str) -> Iterator[bytes]:
    """The sound files of a format, as bytes."""
    for maker in FORMATS[ending]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"seed{ending}")
            maker(path)
            yield path.read_bytes()
