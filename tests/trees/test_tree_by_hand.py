"""Small trees whose splits can be worked out by hand, and the edges of what can be fitted."""

from __future__ import annotations

import pickle
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from unveil.errors import CallError, DataError
from unveil.trees import Column, Settings, grow


def categorical(codes, n_levels=None, **names):
    codes = np.array(codes, dtype=np.int32)
    return Column(codes, "categorical", n_levels or int(codes.max()) + 1, **names)


def leaves_of(tree):
    return [tree.donors[a:b].tolist() for a, b in zip(tree.leaf_start[:-1], tree.leaf_start[1:], strict=True)]


def test_one_threshold_of_a_numeric_response():
    # means 2 and 10: sum of squares 4*16*2/3... = 96 between, 4 within
    tree = grow(
        Column.from_values([1, 3, 2, 9, 11, 10]),
        [Column.from_values([1, 2, 3, 5, 6, 7])],
        Settings(minbucket=3, minsplit=6),
    )
    assert tree.threshold[0] == 4.0
    assert (tree.gain[0], tree.risk.tolist()) == (96.0, [100.0, 2.0, 2.0])
    assert leaves_of(tree) == [[0, 1, 2], [3, 4, 5]]


def test_gini_of_two_sets_of_levels():
    # a: 4 yes; b: 4 no; c: 3 yes 1 no -> {a, c} against {b}
    x = categorical([0] * 4 + [1] * 4 + [2] * 4)
    y = categorical([1] * 4 + [0] * 4 + [1, 1, 1, 0])
    tree = grow(y, [x], Settings(minbucket=4, minsplit=8))
    assert leaves_of(tree) == [[4, 5, 6, 7], [0, 1, 2, 3, 8, 9, 10, 11]]
    # 12 (1 - (5/12)^2 - (7/12)^2) - 8 (1 - (1/8)^2 - (7/8)^2)
    assert tree.gain[0] == pytest.approx(12 * (1 - (25 + 49) / 144) - 8 * (1 - 50 / 64), rel=1e-14)


def test_ties_go_to_the_first_predictor_and_the_first_cut():
    x = Column.from_values([0, 0, 1, 1, 2, 2])
    y = Column.from_values([0, 0, 5, 5, 0, 0])
    tree = grow(y, [x, x], Settings(minbucket=2, minsplit=6))
    assert (tree.feature[0], tree.threshold[0], tree.gain[0]) == (0, 0.5, tree.rival_gain[0])


def test_threshold_lies_between_values_that_are_in_the_node():
    x = Column.from_values([0, 10, 4, 4, 4])
    tree = grow(
        Column.from_values([0, 9, 5, 5, 5]), [x], Settings(minbucket=2, minsplit=4), rows=np.array([0, 0, 1, 1])
    )
    assert tree.threshold[0] == 5.0
    assert tree.apply([x.codes]).tolist() == [0, 1, 0, 0, 0]
    assert tree.apply([np.array([4.99, 5.0, np.inf, -np.inf])]).tolist() == [0, 1, 1, 0]


def test_neighbouring_and_infinite_values_are_told_apart():
    values = np.array([-np.inf, 1.0, np.nextafter(1.0, 2.0), np.inf])
    tree = grow(categorical([0, 1, 0, 1]), [Column.from_values(values)], Settings(minbucket=1, minsplit=2))
    assert tree.n_leaves == 4
    assert tree.apply([values]).tolist() == [0, 1, 2, 3]


def test_unseen_level_goes_with_the_larger_child():
    x = categorical([0, 0, 0, 1, 1, 2], 4)
    y = categorical([0, 0, 0, 1, 1, 0])
    tree = grow(y, [x], Settings(minbucket=2, minsplit=4), rows=np.arange(5))
    assert tree.sides.tolist() == [0, 1, 2, 2]
    mirrored = grow(categorical([1, 1, 1, 0, 0, 0]), [x], Settings(minbucket=2, minsplit=4), rows=np.arange(5))
    assert mirrored.sides.tolist() == [1, 0, 3, 3]
    assert mirrored.apply([np.array([3])]).tolist() == [1]
    even = grow(y, [x], Settings(minbucket=2, minsplit=4), rows=np.array([0, 1, 3, 4]))
    assert even.sides.tolist() == [0, 1, 2, 2]


def test_surrogate_sends_an_unseen_level_on():
    x = categorical([0] * 6 + [1] * 4, 3)
    like_x = Column.from_values([1, 2, 3, 4, 5, 6, 17, 18, 19, 6])
    other = categorical([0, 1] * 5)
    y = Column.from_values([0] * 6 + [8] * 4)
    options = {"minbucket": 2, "minsplit": 10, "surrogates": 5}
    tree = grow(y, [x, other, like_x], Settings(**options))
    assert tree.feature[0] == 0
    assert tree.surrogates.feature.tolist() == [2]
    assert tree.surrogates.agreement.tolist() == [9]
    assert tree.surrogate_threshold.tolist() == [5.5]
    unseen = [np.array([2, 2]), np.array([0, 0]), np.array([12.0, 3.0])]
    assert tree.apply(unseen).tolist() == [1, 0]
    assert grow(y, [x, other, like_x], Settings(minbucket=2, minsplit=10)).apply(unseen).tolist() == [0, 0]


def test_surrogate_whose_own_level_is_unseen_is_passed_over():
    x = categorical([0] * 6 + [1] * 4, 3)
    exact = categorical([2] * 6 + [1] * 4, 3)
    good = Column(np.array([1] * 5 + [0] * 5), "ordered", 2)
    tree = grow(
        Column.from_values([0] * 6 + [8] * 4), [x, exact, good], Settings(minbucket=2, minsplit=10, surrogates=2)
    )
    assert tree.surrogates.feature.tolist() == [1, 2]
    assert tree.surrogates.flip.tolist() == [False, True]
    assert tree.apply([np.array([2] * 4), np.array([1, 2, 0, 0]), np.array([1, 0, 1, 0])]).tolist() == [
        1,
        0,
        0,
        1,
    ]


@pytest.mark.parametrize("first_is_low", [True, False])
def test_five_surrogates_then_the_majority(first_is_low):
    """Seven records in a node with levels 0 and 1 of x, six in another with level 2 only.

    In the first node x tells 4 records from 3, z agrees with it in 3 + 3 records and w in 2 + 3; v agrees in 2 + 2,
    no more than sending all seven one way, and g, which made the node, is constant in it.
    """
    g = Column([0] * 7 + [1] * 6, "ordered", 2, name="g")
    x = categorical([0, 0, 0, 0, 1, 1, 1] + [2] * 6, name="x")
    z = categorical([0, 0, 0, 1, 1, 1, 1] + [2] * 6, name="z")
    w = categorical([0, 0, 1, 1, 1, 1, 1] + [2] * 6, name="w")
    v = categorical([0, 1, 0, 1, 0, 1, 0] + [0] * 6, name="v")
    four, three = (0.0, 8.0) if first_is_low else (8.0, 0.0)
    y = Column.from_values([four] * 4 + [three] * 3 + [100.0] * 6)
    options = {"minbucket": 3, "minsplit": 6}
    tree = grow(y, [g, x, z, w, v], Settings(surrogates=5, **options))
    assert tree.feature.tolist() == [0, 1, -1, -1, -1]
    assert tree.surrogates.start.tolist() == [0, 0, 2, 2, 2, 2]
    assert tree.surrogates.feature.tolist() == [2, 3]
    assert tree.surrogates.agreement.tolist() == [6, 5]

    met = {  # x, z, w, v: what a record of the first node gets
        (0, 1, 1, 1): four,
        (1, 0, 0, 0): three,
        (2, 0, 1, 1): four,
        (2, 1, 0, 0): three,
        (2, 2, 0, 1): four,
        (2, 2, 1, 0): three,
        (2, 2, 2, 0): four,
        (2, 2, 2, 1): four,
    }
    given = [np.zeros(len(met), dtype=np.int32), *np.array(list(met), dtype=np.int32).T]
    means = np.array([y.values[y.codes[tree.donors[a:b]]].mean() for a, b in pairwise(tree.leaf_start)])
    assert means[tree.apply(given)].tolist() == list(met.values())
    plain = grow(y, [g, x, z, w, v], Settings(**options))
    assert means[plain.apply(given)].tolist() == [four, three] + [four] * 6


def test_an_even_node_sends_what_no_surrogate_knows_to_the_left():
    g = Column([0] * 6 + [1] * 6, "ordered", 2)
    x = categorical([0, 0, 0, 1, 1, 1] + [2] * 6)
    z = categorical([0, 0, 0, 0, 1, 1] + [2] * 6)
    y = Column.from_values([8] * 3 + [0] * 3 + [100] * 6)
    tree = grow(y, [g, x, z], Settings(minbucket=3, minsplit=6, surrogates=5))
    assert tree.surrogates.agreement.tolist() == [5]
    given = [np.zeros(3, dtype=np.int32), np.array([2, 2, 2]), np.array([0, 1, 2])]
    assert tree.apply(given).tolist() == [1, 0, 0]


@pytest.mark.parametrize("surrogates", [0, 3])
def test_records_that_go_down_in_blocks_end_where_they_do_one_by_one(monkeypatch, surrogates):
    rng = np.random.default_rng(3)
    x = [categorical(rng.integers(0, 9, 400), 10), Column.from_values(rng.normal(size=400).round(1))]
    x.append(categorical(x[0].codes // 2, 5))
    y = Column.from_values(x[0].codes % 3 * 10 + x[1].values[x[1].codes] + rng.integers(0, 3, 400))
    tree = grow(y, x, Settings(surrogates=surrogates))
    given = [rng.integers(0, 10, 101), rng.normal(size=101), rng.integers(0, 5, 101)]
    alone = [int(tree.apply([array[i : i + 1] for array in given])[0]) for i in range(101)]
    assert len(set(alone)) > 10
    assert tree.apply(given).tolist() == alone
    monkeypatch.setattr("unveil.trees.tree.BLOCK", 7)
    assert tree.apply(given).tolist() == alone


def test_collapse_makes_rare_classes_independent():
    rng = np.random.default_rng(1)
    x = categorical(np.repeat([0, 1, 2, 3], 5000), name="x")
    y = categorical(rng.random(20_000) < np.array([0.02, 0.09, 0.23, 0.42])[x.codes], name="y")
    tree, full = grow(y, [x]), grow(y, [x], Settings(collapse=False))
    assert (tree.n_leaves, tree.n_leaves_full, full.n_leaves) == (1, 4, 4)
    assert y.codes[tree.donors].mean() == pytest.approx(0.19, abs=0.01)
    shares = [y.codes[donors].mean() for donors in leaves_of(full)]
    np.testing.assert_allclose(shares, [0.02, 0.09, 0.23, 0.42], atol=0.02)
    lost = tree.dependence()
    assert (lost.leaves_removed, lost.bits) == (3, 0.0)
    assert lost.bits_lost == lost.bits_full == full.dependence().bits == pytest.approx(0.13, abs=0.02)
    assert full.dependence().bits_lost == 0.0


def test_cp_removes_weak_subtrees_first():
    # the root's split pays (64), the one below its right child does not (1)
    x = Column.from_values([0, 0, 1, 1, 2, 2])
    y = Column.from_values([0, 0, 8, 8, 9, 9])
    for cp, leaves in ((0.0, 3), (0.011, 2), (0.9, 2), (0.992, 1)):
        assert grow(y, [x], Settings(minbucket=1, minsplit=2, cp=cp)).n_leaves == leaves
    tree = grow(y, [x], Settings(minbucket=1, minsplit=2, cp=0.0))
    np.testing.assert_allclose(tree.complexity(), [tree.gain[0], 0, 1, 0, 0])


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_constant_response_and_single_record(kind):
    x = Column.from_values(np.arange(20.0))
    y = Column.from_values(np.full(20, 3.5)) if kind == "numeric" else categorical([1] * 20)
    tree = grow(y, [x], Settings(minbucket=1))
    assert (tree.n_leaves, tree.risk.tolist(), tree.dependence().bits) == (1, [0.0], 0.0)
    single = grow(y, [x], Settings(minbucket=1), rows=np.array([7]))
    assert leaves_of(single) == [[7]]
    assert single.apply([x.codes]).tolist() == [0] * 20


def test_no_predictors():
    tree = grow(categorical([0, 1, 2]), [], Settings(minbucket=1))
    assert leaves_of(tree) == [[0, 1, 2]]


def test_deep_degenerate_trees():
    # powers of three: every split takes the largest value off the end
    x = Column.from_values(np.arange(25))
    chain = Column.from_values(3.0 ** np.arange(25))
    options = {"minbucket": 1, "minsplit": 2, "cp": 0.0}
    deep = grow(chain, [x], Settings(max_depth=10**9, **options))
    assert (deep.n_leaves, deep.depth.max()) == (25, 24)
    assert deep.apply([x.codes]).tolist() == list(range(25))
    assert grow(chain, [x], Settings(max_depth=4, **options)).n_leaves == 5
    assert grow(chain, [x], Settings(max_depth=0, **options)).n_leaves == 1
    many = Column.from_values(np.cumsum(np.arange(400.0) ** 3))
    assert grow(many, [Column.from_values(np.arange(400))], Settings(max_depth=400, **options)).n_leaves == 400


def test_rows_may_repeat():
    x, y = Column.from_values([0, 1, 2, 3]), Column.from_values([0, 0, 9, 9])
    tree = grow(y, [x], Settings(minbucket=2, minsplit=4), rows=np.array([3, 0, 3, 0, 0]))
    assert leaves_of(tree) == [[0, 0, 0], [3, 3]]


def test_numeric_response_without_decimals_in_common_is_put_on_a_grid():
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000)
    y = 3 * x + rng.normal(size=4000)
    shuffle = rng.permutation(4000)
    tree = grow(Column.from_values(y), [Column.from_values(x)])
    again = grow(Column.from_values(y[shuffle]), [Column.from_values(x[shuffle])])
    np.testing.assert_array_equal(tree.threshold, again.threshold)
    np.testing.assert_array_equal(tree.risk, again.risk)
    assert tree.risk[0] == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-10)
    far = grow(Column.from_values(y * 1e250), [Column.from_values(x)])
    np.testing.assert_array_equal(far.threshold, tree.threshold)


def test_printed_tree_names_levels():
    region = categorical([0] * 5 + [1] * 5 + [2] * 5, name="region")
    income = Column.from_values([1.0] * 10 + [9.0] * 5, name="income")
    tree = grow(income, [region], Settings(minbucket=5))
    assert str(tree).splitlines()[1:] == [
        "all  n=15  mean 3.66667",
        "  region in {0, 1}  n=10  mean 1  leaf 0",
        "  region in {2}  n=5  mean 9  leaf 1",
    ]
    assert "region in {north, south}" in tree.to_text({"region": ["north", "south", "west"]})
    grade = categorical([0] * 10 + [1] * 5, name="grade")
    size = Column(region.codes, "ordered", 3, name="size")
    assert "size < L  n=10  low 100.0%" in grow(grade, [size]).to_text(
        {"grade": ["low", "high"], "size": ["S", "M", "L"]}
    )
    assert repr(tree) == "<Tree of income: 2 leaves (2 grown), 15 records>"


def test_pickled_tree_is_the_same():
    rng = np.random.default_rng(5)
    x, z = Column.from_values(rng.integers(0, 50, 500)), categorical(rng.integers(0, 6, 500))
    tree = grow(categorical(rng.integers(0, 3, 500)), [x, z], Settings(collapse=False, surrogates=2))
    other = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(other.apply([x, z]), tree.apply([x, z]))
    assert (str(other), other.dependence()) == (str(tree), tree.dependence())


def test_threads_fit_the_same_trees():
    rng = np.random.default_rng(6)
    x = [Column.from_values(rng.integers(0, 400, 3000)), categorical(rng.integers(0, 12, 3000))]
    responses = [categorical(rng.integers(0, 4, 3000)) for _ in range(4)]
    alone = [grow(y, x, Settings(collapse=False)) for y in responses]
    together = [None] * 4

    def fit(i):
        together[i] = grow(responses[i], x, Settings(collapse=False))

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for first, second in zip(alone, together, strict=True):
        np.testing.assert_array_equal(first.donors, second.donors)


def test_factor_of_hundreds_of_levels_with_four_classes_does_not_hang():
    i = np.arange(3000)
    school = categorical((i * 37) % 300)
    grade = categorical(((i * 37) % 300) % 4)
    score = Column.from_values((i * 37) % 300 + 0.5)
    began = time.perf_counter()
    tree = grow(grade, [school])
    assert time.perf_counter() - began < 60
    pure = sum(len(set(grade.codes[donors])) == 1 for donors in leaves_of(tree))
    assert pure == tree.n_leaves >= 4
    by_score = grow(score, [school, grade])
    assert by_score.n_leaves > 100


def test_five_hundred_levels_on_both_sides():
    rng = np.random.default_rng(8)
    x = rng.integers(0, 500, 5000)
    y = np.where(rng.random(5000) < 0.9, (x * 7) % 500, rng.integers(0, 500, 5000))
    began = time.perf_counter()
    tree = grow(categorical(y, 500), [categorical(x, 500), Column.from_values(rng.normal(size=5000))])
    assert time.perf_counter() - began < 60
    lost = tree.dependence()
    assert lost.bits > 0.5
    assert tree.apply([x, np.zeros(5000)]).shape == (5000,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"minbucket": 0}, "minbucket must be a whole number from 1 to 2147483647, not 0"),
        ({"minsplit": 0}, "minsplit must be a whole number from 1"),
        ({"max_depth": -1}, "max_depth must be a whole number from 0"),
        ({"max_depth": 2**31}, "to 2147483647, not 2147483648"),
        ({"cp": -0.1}, "cp must be a number from 0"),
        ({"cp": np.nan}, "cp must be a number from 0"),
        ({"surrogates": -1}, "surrogates must be a whole number from 0"),
    ],
)
def test_settings_out_of_range(change, message):
    with pytest.raises(CallError, match=message):
        Settings(**change)


def test_rows_that_do_not_exist():
    y = Column.from_values([1, 2, 3, 4])
    with pytest.raises(CallError, match="rows must be record numbers between 0 and 3"):
        grow(y, [y], rows=np.array([4]))


def test_wrong_columns():
    y = Column.from_values([1, 2, 3, 4], name="y")
    with pytest.raises(CallError, match="predictor 0 has 3 records, the response 4"):
        grow(y, [Column.from_values([1, 2, 3])])
    with pytest.raises(DataError, match="y: no records to fit a tree to"):
        grow(y, [y], rows=np.array([], dtype=int))
    with pytest.raises(DataError, match="y: cannot fit infinite values"):
        grow(Column.from_values([1, np.inf], name="y"), [])
    with pytest.raises(DataError, match="column: no value in row 1"):
        Column.from_values([1, np.nan])
    with pytest.raises(CallError, match="codes must lie between 0 and 1"):
        categorical([0, 2], 2)
    with pytest.raises(CallError, match="kind must be"):
        Column(np.array([0]), "nominal", 1)
    with pytest.raises(CallError, match="values of the codes are needed"):
        Column(np.array([0]), "numeric", 1)
    with pytest.raises(CallError, match="strictly increasing"):
        Column(np.array([0]), "numeric", 2, np.array([1.0, 1.0]))
    with pytest.raises(CallError, match="one-dimensional"):
        Column(np.zeros((2, 2)), "categorical", 1)
    tree = grow(y, [categorical([0, 1, 0, 1]), y], Settings(minbucket=1))
    with pytest.raises(CallError, match="2 predictors, got 1"):
        tree.apply([np.array([0])])
    with pytest.raises(CallError, match="differ in length"):
        tree.apply([np.array([0]), np.array([0, 1])])
    with pytest.raises(CallError, match="predictor 0: codes must lie between 0 and 1"):
        tree.apply([np.array([2]), np.array([0])])
    with pytest.raises(CallError, match="predictor 0: codes of a categorical predictor must be integers"):
        tree.apply([np.array([0.0]), np.array([0])])


def test_the_sides_of_many_levels_at_many_nodes_are_those_of_the_records():
    rng = np.random.default_rng(3)
    places = [Column(rng.integers(0, 200, 900).astype(np.int32), "categorical", 200) for _ in range(2)]
    tree = grow(Column.from_values(rng.integers(0, 50, 900)), places, Settings(minbucket=2))
    split = np.flatnonzero(tree.right >= 0)
    assert tree.sides.size == 200 * split.size > 10_000
    order = tree.order
    for node in split:
        codes = places[tree.feature[node]].codes
        side = tree.sides[tree.side_start[node] : tree.side_start[node] + 200]
        left, right = (codes[order[tree.start[child] : tree.stop[child]]] for child in (node + 1, tree.right[node]))
        assert set(np.flatnonzero(side == 0)) == set(left.tolist())
        assert set(np.flatnonzero(side == 1)) == set(right.tolist())


@pytest.mark.parametrize("repeated", [False, True])
def test_values_by_node_and_by_leaf(repeated):
    rng = np.random.default_rng(4)
    x, y = (Column(rng.integers(0, levels, 300).astype(np.int32), "categorical", levels) for levels in (40, 3))
    rows = rng.integers(0, 300, 200).astype(np.int32) if repeated else None
    tree = grow(y, [x], Settings(minbucket=1), rows=rows)
    assert tree.n_leaves < tree.n_leaves_full
    fitted = np.arange(300) if rows is None else rows
    assert sorted(tree.donors.tolist()) == sorted(tree.order.tolist()) == sorted(fitted.tolist())
    values = rng.random(300)
    np.testing.assert_array_equal(tree.by_node(values), values[tree.order])
    np.testing.assert_array_equal(tree.by_leaf(values), values[tree.donors])
    leaf = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
    np.testing.assert_array_equal(tree.apply([x.codes])[tree.donors], leaf)
