"""Columns that number records, persons or households: how they are told, and what every verb does with them."""

from __future__ import annotations

import html
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.columns.identifiers import identifier_of
from unveil.files.source import Source

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")

N = 300


def numbers(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def told(name: str, values: Any, **options: Any) -> str | None:
    table = pa.table({name: values})
    found = identifier_of(unveil.Pair(table, table.slice(0), **options).column(name))
    return None if found is None else found.of


Make = Callable[[int], Sequence[Any] | pa.Array]
RECORDS: dict[str, tuple[str, Make]] = {
    "running numbers": ("x", lambda n: list(range(1, n + 1))),
    "in any order": ("x", lambda n: numbers().permutation(n).tolist()),
    "from a million on": ("x", lambda n: list(range(10**6, 10**6 + n))),
    "as floating point": ("x", lambda n: [float(i) for i in range(n)]),
    "with some gaps in the numbers": ("x", lambda n: [i + i // 10 for i in range(n)]),
    "some without a number": ("x", lambda n: [None if i % 10 == 0 else i for i in range(n)]),
    "drawn from a wide range": ("person_id", lambda n: numbers().choice(10**9, n, replace=False).tolist()),
    "UUIDs": ("x", lambda n: [str(uuid.UUID(bytes=numbers(i).bytes(16))) for i in range(n)]),
    "padded with zeros": ("x", lambda n: [f"{i:07}" for i in range(n)]),
    "names": ("x", lambda n: [f"Ana{i % 17} Nowak{i}" for i in range(n)]),
    "names, a few of them twice": ("x", lambda n: [f"Nowak{max(i, n // 50)}" for i in range(n)]),
    "moments to the microsecond": ("x", lambda n: pa.array(numbers().integers(0, 10**15, n), pa.timestamp("us"))),
    "numbers declared as labels": ("x", lambda n: numbers().choice(10**9, n, replace=False).tolist()),
}
UNITS: dict[str, tuple[str, Make]] = {
    "four records each": ("x", lambda n: [i for i in range(n // 4) for _ in range(4)]),
    "four records each, as text": ("x", lambda n: [f"p{i}" for i in range(n // 4) for _ in range(4)]),
    "two records each, shuffled": ("x", lambda n: numbers().permutation(np.repeat(np.arange(n // 2), 2)).tolist()),
    "one to six records each": ("pid", lambda n: np.repeat(np.arange(n), numbers().integers(1, 7, n))[:n].tolist()),
    "households": ("household", lambda n: np.repeat(np.arange(n) * 37, numbers().integers(1, 5, n))[:n].tolist()),
}
NONE: dict[str, tuple[str, Make]] = {
    "incomes": ("income", lambda n: np.exp(numbers().normal(8, 0.7, n)).round().astype(int).tolist()),
    "incomes to the cent": ("income", lambda n: np.exp(numbers().normal(8, 0.7, n)).round(2).tolist()),
    "incomes of households": ("household_income", lambda n: numbers().integers(0, 10**6, n).tolist()),
    "uniform amounts": ("rent", lambda n: numbers().integers(0, 10**5, n).tolist()),
    "measurements": ("height", lambda n: numbers().normal(170, 10, n).tolist()),
    "ages": ("age", lambda n: numbers().integers(18, 90, n).tolist()),
    "years": ("year", lambda n: numbers().integers(1930, 2010, n).tolist()),
    "postcodes": ("zip", lambda n: [f"{i:05}" for i in numbers().integers(0, 40, n)]),
    "occupations": ("job", lambda n: [f"job{int(i)}" for i in numbers().exponential(20, n)]),
    "days": ("born", lambda n: pa.array(numbers().integers(0, 20_000, n), pa.int32()).cast(pa.date32())),
    "moments to the second": ("at", lambda n: pa.array(numbers().integers(0, 10**9, n), pa.timestamp("s"))),
    "rooms": ("number_of_rooms", lambda n: numbers().integers(1, 9, n).tolist()),
    "one value": ("id", lambda n: [7] * n),
    "no value": ("id", lambda n: pa.nulls(n, pa.int64())),
}


@pytest.mark.parametrize("n", [40, 300, 5000])
@pytest.mark.parametrize("case", RECORDS)
def test_numbers_and_names_of_records(case: str, n: int):
    name, make = RECORDS[case]
    assert told(name, make(n), kinds={name: "categorical"} if "declared" in case else None) == "record"


@pytest.mark.parametrize("n", [100, 300, 5000])
@pytest.mark.parametrize("case", UNITS)
def test_numbers_of_persons_and_households(case: str, n: int):
    name, make = UNITS[case]
    assert told(name, make(n)) == "unit"


@pytest.mark.parametrize("n", [10, 30, 300, 5000])
@pytest.mark.parametrize("case", NONE)
def test_amounts_and_attributes_are_none(case: str, n: int):
    name, make = NONE[case]
    assert told(name, make(n)) is None


def test_special_codes_are_no_numbers_of_persons():
    values = [*range(1, 91), *([-8] * 60)]
    assert told("x", values) is None
    assert told("x", values, special_codes={"x": [-8]}) == "record"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sd2011.csv", "adult.csv.gz"])
def test_no_column_of_a_survey_is_one(shared: Path, name: str):
    """Samples of 20 to 5000 persons: not one of some 8000 columns."""
    source = unveil.read(str(shared / "data" / name))
    columns = {name: source.column(name) for name in source.names}
    rng = numbers(3)
    for n, draws in ((20, 60), (50, 60), (300, 60), (5000, 1)):
        for _ in range(draws):
            rows = pa.array(rng.choice(source.num_rows, min(n, source.num_rows), replace=False))
            sample = pa.table({name: values.take(rows) for name, values in columns.items()})
            pair = unveil.Pair(sample, sample.slice(0))
            assert [name for name in pair.names if identifier_of(pair.column(name)) is not None] == []


# ------------------------------------------------------------------------------------------------------ every verb
def people(seed: int, first: int) -> pa.Table:
    rng = numbers(seed)
    return pa.table(
        {
            "nr": np.arange(first, first + N),
            "age": rng.integers(20, 80, N),
            "sex": rng.choice(["f", "m"], N),
            "job": rng.choice(list("abcdefgh"), N),
            "income": np.exp(rng.normal(8, 0.7, N)).round(),
            "ill": rng.choice(["y", "n"], N),
        }
    )


@pytest.fixture(scope="module")
def dealt_anew() -> unveil.Pair:
    """Every person copied, with serial numbers that are dealt anew."""
    return unveil.Pair(people(1, 1), people(1, 50_000))


LEFT_OUT = "column 'nr' looks like an identifier and is left out; name it to have it measured"
OTHERS = ("age", "sex", "job", "income", "ill")


def test_copies_are_found_whatever_their_number(dealt_anew: unveil.Pair):
    found = unveil.membership(dealt_anew, people(2, 90_000), holdout_unseen=True, attacks="dcr")
    assert found.copies_together.members == 100.0
    assert found.columns == OTHERS
    assert found.together["dcr"].auc > 0.95
    assert LEFT_OUT in found.warnings
    assert LEFT_OUT in found.to_dict()["warnings"]
    assert LEFT_OUT in " ".join(str(found).split())


def test_a_number_that_is_named_is_compared_with_a_warning(dealt_anew: unveil.Pair):
    options: dict[str, Any] = {"holdout_unseen": True, "attacks": "dcr", "columns": ["nr", "age", "sex"]}
    found = unveil.membership(dealt_anew, people(2, 90_000), **options)
    assert found.copies_together.members == 0.0
    assert any(text.startswith("column 'nr' looks like an identifier: ") for text in found.warnings)


def test_persons_set_aside_afterwards_are_refused_whatever_their_number(dealt_anew: unveil.Pair):
    with pytest.raises(unveil.DataError, match="held out"):
        unveil.membership(dealt_anew, people(1, 90_000), holdout_unseen=True, attacks="dcr")


def test_utility_says_nothing_of_it(dealt_anew: unveil.Pair):
    found = unveil.utility(dealt_anew, measures=["marginals", "pairs"])
    assert found.columns == OTHERS
    assert found.mean["TVD_max"] == 0
    assert LEFT_OUT in found.warnings
    named = unveil.utility(dealt_anew, ["nr", "age"], measures="marginals")
    assert any(text.startswith("column 'nr' looks like an identifier: ") for text in named.warnings)


def test_it_is_no_target_unless_named(dealt_anew: unveil.Pair):
    risks = unveil.attribute(dealt_anew, ["age", "sex"])
    assert [risk.target for risk in risks] == ["job", "income", "ill"]
    assert LEFT_OUT in risks.to_dict()["warnings"]
    assert LEFT_OUT in " ".join(str(risks).split())
    options: dict[str, Any] = {"attacker": "cart", "permutations": 1, "ceiling": False}
    rapids = unveil.rapid(dealt_anew, ["age", "sex", "job"], **options)
    assert [risk.target for risk in rapids] == ["income", "ill"]
    assert LEFT_OUT in rapids.to_dict()["warnings"]
    found = unveil.attribute(dealt_anew, ["age", "sex"], target="nr")
    assert any(text.startswith("column 'nr' looks like an identifier: ") for text in found.warnings)


def test_it_is_no_target_of_an_assessment(dealt_anew: unveil.Pair):
    found = unveil.assess(dealt_anew, ["age", "sex"], measures=["attribute"])
    assert [one["target"] for one in found.to_dict()["targets"]] == ["job", "income", "ill"]
    assert LEFT_OUT in found.warnings
    assert LEFT_OUT in html.unescape(found.to_html())
    named = unveil.assess(dealt_anew, ["age", "sex"], targets=["nr", "job"], measures=["attribute"])
    assert any(text.startswith("column 'nr' looks like an identifier: ") for text in named.warnings)


def test_candidates_are_compared_without_it():
    found = unveil.compare(people(1, 1), {"copy": people(1, 900)}, ["age", "sex"], measures=["attribute"])
    assert found.targets == ("job", "income", "ill")
    assert LEFT_OUT in found.to_dict()["warnings"]


@pytest.mark.parametrize("measure", ["identity", "structure", "key_sets"])
def test_as_a_key_it_is_warned_of(dealt_anew: unveil.Pair, measure: str):
    found = getattr(unveil, measure)(dealt_anew, ["nr", "sex"])
    assert any(text.startswith("column 'nr' looks like an identifier: ") for text in found.warnings)
    assert getattr(unveil, measure)(dealt_anew, ["age", "sex"]).warnings == ()


def test_a_number_that_is_cut_into_groups_is_none(dealt_anew: unveil.Pair):
    found = unveil.identity(dealt_anew, ["nr", "sex"], ngroups_keys={"nr": 5})
    assert not any("identifier" in text for text in found.warnings)


def test_files_of_identifiers_alone_have_nothing_to_compare():
    file = pa.table({"nr": range(N)})
    with pytest.raises(unveil.CallError, match="'nr' looks like an identifier and is left out; name it"):
        unveil.utility(unveil.Pair(file, file.slice(1)))


# ------------------------------------------------------------------------------------------- several rows per person
@pytest.fixture(scope="module")
def four_rows() -> unveil.Pair:
    """Two hundred persons with four equal rows each, and an exact copy."""
    rng = numbers(4)
    persons = {
        "age": rng.integers(20, 80, 200),
        "sex": rng.choice(["f", "m"], 200),
        "job": rng.choice(list("abcd"), 200),
    }
    table = pa.table({"person": np.repeat(np.arange(200), 4)} | {k: np.repeat(v, 4) for k, v in persons.items()})
    return unveil.Pair(table, table.slice(0))


SEVERAL = {
    "identity": lambda p: unveil.identity(p, ["age", "sex", "job"]),
    "attribute": lambda p: unveil.attribute(p, ["age", "sex"], target="job"),
    "targets": lambda p: unveil.attribute(p, ["age", "sex"]),
    "structure": lambda p: unveil.structure(p, ["age", "sex"]),
    "key sets": lambda p: unveil.key_sets(p, ["age", "sex"], target="job"),
    "ladder": lambda p: unveil.attribute(p, ["age", "sex"], target="job").ladder(permutations=3),
    "rapid": lambda p: unveil.rapid(p, ["age", "sex"], target="job", attacker="cart", permutations=1, ceiling=False),
    "utility": lambda p: unveil.utility(p, measures="marginals"),
}


@pytest.mark.parametrize("measure", SEVERAL)
def test_several_rows_of_a_person_are_records_and_warned_of(four_rows: unveil.Pair, measure: str):
    found = SEVERAL[measure](four_rows)
    (text,) = [one for one in found.to_dict()["warnings"] if "repeats as numbers of persons" in one]
    assert "column 'person'" in text
    assert "200 values, each about 4 times" in text
    shown = " ".join(str(found).replace(text, "").split()).split(" Warning: ")[0]
    assert "person" not in shown.replace("give a person away", "")


def test_a_report_speaks_of_records(four_rows: unveil.Pair):
    options = {"targets": "job", "measures": ["identity", "attribute", "inference"], "permutations": 2, "budget": 10}
    found = unveil.assess(four_rows, ["age", "sex"], **options)
    assert any("repeats as numbers of persons" in text for text in found.warnings)
    for one in found.to_dict()["figures"]:
        assert "records" in one["sentence"]
        assert "person" not in one["sentence"]


def test_only_one_row_of_each_is_not_warned_of(four_rows: unveil.Pair):
    table = pa.table(
        {name: four_rows.original.column(name).take(pa.array(range(0, 800, 4))) for name in four_rows.names}
    )
    found = unveil.identity(unveil.Pair(table, table.slice(0)), ["age", "sex", "job"])
    assert found.warnings == ()
    assert found.repU == found.UiO > 50
    assert unveil.identity(four_rows, ["age", "sex", "job"]).repU == 0


def test_only_columns_that_are_called_so_are_read_for_it():
    repeated = {"person": np.repeat(np.arange(100), 4), "other": np.repeat(np.arange(200), 2)}
    table = pa.table({"sex": ["f", "m"] * 200} | repeated)
    asked: list[str] = []

    def fetch(name: str) -> pa.ChunkedArray:
        asked.append(name)
        return table.column(name)

    source = Source("o.csv", tuple(table.column_names), table.num_rows, fetch)
    (text,) = unveil.identity(unveil.Pair(source, table), "sex").warnings
    assert "'person' of o.csv" in text
    assert asked == ["sex", "person"]


# ------------------------------------------------------------------------------------------------ columns that differ
def test_columns_that_a_release_calls_otherwise_are_told():
    original = pa.table({"sex": ["f", "m"] * 20, "PLZ": ["a", "b"] * 20, "größe": [1, 2] * 20, "job": ["x", "y"] * 20})
    release = pa.table({"sex": ["f", "m"] * 20, "plz": ["a", "b"] * 20, "gro\u0308ße": [1, 2] * 20})
    found = unveil.utility(unveil.Pair(original, release), measures="marginals")
    (text,) = found.warnings
    assert text.startswith("not in every release, and not compared: PLZ, größe, job")
    assert "the release has 'plz', perhaps for 'PLZ'" in text
    assert r"the release has 'gro\u0308\xdfe', perhaps for 'gr\xf6\xdfe'" in text
    pair = unveil.Pair(
        original.append_column("k", pa.array([1, 2] * 20)), release.append_column("k", pa.array([1, 2] * 20))
    )
    assert text in unveil.attribute(pair, "k").warnings
    assert any(
        one.startswith("not in every release") for one in unveil.assess(pair, "k", measures=["attribute"]).warnings
    )


def test_a_number_that_the_release_does_not_have_is_no_loss(dealt_anew: unveil.Pair):
    release = people(1, 1).drop(["nr"])
    assert unveil.utility(unveil.Pair(people(1, 1), release), measures="marginals").warnings == ()
