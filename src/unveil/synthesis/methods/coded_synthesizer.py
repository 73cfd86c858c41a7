"""What the methods for whole files share: how a file is opened and coded, and how copies are drawn."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from unveil.checks import check_choice, check_whole_numbers
from unveil.errors import CallError
from unveil.files.source import Kind
from unveil.synthesis.fitting import generator
from unveil.synthesis.memory import enough_memory
from unveil.synthesis.methods.coded_file import CodedFile, Codes, open_original
from unveil.synthesis.methods.laplace import check_epsilon
from unveil.synthesis.methods.public import PublicFile
from unveil.synthesis.seeds import seed_or_secret

Neighbours = Literal["replace", "add_remove"]
MEANING: Mapping[str, str] = MappingProxyType(
    {
        "replace": "any one record replaced by any other; the number of records is known to everybody",
        "add_remove": "any one record more or less; the number of records is not known",
    }
)
"""The files that a privacy loss compares, in words."""
SENSITIVITY: Mapping[str, int] = MappingProxyType({"replace": 2, "add_remove": 1})
"""Largest sum of the changes of the counts of a table between neighbouring files."""


class CodedSynthesizer(ABC):
    """Draws records of a :class:`CodedFile` or :class:`PublicFile`; each method draws the codes."""

    mechanism: ClassVar[str]
    epsilon: float | None
    neighbours: Neighbours
    kinds: Mapping[str, Kind] | None
    schema: Any
    noise_seed: int | None
    _file: CodedFile | PublicFile | None

    @abstractmethod
    def fit(self, original: Any, *, seed: int | None = None) -> CodedSynthesizer:
        """Fit on the original records and return itself."""

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw records.

        Parameters
        ----------
        n : int, optional
            Number of records; as many as the original by default, where that number is known to everybody.
        m : int
            Number of copies.
        seed : int, optional
            Seed of the draws; by default a secret one.

        Returns
        -------
        frame or list of frames
            In the flavour of the original; a list where ``m`` is above 1.

        Raises
        ------
        CallError
            If ``n`` or ``m`` is out of range, nothing is fitted, or ``n`` is missing and noise hides the number of
            records of the original.
        """
        file = self._coded_file()
        if n is None and self.is_private and self.neighbours == "add_remove":
            raise CallError(
                "with neighbours='add_remove' the number of records of the original is not public; "
                "give the number of synthetic records: n=, k= or -k"
            )
        n = file.n if n is None else n
        check_whole_numbers(0, n=n)
        check_whole_numbers(1, m=m)
        secret = seed_or_secret(seed)
        with enough_memory(n, m, len(file.variables)):
            # every copy has its own generator
            sources = [generator(secret, copy) for copy in range(m)]
            frames = [file.frame(self._draw(n, rng), rng) for rng in sources]
        return frames if m > 1 else frames[0]

    @property
    def is_private(self) -> bool:
        """Whether there is noise, and levels and bounds are public."""
        return check_epsilon(self.epsilon) < math.inf

    def privacy(self) -> dict[str, Any] | None:
        """Return the privacy guarantee of all releases of this fit together, as plain values; None without noise.

        Raises
        ------
        CallError
            If nothing is fitted.
        """
        file = self._coded_file()
        if not isinstance(file, PublicFile):
            return None
        return {
            "epsilon": float(self.epsilon or math.inf),
            "neighbours": self.neighbours,
            "meaning": MEANING[self.neighbours],
            "mechanism": self.mechanism,
            "noise": "of the operating system"
            if self.noise_seed is None
            else "of a seed: protects only while it is secret",
            "domain": file.to_dict(),
        }

    def _open(self, original: Any) -> CodedFile | PublicFile:
        """Return the original in codes of its levels, or, with noise, in codes of the declared levels."""
        check_choice("neighbours", self.neighbours, tuple(MEANING))
        if self.is_private:
            return PublicFile.of(open_original(original, self.schema), self.kinds)
        return CodedFile.of(original, self.kinds, self.schema)

    def _coded_file(self) -> CodedFile | PublicFile:
        """Return the fitted original; an error if nothing is fitted."""
        if self._file is None:
            raise CallError("nothing is fitted yet; call fit(original) first")
        return self._file

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator) -> list[Codes]:
        """Draw the codes (n,) of each column."""
