"""Values that differ in storage but mean the same: one level in tables, synthesis, likelihood and posterior alike."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.files.write import write_table
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.encoding import encode
from unveil.synthesis.methods.whole_file import CatallSynthesizer

NANS = np.array([0x7FF8000000000001, 0xFFF8000000000002], dtype=np.uint64).view(np.float64)
DAY = datetime.datetime(2020, 1, 5)

# Two spellings that go with two levels of the other column, what else the column holds, and its number of levels.
COLUMNS = {
    "one unit apart": (pa.float64(), [0.9, 0.8999999999999999], [0.5], 2),
    "several units apart": (pa.float64(), [0.3, 0.1 + 0.1 + 0.1], [0.30000000000000010, 0.7], 2),
    "beside a whole number": (pa.float64(), [3.0, 2.9999999999999996], [0.1], 2),
    "negative": (pa.float64(), [-0.9, -0.8999999999999999], [0.5], 2),
    "tiny": (pa.float64(), [9e-300, 8.999999999999999e-300], [5e-324, 1e-323, 0.0], 4),
    "zeros": (pa.float64(), [0.0, -0.0], [1.5], 2),
    "gaps": (pa.float64(), NANS.tolist(), [1.5, 2.5], 3),
    "infinite": (pa.float64(), [np.inf, -np.inf], [1.5], 3),
    "single precision": (pa.float32(), [0.1, 0.9], [0.2], 3),
    "whole beyond 2^53": (pa.float64(), [2.0**53, 2.0**53 + 2], [0.5], 3),
    "integers beyond 2^53": (pa.int64(), [2**53, 2**53 + 1], [2**53 + 2], 3),
    "integers beyond 2^63": (pa.uint64(), [2**63, 2**63 + 1], [7], 3),
    "decimals": (pa.decimal128(3, 2), [Decimal("0.10"), Decimal("0.90")], [Decimal("1.30")], 3),
    "decimals of 17 digits": (
        pa.decimal128(18, 17), [Decimal("0.12345678901234567"), Decimal("0.12345678901234569")], [Decimal("1.3")], 3,
    ),
    "decimals of 20 digits": (
        pa.decimal128(21, 20), [Decimal("0.12345678901234567891"), Decimal("0.12345678901234567892")],
        [Decimal("1.3")], 3,
    ),
    "categories of numbers": (pa.dictionary(pa.int32(), pa.float64()), [0.9, 0.8999999999999999], [0.5], 2),
    "nanoseconds": (pa.timestamp("ns"), [0, 12345], [86_400 * 10**9], 3),
    "midnights": (pa.timestamp("ns"), [DAY, DAY - datetime.timedelta(1)], [DAY + datetime.timedelta(1)], 3),
    "with a zone": (pa.timestamp("ms", "Europe/Vienna"), [DAY, DAY + datetime.timedelta(hours=3)], [DAY], 2),
    "times of a day": (pa.time32("ms"), [1, 3], [333], 3),
    "durations": (pa.duration("ms"), [1, 3], [333], 3),
    "texts": (pa.string(), ["a", "a "], ["b"], None),
    "forms of a letter": (pa.string(), ["\u00e9", "e\u0301"], ["b"], None),
    "texts that read like numbers": (pa.string(), ["0.123456789012345678", "0.123456789012345679"], ["1"], 3),
}  # fmt: skip


@pytest.fixture(params=COLUMNS)
def case(request):
    kind, spellings, others, n_levels = COLUMNS[request.param]
    every = [*spellings, *others]
    x = [every[i % len(every)] for i in range(48)]
    groups = [f"g{i % len(every)}" if i % len(every) < len(spellings) else "else" for i in range(48)]
    return pa.table({"group": groups, "x": pa.array(x, kind), "y": [i % 2 for i in range(48)]}), n_levels


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_no_original_record_is_impossible(case):
    original, _ = case
    for synthesizer in (CartSynthesizer(minbucket=2, n_jobs=1), CatallSynthesizer(prior=0)):
        assert synthesizer.fit(original).log_prob(original).n_impossible == 0


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_the_levels_are_those_of_the_tables(case):
    original, n_levels = case
    column = unveil.Pair(original, original.slice(0)).column("x")
    found = encode(unveil.read(original))[1]
    assert found.n_levels == column.n_levels
    assert np.array_equal(found.codes == found.codes[:, None], column.original == column.original[:, None])
    if n_levels is not None:
        assert found.n_levels == n_levels


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_release_that_is_written_and_read_is_possible(case, ending, tmp_path: Path):
    original, _ = case
    for synthesizer in (CartSynthesizer(minbucket=2, n_jobs=1), CatallSynthesizer(prior=0)):
        release = synthesizer.fit(original).sample(200, seed=3)
        write_table(release, tmp_path / f"r.{ending}", overwrite=True)
        found = synthesizer.log_prob(tmp_path / f"r.{ending}")
        assert found.n_impossible == 0
        assert found.total == pytest.approx(synthesizer.log_prob(release).total, rel=1e-12)


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_the_posterior_does_not_call_the_release_impossible(case):
    original, _ = case
    synthesizer = CartSynthesizer(minbucket=2, n_jobs=1).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=1))
    risk = unveil.posterior(pair, synthesizer, target="y", structure="fixed")
    assert risk.left_out == {}


def test_the_likelihood_counts_both_spellings_together():
    """In g1 all ten records have .9, five in either spelling; a leaf for each level of group: the share is 1."""
    original = pa.table({"group": ["g"] * 10 + ["h"] * 10, "x": [0.9, 0.8999999999999999] * 5 + [0.5] * 10})
    fitted = CartSynthesizer(n_jobs=1).fit(original)
    log = fitted.log_prob(pa.table({"group": ["g", "g", "h"], "x": [0.8999999999999999, 0.9, 0.5]}))
    assert log.records == pytest.approx(np.log([0.5, 0.5, 0.5]))


@pytest.mark.parametrize("flavour", ["pandas", "polars"])
def test_other_frames_too(flavour):
    library = pytest.importorskip(flavour)
    columns = {"group": ["g", "h"] * 20, "x": [0.9, 0.8999999999999999] * 20, "f": [0.1, 0.2] * 20}
    original = library.DataFrame(columns)
    single = np.float32(columns["f"])
    original = original.assign(f=single) if flavour == "pandas" else original.with_columns(f=library.Series(single))
    fitted = CartSynthesizer(n_jobs=1).fit(original)
    assert fitted.log_prob(original).n_impossible == 0
    assert fitted.log_prob(fitted.sample(seed=1)).n_impossible == 0
