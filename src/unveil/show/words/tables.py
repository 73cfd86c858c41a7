"""Table measures in words and tables, and the sentences that several of them share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unveil._tables.anonymity import BELOW, Anonymity
from unveil._tables.compared_measure import ComparedMeasure
from unveil._tables.curve import CapCurve
from unveil._tables.identity import IDENTITY_MEASURES, IdentityRisk
from unveil._tables.key_sets import KeySets
from unveil._tables.ladder import NO_HOLDOUT, NO_TARGET, ONLY_ORIGINAL, Ladder
from unveil._tables.structure import Structure
from unveil.result import Row, counted, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import NAMES, called, kinds_in_words

_LEVELS_SHOWN = 6


def heading(what: str, n_original: int, keys: Sequence[str], *more: str) -> str:
    """First line of a result: what is measured, on how many records, with which keys."""
    return paragraph(
        f"{what}: {n_original} original {counted()}, keys {', '.join(keys)}" + "".join(f"; {m}" for m in more)
    )


def grouping_in_words(grouping: Mapping[str, Mapping[str, object]]) -> list[str]:
    """How numeric columns were cut, a paragraph per column."""
    lines = []
    for column, cut in grouping.items():
        levels = cut["levels"]
        assert isinstance(levels, list)
        more = len(levels) - _LEVELS_SHOWN
        shown = ", ".join(levels[:_LEVELS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        lines.append(paragraph(f"Measured with {column} in {len(levels)} groups: {shown}."))
    return lines


def left_out_in_words(
    left_out: Sequence[tuple[str, int, int]], n_original: int, n_synthetic: Sequence[int], rules: str
) -> list[str]:
    """Number of records of each file that do not count: a paragraph per release.

    Parameters
    ----------
    left_out
        Per release its name and the numbers of original and synthetic records that do not count.
    n_original, n_synthetic
        Number of records of the original and of each release.
    rules
        Options that leave them out.
    """
    return [
        paragraph(
            f"Left out ({rules}): {original} of {n_original} original records and {synthetic} of {n} of {label}. They"
            " stay in the denominators."
        )
        for (label, original, synthetic), n in zip(left_out, n_synthetic, strict=True)
        if original or synthetic
    ]


def wildcards_in_words(labels: Sequence[str], figures: Sequence[Mapping[str, float]], begin: str = "") -> list[str]:
    """The figures where suppressed values match every value, a paragraph per release."""
    return [
        paragraph(
            f"{begin}If a suppressed value of {label} matches every value: "
            f"{', '.join(f'{name} {number(value)}' for name, value in one.items())}. In the table it is a level of its "
            "own."
        )
        for label, one in zip(labels, figures, strict=False)
    ]


def identity(risk: IdentityRisk) -> str:
    """A row per release, and what the figures mean."""
    intervals = risk.intervals()
    rows: list[Row] = []
    for label, release, n, interval in zip(risk.labels, risk.releases, risk.n_synthetic, intervals, strict=True):
        rows.append([label, n, *(release[m] for m in IDENTITY_MEASURES), ends(interval["repU"])])
    if len(rows) > 1:
        rows.append(["mean", "", *(risk.mean[m] for m in IDENTITY_MEASURES), ""])
    process = risk.interval("process")
    left_out = [
        (label, out["original"], out["synthetic"]) for label, out in zip(risk.labels, risk.left_out, strict=True)
    ]
    return "\n".join(
        [
            heading("Identity disclosure", risk.n_original, risk.keys),
            *grouping_in_words(risk.grouping),
            *left_out_in_words(left_out, risk.n_original, risk.n_synthetic, "use_keys_na"),
            "",
            text_table(["release", "records", *IDENTITY_MEASURES, f"repU {called('release')}"], rows),
            "",
            paragraph(
                f"Of 100 original records, {number(risk.UiO)} have a combination of keys that no other original",
                f"record has (UiO); {number(risk.repU)} of the 100 also meet exactly one synthetic record with it",
                "(repU). UiO, UiOiS and repU are percent of original records, UiS percent of synthetic records.",
                *kinds_in_words(process.in_words("repU"), process.undefined),
                "Not shown: what is learnt about the targets. A release can have repU 0",
                "and still give a person away.",
            ),
            *wildcards_in_words(risk.labels, risk.as_wildcards),
            *(paragraph(f"{name} is not defined: {reason}.") for name, reason in risk.undefined.items()),
            *warnings_in_words(risk.warnings),
        ]
    )


def anonymity(found: Anonymity) -> str:
    """A row per file, for each target one more, and what the figures mean."""
    named = list(zip(found.labels, found.files, strict=True))
    small = [f"below_{k}" for k in BELOW]
    header = ["file", "records", "classes", "k", *(f"% in < {k}" for k in BELOW)]
    rows: list[Row] = [
        [label, *(_whole(one[name]) for name in ("records", "classes", "k")), *(one[name] for name in small)]
        for label, one in named
    ]
    lines = [heading("Anonymity", found.n_original, found.keys), *grouping_in_words(found.grouping), ""]
    lines += [
        text_table(header, rows),
        "",
        paragraph(
            "A class is all records of a file with the same keys; k is the number of records of the smallest.",
            "% in < k: percent of records in classes of fewer than k.",
        ),
        "",
    ]
    if found.targets:
        diverse: list[Row] = [
            [target, label, _whole(one["l"]), one["entropy_l"], one["t"], one["one_value"], found.distances[target]]
            for target, each in found.diversity.items()
            for label, one in zip(found.labels, each, strict=True)
        ]
        lines += [
            text_table(["target", "file", "l", "entropy l", "t", "% one value", "distance"], diverse),
            "",
            paragraph(
                "l: the smallest number of values in a class; entropy l: the same for values of equal shares; t: the",
                "largest distance between the values in a class and those of the file; % one value: percent of records",
                "in classes with one value only.",
            ),
            "",
        ]
    lines.append(
        paragraph(
            "These figures describe each file by itself. Not shown: whether a release tells of the persons in the",
            "original. In a synthetic file no record is a person's, so that k = 1 there discloses nobody, and a large",
            "k protects nobody from an intruder who knows how the file was made.",
        )
    )
    return "\n".join([*lines, *warnings_in_words(found.warnings)])


def _whole(value: float) -> str:
    """A count, or a dash where it is not defined."""
    return "-" if math.isnan(value) else f"{value:.0f}"


def structure(found: Structure) -> str:
    """A row per release, and what the figures mean."""
    named = list(zip(found.labels, found.releases, strict=True))
    if len(named) > 1:
        named += [("mean", found.mean), ("all as one", found.union)]
    columns = (
        "combinations_synthetic", "combinations_novel", "percent_novel", "combinations_preserved",
        "records_in_original",
    )  # fmt: skip
    header = ["release", "combinations", "novel", "% novel", "% of original kept", "% records in original"]
    combinations = f"{found.releases[0]['combinations_original']:.0f} combinations"
    return "\n".join(
        [
            heading("Structure", found.n_original, found.keys, combinations),
            *grouping_in_words(found.grouping),
            "",
            text_table(header, [[label, *(values[c] for c in columns)] for label, values in named]),
            "",
            paragraph(*_structure_in_words(found.mean["percent_novel"], found.union, len(found.labels))),
            *warnings_in_words(found.warnings),
        ]
    )


def _structure_in_words(novel: float, union: Mapping[str, float], m: int) -> list[str]:
    """The mean over the releases, and of all together two shares: of their combinations, and of the original's."""
    found = [f"Of 100 key combinations in a release, {number(novel)} do not occur in the original."]
    if m > 1:
        found.append(
            f"Of 100 that occur in any of the {m} releases, {number(union['percent_novel'])} do not "
            f"({number(union['p_original_given_synthetic'])} do); of 100 of the original, "
            f"{number(union['combinations_preserved'])} occur in one of the releases."
        )
    if novel > 0:
        found.append(
            "Records with them match nobody: where they stand in the place of others, repU and DiSCO read lower, "
            "whether or not anybody is better protected."
        )
    return found


def key_sets(found: KeySets) -> str:
    """A row per number of keys, and one per key that is left out."""
    sizes: list[Row] = [
        [str(size), sum(len(s.keys) == size for s in found.sets), *(end for both in values.values() for end in both)]
        for size, values in found.by_size.items()
    ]
    header = ["keys", "sets", *(f"{name} {end}" for name in found.headline for end in ("min", "max"))]
    everything, *without = found.leave_one_out
    without.sort(key=lambda one: one.measures[found.headline[-1]])
    left_out: list[Row] = [
        [name, one.combinations, *(one.measures[m] for m in found.headline)]
        for name, one in [("all keys", everything), *((found._without(one), one) for one in without)]
    ]
    related = ", ".join(f"{name} {number(r)}" for name, r in found.correlation.items())
    m = len(found.n_synthetic)
    of = [f"target {found.target!r}"] if found.target is not None else []
    return "\n".join(
        [
            heading("Key sets", found.n_original, found.keys, *of, f"mean of {m} releases" if m > 1 else "one release"),
            *grouping_in_words(found.grouping),
            "",
            text_table(header, sizes),
            "",
            text_table(["", "combinations", *found.headline], left_out),
            "",
            paragraph(
                "Percent of original records.",
                f"Correlation over the {len(found.sets)} sets with the number of combinations: {related}.",
                *found._carrying(without),
            ),
            *warnings_in_words(found.warnings),
        ]
    )


def ladder(found: Ladder) -> str:
    """A table per release of each measure among its baselines, and what they mean."""
    shown = f"{100 * found.level:g} %"
    header = ["measure", "value", f"{shown}, {NAMES['release']}", "margin", "null", "null 95th", "p", "held out",
              "ceiling", "excess", f"{shown}, shuffles"]  # fmt: skip
    several = len(found.releases) > 1
    blocks = [("mean of the releases", found.mean)] if several else []
    blocks += list(zip(found.labels, found.releases, strict=True))
    lines = [
        heading(
            f"Baselines for {found.target!r}", found.n_original, found.keys,
            f"{found.permutations} shuffles",
            *([] if found.n_held_out is None else [f"{found.n_held_out} held-out records"]),
        )
    ]  # fmt: skip
    for label, rungs in blocks:
        rows = [_printed(name, rung) for name, rung in rungs.items()]
        lines += ["", *([f"{label}"] if several else []), text_table(header, rows)]
    lines += ["", *_sentences(found), *warnings_in_words(found.warnings)]
    return "\n".join(lines)


def _printed(name: str, rung: ComparedMeasure) -> Row:
    return [
        name, rung.value, ends(rung.interval), rung.margin, rung.null_mean, rung.null_95, number(rung.p_value, 3),
        rung.held_out, rung.ceiling, rung.excess, ends(rung.excess_interval),
    ]  # fmt: skip


def _sentences(found: Ladder) -> list[str]:
    disco, dcap, rep = (found.mean[name] for name in ("DiSCO", "DCAPd", "repU"))
    held_out = ""
    if found.n_held_out is not None:
        held_out = (
            f"Held out: of 100 records that the synthesizer never saw, the release discloses {number(disco.held_out)} "
            f"(DiSCO) and attributes {number(dcap.held_out)} correctly (DCAPd); what original records have beyond "
            "both intervals comes from their having been used."
        )
    return [
        paragraph(
            f"Value: of 100 original records, {number(rep.value)} are unique by their keys in both files (repU);",
            f"{number(disco.value)} have {found.target!r} disclosed, and rightly (DiSCO); for {number(dcap.value)} a",
            "guess from the release is right (DCAPd).",
        ),
        paragraph(*_kinds(found)),
        paragraph(
            f"Margin: without any release, naming the most frequent value is right for {number(disco.margin)}, and a",
            f"guess drawn from the shares of the values for {number(dcap.margin)} (baseCAPd).",
        ),
        paragraph(
            f"Null: a release whose {found.target!r} is shuffled, so that the keys have nothing to do with it, has",
            f"DiSCO {number(disco.null_mean)} and DCAPd {number(dcap.null_mean)} on average; p is the share that reach",
            "the value, of the shuffles and the release itself.",
        ),
        *([paragraph(held_out)] if held_out else []),
        paragraph(
            f"Ceiling: the original as its own release: repU {number(rep.ceiling)} (UiO),",
            f"DiSCO {number(disco.ceiling)}",
            f"(Dorig), DCAPd {number(dcap.ceiling)} with every record itself left out. It is no bound: where a",
            "release repeats records that are alone with their keys, it goes beyond the last.",
        ),
        paragraph(
            "Excess: (value - null) / (100 - null), in percent; its interval says which part of it shuffling alone",
            "could bring about, for these records, and holds 0 where the release is compatible with a target that",
            "has nothing to do with the keys. An excess is what can be inferred, from whatever source: it does NOT",
            "show that the record itself was used; held-out records do.",
        ),
        *(paragraph(f"{name} is not defined: {reason}.") for name, reason in found.undefined.items()
          if reason not in (NO_TARGET, NO_HOLDOUT, ONLY_ORIGINAL) and not name.endswith("process_interval")),
    ]  # fmt: skip


def _kinds(found: Ladder) -> list[str]:
    """The kinds of the intervals, and the process intervals."""
    process = ", ".join(
        f"{name} {ends(rung.process_interval)}" for name, rung in found.mean.items()
        if not math.isnan(rung.process_interval[0])
    )  # fmt: skip
    reasons = [found.undefined[f"{name}.process_interval"] for name in found.mean
               if f"{name}.process_interval" in found.undefined]  # fmt: skip
    return kinds_in_words(process, reasons[0] if reasons else None, found.level)


def cap_curve(curve: CapCurve) -> str:
    """A row per threshold, a column per release."""
    rows: list[Row] = [[f"{tau:g}", *(values[i] for values in curve.releases)] for i, tau in enumerate(curve.taus)]
    return "\n".join(
        [
            f"CAP(tau) of {curve.target!r}, keys {', '.join(curve.keys)}, percent of original {counted()}",
            "",
            text_table(["tau", *curve.labels], rows),
            "",
            "A guess counts if it is right and the release makes it with a share of at least tau:",
            "tau 0 is DCAPd, tau 1 is DiSCO.",
            *warnings_in_words(curve.warnings),
        ]
    )
