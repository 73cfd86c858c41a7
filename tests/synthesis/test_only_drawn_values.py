"""A release holds the values that were drawn, and no others, in whatever form it is given."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import DataError, UnveilWarning
from unveil.files.write import write_table
from unveil.synthesis import sdc
from unveil.synthesis.synthetic_files import synthesize_files

N, K = 120, 4
NAMES = [f"PERSON-{i:04d}" for i in np.random.default_rng(1).permutation(N)]
AGES = [20 + i % 50 for i in range(N)]
ORIGINAL = pa.table({"name": NAMES, "age": AGES})


def synthesised(data: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return unveil.synthesize(data, m=1, k=K, seed=1)


@pytest.fixture
def path(tmp_path: Path) -> str:
    write_table(ORIGINAL, tmp_path / "original.csv")
    return str(tmp_path / "original.csv")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather", ".arrow"])
def test_files_hold_drawn_values_only(path: str, tmp_path: Path, ending: str):
    release = synthesised(path)
    drawn = set(release.column("name").to_pylist())
    write_table(release, tmp_path / f"release{ending}")
    content = (tmp_path / f"release{ending}").read_bytes()
    assert 0 < len(drawn) <= K
    assert {name for name in NAMES if name.encode() in content} == drawn


def test_text_of_a_file_comes_back_as_text(path: str):
    assert synthesised(path).schema.field("name").type == pa.string()


def test_dictionary_of_an_arrow_table_holds_drawn_values_in_order():
    coded = ORIGINAL.set_column(0, "name", ORIGINAL.column("name").dictionary_encode())
    release = synthesised(coded)
    assert release.schema == coded.schema
    dictionary = release.column("name").chunk(0).dictionary.to_pylist()
    assert dictionary == sorted(set(release.column("name").to_pylist()))


def test_ordered_levels_stay_as_declared():
    levels = pa.array(["low", "mid", "high"])
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2] * 10, pa.int8()), levels, ordered=True)
    release = synthesised(pa.table({"x": ordered}))
    assert release.column("x").type == ordered.type
    assert release.column("x").chunk(0).dictionary.to_pylist() == ["low", "mid", "high"]


def test_uniques_are_dropped_from_the_release_itself_only():
    original = pa.table({"age": [1, 2, 3, 3, 4], "t": list("abcde")})
    release = pa.table({"age": [1, 2, 3, 3], "t": list("abcd")})
    pair = unveil.Pair(original, release)
    kept, _ = sdc.drop_replicated_uniques(pair, ["age"], data=release)
    assert kept.column("age").to_pylist() == [3, 3]
    with pytest.raises(DataError, match=r"column 'age' differs in record 1; give the frame"):
        sdc.drop_replicated_uniques(pair, ["age"], data=release.take(pa.array([3, 2, 1, 0])))


def test_text_of_many_values_does_not_predict_text_of_many_values():
    n = 4000
    rng = np.random.default_rng(3)
    many = pa.table(
        {name: pa.array([f"{name}{v}" for v in rng.integers(n // 2, size=n)]) for name in ("street", "surname")}
        | {"age": rng.integers(20, 60, n)}
    )
    with pytest.warns(UnveilWarning, match="'surname' by 'street'; drop such columns, or merge"):
        release = unveil.synthesize(many, m=1, seed=1)
    assert release.num_rows == n


LONG = [f"{name} of a name that no view holds itself" for name in NAMES]


def held(table: pa.Table) -> set[str]:
    """The names that stand anywhere in the memory of a table."""

    def memory(array: pa.Array) -> bytes:
        own = b"".join(part.to_pybytes() for part in array.buffers() if part is not None)
        return own + (memory(array.dictionary) if pa.types.is_dictionary(array.type) else b"")

    content = b"".join(memory(chunk) for column in table.columns for chunk in column.chunks)
    return {name for name in LONG if name.encode() in content}


def test_the_memory_of_a_polars_frame_holds_drawn_values_only():
    pl = pytest.importorskip("polars")
    for values in (LONG, pl.Series(LONG, dtype=pl.Categorical)):
        release = synthesised(pl.DataFrame({"name": values, "age": AGES}))
        assert held(pa.table(release)) == set(release["name"].to_list())


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_the_memory_of_arrow_columns_holds_drawn_values_only(kind: pa.DataType):
    values = pa.array(LONG)
    values = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    table = pa.table({"name": values, "age": AGES})
    release = synthesised(table)
    assert release.schema == table.schema
    assert held(release) == set(release.column("name").to_pylist())
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"name": pd.arrays.ArrowExtensionArray(values), "age": AGES})
    drawn = synthesised(frame)
    assert drawn.dtypes.equals(frame.dtypes)
    assert held(pa.Table.from_pandas(drawn)) == set(drawn["name"].tolist())


def test_categories_that_pandas_makes_of_text_are_those_that_were_drawn(tmp_path: Path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"name": pd.Categorical(LONG), "age": AGES})
    for data in (frame, unveil.read(frame)):
        release = synthesised(data)
        assert release["name"].cat.categories.tolist() == sorted(set(release["name"]))
    for ending in ("parquet", "feather"):
        path = tmp_path / f"original.{ending}"
        getattr(frame, f"to_{ending}")(path)
        made = tmp_path / f"release.{ending}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            synthesize_files(path, made, m=1, k=K, overwrite=True)
        release = getattr(pd, f"read_{ending}")(made)
        drawn = set(release["name"])
        assert release["name"].cat.categories.tolist() == sorted(drawn)
        assert not {name for name in set(LONG) - drawn if name.encode() in made.read_bytes()}


def test_categories_in_the_order_of_the_records_are_those_that_were_drawn(tmp_path: Path):
    pd = pytest.importorskip("pandas")
    # So pandas gets them from dictionaries of Arrow and from categories of polars.
    frame = pa.table({"name": pa.array(LONG).dictionary_encode(), "age": AGES}).to_pandas()
    assert isinstance(frame["name"].dtype, pd.CategoricalDtype)
    release = synthesised(frame)
    assert set(release["name"].cat.categories) == set(release["name"])
    frame.to_parquet(tmp_path / "original.parquet", row_group_size=50)
    frame.to_feather(tmp_path / "original.feather")
    for data in (tmp_path / "original.parquet", tmp_path / "original.feather"):
        assert unveil.read(data).variable("name").levels is None
        release = synthesised(data)
        assert held(release) == set(release.column("name").to_pylist())


def test_categories_that_somebody_ordered_stay_as_declared():
    pd = pytest.importorskip("pandas")
    for categories, ordered in ((["low", "mid", "high", "never"], False), (["a", "b", "c"], True)):
        frame = pd.DataFrame({"x": pd.Categorical([categories[0]] * 20, categories=categories, ordered=ordered)})
        assert synthesised(frame)["x"].dtype == frame["x"].dtype


@pytest.mark.parametrize(
    "kind", ["text", "view", "dictionary", "polars", "polars categories", "pandas", "pandas arrow"]
)
def test_dropped_records_take_their_text_with_them(kind: str):
    names = [LONG[0]] * 5 + LONG[1:20]
    values = pa.array(names)
    if kind.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        made = pd.Categorical(names) if kind == "pandas" else pd.arrays.ArrowExtensionArray(values.dictionary_encode())
        release = pd.DataFrame({"name": made})
    elif kind.startswith("polars"):
        pl = pytest.importorskip("polars")
        release = pl.DataFrame({"name": pl.Series(names, dtype=pl.String if kind == "polars" else pl.Categorical)})
    else:
        values = values.cast(pa.string_view()) if kind == "view" else values
        release = pa.table({"name": values.dictionary_encode() if kind == "dictionary" else values})
    kept, _ = sdc.drop_replicated_uniques(unveil.Pair(release, release), ["name"], data=release)
    table = pa.Table.from_pandas(kept) if kind.startswith("pandas") else pa.table(kept)
    assert table.column("name").to_pylist() == [LONG[0]] * 5
    assert held(table) == {LONG[0]}
    if kind in ("text", "view", "dictionary"):
        assert kept.schema == release.schema
