"""What the result holds, how it prints and draws, and the verb."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from cyclopts import App

import unveil
from reference import columns_of
from unveil.cli.utility import utility as verb
from unveil.errors import CallError
from unveil.plain import without_nan
from unveil.simulate import demo_population

MODELS = ["income ~ age + sex", "logistic: smoke ~ age"]
TABLES = ("summary", "propensity", "variables", "pairs", "models", "prediction")


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, list[pa.Table]]:
    names = ["sex", "age", "region", "income", "smoke"]
    population = demo_population(900, seed=1)
    population = population.append_column("smoke", pa.array(["yes" if i % 3 else "no" for i in range(900)]))
    chosen = population.select(names)
    return chosen.slice(0, 300), [chosen.slice(300, 300), chosen.slice(600, 300)]


@pytest.fixture(scope="module")
def result(tables: tuple[pa.Table, list[pa.Table]]) -> unveil.Utility:
    original, releases = tables
    return unveil.utility(unveil.Pair(original, releases, special_codes={"income": [-8]}), models=MODELS)


def test_the_function_does_not_hide_the_room() -> None:
    from unveil.utility import Utility, utility

    assert unveil.utility is utility
    assert unveil.Utility is Utility


def test_frames_of_every_flavour(
    tables: tuple[pa.Table, list[pa.Table]], make_frame: Callable[[Any], Any], flavour: str
) -> None:
    original, releases = tables
    pair = unveil.Pair(make_frame(original), [make_frame(r) for r in releases])
    found = unveil.utility(pair, ["sex", "age"], measures=["marginals", "pairs"])
    frame = found.to_frame("variables")
    assert type(frame).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(flavour, flavour)
    columns = columns_of(frame)
    assert columns["variable"] == ["sex"] * 3 + ["age"] * 3
    assert columns["release"] == ["release 1", "release 2", "mean"] * 2
    assert columns["TVD"][2] == pytest.approx((columns["TVD"][0] + columns["TVD"][1]) / 2)


def test_every_table_has_a_row_per_release_and_their_mean(result: unveil.Utility) -> None:
    for table in TABLES:
        columns = columns_of(result.to_frame(table, flavour="arrow"))
        n = 1 if table == "summary" else len(getattr(result, table))
        assert columns["release"] == ["release 1", "release 2", "mean"] * n, table
    with pytest.raises(CallError, match=r"table must be .*'pairs'.* not 'pair'"):
        result.to_frame("pair")


def test_one_release_has_no_row_for_a_mean(tables: tuple[pa.Table, list[pa.Table]]) -> None:
    original, releases = tables
    found = unveil.utility(unveil.Pair(original, releases[0]), measures="marginals")
    assert columns_of(found.to_frame())["release"] == ["the release"]
    assert "\nmean" not in str(found)
    assert "mean of the releases" not in str(found)
    assert math.isnan(found.sd["TVD_mean"])


def test_dict_is_json_and_has_the_headlines(result: unveil.Utility) -> None:
    found = result.to_dict()
    text = json.dumps(without_nan(found), allow_nan=False)
    assert json.loads(text)["labels"] == ["release 1", "release 2"]
    assert set(found["mean"]) == {
        *(f"{figure}_{model}" for figure in ("pMSE", "S_pMSE", "SPECKS", "PO50") for model in ("logistic", "cart")),
        *(f"{figure}{of}_{over}" for figure in ("TVD", "S_pMSE") for of in ("", "_pairs") for over in ("mean", "max")),
        *(f"{figure}_difference_{over}" for figure in ("V", "pearson", "spearman") for over in ("mean", "max")),
        "overlap_mean", "overlap_min", "std_difference_max",
        "accuracy_TRTR", "accuracy_TSTR", "R2_TRTR", "R2_TSTR",
    }  # fmt: skip
    for release in (0, 1):
        worst = max(c.releases[release]["TVD"] for c in result.pairs)
        assert found["releases"][release]["TVD_pairs_max"] == worst
        overlaps = [c.releases[release]["overlap"] for c in result.models]
        assert found["releases"][release]["overlap_min"] == min(overlaps)
        score = [c.releases[release]["TSTR"] for c in result.prediction if c.subject["score"] == "accuracy"]
        assert found["releases"][release]["accuracy_TSTR"] == pytest.approx(sum(score) / len(score))


def test_dict_tells_no_value_of_a_record(tables: tuple[pa.Table, list[pa.Table]], result: unveil.Utility) -> None:
    # the only levels that are told are those that name coefficients of models asked for
    text = json.dumps(without_nan(result.to_dict()))
    regions = set(tables[0]["region"].to_pylist()) - {None}
    assert regions
    assert not any(region in text for region in regions)


def test_parts_that_were_not_asked_for_are_empty(tables: tuple[pa.Table, list[pa.Table]]) -> None:
    original, releases = tables
    found = unveil.utility(unveil.Pair(original, releases), measures="pairs")
    assert found.variables == found.propensity == found.models == found.prediction == ()
    assert "worst variables" not in str(found)
    with pytest.raises(CallError, match="variables plot needs variables"):
        found.plot("variables")


def test_text_names_denominators_the_worst_and_what_is_not_shown(result: unveil.Utility) -> None:
    text = str(result)
    assert text.startswith("Utility: 300 original records, 2 releases; 5 variables\n")
    for part in ("release 1", "correct model", "worst variables", "worst pairs", "income ~ age + sex (linear)",
                 "smoke ~ age (logistic, of yes)", "trained on real", "None of this shows"):  # fmt: skip
        assert part in text
    assert repr(result) == text
    worst = result.worst("variables", n=1)[0]
    assert worst.mean["S_pMSE"] == max(c.mean["S_pMSE"] for c in result.variables)
    low = result.worst("models", n=1)[0]
    assert low.mean["overlap"] == min(c.mean["overlap"] for c in result.models)


def test_worst_by_another_figure(result: unveil.Utility) -> None:
    values = [c.mean["TVD"] for c in result.worst("pairs", by="TVD", n=10)]
    assert values == sorted(values, reverse=True)
    losses = [c.mean["difference"] for c in result.worst("prediction", n=99) if c.subject["score"] == "accuracy"]
    assert losses == sorted(losses)
    assert min(losses) < max(losses)
    with pytest.raises(CallError, match="not 'TVDD'"):
        result.worst("pairs", by="TVDD")
    with pytest.raises(CallError, match="table must be"):
        result.worst("summary")


def test_columns_that_a_release_lacks_are_told(tables: tuple[pa.Table, list[pa.Table]]) -> None:
    original, releases = tables
    found = unveil.utility(unveil.Pair(original, releases[0].drop_columns(["age"])), measures="marginals")
    assert found.notes == ("not in every release, and not compared: age",)
    assert found.notes[0] in str(found)


@pytest.mark.parametrize(
    ("kind", "measure"),
    [("heatmap", None), ("heatmap", "S_pMSE"), ("heatmap", "V_difference"), ("heatmap", "pearson_difference"),
     ("variables", None), ("variables", "S_pMSE"), ("variables", "KS"), ("models", None), ("prediction", None),
     ("prediction", "macro_F1")],
)  # fmt: skip
def test_plots(result: unveil.Utility, kind: str, measure: str | None) -> None:
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    ax = result.plot(kind, measure=measure)
    assert ax.get_title()
    ax.figure.canvas.draw()
    if kind == "heatmap":
        shown = ax.images[0].get_array()
        worst = max(abs(c.mean.get(measure or "TVD", math.nan)) for c in result.pairs if (measure or "TVD") in c.mean)
        assert abs(shown[~shown.mask]).max() >= worst - 1e-12
        assert [label.get_text() for label in ax.get_xticklabels()] == list(result.columns)
    plt.close("all")


def test_plots_refuse_what_they_cannot_draw(result: unveil.Utility) -> None:
    pytest.importorskip("matplotlib")
    for kind, measure, message in (("map", None, "kind must be"), ("heatmap", "KS", "not 'KS'"),
                                   ("variables", "V", "not 'V'"), ("prediction", "F2", "not 'F2'")):  # fmt: skip
        with pytest.raises(CallError, match=message):
            result.plot(kind, measure=measure)


# --------------------------------------------------------------------------------------------------------- verb
@pytest.fixture
def files(tables: tuple[pa.Table, list[pa.Table]], tmp_path: Path) -> list[str]:
    paths = [tmp_path / name for name in ("original.csv", "first.csv", "second.csv")]
    for table, path in zip((tables[0], *tables[1]), paths, strict=True):
        pyarrow.csv.write_csv(table, path)
    return [str(path) for path in paths]


def run(*arguments: str) -> None:
    app = App(name="utility")
    app.default(verb)
    app(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")


def test_verb_gives_what_the_function_gives(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(*files, "--columns", "sex,age,income", "--special-codes", "income=-8", "--measures", "marginals,models",
        "--model", "income ~ age + sex", "--ngroups", "4", "--json", "-")  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    pair = unveil.Pair(files[0], files[1:], special_codes={"income": [-8]})
    expected = unveil.utility(pair, ["sex", "age", "income"], measures=["marginals", "models"],
                              models="income ~ age + sex", ngroups=4)  # fmt: skip
    assert found["measure"] == "Utility"
    assert found["mean"] == without_nan(expected.to_dict())["mean"]
    assert found["models"] == without_nan(expected.to_dict())["models"]


def test_verb_prints_and_plots(files: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.svg"
    run(*files, "--measures", "marginals", "--plot", str(plot), "--view-measure", "S_pMSE")
    assert "worst variables" in capsys.readouterr().out
    assert "<svg" in plot.read_text(encoding="utf-8")


def test_verb_complains(files: list[str]) -> None:
    with pytest.raises(CallError, match=r"measures must be .* not 'marginal'"):
        run(*files, "--measures", "marginal")
    with pytest.raises(CallError, match="no release given"):
        run(files[0])
