"""From a provenance file back to the synthesizer, with every setting."""

from __future__ import annotations

import pytest

from unveil.errors import DataError
from unveil.synthesis.provenance import FileFacts, Provenance
from unveil.synthesis.rebuild import synthesizer_of
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
