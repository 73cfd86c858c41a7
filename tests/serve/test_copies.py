"""Files that the browser sends: where they are, who can read them, and how large they may be."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the page needs Starlette")

from unveil.errors import FileError
from unveil.serve import copies
from unveil.serve.copies import safe_name


def test_a_copy_is_for_the_owner_alone(browser: Any, desk: Any):
    answer = browser.copy("original", "people.csv", b"sex,age\nf,31\n")
    assert answer.json == ["people.csv"]
    path = desk.folder / "original" / "people.csv"
    assert path.read_bytes() == b"sex,age\nf,31\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/evil.csv", "..%2F..%2Fevil.csv", "..\\..\\evil.csv", "C:\\evil.csv", "a/../evil.csv"],
)
def test_no_name_leaves_the_folder(browser: Any, desk: Any, tmp_path: Path, name: str):
    assert browser.copy("original", name, b"x\n1\n").json == ["evil.csv"]
    found = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert found == [Path("private/original/evil.csv")]


@pytest.mark.parametrize("role", ["..", "%2e%2e", "elsewhere", "original/../..", "documents", "demo"])
def test_no_role_leaves_the_folder(browser: Any, tmp_path: Path, role: str):
    assert browser.copy(role, "evil.csv", b"x\n1\n").status in (404, 422)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["", "..", "a.exe", "a.csv%00.txt", ".csv", "a%0a.csv", "x:y.csv", f"{'a' * 200}.csv"])
def test_names_that_are_none_are_refused_in_one_line(browser: Any, tmp_path: Path, name: str):
    answer = browser.copy("original", name, b"x\n1\n")
    assert answer.status == 422
    assert len(answer.text.splitlines()) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@given(st.text())
def test_every_safe_name_is_a_file_of_its_folder(text: str):
    try:
        name = safe_name(f"{text}.csv")
    except FileError:
        return
    assert Path("/folder") / name == Path(f"/folder/{name}")
    assert (Path("/folder") / name).resolve().parent == Path("/folder").resolve()


def test_a_file_that_is_too_large_leaves_nothing(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(copies.stored, "__defaults__", (100,))
    assert browser.copy("original", "a.csv", b"x" * 100).status == 200
    answer = browser.copy("original", "b.csv", b"x" * 101)
    assert answer.status == 422
    assert "path" in answer.text
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.csv"]


def test_a_release_may_have_several_files_an_original_one(browser: Any):
    for role, expected in (("original", ["b.csv"]), ("synthetic", ["a.csv", "b.csv"])):
        browser.copy(role, "a.csv", b"x\n1\n")
        assert browser.copy(role, "b.csv", b"x\n1\n").json == expected


def test_a_copy_can_be_removed(browser: Any, desk: Any):
    browser.copy("original", "a.csv", b"x\n1\n")
    assert browser.post("/copies/original/remove").json == []
    assert not (desk.folder / "original" / "a.csv").exists()


def test_files_of_one_name_are_told_apart_or_refused(browser: Any):
    for role in ("original", "synthetic"):
        browser.copy(role, "a.csv", b"x\n1\n")
    answer = browser.post("/files")
    assert answer.status == 422
    assert "two files have this name" in answer.text


def test_a_form_has_an_end(browser: Any):
    answer = browser.post("/files", {"original": "x" * (5 << 20)})
    assert answer.status == 400
    assert "larger than 4 MB" in answer.text
    assert browser.ask("POST", "/files", b"\xff=1", Origin="http://127.0.0.1:8765").status == 400
