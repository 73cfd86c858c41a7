"""What the persons of whom the intruder does not know everything may be: values, prior, and which of them are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnknownPersons:
    """Persons of whom only some columns are known.

    Parameters
    ----------
    members : (u,) int64
        Their records.
    log_prior : (u, c) float64
        Logarithms of the prior by world, a world being a combination of values of the unknown columns.
    truth : (u,) int64
        Their worlds.
    alike : (u,) int64
        Number of the set of persons with the same known values and the same prior.
    """

    members: Ints
    log_prior: Floats
    truth: Ints
    alike: Ints

    @property
    def size(self) -> int:
        """Number of persons."""
        return int(self.members.size)

    @property
    def n_worlds(self) -> int:
        """Number of worlds."""
        return int(self.log_prior.shape[1])


class States(Protocol):
    """The worlds of all unknown persons together, and the moves of a chain among them.

    Parameters
    ----------
    persons
        The persons.
    state : (u,) int32
        The world of each of them.
    most_states
        Most states that are enumerated rather than drawn; it depends on what one of them costs.
    """

    persons: UnknownPersons
    state: Codes
    most_states: int

    def begin(self, state: Codes) -> None:
        """Go to a state."""
        ...

    def set_penalty(self, penalty: float) -> None:
        """Change what a released value without a donor costs."""
        ...

    @property
    def impossible(self) -> int:
        """Number of released cells or values that the state cannot have given."""
        ...

    def sweep(self, rng: np.random.Generator) -> None:
        """Draw the value of each person given all others, and propose exchanges."""
        ...

    def shares(self) -> Floats:
        """(u, c) probability of each world of each person given all others, for a possible state."""
        ...

    def log_likelihood(self) -> float:
        """Log-likelihood of the state up to a constant; minus infinity where it is impossible."""
        ...
