"""A tree fitted slowly, in plain Python and exact fractions: what the fast fit has to equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

LARGEST_SEARCH = 1_000_000


@dataclass
class Node:
    rows: list[int]
    depth: int
    risk: Fraction
    gain: Fraction = Fraction(0)
    rival: Fraction = Fraction(0)
    feature: int = -1
    left_codes: frozenset[int] = frozenset()
    right_codes: frozenset[int] = frozenset()
    children: list[Node] = field(default_factory=list)
    collapsed: bool = False


class Reference:
    """Fit on lists of codes; ``y`` are Fractions or integers if numeric, else classes."""

    def __init__(self, y, numeric, predictors, kinds, *, minbucket, minsplit, max_depth, cp, collapse):
        self.y, self.numeric, self.x, self.kinds = y, numeric, predictors, kinds
        self.classes = [] if numeric else sorted(set(y))
        self.minbucket, self.minsplit, self.max_depth = minbucket, minsplit, max_depth
        self.collapse = collapse
        rows = list(range(len(y)))
        self.least = Fraction(cp) * self.risk_of(rows)
        self.root = self.grow(rows, 0)
        self.prune(self.root)

    def impurity(self, rows):
        n = len(rows)
        if self.numeric:
            return sum(Fraction(self.y[r]) ** 2 for r in rows) - Fraction(sum(self.y[r] for r in rows)) ** 2 / n
        return n - Fraction(sum(c * c for c in self.counts(rows)), n)

    def counts(self, rows):
        held = [self.y[r] for r in rows]
        return [held.count(c) for c in self.classes]

    def risk_of(self, rows):
        if self.numeric or not self.collapse:
            return self.impurity(rows)
        return Fraction(len(rows) - max(self.counts(rows)))

    def cuts(self, f, rows):
        """Pairs of code sets, in the order in which ties are decided."""
        codes = sorted({self.x[f][r] for r in rows})
        if self.kinds[f] != "categorical":
            return [(codes[:i], codes[i:]) for i in range(1, len(codes))]
        if self.numeric or len(self.classes) <= 2:

            def mean(code):
                own = [self.y[r] for r in rows if self.x[f][r] == code]
                if not self.numeric:
                    own = [int(v == self.classes[-1]) for v in own]
                return Fraction(sum(own)) / len(own)

            codes.sort(key=lambda code: (mean(code), code))
            return [(codes[:i], codes[i:]) for i in range(1, len(codes))]
        assert 2 ** (len(codes) - 1) * len(self.classes) <= LARGEST_SEARCH
        result = []
        for place in range(1, 2 ** (len(codes) - 1)):
            mask = place ^ place >> 1
            left = [code for i, code in enumerate(codes) if mask >> i & 1]
            result.append((left, [code for code in codes if code not in left]))
        return result

    def best(self, rows):
        node_impurity = self.impurity(rows)
        best, rival = None, Fraction(0)
        for f in range(len(self.x)):
            for left_codes, right_codes in self.cuts(f, rows):
                members = set(left_codes)
                left = [r for r in rows if self.x[f][r] in members]
                right = [r for r in rows if self.x[f][r] not in members]
                if min(len(left), len(right)) < self.minbucket:
                    continue
                gain = node_impurity - self.impurity(left) - self.impurity(right)
                if gain > (best[0] if best else 0):
                    rival = max(rival, best[0]) if best else rival
                    best = (gain, f, frozenset(left_codes), frozenset(right_codes), left, right)
                else:
                    rival = max(rival, gain)
        return best, rival

    def grow(self, rows, depth):
        node = Node(rows, depth, self.risk_of(rows))
        if len(rows) < max(self.minsplit, 2 * self.minbucket) or depth >= self.max_depth or node.risk <= self.least:
            return node
        best, rival = self.best(rows)
        if best is None:
            return node
        node.gain, node.feature, node.left_codes, node.right_codes, left, right = best
        node.rival = rival
        node.children = [self.grow(left, depth + 1), self.grow(right, depth + 1)]
        return node

    def decrease(self, node):
        return node.risk - sum(child.risk for child in node.children)

    def prune(self, node):
        """Decrease and number of splits of what is left below a node."""
        if not node.children:
            return Fraction(0), 0
        below = [self.prune(child) for child in node.children]
        total = self.decrease(node) + sum(b[0] for b in below)
        splits = 1 + sum(b[1] for b in below)
        if total > self.least * splits:
            return total, splits
        node.collapsed = True
        return Fraction(0), 0

    def nodes(self):
        result, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            result.append(node)
            waiting += reversed(node.children)
        return result

    def leaves(self):
        result, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            if node.children and not node.collapsed:
                waiting += reversed(node.children)
            else:
                result.append(sorted(node.rows))
        return result

    def complexity(self, node):
        """Largest decrease per split over all subtrees that keep the node's own split."""

        def subtrees(n):
            yield Fraction(0), 0
            if n.children:
                yield from rooted(n)

        def rooted(n):
            for a, b in product(list(subtrees(n.children[0])), list(subtrees(n.children[1]))):
                yield self.decrease(n) + a[0] + b[0], 1 + a[1] + b[1]

        return max((total / splits for total, splits in rooted(node)), default=None) if node.children else None
