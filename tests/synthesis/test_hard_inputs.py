"""Files that make synthesizers fail: types, gaps, many levels, few records."""

from __future__ import annotations

import datetime
import pickle
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DataError, UnveilWarning, read
from unveil.synthesis import CartSynthesizer, synthesize


def columns(frame):
    """Columns of a frame of any flavour as lists, gaps as None."""
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if hasattr(frame, "get_columns"):
        return {name: frame[name].to_list() for name in frame.columns}
    return {name: [None if value != value else value for value in frame[name].tolist()] for name in frame.columns}


def support(values):
    return {value for value in values if value is not None}


@pytest.mark.parametrize("seed", range(5))
def test_single_values_gaps_and_types_survive(seed):
    pd = pytest.importorskip("pandas")
    n = 60
    d = pd.DataFrame(
        {
            "one": np.where(np.arange(n) % 3 == 0, np.nan, 5.0),
            "empty": np.nan,
            "flag": np.arange(n) % 2 == 0,
            "i32": (np.arange(n) % 7).astype("int32"),
            "code": [f"{i % 4:02d}" for i in range(n)],
            "cat": pd.Categorical(["a", "b"] * (n // 2), categories=["b", "a", "unused"]),
        }
    )
    syn = CartSynthesizer().fit(d).sample(seed=seed)
    assert list(syn.columns) == list(d.columns)
    assert syn.dtypes.tolist() == d.dtypes.tolist()
    assert set(syn["one"].dropna()) <= {5.0}
    assert syn["one"].isna().any()
    assert syn["empty"].isna().all()
    assert set(map(type, syn["flag"].tolist())) == {bool}
    assert set(syn["i32"]) <= set(range(7))
    assert set(syn["code"]) <= {"00", "01", "02", "03"}
    assert set(syn["cat"].astype(str)) <= {"a", "b"}
    assert list(syn["cat"].cat.categories) == ["b", "a", "unused"]


def test_pandas_types_are_kept_exactly():
    pd = pytest.importorskip("pandas")
    n = 40
    base = np.arange(n) % 5
    d = pd.DataFrame(
        {
            "object": pd.Series(["x", None, "y", "z", "x"] * 8, dtype=object),
            "string": pd.Series(["x", None, "y", "z", "x"] * 8, dtype="string"),
            "nullable": pd.array([1, None, 3, 4, 5] * 8, dtype="Int16"),
            "boolean": pd.array([True, None, False, True, True] * 8, dtype="boolean"),
            "single": base.astype("float32") / 10,
            "unsigned": base.astype("uint8"),
            "when": pd.date_range("2020-01-01", periods=5).repeat(8),
            "zoned": pd.date_range("2020-01-01", periods=5, tz="Europe/Warsaw").repeat(8),
            "grade": pd.Categorical.from_codes(base, categories=list("edcba"), ordered=True),
            "arrow": pd.Series(base, dtype=pd.ArrowDtype(pa.int64())),
        },
        index=np.arange(n) * 3,
    )
    syn = CartSynthesizer().fit(d).sample(25, seed=1)
    assert syn.dtypes.tolist() == d.dtypes.tolist()
    assert syn.index.tolist() == list(range(25))
    for name in d:
        assert set(syn[name].dropna()) <= set(d[name].dropna())


def test_every_flavour_keeps_names_types_and_support(make_frame):
    n = 100
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "small": pa.array(rng.integers(0, 5, n), pa.int8()),
            "big": pa.array((rng.integers(0, 4, n) + 2**62).tolist(), pa.int64()),
            "flag": pa.array([bool(i % 3) for i in range(n)]),
            "text": pa.array([None if i % 7 == 0 else f"0{i % 3}" for i in range(n)]),
            "day": pa.array([datetime.date(2020, 1, 1 + i % 9) for i in range(n)]),
            "half": pa.array([None if i % 5 == 0 else i % 4 / 2 for i in range(n)]),
        }
    )
    frame = make_frame(table)
    syn = synthesize(frame, m=1, seed=1)
    assert type(syn) is type(frame)
    if isinstance(syn, pa.Table):
        assert syn.schema == table.schema
    elif hasattr(syn, "schema"):
        assert syn.schema == frame.schema
    else:
        assert syn.dtypes.tolist() == frame.dtypes.tolist()
    before, after = columns(frame), columns(syn)
    assert list(after) == list(before)
    for name, values in after.items():
        assert len(values) == n
        assert support(values) <= support(before[name])


def test_an_opened_frame_comes_back_in_its_flavour(make_frame):
    frame = make_frame(pa.table({"a": [1, 2, 2] * 10, "b": ["x", "y", None] * 10}))
    assert type(CartSynthesizer().fit(read(frame)).sample(seed=1)) is type(frame)


def test_names_and_rows_of_pandas_frames_are_free():
    pd = pytest.importorskip("pandas")
    d = pd.DataFrame({1: [1, 2] * 10, ("a", "b"): ["x", "y"] * 10}, index=["same"] * 20)
    syn = CartSynthesizer().fit(d).sample(5, seed=1)
    assert syn.columns.tolist() == d.columns.tolist()


def test_polars_categories_are_kept():
    pl = pytest.importorskip("polars")
    d = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a"] * 20, dtype=pl.Enum(["b", "a", "unused"])),
            "cat": pl.Series(["x", "y"] * 20, dtype=pl.Categorical),
            "small": pl.Series([1, 2] * 20, dtype=pl.UInt8),
        }
    )
    syn = CartSynthesizer().fit(d).sample(seed=1)
    assert syn.schema == d.schema


def test_a_file_and_its_table_give_the_same_copy(tmp_path):
    from unveil.files.write import write_table
    from unveil.simulate import demo_population

    table = demo_population(200, seed=1)
    write_table(table, tmp_path / "original.parquet", read(table).variables)
    from_file = CartSynthesizer().fit(tmp_path / "original.parquet").sample(seed=1)
    from_table = CartSynthesizer().fit(table).sample(seed=1)
    assert from_file.to_pydict() == from_table.to_pydict()


def test_a_factor_of_hundreds_of_levels_predicts_a_factor():
    i = np.arange(3000)
    school = (i * 37) % 300
    d = pa.table(
        {"school": [f"S{v:03d}" for v in school], "grade": [f"g{v % 4}" for v in school], "score": school + 0.5}
    )
    start = time.process_time()
    syn = CartSynthesizer().fit(d).sample(seed=1)
    assert time.process_time() - start < 60
    grade = np.array(syn["grade"].to_pylist())
    right = np.array([f"g{int(text[1:]) % 4}" for text in syn["school"].to_pylist()])
    assert (grade == right).mean() > 0.9


def test_five_hundred_levels_as_predictor_and_response():
    rng = np.random.default_rng(1)
    n = 4000
    town = rng.integers(0, 500, n)
    d = pa.table(
        {
            "size": rng.integers(0, 9, n),
            "town": [f"T{v}" for v in town],
            "region": [f"R{v % 7}" for v in town],
            "rent": (town % 50) + rng.normal(size=n).round(1),
        }
    )
    start = time.process_time()
    syn = CartSynthesizer(collapse=False).fit(d).sample(seed=1)
    assert time.process_time() - start < 60
    assert support(syn["town"].to_pylist()) <= support(d["town"].to_pylist())


@pytest.mark.slow
def test_two_hundred_columns():
    rng = np.random.default_rng(1)
    d = pa.table({f"v{i}": rng.integers(0, 3 + i % 5, 500) for i in range(200)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        syn = CartSynthesizer().fit(d).sample(seed=1)
    assert syn.column_names == d.column_names


@pytest.mark.parametrize(
    "values", [[f"id{i}" for i in range(200)], list(range(1000, 1200)), [2**60 + i * i for i in range(200)]]
)
def test_an_identifier_is_warned_of_and_its_values_stay(values):
    d = pa.table({"sex": ["f", "m"] * 100, "id": values, "age": [i % 17 for i in range(200)]})
    with pytest.warns(UnveilWarning, match="'id' has a different value in every record"):
        syn = CartSynthesizer().fit(d).sample(seed=1)
    assert support(syn["id"].to_pylist()) <= set(values)


def test_measurements_are_no_identifiers_and_no_recodings_of_each_other():
    rng = np.random.default_rng(1)
    d = pa.table({"height": rng.normal(size=300), "weight": rng.normal(size=300)})
    syn = CartSynthesizer().fit(d).sample(seed=1)
    pairs = set(zip(d["height"].to_pylist(), d["weight"].to_pylist(), strict=True))
    copied = sum(pair in pairs for pair in zip(syn["height"].to_pylist(), syn["weight"].to_pylist(), strict=True))
    assert copied < 150


def test_constants_and_recodings_are_carried_over():
    i = np.arange(120)
    d = pa.table({"code": i % 3, "label": [f"L{v}" for v in i % 3], "same": i % 3, "const": ["x"] * 120})
    synthesizer = CartSynthesizer().fit(d)
    syn = synthesizer.sample(500, seed=1)
    assert [f"L{v}" for v in syn["code"].to_pylist()] == syn["label"].to_pylist()
    assert syn["code"].to_pylist() == syn["same"].to_pylist()
    assert set(syn["const"].to_pylist()) == {"x"}
    assert synthesizer.trees() == {}
    assert synthesizer.log_prob(syn).n_impossible == 0


@pytest.mark.parametrize("n", [1, 2, 10])
def test_few_records(n):
    d = pa.table({"a": list(range(n)), "b": ["x", None] * (n // 2) + ["x"] * (n % 2), "c": [0.5] * n})
    syn = CartSynthesizer().fit(d).sample(7, seed=1)
    assert syn.num_rows == 7
    assert support(syn["a"].to_pylist()) <= set(range(n))


def test_no_synthetic_records_is_an_empty_file():
    d = pa.table({"a": [1, None, 3] * 4, "b": ["x", "y", None] * 4})
    syn = CartSynthesizer().fit(d).sample(0, seed=1)
    assert (syn.num_rows, syn.schema) == (0, d.schema)


def test_income_with_special_code_and_gaps():
    rng = np.random.default_rng(1)
    n = 3000
    works = rng.random(n) < 0.6
    income = [
        None if u < 0.1 else (int(1000 + 500 * rng.random()) if w else -8)
        for w, u in zip(works, rng.random(n), strict=True)
    ]
    d = pa.table({"works": works, "income": income})
    syn = CartSynthesizer(special_codes={"income": [-8]}).fit(d).sample(seed=1)
    by_group = {True: [], False: []}
    for w, v in zip(syn["works"].to_pylist(), syn["income"].to_pylist(), strict=True):
        by_group[w].append(v)
    assert -8 not in by_group[True]
    assert support(by_group[False]) == {-8}
    for values in by_group.values():
        assert abs(sum(v is None for v in values) / len(values) - 0.1) < 0.04


def test_infinities_are_values_of_their_own():
    values = [1.0, 2.0, float("inf"), -float("inf"), 3.0, None] * 10
    d = pa.table({"sex": ["f", "m", "m", "f"] * 15, "x": values})
    synthesizer = CartSynthesizer().fit(d)
    syn = synthesizer.sample(200, seed=1)
    assert support(syn["x"].to_pylist()) == support(values)
    assert synthesizer.log_prob(syn).n_impossible == 0


def test_both_zeros_are_one_value():
    d = pa.table({"x": [0.0, -0.0, 1.0, 2.0] * 5})
    assert len(support(CartSynthesizer().fit(d).sample(100, seed=1)["x"].to_pylist())) == 3


def test_a_file_without_records_is_refused():
    with pytest.raises(DataError, match="no records"):
        CartSynthesizer().fit(pa.table({"a": pa.array([], pa.int64())}))


def test_large_integers_stay_exact(make_frame):
    values = [2**63 - 1, 2**63 - 2, -(2**63), 2**53 + 1] * 10
    frame = make_frame(pa.table({"x": pa.array(values, pa.int64())}))
    syn = CartSynthesizer().fit(frame).sample(100, seed=1)
    assert support(columns(syn)["x"]) == set(values)


def test_text_with_gaps_and_empty_text(make_frame):
    frame = make_frame(pa.table({"t": ["", None, "Missing", "a|b"] * 25, "u": ["0", "00", None, "0"] * 25}))
    syn = columns(CartSynthesizer().fit(frame).sample(400, seed=1))
    assert support(syn["t"]) == {"", "Missing", "a|b"}
    assert None in syn["t"]
    assert support(syn["u"]) == {"0", "00"}


@pytest.mark.parametrize("methods", ["cart", "sample", "rf", "normrank", "pmm"])
def test_a_synthesizer_that_was_stored_draws_the_same(methods):
    sizes = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1] * 20, pa.int8()), pa.array([5, 3, 9]), ordered=True)
    d = pa.table({"size": sizes, "age": [i % 17 for i in range(80)], "copy": sizes})
    kinds = {"size": "numeric", "copy": "numeric"}
    fitted = CartSynthesizer(methods=methods, predictors={"copy": ["age"]}, kinds=kinds).fit(d)
    copy, again = fitted.sample(seed=1), pickle.loads(pickle.dumps(fitted)).sample(seed=1)
    assert again.equals(copy)
    for name in ("size", "copy"):
        assert again[name].chunk(0).dictionary.to_pylist() == [5, 3, 9]


def test_what_follows_from_a_number_follows_from_one_with_noise_too(make_frame):
    ages = [5, 10, 11, 25, 40, 41, 55, 90] * 20
    d = make_frame(pa.table({"age": ages, "name": [f"A{v}" for v in ages], "months": [12 * v for v in ages]}))
    for smoothing in ("density", {"age": "density"}):
        syn = columns(CartSynthesizer(smoothing=smoothing).fit(d).sample(300, seed=1))
        assert set(syn["age"]) - set(ages)
        for age, name, months in zip(syn["age"], syn["name"], syn["months"], strict=True):
            assert abs(int(name[1:]) - age) == min(abs(v - age) for v in ages)
            assert months == 12 * int(name[1:])


@pytest.mark.parametrize("order", [None, ["y", "x"]])
def test_columns_that_repeat_by_runs_are_synthesised(order):
    x = pc.run_end_encode(pa.array([1, 1, 2, None, 5] * 20, pa.int16()), run_end_type=pa.int16())
    d = pa.table({"x": x, "y": [i % 7 for i in range(100)]})
    for smoothing in (None, "density"):
        syn = CartSynthesizer(visit_order=order, smoothing=smoothing).fit(d).sample(30, seed=1)
        assert syn.schema == d.schema
        assert support(syn["x"].to_pylist()) <= set(range(1, 6))


@pytest.mark.parametrize("kind", [pa.float64(), pa.string()])
def test_dictionaries_that_differ_by_chunk_and_list_gaps(kind):
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None] * 5, pa.int8()), pa.array([3, None, first]).cast(kind))
        for first in (1, 2)
    ]
    d = pa.table({"x": pa.chunked_array(chunks), "y": [i % 7 for i in range(40)]})
    syn = CartSynthesizer().fit(d).sample(200, seed=1)
    assert syn.schema == d.schema
    assert set(syn["x"].to_pylist()) == set(d["x"].to_pylist())


def test_chunks_whose_values_no_single_dictionary_holds():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), pa.array([f"{name}{i}" for i in range(100)]))
        for name in "ab"
    ]
    with (
        pytest.warns(UnveilWarning, match="different value in every record"),
        pytest.raises(DataError, match=r"column 'x' has more values than one dictionary of type .*int8.*int32 indices"),
    ):
        CartSynthesizer().fit(pa.table({"x": pa.chunked_array(chunks)}))


CELLS = {
    "numbers": st.sampled_from([0.0, -8.0, 1.5, 1e300, -1e-300, float("inf"), None]),
    "whole": st.sampled_from([0, 1, -8, 2**53 + 1, -(2**63), 2**63 - 1, None]),
    "text": st.sampled_from(["", "a", "00", "Missing", "é|", None]),
    "flag": st.sampled_from([True, False, None]),
    "day": st.sampled_from([datetime.date(1, 1, 1), datetime.date(2020, 2, 29), datetime.date(9999, 12, 31), None]),
}
TYPES = {"numbers": pa.float64(), "whole": pa.int64(), "text": pa.string(), "flag": pa.bool_(), "day": pa.date32()}


@st.composite
def files(draw):
    n = draw(st.integers(1, 25))
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=6))
    columns = {}
    for i, name in enumerate(names):
        values = draw(st.lists(CELLS[name], min_size=n, max_size=n))
        columns[f"{name}{i}"] = pa.array(values, TYPES[name])
    return pa.table(columns)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(files(), st.randoms(use_true_random=False), st.integers(1, 5), st.booleans(), st.booleans())
def test_any_file_can_be_synthesised(original, random, minbucket, collapse, proper):
    order = list(original.column_names)
    random.shuffle(order)
    special = {name: [-8] for name in order if name.startswith(("numbers", "whole"))}
    options = {"minbucket": minbucket, "collapse": collapse, "visit_order": order, "special_codes": special}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        fitted = CartSynthesizer(proper=proper, n_jobs=1, **options).fit(original)
    copy = fitted.sample(40, seed=1)
    assert copy.schema == original.schema
    for name in order:
        assert set(copy[name].to_pylist()) <= set(original[name].to_pylist())
    if not proper:
        found = fitted.log_prob(copy)
        assert found.n_impossible == 0
        assert found.total <= 0
        own = fitted.log_prob(original)
        assert own.n_impossible == 0


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(files())
def test_any_file_can_be_smoothed(original):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        copy = CartSynthesizer(smoothing="density", n_jobs=1).fit(original).sample(40, seed=1)
    assert copy.schema == original.schema
