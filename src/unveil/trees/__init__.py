"""Classification and regression trees on integer codes: grow, collapse, leaves and their donors."""

from __future__ import annotations

from unveil.trees.column import Column
from unveil.trees.dependence import Dependence
from unveil.trees.grow import grow
from unveil.trees.settings import Settings
from unveil.trees.tree import Tree

__all__ = ["Column", "Dependence", "Settings", "Tree", "grow"]
