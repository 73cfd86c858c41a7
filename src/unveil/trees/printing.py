"""A tree as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from unveil.trees.tree import Tree

__all__ = ["tree_text"]

_MOST_LABELS = 8


def tree_text(tree: Tree, levels: Mapping[str, Sequence[object]]) -> str:
    """One line per node: the condition that leads to it, its records, and what they are like.

    Parameters
    ----------
    tree : Tree
        The tree.
    levels : mapping of str to sequence
        Labels of the levels by variable; codes where there is none.

    Returns
    -------
    str
        Text.
    """
    lines = [f"tree of {tree.response.name or 'response'}: {tree.n_leaves} leaves, {tree.n_records} records"]
    codes = tree.by_node(tree.response.codes)
    waiting = [(0, "all")]
    while waiting:
        node, condition = waiting.pop()
        stops = tree.leaf[node] >= 0
        leaf = f"  leaf {tree.leaf[node]}" if stops else ""
        indent = "  " * int(tree.depth[node])
        n = tree.stop[node] - tree.start[node]
        lines.append(
            f"{indent}{condition}  n={n}  {_content(tree, codes[tree.start[node] : tree.stop[node]], levels)}{leaf}"
        )
        if not stops:
            to_left, to_right = _conditions(tree, node, levels)
            waiting += [(int(tree.right[node]), to_right), (node + 1, to_left)]
    return "\n".join(lines)


def _content(tree: Tree, codes: NDArray[np.int32], levels: Mapping[str, Sequence[object]]) -> str:
    """Mean, or most frequent class with its share, of the records of a node."""
    response = tree.response
    if codes.size == 0:
        return "empty"
    if response.values is not None:
        return f"mean {response.values[codes].mean():.6g}"
    counts = np.bincount(codes, minlength=response.n_levels)
    largest = int(counts.argmax())
    label = levels.get(response.name, range(response.n_levels))[largest]
    return f"{label} {counts[largest] / codes.size:.1%}"


def _conditions(tree: Tree, node: int, levels: Mapping[str, Sequence[object]]) -> tuple[str, str]:
    """What leads to the left and to the right child."""
    f = int(tree.feature[node])
    predictor = tree.predictors[f]
    name = predictor.name or f"x{f}"
    labels = levels.get(predictor.name, range(predictor.n_levels))
    if predictor.kind == "numeric":
        return f"{name} < {tree.threshold[node]:.10g}", f"{name} >= {tree.threshold[node]:.10g}"
    if predictor.kind == "ordered":
        first = labels[int(tree.cut[node])]
        return f"{name} < {first}", f"{name} >= {first}"
    begin = tree.side_start[node]
    sides = tree.sides[begin : begin + predictor.n_levels]
    return tuple(f"{name} in {{{_few(np.flatnonzero(sides == side), labels)}}}" for side in (0, 1))  # type: ignore[return-value]


def _few(codes: np.ndarray, labels: Sequence[object]) -> str:
    """The first labels, and how many more there are."""
    text = ", ".join(str(labels[int(code)]) for code in codes[:_MOST_LABELS])
    return text if codes.size <= _MOST_LABELS else f"{text} and {codes.size - _MOST_LABELS} more"
