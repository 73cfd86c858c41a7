import csv
from collections import Counter

import numpy as np
import pyarrow as pa

from unveil.simulate import latner_population

# 99.9 % point of the chi-square distribution with 14 degrees of freedom.
CRITICAL = 36.123
COMBINATIONS = [f"{cell:04b}" for cell in range(16)]


def combinations(table):
    return ["".join(map(str, record.values())) for record in table.to_pylist()]


def chi_square_of_equal_shares(counts):
    counts = np.asarray(counts, float)
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum()


def test_1111_is_the_last_record_and_no_other():
    for seed in range(20):
        records = combinations(latner_population(seed=seed))
        assert records.index("1111") == len(records) - 1


def test_the_other_combinations_are_drawn_with_equal_shares():
    counts = Counter(combinations(latner_population(15_001, seed=1)))
    assert set(counts) == set(COMBINATIONS)
    assert chi_square_of_equal_shares([counts[cell] for cell in COMBINATIONS[:15]]) < CRITICAL


def test_counts_vary_as_independent_draws_do():
    statistics = []
    for seed in range(60):
        counts = Counter(combinations(latner_population(seed=seed)))
        statistics.append(chi_square_of_equal_shares([counts[cell] for cell in COMBINATIONS[:15]]))
    # The mean of 60 chi-square variables with 14 degrees of freedom: 14, standard error sqrt(28/60).
    assert abs(np.mean(statistics) - 14) < 4 * np.sqrt(28 / 60)


def test_the_variables_are_whole_numbers_in_their_order():
    table = latner_population(5)
    assert table.column_names == ["var1", "var2", "var3", "var4"]
    assert set(table.schema.types) == {pa.int64()}


def test_a_single_record_is_the_lonely_one():
    assert combinations(latner_population(1)) == ["1111"]


def test_the_papers_file_has_this_design(shared):
    with (shared / "data" / "latner_original.csv").open() as lines:
        records = ["".join(row.values()) for row in csv.DictReader(lines)]
    counts = Counter(records)
    assert records.index("1111") == len(records) - 1 == 999
    assert chi_square_of_equal_shares([counts[cell] for cell in COMBINATIONS[:15]]) < CRITICAL
