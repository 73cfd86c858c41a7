"""The figures that the papers print, from the files that they were computed on.

Numbers stand here as they are printed, and are compared as text with as many digits.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import oracle
import unveil
from reference import (
    FOLDER,
    assert_same,
    close,
    columns_of,
    data_file,
    load_json,
    parameters,
    read_columns,
    shown,
)
from unveil._tables import AttributeRisk

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

KEYS = ["sex", "age", "region", "placesize"]
ADULT_KEYS = ["age", "occupation", "race", "sex"]
LATNER_KEYS = ["var1", "var2", "var3"]
SD2011 = {
    "s1": ["sd2011_9_s1"],
    "s5": [f"sd2011_9_s5_{i}" for i in range(1, 6)],
    "s5c": [f"sd2011_9_s5c_{i}" for i in range(1, 6)],
    "latner": [f"sd2011_5_latner_{i}" for i in range(1, 6)],
    "modified": [f"sd2011_5_latner_modified_{i}" for i in range(1, 6)],
}


@cache
def sd2011(releases: str) -> unveil.Pair:
    files = [data_file(name) for name in SD2011[releases]]
    codes = {"income": [-8]} if releases == "s5c" else None
    return unveil.Pair(data_file("sd2011_9"), files, special_codes=codes)


@cache
def adult() -> unveil.Pair:
    """Only figures of the original are asked for; the release lacks one of the targets."""
    return unveil.Pair(data_file("adult"), data_file("adult"))


@cache
def risk(releases: str, target: str, *, denom_limit: int | None = None, ngroups: int | None = None) -> AttributeRisk:
    return unveil.attribute(
        sd2011(releases),
        KEYS,
        target=target,
        ngroups_target=ngroups,
        denom_limit=denom_limit,
        exclude_over_denom_limit=denom_limit is not None,
    )


def row(values: Mapping[str, float], names: str, digits: int = 2) -> str:
    """A printed row: its figures in their order, each with the given number of digits at the most."""
    return " ".join(f"{round(values[name], digits):g}" for name in names.split())


# -------------------------------------------------------------- Raab, Nowok & Dibben (2026), as in the tables
def test_first_release(shared: Path):
    risk = unveil.identity(sd2011("s1"), KEYS)
    assert f"{risk.UiO:.2f}" == "48.38"
    assert f"{risk.repU:.2f}" == "14.86"


def test_identity_of_five_releases(shared: Path):
    risk = unveil.identity(sd2011("s5"), KEYS)
    assert [row(r, "UiO UiS UiOiS repU") for r in risk.releases] == [
        "48.38 37.34 22.68 14.86",
        "48.38 35.44 22.24 13.96",
        "48.38 35.18 21.98 13.62",
        "48.38 34.9 22.08 13.78",
        "48.38 36.14 22 14.62",
    ]


def test_depress_of_five_releases(shared: Path):
    names = "Dorig Dsyn iS DiS DiSCO DCAPd DiSDiO max_denom mean_denom"
    assert [row(r, names) for r in risk("s5", "depress").releases] == [
        "53.3 46.26 64.9 34.18 9.54 16.39 6.14 3 1.16",
        "53.3 44.8 64 32.5 10.26 17.45 6.78 4 1.19",
        "53.3 44.6 64.02 32.14 9.1 16.2 5.92 4 1.19",
        "53.3 45.8 63.88 33.38 9.2 15.92 5.52 4 1.21",
        "53.3 44.52 63.44 31.46 9.34 16.17 5.8 4 1.23",
    ]


@pytest.mark.parametrize(
    ("target", "disco"),
    [("income", "3.36"), ("depress", "7.02"), ("ls", "9.84"), ("marital", "15.40"), ("workab", "20.48")],
)
def test_only_single_records(target: str, disco: str, shared: Path):
    limited = risk("s1", target, denom_limit=1)
    assert f"{limited.Dorig:.2f}" == "48.38"
    assert f"{limited.DiSCO:.2f}" == disco
    if target == "depress":
        identity = limited.identity_after_exclusions[0]
        assert row(identity, "UiO repU") == "50.26 16.36"


def test_identity_does_not_move_with_the_limit(shared: Path):
    # The limit concerns the target's cells: what is printed as identity with it is that of another table.
    before = unveil.identity(sd2011("s1"), KEYS).releases
    risk("s1", "depress", denom_limit=1)
    assert unveil.identity(sd2011("s1"), KEYS).releases == before


def test_one_level_of_workab(shared: Path):
    found = risk("s1", "workab")
    (check,) = found.check_1way
    assert check is not None
    assert (check["level"], check["disclosive"], check["of_level"]) == ("NO", 2605, 2482)
    assert (f"{check['share']:.2f}", f"{check['percent']:.2f}") == ("88.64", "95.28")
    assert len(found.check_2way[0]) == 26


def test_pairs_of_marital(shared: Path):
    (pairs,) = risk("s1", "marital").check_2way
    names = ("target_level", "key", "key_level", "records", "original_with_pair", "original_with_key")
    assert [p["records"] for p in pairs] == [10, 5, 5, 5]
    assert {(*(shown(p[n]) for n in names), f"{p['percent']:.2f}") for p in pairs} == {
        ("SINGLE", "age", "19", "10", "91", "92", "98.91"),
        ("MARRIED", "age", "41", "5", "59", "73", "80.82"),
        ("SINGLE", "age", "18", "5", "91", "92", "98.91"),
        ("SINGLE", "age", "22", "5", "85", "91", "93.41"),
    }


@pytest.mark.parametrize(
    ("target", "ngroups", "figures"),
    [
        ("ls", None, "21.97 29.57 12.63 17 36.71"),
        ("depress", None, "16.23 21.85 9.21 12.4 28.57"),
        ("income", 20, "11.34 15.27 6.16 8.29 19.96"),
    ],
)
def test_table_2(target: str, ngroups: int | None, figures: str, shared: Path):
    found = risk("s5c", target, ngroups=ngroups)
    assert row(found.mean, "DCAPd DCAPb DiSCO TCAPb TCAP") == figures
    # As many records released as collected: the two denominators are the same number.
    assert found.mean["DCAPs"] == found.mean["DCAPd"]
    assert found.mean["TCAPs"] == found.mean["DiSCO"]


def test_fewer_released_records(shared: Path):
    # Figure 2: with fewer records released, measures of the original stay, those of agreement fall.
    sizes = {250: "sd2011_9_k250", 1000: "sd2011_9_k1000", 5000: "sd2011_9_s1"}
    found = {
        k: unveil.attribute(unveil.Pair(data_file("sd2011_9"), data_file(name)), KEYS, target="depress")
        for k, name in sizes.items()
    }
    for measure in ("DiSCO", "DCAPd", "iS", "DiS"):
        values = [found[k].mean[measure] for k in sorted(sizes)]
        assert values == sorted(values)
    assert found[250].Dorig == found[1000].Dorig == found[5000].Dorig
    assert found[250].Dsyn > found[1000].Dsyn > found[5000].Dsyn


# -------------------------------------------------------------- Raab, Nowok & Dibben (2026), all 166 entries
# "All = 5000" of a one-way check counts the records that its share is taken of.
CHECK_NAMES = {
    "PctLevelAll": "share",
    "totalDisclosive": "disclosive",
    "nLevelDis": "of_level",
    "PctLevelDis": "percent",
}
PAIR_NAMES = {
    "npairs": "records",
    "key_target_total": "original_with_pair",
    "key_total": "original_with_key",
    "PctTargetKeyLevel": "percent",
}
NOT_TARGET_LEVELS = {"capital.gain": [0], "capital.loss": [0], "native.country": ["United-States"]}
WITHOUT_THE_GAPS = "not.tlev + NAs out"


@cache
def adult_dorig(target: str, column: str) -> float:
    """Dorig of Table 3: the column's title names the exclusions."""
    options: dict[str, Any] = {}
    if "not.tlev" in column:
        options["not_target_levels"] = NOT_TARGET_LEVELS.get(target, [])
    if "NAs out" in column:
        options |= {"use_target_na": False, "use_keys_na": False}
    if "denom_lim 1" in column:
        options |= {"denom_limit": 1, "exclude_over_denom_limit": True}
    return unveil.attribute(adult(), ADULT_KEYS, target=target, **options).Dorig


def figure(where: str, name: str) -> float:
    """The figure of ours that an entry of the file of printed numbers is about."""
    first, _, rest = name.partition(" ")
    if where == "Section 2":
        return unveil.identity(sd2011("s1"), KEYS).mean[name]
    if where == "Section 3.2 ident table":
        return unveil.identity(sd2011("s5"), KEYS).releases[int(name.split()[-1]) - 1][first]
    if where == "Section 3.3.1 attrib table":
        return risk("s5", "depress").releases[int(name.split()[-1]) - 1][first]
    if where == "denom_lim=1":
        if first in oracle.IDENTITY:
            return risk("s1", "depress", denom_limit=1).identity_after_exclusions[0][first]
        return risk("s1", rest, denom_limit=1).mean[first]
    if where == "Table 2 (mean of 5)":
        return risk("s5c", rest, ngroups=20 if rest == "income" else None).mean[first.split("=")[-1]]
    if where == "check_1way workab":
        (check,) = risk("s1", "workab").check_1way
        assert check is not None
        return sd2011("s1").n_original if name == "All" else check[CHECK_NAMES[name]]
    if where == "check_2way workab":
        return len(risk("s1", "workab").check_2way[0])
    if where == "check_2way marital":
        pairs = {f"{shown(p['target_level'])}|{shown(p['key_level'])}": p for p in risk("s1", "marital").check_2way[0]}
        return pairs[first][PAIR_NAMES[rest]]
    assert where == "Table 3 Adult, Dorig columns", where
    return adult_dorig(first, rest)


PRINTED = parameters(
    lambda: load_json("raab2026_printed_numbers.json"), lambda entry: f"{entry['where']}: {entry['name']}"
)


def test_number_of_printed_entries(shared: Path):
    entries = [p.values[0] for p in PRINTED]
    assert len(entries) == 166
    assert {e["name"].partition(" ")[2] for e in entries if not e["match"]} == {WITHOUT_THE_GAPS}


@pytest.mark.parametrize("entry", PRINTED)
def test_printed_number(entry: dict[str, Any], shared: Path):
    value = figure(entry["where"], entry["name"])
    assert close(value, entry["recomputed"])
    if entry["match"]:
        assert f"{value:.2f}" == f"{entry['printed']:.2f}"
        return
    # Printed is the column without the exclusion of gaps; with it the definition gives what is recomputed.
    target = entry["name"].partition(" ")[0]
    assert f"{value:.2f}" != f"{entry['printed']:.2f}"
    assert f"{adult_dorig(target, 'not.tlev'):.2f}" == f"{entry['printed']:.2f}"


# --------------------------------------------------------------------- Latner, Neunhoeffer & Drechsler (2025)
@cache
def latner() -> unveil.Pair:
    return unveil.Pair(data_file("latner_original"), [data_file(f"latner_syn{i:02d}") for i in range(1, 11)])


def test_table_a1(shared: Path):
    with (FOLDER / "data" / "latner_tableA1_counts.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 16
    columns = [latner().column(f"var{i}") for i in range(1, 5)]

    def counts(codes: list[Any]) -> Counter[str]:
        levels = zip(*([c.levels[i] for i in code] for c, code in zip(columns, codes, strict=True)), strict=True)
        return Counter("".join(f"{float(str(value)):g}" for value in values) for values in levels)

    found = [counts([c.original for c in columns])]
    found += [counts([c.releases[r] for c in columns]) for r in range(10)]
    for expected in rows:
        titles = ["original", *(f"S{i}" for i in range(1, 11))]
        assert [count[expected["combination"]] for count in found] == [int(expected[t]) for t in titles]
    assert [count["1111"] for count in found] == [1, 1, 0, 1, 3, 2, 1, 3, 0, 1, 1]


def test_table_a2(shared: Path):
    assert [r["repU"] for r in unveil.identity(latner(), LATNER_KEYS).releases] == [0] * 10
    found = unveil.attribute(latner(), LATNER_KEYS, target="var4")
    expected = ["0.00", "6.60", *["0.00"] * 5, "6.60", "0.00", "0.00"]
    assert [f"{r['DiSCO']:.2f}" for r in found.releases] == expected
    assert f"{found.DiSCO:.2f}" == "1.32"


def test_table_a3(shared: Path):
    identity = unveil.identity(sd2011("latner"), KEYS)
    assert f"{identity.UiO:.2f}" == "48.38"
    assert [f"{r['repU']:.2f}" for r in identity.releases] == ["14.86", "13.60", "13.68", "14.74", "13.56"]
    drawn, modified = risk("latner", "depress"), risk("modified", "depress")
    assert f"{drawn.Dorig:.2f}" == f"{modified.Dorig:.2f}" == "53.30"
    assert [f"{r['DiSCO']:.2f}" for r in drawn.releases] == ["9.54", "9.26", "9.30", "10.02", "8.54"]
    assert [f"{r['DiSCO']:.2f}" for r in modified.releases] == ["14.76", "14.76", "14.50", "15.16", "14.44"]


def test_inverse_sensitivity(shared: Path):
    # 0 is the mode of every set: the paper's modified sets are those with the target replaced by its mode.
    drawn, modified = risk("latner", "depress"), risk("modified", "depress")
    for release in range(5):
        values = read_columns(SD2011["latner"][release])["depress"]
        assert Counter(values).most_common(1)[0][0] == 0
    assert_same(list(drawn.mode_DiSCO), [r["DiSCO"] for r in modified.releases])
    assert drawn.warnings


# ------------------------------------------------------------- Latner, Neunhoeffer & Drechsler (2026 draft)
# Their five sets are not distributed. What depends on them (novel combinations, the share that the union
# preserves, the figures by number of keys, the sweep over minbucket) is a matter of drawn releases.
SEVEN_KEYS = ["sex", "age", "region", "placesize", "edu", "socprof", "marital"]


def test_combinations_of_the_original(shared: Path):
    found = unveil.structure(sd2011("s5"), KEYS)
    assert {r["combinations_original"] for r in found.releases} == {3459}
    assert found.union["combinations_original"] == 3459


def test_union_of_releases(shared: Path):
    files = [read_columns(name) for name in ("sd2011_9", *SD2011["latner"])]
    found = unveil.structure(sd2011("latner"), KEYS)
    expected = oracle.structure(files[0], files[1:], KEYS)
    assert_same({name: found.union[name] for name in expected}, expected)
    for release, file in zip(found.releases, files[1:], strict=True):
        expected = oracle.structure(files[0], [file], KEYS)
        assert_same({name: release[name] for name in expected}, expected)


def test_98_key_sets(shared: Path):
    # A part of the records will do to hold the sets against the definition.
    columns = [*SEVEN_KEYS, "depress"]
    original, release = (
        {name: read_columns(file)[name][:900] for name in columns} for file in ("sd2011_21", "sd2011_21_syn")
    )
    pair = unveil.Pair(pa.table(original), pa.table(release))
    found = unveil.key_sets(pair, SEVEN_KEYS, target="depress", max_size=4)
    expected = oracle.key_subsets(SEVEN_KEYS, 4)
    assert len(expected) == 98
    rows = columns_of(found.to_frame())
    assert [tuple(keys) for keys in rows["keys"]] == expected
    assert rows["size"] == [len(keys) for keys in expected]
    largest: Counter[tuple[int, str]] = Counter()
    for i, keys in enumerate(expected):
        measures = oracle.identity(original, release, keys)
        measures |= oracle.attribute(original, release, keys, "depress").measures
        assert rows["combinations"][i] == len(set(oracle.combined_keys(original, keys)))
        for name in rows.keys() & measures.keys():
            assert close(rows[name][i], measures[name]), (keys, name)
        for name in ("repU", "DiSCO"):
            largest[len(keys), name] = max(largest[len(keys), name], measures[name])
    assert {"repU", "UiO", "DiSCO", "Dorig"} <= rows.keys()
    for (size, name), value in largest.items():
        assert close(found.by_size[size][name][1], value)


def test_cap_curve_of_a_target_without_its_common_level(shared: Path):
    """What reaches tau is settled on all records: the curve ends at DiSCO, which is 2.46."""
    found = unveil.attribute(sd2011("s1"), KEYS, target="workab", not_target_levels=["NO"])
    curve = found.cap_curve([0, 1]).to_dict()["releases"][0]
    assert f"{curve[1]:.2f} {found.DiSCO:.2f}" == "2.46 2.46"
    assert curve == [found.DCAPd, found.DiSCO]


def test_both_shares_of_combinations_that_are_kept(shared: Path):
    """Of the releases' combinations, which is what the paper prints (53.4, of its own five), and of the original's."""
    found = unveil.structure(sd2011("s5"), KEYS)
    files = [read_columns(name) for name in ("sd2011_9", *SD2011["s5"])]
    original, *releases = ({*zip(*(f[key] for key in KEYS), strict=True)} for f in files)
    union = set().union(*releases)
    assert found.union["percent_novel"] == pytest.approx(100 * len(union - original) / len(union))
    assert found.union["combinations_preserved"] == pytest.approx(100 * len(union & original) / len(original))
    words = " ".join(str(found).split())
    assert f"{found.mean['percent_novel']:.2f} do not occur in the original" in words
    assert "any of the 5 releases, 46.75 do not (53.25 do); of 100 of the original, 91.24 occur in one" in words
