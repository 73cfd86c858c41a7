"""The options of `unveil rapid`, apart from the verbs' common ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

import unveil
from unveil._rapid import Rapid
from unveil.cli.output import Output
from unveil.cli.rapid import Intruder, Views, measure

PEOPLE = unveil.simulate.rapid_population(120, kappa=10, seed=1)
DEFAULT, NOTHING = Intruder(), Views()


class _Kept:
    json: str | None = None

    def __init__(self) -> None:
        self.given: list[tuple[Any, Any]] = []

    def give(
        self, result: Any, extra: dict[str, Any] | None = None, *, document: Callable[[], dict[str, Any]] | None = None
    ) -> None:
        self.given.append((result, None if document is None else document()))
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
    result, document = kept.given[0]
    assert result.attackers == ("cart", "logit")
    assert document is not None
    assert document["curve"]["tau"]
    assert [row["level"] for row in document["attacks"][1]["by"]["education"]] == ["low", "medium", "high"]
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


def test_several_targets_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    kept = run("--attacker", "cart", "--permutations", "1", "--no-ceiling", "--by", "gender")
    results, document = kept.given[0]
    assert document is not None
    assert [d["target"] for d in document["targets"]] == [r.target for r in results]
    assert all(d["curve"] and d["attacks"][0]["by"]["gender"] for d in document["targets"])
    assert "income: by gender" in capsys.readouterr().out


def test_a_column_that_is_not_there_is_named_before_anything_runs() -> None:
    with pytest.raises(unveil.CallError, match="educatoin"):
        run("--by", "educatoin")


def test_views_need_one_target() -> None:
    with pytest.raises(unveil.CallError, match="one target"):
        run("--curve")


def test_a_document_that_nobody_asked_for_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, made = [], Rapid.to_dict
    monkeypatch.setattr(Rapid, "to_dict", lambda self, **options: asked.append(options) or made(self, **options))
    options = Intruder(attacker=["cart"], permutations=0, ceiling=False)
    for path in (None, tmp_path / "found.json"):
        output = Output(json=None if path is None else str(path))
        measure(unveil.Pair(PEOPLE, PEOPLE), ["age"], "education", None, options, NOTHING, output)
    assert asked == [{"curve": True, "by": []}]
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["curve"]["tau"]
    assert capsys.readouterr().out.count("RAPID of 'education'") == 2
