"""What names and order must not change: no figure differs, not by rounding either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil._rapid import Rapid, rapid, rapid_synthesizer_cv
from unveil.columns.level_order import canonical_orders

# files of a few records often share no level, and say so
pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")

KEYS = ["k", "l", "x"]
NAMES = [f"{letter}{number}" for letter in "qdzmab" for number in range(4)]


@st.composite
def files(draw: st.DrawFn, most: int = 14) -> tuple[pa.Table, pa.Table]:
    """An original and a release with few levels, so that many of them are alike."""

    def one(n: int) -> pa.Table:
        def column(values: list[Any]) -> list[Any]:
            return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

        return pa.table(
            {
                "k": pa.array(column(["a", "b", "c", "d", None]), pa.string()),
                "l": pa.array(column(["u", "v", "w"]), pa.string()),
                "x": pa.array(column([1.0, 2.5, 4.0, None]), pa.float64()),
                "t": pa.array(column(["p", "q", "r"]), pa.string()),
            }
        )

    return one(draw(st.integers(3, most))), one(draw(st.integers(3, most)))


def renamed(table: pa.Table, names: dict[str, dict[str, str]]) -> pa.Table:
    return pa.table(
        {
            name: column
            if name not in names
            else pa.array([None if v is None else names[name][v] for v in column.to_pylist()], pa.string())
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def figures(result: Rapid, *, by_name: bool = True) -> Any:
    """All that a result says; without what a level is called, if names differ."""
    document = result.to_dict(curve=True, attribution=True, by=["k"])
    if by_name:
        return document
    attribution = document["attacks"][0]["attribution"]
    return {
        "attacks": [
            {name: value for name, value in attack.items() if isinstance(value, float | int) or name == "intervals"}
            for attack in document["attacks"]
        ],
        "curve": [line["rate"] for line in document["curve"]["lines"]],
        "baseline": sorted(document["baseline"].values()),
        "importance": attribution["importance"],
        "coefficients": sorted(abs(c["estimate"]) for c in attribution["coefficients"] if c["level"] is None),
        "groups": sorted(group["rate"] for group in document["attacks"][0]["by"]["k"]),
    }


def attack(original: pa.Table, release: pa.Table, attacker: str, target: str = "t") -> Rapid:
    keys = [key for key in KEYS if key != target]
    return rapid(
        unveil.Pair(original, release), keys, target=target, attacker=attacker, permutations=2, seed=3, n_jobs=1
    )


@pytest.mark.parametrize("attacker", ["rf", "cart", "logit"])
@given(pair=files(), data=st.data())
@settings(max_examples=12, deadline=None)
def test_order_of_records(attacker: str, pair: tuple[pa.Table, pa.Table], data: st.DataObject) -> None:
    turned = [t.take(pa.array(data.draw(st.permutations(range(t.num_rows))))) for t in pair]
    assert figures(attack(*turned, attacker)) == figures(attack(*pair, attacker))


@pytest.mark.parametrize("attacker", ["rf", "cart", "logit"])
@given(pair=files(), data=st.data())
@settings(max_examples=12, deadline=None)
def test_names_of_levels_and_order_of_classes(
    attacker: str, pair: tuple[pa.Table, pa.Table], data: st.DataObject
) -> None:
    names = {
        column: dict(zip(levels, data.draw(st.permutations(NAMES)), strict=False))
        for column, levels in (("k", "abcd"), ("l", "uvw"), ("t", "pqr"))
    }
    other = attack(*(renamed(t, names) for t in pair), attacker)
    assert figures(other, by_name=False) == figures(attack(*pair, attacker), by_name=False)


@pytest.mark.parametrize("attacker", ["rf", "gbm", "logit_l1", "stack", "lm"])
def test_order_and_names_with_every_attacker(attacker: str) -> None:
    rng = np.random.default_rng(5)

    def drawn() -> pa.Table:
        k, x = rng.integers(0, 4, 120), np.round(rng.normal(size=120), 1)
        t = (k + (x > 0.3) + (rng.random(120) < 0.3)) % 3
        return pa.table({"k": np.array(list("abcd"))[k], "l": np.array(list("uvw"))[rng.integers(0, 3, 120)], "x": x,
                         "t": np.array(list("pqr"))[t]})  # fmt: skip

    target = "x" if attacker == "lm" else "t"
    names = {"k": dict(zip("abcd", "zbya", strict=True)), "l": dict(zip("uvw", "vwu", strict=True))}
    names |= {} if target == "x" else {"t": dict(zip("pqr", "rpq", strict=True))}
    plain = [drawn(), drawn()]
    turned = [renamed(t, names).take(pa.array(rng.permutation(t.num_rows))) for t in plain]
    one, two = (figures(attack(*pair, attacker, target), by_name=False) for pair in (plain, turned))
    assert one == two


def test_a_declared_order_is_the_order() -> None:
    """The forest cuts levels in their order: which one is declared may change a figure, how levels are called not."""
    rng = np.random.default_rng(1)
    k = rng.integers(0, 6, 300)
    t = np.where(k % 2 == 0, "yes", np.where(rng.random(300) < 0.5, "yes", "no"))

    def declared(levels: str) -> unveil.Pair:
        schema = {"k": unveil.Variable("k", kind="categorical", levels=tuple(levels))}
        sources = [unveil.read(pa.table({"k": np.array(list(levels))[k], "t": t}), schema=schema) for _ in range(2)]
        return unveil.Pair(*sources)

    one, two = (
        rapid(declared(levels), "k", target="t", permutations=1, ceiling=False).attacks
        for levels in ("abcdef", "fbadec")
    )
    assert one == two


def test_folds_do_not_depend_on_the_order_of_records() -> None:
    people = unveil.simulate.rapid_population(90, kappa=5, seed=1)
    turned = people.take(pa.array(np.random.default_rng(1).permutation(90)))
    one, two = (
        rapid_synthesizer_cv(file, lambda frame: frame, ["age", "gender"], target="disease_status", attacker="cart")
        for file in (people, turned)
    )
    assert one.to_dict() == two.to_dict()


# ----------------------------------------------------------------------------------------------- the order
def test_frequent_levels_come_first() -> None:
    k = np.repeat([0, 1, 2], [1, 3, 2])
    (order,) = canonical_orders(k[None], [3], [True])
    assert order is not None
    assert order.tolist() == [1, 2, 0]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_permuted_codes_give_the_same_file(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    sizes = [data.draw(st.integers(1, 5)) for _ in range(3)]
    codes = np.array([data.draw(st.lists(st.integers(0, s - 1), min_size=n, max_size=n)) for s in sizes])
    new = [np.array(data.draw(st.permutations(range(s)))) for s in sizes[:2]]
    other = np.stack([new[0][codes[0]], new[1][codes[1]], codes[2]])
    found = []
    for file in (codes, other):
        orders = canonical_orders(file, sizes, [True, True, False])
        recoded = [c if o is None else np.argsort(o)[c] for c, o in zip(file, orders, strict=True)]
        found.append(sorted(map(tuple, np.array(recoded).T.tolist())))
    assert found[0] == found[1]


def test_many_levels_that_nothing_tells_apart() -> None:
    """Two identifiers: their levels are put first one after the other, and all at once past the limit."""
    n = 3000
    rng = np.random.default_rng(0)
    codes = np.stack([rng.permutation(n), rng.permutation(n)])
    orders = canonical_orders(codes, [n, n], [True, True])
    first, second = (np.argsort(order)[c] for order, c in zip(orders, codes, strict=True))
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(n))
