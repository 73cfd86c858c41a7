"""k-anonymity, l-diversity and t-closeness: the papers' examples, a brute force, and every engine."""

from __future__ import annotations

import json
import math
import sys
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.cli import main
from unveil.errors import CallError

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

# Table 3 of Li, Li and Venkatasubramanian (2007): salaries 3K to 11K, three classes of three records.
CLASSES = ["476**"] * 3 + ["4790*"] * 3 + ["476xx"] * 3
SALARIES = [3, 4, 5, 6, 11, 8, 7, 9, 10]
DISEASES = [
    "gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis",
    "bronchitis", "pneumonia", "stomach cancer",
]  # fmt: skip


def test_the_example_of_the_paper_on_t_closeness():
    table = pa.table({"zip": CLASSES, "salary": SALARIES})
    # Section 4.1: the distances of {3, 4, 5} and of {6, 8, 11} from all nine salaries are 0.375 and 0.167.
    assert brute_distance(SALARIES[:3], SALARIES) == pytest.approx(0.375)
    assert brute_distance(SALARIES[3:6], SALARIES) == pytest.approx(0.167, abs=5e-4)
    found = unveil.anonymity(unveil.Pair(table, table), ["zip"], targets=["salary"])
    assert found.distances == {"salary": "ordered"}
    assert found.diversity["salary"][0]["t"] == pytest.approx(0.375)
    assert (found.files[0]["k"], found.diversity["salary"][0]["l"]) == (3, 3)
    assert found.diversity["salary"][0]["entropy_l"] == pytest.approx(3)


def brute_distance(mine, everybody):
    levels = sorted(set(everybody))
    if len(levels) == 1:
        return 0.0
    gaps = [sum(x <= v for x in mine) / len(mine) - sum(x <= v for x in everybody) / len(everybody) for v in levels]
    return sum(map(abs, gaps)) / (len(levels) - 1)


def brute_equal(mine, everybody):
    return sum(abs(mine.count(v) / len(mine) - everybody.count(v) / len(everybody)) for v in set(everybody)) / 2


def by_hand(keys, values, distance):
    classes = {}
    for key, value in zip(keys, values, strict=True):
        classes.setdefault(key, []).append(value)
    sizes = [len(one) for one in classes.values()]
    entropies = [
        -sum(one.count(v) / len(one) * math.log(one.count(v) / len(one)) for v in set(one)) for one in classes.values()
    ]
    return {
        "k": min(sizes),
        "classes": len(sizes),
        "below_3": 100 * sum(size for size in sizes if size < 3) / len(keys),
        "l": min(len(set(one)) for one in classes.values()),
        "entropy_l": math.exp(min(entropies)),
        "t": max(distance(one, values) for one in classes.values()),
        "one_value": 100 * sum(len(one) for one in classes.values() if len(set(one)) == 1) / len(keys),
    }


FILES = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=25),
    min_size=2, max_size=3,
)  # fmt: skip


@given(FILES, st.booleans())
def test_figures_are_those_of_a_brute_force(files, are_amounts):
    def table(rows):
        sex, age, pay = zip(*rows, strict=True)
        return pa.table({"sex": sex, "age": age, "pay": pay if are_amounts else [f"p{one}" for one in pay]})

    kinds = {"age": "numeric", "pay": "numeric" if are_amounts else "categorical"}
    pair = unveil.Pair(table(files[0]), [table(rows) for rows in files[1:]], kinds=kinds)
    found = unveil.anonymity(pair, ["sex", "age"], targets=["pay"])
    for rows, one, diverse in zip(files, found.files, found.diversity["pay"], strict=True):
        keys, values = [row[:2] for row in rows], [row[2] for row in rows]
        expected = by_hand(keys, values, brute_distance if are_amounts else brute_equal)
        for name, value in expected.items():
            assert (one | diverse)[name] == pytest.approx(value, abs=1e-9), name
        assert one["records"] == len(rows)


def test_gaps_are_values_and_have_no_place_in_an_order():
    table = pa.table({"sex": ["f", "f", "m", "m"], "pay": [1, None, 2, 2]})
    found = unveil.anonymity(unveil.Pair(table, table), ["sex"], targets=["pay"])
    assert found.distances == {"pay": "equal"}
    assert found.diversity["pay"][0] == {"l": 1, "entropy_l": 1.0, "t": 0.5, "one_value": 50.0}


def test_engines_give_the_same(tmp_path):
    rng = np.random.default_rng(3)
    paths = []
    for i, n in enumerate((500, 400)):
        paths.append(str(tmp_path / f"{i}.parquet"))
        columns = {"sex": rng.choice(["f", "m"], n), "age": rng.integers(0, 60, n), "pay": rng.integers(0, 9, n)}
        pyarrow.parquet.write_table(pa.table(columns), paths[-1])
    one, other = (
        unveil.anonymity(unveil.Pair(*paths, engine=engine), ["sex", "age"], targets=["pay"])
        for engine in ("memory", "files")
    )
    assert (one.files, one.sizes) == (other.files, other.sizes)
    for mine, theirs in zip(one.diversity["pay"], other.diversity["pay"], strict=True):
        assert mine == pytest.approx(theirs)


def test_one_file_by_itself(tmp_path, monkeypatch, capsys):
    table = pa.table({"age": [3, 17, 30, 30, None], "ill": ["a", "b", "a", "b", "b"]})
    alone = unveil.anonymity(table, ["age"], targets=["ill"])
    beside = unveil.anonymity(unveil.Pair(table, table.slice(2)), ["age"], targets=["ill"])
    assert (alone.files, alone.sizes) == (beside.files[:1], beside.sizes[:1])
    assert alone.diversity["ill"] == beside.diversity["ill"][:1]
    assert (alone.labels, alone.n_synthetic, alone.warnings) == (("the file",), (), ())
    assert alone.to_frame("arrow").num_rows == 1
    pyarrow.csv.write_csv(table, tmp_path / "one.csv")
    words = ["unveil", "anonymity", str(tmp_path / "one.csv"), "--keys", "age", "--breaks", "age=18", "--json", "-"]
    monkeypatch.setattr(sys, "argv", words)
    with suppress(SystemExit):
        main()
    found = json.loads(capsys.readouterr().out)
    assert found["labels"] == ["one.csv"]
    assert [(one["classes"], one["k"]) for one in found["files"]] == [(3, 1)]
    assert found["grouping"]["age"]["levels"] == ["below 18", "18 or more"]


def test_what_it_prints_and_gives():
    table = pa.table({"zip": CLASSES, "disease": DISEASES})
    found = unveil.anonymity(unveil.Pair(table, table.slice(0, 6)), ["zip"], targets=None)
    assert found.targets == ("disease",)
    text = str(found)
    assert "k is the number of records of the smallest" in text
    assert "discloses nobody" in text
    for first in ("A class is", "target  ", "l: the smallest", "These figures"):
        assert f"\n\n{first}" in text
    frame = found.to_frame("arrow")
    assert frame.column("k").to_pylist() == [3, 3]
    assert frame.column("disease: l").to_pylist() == [3, 3]
    with pytest.raises(CallError, match="is a key and cannot be the target"):
        unveil.anonymity(unveil.Pair(table, table.slice(0, 6)), ["zip"], targets=["zip"])
    assert unveil.anonymity(unveil.Pair(table, table.slice(0, 6)), ["zip"]).targets == ()


def test_a_release_without_records_has_no_k():
    table = pa.table({"zip": CLASSES, "disease": DISEASES})
    found = unveil.anonymity(unveil.Pair(table, table.slice(0, 0)), ["zip"], targets=["disease"])
    assert all(math.isnan(found.files[1][name]) for name in ("k", "below_2"))
    assert all(math.isnan(value) for value in found.diversity["disease"][1].values())


def test_one_target_is_a_text_as_elsewhere():
    table = pa.table({"zip": CLASSES, "il": DISEASES, "i": SALARIES, "l": SALARIES})
    pair = unveil.Pair(table, table.slice(0, 6))
    assert unveil.anonymity(pair, "zip", targets="il").targets == ("il",)
    with pytest.raises(CallError, match="target"):
        unveil.anonymity(pair, "zip", targets=3)


def test_suppressed_values_are_a_value(tmp_path):
    """Three women whose work is a gap are one class, and two persons without an answer have one answer."""
    path = tmp_path / "suppressed.csv"
    path.write_text("sex,work,ill\nf,*,1\nf,*,1\nf,*,0\nm,nurse,*\nm,nurse,*\n*,*,0\n", encoding="utf-8")
    pair = unveil.Pair(path, path, missing=["", "*"])
    found = unveil.anonymity(pair, ["sex", "work"], targets=["ill"])
    assert found.sizes[0] == {1: 1, 2: 1, 3: 1}
    assert found.diversity["ill"][0]["l"] == 1
    assert found.diversity["ill"][0]["one_value"] == 50.0
    assert unveil.Pair(path, path).column("work").has_gap is False
