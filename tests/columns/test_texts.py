"""The same values written otherwise in another file: amounts, days, truth values and numbers as text."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import DataError, UnveilWarning

Day = datetime.date
MORNING = datetime.datetime(2020, 1, 1, 10)


@pytest.fixture
def meet(tmp_path: Path) -> Callable[..., tuple[list[list[str]], str, str]]:
    """Function from two columns, values or the text of a file, to the levels of the records, what is said, the kind."""

    def opened(values: Any, name: str) -> Any:
        if not isinstance(values, str):
            return unveil.read(pa.table({"x": values}), label=name)
        path = tmp_path / f"{name}.csv"
        path.write_text("x;y\n" + "".join(f"{cell};a\n" for cell in values.split("|")), encoding="utf-8")
        return path

    def met(original: Any, release: Any, **options: Any) -> tuple[list[list[str]], str, str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = unveil.Pair(opened(original, "o"), opened(release, "s"), **options).column("x")
        levels = [[found.labels[code] for code in codes] for codes in (found.original, found.releases[0])]
        return levels, " / ".join(str(one.message) for one in caught), found.kind

    return met


SAME = [
    # what one file holds, what another does, and what is told ("" where both are read alike)
    ("3.007,83|950,00", "3007.83|950", ""),
    ("3.007,83|950,00", [3007.83, 950.0], ""),
    ("3.007,83|950,00", ["3.007,83", "950,00"], "text was read as numbers"),
    ([3007.83, 950.0], ["3.007,83", "950,00"], "text was read as numbers"),
    ([3007.83, 950.0], ["3 007,83", "950"], "text was read as numbers"),
    ([3007.83, 950.0], ["3,007.83", "950"], "text was read as numbers"),
    (["3007.83", "950.00"], ["3.007,83", "950,00"], "numbers as text in different notations"),
    (["3007.83", "950"], ["3'007.83", "950.0"], "numbers as text in different notations"),
    ("1.500,5|2.500", "1500.5|2500", ""),
    ("1,500.5|2,500", ["1,500.5", "2,500"], "text was read as numbers"),
    ("+5|-3", "5|-3", ""),
    ("+5|-3", ["+5", "-3"], "text was read as numbers"),
    ("13.04.1942|01.12.1950", "1942-04-13|1950-12-01", ""),
    ("13.04.1942|01.12.1950", [Day(1942, 4, 13), Day(1950, 12, 1)], ""),
    ([Day(1942, 4, 13), Day(1950, 12, 1)], ["13.04.1942", "1.12.1950"], "text was read as dates"),
    (["1942-04-13", "1950-12-01"], ["13.04.1942", "01.12.1950"], "dates as text in different notations"),
    (["13/04/1942", "01/12/1950"], ["1942-04-13", "1950-12-01"], "dates as text in different notations"),
    ("13/04/1942|01/12/1950", ["13/04/1942", "01/12/1950"], "text was read as dates"),
    (["1.50", "2.00", "n"], ["1.5", "2", "n"], "written differently were taken as one"),
    (["1", "2", "refused"], ["1.0", "2.0", "refused"], "written differently were taken as one"),
    ("1|2|refused", "1.0|2.0|refused", "written differently were taken as one"),
    (["T", "F"], ["yes", "no"], "true and false as text in different notations"),
    (["1", "0"], [1, 0], "text was read as numbers"),
    (["T", "F"], [1, 0], "compared as true and false"),
    ("yes|no", [1.0, 0.0], "compared as true and false"),
    (["2020-01-01 10:00", "?"], ["2020-01-01T10:00:00", "?"], "written differently were taken as one"),
    (["13.04.1942", "unknown"], ["1942-04-13", "unknown"], "written differently were taken as one"),
]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("one", "other", "said"), SAME, ids=[f"{one} {other}" for one, other, _ in SAME])
def test_the_same_values_in_other_notations_are_one(meet: Any, one: Any, other: Any, said: str, swapped: bool):
    (original, release), told, _ = meet(other, one) if swapped else meet(one, other)
    assert original == release
    assert said in told
    assert bool(said) == bool(told), told


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        ("TRUE|unknown", "TRUE|FALSE", (["TRUE", "unknown"], ["TRUE", "FALSE"])),
        ("True|unknown|False", "True|False", (["True", "unknown", "False"], ["True", "False"])),
        ("true|unknown", [True, False], (["true", "unknown"], ["true", "false"])),
        ("yes|no|unknown", [True, False], (["yes", "no", "unknown"], ["yes", "no"])),
        ("T|?", [True, False], (["T", "?"], ["T", "F"])),
        ("2020-01-01|unknown", "2020-01-01|2020-02-01", (["2020-01-01", "unknown"], ["2020-01-01", "2020-02-01"])),
        ("2020-01-01|unknown", [Day(2020, 1, 1)], (["2020-01-01", "unknown"], ["2020-01-01"])),
        ("01.02.2020|unknown", "01.02.2020|13.02.2020", (["01.02.2020", "unknown"], ["01.02.2020", "13.02.2020"])),
        ("01.02.2020|unknown", [Day(2020, 2, 1)], (["2020-02-01", "unknown"], ["2020-02-01"])),
        ("1/2/2020|?", "1/2/2020|13/2/2020", (["1/2/2020", "?"], ["1/2/2020", "13/2/2020"])),
        ("2020-01-01 10:00|?", "2020-01-01 10:00", (["2020-01-01 10:00", "?"], ["2020-01-01 10:00"])),
        ("2020-01-01 10:00|?", [MORNING], (["2020-01-01 10:00:00", "?"], ["2020-01-01 10:00:00"])),
        (
            ["2020-01-01T10:00:00", "2020-01-01 25:00"],
            [MORNING],
            (["2020-01-01 10:00:00", "2020-01-01 25:00"], ["2020-01-01 10:00:00"]),
        ),
        ("1.50|n", "1.50|2.50", (["1.5", "n"], ["1.5", "2.5"])),
        ("3.007,83|n", "3.007,83|1,50", (["3.007,83", "n"], ["3.007,83", "1,50"])),
        ("1|2|refused", [1.0, 2.0], (["1", "2", "refused"], ["1", "2"])),
        ("1.10|1.1|n", "1.10|1.20", (["1.10", "1.1", "n"], ["1.10", "1.20"])),
        ("+5|n", "+5|-3", (["5", "n"], ["5", "-3"])),
    ],
    ids=str,
)
def test_a_level_that_reads_like_a_value_of_a_file_of_such_values(
    meet: Any, one: Any, other: Any, texts: tuple[list[str], list[str]], swapped: bool
):
    found, told, kind = meet(other, one) if swapped else meet(one, other)
    assert found == list(texts[::-1] if swapped else texts)
    assert "compared as text" in told
    assert kind == "categorical"


def test_days_that_fit_two_orders_are_read_in_that_of_the_other_file(meet: Any):
    """The release alone does not tell whether 01/02 is in January or in February."""
    found, told, kind = meet("01/02/2020|13/04/1942", "01/02/2020|02/03/2020")
    assert found == [["2020-02-01", "1942-04-13"], ["2020-02-01", "2020-03-02"]]
    assert "s.csv: column 'x' holds days that may have the day or the month first" in told
    assert "text was read as dates" in told
    assert kind == "date"


def test_days_that_fit_two_orders_beside_dates_without_one_are_refused(meet: Any):
    with pytest.raises(DataError, match="'x' holds text such as '01/02/2020' beside dates"):
        meet([Day(2020, 2, 1)], ["01/02/2020"])


def test_amounts_that_fit_two_notations_are_read_in_that_of_the_other_file(meet: Any):
    found, _, kind = meet("1.234,50|2.000", ["1.234,50", "3,000"])
    assert (found[1], kind) == (["1234.5", "3"], "numeric")
    found, _, kind = meet("1,234.50|2,000", ["2,000", "3,000"])
    assert (found[1], kind) == (["2000", "3000"], "numeric")


def test_what_would_make_one_of_two_levels_is_left_apart(meet: Any):
    """Versions 1.1 and 1.10 are two."""
    found, told, _ = meet(["1.1", "1.10", "n"], ["1.10", "1.2", "n"])
    assert found == [["1.1", "1.10", "n"], ["1.10", "1.2", "n"]]
    assert told == ""


def test_levels_are_not_quoted_in_what_is_published():
    files = [pa.table({"x": ["1", "n"]}), pa.table({"x": ["1.0", "n"]})]
    with pytest.warns(UnveilWarning, match="'1.0' and '1'") as caught:
        unveil.Pair(*files).column("x")
    (note,) = (one.message.args[0] for one in caught)
    assert "'1" not in note.public


@pytest.mark.parametrize(
    ("texts", "kind", "levels"),
    [
        (["3.007,83", "12"], "numeric", ["3007.83", "12"]),
        (["13.04.1942"], "date", ["1942-04-13"]),
        (["yes", "no"], "logical", ["TRUE", "FALSE"]),
    ],
)
def test_kinds_that_are_stated_of_frames(meet: Any, texts: Sequence[str], kind: str, levels: Sequence[str]):
    assert meet(texts, texts, kinds={"x": kind}) == ([levels, levels], "", kind)


def test_amounts_of_frames_can_be_grouped(meet: Any):
    texts = [f"{i}.000,50" for i in range(1, 9)]
    original = pa.table({"k": list("aabbccdd"), "x": texts})
    release = pa.table({"k": list("aabbccdd"), "x": [1000.5 * i for i in range(1, 9)]})
    with pytest.warns(UnveilWarning, match="text was read as numbers"):
        risk = unveil.attribute(unveil.Pair(original, release), ["k"], target="x", ngroups_target=4)
    assert len(risk.grouping["x"]["levels"]) == 4


# ------------------------------------------------------------------------------------------------ properties
NUMBER = st.decimals(min_value=-99999, max_value=99999, places=2, allow_nan=False, allow_infinity=False)


def german(number: Any) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


FORMS: dict[str, Callable[[Any], str]] = {
    "plain": lambda n: f"{n:.2f}",
    "short": lambda n: f"{float(n):.15g}",
    "german": german,
    "french": lambda n: f"{n:,.2f}".replace(",", "\u202f").replace(".", ","),
    "swiss": lambda n: f"{n:,.2f}".replace(",", "'"),
    "english": lambda n: f"{n:,.2f}",
    "signed": lambda n: f"{n:+.2f}",
    "blanks": lambda n: f" {n:.2f} ",
}
DAYS: dict[str, Callable[[Day], str]] = {
    "iso": Day.isoformat,
    "german": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "short": lambda d: f"{d.day}.{d.month}.{d.year}",
    "french": lambda d: f"{d.day:02}/{d.month:02}/{d.year}",
    "american": lambda d: f"{d.month}/{d.day}/{d.year}",
    "dutch": lambda d: f"{d.day:02}-{d.month:02}-{d.year}",
    "japanese": lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
}


def twins(files: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Which records of the files are equal, and what is said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = unveil.Pair(*files).column("x")
        except DataError as error:
            return np.zeros(0), [str(error)]
    return np.equal.outer(found.original, found.releases[0]), [str(one.message) for one in caught]


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    original=st.lists(NUMBER, min_size=1, max_size=12),
    release=st.lists(NUMBER, min_size=1, max_size=12),
    forms=st.tuples(st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(FORMS))),
    as_files=st.tuples(st.booleans(), st.booleans()),
)
def test_a_twin_in_another_notation_of_amounts_gives_the_same_or_says_so(original, release, forms, as_files, tmp_path):
    _twins_are_equal(original, release, [FORMS[form] for form in forms], as_files, tmp_path)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    original=st.lists(st.dates(Day(1900, 1, 1), Day(2030, 1, 1)), min_size=1, max_size=12),
    release=st.lists(st.dates(Day(1900, 1, 1), Day(2030, 1, 1)), min_size=1, max_size=12),
    forms=st.tuples(st.sampled_from(sorted(DAYS)), st.sampled_from(sorted(DAYS))),
    as_files=st.tuples(st.booleans(), st.booleans()),
)
def test_a_twin_in_another_notation_of_days_gives_the_same_or_says_so(original, release, forms, as_files, tmp_path):
    _twins_are_equal(original, release, [DAYS[form] for form in forms], as_files, tmp_path)


def _twins_are_equal(original: Any, release: Any, write: Sequence[Any], as_files: Sequence[bool], folder: Path) -> None:
    release = [*release, *original[:3]]
    files: list[Any] = []
    for name, values, form, as_file in zip("os", (original, release), write, as_files, strict=True):
        texts = [form(value) for value in values]
        if as_file:
            files.append(folder / f"{name}.csv")
            files[-1].write_text("x;y\n" + "".join(f"{text};a\n" for text in texts), encoding="utf-8")
        else:
            files.append(pa.table({"x": texts}))
    found, said = twins(files)
    right = np.equal.outer(np.array(original, dtype=object), np.array(release, dtype=object))
    assert np.array_equal(found, right) or said, (found, right)
