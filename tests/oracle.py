"""Every table measure once more, by the definition and by nothing else.

The tests hold the package against these functions, so they are written to be seen right: files are plain
dictionaries from a column name to a list of Python values, tables are dictionaries from a cell
``(q, t)`` (the tuple of key values, the target value) to its number of records, and a sum is a loop over all
cells. Nothing is imported from the package. A gap is ``None``; a float that is not a number is a gap too.
Python's own equality makes ``1 == 1.0`` and ``0.0 == -0.0`` one level and keeps ``None`` and ``"Missing"``
apart. Floats that agree to 15 significant digits, all that a double can promise to keep, are one level: the
reference outputs count a body mass index, which differs beyond them, in this way.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

Columns = Mapping[str, Sequence[Any]]
Cell = tuple[tuple[Any, ...], Any]
Table = dict[Cell, int]

TABLES = ("original", "synthetic", "Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO")
RULES = ("not_target_levels", "use_target_na", "use_keys_na", "exclude_pairs", "denom_limit")
IDENTITY = ("UiO", "UiS", "UiOiS", "repU")
ATTRIBUTE = (
    *("Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO", "max_denom", "mean_denom", "baseCAPd"),
    *("CAPd", "CAPs", "DCAPd", "DCAPs", "DCAPb", "TCAPs", "TCAPb", "TCAP"),
)


# ---------------------------------------------------------------------------------------------- options
@dataclass(frozen=True)
class Options:
    """The exclusions, named as in the package's call; the defaults exclude nothing."""

    not_target_levels: Sequence[Any] = ()
    use_target_na: bool = True
    use_keys_na: bool | Mapping[str, bool] = True
    exclude_pairs: Sequence[tuple[str, Any, Any]] = ()
    denom_limit: int | None = None
    exclude_over_denom_limit: bool = False
    check_1way: tuple[float, float] = (50, 90)
    check_2way: tuple[float, float] = (4, 80)

    def in_force(self) -> list[str]:
        """The rules that exclude anything at all, in the order in which they are applied."""
        switched_on = (
            bool(self.not_target_levels),
            not self.use_target_na,
            self.use_keys_na is not True,
            bool(self.exclude_pairs),
            self.exclude_over_denom_limit and self.denom_limit is not None,
        )
        return [rule for rule, on in zip(RULES, switched_on, strict=True) if on]

    def drops(self, rule: str, keys: Sequence[str], cell: Cell, count: int) -> bool:
        """Does the rule set this cell, with this count in its own table, to 0?"""
        q, t = cell
        if rule == "not_target_levels":
            return t in self.not_target_levels
        if rule == "use_target_na":
            return t is None and not self.use_target_na
        if rule == "use_keys_na":
            return any(value is None and not self.uses_gaps_of(key) for key, value in zip(keys, q, strict=True))
        if rule == "exclude_pairs":
            return any(q[keys.index(key)] == level and t == target for key, level, target in self.exclude_pairs)
        return count > self.denom_limit

    def uses_gaps_of(self, key: str) -> bool:
        if isinstance(self.use_keys_na, bool):
            return self.use_keys_na
        return self.use_keys_na.get(key, True)


# ---------------------------------------------------------------------------------------------- counting
def is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def level_of(value: Any) -> Any:
    if is_gap(value):
        return None
    if isinstance(value, float) and not value.is_integer():
        return float(f"{value:.15g}")
    return value


def column(data: Columns, name: str) -> list[Any]:
    levels = {value: level_of(value) for value in set(data[name])}
    return [levels[value] for value in data[name]]


def combined_keys(data: Columns, keys: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(column(data, key) for key in keys), strict=True))


def count_cells(data: Columns, keys: Sequence[str], target: str) -> Table:
    return dict(Counter(zip(combined_keys(data, keys), column(data, target), strict=True)))


def key_margin(table: Table) -> Counter[tuple[Any, ...]]:
    margin: Counter[tuple[Any, ...]] = Counter()
    for (q, _), n in table.items():
        margin[q] += n
    return margin


def percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan


def mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


# ---------------------------------------------------------------------------------------------- identity
def identity_from_margins(
    d_q: Mapping, s_q: Mapping, n_d: int, n_s: int, in_release: Iterable | None = None
) -> dict[str, float]:
    """``in_release``: the keys that count as found in the release, where they are not those of ``s_q``."""
    unique = [q for q, n in d_q.items() if n == 1]
    found = {q for q, n in s_q.items() if n > 0} if in_release is None else set(in_release)
    return {
        "UiO": percent(len(unique), n_d),
        "UiS": percent(sum(n == 1 for n in s_q.values()), n_s),
        "UiOiS": percent(sum(q in found for q in unique), n_d),
        "repU": percent(sum(s_q.get(q, 0) == 1 for q in unique), n_d),
    }


def identity(original: Columns, release: Columns, keys: Sequence[str], use_keys_na: Any = True) -> dict:
    options = Options(use_keys_na=use_keys_na)

    def margin(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        kept = (q for q in rows if not options.drops("use_keys_na", keys, (q, None), 1))
        return Counter(kept)

    d, s = combined_keys(original, keys), combined_keys(release, keys)
    return identity_from_margins(margin(d), margin(s), len(d), len(s))


# --------------------------------------------------------------------------------------------- attribute
@dataclass
class Result:
    """What one release says about one target."""

    measures: dict[str, float]
    identity_after_exclusions: dict[str, float]
    exclusions: dict[str, dict[str, int]]
    check_1way: dict[str, Any] | None
    check_2way: list[dict[str, Any]]
    tables: dict[str, Table] = field(repr=False)


def disclosure_tables(d: Table, s: Table) -> dict[str, Table]:
    """The eight tables before any exclusion."""
    d_q, s_q = key_margin(d), key_margin(s)
    open_keys = {q for (q, _), n in s.items() if n == s_q[q]}

    def disclosed(cell: Cell) -> bool:
        return 0 < s.get(cell, 0) == s_q[cell[0]]

    return {
        "original": dict(d),
        "synthetic": dict(s),
        "Dorig": {c: n for c, n in d.items() if n == d_q[c[0]]},
        "Dsyn": {c: n for c, n in s.items() if n == s_q[c[0]]},
        "iS": {c: n for c, n in d.items() if s_q[c[0]] > 0},
        "DiS": {c: n for c, n in d.items() if c[0] in open_keys},
        "DiSCO": {c: n for c, n in d.items() if disclosed(c)},
        "DiSDiO": {c: n for c, n in d.items() if disclosed(c) and n == d_q[c[0]]},
    }


def exclude(table: Table, keys: Sequence[str], options: Options) -> tuple[Table, dict[str, int]]:
    """The table without the excluded cells, and the records that each rule in turn removed."""
    left, removed = dict(table), dict.fromkeys(RULES, 0)
    for rule in options.in_force():
        gone = {c: n for c, n in left.items() if options.drops(rule, keys, c, n)}
        removed[rule] = sum(gone.values())
        left = {c: n for c, n in left.items() if c not in gone}
    return left, {**removed, "remaining": sum(left.values())}


def attribute(
    original: Columns, release: Columns, keys: Sequence[str], target: str, options: Options | None = None
) -> Result:
    options = options or Options()
    keys = list(keys)
    d, s = count_cells(original, keys, target), count_cells(release, keys, target)
    n_d, n_s = sum(d.values()), sum(s.values())
    tables, exclusions = {}, {}
    for name, table in disclosure_tables(d, s).items():
        tables[name], exclusions[name] = exclude(table, keys, options)

    total = {name: sum(table.values()) for name, table in tables.items()}
    left_d, left_s = tables["original"], tables["synthetic"]
    d_q, s_q = key_margin(left_d), key_margin(left_s)
    n_b = sum(n for q, n in s_q.items() if d_q[q] > 0)
    dcap = sum(n * left_s.get(c, 0) / s_q[c[0]] for c, n in left_d.items() if s_q[c[0]] > 0)
    target_margin = Counter(column(original, target))
    cells = list(tables["DiSCO"].values())
    measures = {
        "Dorig": percent(total["Dorig"], n_d),
        "Dsyn": percent(total["Dsyn"], n_s),
        "iS": percent(total["iS"], n_d),
        "DiS": percent(total["DiS"], n_d),
        "DiSCO": percent(total["DiSCO"], n_d),
        "DiSDiO": percent(total["DiSDiO"], n_d),
        "max_denom": max(cells, default=0),
        "mean_denom": mean(cells) if cells else math.nan,
        "baseCAPd": percent(sum((n / n_d) ** 2 for n in target_margin.values()), 1),
        "CAPd": percent(sum(n * n / d_q[c[0]] for c, n in left_d.items()), n_d),
        "CAPs": percent(sum(n * n / s_q[c[0]] for c, n in left_s.items()), n_s),
        "DCAPd": percent(dcap, n_d),
        "DCAPs": percent(dcap, n_s),
        "DCAPb": percent(dcap, n_b),
        "TCAPs": percent(total["DiSCO"], n_s),
        "TCAPb": percent(total["DiSCO"], n_b),
        "TCAP": percent(total["DiSCO"], total["DiS"]),
    }
    return Result(
        measures,
        # Whether a key is in the release was settled before the exclusions, like all that is disclosive.
        identity_from_margins(d_q, s_q, n_d, n_s, in_release=key_margin(s)),
        exclusions,
        one_way(tables["DiSCO"], left_d, options.check_1way),
        two_way(tables["DiSCO"], original, keys, target, options.check_2way),
        tables,
    )


def target_counts(table: Table) -> Counter[Any]:
    by_level: Counter[Any] = Counter()
    for (_, t), n in table.items():
        by_level[t] += n
    return by_level


def one_way(disco: Table, original: Table, thresholds: tuple[float, float]) -> dict[str, Any] | None:
    """The target level that carries too much of DiSCO, or None; both tables after exclusions."""
    more_than, pct = thresholds
    by_level, in_data = target_counts(disco), target_counts(original)
    if not by_level:
        return None
    level, n = by_level.most_common(1)[0]
    everything = sum(by_level.values())
    if n <= more_than or percent(n, everything) <= pct:
        return None
    return {
        "level": level,
        "share": percent(in_data[level], in_data.total()),
        "disclosive": everything,
        "of_level": n,
        "percent": percent(n, everything),
    }


def two_way(
    disco: Table, original: Columns, keys: Sequence[str], target: str, thresholds: tuple[float, float]
) -> list[dict[str, Any]]:
    """Pairs of a target level and a key level that nearly always go together in the original."""
    more_than, pct = thresholds
    truth = column(original, target)
    flagged = []
    for position, key in enumerate(keys):
        records: Counter[tuple[Any, Any]] = Counter()
        for (q, t), n in disco.items():
            if n > more_than:
                records[t, q[position]] += n
        values = column(original, key)
        with_key = Counter(values)
        with_pair = Counter(zip(truth, values, strict=True))
        for (t, level), n in records.items():
            share = percent(with_pair[t, level], with_key[level])
            if share > pct:
                flagged.append(
                    {
                        "target_level": t,
                        "key": key,
                        "key_level": level,
                        "records": n,
                        "original_with_pair": with_pair[t, level],
                        "original_with_key": with_key[level],
                        "percent": share,
                    }
                )
    return sorted(flagged, key=lambda pair: -pair["records"])


# ---------------------------------------------------------------------------------- beyond the totals
def cap(
    original: Columns, release: Columns, keys: Sequence[str], target: str, tau: float, options: Options | None = None
) -> float:
    """``CAP(tau)``; tau = 0 is DCAPd, tau = 1 is DiSCO.

    Whether a share reaches tau is settled before the exclusions, like what is disclosive.
    """
    options = options or Options()
    d, s = count_cells(original, keys, target), count_cells(release, keys, target)
    n_d, s_q = sum(d.values()), key_margin(s)
    if tau == 1:
        disco, _ = exclude(disclosure_tables(d, s)["DiSCO"], keys, options)
        return percent(sum(disco.values()), n_d)
    left_d, left_s = exclude(d, keys, options)[0], exclude(s, keys, options)[0]
    left_q = key_margin(left_s)
    reached = [c for c in left_d if s_q[c[0]] and s.get(c, 0) / s_q[c[0]] >= tau]
    return percent(sum(left_d[c] * left_s[c] / left_q[c[0]] for c in reached if left_s.get(c)), n_d)


def records(original: Columns, release: Columns, keys: Sequence[str], target: str) -> list[dict[str, Any]]:
    """What each original record runs into in the release, in the order of the original file."""
    d, s = count_cells(original, keys, target), count_cells(release, keys, target)
    d_q, s_q = key_margin(d), key_margin(s)
    flags = []
    for q, t in zip(combined_keys(original, keys), column(original, target), strict=True):
        flags.append(
            {
                "d_q": d_q[q],
                "s_q": s_q[q],
                "ps": s.get((q, t), 0) / s_q[q] if s_q[q] else 0.0,
                "replicated_unique": d_q[q] == 1 and s_q[q] == 1,
                "in_synthetic": s_q[q] > 0,
                "disclosive": any(n == s_q[q] for (other, _), n in s.items() if other == q),
                "disco": 0 < s.get((q, t), 0) == s_q[q],
            }
        )
    return flags


def mode_disco(original: Columns, release: Columns, keys: Sequence[str], target: str) -> set[float]:
    """DiSCO with the synthetic target replaced by its mode: one value for each level that is a mode."""
    values = Counter(column(release, target))
    modes = [level for level, n in values.items() if n == max(values.values())]
    return {
        attribute(original, {**release, target: [mode] * len(release[target])}, keys, target).measures["DiSCO"]
        for mode in modes
    }


def structure(original: Columns, releases: Sequence[Columns], keys: Sequence[str]) -> dict[str, float]:
    """Key combinations kept and invented by the releases taken together."""
    d = Counter(combined_keys(original, keys))
    s = Counter(q for release in releases for q in combined_keys(release, keys))
    novel = s.keys() - d.keys()
    return {
        "combinations_original": len(d),
        "combinations_synthetic": len(s),
        "combinations_novel": len(novel),
        "percent_novel": percent(len(novel), len(s)),
        "records_novel": percent(sum(s[q] for q in novel), s.total()),
        "records_in_original": percent(sum(n for q, n in s.items() if q in d), s.total()),
        "combinations_preserved": percent(len(d.keys() & s.keys()), len(d)),
    }


def key_subsets(keys: Sequence[str], max_size: int) -> list[tuple[str, ...]]:
    return [subset for size in range(1, max_size + 1) for subset in combinations(keys, size)]


# ----------------------------------------------------------------------------------------------- grouping
@dataclass(frozen=True)
class Grouping:
    style: str
    breaks: tuple[float, ...]

    @property
    def labels(self) -> list[str]:
        text = [f"{b:.8g}" for b in self.breaks]
        inner = [f"[{low},{high})" for low, high in pairwise(text)]
        return [*inner[:-1], inner[-1][:-1] + "]"]

    def label(self, value: float) -> str:
        """The group of a value: closed on the left, the last one on both sides."""
        return self.labels[min(bisect_right(self.breaks, value), len(self.breaks) - 1) - 1]


def find_groups(values: Iterable[Any], n_groups: int, special_codes: Sequence[Any] = ()) -> Grouping:
    """Quantile groups of the values of all files together, equal widths where they are fewer than three.

    The quantile is the usual interpolation between order statistics, in floating point and in this order of
    operations: a break that lies a rounding error above a value decides the group of all that have the value.
    """
    pool = sorted(v for v in values if not is_gap(v) and v not in special_codes)

    def quantile(share: float) -> float:
        place = 1 + (len(pool) - 1) * share
        below = math.floor(place)
        low, high, weight = pool[below - 1], pool[math.ceil(place) - 1], place - below
        return low if low == high else (1 - weight) * low + weight * high

    breaks = sorted({quantile(g * (1 / n_groups)) for g in range(n_groups + 1)})
    if len(breaks) > 3:
        return Grouping("quantile", tuple(breaks))
    width = (pool[-1] - pool[0]) / n_groups
    return Grouping("equal-width", (*(pool[0] + g * width for g in range(n_groups)), pool[-1]))


def group_column(
    files: Sequence[Columns], name: str, n_groups: int, special_codes: Sequence[Any] = ()
) -> tuple[list[Columns], Grouping]:
    """The files with one column in groups; gaps and special codes stay what they are."""
    grouping = find_groups((v for f in files for v in f[name]), n_groups, special_codes)
    group_of = {
        v: v if is_gap(v) or v in special_codes else grouping.label(v) for v in {v for f in files for v in f[name]}
    }
    return [{**f, name: [group_of[v] for v in f[name]]} for f in files], grouping
