"""Releases of synthpop that say how they were made, beside the settings that are assumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

import unveil
from unveil.errors import UnveilWarning
from unveil.files.opening import open_releases, open_source
from unveil.synthesis.synthpop import made_otherwise

FILES = Path(__file__).parents[1] / "files" / "r_files"


def test_what_a_synds_object_says_is_held_against_the_settings():
    pytest.importorskip("rdata", reason="for R files", exc_type=ImportError)
    releases = open_releases(FILES / "synds.rds")
    [note] = made_otherwise(releases, unveil.CartSynthesizer())
    assert note == (
        "synds.rds (copy 1) says that it was made otherwise than is assumed here (income by norm; ill by logreg; "
        "minbucket=7): give the synthesizer these settings"
    )
    right = unveil.CartSynthesizer(minbucket=7, methods={"income": "norm", "ill": "logreg"})
    assert made_otherwise(releases, right) == ()
    assert made_otherwise([open_source(FILES / "people.rds")], unveil.CartSynthesizer()) == ()
    assert made_otherwise(releases, object()) == ()


def told(**said):
    origin = {"made by": "synthpop", "call": {}} | {name.replace("_", "."): one for name, one in said.items()}
    table = pa.table({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})
    source = replace(open_source(table, label="copy"), origin=MappingProxyType(origin))
    return source, lambda **settings: [str(one) for one in made_otherwise([source], unveil.CartSynthesizer(**settings))]


@pytest.mark.parametrize(
    ("said", "settings", "sentence"),
    [
        ({"visit_sequence": {"b": 2, "a": 1}}, {"visit_order": ["b", "a"]}, "visit order b, a"),
        ({"proper": True}, {"proper": True}, "proper=True"),
        ({"smoothing": {"a": "density", "b": ""}}, {"smoothing": "density"}, "smoothing of a: density"),
        ({"smoothing": "spline"}, {"smoothing": "density"}, "smoothing of all: spline"),
    ],
)
def test_each_setting_is_compared(said, settings, sentence):
    _, notes = told(**said)
    assert sentence in notes()[0]
    assert notes(**settings) == []
    assert "mix=0)" in notes(**settings, mix=0.1)[0]


def test_the_bayesian_risk_warns():
    source, _ = told(visit_sequence={"b": 2, "a": 1})
    pair = unveil.Pair(open_source(pa.table({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})), source)
    with pytest.warns(UnveilWarning, match="copy says that it was made otherwise"):
        risk = unveil.posterior(pair, unveil.CartSynthesizer(), target="b", structure="fixed")
    assert any("visit order b, a" in text for text in risk.warnings)
