"""Frames for synthesizers that know numbers and categories alone: what else there is, in codes and back.

A gap of a number becomes a category of its own column, beside the median in its place. A category is the number of a
level, and a gap is a level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAY = 86400
"""Seconds of a day."""


@dataclass(frozen=True, eq=False)
class CodedFrame:
    """A pandas frame in codes.

    Attributes
    ----------
    frame
        Numbers as float64 (``c0``, ``c1``, ...), categories as pandas categories of texts (``k0``, ``k1``, ...); for
        numbers with gaps also whether there is one (``g0``, ``g1``, ...). Nothing is missing.
    original
        The frame without its records.
    steps
        By number of the column, the step that all its amounts are multiples of: a day of moments at midnight, 1 of
        whole numbers.
    levels
        By number of the column, the values of a category; the last one is the gap.
    """

    frame: Any
    original: Any
    steps: dict[int, int]
    levels: dict[int, NDArray[Any]]

    @classmethod
    def of(cls, original: Any) -> CodedFrame:
        """Code a frame."""
        import pandas as pd
        from pandas.api import types

        made: dict[str, Any] = {}
        levels: dict[int, NDArray[Any]] = {}
        steps: dict[int, int] = {}
        for i in range(original.shape[1]):
            column = original.iloc[:, i]
            if not _is_amount(column):
                codes, found = pd.factorize(column, sort=False)
                levels[i] = np.array([*found, None], dtype=object)
                made[f"k{i}"] = _category(np.where(codes < 0, len(found), codes))
                continue
            gaps = column.isna().to_numpy()
            numbers = _numbers(column)
            made[f"c{i}"] = np.where(gaps, np.median(numbers[~gaps]) if not gaps.all() else 0.0, numbers)
            if gaps.any():
                made[f"g{i}"] = _category(gaps)
            units = (DAY, 1) if types.is_datetime64_any_dtype(column) else (1,)
            steps |= next(({i: unit} for unit in units if not (numbers[~gaps] % unit).any()), {})
        return cls(pd.DataFrame(made), original.iloc[:0], steps, levels)

    def back(self, made: Any) -> Any:
        """Records in codes, as a frame like the original."""
        import pandas as pd

        columns = {}
        for i, (name, kind) in enumerate(self.original.dtypes.items()):
            if i in self.levels:
                columns[name] = pd.Series(self.levels[i][made[f"k{i}"].astype("int64")]).astype(kind)
                continue
            numbers = pd.Series(made[f"c{i}"].to_numpy(dtype="float64"))
            if i in self.steps:
                numbers = (numbers / self.steps[i]).round() * self.steps[i]
            if f"g{i}" in made:
                numbers = numbers.where(made[f"g{i}"].astype("int64").to_numpy() == 0)
            columns[name] = _typed(numbers, kind)
        return pd.DataFrame(columns)

    @property
    def kinds(self) -> dict[str, str]:
        """By column "float" or "category"."""
        return {name: "float" if name[0] == "c" else "category" for name in self.frame.columns}


def _is_amount(column: Any) -> bool:
    from pandas.api import types

    is_number = types.is_numeric_dtype(column) and not types.is_bool_dtype(column)
    return bool(is_number or types.is_datetime64_any_dtype(column))


def _numbers(column: Any) -> NDArray[np.float64]:
    """Amounts as numbers; moments as seconds, with NaN for a gap."""
    from pandas.api import types

    if types.is_datetime64_any_dtype(column):
        column = (column - _epoch(column.dtype)).dt.total_seconds()
    return np.asarray(column.astype("float64"))


def _epoch(kind: Any) -> Any:
    import pandas as pd

    return pd.Timestamp(0, tz=getattr(kind, "tz", None))


def _typed(numbers: Any, kind: Any) -> Any:
    import pandas as pd
    from pandas.api import types

    if types.is_datetime64_any_dtype(kind):
        numbers = _epoch(kind) + pd.to_timedelta(numbers, unit="s")
    return numbers.astype(kind)


def _category(codes: NDArray[Any]) -> Any:
    import pandas as pd

    return pd.Categorical(codes.astype(np.int64).astype(str))
