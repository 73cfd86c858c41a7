"""The sequence: options, randomness, warnings."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pyarrow as pa
import pytest

from unveil import CallError, UnveilWarning
from unveil.simulate import demo_population
from unveil.synthesis import CartMethod, CartSynthesizer, synthesize
from unveil.synthesis.bandwidth import Noise, sheather_jones
from unveil.trees import Column


@pytest.fixture(scope="module")
def population():
    return demo_population(800, seed=3)


def test_the_same_seed_gives_the_same_copies_on_any_number_of_threads(population):
    options = {"methods": {"edu": "rf"}, "smoothing": "density", "special_codes": {"income": [-8]}}
    copies = [CartSynthesizer(n_jobs=j, **options).fit(population, seed=5).sample(m=3, seed=5) for j in (1, 2, 4)]
    for other in copies[1:]:
        assert all(a.equals(b) for a, b in zip(copies[0], other, strict=True))
    assert not copies[0][0].equals(copies[0][1])


@pytest.mark.parametrize("proper", [False, True])
def test_first_copies_do_not_depend_on_the_number_of_copies(population, proper):
    synthesizer = CartSynthesizer(proper=proper).fit(population)
    assert synthesizer.sample(seed=2).equals(synthesizer.sample(m=2, seed=2)[0])
    assert not synthesizer.sample(seed=2).equals(synthesizer.sample(seed=3))


def test_all_copies_come_from_one_fit(population, monkeypatch):
    fits = []
    plain = CartMethod.fit
    monkeypatch.setattr(CartMethod, "fit", lambda self, *args: fits.append(1) or plain(self, *args))
    assert len(synthesize(population, m=4, k=10, seed=1)) == 4
    assert 0 < len(fits) <= 2 * population.num_columns


def test_proper_copies_are_fitted_to_bootstrap_samples():
    original = pa.table({"x": np.arange(400) % 20, "y": np.arange(400) % 20 // 2})
    values = [
        len(set(c["x"].to_pylist())) for c in CartSynthesizer(proper=True).fit(original).sample(4000, m=3, seed=1)
    ]
    assert values == [20, 20, 20]
    copies = CartSynthesizer(proper=True).fit(original).sample(20_000, m=8, seed=1)
    spread = np.std([np.mean(c["x"].to_numpy()) for c in copies])
    plain = np.std([np.mean(c["x"].to_numpy()) for c in CartSynthesizer().fit(original).sample(20_000, m=8, seed=1)])
    assert spread > 3 * plain  # 0.29 from the bootstrap of 400, 0.04 from 20 000 draws


def test_drawing_follows_the_order_of_visit():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 500)
    original = pa.table({"effect": x, "cause": x ^ (rng.random(500) < 0.1)})
    backwards = CartSynthesizer(visit_order=["cause", "effect"]).fit(original)
    assert list(backwards.leaves()) == ["cause", "effect"]
    copy = backwards.sample(5000, seed=1)
    assert copy.column_names == ["effect", "cause"]
    assert np.mean(copy["effect"].to_numpy() == copy["cause"].to_numpy()) == pytest.approx(0.9, abs=0.03)


def test_chosen_predictors_are_the_only_ones(population):
    names = population.column_names
    fitted = CartSynthesizer(predictors={names[3]: [names[0]], names[4]: []}).fit(population)
    by_name = {plan.variable.name: plan for plan in fitted.plans}
    predictors = [p.name for p in fitted.trees()[names[3]].tree.predictors]
    assert predictors == [names[0]]
    assert by_name[names[4]].steps[0].predictors == ()
    assert names[4] not in fitted.trees()


def test_a_number_is_not_predicted_by_whether_it_is_there():
    original = pa.table({"x": list(range(30)) * 2, "y": [None, *range(1, 60)], "z": [i // 7 for i in range(60)]})
    with pytest.warns(UnveilWarning, match="different value"):
        trees = CartSynthesizer().fit(original).trees()
    assert [p.name for p in trees["y_part"].tree.predictors] == ["x"]
    assert [p.name for p in trees["y"].tree.predictors] == ["x"]
    assert [p.name for p in trees["z"].tree.predictors] == ["x", "y_part", "y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictors": {"sex": ["age"]}}, "'sex' cannot be predicted by 'age', which is not yet synthesised"),
        ({"predictors": {"age": ["sxe"]}}, "no column 'sxe'.*sex"),
        ({"predictors": {"age": "sex"}}, "must be a list"),
        ({"visit_order": ["sex"]}, "visit_order leaves out 'age'"),
        ({"visit_order": ["sex", "sex"]}, "more than once"),
        ({"visit_order": ["seks"]}, "visit_order: there is no column 'seks'"),
        ({"methods": "cort"}, "methods must be 'cart', .* not 'cort'"),
        ({"methods": {"height": "cart"}}, "methods: there is no column 'height'"),
        ({"methods": 3}, "give a name"),
        ({"smoothing": "spline"}, "smoothing must be"),
        ({"bandwidth": "wide"}, "bandwidth must be"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"minbucket": 0}, "minbucket must be a whole number from 1"),
        ({"cp": -1}, "cp must be"),
        ({"rules": {"sex": [("age < 3", "FEMALE")]}}, "looks at 'age', which is not yet synthesised"),
        ({"rules": {"marital": [("age <", "SINGLE")]}}, "cannot be read"),
        ({"rules": {"marital": [("age", "SINGLE")]}}, "only comparisons"),
        ({"rules": {"marital": [("age < 3", "ENGAGED")]}}, "no value 'ENGAGED'"),
        ({"rules": {"marital": [("height < 3", "SINGLE")]}}, "no column 'height'"),
        ({"rules": {"marital": [("sex < 3", "SINGLE")]}}, "have no order"),
        ({"special_codes": {"wage": [-8]}}, "no column 'wage'"),
    ],
)
def test_wrong_options_are_refused(population, options, message):
    with pytest.raises(CallError, match=message):
        CartSynthesizer(**options).fit(population)


def test_wrong_arguments_are_refused(population):
    fitted = CartSynthesizer().fit(population)
    for arguments in ({"n": -1}, {"m": 0}, {"seed": -1}, {"n": 2.5}, {"m": True}):
        with pytest.raises(CallError, match="must be a whole number"):
            fitted.sample(**arguments)
    with pytest.raises(CallError, match="call fit"):
        CartSynthesizer().sample()
    with pytest.raises(CallError, match="method: there is no"):
        synthesize(population, method="magic")
    with pytest.raises(CallError, match="minbuckets"):
        synthesize(population, minbuckets=3)


def test_rules_force_values_and_keep_their_records_out_of_the_fit():
    rng = np.random.default_rng(1)
    age = rng.integers(0, 60, 2000)
    adult = np.where(rng.random(2000) < 0.5, "MARRIED", "SINGLE")
    original = pa.table(
        {"age": age, "marital": np.where(age < 18, "SINGLE", adult), "wage": np.where(age < 18, 0, age * 10)}
    )
    rules = {"marital": [("age < 18", "SINGLE")], "wage": [({"age": lambda a: a < 18}, 0)]}
    fitted = CartSynthesizer(rules=rules).fit(original)
    assert fitted.trees()["marital"].tree.order.size == int((age >= 18).sum())
    copy = fitted.sample(3000, seed=1)
    young = copy["age"].to_numpy() < 18
    assert set(np.array(copy["marital"].to_pylist())[young]) == {"SINGLE"}
    assert set(copy["wage"].to_numpy()[young]) == {0}
    assert 0.4 < np.mean(np.array(copy["marital"].to_pylist())[~young] == "MARRIED") < 0.6
    assert fitted.log_prob(copy).n_impossible == 0


def test_records_against_a_rule_are_warned_of():
    original = pa.table({"age": [10, 12, 40, 50] * 10, "marital": ["S", "M", "M", "S"] * 10})
    with pytest.warns(UnveilWarning, match="10 of 20 records with age < 18 have another value of 'marital'"):
        CartSynthesizer(rules={"marital": [("age < 18", "S")]}).fit(original)


def test_smoothed_numbers_stay_in_range_and_keep_decimals_and_spikes():
    rng = np.random.default_rng(2)
    n = 2000
    wage = np.where(rng.random(n) < 0.75, 0.0, rng.normal(2000, 300, n).round(2))
    original = pa.table({"age": rng.integers(18, 80, n), "wage": wage, "height": rng.normal(170, 8, n).round(1)})
    copy = CartSynthesizer(smoothing="density").fit(original).sample(seed=1)
    found = copy["wage"].to_numpy()
    assert np.mean(found == 0) == pytest.approx(0.75, abs=0.04)
    assert found.max() <= wage.max()
    assert (np.round(found, 2) == found).all()
    new = ~np.isin(found, wage)
    assert new[found > 0].mean() > 0.8
    assert copy["age"].type == original["age"].type
    assert copy["height"].to_numpy().std() == pytest.approx(8, abs=1)


def test_smoothed_numbers_send_later_variables_down_by_their_value():
    n = 1000
    x = np.repeat(np.linspace(0, 1, n // 10), 10).round(4)
    original = pa.table({"x": x, "side": np.where(x < 0.5, "low", "high")})
    copy = CartSynthesizer(smoothing={"x": "density"}, collapse=False).fit(original).sample(seed=1)
    assert np.isin(copy["x"].to_numpy(), x).mean() < 0.1
    side = np.where(copy["x"].to_numpy() < 0.5, "low", "high")
    assert np.mean(side == np.array(copy["side"].to_pylist())) > 0.99


def test_smoothing_writes_every_flavour(make_frame):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "a": pa.array(rng.integers(0, 200, 300), pa.int16()),
            "b": pa.array([None if u < 0.2 else float(np.float32(round(u, 2))) for u in rng.random(300)], pa.float64()),
        }
    )
    frame = make_frame(table)
    copy = CartSynthesizer(smoothing="density").fit(frame).sample(seed=1)
    if isinstance(copy, pa.Table):
        assert copy.schema == table.schema
    elif hasattr(copy, "schema"):
        assert copy.schema == frame.schema
    else:
        assert copy.dtypes.tolist() == frame.dtypes.tolist()


def test_bandwidth_of_sheather_and_jones_solves_its_equation():
    numbers = np.random.default_rng(1).normal(size=400)
    h, n = sheather_jones(numbers), 400
    low, high = np.quantile(numbers, [0.25, 0.75])
    difference = numbers[:, None] - numbers[None, :]

    def density(t):
        return np.exp(-t * t / 2) / np.sqrt(2 * np.pi)

    def fourth(width):
        t = difference / width
        return ((t**4 - 6 * t**2 + 3) * density(t)).sum() / (n * (n - 1) * width**5)

    def sixth(width):
        t = difference / width
        return -((t**6 - 15 * t**4 + 45 * t**2 - 15) * density(t)).sum() / (n * (n - 1) * width**7)

    a, b = 0.920 * (high - low) * n ** (-1 / 7), 0.912 * (high - low) * n ** (-1 / 9)
    alpha = 1.357 * (fourth(a) / sixth(b)) ** (1 / 7) * h ** (5 / 7)
    assert h == pytest.approx((1 / (2 * np.sqrt(np.pi)) / (n * fourth(alpha))) ** 0.2, rel=1e-3)


def test_noise_of_numbers_without_spread_is_none():
    for numbers in ([5.0], [5.0] * 9, [5.0] * 9 + [6.0]):
        noise = Noise.of(np.array(numbers), "sheather-jones")
        drawn = noise.add(np.array(numbers), np.random.default_rng(1))
        assert drawn.tolist() == numbers


def test_a_users_own_method_is_called_with_codes():
    class Mode:
        def fit(self, response, predictors, rng):
            self.code = int(np.bincount(response.codes).argmax())
            self.response = response
            return self

        has_likelihood = False

        def draw(self, predictors, rng):
            n = predictors[0].codes.size
            like = self.response
            return Column(np.full(n, self.code, dtype=np.int32), like.kind, like.n_levels, like.values)

    original = pa.table({"x": [1, 2, 3] * 10, "y": ["a", "b", "b"] * 10, "z": [0.5, 0.5, 2.0] * 10, "w": [0, 1] * 15})
    copy = CartSynthesizer(methods={"w": Mode(), "y": Mode()}, predictors={"y": ["x"]}).fit(original).sample(seed=1)
    assert set(copy["y"].to_pylist()) <= {"a", "b"}
    assert len(set(copy["w"].to_pylist())) == 1


def test_every_named_method_makes_a_file(population):
    from unveil.synthesis import METHODS

    for name in METHODS:
        numeric = name in ("norm", "normrank", "pmm")
        methods = {"income": name, "depress": name} if numeric else {"sex": name}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            fitted = CartSynthesizer(methods=methods, visit_order=population.column_names[::-1]).fit(population)
        assert fitted.sample(50, seed=1).schema == population.schema
        assert not set(methods) & set(fitted.trees())


def test_methods_for_the_whole_file_are_found_by_name():
    original = pa.table({"x": [0, 1, 1] * 20, "y": ["a", "b", "b"] * 20})
    releases = synthesize(original, method="catall", m=2, k=30, seed=1, prior=0)
    assert [release.num_rows for release in releases] == [30, 30]
    with pytest.raises(CallError, match="minbucket"):
        synthesize(original, method="catall", minbucket=5)
    with pytest.raises(CallError, match="not both"):
        synthesize(original, method="ctree", methods="cart")


def test_lost_dependence_is_told_and_can_be_kept():
    rng = np.random.default_rng(1)
    n = 20_000
    x = rng.integers(0, 4, n)
    share = np.array([0.02, 0.09, 0.23, 0.42])
    original = pa.table({"x": np.array(list("abcd"))[x], "y": np.where(rng.random(n) < share[x], "yes", "no")})
    with pytest.warns(UnveilWarning, match=r"removed dependence that the data hold: y \(1\d %\) of the entropy"):
        collapsed = CartSynthesizer().fit(original)

    def shares(table):
        yes, by = np.array(table["y"].to_pylist()) == "yes", np.array(table["x"].to_pylist())
        return np.array([yes[by == level].mean() for level in "abcd"])

    kept = CartSynthesizer(collapse=False).fit(original)
    assert collapsed.leaves()["y"] == 1
    assert collapsed.dependence()["y"].leaves_removed == 3
    assert 0.1 < collapsed.dependence()["y"].bits_lost < 0.14
    found = shares(collapsed.sample(100_000, seed=1))
    assert ((found > 0.17) & (found < 0.205)).all()
    observed = shares(original)
    np.testing.assert_allclose(shares(kept.sample(100_000, seed=1)), observed, atol=0.01)
    assert kept.dependence()["y"].bits_lost == 0


def test_noise_is_not_called_lost_dependence():
    rng = np.random.default_rng(1)
    columns = {f"x{i}": np.array(list("abcdefgh"))[rng.integers(0, 8, 4000)] for i in range(4)}
    original = pa.table(columns | {"z": rng.integers(0, 100, 4000), "y": np.where(rng.random(4000) < 0.2, "yes", "no")})
    fitted = CartSynthesizer(predictors={name: [] for name in (*columns, "z")}).fit(original)
    assert fitted.dependence()["y"].bits_lost > 0.1  # the plug-in estimate is large


def test_progress_is_told_from_the_calling_thread(population):
    told = []
    CartSynthesizer(progress=lambda *args: told.append((*args, threading.get_ident()))).fit(population).sample(
        5, m=2, seed=1
    )
    assert {thread for *_, thread in told} == {threading.get_ident()}
    fits = [(done, total) for done, total, name, _ in told if not name.startswith("copy")]
    assert [done for done, _ in fits] == list(range(1, fits[0][1] + 1))
    assert sum(name.startswith("copy") for _, _, name, _ in told) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_proper_copies_tell_of_every_fit(population, n_jobs):
    told = []
    fitted = CartSynthesizer(
        proper=True, n_jobs=n_jobs, progress=lambda *args: told.append((*args, threading.get_ident()))
    )
    fitted.fit(population)
    fits = len(told)
    assert fits > 1
    told.clear()
    fitted.sample(5, m=3, seed=1)
    assert [(done, total) for done, total, _, _ in told] == [(i + 1, 3 * fits) for i in range(3 * fits)]
    assert {thread for *_, thread in told} == {threading.get_ident()}
    names = [name for _, _, name, _ in told]
    assert len(set(names)) == 3 * fits
    assert all(name.endswith(f" of copy {i // fits + 1}") for i, name in enumerate(names))


def test_it_says_what_to_do_next(population):
    assert "call fit" in repr(CartSynthesizer())
    assert "call sample" in repr(CartSynthesizer().fit(population))
