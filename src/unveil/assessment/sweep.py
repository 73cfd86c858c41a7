"""Releases of several sizes from one synthesizer, measured alike: which figures follow the number of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unveil._tables import attribute, identity
from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.keyed_pair import Groups, as_names, targets_of
from unveil.assessment.sweep_result import SizeSweep
from unveil.checks import check_shares, check_whole_numbers
from unveil.columns import Pair
from unveil.errors import CallError
from unveil.files import read
from unveil.notes import overheard

SIZES = (250, 500, 1000, 2000, 5000)
MEASURES = ("repU", "DiSCO", "DCAPd")
"""Measures with baselines and intervals."""
OTHERS = ("iS", "DiS", "TCAP")
"""Measures of a release that are shown beside them."""


def size_sweep(
    original: Any, synthesizer: Any, keys: str | Sequence[str], *, targets: str | Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES, m: int = 5, permutations: int = 19, ngroups_keys: Groups = None,
    ngroups_target: Groups = None, level: float = 0.95, seed: int | None = None,
    progress: Callable[[int, int, str], None] | None = None, special_codes: Mapping[str, Any] | None = None,
    kinds: Mapping[str, Any] | None = None, breaks: Mapping[str, Sequence[float]] | None = None, schema: Any = None,
) -> SizeSweep:  # fmt: skip
    """Measure releases of several sizes: how identity and attribute disclosure change with the records released.

    The synthesizer is fitted once, and makes ``m`` releases of each size, all independent draws.

    Parameters
    ----------
    original
        The file of real records: a frame or a path.
    synthesizer
        An object with ``fit`` and ``sample``, or a function of a frame.
    keys
        The key variables.
    targets
        The target variables; None: every other column.
    sizes
        Numbers of records of the releases.
    m
        Number of releases of each size.
    permutations
        Number of shuffles of the target behind each null; 0 for no null.
    ngroups_keys, ngroups_target
        Number of groups into which numeric keys or targets are cut: for all of them, or by column.
    level
        Coverage of the intervals.
    seed
        Of fit, draws and shuffles. Without it they come from a seed of the operating system. A seed that was given is
        confidential where a release that was made with it is given away.
    progress
        Called with the number of sizes that are done, their total, and the next one.
    special_codes, kinds, breaks, schema
        As for :class:`unveil.Pair`.

    Returns
    -------
    SizeSweep
        By size and target: repU, DiSCO and DCAPd with intervals and baselines; iS, DiS and TCAP.

    Raises
    ------
    CallError
        If an option is out of its range, or a column is unknown.
    DataError
        If the synthesizer does not make what it was asked for.

    Notes
    -----
    Each figure is the mean over the m releases of one size. The denominator of repU, DiSCO and DCAPd is the number of
    original records, that of TCAP the number of records that count in DiS: with fewer records released fewer keys are
    met, which repU, DiSCO and DCAPd take into account and TCAP does not.

    References
    ----------
    Raab, G. M., Nowok, B. & Dibben, C. (2026). Practical privacy metrics for synthetic data, figure 2.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(300, seed=1)
    >>> cart = unveil.CartSynthesizer(n_jobs=1)
    >>> found = unveil.size_sweep(people, cart, ["sex", "region"], targets="marital", sizes=[50, 300], m=2, seed=1)
    >>> found.value("repU", 50) <= found.ceiling("repU"), found.value("iS", 50, "marital") <= 100
    (True, True)
    """
    from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew
    from unveil.synthesis.seeds import seed_or_secret

    check_whole_numbers(1, m=m)
    check_whole_numbers(0, permutations=permutations)
    check_shares(level=level)
    numbers = tuple(dict.fromkeys(sizes)) if isinstance(sizes, Sequence) and not isinstance(sizes, str) else (sizes,)
    if not numbers:
        raise CallError("sizes: name at least one number of records")
    for size in numbers:
        check_whole_numbers(1, sizes=size)
    names = as_names(keys, "key")
    secret = seed_or_secret(seed)
    source = read(original, schema=schema)
    if source.num_rows == 0:
        raise CallError(f"{source.label} has no records; there is nothing to measure")
    for name in (*names, *(() if targets is None else as_names(targets, "target"))):
        source.require(name)
    reading: dict[str, Any] = {"special_codes": special_codes, "kinds": kinds, "breaks": breaks}
    report = progress or (lambda *_: None)
    with overheard() as heard:
        report(0, len(numbers), "fit")
        maker = fitted_anew(as_synthesizer(synthesizer), source, seed=secret)
        rows: list[dict[str, Any]] = []
        said: dict[str, list[str]] = {}
        chosen: tuple[str, ...] = ()
        for done, size in enumerate(numbers):
            report(done, len(numbers), f"{size} records")
            first = secret + 1 + done * m
            releases = [read(maker.sample(size, seed=first + copy)) for copy in range(m)]
            pair = Pair(source, releases, **reading)
            chosen, _ = targets_of(pair, names, None, targets)
            risks = attribute(pair, names, targets=chosen, ngroups_keys=ngroups_keys, ngroups_target=ngroups_target)
            rows += _identity_row(pair, names, ngroups_keys, size, level)
            for risk in risks:
                rows += _rows(risk, size, permutations=permutations, level=level, seed=seed or 0)
            for risk in risks:
                for text in risk.warnings:
                    said.setdefault(text, []).append(f"{risk.target}, {size} records")
        report(len(numbers), len(numbers), "done")
    return SizeSweep(
        keys=names,
        targets=chosen,
        sizes=numbers,
        m=m,
        n_original=source.num_rows,
        permutations=permutations,
        level=level,
        rows=tuple(rows),
        warnings=tuple(dict.fromkeys([*(one.text for one in heard), *_warnings(said, len(numbers) * len(chosen))])),
        flavour=source.flavour,
    )


def _warnings(said: Mapping[str, Sequence[str]], everywhere: int) -> list[str]:
    """Warnings, with target and size where they do not concern all of them."""
    return [text if len(where) == everywhere else f"{'; '.join(where)}: {text}" for text, where in said.items()]


def _identity_row(
    pair: Pair, keys: Sequence[str], ngroups_keys: Groups, size: int, level: float
) -> list[dict[str, Any]]:
    risk = identity(pair, keys, ngroups_keys=ngroups_keys)
    kept, process = risk.interval("release", level=level), risk.interval("process", level=level)
    values = [one["repU"] for one in risk.releases]
    return [
        {"size": size, "target": None, "measure": "repU", "value": risk.repU, "least": min(values),
         "largest": max(values), "low": kept.low, "high": kept.high, "process_low": process.low,
         "process_high": process.high, "ceiling": risk.UiO}
    ]  # fmt: skip


def _rows(risk: AttributeRisk, size: int, *, permutations: int, level: float, seed: int) -> list[dict[str, Any]]:
    """The measures of a target."""
    rungs = risk.ladder(permutations=permutations, level=level, seed=seed, holdout=False).mean
    processes = risk.interval("process", level=level)
    found = []
    for name in (*MEASURES[1:], *OTHERS):
        values = [one[name] for one in risk.releases]
        row = {"size": size, "target": risk.target, "measure": name, "value": risk.mean[name], "least": min(values),
               "largest": max(values)}  # fmt: skip
        if name in rungs:
            rung = rungs[name]
            row |= {"low": rung.interval[0], "high": rung.interval[1], "process_low": processes[name].low,
                    "process_high": processes[name].high, "margin": rung.margin, "null_mean": rung.null_mean,
                    "null_95": rung.null_95, "ceiling": rung.ceiling}  # fmt: skip
        found.append(row)
    return found
