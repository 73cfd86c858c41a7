"""The options of `unveil rapid`, apart from the verbs' common ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

import unveil
from unveil.cli.rapid import Intruder, Views, measure

PEOPLE = unveil.simulate.rapid_population(120, kappa=10, seed=1)
DEFAULT, NOTHING = Intruder(), Views()


class _Kept:
    json: str | None = None

    def __init__(self) -> None:
        self.given: list[tuple[Any, Any]] = []

    def give(self, result: Any, extra: dict[str, Any] | None = None) -> None:
        self.given.append((result, extra))
        print(result)


def run(*words: str) -> _Kept:
    app, kept = App(name="test"), _Kept()

    @app.command
    def rapid(*, target: str | None = None, intruder: Intruder = DEFAULT, views: Views = NOTHING) -> None:
        measure(unveil.Pair(PEOPLE, PEOPLE), ["age", "education"], target, None, intruder, views, kept)

    app(["rapid", *words], exit_on_error=False, print_error=False, result_action="return_value")
    return kept


def test_one_target(capsys: pytest.CaptureFixture[str]) -> None:
    kept = run("--target", "disease_status", "--attacker", "cart,logit", "--permutations", "1", "--by", "education",
               "--worst-subgroups")  # fmt: skip
    result, extra = kept.given[0]
    assert result.attackers == ("cart", "logit")
    assert extra is not None
    assert extra["curve"]["tau"]
    shown = capsys.readouterr().out
    assert "by education" in shown
    assert "worst subgroups" in shown


def test_views_and_side_information(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(PEOPLE, tmp_path / "side.parquet")
    options = ("--target", "income", "--attacker", "lm", "--permutations", "1", "--no-ceiling", "--target-na", "0",
               "--side-information", str(tmp_path / "side.parquet"), "--side-weight", "2")  # fmt: skip
    assert "epsilon" in str(run(*options, "--curve").given[0][0])
    assert "log odds" in str(run(*options, "--attribution").given[0][0])
    capsys.readouterr()


def test_views_need_one_target() -> None:
    with pytest.raises(unveil.CallError, match="one target"):
        run("--curve")
