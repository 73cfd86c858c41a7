"""Small documents in TOML and JSON: what is refused before anything is made of them, and how long that takes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.assessment.policy import read_policy
from unveil.assessment.scenario import read_scenario
from unveil.errors import DataError, FileError, UnveilError
from unveil.files.documents import Maybe, check_shape, read_json, read_toml
from unveil.files.schema import read_schema
from unveil.show.report import read_assessment
from unveil.synthesis.provenance import FileFacts, Provenance, read_provenance, write_provenance
from unveil.synthesis.rebuild import reading_of, synthesizer_of

READERS: dict[str, Callable[[Path], Any]] = {
    "schema.toml": read_schema,
    "study.toml": lambda path: read_scenario(path, ["keys", "budget"]),
    "policy.toml": read_policy,
    "release.provenance.json": read_provenance,
    "assessment.json": read_assessment,
}
TOMLS = [name for name in READERS if name.endswith(".toml")]
JSONS = [name for name in READERS if name.endswith(".json")]


def refused(reader: Callable[[Path], Any], path: Path) -> str:
    """The one line with which a file is refused, within a second or two."""
    started = time.perf_counter()
    with pytest.raises(UnveilError) as caught:
        reader(path)
    assert time.perf_counter() - started < 10
    text = str(caught.value)
    assert path.name in text
    assert "\n" not in text
    assert len(text) < 500
    return text


@pytest.mark.parametrize("name", TOMLS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "9" * 5000, "a number has more than 300 digits"),
        ("a = " + "9" * 400, "a number has more than 300 digits"),
        ("a = -1" + "0" * 300, "a number has more than 300 digits"),
        ("a = 0x" + "f" * 2000, "a number has more than 300 digits"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "[" * 100 + "]" * 100, "nested too deeply"),
        ("a = " + "{a=" * 5000, "nested too deeply"),
        ("a." * 20_000 + "a = 1", "nested too deeply"),
        ("'a' . " * 20_000 + "a = 1", "nested too deeply"),
        ("[" + "a." * 20_000 + "a]", "nested too deeply"),
        ("x = {" + "a." * 20_000 + "a = 1}", "nested too deeply"),
        ("\0", "TOML"),
        ("a = 10^400", "TOML"),
        ("a = 1\n" * 3, "TOML"),
    ],
)  # fmt: skip
def test_toml_that_nobody_writes(tmp_path: Path, name: str, text: str, said: str):
    (tmp_path / name).write_text(text)
    assert said in refused(READERS[name], tmp_path / name)


@pytest.mark.parametrize("name", JSONS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ' + "9" * 5000 + "}", "a number has more than 300 digits"),
        ('{"a": ' + "9" * 400 + "}", "a number has more than 300 digits"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "nested too deeply"),
        ('{"a":' * 5000, "nested too deeply"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' occurs twice"),
        (r'{"a": "\ud800"}', "half a character"),
        (r'{"\udc00": 1}', "half a character"),
        ('{"a": 10^400}', "line 1"),
        ("", "line 1"),
        ("\0", "line 1"),
        ("5", "holds no|has no"),
        ("null", "holds no|has no"),
    ],
)
def test_json_that_nobody_writes(tmp_path: Path, name: str, text: str, said: str):
    (tmp_path / name).write_text(text)
    found = refused(READERS[name], tmp_path / name)
    assert any(one in found for one in said.split("|"))


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_or_no_text_or_too_large(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / name
    os.mkfifo(path)
    assert "a pipe, not a file" in refused(READERS[name], path)
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "a device, not a file" in refused(READERS[name], path)
    path.unlink()
    path.mkdir()
    assert "a folder, not a file" in refused(READERS[name], path)
    path.rmdir()
    assert f"no such file in {tmp_path}" in refused(READERS[name], path)
    path.write_bytes(b"# \xff")
    assert "byte 2 is not UTF-8" in refused(READERS[name], path)
    with path.open("wb") as file:
        file.truncate(300 << 20)
    assert "larger than" in refused(READERS[name], path)


def test_sound_documents_are_read(tmp_path: Path):
    path = tmp_path / "a.toml"
    path.write_text('\ufeffa = 1.5\n"b.c" = [' + ", ".join(["0.25"] * 1000) + ']\nd = "' + "a." * 500 + '"\n[x.y.z]\n')
    text, content = read_toml(path, "a.toml")
    assert text.startswith("a = 1.5")
    assert content == {"a": 1.5, "b.c": [0.25] * 1000, "d": "a." * 500, "x": {"y": {"z": {}}}}
    path.write_text(json.dumps({"seed": 2**128 - 1, "deep": [[[[{"a": None}]]]], "small": 1e-300}))
    assert read_json(path, "a.json") == {"seed": 2**128 - 1, "deep": [[[[{"a": None}]]]], "small": 1e-300}


def test_a_long_word_takes_no_long_time(tmp_path: Path):
    path = tmp_path / "a.toml"
    path.write_text("a = '''\n" + "x" * (1 << 20) + "\n'''\n")
    started = time.perf_counter()
    read_toml(path, "a.toml")
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("value", "shape", "said"),
    [
        ({"a": 1}, {"a": (str,)}, "content.a is 1, expected text"),
        ({"a": True}, {"a": (int,)}, "content.a is True, expected a whole number"),
        ({}, {"a": (str,)}, "content has no 'a'"),
        ([], {"a": (str,)}, "content is a list, expected names with values"),
        ({"a": {}}, {"a": [(str,)]}, "content.a is an object, expected a list"),
        ({"a": ["x", None]}, {"a": [(str,)]}, r"content.a\[1\] is None, expected text"),
        ({"a": 1}, {"a": Maybe([(str,)])}, "content.a is 1, expected a list"),
        ({"a": "x", "b": "y"}, {"a": (str,), "*": (int,)}, "content.b is 'y', expected a whole number"),
        ({"n": {"a": []}}, {"*": {"*": (int,)}}, "content.n.a is a list, expected a whole number"),
    ],
)
def test_shapes(value: Any, shape: Any, said: str):
    with pytest.raises(DataError, match=said):
        check_shape(value, shape, "content")
    check_shape({"a": None, "b": ["x"], "c": 1}, {"a": Maybe({"x": (int,)}), "b": [(str,)], "c?": (int,)}, "content")
    check_shape({"a": "x", "b": 1, "c": 2}, {"a": (str,), "d?": (str,), "*": (int,)}, "content")


# ---------------------------------------------------------------------------------------------------- provenance
EXAMPLE = Provenance(
    "cart", {"minbucket": 5}, 1, 1, 10, FileFacts("o.csv", "0" * 64, 10), (), (), 0.5,
    reading={"schema": {"name": "schema.toml", "sha256": "0" * 64}},
)  # fmt: skip


@pytest.mark.parametrize("name", ["/etc/passwd", "", ".", "..", "../schema.toml", "a/b", "a\0b", 5, None, ["x"]])
def test_the_schema_of_a_release_is_looked_for_beside_it_alone(tmp_path: Path, name: Any):
    path = tmp_path / "a.provenance.json"
    write_provenance(EXAMPLE, path)
    content = json.loads(path.read_text())
    content["reading"]["schema"]["name"] = name
    path.write_text(json.dumps(content))
    for reader in (read_provenance, reading_of):
        assert "schema" in refused(reader, path)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("method", 5), ("settings", []), ("seed", "1"), ("seed", True), ("m", None), ("k", 1.5), ("original", "o.csv"),
        ("original", {"name": "o.csv"}), ("releases", {}), ("releases", ["s.csv"]), ("variables", [{"name": 1}]),
        ("variables", None), ("seconds", "1"), ("reading", None), ("reading", {"schema": "schema.toml"}),
        ("warnings", "none"), ("warnings", [5]), ("versions", 5), ("date", 2024),
    ],
)  # fmt: skip
def test_other_types_are_named(tmp_path: Path, part: str, value: Any):
    path = tmp_path / "a.provenance.json"
    write_provenance(EXAMPLE, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {part: value}))
    said = refused(read_provenance, path)
    assert said.startswith("a.provenance.json: not a complete provenance file (the content")
    assert part in said


def test_a_setting_that_the_synthesizer_does_not_have_is_named():
    with pytest.raises(DataError, match="method 'cart' has no setting 'leaves'"):
        synthesizer_of(Provenance("cart", {"leaves": 5}, 1, 1, 10, EXAMPLE.original, (), (), 0.5))


def test_a_document_may_be_read_as_standard_formats_allow(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text('[1, 2.5, null, true, "\u00e9"]')
    assert read_json(path, "a.json") == [1, 2.5, None, True, "é"]
    path.write_text("x")
    with pytest.raises(FileError, match=r"^a\.json: not a card \(Expecting value, line 1\)"):
        read_json(path, "a.json", "a card")
