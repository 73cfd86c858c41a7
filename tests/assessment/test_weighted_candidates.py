"""A weighted original in measures that make releases themselves: weights are neither measured nor in the way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.files.source import Source

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
N = 120


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return unveil.simulate.demo_population(N, seed=1).select(["sex", "age", "region", "depress"])


@pytest.fixture(scope="module")
def sample(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Persons with weights that add up to their number: those of most halves add up to less, or more, than theirs."""
    weights = np.random.default_rng(1).lognormal(0, 1, N)
    table = people.append_column("weight", pa.array(weights * (N / weights.sum())))
    schema = tmp_path_factory.mktemp("schema") / "schema.toml"
    schema.write_text('[columns.weight]\nkind = "numeric"\nweight = true\n')
    return unveil.read(table, schema=str(schema))


def test_a_release_without_weights_takes_them_from_no_other(people: pa.Table, sample: Source):
    release = unveil.simulate.demo_population(N, seed=2).select(people.column_names)
    found = unveil.compare(sample, {"r": release}, ["sex", "age"], targets="depress", grid={"minbucket": [20]}, m=1)
    assert not any("are left out for all of them" in text for text in found.warnings)
    content = found.assessments["r"].content
    assert content["scenario"]["weights"] == "weight"
    alone = unveil.assess(
        unveil.Pair(sample, release), ["sex", "age"], targets="depress", measures=["identity", "attribute", "utility"]
    )
    assert content["figures"] == alone.content["figures"]


def test_weights_are_no_target_of_compare(sample: Source):
    found = unveil.compare(sample, {}, ["sex", "age"], grid={"minbucket": [20]}, m=1, measures=["attribute"])
    assert found.targets == ("region", "depress")


def test_halves_of_a_sample_stand_for_its_population(sample: Source):
    found = unveil.membership_synthesizer(sample, unveil.CartSynthesizer(), repeats=1, attacks="dcr")
    assert found.runs[0].columns == ("sex", "age", "region", "depress")


def test_folds_of_a_sample_stand_for_its_population(people: pa.Table, sample: Source):
    asked = {"target": "sex", "attacker": "cart", "folds": 3}
    found = unveil.rapid_synthesizer_cv(sample, lambda frame: frame, ["age", "region"], **asked)
    plain = unveil.rapid_synthesizer_cv(people, lambda frame: frame, ["age", "region"], **asked)
    assert len(found.held_out) == len(plain.held_out) == 3
    assert 0 <= found.mean <= 1


def test_a_search_takes_a_weighted_original(sample: Source):
    limits = unveil.assessment.Policy("p", "", (unveil.assessment.Threshold("repU", 100.0),))
    found = unveil.tune(sample, ["sex", "age"], policy=limits, seed=1, grid={"m": [1], "minbucket": [20]})
    assert found.targets == ("region", "depress")
    assert found.winner is not None


def test_a_risk_that_some_points_lack_is_a_gap_of_the_table(people: pa.Table):
    release = unveil.simulate.demo_population(N, seed=2).select(people.column_names)
    found = unveil.compare(
        people, {"file": release}, ["sex", "age"], targets="depress", grid={"minbucket": [20]}, m=1,
        measures=["attribute", "posterior"],
    )  # fmt: skip
    lines = str(found).splitlines()
    header = next(line for line in lines if "releases" in line)
    row = next(line for line in lines if line.startswith("file"))
    assert "posterior certain" in header
    assert row.split()[-2:] == ["-", "-"]


def test_warnings_call_a_foreign_release_by_the_label_of_its_candidate(people: pa.Table):
    def gaps(frame: pa.Table) -> pa.Table:
        other = pa.array(["nowhere"] * frame.num_rows)
        return frame.set_column(frame.column_names.index("region"), "region", other)

    found = unveil.compare(people, {"mine": gaps}, ["sex", "region"], targets="depress", m=2)
    assert any("release 1" in text for text in found.warnings)
    assert not any("synthesizer 'gaps'" in text for text in found.warnings)
