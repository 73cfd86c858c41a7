"""Methods that model all variables at once, by name."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from unveil.synthesis.methods.bayes_network import BayesNetworkSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.coded_synthesizer import CodedSynthesizer

WHOLE_FILE: MappingProxyType[str, Callable[..., CodedSynthesizer]] = MappingProxyType(
    {"catall": CatallSynthesizer, "dp_bayesnet": BayesNetworkSynthesizer}
)
"""Synthesizers by name; each takes its settings."""
