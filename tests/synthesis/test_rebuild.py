"""From a provenance file back to the synthesizer, with every setting."""

from __future__ import annotations

import pytest

from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files.digest import sha256
from unveil.synthesis.provenance import FileFacts, Provenance, write_provenance
from unveil.synthesis.rebuild import reading_of, rebuilt, synthesizer_of
from unveil.synthesis.settings import settings_of


def provenance(method, settings):
    return Provenance(method, settings, 1, 1, 10, FileFacts("o.csv", "0" * 64, 10), (), (), 0.1)


def test_settings_come_back():
    given = {"minbucket": 20, "cp": 1e-3, "visit_order": ["b", "a"], "special_codes": {"b": [-8]}}
    found = settings_of(synthesizer_of(provenance("cart", given)))
    assert {name: found[name] for name in given} == given


def test_methods_by_column_are_kept_beside_another_method():
    methods = {"a": "sample", "b": "norm"}
    assert settings_of(synthesizer_of(provenance("norm", {"methods": methods})))["methods"] == methods


def test_a_file_of_counts_keeps_its_noise():
    given = {"prior": 0.5, "epsilon": 2.0, "neighbours": "replace"}
    found = settings_of(synthesizer_of(provenance("catall", given)))
    assert found["class"] == "CatallSynthesizer"
    assert {name: found[name] for name in given} == given


def test_a_network_has_no_likelihood():
    with pytest.raises(DataError, match="'dp_bayesnet', whose likelihood is not computed"):
        synthesizer_of(provenance("dp_bayesnet", {"epsilon": 1.0}))


def test_a_release_that_was_not_made_with_it_is_named(tmp_path):
    for name in ("o.csv", "made.csv", "other.csv"):
        (tmp_path / name).write_text(f"a\n{len(name)}\n")
    original, made, other = (tmp_path / name for name in ("o.csv", "made.csv", "other.csv"))
    path = tmp_path / "made.provenance.json"
    facts = FileFacts.of(original, 1)
    write_provenance(Provenance("cart", {}, 1, 1, 1, facts, (FileFacts.of(made, 1),), (), 0.1), path)
    renamed = made.rename(tmp_path / "renamed.csv")
    assert settings_of(rebuilt(path, original, [renamed]))["minbucket"] == 5
    with pytest.warns(UnveilWarning, match=r"made\.provenance\.json tells of other files than other\.csv"):
        rebuilt(path, original, [renamed, other])


@pytest.fixture
def beside_schema(tmp_path):
    """A provenance file whose releases were made with a schema, and that schema beside it."""
    schema = tmp_path / "survey.toml"
    schema.write_text("[columns.b]\nspecial_codes = [-8]\n")
    reading = {"schema": {"name": schema.name, "sha256": sha256(schema)}, "decimal": ","}
    path = tmp_path / "made.provenance.json"
    facts = FileFacts("o.csv", "0" * 64, 10)
    write_provenance(Provenance("cart", {}, 1, 1, 10, facts, (), (), 0.1, reading), path)
    return path, schema


def test_the_schema_is_found_beside_the_provenance_file(beside_schema):
    path, schema = beside_schema
    assert reading_of(path) == {"decimal": ",", "schema": schema}


def test_the_schema_may_be_kept_elsewhere(beside_schema):
    path, schema = beside_schema
    elsewhere = schema.rename(schema.with_name("elsewhere.toml"))
    assert reading_of(path, elsewhere)["schema"] == elsewhere
    with pytest.raises(CallError, match=r"schema survey\.toml, which is not beside it; name it with schema"):
        reading_of(path)


def test_another_schema_is_not_the_one_that_the_releases_were_made_with(beside_schema):
    path, schema = beside_schema
    other = schema.with_name("other.toml")
    other.write_text("[columns.b]\nspecial_codes = [-9]\n")
    with pytest.raises(DataError, match=r"other\.toml is not the schema .* \(survey\.toml"):
        reading_of(path, other)
    schema.write_text(other.read_text())
    with pytest.raises(DataError, match=r"survey\.toml is not the schema"):
        reading_of(path)


def test_without_a_schema_any_may_be_used(tmp_path):
    path = tmp_path / "made.provenance.json"
    write_provenance(provenance("cart", {"special_codes": {"b": [-8]}}), path)
    assert reading_of(path) == {"special_codes": {"b": [-8]}}
    assert reading_of(path, tmp_path / "mine.toml") == {"special_codes": {"b": [-8]}}
