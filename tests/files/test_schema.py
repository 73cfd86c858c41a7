"""Schema files: reading, writing, applying, and what is wrong in them."""

from __future__ import annotations

import tomllib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import CallError, DataError, FileError
from unveil.files.opening import open_source
from unveil.files.schema import Schema, as_schema, read_schema, schema_text, suspected_special_codes, write_schema
from unveil.files.source import Source, Variable

TEXT = """
[columns.income]
kind = "numeric"
special_codes = [-8, -9.5]

[columns."marital status"]
kind = "ordered"
levels = ["single", "married"]

[columns.sex]
[columns.sex.labels]
1 = "male"
-2 = "female"
"01" = "padded"
"1.5" = "half"
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "people.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_what_a_schema_file_says(written):
    schema = read_schema(written(TEXT))
    assert schema["income"] == Variable("income", kind="numeric", special_codes=(-8, -9.5))
    assert schema["marital status"].levels == ("single", "married")
    assert schema["sex"].labels == {1: "male", -2: "female", "01": "padded", 1.5: "half"}
    assert list(schema) == ["income", "marital status", "sex"]
    assert len(schema) == 3


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[columns.a]\nkind = numeric\n", FileError, r"people\.toml: not a TOML file: .*line 2"),
        ("[column.a]\n", CallError, r"'column' is not known; tables are called \[columns\.NAME\]"),
        ("[columns]\na = 1\n", CallError, "column 'a' must be a table"),
        ("[columns.a]\ntype = 1\n", CallError, "column 'a' has an unknown field 'type'"),
        ("[columns.a]\nkind = 'factor'\n", CallError, "column 'a' has an unknown kind 'factor'"),
        ("[columns.a]\nlevels = 'x'\n", CallError, "column 'a': levels must be a list"),
        ("[columns.a]\nlevels = ['x', 'x']\n", CallError, "column 'a': levels holds a value twice"),
        ("[columns.a]\nlabels = ['x']\n", CallError, "column 'a': labels must be a table"),
        ("[columns.a]\nlabels = [[1, 'x', 2]]\n", CallError, "column 'a': labels must be a table"),
        ("[columns.a]\nlabels = [[1, 'x'], [1, 'y']]\n", CallError, "column 'a': labels holds a code twice"),
        ("[columns.a]\nlabels = { 1 = 'x', '1.0' = 'y' }\n", CallError, "column 'a': labels holds a code twice"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(written, text, error, message):
    with pytest.raises(error, match=message) as caught:
        read_schema(written(text))
    assert "\n" not in str(caught.value)


def test_no_such_schema_file(tmp_path):
    with pytest.raises(FileError, match=r"none\.toml: no such file in"):
        read_schema(tmp_path / "none.toml")


def test_a_schema_overrides_what_the_source_declares(written):
    levels = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"]), ordered=True)
    table = pa.table({"x": levels, "income": [1, 2]})
    source = open_source(table, schema={"x": {"levels": ["a", "b"]}, "income": Variable("income", special_codes=(1,))})
    assert (source.variable("x").kind, source.variable("x").levels) == ("ordered", ("a", "b"))
    assert source.variable("income").special_codes == (1,)
    with pytest.raises(CallError, match=r"people\.toml: original has no column 'incme'; did you mean 'income'"):
        open_source(table, label="original", schema=written("[columns.incme]\nkind = 'numeric'\n"))


def test_a_first_schema_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('sex,income,"a.b",flag,day\nm,100,01,TRUE,2020-01-05\nf,-8,02,FALSE,2020-01-06\n,250,01,,\n')
    source = open_source(path)
    target = tmp_path / "people.toml"
    write_schema(source, target)
    text = target.read_text()
    assert text == schema_text(source)
    assert "# special_codes = [-8]" in text
    schema = read_schema(target)
    assert {name: v.kind for name, v in schema.items()} == {
        "sex": "categorical",
        "income": "numeric",
        "a.b": "categorical",
        "flag": "logical",
        "day": "date",
    }
    assert schema["sex"].levels == ("f", "m")
    assert schema["income"].special_codes == ()
    again = open_source(path, schema=target)
    assert all(again.column(n).equals(source.column(n)) for n in source.names)
    with pytest.raises(FileError, match="exists"):
        write_schema(source, target)
    write_schema(source, target, overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "people.toml"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([100, 250, -8, None], (-8,)),
        ([100.0, 250.5, -8.0, -9.0], (-9, -8)),
        ([0, 3, 5, 99], (99,)),
        ([20, 30, 95, 98, 99], ()),
        ([-8, -20, 5], ()),
        ([-1, -2], ()),
        ([1, 2, 3], ()),
        (["a"], ()),
    ],
)
def test_suspected_special_codes(values, codes):
    assert suspected_special_codes(pa.chunked_array([pa.array(values)])) == codes


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["k.A."], "'k.A.'"),
        (["n/a", "k.A."], "'k.A.', 'n/a'"),
        ([], None),
        (["01067"], "'01067'"),
        (["a", "b", "c", "d"], None),
    ],
)
def test_a_first_schema_says_which_texts_make_text_of_numbers(tmp_path, texts, told):
    path = tmp_path / "costs.csv"
    path.write_text("costs;sex\n" + "".join(f"{text};m\n" for text in [*texts, *(str(i) for i in range(100))]))
    said = [line for line in schema_text(open_source(path)).splitlines() if line.startswith("# all values but")]
    assert [line.split(" are ")[0] for line in said] == ([f"# all values but {told}"] if told else [])


def test_a_first_schema_leaves_codes_alone(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code\n" + "".join(f"{i:03d}\n" for i in range(200)) + "none\n")
    assert "all values but" not in schema_text(open_source(path))


@given(name=NAMES, levels=st.lists(SCALARS, min_size=1, max_size=4, unique_by=repr), label=NAMES)
def test_any_declaration_comes_back(name, levels, label):
    variable = Variable(name, kind="ordered", levels=tuple(levels), special_codes=(-8,), labels={1: label, label: "x"})
    column = pa.chunked_array([pa.array(["x"]).dictionary_encode()])
    source = Source("a\nb", (name,), 1, lambda _: column, {name: variable})
    content = tomllib.loads(schema_text(source))
    found = as_schema(content["columns"])[name]
    assert repr(found.levels) == repr(variable.levels)
    assert found.special_codes == (-8,)
    assert repr(list(found.labels.items())) == repr(list(variable.labels.items()))


@given(labels=st.dictionaries(st.one_of(SCALARS, st.just("1"), st.just("1.5"), st.just("-0")), NAMES, max_size=4))
def test_any_labels_come_back(labels):
    column = pa.chunked_array([pa.array([1.5, 2.5])])
    source = Source("a", ("x",), 2, lambda _: column, {"x": Variable("x", labels=labels)})
    found = as_schema(tomllib.loads(schema_text(source))["columns"])["x"]
    assert repr(list(found.labels.items())) == repr(list(labels.items()))


def test_a_number_and_the_text_that_reads_like_it_are_two_codes(tmp_path):
    column = pa.chunked_array([pa.array([1, 2])])
    labels = {1: "number", "1": "text"}
    write_schema(Source("a", ("x",), 2, lambda _: column, {"x": Variable("x", labels=labels)}), tmp_path / "s.toml")
    assert read_schema(tmp_path / "s.toml")["x"].labels == labels
    text = schema_text(Source("a", ("x",), 2, lambda _: column, {"x": Variable("x", labels={1: "one", -2: "two"})}))
    assert 'labels = { 1 = "one", -2 = "two" }' in text


def test_half_a_character_cannot_be_kept():
    column = pa.chunked_array([pa.array([1, 2])])
    with pytest.raises(DataError, match=r"a: column 'x': 'b\\ud800' is not text"):
        schema_text(Source("a", ("x",), 2, lambda _: column, {"x": Variable("x", labels={1: "b\ud800"})}))


def test_a_schema_is_a_mapping():
    schema = Schema({"a": Variable("a")})
    assert as_schema(schema) is schema
    assert dict(schema) == {"a": Variable("a")}


def test_what_is_public_of_a_column(written):
    text = """
    public = true
    [columns.income]
    bounds = [0, 100000]
    bins = 20
    gaps = true
    [columns.day]
    bounds = [2000-01-01, 2019-12-31]
    bins = ["2000-01-01", "2010-01-01", "2019-12-31"]
    """
    schema = read_schema(written(text))
    assert schema.public
    assert (schema["income"].bounds, schema["income"].bins, schema["income"].gaps) == ((0, 100000), 20, True)
    assert schema["day"].bounds == ("2000-01-01", "2019-12-31")
    assert schema["day"].bins == ("2000-01-01", "2010-01-01", "2019-12-31")
    again = Source("a", ("income", "day"), 0, lambda _: pa.chunked_array([pa.nulls(0)]), dict(schema))
    content = tomllib.loads(schema_text(again))
    assert content["public"] is False
    assert dict(as_schema(content["columns"])) == dict(schema)


def test_a_schema_as_json(tmp_path):
    path = tmp_path / "s.json"
    path.write_text('{"columns": {"x": {"levels": ["a", 1], "gaps": false}}}', encoding="utf-8")
    assert read_schema(path)["x"] == Variable("x", levels=("a", 1), gaps=False)
    path.write_text('{"column": {}}', encoding="utf-8")
    with pytest.raises(CallError, match="'column' is not known"):
        read_schema(path)
    path.write_text('{"columns": {}, "public": "yes"}', encoding="utf-8")
    with pytest.raises(CallError, match="public must be true or false"):
        read_schema(path)


def test_a_source_knows_what_was_declared_apart_from_what_its_file_says():
    table = pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "y": [1, 2]})
    source = open_source(table, schema={"y": {"levels": [1, 2, 3]}})
    assert list(source.declared) == ["y"]
    assert source.declared["y"].levels == (1, 2, 3)
    assert list(open_source(source, schema={"x": {"gaps": True}}).declared) == ["y", "x"]


def test_a_gap_among_the_levels():
    assert as_schema({"x": {"levels": ["a", None]}})["x"] == Variable("x", levels=("a",), gaps=True)
    with pytest.raises(CallError, match="a gap is among its levels, and gaps is false"):
        as_schema({"x": {"levels": ["a", None], "gaps": False}})
