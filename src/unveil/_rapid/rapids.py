"""RAPID of several targets."""

from __future__ import annotations

from unveil._rapid.result import Rapid
from unveil.result import Results


class Rapids(Results[Rapid]):
    """RAPID of several targets inferred from the same keys; a sequence of :class:`Rapid`."""

    _words = "words.rapid.several_targets"
    _drawing = "plots.rapid.plot_targets"
