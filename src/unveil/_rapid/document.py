"""An attack as plain values: what JSON files and reports are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.attribution import attribute_flags
from unveil._rapid.groups import group_rates, worst_groups


def attack_document(
    run: Attack, runner: Runner, figures: Mapping[str, Any], intervals: Mapping[str, Any], *, by: Sequence[str],
    attribution: bool,
) -> dict[str, Any]:  # fmt: skip
    """One attacker on one release: its figures, intervals and groups."""
    problem = runner.problem
    classes = None if problem.classes is None else group_rates(run, runner, problem.target)
    if classes is not None:
        classes = {"class": classes.pop(problem.target)} | classes
    document = dict(figures) | {
        "intervals": intervals,
        "by_class": None if classes is None else rows_of(classes),
        "worst_subgroups": rows_of(worst_groups(run, runner, n=10, least=30)),
    }
    if by:
        document["by"] = {}
        for column in by:
            groups = group_rates(run, runner, column)
            document["by"][column] = rows_of({"level": groups.pop(column)} | groups)
    if attribution:
        document["attribution"] = attribute_flags(run, runner).to_dict()
    return document


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Columns of equal length as one dict per row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
