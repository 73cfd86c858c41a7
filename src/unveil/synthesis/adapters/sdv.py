"""Synthesizers of SDV, called where the user has it. Its licence (BUSL-1.1) is no open-source licence: read it.

Every fresh fit of SDV draws the same records, from a seed of its own. A measure that compares many fits would be misled
by that, so every draw here has the seed that it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any, ClassVar, Literal

import numpy as np

from unveil.synthesis.adapters.seeded import seeded

TABLE = "records"


class _OfSdv:
    """A synthesizer of one table; categories stay levels, nothing is taken for a name or an address to be replaced.

    Parameters
    ----------
    **settings
        Settings of the class of SDV.
    """

    flavour: ClassVar[Literal["pandas"]] = "pandas"
    made_by: ClassVar[str]

    def __init__(self, **settings: Any):
        self.settings = settings

    def fit(self, frame: Any, seed: int = 0) -> _OfSdv:
        """Fit it to a pandas frame."""
        import sdv.single_table
        from sdv.metadata import Metadata

        columns = {name: {"sdtype": _kind(frame[name])} for name in frame.columns}
        about = Metadata.load_from_dict({"tables": {TABLE: {"columns": columns}}, "relationships": []})
        with seeded(seed):
            self._model = getattr(sdv.single_table, self.made_by)(about, **self.settings)
            # From version 2 on tables come and go by their names.
            by_name = int(metadata.version("sdv").partition(".")[0]) >= 2
            self._model.fit({TABLE: frame} if by_name else frame)
        return self

    def sample(self, n: int, seed: int = 0) -> Any:
        """Draw records as a pandas frame."""
        self._model._set_random_state(seed)
        for i, one in enumerate(_transformers(self._model.get_transformers())):
            one.set_random_state(np.random.RandomState([seed, i]), "reverse_transform")
        with seeded(seed):
            made = self._model.sample(num_rows=n)
        return made[TABLE] if isinstance(made, Mapping) else made


class GaussianCopula(_OfSdv):
    """A Gaussian copula."""

    made_by = "GaussianCopulaSynthesizer"


class Ctgan(_OfSdv):
    """A conditional generative adversarial network."""

    made_by = "CTGANSynthesizer"


class Tvae(_OfSdv):
    """A variational autoencoder."""

    made_by = "TVAESynthesizer"


def _kind(column: Any) -> str:
    from pandas.api import types

    if types.is_bool_dtype(column):
        return "boolean"
    if types.is_numeric_dtype(column):
        return "numerical"
    return "datetime" if types.is_datetime64_any_dtype(column) else "categorical"


def _transformers(found: Mapping[str, Any]) -> Iterator[Any]:
    """The transformers of all columns."""
    for one in found.values():
        if isinstance(one, Mapping):
            yield from _transformers(one)
        elif one is not None:
            yield one
