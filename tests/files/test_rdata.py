"""R files: those of the folder r_files were written by R itself, by the script beside them."""

from __future__ import annotations

import datetime as dt
import importlib
import shutil
from pathlib import Path

import pytest

import unveil
from unveil.errors import DataError, FileError, MissingPackageError, UnveilWarning
from unveil.files.opening import open_releases, open_source
from unveil.files.statistical import letter_code

pytest.importorskip("rdata", reason="for R files", exc_type=ImportError)

FILES = Path(__file__).parent / "r_files"
UTC = dt.UTC


def values(source, name):
    return source.column(name).to_pylist()


@pytest.mark.parametrize(
    "name", ["people.rds", "people_ascii.rds", "people_v2.rds", "people_plain.rds", "people.rda", "people.RData"]
)
def test_one_data_frame(tmp_path, name):
    path = FILES / name
    if name.endswith("RData"):
        path = shutil.copy(FILES / "people.rda", tmp_path / name)
    source = open_source(path)
    assert (source.flavour, source.num_rows, source.path) == ("arrow", 12, str(path))
    assert values(source, "sex") == ["f", "m"] * 6
    assert values(source, "age") == [*range(20, 31), None]
    assert values(source, "income") == [1500.5, None, None, *range(1000, 1900, 100)]
    assert values(source, "ill") == [True, False, None, *[True] * 9]
    assert values(source, "town") == ["Łódź", None, "", *["Bonn"] * 9]


def test_factors_keep_their_levels_and_whether_these_are_ordered():
    source = open_source(FILES / "people.rds")
    assert source.variable("sex").levels == ("m", "f", "x")
    assert source.variable("sex").kind == "categorical"
    assert source.variable("edu").levels == ("low", "mid", "high")
    assert source.variable("edu").kind == "ordered"
    assert source.variable("town").levels is None


@pytest.mark.parametrize("number", [0, -1, 4])
def test_a_level_that_a_factor_has_not_is_no_gap(tmp_path, number):
    content = (FILES / "people_plain.rds").read_bytes()
    codes = b"\0\0\0\2\0\0\0\1\0\0\0\2"  # the first records of a factor with three levels
    place = content.index(codes)
    path = tmp_path / "people.rds"
    path.write_bytes(content[:place] + number.to_bytes(4, "big", signed=True) + content[place + 4 :])
    with pytest.raises(
        FileError, match=f"column 'sex', record 1: the factor has no level of number {number}; the file is"
    ):
        open_source(path)


@pytest.mark.parametrize(
    ("sound", "damaged", "said"),
    [
        (b"\0\0\0\4town", b"\0\0\0\4to\0n", "holds an object that R does not write"),
        (b"\0\0\0\4Bonn", b"\0\0\0\4\0onn", "column 'town', number 4: not a text of R"),
        (b"\0\4\0\x09\0\0\0\4town", b"\0\0\0\x08\0\0\0\4town", "the names of the columns, number 6: not a text of R"),
        (b"\0\4\0\x09\0\0\0\3hms", b"\0\4\0\x09\0\0\0\3h\xcbs", "holds an object that R does not write"),
        (b"\0\4\0\x09\0\0\0\6levels", b"\0\4\0\x09\0\0\0\6levelt", "column 'sex': a factor without levels"),
    ],
)
def test_what_r_cannot_have_written_is_damage(tmp_path, sound, damaged, said):
    content = (FILES / "people_plain.rds").read_bytes()
    assert sound in content
    path = tmp_path / "people.rds"
    path.write_bytes(content.replace(sound, damaged, 1))
    with pytest.raises(FileError, match=f"people.rds: {said}; the file is damaged"):
        open_source(path)


def test_dates_and_times():
    source = open_source(FILES / "people.rds")
    assert values(source, "born") == [dt.date(1942, 4, 13) + dt.timedelta(days=i) for i in range(11)] + [None]
    assert values(source, "whole_date")[:3] == [dt.date(1970, 1, 1), dt.date(1970, 1, 2), None]
    seen = [dt.datetime(2020, 3, 29, 1 + i, 30, tzinfo=UTC) for i in range(11)] + [None]
    assert values(source, "seen") == seen
    # In the night the clocks went forward, 1:30 in Berlin was 0:30 UTC, and the next hour 1:30 UTC.
    assert [v and v.astimezone(UTC) for v in values(source, "local")] == [
        dt.datetime(2020, 3, 29, i, 30, tzinfo=UTC) for i in range(11)
    ] + [None]
    assert values(source, "broken") == seen
    assert values(source, "wait") == [dt.timedelta(minutes=i) for i in range(1, 12)] + [None]
    assert values(source, "clock")[0] == dt.timedelta(seconds=1)
    assert values(source, "serial") == [9007199254740993, None, *range(3, 13)]


def test_impossible_dates_are_told_and_become_gaps():
    with pytest.warns(UnveilWarning) as told:
        source = open_source(FILES / "far.rds")
    assert [str(one.message) for one in told] == [
        "far.rds: column 'day', records 1, 3: no calendar has the date; they were read as missing",
        "far.rds: column 'moment', record 1: no calendar has the time; it was read as missing",
    ]
    assert values(source, "day") == [None, dt.date(1970, 1, 1), None]
    assert values(source, "moment")[1].microsecond == 250000


def test_labels_user_missing_values_and_letters_of_haven():
    source = open_source(FILES / "labelled.rds")
    children = source.variable("children")
    assert children.labels == {0: "none", 1: "1", 2: "2", 3: "3", 4: "4 or more", 9: "refused"}
    assert 9 in children.special_codes
    assert values(source, "grade") == ["good", "fair", "poor"] * 3 + ["good", "fair", None]
    assert source.variable("grade").levels == ("good", "fair", "poor")
    assert values(source, "text")[:2] == ["yes", "no"]
    assert source.variable("score").special_codes == (97, 98, 99)
    amount = source.variable("amount")
    asked, refused = letter_code("a"), letter_code("z")
    assert values(source, "amount")[:5] == [10, asked, refused, None, 20]
    assert amount.labels == {asked: "not asked", refused: "refused"}
    assert set(amount.special_codes) == {asked, refused}


@pytest.mark.parametrize("name", ["tibble.rds", "datatable.rds"])
def test_classes_that_are_data_frames(name):
    source = open_source(FILES / name)
    assert source.num_rows == 12
    assert values(source, "sex") == ["f", "m"] * 6


def test_copies_of_a_synds_object_are_releases():
    first, second = open_releases(FILES / "synds.rds")
    assert (first.label, second.label) == ("synds.rds (copy 1)", "synds.rds (copy 2)")
    assert (first.num_rows, second.num_rows) == (12, 6)
    assert first.origin["method"] == {"sex": "sample", "edu": "cart", "age": "cart", "income": "norm", "ill": "logreg"}
    assert first.origin["seed"] == 4711
    assert first.origin["m"] == 2
    assert first.origin["proper"] is False
    assert first.origin["visit.sequence"] == {"sex": 1, "edu": 2, "age": 3, "income": 4, "ill": 5}
    assert first.origin["call"] == {"m": 2, "seed": 4711, "cart.minbucket": 7}
    pair = unveil.Pair(FILES / "people.rds", FILES / "synds.rds")
    risk = unveil.identity(pair, ["age"])
    assert risk.labels == ("synds.rds (copy 1)", "synds.rds (copy 2)")
    # Twelve persons of twelve ages (a gap is one); the second copy holds the first six.
    assert [one["repU"] for one in risk.releases] == [100, 50]


def test_one_copy_of_a_synds_object_is_one_file():
    assert open_source(FILES / "synds_one.rda").num_rows == 12
    assert open_source(FILES / "synds_one.rda").origin["m"] == 1
    with pytest.raises(FileError, match=r"synds_none\.rds: the synds object holds no data \(m = 0\)"):
        open_source(FILES / "synds_none.rds")
    with pytest.raises(FileError, match=r"synds\.rds: holds 2 data frames, and one is wanted here"):
        open_source(FILES / "synds.rds")


def test_lists_of_data_frames_are_releases():
    assert [one.label for one in open_releases(FILES / "frames_named.rds")] == [
        "frames_named.rds (first)",
        "frames_named.rds (second)",
    ]
    assert [one.num_rows for one in open_releases(FILES / "frames.rds")] == [12, 6]
    pair = unveil.Pair(FILES / "people.rds", [FILES / "frames.rds", FILES / "people.rda"])
    assert pair.labels == ("frames.rds (1)", "frames.rds (2)", "people.rda")


def test_what_else_an_rda_file_holds_is_told():
    with pytest.warns(UnveilWarning, match=r"only the data frame 'people' was read, not 'extra'"):
        assert open_source(FILES / "people_and_more.rda").num_rows == 12
    with pytest.raises(FileError, match=r"two_frames\.rda: holds 'people', 'other'; save exactly one"):
        open_source(FILES / "two_frames.rda")


@pytest.mark.parametrize("name", ["vector.rds", "matrix.rds", "mixed_list.rds"])
def test_what_holds_no_data_frame(name):
    with pytest.raises(FileError, match=rf"{name}: holds no data frame but an object of R's type \w+"):
        open_source(FILES / name)


def test_columns_of_several_values_are_refused_by_name():
    source = open_source(FILES / "odd.rds")
    assert values(source, "id") == [1, 2]
    for name, held in [
        ("list", "lists"),
        ("matrix", "several values"),
        ("complex", "complex"),
        ("frame", "data.frame"),
    ]:
        with pytest.raises(DataError, match=rf"odd\.rds: column '{name}' holds {held}.* not one value per record"):
            source.column(name)


def test_files_without_records_and_of_another_encoding():
    assert open_source(FILES / "no_records.rds").names == ("a", "b")
    assert open_source(FILES / "no_records.rds").num_rows == 0
    assert open_source(FILES / "nothing.rds").names == ()
    latin = open_source(FILES / "latin1.rds")
    assert values(latin, "town") == ["Zürich", "Genève"]
    assert values(latin, "same") == ["1", "2"]


def test_what_is_no_r_file(tmp_path):
    path = tmp_path / "people.rds"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match=r"people\.rds: not a readable R file \(.*\); save it again with saveRDS"):
        open_source(path)


@pytest.mark.parametrize("cut", range(20, 2800, 111))
def test_a_file_that_is_cut_off_loses_no_record_without_a_word(tmp_path, cut):
    """The parser takes a vector that ends early for a shorter one."""
    path = tmp_path / "people.rds"
    path.write_bytes((FILES / "people_plain.rds").read_bytes()[:cut])
    with pytest.raises(FileError, match=r"people\.rds: "):
        open_source(path)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = tmp_path / "people.rds"
    path.write_bytes(b"")

    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[files\]'"):
        open_source(path)
