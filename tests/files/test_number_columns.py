"""Whole numbers that are read as numbers give what their texts give, to the last notation."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import DataError
from unveil.files import delimited, number_columns
from unveil.files.opening import open_source

N = 4200
"""More records than are looked at before the file is read."""
BASE = "".join(f'{i % 90},"a ""b"" {i % 3}",{"" if i % 7 == 0 else i * 31 % 5000 - 9},x\n' for i in range(N))
ODD = ["007", " 7", "7 ", "-0", "00", "0x7", "0xFFFFFFFF", "+7", "7.0", "1e3", '"7"', "NA", "-", "1000000000",
       "-1000000000", "999999999", "9223372036854775808", "", "seven", '""', "1,5"]  # fmt: skip


def read(path, content):
    """Columns, their types and their spelling, or the error; and what was warned of."""
    path.write_text(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            source = open_source(path)
            found = {name: (source.column(name).type, source.column(name).to_pylist()) for name in source.names}
            spelled = source.form.columns
        except DataError as error:
            found, spelled = str(error), None
    return found, spelled, sorted(str(one.message) for one in caught)


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Function that reads a text with the short way and without it, and says how often it was parsed the short way."""
    parses = []
    parse = delimited._parse

    def counted(*arguments, **options):
        parses.append(arguments)
        return parse(*arguments, **options)

    def compared(content):
        parses.clear()
        with monkeypatch.context() as patched:
            patched.setattr(delimited, "_parse", counted)
            one = read(tmp_path / "short.csv", content)
        n_parses = len(parses)
        with monkeypatch.context() as patched:
            patched.setattr(delimited, "whole_number_columns", lambda form: [])
            other = read(tmp_path / "short.csv", content)
        assert one == other
        return one[0], n_parses

    return compared


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_plain_numbers_are_parsed_once(both, end, mark):
    found, n_parses = both(mark + ('age,"a ""text""",amount,z\n' + BASE).replace("\n", end))
    assert n_parses == 1
    assert found["age"][1][:3] == [0, 1, 2]
    assert found["amount"][1][:3] == [None, 22, 53]
    assert found['a "text"'][1][0] == 'a "b" 0'


def test_without_a_last_line_break(both):
    found, n_parses = both(("a,b,c,d\n" + BASE).rstrip("\n"))
    assert n_parses == 1
    assert len(found["a"][1]) == N


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", ["a", "c"])
def test_a_number_in_another_notation_far_down(both, odd, place):
    row = f"{odd},t,1,x\n" if place == "a" else f"1,t,{odd},x\n"
    both("a,b,c,d\n" + BASE + row)


def test_zeros_before_a_number_make_texts(both):
    found, n_parses = both("a,b,c,d\n" + BASE + "007,t,1,x\n")
    assert n_parses > 1
    assert found["a"][1][-1] == "007"
    assert found["a"][1][1] == "1"


def test_shorter_hexadecimal_numbers_cannot_make_up_for_zeros(both):
    # 0xFFFFFFFFFF is one character shorter than 1099511627775, and 01 one longer than 1.
    found, _ = both("a,b,c,d\n" + BASE + "0xFFFFFFFFFF,t,1,x\n01,t,1,x\n")
    assert found["a"][1][-2:] == ["0xFFFFFFFFFF", "01"]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from([*ODD, "1", "-5", "12"]), min_size=1, max_size=4))
def test_any_mixture(tmp_path_factory, odd):
    rows = "".join(f"{one},t,{one},x\n" for one in odd)
    path = tmp_path_factory.mktemp("mixed") / "short.csv"
    content = "a,b,c,d\n" + BASE + rows
    one = read(path, content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(delimited, "whole_number_columns", lambda form: [])
        assert read(path, content) == one


def test_numbers_of_a_wide_range_and_different_in_every_record(both):
    rows = "".join(f"{i * 199_999},{-i},{i}\n" for i in range(N))
    found, n_parses = both("a,b,c\n" + rows)
    assert n_parses == 1
    assert found["a"][1][-1] == (N - 1) * 199_999
    assert found["b"][1][-1] == 1 - N


def test_short_files_are_read_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr(number_columns, "with_texts", None)
    assert read(tmp_path / "few.csv", "a,b\n1,2\n3,4\n")[0]["a"][1] == [1, 3]
