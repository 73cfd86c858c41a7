"""From the files to the question: what is chosen, what is wrong, and where that is said."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import html5lib
import pyarrow as pa
import pyarrow.csv as csv
import pytest

pytest.importorskip("starlette", reason="the page needs Starlette")

from unveil.serve.columns import columns_of


@pytest.fixture
def files(survey: Path) -> dict[str, Path]:
    return {"original": survey / "original.csv", "synthetic": survey / "release.csv"}


@pytest.fixture
def read(browser: Any, files: dict[str, Path]) -> Any:
    """A browser whose files are read."""
    assert browser.post("/files", files).status == 303
    return browser


def columns_form(desk: Any, **changes: str) -> dict[str, str]:
    form = {}
    for n, view in enumerate(desk.columns):
        form |= {f"kind.{n}": view.kind, f"codes.{n}": view.codes}
    return form | changes


def position(desk: Any, name: str) -> int:
    return desk.names.index(name)


def roles(desk: Any, **chosen: str) -> list[tuple[str, str]]:
    """The question with the options as they are at first."""
    from unveil.assessment import INTRUDERS, MEASURES

    lists = [("measures", one) for one in MEASURES] + [("intruders", one) for one in INTRUDERS]
    return [(f"role.{position(desk, name)}", role) for name, role in chosen.items()] + lists


def wrong(answer: Any, field: str) -> str:
    """What is said beside a field."""
    found = re.search(rf'id="{re.escape(field)}-wrong"><strong>Correct:</strong> (.*?)</p>', answer.text)
    assert found is not None, answer.text[:3000]
    return html.unescape(found[1])


def test_steps_wait_for_the_one_before(browser: Any):
    for path in ("/columns", "/question", "/run"):
        answer = browser.get(path)
        assert (answer.status, answer.headers["location"]) == (303, "/")
    assert browser.get("/state").json is None
    assert browser.get("/report").status == 404
    assert browser.get("/save/report.html").status == 404


def test_files_are_read_in_place(browser: Any, desk: Any, files: dict[str, Path]):
    answer = browser.post("/files", files)
    assert (answer.status, answer.headers["location"]) == (303, "/columns")
    assert list(desk.folder.iterdir()) == []
    assert desk.plan.files["original"] == (files["original"],)


def test_what_is_missing_is_said_beside_its_field(browser: Any):
    answer = browser.post("/files")
    assert answer.status == 422
    assert wrong(answer, "original") == "choose the file of real records"
    assert wrong(answer, "synthetic") == "choose a release"


@pytest.mark.parametrize("role", ["original", "synthetic", "holdout", "provenance", "schema", "policy"])
def test_a_file_that_cannot_be_read_is_said_beside_its_field(
    browser: Any, files: dict[str, Path], tmp_path: Path, role: str
):
    for name, content in (("no.csv", None), ("broken.toml", b"["), ("zeros.csv", b"\0" * 9)):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        answer = browser.post("/files", {**files, role: path})
        assert answer.status == 422
        said = wrong(answer, role)
        assert name in said
        assert len(said.splitlines()) == 1
        assert f'href="#{role}"' in answer.text
        # What was typed is still there.
        assert str(path) in answer.text


def test_a_wrong_option_of_reading_is_said_beside_it(browser: Any, files: dict[str, Path]):
    answer = browser.post("/files", {**files, "decimal": ";"})
    assert answer.status == 422
    assert "decimal must be" in answer.text


def test_files_without_a_common_column_are_refused(browser: Any, files: dict[str, Path], tmp_path: Path):
    csv.write_csv(pa.table({"other": [1]}), tmp_path / "other.csv")
    answer = browser.post("/files", {**files, "synthetic": tmp_path / "other.csv"})
    assert answer.status == 422
    assert "no column in common" in answer.text


def test_columns_that_a_release_lacks_are_said(browser: Any, files: dict[str, Path], tmp_path: Path):
    csv.write_csv(csv.read_csv(files["synthetic"]).drop_columns(["income"]), tmp_path / "less.csv")
    assert browser.post("/files", {**files, "synthetic": tmp_path / "less.csv"}).status == 303
    assert "not in every release, and not compared: income" in browser.get("/columns").text


def test_an_original_is_one_file(browser: Any, desk: Any, files: dict[str, Path]):
    browser.copy("original", "a.csv", files["original"].read_bytes())
    answer = browser.post("/files", files)
    assert wrong(answer, "original") == "a path and a copy are given; remove one of them"
    assert browser.post("/files", {**files, "original": ""}).status == 303
    assert desk.has_copies(desk.plan)
    # What was picked stays picked, what was typed stays typed.
    page = browser.get("/").text
    assert ">Copied: a.csv</p>" in page
    assert str(files["synthetic"]) in page
    assert str(desk.folder) not in page


def test_columns_say_what_they_were_taken_for(read: Any, desk: Any):
    page = read.get("/columns").text
    views = {view.name: view for view in desk.columns}
    assert (views["sex"].kind, views["sex"].n_levels, views["sex"].uniques) == ("categorical", 2, 0)
    assert views["income"].suspected == "-8"
    assert views["age"].span.startswith("16 to ")
    assert "-8: these look like codes, not amounts" in page
    assert [label.original for label in views["sex"].levels] == sorted(
        (label.original for label in views["sex"].levels), reverse=True
    )


def test_uniques_and_gaps_are_counted_by_hand(tmp_path: Path):
    from unveil import Pair

    original = pa.table({"job": ["a", "a", "b", None, "c"], "pay": [1, 1, 2, -8, 3]})
    view, pay = columns_of(Pair(original, original.slice(0, 2), special_codes={"pay": [-8]}))
    assert (view.n_levels, view.uniques, view.gaps) == (3, 2, 1)
    assert (pay.kind, pay.span, pay.codes) == ("numeric", "1 to 3", "-8")
    assert (view.levels[0].label, view.levels[0].original, view.levels[0].releases) == ("a", 2, 2)


def test_a_kind_and_codes_can_be_corrected(read: Any, desk: Any):
    income, depress = position(desk, "income"), position(desk, "depress")
    form = columns_form(desk, **{f"codes.{income}": "-8", f"kind.{depress}": "categorical", "then": "again"})
    answer = read.post("/columns", form)
    assert (answer.status, answer.headers["location"]) == (303, "/columns")
    assert desk.plan.reading == {"special_codes": {"income": [-8]}, "kinds": {"depress": "categorical"}}
    assert desk.columns[income].codes == "-8"
    assert desk.columns[depress].kind == "categorical"
    # As it was read at first: nothing is corrected.
    read.post("/columns", columns_form(desk, **{f"codes.{income}": "", f"kind.{depress}": "numeric"}))
    assert desk.plan.reading == {}


def test_a_wrong_correction_is_said_beside_its_column(read: Any, desk: Any):
    sex, income = position(desk, "sex"), position(desk, "income")
    before = desk.plan
    answer = read.post("/columns", columns_form(desk, **{f"codes.{income}": "refused"}))
    assert answer.status == 422
    assert wrong(answer, f"column.{income}") == "special codes of income: 'refused' is not a number"
    answer = read.post("/columns", columns_form(desk, **{f"kind.{sex}": "date"}))
    assert answer.status == 422
    assert "sex" in wrong(answer, f"column.{sex}")
    assert desk.plan is before


def test_codes_that_a_schema_declares_are_corrected_there(
    browser: Any, desk: Any, files: dict[str, Path], tmp_path: Path
):
    (tmp_path / "schema.toml").write_text("[columns.income]\nspecial_codes = [-8]\n")
    assert browser.post("/files", {**files, "schema": tmp_path / "schema.toml"}).status == 303
    income = position(desk, "income")
    assert desk.columns[income].codes == "-8"
    answer = browser.post("/columns", columns_form(desk, **{f"codes.{income}": ""}))
    assert wrong(answer, f"column.{income}") == "the schema declares the special codes -8; correct them there"
    assert desk.plan.reading == {}


def test_weights_units_and_the_population_are_options_of_a_record(read: Any, desk: Any):
    answer = read.post("/columns", columns_form(desk, weights="age", population="9000"))
    assert answer.status == 303
    assert desk.plan.reading == {"weights": "age", "population": 9000}
    answer = read.post("/columns", columns_form(desk, population="few"))
    assert wrong(answer, "population") == "population: 'few' is not a number"
    answer = read.post("/columns", columns_form(desk, time="age"))
    assert "name the unit too" in wrong(answer, "time")


def test_uniques_follow_the_keys(read: Any, desk: Any):
    from unveil import identity

    chosen = roles(desk, sex="key", age="key", region="key")
    found = identity(desk.pair, ["sex", "age", "region"])
    assert f"With these 3 keys {found.UiO:.1f} of 100" in read.post("/uniques", chosen).text
    assert read.post("/uniques", roles(desk)).text == "No keys are chosen yet."
    groups = [*chosen, (f"groups.{position(desk, 'age')}", "3")]
    grouped = identity(desk.pair, ["sex", "age", "region"], ngroups_keys={"age": 3})
    assert grouped.UiO < found.UiO
    assert f"{grouped.UiO:.1f} of 100" in read.post("/uniques", groups).text


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ([("budget", "-1")], "budget", "budget must be"),
        ([("budget", "soon")], "budget", "budget: 'soon' is not a number"),
        ([("minimum_count", "0")], "minimum_count", "minimum_count"),
        ([("seed", "0.5")], "seed", "seed must be a whole number"),
        ([("level", "95")], "level", "level"),
    ],
)
def test_a_wrong_option_is_said_beside_its_field(read: Any, desk: Any, changes: Any, field: str, said: str):
    answer = read.post("/question", [*roles(desk, sex="key", marital="target"), *changes])
    assert answer.status == 422
    assert wrong(answer, field).startswith(said)
    assert desk.run is None


def test_keys_and_targets_are_needed(read: Any, desk: Any):
    answer = read.post("/question", roles(desk, marital="target"))
    assert "no keys given" in answer.text
    answer = read.post("/question", [("role.0", "key")])
    assert wrong(answer, "measures") == "choose at least one of the measures"
    assert desk.run is None


def test_names_from_files_command_no_page(browser: Any, desk: Any, tmp_path: Path):
    evil = "<script>alert(1)</script>\"'&"
    table = pa.table({evil: ["a", "<img src=x onerror=alert(1)>", "b"], "ä b": [1, 2, 3]})
    for name in ("o.csv", "s.csv"):
        csv.write_csv(table, tmp_path / name)
    assert browser.post("/files", {"original": tmp_path / "o.csv", "synthetic": tmp_path / "s.csv"}).status == 303
    for path in ("/columns", "/question"):
        text = browser.get(path).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert html.escape(evil, quote=False)[:20] in text
    answer = browser.post("/files", {"original": '"><script>alert(1)</script>.csv', "synthetic": ""})
    assert "<script>alert" not in answer.text


def test_an_unforeseen_error_tells_nothing_of_the_data(
    read: Any, desk: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fails(form: Any) -> Any:
        raise RuntimeError("Anna, born 1971")

    monkeypatch.setattr(desk, "correct_columns", fails)
    answer = read.post("/columns")
    assert answer.status == 500
    assert "RuntimeError in test_pages.py" in answer.text
    assert "Anna" not in answer.text
    assert isinstance(read.unforeseen, RuntimeError)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/", "/columns", "/question"])
def test_pages_are_whole_html(read: Any, path: str):
    parser = html5lib.HTMLParser(strict=True)
    tree = parser.parse(read.get(path).text)
    names = "{http://www.w3.org/1999/xhtml}"
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    labelled = {one.get("for") for one in tree.iter(f"{names}label")}
    for kind in ("input", "select", "textarea"):
        for one in tree.iter(names + kind):
            assert one.get("type") == "hidden" or one.get("id") in labelled
    described = [part for one in tree.iter() for part in (one.get("aria-describedby") or "").split()]
    assert set(described) <= set(ids)
