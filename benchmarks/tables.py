"""Table measures beside a bare ``GROUP BY`` of the keys and each target over both files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.data import SURVEY_KEYS, Data
from benchmarks.row import Row, Side

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
HUGE = 100_000_000
MEMORY = "2GB"
"""Limit of memory of both sides."""
FEW = ("age", "sex", "race", "education")
UNIQUE = ("age", "sex", "race", "number")
TARGETS = (
    "occupation", "workclass", "marital.status", "fnlwgt", "relationship", "capital.gain", "capital.loss",
    "hours.per.week", "native.country", "income",
)  # fmt: skip


def attribute(n: int, ending: str, keys: tuple[str, ...], targets: tuple[str, ...]) -> Side:
    """All measures of attribute disclosure, from the files."""

    def ready(data: Data) -> Callable[[], Any]:
        import unveil

        paths = data.drawn(n, ending)
        return lambda: unveil.attribute(unveil.Pair(*paths, memory_limit=MEMORY), list(keys), targets=list(targets))

    return ready


def intervals(n: int, keys: tuple[str, ...], targets: tuple[str, ...]) -> Side:
    """All intervals of these measures."""

    def ready(data: Data) -> Callable[[], Any]:
        risks = attribute(n, "parquet", keys, targets)(data)()
        return lambda: [(risk.intervals(), risk.interval()) for risk in risks]

    return ready


def duckdb_group_by(n: int, keys: tuple[str, ...], targets: tuple[str, ...]) -> Side:
    """DuckDB counts the combinations of the keys with each target, in both Parquet files together."""

    def ready(data: Data) -> Callable[[], Any]:
        import duckdb

        files = list(data.drawn(n, "parquet"))
        connection = duckdb.connect()
        connection.sql(f"set memory_limit = '{MEMORY}'")
        connection.sql(f"set temp_directory = '{data.folder}/aside'")

        def run() -> None:
            for target in targets:
                columns = ", ".join(f'"{name}"' for name in (*keys, target))
                groups = f"select {columns}, count(*) as n from read_parquet({files}) group by {columns}"
                # The groups stay where they are: bringing all of them here would need memory beyond the limit.
                connection.sql(f"select count(*), max(n) from ({groups})").fetchall()

        return run

    return ready


def polars_group_by(n: int, keys: tuple[str, ...], targets: tuple[str, ...]) -> Side:
    """Polars reads the same columns of both CSV files, texts as categorical, and counts keys with each target."""

    def ready(data: Data) -> Callable[[], Any]:
        import polars

        paths, names = data.drawn(n, "csv"), [*keys, *targets]

        def run() -> None:
            frame = polars.concat([categorical(polars.read_csv(path, columns=names)) for path in paths])
            for target in targets:
                frame.group_by([*keys, target]).len()

        return run

    return ready


def categorical(frame: Any) -> Any:
    """A polars frame with its texts as categories."""
    import polars

    return frame.with_columns(polars.col(polars.String).cast(polars.Categorical))


def key_sets(data: Data) -> Callable[[], Any]:
    """Key sets of up to four keys."""
    import unveil

    pair = unveil.Pair(data.survey(), data.survey_release())
    return lambda: unveil.key_sets(pair, [*SURVEY_KEYS, "marital", "workab"], target="depress")


def _rows() -> list[Row]:
    rows = []
    for keys, kind in ((FEW, "few combinations"), (UNIQUE, "mostly unique keys")):
        for targets in (TARGETS[:1], TARGETS):
            many = f"{kind}, {len(targets)} target{'s' * (len(targets) > 1)}"
            for n in SIZES:
                records, large = f"{n:,} records of Adult".replace(",", " "), n > 1_000_000
                rows += [
                    Row(f"attribute, {many}, Parquet", records, attribute(n, "parquet", keys, targets),
                        duckdb_group_by(n, keys, targets), "DuckDB, a GROUP BY per target", ("duckdb",), n, large),
                    Row(f"attribute, {many}, CSV", records, attribute(n, "csv", keys, targets),
                        polars_group_by(n, keys, targets), "polars, read and group_by", ("polars",), n, large),
                ]  # fmt: skip
            if targets == TARGETS[:1] or keys == FEW:
                records = f"{HUGE:,} records of Adult".replace(",", " ")
                rows.append(
                    Row(f"attribute, {many}, Parquet", records, attribute(HUGE, "parquet", keys, targets),
                        duckdb_group_by(HUGE, keys, targets), "DuckDB, a GROUP BY per target", ("duckdb",), HUGE, True)
                )  # fmt: skip
            rows.append(
                Row(f"intervals, {many}", "1 000 000 records of Adult", intervals(1_000_000, keys, targets),
                    attribute(1_000_000, "parquet", keys, targets), "the measures themselves")
            )  # fmt: skip
    return sorted(rows, key=lambda row: (row.measured.startswith("intervals"), row.measured.split(", ")[-1] == "CSV"))


ROWS = [*_rows(), Row("key_sets, up to 4 of 6 keys", "SD2011", key_sets)]
