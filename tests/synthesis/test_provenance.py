"""Provenance files: complete, without values of records, and enough to rebuild a fit."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import unveil
from unveil.errors import CallError, DataError, FileError
from unveil.files.write import write_table
from unveil.synthesis.provenance import FileFacts, Provenance, VariableFacts, read_provenance, write_provenance
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.synthetic_files import synthesize_files

ORIGINAL = FileFacts("original.csv", "ab" * 32, 5000)
EXAMPLE = Provenance(
    method="cart",
    settings={"minbucket": 5, "cp": 1e-8, "special_codes": {"income": [-8]}, "visit_order": None},
    seed=7,
    m=1,
    k=100,
    original=ORIGINAL,
    releases=(FileFacts("original_syn1.csv", "cd" * 32, 100),),
    variables=(VariableFacts("sex", "sample"), VariableFacts("income", "cart", 12, 3, 0.25)),
    seconds=1.5,
    reading={"missing": ["NA"]},
    warnings=("a warning",),
)


def test_what_is_written_is_read(tmp_path: Path):
    path = tmp_path / "a.provenance.json"
    before = datetime.now(UTC)
    example = replace(EXAMPLE, date=datetime.now(UTC).isoformat(timespec="seconds"))
    write_provenance(example, path)
    assert read_provenance(path) == example
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["format"] == 1
    assert content["variables"][1] == {
        "name": "income", "method": "cart", "leaves": 12, "leaves_removed": 3, "bits_lost": 0.25
    }  # fmt: skip
    assert content["versions"]["unveil"] == unveil.__version__
    # The date is kept to the second.
    assert before.replace(microsecond=0) <= datetime.fromisoformat(content["date"]) <= datetime.now(UTC)
    assert content["date"].endswith("+00:00")


def test_facts_of_a_file(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x\n" * (1 << 20))
    assert FileFacts.of(path, 5) == FileFacts("a.csv", hashlib.sha256(path.read_bytes()).hexdigest(), 5)
    with pytest.raises(FileError, match=r"b\.csv: cannot be read"):
        FileFacts.of(tmp_path / "b.csv", 5)


def test_the_original_is_known_again_by_its_content(tmp_path: Path):
    path = tmp_path / "original.csv"
    path.write_text("x\n1\n", encoding="utf-8")
    provenance = replace(EXAMPLE, original=FileFacts.of(path, 1))
    provenance.check_original(path)
    path.write_text("x\n2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"original\.csv is not the file that the release was made from"):
        provenance.check_original(path)


def test_an_existing_file_is_kept(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match=r"a\.json: the file exists"):
        write_provenance(EXAMPLE, path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_provenance(EXAMPLE, path, overwrite=True)
    assert read_provenance(path) == EXAMPLE


@pytest.mark.parametrize("value", [len, math.nan, {1, 2}])
def test_settings_have_to_be_plain(tmp_path: Path, value: Any):
    with pytest.raises(CallError, match=r"setting 'rules' cannot be kept in a\.json"):
        write_provenance(replace(EXAMPLE, settings={"rules": value}), tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a\.json: not a provenance file"),
        ("{", r"a\.json: not a provenance file"),
        ("[]", r"a\.json: not a provenance file; it has no 'format'"),
        ("{}", r"a\.json: not a provenance file; it has no 'format'"),
        ('{"format": 99}', "this one knows format 1"),
        ('{"format": 1}', "not a complete provenance file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message) as caught:
        read_provenance(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("reading", "encoding", 7), ("reading", "missing", 3), ("reading", "missing", [3]),
        ("reading", "delimiter", [","]), ("reading", "schema", "s.toml"), ("settings", "special_codes", 3),
        ("settings", "kinds", ["age"]),
    ],
)  # fmt: skip
def test_options_of_another_type_are_named(tmp_path: Path, part: str, name: str, value: Any):
    path = tmp_path / "a.json"
    content = EXAMPLE.to_dict()
    path.write_text(json.dumps(content | {part: content[part] | {name: value}}), encoding="utf-8")
    with pytest.raises(FileError, match=rf"not a complete provenance file \(the content\.{part}\.{name}"):
        read_provenance(path)


def test_missing_and_unknown_keys_are_named(tmp_path: Path):
    path = tmp_path / "a.json"
    content = EXAMPLE.to_dict()
    for changed, name in (({**content, "extra": 1}, "extra"), ({k: v for k, v in content.items() if k != "k"}, "'k'")):
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(FileError, match=name):
            read_provenance(path)
    with pytest.raises(FileError, match=r"none\.json: no such file in"):
        read_provenance(tmp_path / "none.json")


def test_a_fit_is_rebuilt_from_it(tmp_path: Path):
    original, release = tmp_path / "survey.parquet", tmp_path / "release.parquet"
    write_table(unveil.simulate.demo_population(300, seed=1), original)
    settings = {"minbucket": 10, "special_codes": {"income": [-8]}, "methods": {"sex": "sample"}}
    synthesize_files(original, release, m=1, k=50, seed=3, settings=settings)
    found = read_provenance(tmp_path / "release.provenance.json")
    found.check_original(original)
    rebuilt = CartSynthesizer(**found.settings).fit(unveil.read(original, **found.reading), seed=found.seed)
    direct = CartSynthesizer(**settings).fit(original)
    assert rebuilt.leaves() == direct.leaves()
    assert rebuilt.log_prob(release).total == direct.log_prob(release).total
    again, written = rebuilt.sample(found.k, seed=found.seed), unveil.read(release)
    for name in written.names:
        assert again.column(name).to_pylist() == written.column(name).to_pylist()


def test_no_value_of_a_record_is_in_it(tmp_path: Path):
    original = tmp_path / "survey.csv"
    rows = "\n".join(f"secret{i % 7},{1234500 + i}.25" for i in range(60))
    original.write_text(f"word,amount\n{rows}\n", encoding="utf-8")
    files = synthesize_files(original, tmp_path / "out", m=2)
    text = files.paths.provenance.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "12345" not in text
