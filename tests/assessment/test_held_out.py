"""Held-out records in an assessment: read like the pair's own files by every part, and refused by every part alike."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv_file
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import FileError

KEYS = ["sex", "amount"]
PARTS = {"measures": ["attribute", "inference", "membership"], "attacker": "cart", "permutations": 2}


def people(n: int, seed: int) -> pa.Table:
    """Texts with gaps, amounts with a decimal and special codes, and a target that hangs on both."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    amount = np.round(rng.gamma(2, 20, n), 1)
    ill = np.where(rng.random(n) < 0.2, "no", np.where((amount > 40) ^ (sex == "f"), "yes", "no"))
    other = rng.integers(0, 500, n) / 4
    return pa.table({
        "sex": pa.array(sex, mask=rng.random(n) < 0.1),
        "amount": pa.array(np.where(rng.random(n) < 0.1, -8.0, amount), mask=rng.random(n) < 0.1),
        "ill": pa.array(ill, mask=rng.random(n) < 0.1),
        "other": pa.array(other, mask=rng.random(n) < 0.1),
    })  # fmt: skip


FILES = {"original": people(150, 1), "release": people(140, 2), "others": people(90, 3)}


def written(folder: Path, *, delimiter: str = ",", decimal: str = ".", missing: str = "", encoding: str = "utf-8"):
    """The three files as text."""
    for name, table in FILES.items():
        with (folder / f"{name}.csv").open("w", encoding=encoding, newline="") as file:
            rows = csv.writer(file, delimiter=delimiter)
            rows.writerow(table.column_names)
            for record in zip(*table.to_pydict().values(), strict=True):
                rows.writerow([missing if v is None else str(v).replace(".", decimal) for v in record])
    return [folder / f"{name}.csv" for name in FILES]


def figures(result: Any) -> dict[str, Any]:
    return {
        one["measure"]: {name: one[name] for name in ("value", "held_out")}
        for one in result.to_dict()["figures"]
    }  # fmt: skip


def assessed(original: Any, release: Any, others: Any, **reading: Any) -> Any:
    pair = unveil.Pair(original, release, special_codes={"amount": [-8]}, **reading)
    return unveil.assess(pair, KEYS, targets="ill", holdout=others, holdout_unseen=True, budget=600, release_safe=False,
                         **PARTS)  # fmt: skip


@pytest.fixture(scope="module")
def clean() -> Any:
    return figures(assessed(*FILES.values()))


def test_the_figures_of_frames_are_those_of_their_own_pair(clean: Any):
    alone = unveil.Pair(FILES["others"], FILES["release"], special_codes={"amount": [-8]})
    rapid = unveil.rapid(alone, KEYS, target="ill", attacker="cart", permutations=0, ceiling=False)
    assert clean["RAPID"]["held_out"] == rapid.rate
    assert clean["DiSCO"]["held_out"] == pytest.approx(unveil.attribute(alone, KEYS, target="ill").DiSCO)


READING = {
    "missing texts": {"missing": "keine"},
    "semicolons and decimal commas": {"delimiter": ";", "decimal": ","},
    "a delimiter of its own": {"delimiter": "|", "missing": "k. A."},
    "UTF-16 without a mark": {"encoding": "utf-16-le"},
    "UTF-32 and missing texts": {"encoding": "utf-32-be", "missing": "?"},
}


@pytest.mark.parametrize("reading", READING.values(), ids=READING.keys())
def test_held_out_records_are_read_like_the_other_files(clean: Any, tmp_path: Path, reading: dict[str, str]):
    files = written(tmp_path, **reading)
    stated = {name: [value] if name == "missing" else value for name, value in reading.items()}
    found = assessed(*files, **stated)
    assert figures(found) == clean
    content = found.to_dict()
    # Nobody said how the release was made: the intruder who knows the synthesizer is left out.
    statuses = {part["name"]: part["status"] for part in content["parts"]}
    assert statuses.pop("membership: all but one record") == "skipped"
    assert set(statuses.values()) == {"done"}
    assert [(one["role"], one["records"]) for one in content["provenance"]["inputs"]][-1] == ("holdout", 90)


def test_a_schema_is_for_held_out_records_too(tmp_path: Path):
    """Codes that mean what a schema says, and a kind that values alone do not show."""
    coded = {}
    for name, table in FILES.items():
        codes = pa.array([None if v is None else {"f": 1, "m": 2}[v] for v in table.column("sex").to_pylist()])
        coded[name] = table.set_column(0, "sex", codes)
        pq.write_table(coded[name], tmp_path / f"{name}.parquet")
    schema = {"sex": {"kind": "categorical"}, "amount": {"special_codes": [-8]}}
    pair = unveil.Pair(tmp_path / "original.parquet", tmp_path / "release.parquet", schema=schema)
    options = {"targets": "ill", "measures": "inference", "attacker": "cart", "permutations": 2, "budget": 600}
    found = unveil.assess(pair, KEYS, holdout=tmp_path / "others.parquet", holdout_unseen=True, **options)
    alone = unveil.Pair(coded["others"], coded["release"], schema=schema)
    rapid = unveil.rapid(alone, KEYS, target="ill", attacker="cart", permutations=0, ceiling=False)
    assert found.figure("RAPID").held_out == rapid.rate


def test_a_pair_that_holds_them_gives_what_the_argument_gives(clean: Any):
    original, release, others = FILES.values()
    options: dict[str, Any] = {"special_codes": {"amount": [-8]}}
    pair, without = unveil.Pair(original, release, holdout=others, **options), unveil.Pair(original, release, **options)
    found = unveil.assess(pair, KEYS, targets="ill", holdout_unseen=True, budget=600, release_safe=False, **PARTS)
    assert figures(found) == clean
    risk, bare = (unveil.attribute(one, KEYS, target="ill") for one in (pair, without))
    assert risk.mean == bare.mean
    ladder = risk.ladder(permutations=5)
    assert ladder.to_dict() == bare.ladder(permutations=5, holdout=others).to_dict()
    assert ladder.mean["DiSCO"].held_out == clean["DiSCO"]["held_out"]
    assert risk.ladder(permutations=5, holdout=False).to_dict() == bare.ladder(permutations=5).to_dict()
    held = unveil.membership(pair, holdout_unseen=True, attacks="dcr")
    assert held.to_dict() == unveil.membership(without, others, holdout_unseen=True, attacks="dcr").to_dict()
    with pytest.raises(unveil.CallError, match="no held-out records are given"):
        unveil.membership(without, holdout_unseen=True)


@pytest.mark.parametrize("kind", ["categorical", "ordered"])
def test_labels_are_those_of_the_schema_however_the_records_are_given(clean: Any, tmp_path: Path, kind: str):
    """Text files of codes; the statement of kinds and labels is for all of them."""
    coded = {}
    for name, table in FILES.items():
        codes = [{"f": 1, "m": 2}.get(value) for value in table.column("sex").to_pylist()]
        coded[name] = table.set_column(0, "sex", pa.array(codes))
        csv_file.write_csv(coded[name], tmp_path / f"{name}.csv")
    sex = {"labels": {1: "f", 2: "m"}, "kind": kind}
    options: dict[str, Any] = {"schema": {"sex": sex}, "special_codes": {"amount": [-8]}}
    original, release, others = (tmp_path / f"{name}.csv" for name in FILES)
    assert figures(assessed(original, release, others, schema={"sex": sex})) == clean
    pair = unveil.Pair(original, release, **options)
    alone = unveil.membership(pair, others, holdout_unseen=True, attacks="dcr")
    held = unveil.membership(pair.with_holdout(others), holdout_unseen=True, attacks="dcr")
    as_frames = unveil.Pair(*FILES.values(), special_codes={"amount": [-8]})
    assert alone.to_dict() == held.to_dict()
    assert alone.together == unveil.membership(as_frames, holdout_unseen=True, attacks="dcr").together
    assert list(pair.with_holdout(others).held_out.column("sex").counts[-1]) == [
        FILES["others"].column("sex").to_pylist().count(value) for value in ("f", "m", None)
    ]


def test_labels_and_kinds_are_those_of_the_pair(clean: Any, tmp_path: Path):
    """Codes in two files, labels in the held-out one; amounts that one file writes as text."""
    labels = {1: "f", 2: "m"}
    tables = dict(FILES)
    for name in ("original", "release"):
        codes = [{"f": 1, "m": 2}.get(value) for value in tables[name].column("sex").to_pylist()]
        tables[name] = tables[name].set_column(0, "sex", pa.array(codes))
    texts = [None if value is None else f"{value:.2f}" for value in tables["others"].column("amount").to_pylist()]
    tables["others"] = tables["others"].set_column(1, "amount", pa.array(texts))
    schema = {"sex": {"kind": "categorical", "labels": labels}}
    assert figures(assessed(*tables.values(), schema=schema, kinds={"amount": "numeric"})) == clean


def test_a_finished_part_is_not_taken_for_that_of_another_reading(tmp_path: Path):
    files = written(tmp_path, missing="keine")
    options = {"targets": "ill", "measures": "attribute", "holdout": files[2], "holdout_unseen": True,
               "release_safe": False}  # fmt: skip
    found = []
    for missing in (["keine"], ["keine", "f"]):
        pair = unveil.Pair(*files[:2], missing=missing, special_codes={"amount": [-8]})
        kept, anew = (unveil.assess(pair, ["sex"], **options, checkpoint=c) for c in (tmp_path / "kept", None))
        assert figures(kept) == figures(anew)
        found.append(figures(kept))
    assert found[0] != found[1]


# --------------------------------------------------------------------------------------------- refusals
def the_file_itself(folder: Path) -> tuple[Any, Any, Any]:
    original, release, _ = written(folder)
    return original, release, original


def a_link_to_the_file(folder: Path) -> tuple[Any, Any, Any]:
    original, release, _ = written(folder)
    (folder / "link.csv").symlink_to(original)
    return original, release, folder / "link.csv"


def a_copy_of_the_file(folder: Path) -> tuple[Any, Any, Any]:
    original, release, _ = written(folder)
    (folder / "copy.csv").write_bytes(original.read_bytes())
    return original, release, folder / "copy.csv"


def the_frame_itself(folder: Path) -> tuple[Any, Any, Any]:
    return FILES["original"], FILES["release"], FILES["original"]


def a_part_of_the_original(folder: Path) -> tuple[Any, Any, Any]:
    return FILES["original"], FILES["release"], FILES["original"].slice(20, 60)


def the_release(folder: Path) -> tuple[Any, Any, Any]:
    return FILES["original"], FILES["release"], FILES["release"]


@pytest.mark.parametrize(
    "files",
    [the_file_itself, a_link_to_the_file, a_copy_of_the_file, the_frame_itself, a_part_of_the_original, the_release],
)
def test_records_that_were_not_held_out_stand_beside_nothing(files: Callable[[Path], Any], tmp_path: Path):
    found = assessed(*files(tmp_path))
    for measure in ("DiSCO", "DCAP", "RAPID"):
        assert math.isnan(found.figure(measure).held_out), measure
    content = found.to_dict()
    assert {part["name"]: part["status"] for part in content["parts"]}["membership"] == "failed"
    told = [one["part"] for one in content["warnings"] if "held-out records are left out" in one["text"]]
    assert told


def test_few_columns_do_not_hide_that_records_are_the_original_s():
    """Of two columns of two levels every fresh record is found in the original too; the same order is no chance."""
    rng = np.random.default_rng(5)
    few = pa.table({"k": rng.choice(["a", "b"], 80), "t": rng.choice(["x", "y"], 80)})
    release = few.take(pa.array(rng.integers(0, 80, 80)))
    fresh = pa.table({"k": rng.choice(["a", "b"], 80), "t": rng.choice(["x", "y"], 80)})
    options = {"targets": "t", "measures": ["attribute", "inference"], "attacker": "cart", "permutations": 2}
    for others, is_held_out in ((few, False), (fresh, True)):
        found = unveil.assess(unveil.Pair(few, release), "k", holdout=others, holdout_unseen=True, **options)
        for measure in ("DCAP", "RAPID"):
            assert math.isnan(found.figure(measure).held_out) != is_held_out


def test_a_holdout_that_cannot_be_read_is_told_before_anything_is_measured(tmp_path: Path):
    pair = unveil.Pair(FILES["original"], FILES["release"])
    steps: list[Any] = []
    with pytest.raises(FileError, match=r"gone\.csv"):
        unveil.assess(pair, KEYS, targets="ill", holdout=tmp_path / "gone.csv", progress=lambda *one: steps.append(one))
    assert not steps
