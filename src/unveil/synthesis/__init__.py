"""Synthesizers: sequential CART, other methods for its variables, and methods for whole files."""

from unveil.synthesis.adapters.command import CommandSynthesizer
from unveil.synthesis.cart import CartMethod, FittedCart
from unveil.synthesis.household import HouseholdSynthesizer
from unveil.synthesis.likelihood import ImpossibleCell, LogProbability
from unveil.synthesis.methods import METHODS
from unveil.synthesis.methods.bayes_network import BayesNetworkSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.named import Synthesizers, synthesizer_by_name, synthesizers
from unveil.synthesis.panel import PanelSynthesizer
from unveil.synthesis.protocol import FittedVariable, Synthesizer, VariableMethod
from unveil.synthesis.release import synthesize
from unveil.synthesis.repetitions import halves, resamples
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.strata_apart import StrataWritten, synthesize_strata

__all__ = [
    "METHODS",
    "WHOLE_FILE",
    "BayesNetworkSynthesizer",
    "CartMethod",
    "CartSynthesizer",
    "CatallSynthesizer",
    "CommandSynthesizer",
    "FittedCart",
    "FittedVariable",
    "HouseholdSynthesizer",
    "ImpossibleCell",
    "LogProbability",
    "PanelSynthesizer",
    "StrataWritten",
    "Synthesizer",
    "Synthesizers",
    "VariableMethod",
    "halves",
    "resamples",
    "synthesize",
    "synthesize_strata",
    "synthesizer_by_name",
    "synthesizers",
]
