"""Suppressed values as wildcards: the same as asking every pair of an original and a released record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil

KEYS = ["a", "b", "c"]
VALUES = st.sampled_from(["x", "y", None])
PERSONS = st.tuples(VALUES, VALUES, VALUES, st.sampled_from(["p", "q", "r"]))
SIGN = st.sampled_from(["x", "y", None, "*"])
RELEASED = st.tuples(SIGN, SIGN, SIGN, st.sampled_from(["p", "q", "*"]))
COMMON = ("*", "*", "*", "p")


def table(records: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: pa.array([r[i] for r in records], pa.string()) for i, name in enumerate([*KEYS, "t"])})


def by_hand(original: list[tuple[Any, ...]], release: list[tuple[Any, ...]]) -> dict[str, float]:
    found = dict.fromkeys(("UiOiS", "repU", "iS", "DiS", "DiSCO", "DCAPd"), 0.0)
    for person in original:
        met = [r for r in release if all(s in ("*", o) for s, o in zip(r[:3], person[:3], strict=True))]
        alone = sum(other[:3] == person[:3] for other in original) == 1
        told = [r[3] for r in met if r[3] != "*"]
        found["UiOiS"] += alone and len(met) > 0
        found["repU"] += alone and len(met) == 1
        found["iS"] += len(met) > 0
        found["DiS"] += len(set(told)) == 1
        found["DiSCO"] += set(told) == {person[3]}
        found["DCAPd"] += told.count(person[3]) / len(told) if told else 0
    return {name: 100 * value / len(original) for name, value in found.items()}


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
@given(st.lists(PERSONS, min_size=1, max_size=12), st.lists(RELEASED, max_size=12))
def test_every_pair_of_records_is_asked(original: list[Any], release: list[Any]) -> None:
    release = [*release, COMMON]
    pair = unveil.Pair(table(original), [table(release), table([COMMON])])
    identity = unveil.identity(pair, KEYS, suppressed="*")
    attribute = unveil.attribute(pair, KEYS, target="t", suppressed="*")
    for number, one in enumerate((release, [COMMON])):
        wanted = by_hand(original, one)
        assert identity.as_wildcards[number] == pytest.approx({name: wanted[name] for name in ("UiOiS", "repU")})
        assert attribute.as_wildcards[number] == pytest.approx(
            {name: wanted[name] for name in ("iS", "DiS", "DiSCO", "DCAPd")}
        )


ORIGINAL = table([("x", "x", "x", "p"), ("x", "y", "x", "q"), ("y", "y", "y", "q")])
RELEASE = table([("x", "*", "x", "p"), ("y", "y", "y", "q")])


def test_both_readings_stand_side_by_side() -> None:
    pair = unveil.Pair(ORIGINAL, RELEASE)
    risk = unveil.attribute(pair, KEYS, target="t", suppressed="*")
    # As a level of its own the suppressed record meets nobody; as a wildcard it meets two, and is right for one.
    assert risk.DiSCO == pytest.approx(100 / 3)
    assert risk.as_wildcards[0] == pytest.approx({"iS": 100, "DiS": 100, "DiSCO": 200 / 3, "DCAPd": 200 / 3})
    assert "matches every value: iS 100.00, DiS 100.00, DiSCO 66.67, DCAPd 66.67." in " ".join(str(risk).split())
    found = unveil.identity(pair, KEYS, suppressed="*")
    assert (found.repU, found.as_wildcards[0]["repU"]) == (pytest.approx(100 / 3), 100)
    assert found.to_dict()["as_wildcards"] == [{"UiOiS": 100.0, "repU": 100.0}]
    without = unveil.identity(pair, KEYS)
    assert without.as_wildcards == ()
    assert "matches every value" not in str(without)


@pytest.mark.filterwarnings("ignore:column 'a'. no value of the original occurs:unveil.errors.UnveilWarning")
def test_combinations_with_a_gap_do_not_count_where_asked() -> None:
    original = table([(None, "x", "x", "p"), ("x", "x", "x", "p")])
    pair = unveil.Pair(original, table([("*", "x", "x", "p")]))
    assert unveil.identity(pair, KEYS, suppressed="*", use_keys_na=False).as_wildcards[0]["repU"] == 50
    risk = unveil.attribute(pair, KEYS, target="t", suppressed="*", use_keys_na=False)
    assert risk.as_wildcards[0] == {"iS": 50, "DiS": 50, "DiSCO": 50, "DCAPd": 50}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"suppressed": "#"}, "no release holds '#' in a key"),
        ({"suppressed": "*", "not_target_levels": ["p"]}, "leave out the exclusions"),
        ({"suppressed": "*", "exclude_pairs": ["a=x:p"]}, "leave out the exclusions"),
        ({"suppressed": "*", "use_target_na": False}, "leave out the exclusions"),
    ],
)
def test_what_cannot_be_read_so_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(unveil.CallError, match=said):
        unveil.attribute(unveil.Pair(ORIGINAL, RELEASE), KEYS, target="t", **options)
