"""Awkward inputs of people who measure disclosure risk, with the right answers.

Each test is one reported case; ``d`` is the original, ``s`` the release. The failure to be afraid of is never
an error but a quiet wrong number, most often a reassuring one.
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from reference import close, columns_of

quiet = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
OLD_NAMES = {"DCAP": "DCAPd"}


@pytest.fixture
def pd() -> Any:
    return pytest.importorskip("pandas", reason="the reported input is a pandas frame")


def figures(
    d: Any, s: Any, keys: Sequence[str], target: str, pair: Mapping[str, Any], **options: Any
) -> dict[str, float]:
    both = unveil.Pair(d, s, **pair)
    key_options = {name: value for name, value in options.items() if name in ("ngroups_keys", "use_keys_na")}
    identity = unveil.identity(both, keys, **key_options).to_dict()["releases"][0]
    return identity | unveil.attribute(both, keys, target=target, **options).to_dict()["releases"][0]


def check(
    d: Any,
    s: Any,
    keys: Sequence[str],
    target: str,
    expected: Mapping[str, float],
    pair: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    found = figures(d, s, keys, target, pair or {}, **options)
    for name, value in expected.items():
        assert close(found[OLD_NAMES.get(name, name)], value), (name, found[OLD_NAMES.get(name, name)], value)


def right_or_refused(d: Any, s: Any, keys: Sequence[str], target: str, expected: Mapping[str, float]) -> None:
    """Harmonised or refused, both are fine; a figure that is another one is not."""
    try:
        found = figures(d, s, keys, target, {})
    except unveil.UnveilError:
        return
    for name, value in expected.items():
        assert close(found[OLD_NAMES.get(name, name)], value), name


# H01
def test_worked_example_of_unequal_sizes(pd: Any):
    d = pd.DataFrame(
        {
            "sex": list("FFFFMMMM"),
            "age": [20, 20, 30, 40, 20, 20, 30, 40],
            "ill": ["no", "no", "yes", "no", "no", "yes", "yes", "no"],
        }
    )
    s = pd.DataFrame(
        {
            "sex": list("FFFFMMMMMF"),
            "age": [20, 20, 20, 30, 20, 20, 30, 30, 50, 40],
            "ill": ["no", "no", "yes", "yes", "yes", "yes", "no", "no", "yes", "yes"],
        }
    )
    expected = {
        "UiO": 50,
        "UiS": 30,
        "UiOiS": 37.5,
        "repU": 25,
        "Dorig": 75,
        "Dsyn": 70,
        "iS": 87.5,
        "DiS": 62.5,
        "DiSCO": 25,
        "DiSDiO": 12.5,
        "DCAP": 100 * (10 / 3) / 8,
        "TCAP": 100 * 2 / 5,
        "CAPd": 87.5,
        "CAPs": 100 * (26 / 3) / 10,
        "baseCAPd": 53.125,
    }
    check(d, s, ["sex", "age"], "ill", expected)


# H02
def test_gap_in_a_key(pd: Any):
    d = pd.DataFrame({"region": ["N", "N", np.nan, "S", "S", np.nan], "sex": list("FFFMMM"), "t": list("aababb")})
    s = pd.DataFrame({"region": ["N", np.nan, "S", np.nan, np.nan, "S"], "sex": list("FFMMMM"), "t": list("abaaba")})
    expected = {
        "UiO": 100 * 2 / 6,
        "UiS": 100 * 2 / 6,
        "UiOiS": 100 * 2 / 6,
        "repU": 100 / 6,
        "iS": 100,
        "DiSCO": 100 * 4 / 6,
    }
    check(d, s, ["region", "sex"], "t", expected)


# H03
def test_gap_in_the_target(pd: Any):
    n = np.nan
    d = pd.DataFrame({"k": [1, 1, 2, 2, 3, 3], "t": ["x", n, n, n, "y", "y"]})
    s = pd.DataFrame({"k": [1, 2, 2, 3, 3, 3], "t": [n, n, n, "y", "y", n]})
    expected = {
        "Dorig": 100 * 4 / 6,
        "Dsyn": 50,
        "DiS": 100 * 4 / 6,
        "DiSCO": 50,
        "DCAP": 100 * (1 + 2 + 4 / 3) / 6,
        "baseCAPd": 100 * (1 + 9 + 4) / 36,
    }
    check(d, s, ["k"], "t", expected)


# H04
def test_four_kinds_of_gap_in_one_column(pd: Any):
    d = pd.DataFrame({"k": pd.Series(["a", None, np.nan, "a", pd.NA, "b"], dtype=object), "t": list("ynnyny")})
    s = pd.DataFrame({"k": pd.Series(["a", pd.NA, "b", None, "c", pd.NaT], dtype=object), "t": list("ynnnyn")})
    expected = {"UiO": 100 / 6, "UiS": 50, "UiOiS": 100 / 6, "repU": 100 / 6, "iS": 100, "DiSCO": 100 * 5 / 6}
    check(d, s, ["k"], "t", expected)


# H05
@quiet
def test_no_overlap_is_zero_where_the_denominator_is_not(pd: Any):
    d = pd.DataFrame({"k": ["a", "b"], "t": ["y", "y"]})
    s = pd.DataFrame({"k": ["x", "x"], "t": ["y", "y"]})
    expected = {
        "UiO": 100,
        "UiOiS": 0,
        "repU": 0,
        "iS": 0,
        "DiS": 0,
        "DiSCO": 0,
        "DCAP": 0,
        "TCAP": math.nan,
    }
    check(d, s, ["k"], "t", expected)
    assert "TCAP" in unveil.attribute(unveil.Pair(d, s), ["k"], target="t").undefined


def test_little_overlap_counts_all_originals(pd: Any):
    d = pd.DataFrame({"k": list("aabc"), "t": list("yyyn")})
    s = pd.DataFrame({"k": list("azzz"), "t": list("ynnn")})
    check(d, s, ["k"], "t", {"iS": 50, "DiSCO": 50, "DCAP": 50, "TCAP": 100})


# H06
def test_target_with_one_value(pd: Any):
    d = pd.DataFrame({"k": [1, 1, 2, 3], "t": ["ok"] * 4})
    s = pd.DataFrame({"k": [1, 2, 2, 4], "t": ["ok"] * 4})
    expected = {
        "Dorig": 100,
        "Dsyn": 100,
        "iS": 75,
        "DiS": 75,
        "DiSCO": 75,
        "DCAP": 75,
        "baseCAPd": 100,
        "CAPd": 100,
    }
    check(d, s, ["k"], "t", expected)
    assert unveil.attribute(unveil.Pair(d, s), ["k"], target="t").warnings


# H07
@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow"])
def test_integers_beside_floats(pd: Any, backend: str | None):
    d = pd.DataFrame({"k": [1, 2, 3, 3], "t": list("abcc")})
    s = pd.DataFrame({"k": [1.0, 2.0, 2.0, np.nan], "t": list("abbc")})
    if backend:
        s = s.convert_dtypes(dtype_backend=backend)
    check(d, s, ["k"], "t", {"UiO": 50, "UiS": 50, "UiOiS": 50, "repU": 25, "iS": 50, "DiSCO": 50})


# H08
@quiet
def test_codes_as_numbers_and_as_text(pd: Any):
    d = pd.DataFrame({"k": [1, 2, 2, 4], "t": list("abba")})
    s = pd.DataFrame({"k": ["1", "2", "4", "4"], "t": list("abab")})
    expected = {"UiO": 50, "UiS": 50, "UiOiS": 50, "repU": 25, "iS": 100, "DiSCO": 75}
    check(d, s.assign(k=[1, 2, 4, 4]), ["k"], "t", expected)
    right_or_refused(d, s, ["k"], "t", expected)


@quiet
def test_codes_as_numbers_and_as_text_in_one_column(pd: Any):
    d = pd.DataFrame({"k": pd.Series([1, "1", 2, 3, "3", "unknown"], dtype=object), "t": list("aabccd")})
    clean = d.assign(k=["1", "1", "2", "3", "3", "unknown"])
    expected = {"UiO": 100 * 2 / 6, "repU": 100 * 2 / 6}
    check(clean, clean, ["k"], "t", expected)
    right_or_refused(d, d, ["k"], "t", expected)


@pytest.mark.filterwarnings("error::unveil.errors.UnveilWarning")
def test_harmonised_types_are_told(pd: Any):
    d = pd.DataFrame({"k": [1, 2, 2, 4], "t": list("abba")})
    s = pd.DataFrame({"k": ["1", "2", "4", "4"], "t": list("abab")})
    # A warning is an error here, so that harmonising and refusing are told in the same way.
    with pytest.raises((unveil.UnveilWarning, unveil.UnveilError), match="'k'"):
        unveil.identity(unveil.Pair(d, s), ["k"])


# H09
AREAS = ("area,t\n01,a\n1,b\n02,a\n02,b\n", "area,t\n01,a\n02,a\n1,a\n1,b\n")
AREAS_EXPECTED = {"UiO": 50, "UiS": 50, "UiOiS": 50, "repU": 25, "DiSCO": 50}


def written(folder: Path, *texts: str | bytes) -> list[Path]:
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"file{i}.csv")
        paths[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def test_leading_zeros_in_files(tmp_path: Path):
    check(*written(tmp_path, *AREAS), ["area"], "t", AREAS_EXPECTED)


def test_leading_zeros_in_frames(pd: Any):
    d, s = (pd.read_csv(io.StringIO(text), dtype=str) for text in AREAS)
    check(d, s, ["area"], "t", AREAS_EXPECTED)


def test_leading_zeros_in_one_file_only(tmp_path: Path):
    # 01 and 1 are not the same area although the second file alone would be read as numbers.
    d, s = written(tmp_path, AREAS[0], "area,t\n1,a\n2,a\n2,b\n")
    right_or_refused(d, s, ["area"], "t", {"UiO": 50, "UiOiS": 25, "repU": 25, "iS": 25})


# H10
COUNTRIES = ("country,t\nNA,x\nNA,x\n,y\nNC,x\nNE,y\n", "country,t\nNA,x\n,y\nNC,x\nNC,y\nNE,y\n")


@quiet
@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (("",), {"UiO": 60, "UiS": 60, "UiOiS": 60, "repU": 40, "DiSCO": 80}),
        (("", "NA"), {"UiO": 40, "UiS": 20, "UiOiS": 40, "repU": 20, "DiSCO": 20}),
    ],
)
def test_the_text_na(tmp_path: Path, missing: tuple[str, ...], expected: dict[str, float]):
    check(*written(tmp_path, *COUNTRIES), ["country"], "t", expected, {"missing": missing})


@quiet
def test_the_text_na_is_a_level_unless_stated(tmp_path: Path):
    check(*written(tmp_path, *COUNTRIES), ["country"], "t", {"UiO": 60, "UiS": 60, "repU": 40, "DiSCO": 80})


# H11
def test_trailing_blanks(pd: Any):
    d = pd.DataFrame({"sex": ["F   ", "M   ", "M   ", "F   "], "age": [30, 30, 40, 50], "t": list("abab")})
    s = pd.DataFrame({"sex": ["F", "M", "F", "F"], "age": [30, 30, 50, 60], "t": list("abba")})
    expected = {"UiO": 100, "UiS": 100, "UiOiS": 75, "repU": 75, "iS": 75, "DiSCO": 75}
    check(d.assign(sex=d.sex.str.rstrip()), s, ["sex", "age"], "t", expected)
    # Blanks stripped or not, the difference must be told.
    with pytest.warns(unveil.UnveilWarning, match="sex"):
        unveil.identity(unveil.Pair(d, s), ["sex", "age"])


def test_letter_case_is_not_folded(pd: Any):
    d = pd.DataFrame({"sex": ["F", "M", "M"], "t": list("aba")})
    s = pd.DataFrame({"sex": ["f", "M", "M"], "t": list("aba")})
    with pytest.warns(unveil.UnveilWarning, match="sex"):
        risk = unveil.identity(unveil.Pair(d, s), ["sex"])
    assert risk.UiOiS == 0


# H12
def test_many_levels_in_several_keys(pd: Any):
    def make(low: int, high: int) -> Any:
        i = np.arange(low, high)
        columns = {"k1": i % 997, "k2": (7 * i) % 499, "k3": i % 3, "k4": i // 3, "t": i % 5}
        return pd.DataFrame(columns).astype(dict.fromkeys(["k1", "k2", "k3", "k4"], "category"))

    started = time.perf_counter()
    expected = {"UiO": 100, "UiS": 100, **dict.fromkeys(["UiOiS", "repU", "iS", "DiS", "DiSCO", "DCAP"], 50)}
    check(make(0, 30_000), make(15_000, 45_000), ["k1", "k2", "k3", "k4"], "t", expected)
    assert time.perf_counter() - started < 20


# H13
def test_awkward_column_names(pd: Any):
    d = pd.DataFrame(
        {
            "target": list("ynyn"),
            "keys": list("aabb"),
            "petal length (cm)": [1.3, 4.7, 1.3, 1.3],
            "q1.2'a": [0, 0, 1, 1],
            "index": [9, 9, 9, 8],
            "count": [1, 1, 1, 1],
        }
    )
    s = pd.DataFrame(
        {
            "count": [1, 1, 1],
            "index": [9, 9, 8],
            "q1.2'a": [0, 0, 1],
            "petal length (cm)": [1.3, 4.7, 1.3],
            "keys": list("aab"),
            "target": list("yyn"),
        }
    )
    keys = ["keys", "petal length (cm)", "q1.2'a", "index"]
    check(d, s, keys, "target", {"UiO": 100, "UiS": 100, "repU": 75, "iS": 75, "DiS": 75, "DiSCO": 50})
    tame = {"keys": "a", "petal length (cm)": "b", "q1.2'a": "c", "index": "d", "count": "e", "target": "t"}
    assert figures(d, s, keys, "target", {}) == pytest.approx(
        figures(d.rename(columns=tame), s.rename(columns=tame), list("abcd"), "t", {}), nan_ok=True
    )


# H14
def test_row_labels_carry_no_information(pd: Any):
    d = pd.DataFrame({"k": list("abcc"), "t": list("ynyn")}, index=[7, 7, 0, 0])
    s = pd.DataFrame({"k": list("cabb"), "t": list("yyny")}, index=["x", "x", "y", "y"])
    expected = {"UiO": 50, "UiS": 50, "UiOiS": 50, "repU": 25, "iS": 100, "DiS": 75, "DiSCO": 50}
    check(d, s, ["k"], "t", expected)
    check(d.sample(frac=1, random_state=1), s.reset_index(drop=True), ["k"], "t", expected)


# H15
def test_joining_does_not_multiply_records(pd: Any):
    d = pd.DataFrame({"k": list("aaab"), "t": list("yynn")})
    s = pd.DataFrame({"k": list("aaaabb"), "t": list("yyyyny")})
    check(d, s, ["k"], "t", {"iS": 100, "DiS": 75, "DiSCO": 50, "DCAP": 62.5, "Dsyn": 100 * 4 / 6})


# H16
def test_special_codes_stay_apart_when_grouped(pd: Any):
    d = pd.DataFrame({"inc": [-8, -8, -9, 100, 120, 900, 950, 110], "t": list("abcaabba")})
    s = pd.DataFrame({"inc": [-8, -9, -9, 60, 130, 910, 1400, -8], "t": list("aacaabba")})
    expected = {"UiO": 12.5, "UiS": 0, "UiOiS": 12.5, "repU": 0, "iS": 100, "DiSCO": 75}
    check(d, s, ["inc"], "t", expected, {"special_codes": {"inc": [-8, -9]}}, ngroups_keys={"inc": 2})

    def clean(value: float) -> str:
        return str(value) if value in (-8, -9) else ("low" if value < 500 else "high")

    check(d.assign(inc=d.inc.map(clean)), s.assign(inc=s.inc.map(clean)), ["inc"], "t", expected)


# H20
@quiet
def test_logical_columns(pd: Any):
    d = pd.DataFrame({"smoker": [True, False, True, False], "t": list("abab")})
    with_gap = pd.DataFrame({"smoker": pd.Series([True, False, np.nan, True], dtype=object), "t": list("abba")})
    as_text = pd.DataFrame({"smoker": ["TRUE", "FALSE", "FALSE", "TRUE"], "t": list("abba")})
    as_logical = as_text.assign(smoker=as_text.smoker.eq("TRUE"))
    expected = {"UiO": 0, "UiS": 0, "iS": 100, "DiSCO": 100}
    check(d, with_gap, ["smoker"], "t", {"UiO": 0, "UiS": 50, "iS": 100, "DiSCO": 100})
    check(d, as_logical, ["smoker"], "t", expected)
    right_or_refused(d, as_text, ["smoker"], "t", expected)


# H21
def test_extra_and_reordered_columns(pd: Any):
    d = pd.DataFrame({"age": [30, 30, 40, 50], "sex": list("FFMM"), "t": list("yynn")})
    s = pd.DataFrame({"S.No": [1, 2, 3], "t": list("yny"), "sex": list("FMM"), "age": [30, 40, 50], "note": [None] * 3})
    expected = {"UiO": 50, "UiS": 100, "UiOiS": 50, "repU": 50, "iS": 100, "DiSCO": 75}
    check(d, s, ["age", "sex"], "t", expected)
    with pytest.raises(ValueError, match="sex"):
        unveil.identity(unveil.Pair(d, s.drop(columns="sex")), ["age", "sex"])


def test_repeated_columns(pd: Any, tmp_path: Path):
    s = pd.DataFrame({"age": [30], "t": ["y"]})
    with pytest.raises(ValueError, match="age"):
        unveil.identity(unveil.Pair(pd.DataFrame([[30, 31, "y"]], columns=["age", "age", "t"]), s), ["age"])
    (path,) = written(tmp_path, "age,age,t\n30,31,y\n")
    with pytest.raises(ValueError, match="age"):
        unveil.identity(unveil.Pair(path, s), ["age"])


# H22
SPANISH = "regi\u00f3n;ingreso\nM\u00e1laga;1,5\nM\u00e1laga;2,5\nC\u00e1diz;1,5\n".encode("cp1252")
SWISS = "regi\u00f3n;ingreso\nM\u00e1laga;1.5\nM\u00e1laga;2.5\nC\u00e1diz;1.5\n".encode()
MARKED = b"\xef\xbb\xbf" + "regi\u00f3n,ingreso\nM\u00e1laga,1.5\nM\u00e1laga,2.5\nM\u00e1laga,2.5\n".encode()
BY_INCOME = {"UiO": 100 / 3, "UiS": 100 / 3, "UiOiS": 100 / 3, "repU": 0, "iS": 100, "DiSCO": 100 * 2 / 3}
BY_REGION = {"UiO": 100 / 3, "UiS": 0, "iS": 100 * 2 / 3, "DiS": 0, "DCAP": 100 / 3}


def test_dialects_stated(tmp_path: Path):
    spanish, swiss, marked = written(tmp_path, SPANISH, SWISS, MARKED)
    d = unveil.read(spanish, encoding="cp1252", delimiter=";", decimal=",")
    s = unveil.read(marked)
    check(d, s, ["ingreso"], "regi\u00f3n", BY_INCOME)
    check(d, s, ["regi\u00f3n"], "ingreso", BY_REGION)
    check(unveil.read(swiss, delimiter=";"), s, ["ingreso"], "regi\u00f3n", BY_INCOME)


@quiet
def test_dialects_found_out(tmp_path: Path):
    spanish, swiss, marked = written(tmp_path, SPANISH, SWISS, MARKED)
    right_or_refused(spanish, marked, ["ingreso"], "regi\u00f3n", BY_INCOME)
    right_or_refused(swiss, marked, ["ingreso"], "regi\u00f3n", BY_INCOME)
    right_or_refused(spanish, marked, ["regi\u00f3n"], "ingreso", BY_REGION)


def test_dialects_in_frames(pd: Any):
    d = pd.read_csv(io.BytesIO(SPANISH), sep=";", decimal=",", encoding="cp1252")
    s = pd.read_csv(io.BytesIO(MARKED), encoding="utf-8-sig")
    check(d, s, ["ingreso"], "regi\u00f3n", BY_INCOME)
    check(d, s, ["regi\u00f3n"], "ingreso", BY_REGION)


# H23
def test_one_record_of_one_key(pd: Any):
    one = pd.DataFrame({"k": ["a"], "t": ["y"]})
    names = ["UiO", "UiS", "UiOiS", "repU", "Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO", "DCAP", "TCAP"]
    check(one, one, ["k"], "t", dict.fromkeys([*names, "baseCAPd"], 100))


@quiet
def test_empty_files(pd: Any):
    one = pd.DataFrame({"k": ["a"], "t": ["y"]})
    nan = math.nan
    expected = {
        "UiO": 100,
        "UiS": nan,
        "Dsyn": nan,
        "repU": 0,
        "iS": 0,
        "DiSCO": 0,
        "DCAP": 0,
        "TCAP": nan,
    }
    right_or_refused(one, one.iloc[:0], ["k"], "t", expected)
    with pytest.raises(unveil.UnveilError, match="no records"):
        unveil.identity(unveil.Pair(one.iloc[:0], one), ["k"])


# H24
@quiet
def test_dates(pd: Any):
    days = ["2020-01-05", "2020-01-05", "2020-02-01", "2020-03-09"]
    d = pd.DataFrame({"visit": pd.to_datetime(days), "t": list("aabc")})
    s = pd.DataFrame({"visit": ["2020-01-05", "2020-02-01", "2020-02-01", "2020-04-01"], "t": list("abbc")})
    expected = {"UiO": 50, "UiS": 50, "UiOiS": 25, "repU": 0, "iS": 75, "DiSCO": 75}
    check(d, s.assign(visit=pd.to_datetime(s.visit)), ["visit"], "t", expected)
    right_or_refused(d, s, ["visit"], "t", expected)
    day_numbers = pd.DataFrame({"visit": [21919.0, 21946.0, 21946.0, 22006.0], "t": list("abbc")})
    with pytest.raises(unveil.UnveilError, match="visit"):
        unveil.identity(unveil.Pair(d, day_numbers), ["visit"])


# H25
@pytest.mark.parametrize("keys", [["A"], ["A", "B"], ["A", "C"], ["A", "B", "C"]])
def test_keys_without_information(pd: Any, keys: list[str]):
    d = pd.DataFrame({"A": [1, 1, 1, np.nan], "B": 1, "C": np.nan, "t": list("yynn")})
    s = pd.DataFrame({"A": [1, 1, np.nan, np.nan], "B": 1, "C": pd.Series([None] * 4, dtype=object), "t": list("yynn")})
    check(d, s, keys, "t", {"UiO": 25, "UiS": 0, "UiOiS": 25, "repU": 0, "iS": 100, "DiSCO": 75})


# H26
def test_labels_that_look_like_markup(pd: Any):
    levels = ["<18", "18-64", "65 & over", "</td><script>alert(1)</script>"]
    d = pd.DataFrame({"age": levels, "t": ["a<b", "a<b", "c", "c"]})
    check(d, d.iloc[[0, 1, 3]], ["age"], "t", {"UiO": 100, "UiS": 100, "repU": 75, "DiSCO": 75})


# H29
def test_negative_zero_and_infinities(pd: Any):
    inf, nan = np.inf, np.nan
    d = pd.DataFrame({"k": [0.0, -0.0, inf, -inf, 1.0, nan], "t": list("aabcde")})
    s = pd.DataFrame({"k": [-0.0, inf, inf, nan, 2.0, -inf], "t": list("abbexx")})
    expected = {
        "UiO": 100 * 4 / 6,
        "UiS": 100 * 4 / 6,
        "UiOiS": 50,
        "repU": 100 * 2 / 6,
        "iS": 100 * 5 / 6,
        "DiS": 100 * 5 / 6,
        "DiSCO": 100 * 4 / 6,
    }
    check(d, s, ["k"], "t", expected)


def test_infinities_are_not_grouped_silently():
    values = pa.table({"k": [1.0, 2.0, 3.0, math.inf], "t": list("abab")})
    with pytest.raises(unveil.UnveilError, match="'k'"):
        unveil.attribute(unveil.Pair(values, values), ["k"], target="t", ngroups_keys={"k": 3})


# H30
@quiet
def test_serial_numbers_and_weights(pd: Any):
    d = pd.DataFrame({"k": list("aabccd"), "id": range(1, 7), "w": [1.5, 1.5, 2.0, 2.0, 2.0, 3.0]})
    s = pd.DataFrame({"k": list("abcdd"), "id": range(11, 16), "w": [1.5, 2.0, 2.0, 3.0, 1.0]})
    of_id = {
        "UiO": 100 * 2 / 6,
        "repU": 100 / 6,
        "Dorig": 100 * 2 / 6,
        "Dsyn": 60,
        "iS": 100,
        "DiS": 100 * 5 / 6,
        "DiSCO": 0,
        "baseCAPd": 100 / 6,
    }
    check(d, s, ["k"], "id", of_id)
    check(d, s, ["k"], "w", {"Dorig": 100, "DiSCO": 100 * 5 / 6, "baseCAPd": 100 * 14 / 36})
    everything = {risk.target: risk for risk in unveil.attribute(unveil.Pair(d, s), ["k"])}
    assert "id" not in everything or everything["id"].warnings
    assert not unveil.attribute(unveil.Pair(d, s), ["k"], target="w").warnings


# ----------------------------------------------------------------------------------------- the same in Arrow
def test_worked_example_without_pandas():
    """The worked example once more, for an installation that has no data frames at all."""
    d = pa.table({"sex": list("FFFFMMMM"), "age": [20, 20, 30, 40, 20, 20, 30, 40], "ill": list("nnynnyyn")})
    s = pa.table(
        {
            "sex": list("FFFFMMMMMF"),
            "age": [20, 20, 20, 30, 20, 20, 30, 30, 50, 40],
            "ill": list("nnyyyynnyy"),
        }
    )
    expected = {
        "UiO": 50,
        "UiS": 30,
        "UiOiS": 37.5,
        "repU": 25,
        "iS": 87.5,
        "DiS": 62.5,
        "DiSCO": 25,
        "TCAP": 40,
    }
    check(d, s, ["sex", "age"], "ill", expected)
    risk = unveil.attribute(unveil.Pair(d, s), ["sex", "age"], target="ill")
    assert columns_of(risk.records())["disco"] == [False, False, True, False, False, True, False, False]
