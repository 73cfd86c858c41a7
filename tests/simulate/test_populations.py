"""What holds for every simulated population."""

import sys

import numpy as np
import pyarrow as pa
import pytest

from unveil.errors import CallError, MissingPackageError
from unveil.simulate import demo_population, latner_population, rapid_population

POPULATIONS = [demo_population, latner_population, rapid_population]


@pytest.fixture(params=POPULATIONS, ids=lambda function: function.__name__)
def population(request):
    return request.param


def test_same_seed_same_table_and_other_seed_other_table(population):
    assert population(300, seed=7).equals(population(300, seed=7))
    assert not population(300, seed=7).equals(population(300, seed=8))


def test_a_generator_continues_where_it_stands(population):
    rng = np.random.default_rng(7)
    first, second = population(300, seed=rng), population(300, seed=rng)
    assert first.equals(population(300, seed=7))
    assert not first.equals(second)


@pytest.mark.parametrize("n", [2, np.int64(3)])
def test_small_tables_have_the_asked_number_of_records(population, n):
    assert population(n).num_rows == n


@pytest.mark.parametrize("n", [0, -5, 10.0, "10", True, None])
def test_a_number_of_records_that_makes_no_table_is_refused(population, n):
    with pytest.raises(CallError, match=r"n must be a whole number from [12], not"):
        population(n)


def test_each_flavour_holds_the_same_values(population, flavour):
    frame = population(200, seed=3, flavour=flavour)
    assert type(frame).__module__.startswith("pyarrow" if flavour == "arrow" else flavour)
    table = pa.table(frame)
    expected = population(200, seed=3)
    assert table.column_names == expected.column_names
    for name in expected.column_names:
        assert table[name].to_pylist() == expected[name].to_pylist()


def test_text_columns_are_dictionaries(population):
    types = population(50).schema.types
    assert not any(pa.types.is_string(kind) for kind in types)
    assert all(pa.types.is_string(kind.value_type) for kind in types if pa.types.is_dictionary(kind))


def test_an_unknown_flavour_is_refused(population):
    with pytest.raises(CallError, match="flavour must be 'arrow', 'pandas' or 'polars', not 'R'"):
        population(10, flavour="R")


def test_a_flavour_that_is_not_installed_says_what_to_install(population, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingPackageError, match="pip install polars"):
        population(10, flavour="polars")
