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
        tree = grow(columns[position], [columns[p] for p in predictors], settings, rows=np.array(rows))
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


def chain_likelihood(sequence, record, levels, release=0):
    """The same for a chain of the package with one record given other levels: ``{variable: level}``."""
    columns = dict(sequence.columns)
    fitted = {definition.position: definition.fitted for definition in sequence.trees}
    for name, level in levels.items():
        whole = sequence.original[name].copy()
        whole[record] = level
        for position, codes in sequence.part_codes(name, whole).items():
            like = sequence.columns[position]
            columns[position] = Column(codes, like.kind, like.n_levels, like.values)
            fitted[position] = sequence.observed(position, name, whole)
    specs = [
        (definition.position, definition.predictors, np.flatnonzero(fitted[definition.position]).tolist(),
         np.flatnonzero(definition.released[release]).tolist())
        for definition in sequence.trees
        if fitted[definition.position].any()
    ]  # fmt: skip
    impossible, log = likelihood(columns, specs, sequence.trees[0].settings, sequence.z[release])
    nothing = [definition for definition in sequence.trees if not fitted[definition.position].any()]
    return impossible + sum(int(definition.released[release].sum()) for definition in nothing), log
