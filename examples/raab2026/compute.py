"""What Raab, Nowok & Dibben (2026) compute, from the package's public calls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from examples.paper import Cell, Computed, data_file

import unveil
from unveil._tables import AttributeRisk

KEYS = ["sex", "age", "region", "placesize"]
SPECIAL = {"income": [-8]}
SIMULATED = ("marital", "income", "depress", "workab")
SIZES = (250, 500, 1000, 1500, 2000, 3000, 4000, 5000)
RELEASES = 5
DENOMINATORS = {
    "DCAPd": "N_d", "DCAPs": "N_s", "DCAPb": "N_b", "TCAPs": "N_s", "TCAPb": "N_b", "TCAP": "DiS",
}  # fmt: skip
"""Measures of Table 1, each with what it is divided by."""
ADULT_KEYS = ["age", "occupation", "race", "sex"]
ADULT_TARGETS = (
    "capital.gain", "capital.loss", "education", "fnlwgt", "hours.per.week", "income", "marital.status",
    "native.country", "relationship", "workclass",
)  # fmt: skip
COMMON_LEVELS = {"capital.gain": [0], "capital.loss": [0], "native.country": ["United-States"]}
EXCLUSIONS: Mapping[str, frozenset[str]] = {
    "No excl": frozenset(),
    "not.tlev": frozenset({"levels"}),
    "not.tlev + NAs out": frozenset({"levels", "gaps"}),
    "not.tlev + NAs out + denom_lim 1": frozenset({"levels", "gaps", "limit"}),
    "denom_lim 1": frozenset({"limit"}),
}
"""Columns of Table 3, each with what it leaves out."""
CHECK_1WAY = {
    "share of level": "share",
    "DiSCO records": "disclosive",
    "of the level": "of_level",
    "percent": "percent",
}
CHECK_2WAY = {
    "records": "records", "original with pair": "original_with_pair", "original with key": "original_with_key",
    "percent": "percent",
}  # fmt: skip

Rows = list[dict[str, Any]]


class Survey:
    """The survey with its releases: the paper's files, or without them a simulated one with releases of our own."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.original = unveil.read(data_file(folder, "sd2011_9")) if folder else simulated()
        self.targets = ["income", "depress", "ls", "marital", "workab"] if folder else list(SIMULATED)
        self.grouped = ["ls", "depress", "income"] if folder else ["marital", "depress", "income"]

    @cached_property
    def synthesizer(self) -> Any:
        """Sequential CART with the reference's settings, fitted once."""
        return unveil.CartSynthesizer(special_codes=SPECIAL).fit(self.original)

    def released(self, name: str, number: int) -> list[Any]:
        """Releases of the paper by the beginning of their names, else own ones."""
        if self.folder is None:
            return list(self.synthesizer.sample(m=number, seed=1)) if number > 1 else [self.synthesizer.sample(seed=1)]
        names = [f"{name}_{i}" for i in range(1, number + 1)] if number > 1 else [name]
        return [data_file(self.folder, one) for one in names]

    def pair(self, name: str, number: int = 1, *, special: bool = False) -> unveil.Pair:
        """The survey with one or several releases; with ``special``, income -8 is no amount."""
        files = self.released(name, number)
        return unveil.Pair(self.original, files, special_codes=SPECIAL if special or self.folder is None else None)


def simulated() -> Any:
    """A survey that looks like the paper's."""
    return unveil.simulate.demo_population(5000, seed=1)


def groups_of(target: str) -> int | None:
    """Income is cut into twenty groups, as in the paper."""
    return 20 if target == "income" else None


# ----------------------------------------------------------------------------------------------------- the tables
def table_1(survey: Survey) -> Rows:
    """Numerators and denominators of the CAP measures, counted here, beside the measures of the package.

    The release has fewer records than the original, so that no two denominators are the same number.
    """
    if survey.folder:
        release: Any = unveil.read(data_file(survey.folder, "sd2011_9_k1000"))
    else:
        release = survey.synthesizer.sample(1000, seed=1)
    pair = unveil.Pair(survey.original, release)
    risk = unveil.attribute(pair, KEYS, target="depress")
    columns = [pair.column(name) for name in (*KEYS, "depress")]
    original = Counter(zip(*(column.original.tolist() for column in columns), strict=True))
    synthetic = Counter(zip(*(column.releases[0].tolist() for column in columns), strict=True))
    in_original, in_synthetic = by_keys(original), by_keys(synthetic)
    certain = {cell for cell, n in synthetic.items() if n == in_synthetic[cell[:-1]]}
    disclosive = {cell[:-1] for cell in certain}
    numerators = {
        "DCAP": math.fsum(
            n * synthetic[cell] / in_synthetic[cell[:-1]] for cell, n in original.items() if synthetic[cell]
        ),
        "TCAP": float(sum(n for cell, n in original.items() if cell in certain)),
    }
    denominators = {
        "N_d": original.total(),
        "N_s": synthetic.total(),
        "N_b": sum(n for keys, n in in_synthetic.items() if keys in in_original),
        "DiS": sum(n for keys, n in in_original.items() if keys in disclosive),
    }
    return [
        {
            "measure": name, "numerator": numerators[name[:4]], "denominator": below,
            "records": denominators[below], "percent": 100 * numerators[name[:4]] / denominators[below],
            "package": risk.mean[name],
        }
        for name, below in DENOMINATORS.items()
    ]  # fmt: skip


def by_keys(cells: Counter[tuple[int, ...]]) -> Counter[tuple[int, ...]]:
    """Records by combination of keys, from records by combination and target."""
    counted: Counter[tuple[int, ...]] = Counter()
    for cell, n in cells.items():
        counted[cell[:-1]] += n
    return counted


def table_2(survey: Survey) -> list[AttributeRisk]:
    """The measures of five releases for three targets."""
    pair = survey.pair("sd2011_9_s5c", RELEASES, special=True)
    return [unveil.attribute(pair, KEYS, target=t, ngroups_target=groups_of(t)) for t in survey.grouped]


def size_sweep(survey: Survey) -> Rows:
    """Figure 2: the measures against the number of released records, means of five releases of our own."""
    rows = []
    for k in SIZES:
        pair = unveil.Pair(
            survey.original, list(survey.synthesizer.sample(k, m=RELEASES, seed=k)), special_codes=SPECIAL
        )
        for target in survey.grouped:
            risk = unveil.attribute(pair, KEYS, target=target, ngroups_target=groups_of(target))
            rows.append({"target": target, "k": k} | {name: risk.mean[name] for name in ("DiSCO", *DENOMINATORS)})
    return rows


def adult_options(target: str, column: str) -> dict[str, Any]:
    """The options of a column of Table 3."""
    left_out = EXCLUSIONS[column]
    options: dict[str, Any] = {}
    if "levels" in left_out:
        options["not_target_levels"] = COMMON_LEVELS.get(target, [])
    if "gaps" in left_out:
        options |= {"use_target_na": False, "use_keys_na": False}
    if "limit" in left_out:
        options |= {"denom_limit": 1, "exclude_over_denom_limit": True}
    return options


def table_3(folder: Path, releases: int = RELEASES) -> Rows:
    """Adult under exclusions: Dorig of the original, and DiSCO of releases of our own."""
    original = unveil.read(data_file(folder, "adult"))
    import pyarrow as pa

    columns = pa.table({name: original.column(name) for name in original.names if name != "education.num"})
    pair = unveil.Pair(columns, list(unveil.CartSynthesizer().fit(columns).sample(m=releases, seed=1)))
    rows = []
    for target in ADULT_TARGETS:
        for column in EXCLUSIONS:
            risk = unveil.attribute(pair, ADULT_KEYS, target=target, **adult_options(target, column))
            disco = [one["DiSCO"] for one in risk.releases]
            rows.append({
                "target": target, "column": column, "Dorig": risk.Dorig, "DiSCO": risk.DiSCO,
                "least": min(disco), "most": max(disco),
            })  # fmt: skip
    return rows


# ---------------------------------------------------------------------------------------------------- the figures
def targets(survey: Survey) -> Rows:
    """Figures 1 and 3: every target of the first release, what its checks flag, and what exclusions change.

    Excluded is what is flagged: the level of the one-way check, else the pairs of the two-way check.
    """
    pair = survey.pair("sd2011_9_s1")
    rows = []
    for target in survey.targets:
        risk = unveil.attribute(pair, KEYS, target=target)
        (one_way,), (pairs,) = risk.check_1way, risk.check_2way
        options: dict[str, Any] = {}
        if one_way:
            options = {"not_target_levels": [one_way["level"]]}
        elif pairs:
            options = {"exclude_pairs": [(p["key"], p["key_level"], p["target_level"]) for p in pairs]}
        after = unveil.attribute(pair, KEYS, target=target, **options)
        low, high = risk.intervals()[0]["DiSCO"]
        rows.append({
            "target": target, "Dorig": risk.Dorig, "DiSCO": risk.DiSCO, "low": low, "high": high,
            "one_way": one_way["level"] if one_way else "", "pairs": len(pairs),
            "Dorig_after": after.Dorig, "DiSCO_after": after.DiSCO,
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["DiSCO"])


# ------------------------------------------------------------------------------------------------ printed numbers
def numbers(survey: Survey, means: Sequence[AttributeRisk]) -> Iterator[tuple[Cell, Computed]]:
    """Every number of the survey that the paper prints."""
    first = survey.pair("sd2011_9_s1")
    five = survey.pair("sd2011_9_s5", RELEASES)
    for name, value in unveil.identity(first, KEYS).mean.items():
        yield ("Section 2, first release", "s1", name), Computed(value)
    depress = unveil.attribute(five, KEYS, target="depress")
    for item, found in (
        ("Section 3.2, identity of five releases", unveil.identity(five, KEYS).releases),
        ("Section 3.3.1, target depress of five releases", depress.releases),
    ):
        for i, release in enumerate(found, start=1):
            for name, value in release.items():
                yield (item, f"release {i}", name), Computed(value)
    for risk in means:
        for name, value in risk.mean.items():
            yield ("Table 2, means of five releases", risk.target, name), Computed(value)
    yield from limited(first)
    yield from checked(first)


def limited(pair: unveil.Pair) -> Iterator[tuple[Cell, Computed]]:
    """Figures in which only cells of one record count."""
    item = "Cells of one record only (denom_lim = 1)"
    for target in ("income", "depress", "ls", "marital", "workab"):
        risk = unveil.attribute(pair, KEYS, target=target, denom_limit=1, exclude_over_denom_limit=True)
        for name in ("DiSCO", "Dorig"):
            yield (item, target, name), Computed(risk.mean[name])
        if target == "depress":
            for name, value in risk.identity_after_exclusions[0].items():
                yield (item, "all targets", name), Computed(value)


def checked(pair: unveil.Pair) -> Iterator[tuple[Cell, Computed]]:
    """Figures of the one-way and the two-way check."""
    item = "Checks of workab"
    risk = unveil.attribute(pair, KEYS, target="workab")
    (one_way,), (pairs,) = risk.check_1way, risk.check_2way
    assert one_way is not None
    yield (item, "1-way, level NO", "records"), Computed(pair.n_original)
    for column, name in CHECK_1WAY.items():
        yield (item, "1-way, level NO", column), Computed(one_way[name])
    yield (item, "2-way", "pairs flagged"), Computed(len(pairs))
    for pair_found in unveil.attribute(pair, KEYS, target="marital").check_2way[0]:
        row = f"{pair_found['target_level']}, {pair_found['key']} {pair_found['key_level']}"
        for column, name in CHECK_2WAY.items():
            yield ("Two-way check of marital", row, column), Computed(pair_found[name])


def adult_numbers(rows: Rows) -> Iterator[tuple[Cell, Computed]]:
    """The columns of Table 3 that depend on the original alone."""
    for row in rows:
        yield ("Table 3, Adult: Dorig under exclusions", row["target"], row["column"]), Computed(row["Dorig"])
