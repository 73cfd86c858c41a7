"""Value labels: files that hold codes, files that hold their labels, and what tells one from the other."""

from __future__ import annotations

import importlib.util
import itertools
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files.statistical import letter_code
from unveil.files.write import write_table

quiet = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
TEXTS = {0: "none", 1: "1", 2: "2", 3: "3", 4: "4 or more"}
PART = {0: "none", 4: "4 or more"}
STATISTICAL = [".sav", ".dta"] if all(map(importlib.util.find_spec, ("pyreadstat", "pandas"))) else []


def people() -> pa.Table:
    rng = np.random.default_rng(3)
    children = np.minimum(rng.poisson(1.2, 500), 4)
    return pa.table({"children": children, "age": rng.integers(20, 80, 500), "ill": rng.choice(["y", "n"], 500)})


def in_words(table: pa.Table, labels: Mapping[int, str] = TEXTS) -> pa.Table:
    words = [labels.get(code, str(code)) for code in table.column("children").to_pylist()]
    return table.set_column(0, "children", pa.array(words))


def figures(original: Any, release: Any, **options: Any) -> tuple[float, ...]:
    pair = unveil.Pair(original, release, **options)
    risk = unveil.attribute(pair, ["children", "age"], target="ill")
    return round(risk.iS, 1), round(risk.DiSCO, 1), round(unveil.identity(pair, ["children", "age"]).repU, 1)


RIGHT = (100.0, 33.2, 13.8)
"""iS, DiSCO and repU of the two files of codes."""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same records in codes and in labels, with labels for all or for some codes."""
    found = {}
    for name, table in {"codes.csv": people(), "labels.csv": in_words(people())}.items():
        found[name] = tmp_path / name
        csv.write_csv(table, found[name])
    if STATISTICAL:
        import pyreadstat

        frame = people().to_pandas()
        for ending, (name, labels) in itertools.product(STATISTICAL, {"all": TEXTS, "some": PART}.items()):
            found[name + ending] = tmp_path / f"{name}{ending}"
            write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
            write(frame, str(found[name + ending]), variable_value_labels={"children": labels})
    return found


def declared(data: Any, labels: Mapping[Any, str] = TEXTS, **more: Any) -> Any:
    return unveil.read(data, schema={"children": unveil.Variable("children", labels=labels, **more)})


def column(values: Sequence[Any], labels: Mapping[Any, str] | None = None, label: str = "file", **more: Any) -> Any:
    schema = {"x": unveil.Variable("x", labels=labels or {}, **more)} if labels or more else None
    return unveil.read(pa.table({"x": values}), schema=schema, label=label)


def told(*files: Any, **options: Any) -> tuple[list[list[str]], str]:
    """What is shown, and all that is said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return shown(*files, **options), " / ".join(str(one.message) for one in caught)


def shown(*files: Any, **options: Any) -> list[list[str]]:
    found = unveil.Pair(files[0], list(files[1:]), **options).column("x")
    return [[found.labels[code] for code in codes] for codes in (found.original, *found.releases)]


# ---------------------------------------------------------------------------------------- the same records
def test_codes_against_codes_are_the_measure_of_all_others(files: dict[str, Path]):
    assert figures(people(), people()) == RIGHT


@quiet
@pytest.mark.skipif(not STATISTICAL, reason="files of statistical packages are written with pyreadstat and pandas")
@pytest.mark.parametrize("statistical", [f"{name}{ending}" for name in ("all", "some") for ending in (".sav", ".dta")])
@pytest.mark.parametrize("kind", [None, "numeric", "categorical", "ordered"])
def test_statistical_files_meet_all_others_in_both_directions(files: dict[str, Path], statistical: str, kind: Any):
    options = {"kinds": {"children": kind}} if kind else {}
    for other in files.values():
        assert figures(files[statistical], other, **options) == RIGHT, other
        assert figures(other, files[statistical], **options) == RIGHT, other


@quiet
@pytest.mark.parametrize("labels", [TEXTS, PART], ids=["all", "some"])
@pytest.mark.parametrize("kind", [None, "numeric", "categorical", "ordered"])
@pytest.mark.parametrize(("one", "other"), list(itertools.product(["codes.csv", "labels.csv"], repeat=2)))
def test_a_schema_with_labels_and_kind_over_two_text_files(
    files: dict[str, Path], labels: Mapping[int, str], kind: Any, one: str, other: str
):
    schema = {"children": unveil.Variable("children", kind=kind, labels=labels)}
    assert figures(files[one], files[other], schema=schema) == RIGHT


@quiet
@pytest.mark.skipif(not STATISTICAL, reason="files of statistical packages are written with pyreadstat and pandas")
@pytest.mark.parametrize("name", ["all.sav", "some.sav", "all.dta", "some.dta"])
def test_schemas_as_they_are_written(files: dict[str, Path], name: str, tmp_path: Path):
    from unveil.files.schema import write_schema

    write_schema(unveil.read(files[name]), tmp_path / "schema.toml")
    for one, other in itertools.product([files[name], files["codes.csv"], files["labels.csv"]], repeat=2):
        assert figures(one, other, schema=tmp_path / "schema.toml") == RIGHT, (one, other)


@quiet
@pytest.mark.parametrize("kind", ["categorical", "numeric", "ordered", None])
def test_frames_with_a_schema(make_frame: Any, kind: Any):
    codes, words = make_frame(people()), make_frame(in_words(people()))
    for one, other in itertools.permutations([codes, words]):
        assert figures(declared(one, kind=kind), other) == RIGHT
        assert figures(one, declared(other, kind=kind)) == RIGHT


@quiet
@pytest.mark.parametrize("ordered", [True, False])
def test_categoricals_of_pandas(ordered: bool):
    pd = pytest.importorskip("pandas", reason="for Categorical")
    frame = people().to_pandas()
    words = frame.assign(
        children=pd.Categorical([TEXTS[code] for code in frame.children], list(TEXTS.values()), ordered)
    )
    codes = frame.assign(children=pd.Categorical(frame.children, ordered=ordered))
    floats = frame.assign(children=frame.children.astype(float))
    for one, other in itertools.permutations([words, codes, floats, frame], 2):
        assert figures(declared(one), other) == RIGHT
        assert figures(one, declared(other)) == RIGHT


@quiet
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_declarations_kept_in_a_file(tmp_path: Path, files: dict[str, Path], ending: str):
    """A file of labels that was written with its declarations, as a release of an SPSS file is."""
    known = {"children": unveil.Variable("children", kind="categorical", labels=TEXTS, labelled=True)}
    write_table(in_words(people()), tmp_path / f"release{ending}", known)
    assert figures(files["codes.csv"], tmp_path / f"release{ending}") == RIGHT
    assert figures(tmp_path / f"release{ending}", files["codes.csv"], kinds={"children": "numeric"}) == RIGHT


@pytest.mark.parametrize("codes_first", [True, False])
def test_what_was_replaced_is_said_once(codes_first: bool):
    pair = [column([0, 4, 2], label="a"), column(["none", "4 or more", "2"], TEXTS, "b")]
    where = "codes in a, labels in b" if codes_first else "labels in b, codes in a"
    with pytest.warns(UnveilWarning, match=f"'x' holds {where}: the codes were replaced by their declared") as caught:
        found = shown(*(pair if codes_first else pair[::-1]))
    assert len(caught) == 1
    assert found == [["none", "4 or more", "2"]] * 2


def test_a_scale_with_some_labels_stays_one_of_numbers():
    """It can be grouped, and the labels are other names of its levels."""
    scale = column([0, 1, 7, 24, 25], {0: "none", 25: "25 or more"}, kind="numeric")
    words = column(["none", "1", "7", "24", "25 or more"])
    with pytest.warns(UnveilWarning, match="the labels were replaced by their codes"):
        found = unveil.Pair(scale, words).column("x")
    assert (found.kind, found.labels) == ("numeric", ("0", "1", "7", "24", "25"))
    assert found.original.tolist() == found.releases[0].tolist()
    assert found.code_of("none") == found.code_of(0) == found.code_of("0") == 0
    assert found.code_of("25 or more") == 4


def test_a_scale_with_some_labels_as_categories():
    """Unlabelled numbers are their own text."""
    scale = column([0, 1, 25], {0: "none", 25: "25 or more"}, kind="categorical")
    with pytest.warns(UnveilWarning, match="the codes were replaced"):
        assert shown(scale, column(["none", "1", "25 or more"])) == [["none", "1", "25 or more"]] * 2


def test_a_text_that_is_neither_number_nor_label_is_named():
    scale = column([0, 1, 25], {0: "none", 25: "25 or more"}, kind="numeric")
    with pytest.raises(DataError, match="s: column 'x', record 2: 'many' is neither a number nor a label of one"):
        shown(scale, column(["none", "many"], label="s"))


# --------------------------------------------------------------------------------- labels that read like codes
SHIFTED = {1: "0", 2: "1", 3: "2", 4: "3 or more"}
"""Children plus one: every label but the last reads like the code of another one."""


def test_labels_that_read_like_other_codes_are_told_by_the_rest():
    words = column(["0", "1", "2", "3 or more"], SHIFTED, "o")
    for release, texts in (
        ([1, 2, 3, 4], ["0", "1", "2", "3 or more"]),  # 4 is no label
        ([0, 1, 2], ["0", "1", "2"]),  # 0 is no code
        (["3 or more", "1"], ["3 or more", "1"]),
        ([2.0, 4.0], ["1", "3 or more"]),
        (["4", "2"], ["3 or more", "1"]),
    ):
        found, said = told(words, column(release, label="s"))
        assert found[1] == texts, release
        assert "taken as codes" not in said
        assert ("taken as labels" in said) == (release == [0, 1, 2])


def test_what_may_be_code_or_label_is_said():
    words = column(["0", "1", "2", "3 or more"], SHIFTED, "o", labelled=True)
    found, said = told(words, column([1, 2], label="s"))
    assert found[1] == ["0", "1"]
    assert "'x': s holds '1', '2', each a code and the label of another code: taken as codes" in said


def test_two_files_in_the_same_doubt_are_compared_as_they_are():
    swapped = {1: "2", 2: "1"}
    assert shown(column([1, 2], swapped), column([2, 1], swapped)) == [["1", "2"], ["2", "1"]]


def test_an_unlabelled_number_that_reads_like_a_label_stays_apart():
    """1 has no label, and "1" is the label of 2."""
    scale = column([1, 2, 3], {2: "1", 3: "many"}, "o", kind="categorical")
    for release, texts in ((["many"], ["many"]), ([1, 3], ["1", "3"]), ([1], ["1"])):
        assert told(scale, column(release, label="s"))[0][1] == texts
    assert told(scale, column(["many"], label="s"))[0][0] == ["1", "1 (2)", "many"]


# ------------------------------------------------------------------------------------------- other spellings
@quiet
@pytest.mark.parametrize(
    ("labels", "release", "texts"),
    [
        ({0: "no", 1: "yes"}, [False, True], ["no", "yes"]),
        ({0: "no", 1: "yes"}, [0.0, 1.0], ["no", "yes"]),
        ({0: "no", 1: "yes"}, ["0.0", "1.0"], ["no", "yes"]),
        ({0.0: "no", 1.0: "yes"}, ["0", "1"], ["no", "yes"]),
        ({"0": "no", "1": "yes"}, [0, 1], ["no", "yes"]),
        ({False: "no", True: "yes"}, [0, 1], ["no", "yes"]),
        ({0: "no", 1: "yes"}, [" no", "yes "], ["no", "yes"]),
        ({0: "no ", 1: " yes"}, ["no", "yes"], ["no", "yes"]),
        ({0: "caf\u00e9", 1: "yes"}, ["cafe\u0301", "yes"], ["caf\u00e9", "yes"]),
        ({"n": "no", "y": "yes"}, ["n", "y"], ["no", "yes"]),
        ({0.5: "no", 1.5: "yes"}, ["0.50", "1.5"], ["no", "yes"]),
        ({0: "FALSE", 1: "TRUE"}, [False, True], ["FALSE", "TRUE"]),
    ],
)
def test_codes_and_labels_are_compared_as_values(labels: Mapping[Any, str], release: Sequence[Any], texts: list[str]):
    words = [text.strip() for text in labels.values()]
    original = column(words, labels, kind="categorical", labelled=True)
    assert shown(original, column(release)) == [texts] * 2
    assert shown(column(release), original) == [texts] * 2


def test_leading_zeros_that_the_codes_have_lost_are_refused():
    original = column(["male", "female"], {1: "male", 2: "female"}, labelled=True)
    with pytest.raises(DataError, match="'x': s has codes with leading zeros such as '01', and the labels are those"):
        shown(original, column(["01", "2"], label="s"))


def test_several_releases_hold_codes_or_labels():
    original = column([0, 1, 4], label="o")
    releases = [column(["none", "1"], TEXTS, "a"), column([4.0, 0.0], label="b"), column(["4 or more"], label="c")]
    with pytest.warns(UnveilWarning, match="codes in o, labels in a, codes in b, labels in c"):
        found = shown(original, *releases)
    assert found == [["none", "1", "4 or more"], ["none", "1"], ["4 or more", "none"], ["4 or more"]]


# ------------------------------------------------------------------------------------- labels that differ
def labelled(values: Sequence[str], labels: Mapping[int, str], label: str) -> Any:
    return column(values, labels, label, kind="categorical", levels=tuple(labels.values()), labelled=True)


def test_two_languages_meet_by_code_and_it_is_said():
    english = labelled(["male", "female"], {1: "male", 2: "female"}, "en")
    german = labelled(["Frau", "Mann"], {1: "Mann", 2: "Frau"}, "de")
    with pytest.warns(UnveilWarning, match="label codes differently .2 is 'female' and 'Frau'; and 1 mo") as caught:
        found = shown(english, german)
    assert found == [["male", "female"], ["female", "male"]]
    (note,) = (one.message.args[0] for one in caught)
    assert "Frau" not in note.public


def test_the_same_labels_of_other_codes_meet_by_label():
    """A factor that was written again has codes of its own."""
    one = labelled(["no", "yes"], {0: "no", 1: "yes"}, "a")
    other = labelled(["yes", "no"], {1: "no", 2: "yes"}, "b")
    assert shown(one, other) == [["no", "yes"], ["yes", "no"]]


def test_numbers_whose_labels_have_moved_meet_by_label():
    one = column([-8, 5], {-8: "refused"}, "a", kind="numeric")
    other = column([-9, 5], {-9: "refused"}, "b", kind="numeric")
    with pytest.warns(UnveilWarning, match="the files give 'refused' different codes: compared by label"):
        assert shown(one, other) == [["-8", "5"]] * 2


def test_one_label_of_two_codes():
    """A file of labels cannot tell them apart, so they are one for all."""
    original = column([1, 2, 3], {1: "other", 2: "other", 3: "none"}, "o")
    found, said = told(original, column(["other", "none"], label="s"))
    assert "the codes 1, 2 share labels that a file holds in their place: taken as one" in said
    assert found == [["other", "other", "none"], ["other", "none"]]


@pytest.mark.parametrize("held", [["other", "none"], ["other"], ["none", "other", "other"]])
def test_one_label_of_two_codes_beside_labels_that_were_told_apart(held: list[str]):
    """Readers add the code to a label that several codes have; whoever writes the label alone means either."""
    apart = {1: "other (1)", 2: "other (2)", 3: "none"}
    original = labelled(["other (1)", "other (2)", "none"], apart, "o")
    level = {"other": "other (1)", "none": "none"}
    for files in ((original, column(held, label="s")), (column(held, label="s"), original)):
        found, said = told(*files)
        assert "the codes 1, 2 share labels that a file holds in their place: taken as one" in said
        expected = [["other (1)", "other (1)", "none"], [level[text] for text in held]]
        assert found == (expected if files[0] is original else expected[::-1])


def test_one_label_of_two_codes_of_which_one_occurs():
    apart = {1: "other (1)", 2: "other (2)", 3: "none"}
    found, _ = told(labelled(["other (2)", "none"], apart, "o"), column(["other", "none"], label="s"))
    assert found[0] == found[1]


def test_one_label_of_two_codes_stays_two_levels_where_both_files_hold_codes():
    twice = {1: "other", 2: "other", 3: "none"}
    assert shown(column([1, 2, 3], twice), column([3, 2])) == [["1", "2", "3"], ["3", "2"]]


def test_labels_of_a_schema_replace_those_of_the_file():
    original = labelled(["male", "female"], {1: "male", 2: "female"}, "o")
    schema = {"x": unveil.Variable("x", labels={1: "Mann", 2: "Frau"})}
    with pytest.warns(UnveilWarning, match="the codes were replaced"):
        assert shown(original, column([2, 1]), schema=schema) == [["Mann", "Frau"], ["Frau", "Mann"]]


# ------------------------------------------------------------------------- special codes, exclusions, key sets
def test_special_codes_by_label():
    income = {-8: "refused", -9: "not asked"}
    original = column([100, 200, 300, -8], income, kind="numeric", special_codes=(-8, -9))
    with pytest.warns(UnveilWarning, match="labels were replaced"):
        found = unveil.Pair(original, column(["100", "200", "refused", "not asked"])).column("x")
    assert [found.label(code) for code in found.special] == ["-9", "-8"]
    release = column([100, 200, -8])
    found = unveil.Pair(original, release, special_codes={"x": ["refused"]}).column("x")
    assert [found.label(code) for code in found.special] == ["-8"]
    with pytest.raises(CallError, match="'refusd' of the numeric column 'x' is not a number; did you mean 'refused'"):
        unveil.Pair(original, release, special_codes={"x": ["refusd"]}).column("x")


@quiet
@pytest.mark.parametrize("text", [".a", ".A", "refused"])
def test_letters_of_stata_in_a_text_file(text: str, tmp_path: Path):
    a = letter_code("a")
    original = column([1, 2, 3, a], {a: "refused"}, kind="numeric", special_codes=(a,))
    path = tmp_path / "release.csv"
    path.write_text(f"x\n1\n3\n{text}\n")
    for options in ({}, {"schema": {"x": unveil.Variable("x", "numeric", special_codes=(a,), labels={a: "refused"})}}):
        found = unveil.Pair(original, path, **options).column("x")
        assert found.kind == "numeric"
        assert [found.label(code) for code in found.releases[0]] == ["1", "3", str(a)]
        assert [found.label(code) for code in found.special] == [str(a)]


@quiet
@pytest.mark.parametrize("level", ["none", "0", 0, 0.0])
@pytest.mark.parametrize("release", [[0, 0, 1, 4], ["none", "none", "1", "4 or more"]], ids=["codes", "labels"])
@pytest.mark.parametrize("original", [[0, 1, 4, 4], ["none", "1", "4 or more", "4 or more"]], ids=["codes", "labels"])
def test_exclusions_by_code_or_label(original: Any, release: Any, level: Any):
    files = [
        unveil.read(pa.table({"x": v, "k": [1, 2, 3, 3]}), schema={"x": unveil.Variable("x", labels=TEXTS)})
        for v in (original, release)
    ]
    pair = unveil.Pair(*files)
    # Key 1 goes with "none" and key 3 in the release with "1" and "4 or more".
    assert unveil.attribute(pair, ["k"], target="x").DiSCO == 25.0
    assert unveil.attribute(pair, ["k"], target="x", not_target_levels=[level]).DiSCO == 0.0
    assert unveil.attribute(pair, ["k"], target="x", exclude_pairs=[("k", 1, level)]).DiSCO == 0.0
    assert unveil.attribute(pair, ["k"], target="x", exclude_pairs=[("k", 2, level)]).DiSCO == 25.0


def test_a_printed_level_comes_before_a_code():
    found = unveil.Pair(labelled(["0", "1"], SHIFTED, "o"), labelled(["2", "1"], SHIFTED, "s")).column("x")
    assert found.labels == ("0", "1", "2")
    assert (found.code_of("1"), found.code_of(1), found.code_of("3"), found.code_of(3)) == (1, 0, 2, 2)


@quiet
def test_key_sets_and_order_of_levels():
    """The declared order is that of the codes, whichever of the two the levels are declared as."""
    codes = column([3, 1, 2], {1: "low", 2: "mid", 3: "high"}, kind="ordered", levels=(1, 2, 3))
    for levels in ((1, 2, 3), ("low", "mid", "high")):
        words = column(["mid", "high", "low"], {1: "low", 2: "mid", 3: "high"}, kind="ordered", levels=levels)
        found = unveil.Pair(words, codes).column("x")
        assert (found.kind, found.labels) == ("ordered", ("low", "mid", "high"))
    table = people()
    one = unveil.key_sets(unveil.Pair(declared(table), in_words(table)), ["children", "age"], target="ill")
    other = unveil.key_sets(unveil.Pair(table, table.slice(0)), ["children", "age"], target="ill")
    assert str(one).splitlines()[:6] == str(other).splitlines()[:6]


# ---------------------------------------------------------------------------------------------------------- R
IN_CODES = {
    "children": "0 1 2 3 4 9 8 0 1 2 3 _",
    "score": "1 2 3 4 5 97 98 99 1 2 3 _",
    "grade": "1 2 3 1 2 3 1 2 3 1 2 _",
    "text": "a b a b a b a b a b _ a",
    "amount": "10 .a .z _ 20 30 40 50 60 70 80 90",
}
IN_LABELS = {
    "children": "none 1 2 3 4-or-more refused 8 none 1 2 3 _",
    "score": "lowest 2 3 4 highest 97 98 99 lowest 2 3 _",
    "grade": "good fair poor good fair poor good fair poor good fair _",
    "text": "yes no yes no yes no yes no yes no _ yes",
    "amount": "10 not-asked refused _ 20 30 40 50 60 70 80 90",
}


@quiet
@pytest.mark.parametrize("written", [IN_CODES, IN_LABELS], ids=["codes", "labels"])
@pytest.mark.parametrize("name", IN_CODES)
def test_labelled_columns_of_r(tmp_path: Path, written: Mapping[str, str], name: str):
    """Columns of haven, their user missing values and lettered gaps among them, and the same records as text."""
    pytest.importorskip("rdata", reason="for R files")
    original = Path(__file__).parents[1] / "files" / "r_files" / "labelled.rds"
    cells = [cell.strip("_").replace("-", " ") for cell in written[name].split()]
    (tmp_path / "people.csv").write_text(f"{name},k\n" + "".join(f"{cell},1\n" for cell in cells), encoding="utf-8")
    for pair in ((original, tmp_path / "people.csv"), (tmp_path / "people.csv", original)):
        found = unveil.Pair(*pair).column(name)
        assert found.original.tolist() == found.releases[0].tolist(), (pair, found.labels)


# ------------------------------------------------------------------------------------------ synthesizers
@quiet
@pytest.mark.parametrize("held", ["codes", "labels"])
@pytest.mark.parametrize("kind", [None, "categorical", "numeric"])
def test_a_synthesizer_reads_releases_of_codes_and_of_labels(held: str, kind: Any):
    """The likelihood of a release does not depend on how it writes its values."""
    from unveil.synthesis.encoding import encode

    original = labelled(["none", "1", "4 or more", "none"], TEXTS, "o")
    variable = encode(original, kinds={"x": kind} if kind else None)[0]
    release = column([4, 0, 1] if held == "codes" else ["4 or more", "none", "1"])
    levels, unknown = variable.read(release)
    assert not unknown.any()
    assert levels.codes.tolist() == variable.codes[[2, 0, 1]].tolist()
    assert variable.kind == (kind or "categorical")


# -------------------------------------------------------------------------------------------- properties
TEXT = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=3)


@quiet
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.dictionaries(st.integers(0, 6), TEXT | st.integers(0, 6).map(str), min_size=1, max_size=6),
    codes=st.lists(st.integers(0, 6), min_size=1, max_size=30),
    release=st.lists(st.integers(0, 6), min_size=1, max_size=30),
    kind=st.sampled_from([None, "numeric", "categorical", "ordered"]),
    labelled_file=st.sampled_from(["original", "release"]),
    as_text=st.booleans(),
)
def test_a_relabelled_twin_gives_the_same_joint_codes_or_says_so(labels, codes, release, kind, labelled_file, as_text):
    """One file holds codes, the other their labels, as a statistical package gives them."""
    if len({text.strip() for text in labels.values()}) < len(labels) or not set(release) | set(codes) <= set(labels):
        return
    as_codes = [str(v) if as_text else v for v in (codes if labelled_file == "release" else release)]
    words = [labels[v] for v in (release if labelled_file == "release" else codes)]
    worded = column(words, labels, "w", kind="categorical", labelled=True)
    coded = column(as_codes, label="c")
    pair = (coded, worded) if labelled_file == "release" else (worded, coded)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = unveil.Pair(*pair, kinds={"x": kind} if kind else None).column("x")
        plain = unveil.Pair(column(codes), column(release)).column("x")
    same = np.array_equal(
        np.equal.outer(found.original, found.releases[0]), np.equal.outer(plain.original, plain.releases[0])
    )
    doubt = any("taken as codes" in str(one.message) for one in caught)
    assert same, ([str(one.message) for one in caught], doubt)
