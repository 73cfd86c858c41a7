"""Synthesizers of others: what they are given, how they are called, and what is said of what they give back."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.files.write import write_table
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.any_synthesizer import Foreign, as_synthesizer, fitted_anew

KEYS = ["sex", "age"]


def people(n: int = 60, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex = rng.integers(2, size=n)
    return pa.table(
        {
            "sex": ["fm"[s] for s in sex],
            "age": pa.array(rng.integers(20, 25, size=n), pa.int16()),
            "ill": pa.array(rng.random(n) < 0.3 + 0.3 * sex),
            "paid": np.round(rng.normal(50, 9, size=n), 1),
        }
    )


def kind_of(frame: Any) -> str:
    return {"pyarrow": "arrow"}.get(name := type(frame).__module__.split(".")[0], name)


def as_columns(frame: Any) -> dict[str, np.ndarray]:
    source = unveil.read(frame)
    return {name: np.array(source.column(name).to_pylist(), dtype=object) for name in source.names}


class Base:
    """Draws whole records, and remembers what it was given."""

    given: ClassVar[list[Any]] = []  # shared by all copies, to be looked at

    def fit(self, frame: Any) -> Any:
        Base.given.append(frame)
        self.frame = frame
        self.columns = as_columns(frame)
        return self

    def drawn(self, n: int, seed: int | None = None) -> dict[str, list[Any]]:
        rows = np.random.default_rng(seed).integers(len(self.columns["sex"]), size=n)
        return {name: values[rows].tolist() for name, values in self.columns.items()}


class ReturnsItself(Base):
    def sample(self, n: int, seed: int) -> Any:
        return self.drawn(n, seed)


class ReturnsNothing(Base):
    def fit(self, frame: Any) -> None:
        super().fit(frame)

    def sample(self, n: int) -> pa.Table:
        return pa.table(self.drawn(n))


class ReturnsLosses(Base):
    """As networks do: a history, not a synthesizer."""

    def fit(self, frame: Any) -> list[float]:
        super().fit(frame)
        return [0.3, 0.2]

    def sample(self, num_rows: int = 10, batch_size: int = 5) -> Any:
        return pa.table(self.drawn(num_rows))


class ReturnsAnother(Base):
    def fit(self, frame: Any) -> ReturnsItself:
        return ReturnsItself().fit(frame)


class LikeSklearn(Base):
    def fit(self, X: Any, y: Any = None) -> LikeSklearn:
        return super().fit(X)

    def sample(self, n_samples: int = 1, random_state: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        drawn = self.drawn(n_samples, random_state)
        return np.array(list(map(tuple, zip(*drawn.values(), strict=True))), dtype=object), np.zeros(n_samples)


class RecordArray(Base):
    def sample(self, size: int) -> np.recarray:
        drawn = self.drawn(size)
        kinds = [("sex", "U1"), ("age", "i2"), ("ill", "?"), ("paid", "f8")]
        return np.array(list(zip(*drawn.values(), strict=True)), dtype=kinds).view(np.recarray)


class ManyAtOnce(Base):
    def sample(self, *args: int, **options: Any) -> list[Any]:
        return [pa.table(self.drawn(args[0]))]


class OtherOrder(Base):
    def sample(self, n: int) -> Any:
        return pa.table(dict(reversed(self.drawn(n).items())))


class Polars(Base):
    def sample(self, n: int) -> Any:
        return pytest.importorskip("polars").DataFrame(self.drawn(n))


class Pandas(Base):
    def sample(self, n: int) -> Any:
        frame = pytest.importorskip("pandas").DataFrame(self.drawn(n))
        return frame.set_index(np.arange(n)[::-1])


KINDS = [
    ReturnsItself, ReturnsNothing, ReturnsLosses, ReturnsAnother, LikeSklearn, RecordArray, ManyAtOnce, OtherOrder,
    Polars, Pandas,
]  # fmt: skip


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def synthesizer(request: pytest.FixtureRequest) -> Any:
    Base.given = []
    return request.param()


def test_it_is_fitted_and_drawn_from(synthesizer: Any) -> None:
    source = unveil.read(people())
    release = fitted_anew(as_synthesizer(synthesizer), source, seed=1).sample(31, seed=2)
    assert (release.num_rows, release.names) == (31, source.names)
    real = set(zip(*as_columns(people()).values(), strict=True))
    assert set(zip(*(release.column(name).to_pylist() for name in source.names), strict=True)) <= real
    assert not hasattr(synthesizer, "columns"), "the object itself stays as it was"


@pytest.mark.filterwarnings("ignore:the synthesizer has no likelihood")
def test_every_measure_takes_it_and_hands_it_frames_of_the_users_kind(synthesizer: Any, make_frame: Any, flavour: str):
    original = make_frame(people())
    pair = unveil.Pair(original, make_frame(people(seed=2)))
    unveil.posterior(pair, synthesizer, target="ill", records=[3], replicates=2)
    unveil.compare(original, {"it": synthesizer}, KEYS, targets="ill", m=1, measures=["attribute"])
    unveil.membership_synthesizer(original, synthesizer, repeats=1, attacks="dcr")
    unveil.rapid_synthesizer_cv(original, synthesizer, KEYS, target="ill", attacker="cart", folds=2)
    assert len(Base.given) > 5
    assert {kind_of(frame) for frame in Base.given} == {flavour}
    for frame in Base.given:
        assert list(getattr(frame, "column_names", None) or frame.columns) == ["sex", "age", "ill", "paid"]
        if flavour == "pandas":
            assert frame.dtypes.equals(original.dtypes)
        else:
            assert frame.schema == original.schema


@pytest.mark.filterwarnings("ignore:the synthesizer has no likelihood")
@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_a_whole_assessment_with_it() -> None:
    pair = unveil.Pair(people(), people(seed=2))
    content = unveil.assess(
        pair, KEYS, targets=["ill"], synthesizer=ReturnsNothing(), measures=["identity", "posterior", "membership"],
        budget=20,
    ).to_dict()  # fmt: skip
    assert {part["name"]: part["status"] for part in content["parts"]}["membership"] == "done"
    assert content["scenario"]["synthesizer"]["class"] == "ReturnsNothing"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_of_a_file_it_gets_what_is_installed(ending: str, tmp_path: Path) -> None:
    Base.given = []
    write_table(people(), tmp_path / f"people.{ending}")
    expected = next((name for name in ("pandas", "polars") if find_spec(name)), "arrow")
    fitted_anew(as_synthesizer(ReturnsItself()), unveil.read(tmp_path / f"people.{ending}"), seed=1)
    unveil.membership_synthesizer(tmp_path / f"people.{ending}", ReturnsItself(), repeats=1, attacks="dcr")
    assert {kind_of(frame) for frame in Base.given} == {expected}
    if expected == "pandas":
        assert [str(kind) for kind in Base.given[0].dtypes] == [
            str(kind) for kind in people().cast(unveil_types()).to_pandas().dtypes
        ]


def unveil_types() -> pa.Schema:
    """What a file of text says: whole numbers of no particular size."""
    return pa.schema([("sex", pa.string()), ("age", pa.int64()), ("ill", pa.bool_()), ("paid", pa.float64())])


def test_of_pandas_every_type_comes_back() -> None:
    pd = pytest.importorskip("pandas")
    original = pd.DataFrame(
        {
            "text": ["a", None, "b"],
            "category": pd.Categorical(["x", "y", "x"], categories=["y", "x", "unused"]),
            "ordered": pd.Categorical([1, 2, 1], categories=[1, 2, 3], ordered=True),
            "small": np.array([1, 2, 3], np.int8),
            "nullable": pd.array([1, None, 2**60 + 1], "Int64"),
            "flag": [True, False, True],
            "maybe": pd.array([True, None, False], "boolean"),
            "single": np.array([0.1, 0.2, np.nan], np.float32),
            "day": pd.to_datetime(["2020-01-05", None, "2021-03-01"]),
            "zone": pd.to_datetime(["2020-01-05", None, "2021-03-01"]).tz_localize("Europe/Vienna"),
            "span": pd.to_timedelta([1, 2, None], unit="s"),
            7: [1.5, 2.5, None],
        }
    )
    pd.testing.assert_frame_equal(unveil.read(original).to_frame(), original)


def test_of_polars_every_type_comes_back() -> None:
    pl = pytest.importorskip("polars")
    original = pl.DataFrame(
        {
            "text": ["a", None, "b"],
            "category": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "listed": pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "x", "unused"])),
            "small": pl.Series([1, None, 3], dtype=pl.UInt8),
            "single": pl.Series([0.1, 0.2, None], dtype=pl.Float32),
            "price": pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(10, 2)),
            "flag": [True, None, False],
            "day": pl.Series([0, 1, None]).cast(pl.Date),
            "moment": pl.Series([0, 1, None]).cast(pl.Datetime("us", "UTC")),
            "span": pl.Series([0, 1, None]).cast(pl.Duration("ms")),
        }
    )
    from polars.testing import assert_frame_equal

    assert_frame_equal(unveil.read(original).to_frame(), original)


def test_of_arrow_every_type_comes_back() -> None:
    original = pa.table(
        {
            "text": pa.array(["a", None, "b"], pa.large_string()),
            "dictionary": pa.array(["x", "y", None]).dictionary_encode(),
            "small": pa.array([1, None, 3], pa.int8()),
            "single": pa.array([0.1, 0.2, None], pa.float32()),
            "price": pa.array(["1.50", "2.25", None]).cast(pa.decimal128(10, 2)),
            "day": pa.array([0, 1, None], pa.date32()),
            "moment": pa.array([0, 1, None], pa.timestamp("ms", "UTC")),
        }
    )
    made = unveil.read(original).to_frame()
    assert made.schema == original.schema
    assert made.to_pylist() == original.to_pylist()


class Known(Base):
    """Each value by itself with the shares of the original: a likelihood that can be worked out by hand."""

    def sample(self, n: int, seed: int) -> Any:
        return self.drawn(n, seed)

    def log_prob(self, frame: Any) -> Any:
        Base.given.append(frame)
        released = as_columns(frame)
        logs = np.zeros(len(released["a"]))
        with np.errstate(divide="ignore"):
            for name, values in released.items():
                logs += np.log([np.mean(self.columns[name] == value) for value in values])
        return self.said(logs)

    def said(self, logs: np.ndarray) -> Any:
        return logs


class InAll(Known):
    def said(self, logs: np.ndarray) -> Any:
        return float(logs.sum())


class AsPair(Known):
    def said(self, logs: np.ndarray) -> Any:
        return int(np.isneginf(logs).sum()), float(logs[~np.isneginf(logs)].sum())


@pytest.mark.parametrize("kind", [Known, InAll, AsPair])
def test_its_own_likelihood_is_used(kind: type, make_frame: Any, flavour: str) -> None:
    """Record 3 is a 0 beside 0, 0, 1; released are 0 and 1.

    If it is 0: 3/4 * 1/4. If it is 1: 2/4 * 2/4. So p(0) = 3/16 / (3/16 + 4/16) = 3/7.
    """
    Base.given = []
    original, release = make_frame({"a": [0, 0, 1, 0]}), make_frame({"a": [0, 1]})
    risk = unveil.posterior(unveil.Pair(original, release), kind(), target="a", records=[3])
    assert risk.distribution(3) == pytest.approx({0: 3 / 7, 1: 4 / 7})
    assert {kind_of(frame) for frame in Base.given} == {flavour}


class Wrong(Base):
    """A synthesizer with something wrong about it."""

    def __init__(self, made: Any):
        self.made = made

    def sample(self, n: int) -> Any:
        return self.made(self, n)


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (lambda s, n: {k: v for k, v in s.drawn(n).items() if k != "age"}, "what it returned lacks 'age'"),
        (lambda s, n: s.drawn(n) | {"index": list(range(n))}, "has 'index', which the original has not"),
        (lambda s, n: s.drawn(n - 1), "it returned 19 records in place of 20"),
        (lambda s, n: s.drawn(0), "it returned 0 records in place of 20"),
        (lambda s, n: s.drawn(n) | {"age": ["old"] * n}, "column 'age' holds text, and the original numbers"),
        (lambda s, n: s.drawn(n) | {"sex": [0] * n}, "column 'sex' holds numbers, and the original text"),
        (lambda s, n: s.drawn(n) | {"ill": [0.2] * n}, "column 'ill' holds numbers, and the original truth values"),
        (lambda s, n: s.drawn(n) | {"sex": [["f"]] * n}, "column 'sex' holds .*, not one value per record"),
        (lambda s, n: s.drawn(n) | {"sex": ["f"]}, "it returned dict; return a frame"),
        (lambda s, n: None, "it returned NoneType; return a frame"),
        (lambda s, n: "a,b", "it returned str; return a frame"),
        (lambda s, n: [], "it returned list; return a frame"),
        (lambda s, n: [[1, 2], [3, 4]], "it returned list; return a frame"),
        (lambda s, n: np.zeros((n, 3)), r"it returned ndarray of shape \(20, 3\)"),
        (lambda s, n: np.zeros((n, 4)), "column 'sex' holds numbers, and the original text"),
        (lambda s, n: 1 / 0, "sample failed with ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_wrong_with_what_it_gives_back_is_said_with_its_name(made: Any, complaint: str) -> None:
    with pytest.raises(unveil.DataError, match=f"synthesizer 'Wrong'.*{complaint}"):
        fitted_anew(as_synthesizer(Wrong(made)), unveil.read(people()), seed=1).sample(20, seed=1)


class FailsToFit:
    def fit(self, frame: Any) -> None:
        raise KeyError("age\nof person")

    def sample(self, n: int) -> None: ...


class BadLikelihood(Base):
    def log_prob(self, frame: Any) -> Any:
        return {"log": 1}


class NotANumber(Base):
    def log_prob(self, frame: Any) -> Any:
        return float("nan")


class OneTooMany(Base):
    def log_prob(self, frame: Any) -> Any:
        return np.full(len(unveil.read(frame).column("ill")) + 1, -1.0)


class ByCandidate(Base):
    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def delta_log_prob(self, record: int, candidates: Any) -> Any:
        return self.made(len(candidates))


@pytest.mark.parametrize(
    "made",
    [
        lambda k: 1.0,
        lambda k: np.zeros(k),
        lambda k: (0, np.zeros(k + 1)),
        lambda k: (0, -1.0),
        lambda k: (np.zeros(1 + k), np.zeros(k)),
        lambda k: (0, np.full(k, np.nan)),
        lambda k: (0, np.full(k, np.inf)),
        lambda k: (-1, np.zeros(k)),
        lambda k: (0.5, np.zeros(k)),
        lambda k: (0, ["a"] * k),
    ],
)
def test_likelihoods_that_are_not_one_for_every_candidate(made: Any) -> None:
    pair = unveil.Pair(people(), people(seed=2))
    with pytest.raises(unveil.DataError, match=r"'ByCandidate': delta_log_prob returned .* one number for every cand"):
        unveil.posterior(pair, ByCandidate(made), target="ill", records=[1])


def test_a_log_likelihood_of_minus_infinity_rules_a_candidate_out() -> None:
    pair = unveil.Pair(people(), people(seed=2))
    found = unveil.posterior(
        pair, ByCandidate(lambda k: (0, np.append(np.full(k - 1, -np.inf), 0.0))), target="ill", records="all"
    )
    assert found.n_values == 2
    assert set(unveil.read(found.records()).column("possible_worlds").to_pylist()) == {1}


@pytest.mark.parametrize(
    ("synthesizer", "complaint"),
    [
        (OneTooMany(), "synthesizer 'OneTooMany': log_prob returned ndarray"),
        (FailsToFit(), "synthesizer 'FailsToFit': fit failed with KeyError: 'age.*nof person'"),
        (BadLikelihood(), "synthesizer 'BadLikelihood': log_prob returned dict"),
        (NotANumber(), "synthesizer 'NotANumber': log_prob returned float"),
    ],
)
def test_other_failures_are_said_with_its_name(synthesizer: Any, complaint: str) -> None:
    with pytest.raises(unveil.DataError, match=complaint):
        unveil.posterior(unveil.Pair(people(), people(seed=2)), synthesizer, target="ill", records=[1])


def test_what_is_no_synthesizer() -> None:
    for wrong, complaint in ((3, "not int"), ("cart", "not str"), (ReturnsItself, "is a class; give an object of it")):
        with pytest.raises(unveil.CallError, match=complaint):
            as_synthesizer(wrong)


def test_functions() -> None:
    seen: list[tuple[Any, ...]] = []

    def plain(frame: Any) -> Any:
        seen.append((kind_of(frame),))
        return frame

    def with_all(frame: Any, size: int, *, seed: int) -> Any:
        seen.append((size, seed))
        return frame.slice(0, size)

    for function in (plain, with_all):
        unveil.membership_synthesizer(people(), function, repeats=1, attacks="dcr")
        unveil.compare(people(), {"f": function}, KEYS, targets="ill", m=1, measures=["attribute"])
    assert seen[0] == ("arrow",)
    assert seen[3][0] == 30
    with pytest.raises(unveil.DataError, match="synthesizer 'broken': the function failed with ValueError: no"):
        unveil.membership_synthesizer(people(), broken, repeats=1)


def broken(frame: Any) -> Any:
    raise ValueError("no")


def test_what_it_is_given_is_its_own_to_change(make_frame: Any, flavour: str) -> None:
    class Scribbler(ReturnsItself):
        def fit(self, frame: Any) -> Any:
            if flavour == "pandas":
                frame.loc[0, "paid"] = -1.0
                frame["age"] += 100
                frame["new"] = 1
            return super().fit(people())

    original = make_frame(people())
    fitted_anew(as_synthesizer(Scribbler()), unveil.read(original), seed=1)
    assert unveil.read(original).column("paid").to_pylist() == people().column("paid").to_pylist()
    assert list(getattr(original, "column_names", None) or original.columns) == people().column_names


def test_a_subclass_of_ours_that_draws_in_its_own_way_is_not_taken_for_ours() -> None:
    class Noisy(CartSynthesizer):
        def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
            return super().sample(n, m=m, seed=seed)

    assert isinstance(as_synthesizer(Noisy(n_jobs=1)), Foreign)
    assert not isinstance(as_synthesizer(CartSynthesizer(n_jobs=1)), Foreign)


def test_a_subclass_of_ours_with_a_fit_of_its_own_gets_frames_too() -> None:
    Base.given = []

    class Mine(CartSynthesizer):
        def fit(self, original: Any, *, seed: int | None = None) -> CartSynthesizer:
            Base.given.append(original)
            return super().fit(original, seed=seed)

    made = as_synthesizer(Mine(n_jobs=1))
    assert isinstance(made, Foreign)
    assert fitted_anew(made, unveil.read(people()), seed=1).sample(5, seed=1).num_rows == 5
    assert {kind_of(frame) for frame in Base.given} == {"arrow"}


def test_what_cannot_be_copied_is_fitted_itself() -> None:
    class Holds(ReturnsItself):
        def __init__(self) -> None:
            self.stream = sys.stdout

        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("cannot pickle")

        __copy__ = __reduce_ex__ = __deepcopy__

    one = Holds()
    assert fitted_anew(as_synthesizer(one), unveil.read(people()), seed=1).sample(4, seed=1).num_rows == 4
    assert hasattr(one, "columns")


class Permuted:
    """The records that it was fitted to, in another order."""

    def fit(self, frame: Any) -> None:
        self.given = unveil.read(frame)

    def generate(self, k: int, seed: int) -> Any:
        return self.given.part(np.random.default_rng(seed).permutation(self.given.num_rows)).to_frame()


ODD = pa.table(
    {
        "sex": pa.array(["f", "m", None, "f"] * 10).dictionary_encode(),
        "grade": pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1] * 10, pa.int8()), ["low", "mid", "high"],
                                                ordered=True),
        "income": pa.array([1200, -8, None, 3000] * 10, pa.int32()),
        "height": [1.61, None, 1.8, -9.0] * 10,
        "ill": [True, False, None, True] * 10,
        "born": pa.array([0, 7000, None, 12000] * 10, pa.date32()),
        "code": ["01", "1", "", None] * 10,
    }
)  # fmt: skip


def test_gaps_special_codes_and_types_survive_both_ways(make_frame: Any, flavour: str) -> None:
    original = make_frame(ODD)
    made = unveil.synthesize(original, method=Permuted(), m=1, seed=1)
    assert kind_of(made) == flavour
    if flavour == "pandas":
        assert made.dtypes.equals(original.dtypes)
    elif flavour == "polars":
        assert made.schema == original.schema
    else:
        assert made.schema == original.schema
        assert made.column("grade").combine_chunks().dictionary.to_pylist() == ["low", "mid", "high"]
    before, after = (sorted(map(str, zip(*as_columns(one).values(), strict=True))) for one in (original, made))
    assert before == after


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_records_that_are_only_permuted_give_away_what_copies_do(make_frame: Any) -> None:
    """Whatever a measure does with a synthesizer, the release of this one is the original, in every kind of value."""
    original, codes = make_frame(ODD), {"income": -8, "height": -9}
    pair = unveil.Pair(original, unveil.synthesize(original, method=Permuted(), m=1), special_codes=codes)
    keys = ["sex", "grade", "born"]
    compared = unveil.compare(original, {"permuted": Permuted(), "copy": original}, keys, targets="income", m=1,
                              special_codes=codes)  # fmt: skip
    assert compared.points[0].risks == compared.points[1].risks
    found = unveil.posterior(pair, Permuted(), target="ill", records=[0], replicates=2)
    assert found.distribution(0)[True] == max(found.distribution(0).values())
    content = unveil.assess(pair, keys, targets=["income"], synthesizer=Permuted(), measures=["identity", "membership"],
                            budget=5).to_dict()  # fmt: skip
    assert {part["name"]: part["status"] for part in content["parts"]}["membership"] == "done"


class OnlyFits:
    def fit(self, frame: Any) -> None: ...


def test_what_it_lacks_is_said_with_its_name() -> None:
    pair = unveil.Pair(people(), people(seed=2))
    for call in (
        lambda: unveil.synthesize(people(), method=OnlyFits(), m=1),
        lambda: unveil.compare(people(), {"it": OnlyFits()}, KEYS, targets="ill", m=1),
        lambda: unveil.membership_synthesizer(people(), OnlyFits(), repeats=1),
        lambda: unveil.rapid_synthesizer_cv(people(), OnlyFits(), KEYS, target="ill"),
        lambda: unveil.posterior(pair, OnlyFits(), target="ill", records=[3]),
        lambda: unveil.privacy_loss(people(), OnlyFits()),
        lambda: unveil.exact_membership(pair, OnlyFits(), candidates=people(seed=3)),
    ):
        with pytest.raises(unveil.UnveilError, match="OnlyFits") as caught:
            call()
        assert "has no" in str(caught.value) or "has neither" in str(caught.value)


class OnlyDraws:
    def sample(self, n: int) -> None: ...


def test_what_draws_and_cannot_be_fitted() -> None:
    with pytest.raises(unveil.CallError, match="not OnlyDraws, which has no fit"):
        as_synthesizer(OnlyDraws())


def test_it_may_ask_for_one_kind_of_frame(make_frame: Any) -> None:
    class OfArrow(ReturnsItself):
        flavour = "arrow"

    Base.given = []
    fitted_anew(as_synthesizer(OfArrow()), unveil.read(make_frame(people())), seed=1)
    assert [kind_of(frame) for frame in Base.given] == ["arrow"]


def test_what_it_prints_does_not_stand_among_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    class Talks(ReturnsItself):
        def fit(self, frame: Any) -> Any:
            print("epoch 1")
            return super().fit(frame)

    unveil.synthesize(people(), method=Talks(), m=1)
    assert capsys.readouterr() == ("", "epoch 1\n")
