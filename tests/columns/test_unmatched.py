"""Values that one file holds and the other lacks: shares, and when a note stands beside the figures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.columns.column import CodedColumn
from unveil.columns.unmatched import Unmatched, expected_share

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")

N = 1000


def people(n: int = N, seed: int = 1) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 80, n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "zip": [str(80000 + i) for i in rng.integers(0, 40, n)],
        "ill": rng.choice(["y", "n"], n).tolist(),
    }


def compared(original: Sequence[Any], *releases: Sequence[Any], **options: Any) -> Any:
    """Identity of one column."""
    first, *others = (pa.table({"x": pa.array(values)}) for values in (original, *releases))
    return unveil.identity(unveil.Pair(first, others, **options), "x")


def masked(column: str, share: float, value: Any) -> tuple[pa.Table, pa.Table, int]:
    """An original, itself with the first records of a column masked, and how many these are."""
    original = people()
    k = round(share * N)
    return pa.table(original), pa.table(original | {column: [value] * k + original[column][k:]}), k


# ------------------------------------------------------------------------------------------------------- the shares
def test_shares_are_those_of_records():
    found = compared(["a"] * 3 + ["b"] * 2 + [None], ["b", "c", None, None], ["a", "a"]).to_dict()["unmatched"]["x"]
    assert found == {
        # of a a a b b -: no release lacks any; the first lacks a, the second b and the gap
        "original": 0.0,
        "original_by_release": [3 / 6, 3 / 6],
        "releases": [1 / 4, 0.0],
    }


def test_a_value_that_no_release_has():
    found = compared(["a", "a", "b", "c"], ["a", "d"], ["c", "d"]).unmatched["x"]
    assert found == {"original": 1 / 4, "original_by_release": [2 / 4, 3 / 4], "releases": [1 / 2, 1 / 2]}


def test_a_release_without_records_has_no_share():
    found = compared(["a", "b"], pa.array([], pa.string())).unmatched["x"]
    assert (found["original"], found["original_by_release"]) == (1.0, [1.0])
    assert math.isnan(found["releases"][0])


def test_groups_are_compared_where_groups_were_asked_for():
    original, release = (
        pa.table({"x": [i * i % 100 for i in range(500)]}),
        pa.table({"x": [i * i % 99 + 0.25 for i in range(500)]}),
    )
    pair = unveil.Pair(original, release)
    alone, cut = unveil.identity(pair, "x"), unveil.identity(pair, "x", ngroups_keys=4)
    assert (alone.unmatched["x"]["releases"], cut.unmatched["x"]["releases"]) == ([1.0], [0.0])
    assert [text for text in alone.warnings if "nothing can match" in text]
    assert cut.warnings == ()


@pytest.mark.parametrize("counts", [[1, 1, 2], [3, 2, 1, 1, 1], [5, 1], [4, 4], [1], [2]])
def test_what_is_usual_is_the_mean_over_all_halves(counts: list[int]):
    """Every way to cut the file, by brute force: the share of records whose value the m others lack."""
    records = [value for value, count in enumerate(counts) for _ in range(count)]
    n, m = len(records), len(records) // 2
    alone = [
        records[i] not in {records[j] for j in chosen}
        for i in range(n)
        for chosen in combinations([j for j in range(n) if j != i], m)
    ]
    mean, _ = expected_share(np.array(counts), m)
    assert mean == pytest.approx(sum(alone) / len(alone))


# -------------------------------------------------------------------------------------------------------- the notes
def noted(result: Any) -> list[str]:
    return [text for text in result.warnings if " hold values that no record of " in text]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_key_masked_in_part_is_told(share: float):
    original, release, k = masked("zip", share, "8****")
    found = unveil.identity(unveil.Pair(original, release), ["age", "sex", "zip"])
    (text,) = noted(found)
    assert f"'zip': {100 * k // N} % of the records of the release hold values that no record of the original" in text
    assert "masked" in text
    assert found.to_dict()["unmatched"]["zip"]["releases"] == [k / N]
    assert text in found.to_dict()["warnings"]
    assert text in " ".join(str(found).split())
    # the figure stands: those who are unique by the keys and were not masked (a mask meets nobody)
    keys = list(zip(*(original.column(name).to_pylist() for name in ("age", "sex", "zip")), strict=True))
    unique = sum(keys.count(key) == 1 for key in keys[k:])
    assert found.repU == pytest.approx(100 * unique / N)


def test_a_few_masked_values_are_not_told():
    original, release, _ = masked("zip", 0.03, "8****")
    assert unveil.identity(unveil.Pair(original, release), ["age", "zip"]).warnings == ()


@pytest.mark.parametrize(("n", "k", "mask"), [(40, 20, None), (40, 20, -1.0), (60, 60, None), (1000, 200, -1.0)])
def test_a_mask_is_told_where_every_record_has_a_value_of_its_own(n: int, k: int, mask: float | None):
    """Other values that one file lacks are usual there, one value of many records is not."""
    original = [i / 7 for i in range(n)]
    release = [mask] * k + original[k:]
    for files, own in (((original, release), "release"), ((release, original), "original")):
        (text,) = compared(*files).warnings
        assert f" % of the records of the {own} hold " in text


def test_all_masked_is_told_as_nothing_that_can_match():
    original, release, _ = masked("zip", 1, "8****")
    (text,) = unveil.identity(unveil.Pair(original, release), ["age", "zip"]).warnings
    assert (
        "no value of the original occurs in the release (which holds '8****', for example); nothing can match" in text
    )


MEASURES = {
    "structure": lambda p: unveil.structure(p, ["age", "zip"]),
    "key sets": lambda p: unveil.key_sets(p, ["age", "zip"]),
    "attribute": lambda p: unveil.attribute(p, ["age", "zip"], target="ill"),
    "target": lambda p: unveil.attribute(p, ["age", "sex"], target="zip"),
    "rapid": lambda p: unveil.rapid(
        p, ["age", "zip"], target="ill", attacker="cart", permutations=1, ceiling=False
    ),
    "rapid target": lambda p: unveil.rapid(
        p, ["age", "sex"], target="zip", attacker="cart", permutations=1, ceiling=False
    ),
    "membership": lambda p: unveil.membership(p, pa.table(people(200, 7)), holdout_unseen=True, attacks="dcr"),
    "utility": lambda p: unveil.utility(p, measures="marginals"),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_tells_it(measure: str):
    original, release, k = masked("zip", 0.5, "8****")
    found = MEASURES[measure](unveil.Pair(original, release))
    (text,) = noted(found)
    assert "'zip': 50 % of the records of the release" in text
    assert found.to_dict()["unmatched"]["zip"]["releases"] == [k / N]
    assert text in " ".join(str(found).split())


def test_an_assessment_tells_it_in_all_its_documents():
    original, release, k = masked("zip", 0.5, "8****")
    pair = unveil.Pair(original, release)
    found = unveil.assess(pair, ["age", "zip"], targets="ill", measures=["identity", "attribute"], release_safe=False)
    (text,) = noted(found)
    content = found.to_dict()
    assert [one["text"] for one in content["warnings"] if one["text"] == text] == [text], "once, not in every part"
    (column,) = [one for one in content["data"]["columns"] if one["name"] == "zip"]
    assert column["unmatched"] == {"original": 0.0, "original_by_release": [0.0], "releases": [k / N]}
    for document in (found.to_html(), found.to_markdown()):
        assert "50 % of the records of the release hold values" in document.replace("&#39;", "'").replace("&nbsp;", " ")


def test_what_is_published_names_no_value_and_no_share():
    original, release, _ = masked("zip", 0.5, "8****")
    (text,) = unveil.identity(unveil.Pair(original, release), "zip").warnings
    assert "'zip'" in text.public
    assert not any(part in text.public for part in ("50", "8****", "80"))
    original, release, _ = masked("zip", 1, "8****")
    (text,) = unveil.identity(unveil.Pair(original, release), "zip").warnings
    assert "8****" not in text.public


def test_only_the_masked_one_of_several_releases_is_named():
    original, release, _ = masked("zip", 0.5, "8****")
    pair = unveil.Pair(original, [pa.table(people()), release, pa.table(people())])
    (text,) = noted(unveil.identity(pair, ["age", "zip"]))
    assert "of the records of release 2 hold" in text


# ------------------------------------------------------------------------------------------------------ other causes
AGES = [20 + i % 60 for i in range(600)]
INCOMES = [1000 + 37 * (i % 90) for i in range(600)]
YES = ["Yes", "No"] * 300
CAUSES: dict[str, tuple[Sequence[Any], Sequence[Any], dict[str, Any], str]] = {
    "rounded": (AGES, [a // 10 * 10 for a in AGES], {}, "90 % of the records of the original"),
    "top-coded": (AGES, [min(a, 65) for a in AGES], {}, "23 % of the records of the original"),
    "a code for other": (YES, ["Yes", "other"] * 300, {}, "50 % of the records of the release"),
    "other unit, in part": (AGES, [*AGES[:300], *(a * 100 for a in AGES[300:])], {}, "same unit"),
    "letter case, in part": (YES, [v.upper() if i % 4 == 0 else v for i, v in enumerate(YES)], {}, "25 %"),
    "trailing zero": (
        ["1", "2", "refused"] * 200, ["1.0", "2.0", "refused"] * 200, {"kinds": {"x": "categorical"}}, "",
    ),
    "declared codes beside blanks": (
        [-8 if i % 5 == 0 else v for i, v in enumerate(INCOMES)],
        [None if i % 5 == 0 else v for i, v in enumerate(INCOMES)],
        {"special_codes": {"x": [-8]}},
        "20 % of the records of the release hold values that no record of the original has, and 20 % of the records of "
        "the original",
    ),
    "gaps in the release alone": (YES, [None if i % 5 == 0 else v for i, v in enumerate(YES)], {}, "these are gaps"),
    "gaps in the original alone": ([None if i % 5 == 0 else v for i, v in enumerate(YES)], YES, {}, "these are gaps"),
    "special codes in the release alone": (
        INCOMES, [-8 if i % 5 == 0 else v for i, v in enumerate(INCOMES)], {"special_codes": {"x": [-8]}},
        "these are special codes",
    ),
    "digits lost": ([2**53 + i for i in range(600)] * 2, [float(2**53 + i) for i in range(600)] * 2, {}, "beyond 2^53"),
    "ten records": (["a"] * 10, ["a"] * 4 + ["b"] * 6, {}, "60 % of the records of the release"),
}  # fmt: skip


@pytest.mark.parametrize("cause", CAUSES)
def test_it_is_told_whatever_the_cause(cause: str):
    original, release, options, part = CAUSES[cause]
    found = compared(original, release, **options)
    told = " ".join(found.warnings)
    assert told
    assert part in told
    assert "'x'" in told


def test_moments_beside_days():
    days = pa.array(np.arange(300), pa.int32()).cast(pa.date32())
    moments = pa.array([i * 86400 + (3600 if i % 2 else 0) for i in range(300)], pa.timestamp("s"))
    original, release = (pa.concat_arrays([one] * 3) for one in (days, moments))
    assert "50 % of the records of the release" in " ".join(compared(original, release).warnings)


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NAMES = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
         "December")  # fmt: skip
MONATE = ("Jan", "Feb", "M\u00e4r", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")
DAYS = [(d, m) for d in (3, 12, 20) for m in range(12)]


@pytest.mark.parametrize(
    ("original", "release", "met"),
    [
        # the 12th and 20th of May are written alike; so are all 12ths and 20ths, and those of eight months
        ([f"{d} {MONTHS[m]} 2020" for d, m in DAYS], [f"{d:02} {NAMES[m]} 2020" for d, m in DAYS], 2),
        ([f"{d} {MONTHS[m]} 2020" for d, m in DAYS], [f"{d:02} {MONTHS[m]} 2020" for d, m in DAYS], 24),
        ([f"{d} {MONTHS[m]} 2020" for d, m in DAYS], [f"{d} {MONATE[m]} 2020" for d, m in DAYS], 3 * 8),
        ([f"{MONTHS[m]}-{d:02}" for d, m in DAYS], [f"{NAMES[m]}-{d:02}" for d, m in DAYS], 3),
    ],
)
def test_days_with_names_of_months_in_two_ways_are_told(original: list[str], release: list[str], met: int):
    found = compared(original, release)
    assert found.mean["repU"] == pytest.approx(100 * met / 36)
    (note,) = [text for text in found.warnings if "names of months" in text]
    assert repr(release[0]) in note
    assert not any(repr(text) in note for text in set(original) - set(release))
    assert "YYYY-MM-DD" in note
    assert release[0] not in note.public
    assert compared(release, release).warnings == compared(original, original).warnings


@pytest.mark.parametrize(
    "alike",
    [
        [f"{d} {MONTHS[m]} 2020" for d, m in DAYS], [f"{d} {MONTHS[m]} 05" for d, m in DAYS],
        ["12 May 2020", "13 May 2020"], ["3 pcs", "12 pcs", "3 pieces"], ["Mayor 3", "mayor"],
    ],
)  # fmt: skip
def test_days_that_are_written_alike_are_no_matter(alike: list[str]):
    found = compared(alike, alike[::-1][:-1])
    assert not [text for text in found.warnings if "month" in text]


@pytest.mark.parametrize(
    ("original", "release"),
    [
        ([f"{d:02}/{m + 1:02}/20" for d, m in DAYS], [f"2020-{m + 1:02}-{d:02}" for d, m in DAYS]),
        ([f"2020-{m + 1:02}-{d:02}" for d, m in DAYS], [f"{d} {MONTHS[m]} 2020" for d, m in DAYS]),
        ([f"{MONTHS[m]}-20" for _, m in DAYS], [f"2020-{m + 1:02}-01" for _, m in DAYS]),
    ],
)
def test_other_notations_of_days_beside_days_are_refused(original: list[str], release: list[str], tmp_path: Path):
    for name, texts in (("o.csv", original), ("s.csv", release)):
        (tmp_path / name).write_text("\n".join(["day,i", *(f"{text},{i % 2}" for i, text in enumerate(texts))]))
    with pytest.raises(unveil.DataError, match="write the dates as YYYY-MM-DD"):
        unveil.identity(unveil.Pair(tmp_path / "o.csv", tmp_path / "s.csv"), "day")


@pytest.mark.parametrize(
    ("original", "release"),
    [
        ([f"{d:02}/{m + 1:02}/20" for d, m in DAYS], [f"{m + 1:02}/{d:02}/20" for d, m in DAYS]),
        ([f"{d:02}/{m + 1:02}/20" for d, m in DAYS], [f"{d} {MONTHS[m]} 2020" for d, m in DAYS]),
        ([f"{MONTHS[m]}-20" for _, m in DAYS], [f"{m + 1:02}/2020" for _, m in DAYS]),
    ],
)
def test_two_notations_that_stay_text_are_told(original: list[str], release: list[str], tmp_path: Path):
    for name, texts in (("o.csv", original), ("s.csv", release)):
        (tmp_path / name).write_text("\n".join(["day,i", *(f"{text},{i % 2}" for i, text in enumerate(texts))]))
    found = unveil.identity(unveil.Pair(tmp_path / "o.csv", tmp_path / "s.csv"), "day")
    assert any("column 'day'" in text for text in found.warnings)
    assert any("column 'day'" in text for text in found.to_dict()["warnings"])


def test_amounts_of_which_models_are_made_need_not_be_equal():
    rng = np.random.default_rng(3)
    t = rng.choice(["a", "b"], 400).tolist()
    files = [pa.table({"income": rng.normal(1000, 200, 400), "t": t}) for _ in range(2)]
    options = {"target": "t", "attacker": "cart", "permutations": 1, "ceiling": False}
    assert unveil.rapid(unveil.Pair(*files), "income", **options).warnings == ()
    thousands = pa.table({"income": files[1].column("income").to_numpy() / 1000, "t": t})
    found = unveil.rapid(unveil.Pair(files[0], thousands), "income", **options)
    (text,) = found.warnings
    assert "100 % of the records of the release that have an amount hold amounts beyond the range" in text
    assert found.unmatched["income"]["releases"] == [1.0]


def test_whole_numbers_declared_categorical_have_to_be_equal():
    files = [pa.table({"region": list(range(start, start + 50)) * 4, "t": ["a", "b"] * 100}) for start in (0, 50)]
    options = {"target": "t", "attacker": "cart", "permutations": 1, "ceiling": False}
    categorical = unveil.Pair(*files, kinds={"region": "categorical"})
    told = [text for text in unveil.rapid(categorical, "region", **options).warnings if "nothing can match" in text]
    assert len(told) == 1
    assert "unit" not in told[0]


# ------------------------------------------------------------------------------------------------------ false alarms
@pytest.mark.slow
@pytest.mark.parametrize("name", ["sd2011.csv", "adult.csv.gz"])
def test_fresh_samples_give_rise_to_few_notes(shared: Path, name: str):
    """Original and release are independent samples of one population: at most 3 of 1000 columns get a note.

    300 draws of 15 to 35 columns; with a true share of 3 of 1000, 21 of 4500 notes lie 2 standard errors above. None
    where both files have 300 records.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = unveil.read(str(shared / "data" / name))
        pair = unveil.Pair(source, source)
        columns = [pair.column(name) for name in pair.names]
    rng = np.random.default_rng(5)
    for n, m in ((10, 10), (30, 1000), (1000, 50), (50, 50), (300, 300), (2000, 2000)):
        notes = drawn = 0
        for _ in range(300 if n < 1000 else 40):
            rows = rng.integers(0, pair.n_original, n + m)
            for column in columns:
                drawn += 1
                one = Unmatched(sampled(column, rows, n), 0)
                notes += one.noted
        assert notes <= (0 if n >= 300 and m >= 300 else 0.003 * drawn + 2 * math.sqrt(0.003 * drawn))


def sampled(column: CodedColumn, rows: np.ndarray[Any, Any], n: int) -> CodedColumn:
    codes = column.original[rows]
    return CodedColumn(column.name, column.kind, column.levels, column.has_gap, codes[:n], (codes[n:],))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sd2011.csv", "adult.csv.gz"])
def test_releases_by_trees_give_rise_to_no_note(shared: Path, name: str):
    source = unveil.read(str(shared / "data" / name))
    rows = np.random.default_rng(2).choice(source.num_rows, 1500, replace=False)
    original = pa.table({name: source.column(name).take(pa.array(rows)) for name in source.names[:12]})
    synthesizer = unveil.CartSynthesizer().fit(original)
    pair = unveil.Pair(original, [synthesizer.sample(n, seed=n) for n in (1500, 300)])
    assert noted(unveil.utility(pair, measures="marginals")) == []
    assert noted(unveil.identity(pair, list(pair.names))) == []
