"""The compiled loops of random forests: one tree is grown, and its leaves are added up.

A node's cells (records with the same keys and target, with a weight) are put in order by counting, and splits are
judged in one sweep whose cost depends neither on the number of levels nor on the number of classes. Sums of classes are
integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled

_INSERTION = 24
"""Most records that are sorted by insertion."""


@compiled
def _random(state: NDArray[np.uint64]) -> np.uint64:
    """The next of a SplitMix64 sequence."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.uint64 = z ^ (z >> np.uint64(31))
    return mixed


@compiled
def _below(state: NDArray[np.uint64], n: int) -> int:
    """A whole number below n (n < 2^32)."""
    return int(((_random(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def _sort_by_code(
    code: NDArray[np.int32], records: NDArray[np.int32], start: int, stop: int, counts: NDArray[np.int32],
    out: NDArray[np.int32], out_code: NDArray[np.int32],
) -> None:  # fmt: skip
    """Put a node's records in order of a key's codes: by insertion where they are few, else by counting."""
    m = stop - start
    if m <= _INSERTION:
        for i in range(m):
            record = records[start + i]
            c = code[record]
            j = i
            while j > 0 and out_code[j - 1] > c:
                out_code[j] = out_code[j - 1]
                out[j] = out[j - 1]
                j -= 1
            out_code[j] = c
            out[j] = record
        return
    low = code[records[start]]
    high = low
    for i in range(start, stop):
        c = code[records[i]]
        low = min(low, c)
        high = max(high, c)
    for c in range(low, high + 2):
        counts[c - low] = 0
    for i in range(start, stop):
        counts[code[records[i]] - low + 1] += 1
    for c in range(1, high - low + 1):
        counts[c] += counts[c - 1]
    for i in range(start, stop):
        c = code[records[i]]
        place = counts[c - low]
        counts[c - low] += 1
        out[place] = records[i]
        out_code[place] = c


@compiled
def _best_cut_of_classes(
    y: NDArray[np.int32], weight: NDArray[np.int64], m: int, n: int, out: NDArray[np.int32],
    out_code: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64], total: NDArray[np.int64],
    squares: int,
) -> tuple[float, int]:  # fmt: skip
    """Largest sum of squared class counts over their number, of both sides; and the last place on the left."""
    for i in range(m):
        c = y[out[i]]
        left[c] = 0
        right[c] = total[c]
    left_squares, right_squares = np.int64(0), np.int64(squares)
    before = np.int64(0)
    best, place = -1.0, -1
    for i in range(m - 1):
        record = out[i]
        c, w = y[record], weight[record]
        before += w
        left_squares += w * (2 * left[c] + w)
        left[c] += w
        right_squares -= w * (2 * right[c] - w)
        right[c] -= w
        if out_code[i] != out_code[i + 1]:
            found = left_squares / before + right_squares / (n - before)
            if found > best:
                best, place = found, i
    return best, place


@compiled
def _best_cut_of_numbers(
    y: NDArray[np.float64], weight: NDArray[np.int64], m: int, n: int, out: NDArray[np.int32],
    out_code: NDArray[np.int32], total: float,
) -> tuple[float, int]:  # fmt: skip
    """Largest sum of squared sums over their number, of both sides; and the last place on the left."""
    left = 0.0
    before = np.int64(0)
    best, place = -1.0, -1
    for i in range(m - 1):
        record = out[i]
        before += weight[record]
        left += weight[record] * y[record]
        if out_code[i] != out_code[i + 1]:
            rest = total - left
            found = left * left / before + rest * rest / (n - before)
            if found > best:
                best, place = found, i
    return best, place


@allocating
def grow_tree(
    codes: NDArray[np.int32], starts: NDArray[np.int64], values: NDArray[np.float64], cell: NDArray[np.int32],
    classes: NDArray[np.int32], numbers: NDArray[np.float64], n_classes: int, mtry: int, min_node_size: int,
    seed: np.uint64,
) -> tuple[
    NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]
]:  # fmt: skip
    """Grow one tree on as many records drawn with replacement; gives the parts of a ``ForestTree``.

    ``codes``: (p, n) keys of the different records, as positions in their distinct ``values``, of which those of key f
    begin at ``starts[f]``; ``cell``: by record, the different record that it is; ``classes`` (n,), or where there are
    none ``numbers`` (n,).
    """
    p, n = codes.shape
    state = np.empty(1, np.uint64)
    state[0] = seed
    weight = np.zeros(n, np.int64)
    for _ in range(cell.size):
        weight[cell[_below(state, cell.size)]] += 1
    records = np.empty(n, np.int32)
    k = 0
    for i in range(n):
        if weight[i]:
            records[k] = i
            k += 1
    widest = 0
    for f in range(p):
        widest = max(widest, starts[f + 1] - starts[f])
    counts = np.empty(widest + 2, np.int32)
    out = np.empty(n, np.int32)
    out_code = np.empty(n, np.int32)
    left = np.zeros(max(n_classes, 1), np.int64)
    right = np.zeros(max(n_classes, 1), np.int64)
    total = np.zeros(max(n_classes, 1), np.int64)
    keys = np.arange(p)
    size = 64
    feature = np.empty(size, np.int32)
    threshold = np.empty(size, np.float64)
    right_child = np.empty(size, np.int32)
    held = 64
    leaf_start = np.zeros(held + 1, np.int32)
    filled = 64
    leaf_class = np.empty(filled, np.int32)
    leaf_value = np.empty(filled, np.float32)
    # a node on the stack: start, stop, and the parent whose right child it is (-1: a left child)
    stack = np.empty((n + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, k, -1
    top, nodes, leaves, entries = 1, 0, 0, 0
    while top:
        top -= 1
        start, stop, parent = stack[top, 0], stack[top, 1], stack[top, 2]
        if nodes == size:
            size *= 2
            feature = _longer(feature, size)
            threshold = _longer(threshold, size)
            right_child = _longer(right_child, size)
        node = nodes
        nodes += 1
        if parent >= 0:
            right_child[parent] = node
        m = stop - start
        present, size_of_node = 0, np.int64(0)
        squares, y_sum, base = np.int64(0), 0.0, 0.0
        if n_classes:
            for i in range(start, stop):
                c, w = classes[records[i]], weight[records[i]]
                if total[c] == 0:
                    present += 1
                squares += w * (2 * total[c] + w)
                total[c] += w
                size_of_node += w
            base = float(squares / size_of_node)
        else:
            low, high = np.inf, -np.inf
            for i in range(start, stop):
                v, w = numbers[records[i]], weight[records[i]]
                y_sum += w * v
                size_of_node += w
                low = min(low, v)
                high = max(high, v)
            present = 2 if high > low else 1
            base = float(y_sum * y_sum / size_of_node)
        split_key, split_threshold = -1, 0.0
        best = base * (1 + 1e-12)
        if size_of_node > min_node_size and present > 1:
            for tried in range(mtry):
                other = tried + _below(state, p - tried)
                keys[tried], keys[other] = keys[other], keys[tried]
                f = keys[tried]
                _sort_by_code(codes[f], records, start, stop, counts, out, out_code)
                if out_code[0] == out_code[m - 1]:
                    continue
                if n_classes:
                    found, place = _best_cut_of_classes(
                        classes, weight, m, size_of_node, out, out_code, left, right, total, squares
                    )
                else:
                    found, place = _best_cut_of_numbers(numbers, weight, m, size_of_node, out, out_code, y_sum)
                if found > best:
                    best, split_key = found, f
                    below = values[starts[f] + out_code[place]]
                    above = values[starts[f] + out_code[place + 1]]
                    middle = 0.5 * below + 0.5 * above
                    split_threshold = middle if below <= middle < above else below
        if split_key < 0:
            feature[node] = -1
            if leaves == held:
                held *= 2
                leaf_start = _longer(leaf_start, held + 1)
            right_child[node] = leaves
            leaves += 1
            needed = entries + max(present, 1)
            if needed > filled:
                filled = max(2 * filled, needed)
                leaf_class = _longer(leaf_class, filled)
                leaf_value = _longer(leaf_value, filled)
            if n_classes:
                for i in range(start, stop):
                    c = classes[records[i]]
                    if total[c]:
                        leaf_class[entries] = c
                        leaf_value[entries] = np.float32(total[c] / size_of_node)
                        entries += 1
                        total[c] = 0
            else:
                leaf_class[entries] = 0
                leaf_value[entries] = np.float32(y_sum / size_of_node)
                entries += 1
            leaf_start[leaves] = entries
            continue
        if n_classes:
            for i in range(start, stop):
                total[classes[records[i]]] = 0
        feature[node] = split_key
        threshold[node] = split_threshold
        last, kept = start, 0
        code = codes[split_key]
        for i in range(start, stop):
            record = records[i]
            if values[starts[split_key] + code[record]] <= split_threshold:
                records[last] = record
                last += 1
            else:
                out[kept] = record
                kept += 1
        for i in range(kept):
            records[last + i] = out[i]
        stack[top, 0], stack[top, 1], stack[top, 2] = last, stop, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = start, last, -1
        top += 2
    return (
        feature[:nodes].copy(), threshold[:nodes].copy(), right_child[:nodes].copy(), leaf_start[: leaves + 1].copy(),
        leaf_class[:entries].copy(), leaf_value[:entries].copy(),
    )  # fmt: skip


@allocating
def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: array.size] = array
    return longer


@compiled
def add_leaves(
    values: NDArray[np.float64], feature: NDArray[np.int32], threshold: NDArray[np.float64], right: NDArray[np.int32],
    leaf_start: NDArray[np.int32], leaf_class: NDArray[np.int32], leaf_value: NDArray[np.float32],
    result: NDArray[np.float64],
) -> None:  # fmt: skip
    """Add to the result (n, outputs) what the leaf of every record (p, n) holds."""
    for i in range(values.shape[1]):
        node = 0
        while feature[node] >= 0:
            node = node + 1 if values[feature[node], i] <= threshold[node] else right[node]
        leaf = right[node]
        for e in range(leaf_start[leaf], leaf_start[leaf + 1]):
            result[i, leaf_class[e]] += leaf_value[e]
