"""What one tree sees of a record by world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil._posterior.walk import Worlds
from unveil.core import Struct

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class MovedRecord:
    """Codes of a record by world, for one tree.

    Parameters
    ----------
    features : (f,) int64
        Numbers of the predictors that depend on the world.
    feature_codes : (f, c) int32
        Their codes by world.
    response_varies : bool
        Whether the response depends on the world.
    response : (c,) int32
        Its code by world; 0 if it does not depend on the world.
    included : (c,) bool
        Whether the tree is fitted to the record, by world, if the response depends on it.
    """

    features: NDArray[np.int64]
    feature_codes: Codes
    response_varies: bool
    response: Codes
    included: NDArray[np.bool_]

    @classmethod
    def of(cls, sequence: TreeSequence, definition: SequenceTree, levels: Mapping[str, Codes]) -> MovedRecord:
        """Take what concerns a tree from the levels by world of the unknown variables."""
        n_worlds = next(iter(levels.values())).size
        codes = {p: c for name, level in levels.items() for p, c in sequence.part_codes(name, level).items()}
        features = [f for f, position in enumerate(definition.predictors) if position in codes]
        feature_codes = np.zeros((len(features), n_worlds), dtype=np.int32)
        for row, f in zip(feature_codes, features, strict=True):
            row[:] = codes[definition.predictors[f]]
        response, included = np.zeros(n_worlds, dtype=np.int32), np.ones(n_worlds, dtype=np.bool_)
        response_varies = definition.position in codes
        if response_varies:
            response = np.ascontiguousarray(codes[definition.position])
            included = sequence.observed(definition.position, definition.variable, levels[definition.variable])
        return cls(np.array(features, dtype=np.int64), feature_codes, response_varies, response, included)

    @property
    def n_worlds(self) -> int:
        """Number of worlds."""
        return self.response.size

    def taken(self, worlds: NDArray[np.int64]) -> MovedRecord:
        """The same for some worlds."""
        codes = np.ascontiguousarray(self.feature_codes[:, worlds])
        return MovedRecord(self.features, codes, self.response_varies, self.response[worlds], self.included[worlds])

    def of_records(self, members: NDArray[np.int64], fitted: NDArray[np.bool_]) -> Struct:
        """The worlds of some records as the loops take them.

        Parameters
        ----------
        members : (r,) int64
            The records.
        fitted : (n,) bool
            Original records that the tree is fitted to.
        """
        return Worlds(
            members=members,
            fitted=fitted,
            features=self.features,
            feature_codes=self.feature_codes,
            response_codes=self.response,
            included=self.included,
            n_members=members.size,
            n_features=self.features.size,
            n=self.n_worlds,
            own=self.response_varies,
        )
