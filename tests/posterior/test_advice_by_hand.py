"""What advice and results say, with figures worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import advice
from unveil._posterior.advice import Advice, AdviceRow, _Asker, _protections, advise
from unveil._posterior.checked_options import _known
from unveil._posterior.possible_values import make_worlds
from unveil._posterior.posterior_of_records import Posteriors
from unveil._posterior.protections import merged, noised
from unveil._posterior.simulated import SimulatedLikelihood, _log_ratio
from unveil._posterior.summary import measures, summary
from unveil.errors import CallError
from unveil.synthesis import CartSynthesizer


def posteriors(posterior: list[float], prior: list[float]) -> Posteriors:
    n, zeros = len(posterior), np.zeros(len(posterior), dtype=np.int64)
    return Posteriors(
        members=np.arange(n), truth=zeros, prior=np.array(prior), posterior=np.array(posterior), likeliest=zeros,
        likeliest_probability=np.array(posterior), possible_worlds=zeros, must_fill=np.arange(n) == 0, part=zeros,
        parts=("all",), probabilities=None,
    )  # fmt: skip


def test_measures_of_records_by_hand() -> None:
    """Posteriors of 1/2, 1, 0.9 and 1/4, all from 1/2: gains of 0, 1, 0.8 and -1/2."""
    records = posteriors([0.5, 1.0, 0.9, 0.25], [0.5] * 4)
    assert records.normalised_gain == pytest.approx([0, 1, 0.8, -0.5])
    assert records.gain_bits == pytest.approx([0, 1, np.log2(1.8), -1])
    assert measures(records) == pytest.approx(
        {
            "mean_posterior": 2.65 / 4,
            "mean_prior": 0.5,
            # Above a half are two, above 0.9 is one: what is just that is not above it.
            "share_above_half": 0.5,
            "share_above_90": 0.25,
            "share_certain": 0.25,
            "expected_gain_bits": np.log2(1.8) / 4,
            "mean_normalised_gain": 1.3 / 4,
            "share_must_fill": 0.25,
        }
    )
    assert posteriors([1.0, 0.5], [1.0, 1.0]).normalised_gain.tolist() == [0, 0]


def test_histograms_of_gains_have_steps_of_a_twentieth() -> None:
    found = summary(posteriors([0.5, 1.0, 0.9, 0.49], [0.5] * 4))
    gains = found["normalised_gain_histogram"]
    # The least gain is -0.02, and one step below 0 holds it.
    assert gains["edges"] == pytest.approx([i / 20 for i in range(-1, 21)])
    assert [i for i, n in enumerate(gains["counts"]) if n] == [0, 1, 17, 20]
    assert found["gain_bits_histogram"]["counts"][0] == 2
    assert len(found["gain_bits_histogram"]["counts"]) == 20
    assert list(found["normalised_gain_quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99"]
    assert summary(posteriors([0.5, 0.5], [0.5] * 2))["normalised_gain_histogram"]["edges"][0] == 0
    ruled_out = summary(posteriors([0.0, 0.5], [0.5] * 2))
    assert (ruled_out["n_truth_ruled_out"], ruled_out["expected_gain_bits"]) == (1, None)


def test_who_stays_at_risk() -> None:
    """Gains of 0.8, 0 and 0.3 above a threshold of 0.3, and of somebody who was certain beforehand: one of four."""
    risk: Any = SimpleNamespace(structures=("fixed", "exact"))
    asker = _Asker(risk, np.arange(4), "uniform", 0.3)
    prior = np.array([0.5, 0.5, 0.5, 1.0])
    strongest = np.array([0.9, 0.5, 0.65, 1.0])
    row = asker._figures("m", "1", {"fixed": np.full(4, 0.5), "exact": strongest}, prior)
    assert row.mean_posterior == {"fixed": 0.5, "exact": pytest.approx(3.05 / 4)}
    assert (row.mean_prior, row.still_at_risk, row.share_certain) == (0.625, 0.25, 0.25)
    lower = asker._figures("m", "1", {"exact": np.array([0.1, 0.8, 0.9, 0.9])}, prior)
    assert (lower.still_at_risk, lower.share_certain) == (0.5, 0)


def test_settings_are_refused_for_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [SimpleNamespace(variable=SimpleNamespace(name=name)) for name in ("a", "t", "u")]
    synthesizer: Any = SimpleNamespace(plans=plans)
    monkeypatch.setattr(advice, "refusal", lambda _, names: "it branches" if names == ["t", "u"] else None)
    for walked, known, refused in ((True, ("a",), True), (True, ("a", "u"), False), (False, ("a",), False)):
        asker = _Asker(SimpleNamespace(walked=walked, known=known), np.arange(1), "uniform", 0.3)  # type: ignore[arg-type]
        assert asker._refused("cp", "0.1", synthesizer) is refused
        assert asker.left_out == (["cp 0.1, as it branches"] if refused else [])


def test_advice_in_words() -> None:
    rows = (
        AdviceRow("as released", "", {"exact": 0.75}, 0.25, 1.0, 0.5),
        AdviceRow("m", "1", {"exact": 0.5}, 0.25, 0.125, 0.0),
    )
    lines = str(Advice(8, 8, 0.3, rows, ("cp 0.1, as it is not walked",))).splitlines()
    assert lines[0] == "8 records at risk (normalised gain above 0.3), all worked out anew"
    assert ["as", "released", "75.0", "100.0", "50.0"] in [line.split() for line in lines]
    assert ["m", "1", "50.0", "12.5", "0.0"] in [line.split() for line in lines]
    assert lines[-1] == "Not worked out: cp 0.1, as it is not walked."
    assert "above 0.3), 5 worked out anew" in str(Advice(8, 5, 0.3, rows))
    assert "beforehand 25.0 %" in " ".join(lines)


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0] * 10, "t": ["x", "y"] * 20})
    return unveil.Pair(table, [table.slice(0), table.slice(3)])


def test_as_many_releases_as_there_are_can_be_tried(pair: unveil.Pair) -> None:
    records: Any = SimpleNamespace(members=np.arange(5), normalised_gain=np.array([0.4, 0.3, 0.2, 0.0, 1.0]))
    risk: Any = SimpleNamespace(posteriors=lambda: records)
    for m in ([3], [0], [1, 3]):
        with pytest.raises(CallError, match=f"m: there are 2 releases, not {m[-1]}"):
            advise(pair, CartSynthesizer(), risk, m=m)
    with pytest.raises(CallError, match=r"no record has a normalised gain above 1\.0"):
        advise(pair, CartSynthesizer(), risk, threshold=1.0)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_shares_that_are_protected_lie_between_0_and_1(pair: unveil.Pair, share: float) -> None:
    column, synthesizer = pair.column("a"), CartSynthesizer()
    for top, noise, option in (([share], [], "top"), ([], [share], "noise")):
        with pytest.raises(CallError, match=f"{option}: shares lie between 0 and 1"):
            _protections(column, synthesizer, [], top, noise, 1)
    found = _protections(column, synthesizer, [20], [0.25], [0.5], 1)
    assert [one.setting for one in found] == ["merged levels", "top coding", "noise"]


def test_what_changes_nothing_protects_nothing(pair: unveil.Pair) -> None:
    column = pair.column("a")
    # Each of four amounts is on ten records.
    assert [merged(column, least, []).changes for least in (1, 10, 11)] == [False, False, True]
    assert noised(column, 0.1, 1).changes


def test_what_is_known_are_other_columns_of_the_file(pair: unveil.Pair) -> None:
    assert _known(pair, "all", ["t"]) == ("a",)
    assert _known(pair, ["a"], ["t"]) == ("a",)
    assert _known(pair, [], ["t"]) == ()
    for known, said in (
        (["b"], "has no column 'b'"),
        (["t"], "cannot be known and the target"),
        ("a", "'all' or a list"),
    ):
        with pytest.raises(CallError) as caught:
            _known(pair, known, ["t"])
        assert said in str(caught.value)


def test_worlds_are_numbered_and_the_truth_is_one_of_them_or_none() -> None:
    """Levels 1 and 2 of a, all three of b: of the records (0, 1), (1, 2), (2, 0) the first is in no world."""
    sequence: Any = SimpleNamespace(
        n=3, variables={name: SimpleNamespace(n_levels=3) for name in "ab"},
        original={"a": np.array([0, 1, 2]), "b": np.array([1, 2, 0])},
    )  # fmt: skip
    worlds = make_worlds(sequence, ["a", "b"], {"a": np.array([1, 2], dtype=np.int32)})
    assert worlds.truth.tolist() == [-1, 2, 3]
    alone = make_worlds(sequence, ["b"], {"b": np.array([2], dtype=np.int32)})
    assert alone.truth.tolist() == [-1, 0, -1]
    too_many: Any = {"a": range(2**31), "b": range(2**31)}
    with pytest.raises(CallError, match="too many combinations of values"):
        make_worlds(sequence, ["a", "b"], too_many)


def test_simulated_files_count_by_their_size() -> None:
    """Two releases of 100 and 50 records are three files of the simulated size of 50."""
    counts = np.array([[[2.0, 1.0], [4.0, 1.0]], [[1.0, 5.0], [1.0, 5.0]]])
    likelihood = SimulatedLikelihood.__new__(SimulatedLikelihood)
    likelihood.__dict__.update(
        n_worlds=2, seed=1, replicates=2, size=50, releases=(0, 1), errors={}, names=(),
        altered=SimpleNamespace(pair=SimpleNamespace(n_synthetic=(100, 50))),
        _simulate=lambda record: counts, _released=lambda release: {},
        _counts=lambda record, levels: np.array([4.0, 6.0]),
    )  # fmt: skip
    (step,) = likelihood.terms(np.array([0]), 0, 2)
    assert step.log[0] == pytest.approx(_log_ratio(counts, np.array([8.0, 12.0]), 3.0))
    assert likelihood.errors[0].shape[1:] == (2,)
    with pytest.raises(CallError, match="too many worlds to simulate"):
        likelihood.terms(np.array([0]), 0, 1)
