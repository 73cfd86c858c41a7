"""Columns: an original, its releases and held-out records, coded over the union of their values."""

from unveil.columns.column import CodedColumn
from unveil.columns.pair import Pair

__all__ = ["CodedColumn", "Pair"]
