"""Settings of trees, as several verbs take them."""

from __future__ import annotations

from unveil.cli.derived import Derived, derived
from unveil.trees.settings import Settings


@derived(Settings)
class Trees(Derived):
    """How trees are grown."""
