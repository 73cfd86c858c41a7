"""The posterior counted slowly: every world's trees fitted anew, donors and released values counted in lists."""

from __future__ import annotations

import math

import numpy as np

from unveil.trees import Column, grow


def likelihood(columns, specs, settings, released):
    """Impossible values and log-likelihood of a release.

    ``columns``: Column by position. ``specs``: (position, predictors, fitted rows, rows of the release that count).
    ``released``: codes by position.
    """
    impossible, log = 0, 0.0
    for position, predictors, rows, z_rows in specs:
        tree = grow(
            columns[position], [columns[p] for p in predictors], rows=np.array(rows), minbucket=settings.minbucket,
            minsplit=settings.minsplit, max_depth=settings.max_depth, cp=settings.cp, collapse=settings.collapse,
        )  # fmt: skip
        if predictors:
            own = tree.apply([columns[p].codes for p in predictors]).tolist()
            new = tree.apply([released[p][z_rows] for p in predictors]).tolist()
        else:
            own, new = [0] * len(columns[position].codes), [0] * len(z_rows)
        donors: dict[tuple[int, int], int] = {}
        size: dict[int, int] = {}
        codes = columns[position].codes.tolist()
        for row in rows:
            donors[own[row], codes[row]] = donors.get((own[row], codes[row]), 0) + 1
            size[own[row]] = size.get(own[row], 0) + 1
        for leaf, row in zip(new, z_rows, strict=True):
            count = donors.get((leaf, int(released[position][row])), 0)
            if count == 0:
                impossible += 1
            else:
                log += math.log(count) - math.log(size[leaf])
    return impossible, log


def chain_likelihood(chain, record, levels, release=0):
    """The same for a chain of the package with one record given other levels: ``{variable: level}``."""
    columns = dict(chain.columns)
    fitted = {link.position: link.fitted for link in chain.links}
    for name, level in levels.items():
        whole = chain.original[name].copy()
        whole[record] = level
        for position, codes in chain.part_codes(name, whole).items():
            like = chain.columns[position]
            columns[position] = Column(codes, like.kind, like.n_levels, like.values)
            fitted[position] = chain.observed(position, name, whole)
    specs = [
        (link.position, link.predictors, np.flatnonzero(fitted[link.position]).tolist(),
         np.flatnonzero(link.released[release]).tolist())
        for link in chain.links
        if fitted[link.position].any()
    ]  # fmt: skip
    impossible, log = likelihood(columns, specs, chain.links[0].settings, chain.z[release])
    nothing = [link for link in chain.links if not fitted[link.position].any()]
    return impossible + sum(int(link.released[release].sum()) for link in nothing), log
