"""Every measure on random small files: equal to the brute force, and indifferent to what must not matter.

Files are Arrow tables of a few records over a few levels, so that key combinations repeat. Levels are chosen
to be trouble: numbers that are equal without being the same type, infinities, texts that read like a gap or
contain what could separate keys, declared levels that no record has, and gaps everywhere.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle
import unveil
from reference import assert_same, close, columns_of

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

TAUS = [0, 0.1, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.9, 1]
# Shares of original or of released records. The others relate records of one file to records of the other, so
# that a small release takes them above 100.
PERCENTAGES = (
    *("Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO", "baseCAPd", "CAPd", "CAPs", "DCAPd", "TCAP"),
    *oracle.IDENTITY,
)


# ------------------------------------------------------------------------------------------------ columns
@dataclass(frozen=True)
class Kind:
    """A kind of column: what its records may hold, and how a file may store it."""

    values: tuple[Any, ...]
    types: tuple[pa.DataType, ...]
    as_csv: bool = False


LEVELS = pa.dictionary(pa.int8(), pa.string())
KINDS = {
    "whole": Kind((-8, 0, 1, 2, 3), (pa.int64(), pa.int16(), pa.float64()), as_csv=True),
    "long": Kind((2**53, 2**53 + 1, -(2**53) - 1, 2**62), (pa.int64(),)),
    "float": Kind((0.0, -0.0, 1.0, 1.5, math.inf, -math.inf, 0.1 + 0.2, 0.3, math.nan), (pa.float64(),)),
    "amount": Kind((0.5, 1.25, 2.0, -3.75), (pa.float64(),), as_csv=True),
    "text": Kind(
        (
            "",
            "a",
            "b",
            "A",
            "Missing",
            "missing",
            "nan",
            "NA",
            "None",
            "0",
            "a|b",
            "b|c",
            "c",
            "|",
            "a,b",
            "é",
            "日本",
        ),
        (pa.string(), pa.large_string(), LEVELS),
    ),
    "plain text": Kind(("a", "b", "NA", "Missing", "a;b", 'say "a"', "é"), (pa.string(), LEVELS), as_csv=True),
    "logical": Kind((True, False), (pa.bool_(),)),
    "date": Kind((date(2020, 1, 5), date(2020, 2, 1), date(1960, 1, 1)), (pa.date32(),)),
    "datetime": Kind(
        (datetime(2020, 1, 5), datetime(2020, 1, 5, 12, 30), datetime(1969, 12, 31)),
        (pa.timestamp("us"), pa.timestamp("s"), pa.timestamp("ns")),
    ),
}


def arrow_column(values: Sequence[Any], kind: pa.DataType, backwards: bool = False) -> pa.Array:
    """The values as an Arrow array; a dictionary declares levels that no record has, in either order."""
    if kind != LEVELS:
        return pa.array(values, kind)
    levels = sorted({v for v in values if v is not None} | {"unused", "never"}, reverse=backwards)
    return pa.DictionaryArray.from_arrays(
        pa.array([None if v is None else levels.index(v) for v in values], pa.int8()), levels
    )


@dataclass(frozen=True)
class Study:
    """A random original and its releases, as plain columns and as what the package is given."""

    keys: tuple[str, ...]
    original: dict[str, list[Any]]
    releases: tuple[dict[str, list[Any]], ...]
    kinds: Mapping[str, str]
    types: tuple[Mapping[str, pa.DataType], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    target: str = "t"

    def tables(self, *, names: Sequence[str] | None = None, backwards: bool = False) -> list[pa.Table]:
        """Original and releases, with the columns in the given order."""
        return [
            pa.table({n: arrow_column(data[n], types[n], backwards) for n in names or data})
            for data, types in zip((self.original, *self.releases), self.types, strict=True)
        ]

    def pair(self) -> unveil.Pair:
        original, *releases = self.tables()
        return unveil.Pair(original, releases)

    def shuffled(self, random: Any) -> Study:
        """The same files with their records in another order."""

        def rows(data: dict[str, list[Any]]) -> dict[str, list[Any]]:
            order = list(range(len(data["t"])))
            random.shuffle(order)
            return {name: [values[i] for i in order] for name, values in data.items()}

        return replace(self, original=rows(self.original), releases=tuple(map(rows, self.releases)))


@st.composite
def studies(
    draw: Callable[..., Any],
    kinds: Sequence[str] = tuple(KINDS),
    max_keys: int = 4,
    max_releases: int = 2,
    with_options: bool = False,
    max_records: int = 30,
) -> Study:
    keys = tuple(f"k{i}" for i in range(1, draw(st.integers(2, max_keys)) + 1))
    names = (*keys, "t", "group")
    kind_of = {name: draw(st.sampled_from(kinds)) for name in names}
    record = st.tuples(
        *(
            st.sampled_from(draw(st.lists(st.sampled_from(values), min_size=1, max_size=4, unique_by=repr)))
            for values in ((None, *KINDS[kind_of[name]].values) for name in names)
        )
    )
    files, types = [], []
    for _ in range(1 + draw(st.integers(1, max_releases))):
        records = draw(st.lists(record, min_size=1, max_size=max_records))
        files.append(dict(zip(names, map(list, zip(*records, strict=True)), strict=True)))
        types.append({name: draw(st.sampled_from(KINDS[kind_of[name]].types)) for name in names})
    study = Study(keys, files[0], tuple(files[1:]), kind_of, tuple(types))
    return replace(study, options=draw(exclusions(study))) if with_options else study


@st.composite
def exclusions(draw: Callable[..., Any], study: Study) -> dict[str, Any]:
    """Options of a call: exclusions by levels that occur, and thresholds that small files can pass."""

    def levels(name: str) -> list[Any]:
        found = {v for f in (study.original, *study.releases) for v in oracle.column(f, name)}
        return sorted(found - {None})

    options: dict[str, Any] = {
        "use_target_na": draw(st.booleans()),
        "use_keys_na": draw(
            st.booleans() | st.dictionaries(st.sampled_from(study.keys), st.booleans(), max_size=len(study.keys))
        ),
        "check_1way": (draw(st.integers(0, 3)), draw(st.sampled_from([50, 80]))),
        "check_2way": (draw(st.integers(0, 2)), draw(st.sampled_from([0, 50, 80]))),
    }
    if target_levels := levels(study.target):
        options["not_target_levels"] = draw(st.lists(st.sampled_from(target_levels), max_size=2, unique=True))
        triples = [(k, st.sampled_from(levels(k)), st.sampled_from(target_levels)) for k in study.keys if levels(k)]
        if triples:
            choice = st.sampled_from(triples).flatmap(lambda t: st.tuples(st.just(t[0]), t[1], t[2]))
            options["exclude_pairs"] = draw(st.lists(choice, max_size=2))
    if draw(st.booleans()):
        options["denom_limit"] = draw(st.integers(1, 4))
        options["exclude_over_denom_limit"] = draw(st.booleans())
    return options


def attribute(study: Study, pair: unveil.Pair | None = None, **options: Any) -> Any:
    return unveil.attribute(pair or study.pair(), study.keys, target=study.target, **(study.options | options))


# ----------------------------------------------------------------------------------------- the brute force
def plain_checks(one_way: Any, two_way: Any) -> tuple[Any, list[tuple[Any, ...]]]:
    """Both checks with levels as text; how a gap differs from the text "Missing" is up to the result."""
    counts = ("records", "original_with_pair", "original_with_key", "percent")
    pairs = [
        (p["key"], plain_text(p["target_level"]), plain_text(p["key_level"]), *(p[c] for c in counts)) for p in two_way
    ]
    return one_way and one_way | {"level": plain_text(one_way["level"])}, sorted(pairs)


def plain_text(level: Any) -> str:
    if level is None or str(level).startswith("Missing"):
        return "Missing"
    if isinstance(level, bool):
        return str(level).upper()
    if isinstance(level, float):
        return f"{level + 0.0:.15g}"
    # A time may be written with more or fewer zeros.
    return re.sub(r"( 00:00:00)?([.]0+)?$", "", str(level)) if re.match(r"\d{4}-", str(level)) else str(level)


@settings(max_examples=120)
@given(studies(with_options=True))
def test_everything_equals_the_brute_force(study: Study):
    result = attribute(study).to_dict()
    options = oracle.Options(**study.options)
    for r, release in enumerate(study.releases):
        expected = oracle.attribute(study.original, release, study.keys, study.target, options)
        assert_same(result["releases"][r], expected.measures)
        assert_same(result["identity_after_exclusions"][r], expected.identity_after_exclusions)
        assert_same(result["exclusions"][r], expected.exclusions)
        checks = plain_checks(result["check_1way"][r], result["check_2way"][r])
        assert_same(checks, plain_checks(expected.check_1way, expected.check_2way))
    for name, value in result["mean"].items():
        defined = [r[name] for r in result["releases"] if not math.isnan(r[name])]
        assert close(value, sum(defined) / len(defined) if defined else math.nan)
        assert (name in result["undefined"]) == (len(defined) < len(study.releases))


@pytest.mark.parametrize(
    "level",
    [v for kind in KINDS.values() for v in kind.values if not (isinstance(v, float) and math.isnan(v))],
    ids=repr,
)
def test_levels_are_named_by_their_value(level: Any):
    kind = next(k for k in KINDS.values() if any(v is level for v in k.values))
    others = [v for v in kind.values if oracle.level_of(v) not in (None, oracle.level_of(level))]
    study = Study(
        keys=("k",),
        original={"k": [level, others[0], None], "t": [level, others[0], None]},
        releases=({"k": [level, None], "t": [level, None]},),
        kinds={},
        types=({"k": kind.types[0], "t": kind.types[-1]},) * 2,
    )
    for options in ({"not_target_levels": [level]}, {"exclude_pairs": [("k", level, level)]}):
        assert attribute(study, **options).DiSCO == 100 / 3


@settings(max_examples=40)
@given(studies(), st.data())
def test_identity_and_structure_equal_the_brute_force(study: Study, data: st.DataObject):
    use_keys_na = data.draw(st.booleans() | st.dictionaries(st.sampled_from(study.keys), st.booleans()))
    pair = study.pair()
    identity = unveil.identity(pair, study.keys, use_keys_na=use_keys_na).to_dict()
    structure = unveil.structure(pair, study.keys).to_dict()
    for r, release in enumerate(study.releases):
        assert_same(identity["releases"][r], oracle.identity(study.original, release, study.keys, use_keys_na))
        expected = oracle.structure(study.original, [release], study.keys)
        assert_same({name: structure["releases"][r][name] for name in expected}, expected)
    expected = oracle.structure(study.original, study.releases, study.keys)
    assert_same({name: structure["union"][name] for name in expected}, expected)


@settings(max_examples=80)
@given(studies() | studies(with_options=True))
def test_cap_curve(study: Study):
    risk, options = attribute(study), oracle.Options(**study.options)
    rows = columns_of(risk.cap_curve(TAUS).to_frame())
    values = [rows["CAP"][i : i + len(TAUS)] for i in range(0, len(rows["CAP"]), len(TAUS))]
    assert rows["tau"] == TAUS * len(study.releases)
    for curve, release, measures in zip(values, study.releases, risk.releases, strict=True):
        expected = [oracle.cap(study.original, release, study.keys, study.target, tau, options) for tau in TAUS]
        assert_same(curve, expected)
        # where large cells are left out of each table by its own counts, DiSCO may stand above what is less certain
        falling = curve[:-1] if "denom_limit" in options.in_force() else curve
        assert falling == sorted(falling, reverse=True)
        assert close(curve[0], measures["DCAPd"])
        assert close(curve[-1], measures["DiSCO"])


@settings(max_examples=40)
@given(studies())
def test_record_flags(study: Study):
    risk, identity = attribute(study), unveil.identity(study.pair(), study.keys)
    for r, release in enumerate(study.releases):
        flags = columns_of(risk.records(release=r))
        expected = oracle.records(study.original, release, study.keys, study.target)
        for name in expected[0]:
            assert_same(flags[name], [record[name] for record in expected], name)
        unique = columns_of(identity.records(release=r))
        for name in ("d_q", "s_q", "replicated_unique"):
            assert unique[name] == flags[name]


@settings(max_examples=60)
@given(studies(with_options=True))
def test_record_flags_sum_to_the_measures(study: Study):
    risk, identity = attribute(study), unveil.identity(study.pair(), study.keys)
    n = len(study.original["t"])
    for r, measures in enumerate(risk.releases):
        flags = columns_of(risk.records(release=r))
        for measure, flag in (
            ("iS", "in_synthetic"),
            ("DiS", "disclosive"),
            ("DiSCO", "disco"),
            ("DCAPd", "ps"),
        ):
            assert close(100 * sum(flags[flag]) / n, measures[measure]), measure
        unique = columns_of(identity.records(release=r))
        assert close(100 * sum(unique["replicated_unique"]) / n, identity.releases[r]["repU"])


@settings(max_examples=40)
@given(studies(with_options=True))
def test_subgroups(study: Study):
    """Each level's figures are those of its records; weighted by their number they give the measures."""
    risk, identity = attribute(study), unveil.identity(study.pair(), study.keys)
    groups = oracle.column(study.original, "group")
    flag_of = {"iS": "in_synthetic", "DiS": "disclosive", "DiSCO": "disco", "DCAPd": "ps"}
    flags, rows = columns_of(risk.records()), columns_of(risk.by("group"))
    expected = []
    for level in set(groups):
        members = [i for i, g in enumerate(groups) if g == level]
        shares = (100 * sum(flags[flag][i] for i in members) / len(members) for flag in flag_of.values())
        expected.append((len(members), *shares))
    found = list(zip(rows["n"], *(rows[name] for name in flag_of), strict=True))
    assert_same(sorted(found), sorted(expected))
    for name in flag_of:
        weighted = sum(n * value for n, value in zip(rows["n"], rows[name], strict=True))
        assert close(weighted / len(groups), risk.releases[0][name])
    rows = columns_of(identity.by("group"))
    for name in ("UiO", "UiOiS", "repU"):
        weighted = sum(n * value for n, value in zip(rows["n"], rows[name], strict=True))
        assert close(weighted / len(groups), identity.releases[0][name])


@settings(max_examples=40)
@given(studies())
def test_mode_in_place_of_the_target(study: Study):
    risk = attribute(study)
    for value, release in zip(risk.mode_DiSCO, study.releases, strict=True):
        expected = oracle.mode_disco(study.original, release, study.keys, study.target)
        assert any(close(value, one) for one in expected)


@pytest.mark.parametrize(
    ("options", "records"),
    [
        ({}, 6),
        ({"denom_limit": 3, "exclude_over_denom_limit": True}, 6),
        ({"denom_limit": 2, "exclude_over_denom_limit": True}, 3),
        ({"denom_limit": 2}, 6),
        ({"use_keys_na": False}, 5),
        ({"exclude_pairs": [("k", "a", "x")]}, 3),
        ({"exclude_pairs": [("k", "a", "y")]}, 6),
        ({"not_target_levels": ["x"]}, 0),
        ({"not_target_levels": ["y"]}, 6),
        ({"use_target_na": False}, 6),
    ],
    ids=str,
)
def test_mode_in_place_of_the_target_under_exclusions(options: dict[str, Any], records: int):
    """Three of a, two of b and one without key have the mode x and keys that the release has; seven are there."""
    original = pa.table({"k": ["a", "a", "a", "b", "b", "b", None], "t": ["x", "x", "x", "x", "x", "y", "x"]})
    release = pa.table({"k": ["a", "b", None, "c"], "t": ["x", "x", "x", None]})
    risk = unveil.attribute(unveil.Pair(original, release), "k", target="t", **options)
    assert risk.mode_DiSCO == (pytest.approx(100 * records / 7),)


@settings(max_examples=40)
@given(studies(max_keys=3))
def test_key_sets(study: Study):
    found = unveil.key_sets(study.pair(), study.keys, target=study.target, max_size=2)
    subsets = oracle.key_subsets(study.keys, 2)
    everything = [study.keys, *([k for k in study.keys if k != out] for out in study.keys)]
    assert [s.keys for s in found.sets] == subsets
    assert [set(s.keys) for s in found.leave_one_out] == [set(keys) for keys in everything]
    for one in (*found.sets, *found.leave_one_out):
        assert one.combinations == len(set(oracle.combined_keys(study.original, one.keys)))
        per_release = [
            oracle.identity(study.original, release, one.keys)
            | oracle.attribute(study.original, release, one.keys, study.target).measures
            for release in study.releases
        ]
        for name, value in one.measures.items():
            defined = [m[name] for m in per_release if not math.isnan(m[name])]
            assert close(value, sum(defined) / len(defined) if defined else math.nan), (one.keys, name)


@st.composite
def numeric_studies(draw: Callable[..., Any]) -> tuple[Study, int, int]:
    """Wider numbers with a special code and gaps, and numbers of groups for a key and for the target."""
    value = st.sampled_from([None, -8]) | st.integers(0, 40) | st.integers(0, 80).map(lambda v: v / 2)
    files = []
    for n in (draw(st.integers(2, 30)), draw(st.integers(1, 30))):
        files.append({name: draw(st.lists(value, min_size=n, max_size=n)) for name in ("k1", "t")})
        files[-1]["k2"] = draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    for name in ("k1", "t"):
        assume(len({v for f in files for v in f[name]} - {None, -8}) > 1)
    types = {"k1": pa.float64(), "k2": pa.string(), "t": pa.float64()}
    kinds = {"k1": "amount", "k2": "text", "t": "amount"}
    study = Study(("k1", "k2"), files[0], (files[1],), kinds, (types, types))
    return study, draw(st.integers(2, 6)), draw(st.integers(2, 6))


@settings(max_examples=60)
@given(numeric_studies())
def test_groups(drawn: tuple[Study, int, int]):
    study, of_key, of_target = drawn
    original, release = study.tables()
    pair = unveil.Pair(original, release, special_codes={"k1": [-8], "t": -8})
    result = attribute(study, pair, ngroups_keys={"k1": of_key}, ngroups_target=of_target).to_dict()
    files: list[Mapping[str, Any]] = [study.original, *study.releases]
    for name, n in (("k1", of_key), ("t", of_target)):
        values = [v for f in files for v in f[name]]
        expected, found = oracle.find_groups(values, n, [-8]), result["grouping"][name]
        assert found["style"] == expected.style
        assert_same(found["breaks"], expected.breaks)
        # A cut may lie a rounding error beside a value, and then decides its group: take it as it is.
        groups = oracle.Grouping(found["style"], pair.grouping(name, n)[1].cuts)
        files = [{**f, name: [v if v is None or v == -8 else groups.label(v) for v in f[name]]} for f in files]
    expected = oracle.attribute(files[0], files[1], study.keys, study.target)
    assert_same(result["releases"][0], expected.measures)


# ------------------------------------------------------------------------------------ what must not matter
@settings(max_examples=40)
@given(studies(with_options=True), st.randoms(use_true_random=False))
def test_order_of_records_does_not_matter_to_the_last_bit(study: Study, random: Any):
    other = study.shuffled(random)
    assert_same(attribute(other).to_dict(), attribute(study).to_dict(), tolerance=0)
    identity = [unveil.identity(one.pair(), one.keys).to_dict() for one in (study, other)]
    assert_same(identity[1], identity[0], tolerance=0)
    structure = [unveil.structure(one.pair(), one.keys).to_dict() for one in (study, other)]
    assert_same(structure[1], structure[0], tolerance=0)
    curves = [attribute(one).cap_curve().to_dict() for one in (study, other)]
    assert_same(curves[1], curves[0], tolerance=0)


@settings(max_examples=40)
@given(studies(with_options=True), st.randoms(use_true_random=False))
def test_order_of_columns_keys_and_levels_does_not_matter(study: Study, random: Any):
    names, keys = list(study.original), list(study.keys)
    random.shuffle(names)
    random.shuffle(keys)
    original, *releases = study.tables(names=names, backwards=True)
    other = replace(study, keys=tuple(keys))
    results = [attribute(other, unveil.Pair(original, releases)).to_dict(), attribute(study).to_dict()]
    for result in results:
        result["keys"] = sorted(result["keys"])
        checks = zip(result.pop("check_1way"), result.pop("check_2way"), strict=True)
        result["checks"] = [plain_checks(one, two) for one, two in checks]
    # Among several modes, which one stands in for the target may follow the order of the levels.
    for result in results:
        del result["mode_DiSCO"], result["warnings"]
    assert_same(results[0], results[1], tolerance=0)


def as_frames(tables: Sequence[pa.Table], flavour: str) -> list[Any]:
    if flavour == "pandas":
        return [table.to_pandas() for table in tables]
    return [import_module("polars").from_arrow(table) for table in tables]


# An integer column with gaps becomes float on its way to pandas, so that long integers cannot pass; the types
# of a CSV file survive only where the text of a value says what it is.
EXACT_IN_PANDAS = [name for name in KINDS if name != "long"]
EXACT_IN_CSV = [name for name, kind in KINDS.items() if kind.as_csv]


@pytest.mark.parametrize(
    "flavour",
    [
        pytest.param(name, marks=pytest.mark.skipif(not find_spec(name), reason=f"{name} is not installed"))
        for name in ("pandas", "polars")
    ],
)
@settings(max_examples=40)
@given(study=studies(kinds=EXACT_IN_PANDAS, with_options=True))
def test_frames_of_every_flavour_give_the_same(flavour: str, study: Study):
    original, *releases = as_frames(study.tables(), flavour)
    same_figures(attribute(study, unveil.Pair(original, releases)), attribute(study))


@settings(max_examples=30)
@given(studies(with_options=True))
def test_parquet_files_give_the_same(study: Study):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"file{i}.parquet" for i in range(len(study.types))]
        for path, table in zip(paths, study.tables(), strict=True):
            pyarrow.parquet.write_table(table, path)
        same_figures(attribute(study, unveil.Pair(paths[0], paths[1:])), attribute(study))


@settings(max_examples=40)
@given(studies(kinds=EXACT_IN_CSV, with_options=True))
def test_csv_files_give_the_same(study: Study):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"file{i}.csv" for i in range(len(study.types))]
        for path, table in zip(paths, study.tables(), strict=True):
            plain = pa.table(
                {
                    n: c.cast(pa.string()) if c.type == LEVELS else c
                    for n, c in zip(table.column_names, table.columns, strict=True)
                }
            )
            pyarrow.csv.write_csv(plain, path)
        same_figures(attribute(study, unveil.Pair(paths[0], paths[1:])), attribute(study))


def same_figures(found: Any, expected: Any) -> None:
    names = ("releases", "mean", "identity_after_exclusions", "exclusions")
    assert_same({n: found.to_dict()[n] for n in names}, {n: expected.to_dict()[n] for n in names}, tolerance=0)


# ------------------------------------------------------------------------------------------- what must hold
@settings(max_examples=60)
@given(studies(with_options=True))
def test_measures_are_nested_and_bounded(study: Study):
    identity = unveil.identity(study.pair(), study.keys)
    for found in identity.releases:
        assert found["repU"] <= found["UiOiS"] <= found["UiO"]
    # Shares are taken anew after exclusions: DCAPd is a bound of DiSCO only where nothing is excluded.
    for r, found in zip(identity.releases, attribute(study).releases, strict=True):
        assert found["DiSDiO"] <= found["DiSCO"] <= found["DiS"] <= found["iS"]
        for name in PERCENTAGES:
            value = (r | dict(found))[name] if name in oracle.IDENTITY else found[name]
            assert math.isnan(value) or -1e-9 <= value <= 100 + 1e-9, name
        assert all(value >= 0 or math.isnan(value) for value in found.values())
    for found in unveil.attribute(study.pair(), study.keys, target=study.target).releases:
        assert found["DiSCO"] <= found["DCAPd"] + 1e-9


@settings(max_examples=40)
@given(studies(max_releases=1))
def test_a_copy_discloses_what_the_original_does(study: Study):
    copy = replace(study, releases=(study.original,), types=(study.types[0],) * 2)
    risk, identity = attribute(copy), unveil.identity(copy.pair(), copy.keys)
    (found,) = risk.releases
    assert found["DiSCO"] == found["DiSDiO"] == found["DiS"] == found["Dorig"] == found["Dsyn"]
    assert found["iS"] == 100
    assert found["DCAPd"] == found["CAPd"] == found["CAPs"]
    assert identity.repU == identity.UiOiS == identity.UiO == identity.UiS
    assert all(columns_of(risk.records())["in_synthetic"])


@settings(max_examples=40)
@given(studies(max_releases=1, with_options=True))
def test_several_targets_are_each_their_own(study: Study):
    pair = study.pair()
    options = {name: study.options[name] for name in ("use_target_na", "use_keys_na")}
    together = unveil.attribute(pair, study.keys, **options)
    assert [risk.target for risk in together] == ["t", "group"]
    for risk in together:
        alone = unveil.attribute(pair, study.keys, target=risk.target, **options)
        assert_same(risk.to_dict(), alone.to_dict(), tolerance=0)
