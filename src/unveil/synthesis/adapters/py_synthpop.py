"""Sequential models of py-synthpop, a package that follows synthpop of R."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

from unveil.synthesis.adapters.coded_frame import CodedFrame
from unveil.synthesis.adapters.seeded import seeded


class PySynthpop:
    """Sequential CART or other models of py-synthpop.

    Parameters
    ----------
    method : str
        Its method for every column: "cart", "norm", "normrank", "sample" and others.
    proper : bool
        Fit to a bootstrap sample.
    """

    flavour: ClassVar[Literal["pandas"]] = "pandas"

    def __init__(self, method: str = "cart", proper: bool = False):
        self.method, self.proper = method, proper

    def fit(self, frame: Any, seed: int = 0) -> PySynthpop:
        """Fit it to a pandas frame."""
        from synthpop import Synthpop

        self._coded = CodedFrame.of(frame)
        self._model = Synthpop(default_method=self.method, proper=self.proper)
        with seeded(seed), _name_of_old_pandas():
            self._model.fit(self._coded.frame, self._coded.kinds)
        return self

    def sample(self, n: int, seed: int = 0) -> Any:
        """Draw records as a pandas frame."""
        with seeded(seed), _name_of_old_pandas():
            return self._coded.back(self._model.generate(k=n))


@contextmanager
def _name_of_old_pandas() -> Iterator[None]:
    """Give series the name ``iteritems``, which pandas 2 took away and py-synthpop calls."""
    import pandas as pd

    if hasattr(pd.Series, "iteritems"):
        yield
        return
    pd.Series.iteritems = pd.Series.items
    try:
        yield
    finally:
        del pd.Series.iteritems
