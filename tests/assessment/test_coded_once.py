"""Columns of files are coded once, whatever an assessment asks of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.columns.texts import _as_written
from unveil.files import distinct
from unveil.files.source import DerivedColumns, Source
from unveil.synthesis import halves


def people(n: int, seed: int) -> pa.Table:
    """Texts, whole numbers, amounts and gaps; the target hangs on the keys."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(20, 60, n)
    ill = np.where((age > 40) ^ (rng.random(n) < 0.2), "yes", "no")
    income = np.round(rng.gamma(2, 20, n), 1)
    region = pa.array(rng.choice(["n", "s", "w"], n), mask=rng.random(n) < 0.1)
    return pa.table({"sex": sex, "age": age, "ill": ill, "income": income, "region": region})


@pytest.fixture
def codings(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, str]]:
    """How often each column was coded, by the function that reads its file and its name."""
    found: Counter[tuple[Any, str]] = Counter()
    plain = distinct._read

    def counted(source: Source, name: str) -> Any:
        found[source.fetch, name] += 1
        return plain(source, name)

    monkeypatch.setattr(distinct, "_read", counted)
    return found


def test_every_column_of_every_file_is_coded_once_in_an_assessment(codings: Counter[tuple[Any, str]], tmp_path: Any):
    original, others = people(160, 1), people(90, 2)
    synthesizer = unveil.CartSynthesizer(n_jobs=1)
    fitted = synthesizer.fit(original)
    releases = [fitted.sample(seed=seed) for seed in (1, 2)]
    codings.clear()
    pair = unveil.Pair(original, releases, holdout=others)
    found = unveil.assess(
        pair, ["sex", "age", "region"], targets=["ill", "income"], synthesizer=synthesizer, holdout_unseen=True,
        attacker="cart", permutations=2, budget=900, checkpoint=tmp_path / "kept",
    )  # fmt: skip
    assert {part["status"] for part in found.to_dict()["parts"]} == {"done"}
    assert pair.holdout is not None
    for source in (pair.original, *pair.releases, pair.holdout):
        assert {name: codings.pop((source.fetch, name), 0) for name in source.names} == dict.fromkeys(source.names, 1)
    # What is left are columns of releases drawn anew, and of originals with a protected target.
    assert set(codings.values()) == {1}
    drawn, protected = Counter(fetch for fetch, _ in codings), 0
    for fetch, columns in drawn.items():
        if isinstance(fetch, DerivedColumns):
            protected += 1
            assert columns == 1
            assert not {name for one, name in codings if one is fetch} - set(fetch.columns)
    halves, resamples = 20 * 2, 20
    assert len(drawn) - protected >= (halves + resamples) * len(releases)


def test_nobody_codes_the_columns_of_files_by_another_way():
    root = Path(unveil.__file__).parent
    users = {path.name for path in root.rglob("*.py") if "distinct_values(" in path.read_text(encoding="utf-8")}
    # The sequence of trees codes the levels of a column and its candidates, an example of harmonise a column: no file.
    # A column that an engine counts has one entry per value.
    assert users == {"distinct.py", "tree_sequence.py", "harmonise.py", "counted.py"}


def test_a_part_of_a_file_is_a_view_of_what_was_coded(codings: Counter[tuple[Any, str]]):
    whole = unveil.read(people(60, 3))
    records = np.array([7, 7, 3, 50, 0])
    part = whole.part(records).part(np.array([4, 2, 1, 1]))
    rows = whole.part(records[[4, 2, 1, 1]], "the same rows")
    for name in whole.names:
        found, same, alone = (distinct.distinct_of(one, name) for one in (part, rows, whole))
        fresh = distinct.distinct_values(part.column(name), label=whole.label, name=name)
        values, wanted = ([*one.values.to_pylist(), None] for one in (found, fresh))
        assert [values[code] for code in found.codes] == [wanted[code] for code in fresh.codes]
        assert sorted(found.values.to_pylist()) == sorted(fresh.values.to_pylist())
        assert (found.family, same.label, alone.label) == (fresh.family, "the same rows", whole.label)
    assert set(codings.values()) == {1}
    assert len(codings) == len(whole.names)
    (empty,) = {distinct.distinct_of(whole.part(np.flatnonzero([False])), name).family for name in whole.names}
    assert empty == "empty"


def test_columns_that_take_the_place_of_others_are_coded_anew(codings: Counter[tuple[Any, str]]):
    whole = unveil.read(people(60, 3))
    distinct.distinct_of(whole, "ill")
    distinct.distinct_of(whole, "sex")
    other = pa.chunked_array([["perhaps"] * 60])
    changed = replace(whole, fetch=DerivedColumns(whole, columns={"ill": other}))
    assert distinct.distinct_of(changed, "ill").values.to_pylist() == ["perhaps"]
    assert distinct.distinct_of(changed, "sex").codes is distinct.distinct_of(whole, "sex").codes
    assert distinct.distinct_of(replace(whole, label="called so"), "ill").label == "called so"
    assert sum(codings.values()) == 3


def test_parts_of_a_file_are_read_in_its_own_types_like_parts_of_a_frame(tmp_path: Path):
    table = people(120, 4)
    pq.write_table(table, tmp_path / "original.parquet")
    synthesizer = unveil.CartSynthesizer(n_jobs=1)
    release = synthesizer.fit(table).sample(seed=1)
    made = [
        halves(unveil.Pair(original, release), synthesizer, repeats=2, seed=1)
        for original in (table, tmp_path / "original.parquet")
    ]
    for of_frame, of_file in zip(*made, strict=True):
        for one, other in zip(of_frame, of_file, strict=True):
            for name in table.column_names:
                codes = [pair.column(name).releases[0] for pair in (one, other)]
                assert (codes[0] == codes[1]).all(), name


def test_messages_name_a_file_as_it_is_called_now(tmp_path: Path):
    """A column of numbers that is compared as text."""
    (tmp_path / "file.csv").write_text("x\n1.0\n2.0\n3.0\n")
    whole = unveil.read(tmp_path / "file.csv")
    distinct.distinct_of(whole, "x")
    called = replace(whole, label="called so")
    (text, _) = _as_written([distinct.distinct_of(called, "x"), distinct.distinct_of(called, "x")])
    assert (text.label, text.values.to_pylist()) == ("called so", ["1.0", "2.0", "3.0"])
