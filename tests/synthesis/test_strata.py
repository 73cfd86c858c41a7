"""Strata: every part of a file has trees of its own and keeps its share of the records."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.synthesis import sampling, sequence, strata, synthetic_files
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import synthesizer_of
from unveil.synthesis.synthetic_files import synthesize_files

PLACES = ["north", "south", None]


def people(n: int = 600, seed: int = 4) -> pa.Table:
    """In the north income rises with age, in the south it falls, elsewhere it is the same."""
    rng = np.random.default_rng(seed)
    place = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    age = rng.integers(16, 90, n)
    income = np.array([1, -1, 0])[place] * age * 10 + 1000 * (place + 1)
    sex = rng.choice(["f", "m"], n)
    return pa.table({
        "sex": sex, "place": [PLACES[p] for p in place], "code": [["N1", "S1", None][p] for p in place], "age": age,
        "income": income + rng.integers(0, 5, n), "owns": np.where(rng.random(n) < age / 100, "yes", "no"),
    })  # fmt: skip


def of_place(table: pa.Table, place: str | None) -> pa.Table:
    return table.filter(pa.array([value == place for value in table.column("place").to_pylist()]))


def test_every_stratum_has_its_share_and_its_own_values() -> None:
    original = people()
    release = unveil.CartSynthesizer(by="place").fit(original).sample(seed=1)
    assert release.schema == original.schema
    assert Counter(release.column("place").to_pylist()) == Counter(original.column("place").to_pylist())
    for place in PLACES:
        ours, theirs = of_place(release, place), of_place(original, place)
        # a recoding of the place follows it
        assert set(ours.column("code").to_pylist()) == set(theirs.column("code").to_pylist())
        assert set(ours.column("income").to_pylist()) <= set(theirs.column("income").to_pylist())
        slope = np.polyfit(ours.column("age").to_numpy(), ours.column("income").to_numpy(), 1)[0]
        assert slope == pytest.approx({"north": 10, "south": -10, None: 0}[place], abs=1.5)


@pytest.mark.parametrize("options", [{}, {"collapse": False, "minbucket": 8}])
def test_the_trees_are_those_of_the_part_by_itself(options: dict[str, Any]) -> None:
    original = people()
    fitted = unveil.CartSynthesizer(by="place", **options).fit(original)
    assert [one.values["place"] for one in fitted.strata] == ["north", "south", None]
    total = Counter()
    for one in fitted.strata:
        alone = unveil.CartSynthesizer(**options).fit(of_place(original, one.values["place"]))
        assert one.n_records == alone._variables[0].codes.size
        for name, tree in sequence._trees(one.plans).items():
            if name not in ("place", "code"):
                assert tree.tree.n_leaves == alone.leaves()[name], (one.values, name)
        total.update(alone.leaves())
    assert fitted.leaves()["income"] == total["income"]
    assert "3 strata" in repr(fitted)


def test_neither_the_order_of_records_nor_threads_change_the_fit() -> None:
    original = people()
    turned = original.take(np.random.default_rng(1).permutation(600))
    first, second = (
        unveil.CartSynthesizer(by=["place", "sex"], n_jobs=j).fit(one) for j, one in ((1, original), (2, turned))
    )
    assert [one.values for one in first.strata] == [one.values for one in second.strata]
    assert first.leaves() == second.leaves()
    assert first.sample(seed=2).equals(unveil.CartSynthesizer(by=["place", "sex"]).fit(original).sample(seed=2))
    assert not first.sample(seed=2).equals(first.sample(seed=3))
    copies = first.sample(100, m=2, seed=2)
    assert copies[0].equals(first.sample(100, seed=2))
    assert not copies[0].equals(copies[1])


@pytest.mark.parametrize("options", [{"smoothing": "density"}, {"methods": "norm"}, {"methods": "sample"}])
def test_what_makes_the_strata_is_never_changed(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(7)
    original = pa.table({"year": np.repeat([2001, 2002, 2003], 100), "wage": np.round(rng.normal(size=300) * 9, 1)})
    release = unveil.CartSynthesizer(by="year", **options).fit(original).sample(seed=1)
    assert release.column("year").to_pylist() == original.column("year").to_pylist()


def test_rules_hold_in_every_stratum() -> None:
    rules = {"owns": [("age < 30", "no")]}
    with pytest.warns(unveil.UnveilWarning, match="another value"):
        release = unveil.CartSynthesizer(by="place", rules=rules).fit(people()).sample(seed=1)
    young = [row["owns"] for row in release.to_pylist() if row["age"] < 30]
    assert young
    assert set(young) == {"no"}


def test_files_and_their_provenance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = tmp_path / "people.parquet"
    pq.write_table(people(), original)
    made = synthesize_files(original, tmp_path / "made.parquet", m=1, seed=3, settings={"by": ["place"]})
    stored = json.loads(made.paths.provenance.read_text())
    assert stored["settings"]["by"] == ["place"]
    again = synthesizer_of(read_provenance(made.paths.provenance)).fit(original, seed=3)
    assert pq.read_table(made.paths.releases[0]).to_pylist() == again.sample(seed=3).to_pylist()
    leaves = {one.name: one.leaves for one in made.provenance.variables}
    assert leaves["income"] == again.leaves()["income"]
    # block by block: strata share a row group as long as they fit into a block
    for module in (sampling, sequence, strata, synthetic_files):
        monkeypatch.setattr(module, "BLOCK", 128)
    synthesize_files(original, tmp_path / "blocks.parquet", m=1, k=700, seed=3, settings={"by": ["place"]})
    file = pq.ParquetFile(tmp_path / "blocks.parquet")
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert sum(groups) == 700
    assert max(groups) <= 128
    assert file.read().to_pylist() == again.sample(700, seed=3).to_pylist()


def test_small_strata_are_refused_by_name() -> None:
    few = pa.concat_tables([people(), people(4).set_column(1, "place", pa.array(["west"] * 4))])
    with pytest.raises(unveil.DataError, match=r"1 of 4 strata by 'place' have fewer than 15 records.*'west' with 4"):
        unveil.CartSynthesizer(by="place").fit(few)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "plaze"}, "plaze"),
        ({"by": []}, "one column or several"),
        ({"by": 3}, "one column or several"),
        ({"by": ["place", "place"]}, "each column once"),
        ({"by": "place", "proper": True}, "by and proper"),
        ({"by": "owns", "rules": {"owns": [("age < 30", "no")]}}, "makes the strata"),
    ],
)
def test_what_cannot_be_had_together_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(unveil.CallError, match=said):
        unveil.CartSynthesizer(**options).fit(people())


def test_no_likelihood_and_no_posterior() -> None:
    original = people()
    fitted = unveil.CartSynthesizer(by="place").fit(original)
    release = fitted.sample(seed=1)
    for call in (
        lambda: fitted.log_prob(release), lambda: fitted.plans, fitted.trees, fitted.dependence,
        lambda: unveil.posterior(unveil.Pair(original, release), fitted, target="owns"),
        lambda: unveil.posterior(unveil.Pair(original, release), unveil.CartSynthesizer(by="place"), target="owns"),
    ):  # fmt: skip
        with pytest.raises(unveil.CallError, match="each stratum has trees of its own"):
            call()
    with pytest.raises(unveil.CallError, match="has no option 'by'"):
        synthetic_files.settings_of("catall", original.column_names, {"by": ["place"]})


def test_shares_are_those_of_the_original() -> None:
    sizes = [501, 300, 199]
    for n in (0, 1, 7, 500, 1000, 12345):
        found = strata.apportioned(sizes, n)
        assert sum(found) == n
        assert all(abs(k - n * size / 1000) < 1 for k, size in zip(found, sizes, strict=True))
