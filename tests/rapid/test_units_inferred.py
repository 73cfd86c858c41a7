"""RAPID of units of several rows: a model sees the rows one by one, and infers what is the unit's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil


def panel(n: int, seed: int, waves: int = 3) -> pa.Table:
    """Persons of some waves, who are ill by the mean of their wages and by nothing else."""
    rng = np.random.default_rng(seed)
    wage = rng.integers(0, 100, (n, waves))
    rows = range(n * waves)
    return pa.table(
        {
            "person": [i // waves for i in rows],
            "wave": [i % waves for i in rows],
            "sex": [("f", "m")[v] for v in np.repeat(rng.integers(0, 2, n), waves)],
            "wage": wage.ravel(),
            "job": [("a", "b")[v] for v in rng.integers(0, 2, n * waves)],
            "ill": [("no", "yes")[int(v)] for v in np.repeat(wage.mean(axis=1) > 50, waves)],
        }
    )


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    return unveil.Pair(panel(300, 1), panel(300, 2), unit="person", time="wave")


def test_a_model_learns_from_the_rows_of_a_unit(pair: unveil.Pair) -> None:
    """No two persons have the same wages, so that their sequences as such tell nothing."""
    risk = unveil.rapid(pair, ["sex", "wage"], target="ill", seed=1, permutations=4, ceiling=False)
    assert risk.rate > 0.6
    assert str(risk).startswith("RAPID of 'ill' (categorical): 300 of 300 original units (person), keys sex, wage")


def test_identical_rows_are_one_row() -> None:
    """What holds for persons of one row holds for persons of three of the same content."""
    one, other = (panel(120, seed, 1).drop_columns("wave") for seed in (1, 2))
    thrice = [table.take(np.random.default_rng(3).permutation(np.repeat(np.arange(120), 3))) for table in (one, other)]
    options: dict[str, Any] = {"target": "ill", "seed": 1, "permutations": 2, "ceiling": False}
    plain = unveil.rapid(unveil.Pair(one, other), ["sex", "wage"], **options)
    units = unveil.rapid(unveil.Pair(*thrice, unit="person"), ["sex", "wage"], **options)
    assert (units.rate, units.n_counted) == (plain.rate, 120)


def test_the_order_of_rows_matters_with_time_alone() -> None:
    """Whoever was in job b first is ill; both jobs have everybody."""

    def changed(n: int, seed: int) -> pa.Table:
        first = np.random.default_rng(seed).integers(0, 2, n)
        rows = [(i, wave, "ab"[first[i] ^ wave], ["no", "yes"][first[i]]) for i in range(n) for wave in (0, 1)]
        return pa.table(dict(zip(("person", "wave", "job", "ill"), map(list, zip(*rows, strict=True)), strict=True)))

    files = changed(100, 1), changed(100, 2)
    options: dict[str, Any] = {"target": "ill", "seed": 1, "permutations": 2, "ceiling": False}
    rates = [
        unveil.rapid(unveil.Pair(*files, unit="person", time=time), ["job"], **options).rate for time in ("wave", None)
    ]
    assert rates[0] == 1
    assert rates[1] < 0.1


def test_a_target_with_several_amounts_is_refused_in_one_line(pair: unveil.Pair) -> None:
    with pytest.raises(unveil.CallError, match="'wage' holds amounts that differ within units"):
        unveil.rapid(pair, ["sex"], target="wage")


def test_by_default_it_is_left_out(pair: unveil.Pair) -> None:
    found = unveil.rapid(pair, ["sex", "job"], permutations=0, ceiling=False)
    assert [one.target for one in found] == ["ill"]
    assert "'wage' holds amounts that differ within units and is left out" in found.warnings


def test_records_are_units_by_name(pair: unveil.Pair) -> None:
    risk = unveil.rapid(pair, ["sex", "wage"], target="ill", attacker="cart", permutations=0, ceiling=False)
    assert risk.records(flavour="arrow").column_names[0] == "person"
    assert "units" in str(risk.attribution())


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_amounts_stay_amounts_where_a_released_unit_has_several() -> None:
    """The unit with two ages teaches nothing; the others do as without it."""

    def persons(n: int, seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        level = np.repeat(rng.integers(0, 5, n), 2)
        return {"person": np.repeat(np.arange(n), 2), "level": level, "age": 20.0 + 10 * level}

    original, release = persons(100, 1), persons(100, 2)
    release["age"][0] += 1
    risk = unveil.rapid(
        unveil.Pair(pa.table(original), pa.table(release), unit="person"), ["level"], target="age", attacker="cart",
        permutations=0, ceiling=False,
    )  # fmt: skip
    assert (risk.kind, risk.rate) == ("continuous", 1)
    assert "1 record of the release without an amount in 'age' is left out" in risk.notes
