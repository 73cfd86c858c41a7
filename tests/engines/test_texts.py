"""Codes of texts are those of a dictionary, however many there are and however they are stored."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.engines.raw_values import RawValues
from unveil.engines.texts import Texts


def coded(batches: list[list[str | None]], kind: pa.DataType) -> tuple[list[int], list[str]]:
    raw = RawValues(kind)
    found: list[int] = []
    for batch in batches:
        one = raw.encode(pa.array(batch, kind))
        found += one.worth(np.arange(len(raw)))[one.index].tolist()
    return found, raw.values().to_pylist()


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
@given(batches=st.lists(st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=9), min_size=1, max_size=5))
def test_codes_are_those_of_a_dictionary(batches: list[list[str | None]], kind: pa.DataType) -> None:
    found, values = coded(batches, kind)
    every = [text for batch in batches for text in batch]
    assert len(set(values)) == len(values)
    assert [None if code == 0 else values[code - 1] for code in found] == every
    assert set(values) == set(every) - {None}


def test_many_texts_and_a_part_of_an_array() -> None:
    """Tables grow, long texts too; a slice does not begin at the first text."""
    texts = [f"{'x' * (i % 50)}{i}" for i in range(30_000)]
    array = pa.array(texts, pa.binary())
    known = Texts()
    first = known.codes_of(array.slice(10_000))
    again = known.codes_of(array)
    assert np.array_equal(again[10_000:], first)
    assert len(known) == len(texts)
    assert known.values().take(pa.array(again)).to_pylist() == array.to_pylist()


def test_text_of_many_values_is_an_identifier_by_the_original_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.columns.roles._MANY", 50)
    original = pa.table({"k": np.arange(60) % 3, "t": np.arange(60) % 5, "id": [f"P{i:04}" for i in range(60)]})
    pair = unveil.Pair(original, original.slice(0, 50))
    risks = unveil.attribute(pair, "k")
    assert [risk.target for risk in risks] == ["t"]
    assert any("'id' looks like an identifier" in note for note in risks.notes)
    assert "id" not in pair._columns
