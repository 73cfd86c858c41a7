"""Utility measures as their formulas read: loops over records and levels, nothing shared with the package."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def plain_tables(original: Sequence[Hashable], release: Sequence[Hashable]) -> dict[str, float]:
    """Every record's propensity score is its cell's share of synthetic records."""
    n1, n2 = len(original), len(release)
    c = n2 / (n1 + n2)
    d, s = Counter(original), Counter(release)
    levels = set(d) | set(s)
    df = len(levels) - 1
    pmse = 0.0
    for record in [*original, *release]:
        score = s[record] / (d[record] + s[record])
        pmse += (score - c) ** 2
    pmse /= n1 + n2
    expected = df * (1 - c) ** 2 * c / (n1 + n2)
    freeman_tukey = sum(4 * (math.sqrt(s[x]) - math.sqrt(d[x] * n2 / n1)) ** 2 for x in levels)
    # Voas & Williamson (2001), pooled: squared differences of counts over the pooled expectation
    pooled = {x: n2 * (d[x] + s[x]) / (n1 + n2) for x in levels}
    voas_williamson = sum((s[x] - n2 * d[x] / n1) ** 2 / pooled[x] for x in levels)
    return {
        "TVD": sum(abs(d[x] / n1 - s[x] / n2) for x in levels) / 2,
        "pMSE": pmse,
        "S_pMSE": pmse / expected if df else math.nan,
        "VW": voas_williamson,
        "FT": freeman_tukey,
        "S_FT": freeman_tukey / df if df else math.nan,
        "df": df,
        "S_sd": math.sqrt(2 / df) if df else math.nan,
    }


def plain_cramer(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Root of chi-square over n times the smaller number of levels less one."""
    n = len(first)
    rows, columns, cells = Counter(first), Counter(second), Counter(zip(first, second, strict=True))
    chi_square = 0.0
    for a in rows:
        for b in columns:
            expected = rows[a] * columns[b] / n
            chi_square += (cells[a, b] - expected) ** 2 / expected
    least = min(len(rows), len(columns)) - 1
    return math.sqrt(chi_square / (n * least)) if least else math.nan


def plain_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    n = len(x)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    xx, yy = sum((a - mean_x) ** 2 for a in x), sum((b - mean_y) ** 2 for b in y)
    return xy / math.sqrt(xx * yy) if xx and yy else math.nan


def plain_ranks(x: Sequence[float]) -> list[float]:
    """Ranks from 1; ties have their mean."""
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


def plain_distances(original: Sequence[float], release: Sequence[float]) -> dict[str, float]:
    def share_up_to(values: Sequence[float], x: float) -> float:
        return sum(v <= x for v in values) / len(values)

    mean = sum(original) / len(original)
    sd = math.sqrt(sum((v - mean) ** 2 for v in original) / len(original))
    mean_s = sum(release) / len(release)
    sd_s = math.sqrt(sum((v - mean_s) ** 2 for v in release) / len(release))
    points = sorted({*original, *release})
    gaps = [abs(share_up_to(original, x) - share_up_to(release, x)) for x in points]
    area = sum(gap * (b - a) for gap, a, b in zip(gaps, points, points[1:], strict=False))
    found = {"KS": max(gaps), "wasserstein": math.nan, "mean_difference": math.nan, "sd_ratio": math.nan}
    if sd:
        found |= {"wasserstein": area / sd, "mean_difference": (mean_s - mean) / sd, "sd_ratio": sd_s / sd}
    return found


def plain_scores(scores: Sequence[float], second: Sequence[bool]) -> dict[str, float]:
    n, n2 = len(scores), sum(second)
    c = n2 / n
    ours = [p for p, s in zip(scores, second, strict=True) if not s]
    theirs = [p for p, s in zip(scores, second, strict=True) if s]
    right = [sum(p > c for p in theirs) + sum(p == c for p in theirs) / 2, len(theirs)]
    left = [sum(p < c for p in ours) + sum(p == c for p in ours) / 2, len(ours)]
    return {
        "pMSE": sum((p - c) ** 2 for p in scores) / n,
        "SPECKS": max(
            abs(sum(p <= x for p in ours) / len(ours) - sum(p <= x for p in theirs) / len(theirs)) for x in scores
        ),
        "PO50": 100 * (right[0] / right[1] + left[0] / left[1]) / 2 - 50,
    }


def plain_logit(rows: Sequence[Sequence[float]], y: Sequence[float], steps: int = 60) -> list[float]:
    """Maximum likelihood by Newton's method with Gaussian elimination, of a design without collinear columns."""
    k = len(rows[0])
    beta = [0.0] * k
    for _ in range(steps):
        slope = [0.0] * k
        bend = [[0.0] * k for _ in range(k)]
        for x, value in zip(rows, y, strict=True):
            p = 1 / (1 + math.exp(-sum(b * v for b, v in zip(beta, x, strict=True))))
            for i in range(k):
                slope[i] += (value - p) * x[i]
                for j in range(k):
                    bend[i][j] += p * (1 - p) * x[i] * x[j]
        step = plain_solve(bend, slope)
        beta = [b + s for b, s in zip(beta, step, strict=True)]
        if max(abs(s) for s in step) < 1e-13:
            break
    return beta


def plain_solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solution of a linear system by elimination with pivots."""
    k = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(k):
        pivot = max(range(i, k), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(k):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [rows[i][k] / rows[i][i] for i in range(k)]
