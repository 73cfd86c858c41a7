"""The reference data and outputs, in the words of this package.

They are not part of the project: tests that need them take the fixture ``shared`` and are skipped without it,
and nothing here touches a file before a test module asks for its cases.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

FOLDER = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
RULE_NAMES = {
    "excluded target": "not_target_levels",
    "missing target": "use_target_na",
    "missing in keys": "use_keys_na",
    "set to exclude": "exclude_pairs",
    "over denom_lim": "denom_limit",
    "remaining": "remaining",
}
CAP_NAMES = {"DCAPb_Nb_syn": "DCAPb", "TCAPb_Nb_syn": "TCAPb", "TCAP_Nbp_orig": "TCAP"}
CAP_NAMES |= {name: name for name in ("baseCAPd", "CAPd", "CAPs", "DCAPd", "DCAPs", "TCAPs")}


# -------------------------------------------------------------------------------------------------- files
def data_file(name: str) -> Path:
    plain = FOLDER / "data" / f"{name}.csv"
    return plain if plain.exists() else plain.with_name(f"{name}.csv.gz")


@cache
def kinds_of(name: str) -> Mapping[str, str]:
    schema = json.loads((FOLDER / "data" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return {entry["name"]: entry["kind"] for entry in schema["columns"]}


@cache
def read_columns(name: str) -> Mapping[str, Sequence[Any]]:
    """A data file as plain columns: an empty field is a gap, numeric columns are numbers, others text."""
    path, kinds = data_file(name), kinds_of(name)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as handle:
        header, *rows = csv.reader(handle)

    def parse(kind: str, text: str) -> Any:
        if text == "":
            return None
        return float(text) if kind == "numeric" else text

    columns = zip(header, zip(*rows, strict=True), strict=True)
    return {title: [parse(kinds[title], text) for text in texts] for title, texts in columns}


def load_json(relative: str) -> Any:
    path = FOLDER / "golden" / relative
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as handle:
        return json.load(handle)


def parameters(load: Callable[[], Iterable[Any]], name: Callable[[Any], str]) -> list[Any]:
    """Test parameters from reference files; one empty one without them, for the fixture to skip."""
    if not (FOLDER / "golden").is_dir():
        return [pytest.param(None, id="no-reference-data")]
    return [pytest.param(case, id=name(case)) for case in load()]


# -------------------------------------------------------------------------------------------------- cases
def as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


@dataclass(frozen=True)
class Case:
    """One reference call: the files, the call in this package's options, and what is expected."""

    name: str
    original: str
    releases: tuple[str, ...]
    keys: tuple[str, ...]
    target: str
    special_codes: Mapping[str, list[Any]]
    options: Mapping[str, Any]
    expected: tuple[dict[str, Any], ...]
    raw: Mapping[str, Any]

    @property
    def groups(self) -> dict[str, int]:
        """Number of groups asked for, by column."""
        groups = dict(self.options.get("ngroups_keys", {}))
        if "ngroups_target" in self.options:
            groups[self.target] = self.options["ngroups_target"]
        return groups


def translated(case: Mapping[str, Any]) -> Case:
    arguments, kinds = case["args"], kinds_of(case["original"])
    keys, target = as_list(arguments["keys"]), arguments["target"]
    options: dict[str, Any] = {}

    # Reference options that are given by position follow the keys in the order in which these are given.
    per_key = arguments.get("ngroups_keys", 0)
    per_key = per_key if isinstance(per_key, list) else [per_key] * len(keys)
    groups = {k: n for k, n in zip(keys, per_key, strict=True) if n and kinds[k] == "numeric"}
    if groups:
        options["ngroups_keys"] = groups
    if arguments.get("ngroups_target") and kinds[target] == "numeric":
        options["ngroups_target"] = arguments["ngroups_target"]
    grouped = {*groups, *([target] if "ngroups_target" in options else [])}

    def level(name: str, text: str) -> Any:
        return float(text) if kinds[name] == "numeric" and name not in grouped else text

    if "not.targetlev" in arguments:
        options["not_target_levels"] = [level(target, text) for text in as_list(arguments["not.targetlev"])]
    if "usetargetNA" in arguments:
        options["use_target_na"] = arguments["usetargetNA"]
    if "usekeysNA" in arguments:
        flags = arguments["usekeysNA"]
        options["use_keys_na"] = dict(zip(keys, flags, strict=True)) if isinstance(flags, list) else flags
    if "exclude.keys" in arguments:
        triples = zip(
            *(as_list(arguments[f"exclude.{part}"]) for part in ("keys", "keylevs", "targetlevs")),
            strict=True,
        )
        options["exclude_pairs"] = [(key, level(key, k), level(target, t)) for key, k, t in triples]
    if "denom_lim" in arguments:
        options["denom_limit"] = arguments["denom_lim"]
        options["exclude_over_denom_limit"] = arguments.get("exclude_ov_denom_lim", False)
    for theirs, ours in (("thresh_1way", "check_1way"), ("thresh_2way", "check_2way")):
        if theirs in arguments:
            options[ours] = tuple(arguments[theirs])
    return Case(
        name=case["id"],
        original=case["original"],
        releases=tuple(case["synthetic"]),
        keys=tuple(keys),
        target=target,
        special_codes={k: as_list(v) for k, v in (arguments.get("cont.na") or {}).items()},
        options=options,
        expected=tuple(expectation(formula) for formula in case["formula"]),
        raw=case,
    )


def disclosure_cases() -> list[Case]:
    return [translated(case) for case in load_json("disclosure_cases.json.gz")["cases"]]


def expectation(formula: Mapping[str, Any]) -> dict[str, Any]:
    """One release's figures by the definitions, under this package's names."""
    one_way, two_way = formula["check_1way"], formula["check_2way"] or []
    return {
        "measures": {name: number(value) for name, value in formula["attrib"].items()}
        | {ours: number(formula["CAP"][theirs]) for theirs, ours in CAP_NAMES.items()},
        "identity_after_exclusions": {name: number(value) for name, value in formula["ident"].items()},
        "exclusions": {
            table: {RULE_NAMES[rule]: n for rule, n in removed.items()}
            for table, removed in formula["Nexclusions"].items()
        },
        "check_1way": one_way
        and {
            "level": one_way["Level"],
            "share": one_way["PctLevelAll"],
            "disclosive": one_way["totalDisclosive"],
            "of_level": one_way["nLevelDis"],
            "percent": one_way["PctLevelDis"],
        },
        "check_2way": sorted_pairs(
            {
                "levels": pair["target_key_levs"],
                "key": pair["key"],
                "records": pair["npairs"],
                "original_with_pair": pair["key_target_total"],
                "original_with_key": pair["key_total"],
                "percent": pair["PctTargetKeyLevel"],
            }
            for pair in two_way
        ),
    }


def number(value: Any) -> Any:
    return math.nan if value in (None, "NaN") else value


# --------------------------------------------------------------------------------------------- comparison
def shown(level: Any) -> str:
    """A level as the reference outputs write it."""
    if level is None:
        return "Missing"
    if isinstance(level, float):
        return f"{level:.15g}"
    return str(level)


def comparable_checks(one_way: Any, two_way: Iterable[Mapping[str, Any]]) -> tuple[Any, list[dict[str, Any]]]:
    """Both checks with their levels written as in the reference outputs."""
    first = one_way and {**one_way, "level": shown(one_way["level"])}
    pairs = [
        {name: value for name, value in pair.items() if name not in ("target_level", "key_level")}
        | {"levels": f"{shown(pair['target_level'])}|{shown(pair['key_level'])}"}
        for pair in two_way
    ]
    assert [p["records"] for p in pairs] == sorted((p["records"] for p in pairs), reverse=True)
    return first, sorted_pairs(pairs)


def sorted_pairs(pairs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs with equally many records may come in any order."""
    return sorted(pairs, key=lambda pair: (pair["key"], pair["levels"]))


def assert_same(actual: Any, expected: Any, where: str = "", tolerance: float = 1e-9) -> None:
    """Same structure, same text, same numbers to the tolerance; NaN where and only where NaN is expected."""
    if isinstance(expected, Mapping):
        assert isinstance(actual, Mapping), where
        assert set(actual) == set(expected), where
        for name in expected:
            assert_same(actual[name], expected[name], f"{where}.{name}", tolerance)
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), f"{where}: {actual} is not {expected}"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert_same(a, e, f"{where}[{i}]", tolerance)
    elif isinstance(expected, (int, float)) and not isinstance(expected, bool):
        assert close(actual, expected, tolerance), f"{where}: {actual} is not {expected}"
    else:
        assert actual == expected, f"{where}: {actual!r} is not {expected!r}"


def close(actual: float, expected: float, tolerance: float = 1e-9) -> bool:
    if math.isnan(expected):
        return math.isnan(actual)
    return math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance)


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """A result frame of any flavour as plain columns."""
    return pa.table(frame).to_pydict()
