"""Suggestions for names that were mistyped, in every verb and option that takes a column or a level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil.errors import UnveilError
from unveil.files.nearest import near_matches


@pytest.mark.parametrize(
    ("name", "known", "phrase"),
    [
        ("sex", ["SEX", "set", "age"], "; did you mean 'SEX'?"),
        ("single", ["MARRIED", "SINGLE", "Missing"], "; did you mean 'SINGLE'?"),
        ("single", ["MARRIED", "Missing"], ""),
        ("zip code", ["zip_code", "zip"], "; did you mean 'zip_code'?"),
        ("sex ", ["sex"], "; did you mean 'sex'?"),
        ("region", ["r\u00e9gion"], "; did you mean 'r\u00e9gion'?"),
        ("STRASSE", ["Stra\u00dfe"], "; did you mean 'Stra\u00dfe'?"),
        ("\ufeffage", ["age"], "; did you mean 'age'?"),
        ("cafe\u0301", ["caf\u00e9"], "; it has 'caf\u00e9' in another Unicode form ('caf\\xe9', not 'cafe\\u0301')"),
        ("INCMOE", ["income", "age"], "; did you mean 'income'?"),
        ("sx", ["sex", "age"], "; did you mean 'sex'?"),
        ("income", ["income"], ""),
        ("", ["a"], ""),
        ("x", [], ""),
    ],
)
def test_what_is_suggested(name: str, known: list[str], phrase: str):
    assert near_matches(name, known) == phrase


def test_many_levels_are_compared_in_no_time():
    assert near_matches("level 77777x", (f"level {i}" for i in range(10**6)))
    assert near_matches("LEVEL 99999", [f"level {i}" for i in range(10**5)]) == "; did you mean 'level 99999'?"


TABLE = pa.table(
    {"SEX": list("fmfmfm") * 4, "AGE": list(range(20, 26)) * 4, "STATUS": ["SINGLE", "MARRIED", "OTHER"] * 8}
)
LOWER = TABLE.rename_columns(["sex", "AGE", "STATUS"])


def pair() -> Any:
    return unveil.Pair(TABLE, TABLE.slice(0))


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "keys": (lambda: unveil.identity(pair(), ["sex"]), "SEX"),
    "ngroups_keys": (lambda: unveil.identity(pair(), ["AGE"], ngroups_keys={"age": 3}), "AGE"),
    "use_keys_na": (lambda: unveil.identity(pair(), ["AGE"], use_keys_na={"age": False}), "AGE"),
    "target": (lambda: unveil.attribute(pair(), ["SEX"], target="status"), "STATUS"),
    "ngroups_target": (lambda: unveil.attribute(pair(), ["SEX"], target="AGE", ngroups_target={"age": 3}), "AGE"),
    "exclude_pairs, key": (
        lambda: unveil.attribute(pair(), ["SEX"], target="STATUS", exclude_pairs=[("sex", "f", "SINGLE")]),
        "SEX",
    ),
    "exclude_pairs, key level": (
        lambda: unveil.attribute(pair(), ["SEX"], target="STATUS", exclude_pairs=[("SEX", "F", "SINGLE")]),
        "f",
    ),
    "exclude_pairs, target level": (
        lambda: unveil.attribute(pair(), ["SEX"], target="STATUS", exclude_pairs=[("SEX", "f", "single")]),
        "SINGLE",
    ),
    "by": (lambda: unveil.attribute(pair(), ["AGE"], target="STATUS").by("sex", 0), "SEX"),
    "structure": (lambda: unveil.structure(pair(), ["sex"]), "SEX"),
    "key_sets": (lambda: unveil.key_sets(pair(), ["sex", "AGE"]), "SEX"),
    "kinds": (lambda: unveil.Pair(TABLE, TABLE, kinds={"sex": "categorical"}), "SEX"),
    "special_codes": (lambda: unveil.Pair(TABLE, TABLE, special_codes={"age": [-8]}), "AGE"),
    "schema": (lambda: unveil.read(TABLE, schema={"sex": {"kind": "categorical"}}), "SEX"),
    "column of a source": (lambda: unveil.read(TABLE).column("sex"), "SEX"),
    "a release": (lambda: unveil.identity(unveil.Pair(TABLE, LOWER), ["SEX"]), "sex"),
    "rapid": (lambda: unveil.rapid(pair(), ["sex"], target="STATUS"), "SEX"),
    "utility": (lambda: unveil.utility(pair(), targets=["status"]), "STATUS"),
    "assess": (lambda: unveil.assess(pair(), ["sex"]), "SEX"),
    "compare": (lambda: unveil.compare(TABLE, {"a": LOWER}, ["SEX"], targets=["STATUS"]), "sex"),
    "methods": (lambda: unveil.CartSynthesizer(methods={"sex": "cart"}).fit(TABLE), "SEX"),
    "visit_order": (lambda: unveil.CartSynthesizer(visit_order=["sex", "AGE", "STATUS"]).fit(TABLE), "SEX"),
    "predictors": (lambda: unveil.CartSynthesizer(predictors={"STATUS": ["sex"]}).fit(TABLE), "SEX"),
    "rules": (lambda: unveil.CartSynthesizer(rules={"status": [("AGE < 21", "SINGLE")]}).fit(TABLE), "STATUS"),
    "rules, level": (lambda: unveil.CartSynthesizer(rules={"STATUS": [("AGE < 21", "single")]}).fit(TABLE), "SINGLE"),
    "likelihood": (lambda: unveil.CartSynthesizer().fit(TABLE).log_prob(LOWER), "sex"),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_suggests_what_differs_in_letter_case(name: str):
    call, right = CALLS[name]
    with pytest.raises(UnveilError, match=f"did you mean '{right}'") as caught:
        call()
    assert "Missing" not in str(caught.value)
