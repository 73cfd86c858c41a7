"""Adversarial random forests of arfpy.

Source: Watson, Blesch, Kapar & Wright (2023), Adversarial random forests for density estimation and generative
modeling, AISTATS.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from unveil.synthesis.adapters.coded_frame import CodedFrame
from unveil.synthesis.adapters.seeded import seeded


class AdversarialForest:
    """Adversarial random forests: leaves in which columns are nearly independent, and draws from these.

    Parameters
    ----------
    num_trees, min_node_size, max_iters
        As of ``arfpy.arf``.
    """

    flavour: ClassVar[Literal["pandas"]] = "pandas"

    def __init__(self, num_trees: int = 30, min_node_size: int = 5, max_iters: int = 10):
        self.num_trees, self.min_node_size, self.max_iters = num_trees, min_node_size, max_iters

    def fit(self, frame: Any, seed: int = 0) -> AdversarialForest:
        """Fit it to a pandas frame."""
        from arfpy import arf

        self._coded = CodedFrame.of(frame)
        with seeded(seed):
            self._model = arf.arf(
                x=self._coded.frame, num_trees=self.num_trees, min_node_size=self.min_node_size,
                max_iters=self.max_iters, verbose=False, random_state=seed,
            )  # fmt: skip
            self._model.forde()
        return self

    def sample(self, n: int, seed: int = 0) -> Any:
        """Draw records as a pandas frame."""
        with seeded(seed):
            return self._coded.back(self._model.forge(n=n))
