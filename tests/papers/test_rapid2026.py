"""The example that redoes Templ, Thees & Müller (2026)."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.paper import ROOT, compare, read_compared, read_rows
from examples.rapid2026 import __main__ as command
from examples.rapid2026 import adult, income, studies

from reference import FOLDER

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

RESULTS = ROOT / "examples" / "rapid2026" / "results"


def test_kept_comparison_is_that_of_the_results():
    again = compare(command.HERE / "printed.csv", dict(command.numbers(command.kept(RESULTS), 50)))
    assert [{**row, "error": ""} for row in again] == [{**row, "error": ""} for row in read_compared(RESULTS)]


def test_attackers_are_near_the_table_of_the_paper_and_in_its_order():
    rows = [row for row in read_compared(RESULTS) if row["item"].startswith("Table 1")]
    assert len(rows) == 6
    assert all(abs(float(row["computed"]) - float(row["printed"])) < 0.02 for row in rows)
    for column in ("RAPID", "accuracy"):
        own = [row for row in rows if row["column"] == column]
        by = [sorted(own, key=lambda row, name=name: float(row[name])) for name in ("printed", "computed")]
        if column == "accuracy":
            assert [row["row"] for row in by[0]] == [row["row"] for row in by[1]]
        assert by[0][0]["row"] == by[1][0]["row"]


def test_curves_of_adult():
    rows = read_rows(RESULTS / "adult.csv", ["attacker", "class"])
    assert {row["attacker"] for row in rows} == set(adult.ATTACKERS)
    for attacker in adult.ATTACKERS:
        for group in ("all", "large", "small", "Missing"):
            own = [row for row in rows if (row["attacker"], row["class"]) == (attacker, group)]
            assert [row["tau"] for row in own] == list(adult.TAUS)
            rates = [row["rate"] for row in own]
            assert rates == sorted(rates, reverse=True)
            assert all(row["low"] <= row["rate"] <= row["high"] for row in own)


def test_incomes_come_out_again():
    kept = read_rows(RESULTS / "income.csv")
    for row, one in zip(income.predictions(), kept, strict=True):
        assert one == {name: pytest.approx(value, rel=1e-6) for name, value in row.items()}
        assert row["at_risk"] == (row["error"] < income.EPSILON)
        assert row["error"] == pytest.approx(abs(row["truth"] - row["prediction"]) / (abs(row["truth"]) + 0.01))


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    part = dict.fromkeys(("rate", "accuracy", "null_mean", "held_out", "in_sample"), 0.5)
    part |= {"curve": [0.5] * len(studies.TAUS), "null_curve": [0.1] * len(studies.TAUS)}
    part |= {"coefficients": [["age", "per sd", 1.0]], "importance": dict.fromkeys(studies.KEYS, 0.1)}
    part |= {"attackers": {name: [0.5, 0.6] for name in ("cart", "gbm", "rf")}}
    asked = []
    monkeypatch.setattr(studies, "at_kappa", lambda kappa, seed: asked.append((kappa, seed)) or part)
    for _ in range(2):
        found = [studies.replication(seed, tmp_path) for seed in (0, 1)]
    assert len(asked) == 2 * len(studies.KAPPAS)
    assert [row["rate"] for row in studies.kappas(found)] == [0.5] * len(studies.KAPPAS)
    assert studies.attackers(found)[0] == {"attacker": "cart", "rate": 0.5, "sd": 0.0, "accuracy": 0.6}
    assert len(studies.thresholds(found)) == 6 * len(studies.TAUS)
    assert [len(one(found)) for one in (studies.inclusion, studies.coefficients, studies.importance)] == [4, 1, 5]


@pytest.mark.slow
def test_a_replication_is_near_the_kept_means(tmp_path: Path):
    part = studies.at_kappa(10, seed=0)
    (kept,) = (row for row in command.kept(RESULTS)["kappas"] if row["kappa"] == 10)
    assert part["rate"] == pytest.approx(kept["rate"], abs=4 * kept["sd"])


@pytest.mark.slow
def test_a_curve_of_adult_comes_out_again(shared: Path):
    import unveil

    columns = adult.keys_and_income(str(FOLDER / "data" / "adult.csv.gz"))
    release = unveil.CartSynthesizer().fit(columns).sample(m=adult.RELEASES, seed=1)[0]
    part = adult.attacked(columns, release, "logit_l1", ceiling=False)
    kept = read_rows(RESULTS / "adult.csv", ["attacker", "class"])
    own = [row for row in kept if (row["attacker"], row["class"]) == ("logit_l1", "all")]
    for rate, row in zip(part["curves"]["all"][0], own, strict=True):
        assert row["low"] - 1e-6 <= rate <= row["high"] + 1e-6
