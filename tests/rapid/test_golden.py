"""The reference outputs: deterministic attackers record by record, the forest within the reference's spread."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
import unveil
from unveil._rapid import Rapid, categorical_score, rapid

METRICS = {"symmetric": "symmetric", "stabilised_relative": "relative", "absolute": "absolute"}
SMALL = 1e-10


def load() -> list[dict[str, Any]]:
    return reference.load_json("rapid/rapid_cases.json")["cases"]


CASES = reference.parameters(load, lambda case: case["id"])


def pair_of(original: str, release: str) -> unveil.Pair:
    def declared(name: str) -> dict[str, unveil.Variable]:
        schema = reference.json.loads((reference.FOLDER / "data" / f"{name}.schema.json").read_text(encoding="utf-8"))
        return {
            c["name"]: unveil.Variable(
                c["name"],
                kind=c["kind"],
                levels=tuple(c["levels"]) if c.get("levels") and c["kind"] != "numeric" else None,
            )
            for c in schema["columns"]
        }

    files = [unveil.read(str(reference.data_file(n)), schema=declared(n)) for n in (original, release)]
    return unveil.Pair(files[0], files[1])


def attacked(case: dict[str, Any], **options: Any) -> Rapid:
    kind = "categorical" if case["as_factor"] else None
    options = {"target_na": 0.0, "permutations": 0, "ceiling": False, "kind": kind} | options
    return rapid(
        pair_of(case["original"], case["synthetic"]), case["quasi_identifiers"], target=case["sensitive"],
        attacker=case["model"], **options,
    )  # fmt: skip


def golden_records(case: dict[str, Any]) -> dict[str, np.ndarray]:
    with gzip.open(reference.FOLDER / "golden" / "rapid" / case["records_file"], "rt", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    return {name: np.array([float(r[name]) for r in rows]) for name in rows[0] if name not in ("row", "true_label")}


@pytest.mark.parametrize("case", CASES)
def test_deterministic_attackers(shared: Path, case: dict[str, Any]) -> None:
    result = attacked(case)
    found, expected = result.records(flavour="arrow").to_pydict(), golden_records(case)
    if result.kind == "continuous":
        assert np.allclose(found["prediction"], expected["predicted"], rtol=1e-9, atol=1e-9)
        assert np.allclose(found["e"], expected["stabilised_relative_error"], rtol=1e-8, atol=1e-10)
        assert result.attacks[0]["mae"] == pytest.approx(case["metrics"]["mae"], rel=1e-10)
        assert result.attacks[0]["rmse"] == pytest.approx(case["metrics"]["rmse"], rel=1e-10)
        return
    assert np.allclose(found["g"], expected["true_prob"], rtol=0, atol=1e-9)
    assert np.allclose(found["b"], expected["baseline_marginal"], rtol=0, atol=SMALL)
    assert np.allclose(found["r"], expected["normalized_gain"], rtol=0, atol=1e-8)
    assert result.attacks[0]["accuracy"] == pytest.approx(case["accuracy"], abs=SMALL)
    truth = result.runner.problem.truth
    g = np.array(found["g"])
    conditional = categorical_score(g, truth, len(result.baseline), "conditional")
    # a class that the attacker gives no probability at all has a mean of 0: nobody of it is inferred
    assert np.allclose(conditional, np.nan_to_num(expected["relative_score"]), rtol=0, atol=1e-8)
    nce = categorical_score(g, truth, len(result.baseline), "nce")
    assert np.allclose(1 - nce, expected["normalized_ce"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_rates_over_grids(shared: Path, case: dict[str, Any]) -> None:
    for table, scoring, rate in (
        ("RCS_marginal", "marginal", "confidence_rate"), ("RCS_conditional", "conditional", "confidence_rate"),
        ("NCE", "nce", "risk_rate"),
    ):  # fmt: skip
        rows = [row for row in case.get(table, ()) if row[rate] is not None]
        if rows:
            result = attacked(case, scoring=scoring, tau=0.3)
            curve = result.curve([row["tau"] for row in rows], n=2)
            for row, value in zip(rows, curve.lines[0].rate, strict=True):
                assert value == pytest.approx(row[rate], abs=1.5 / result.n_counted), (table, row)
    for row in case.get("rates", ()):
        epsilon = row["epsilon"] / (100 if row.get("num_epsilon_scale") == "percent" else 1)
        result = attacked(case, metric=METRICS[row["metric"]], epsilon=epsilon, delta=row.get("num_delta", 0.01))
        assert result.attacks[0]["n_at_risk"] == row["n_at_risk"], row
    # "drop" of the reference drops record i of both files where either has a gap, though they are different persons
    fills = {"constant0": 0.0, "constant5": 5.0, "median": "median"}
    for name, row in (case.get("na_strategies") or {}).items():
        if name not in fills:
            continue
        result = attacked(case, metric="symmetric", epsilon=row["epsilon"], target_na=fills[name])
        assert result.attacks[0]["n_at_risk"] == row["n_at_risk"], name


def test_random_forest_within_the_spread_of_the_reference(shared: Path) -> None:
    by_case: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (reference.FOLDER / "golden" / "rapid" / "rapid_rf_10seeds.csv").open(encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            by_case[row["case"]].append(row)
    calls = {case["id"].rsplit("_", 1)[0]: case for case in load()}
    for name, rows in by_case.items():
        case = calls[name] | {"model": "rf"}
        grid = (0.1, 0.3, 0.5, 0.7) if rows[0]["kind"] == "categorical" else (0.05, 0.1, 0.2, 0.5)
        result = attacked(case, metric="symmetric")
        figures = result.attacks[0]
        means = {c: np.array([float(r[c]) for r in rows]) for c in list(rows[0])[3:]}
        found = dict(zip(("rate1", "rate2", "rate3", "rate4"), result.curve(grid, n=2).lines[0].rate, strict=True))
        if result.kind == "categorical":
            found |= {
                "accuracy_or_rmse": figures["accuracy"],
                "mean_true_prob_or_mean_sym_error": figures["mean_probability"],
                "mean_gain_or_mae": figures["mean_score"],
            }
        else:
            found |= {
                "accuracy_or_rmse": figures["rmse"],
                "mean_true_prob_or_mean_sym_error": figures["mean_score"],
                "mean_gain_or_mae": figures["mae"],
            }
        for column, values in means.items():
            # a draw of ours lies within the reference's draws but for their width, and 1 percent of the figure
            slack = 3 * values.std(ddof=1) + 0.01 * abs(values.mean()) + 2 / result.n_counted
            assert abs(found[column] - values.mean()) < slack, (name, column, found[column], values.mean(), slack)
