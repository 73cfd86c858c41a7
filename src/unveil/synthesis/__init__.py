"""Synthesizers: sequential CART, other methods for its variables, and methods for whole files."""

from unveil.synthesis.cart import CartMethod, FittedCart
from unveil.synthesis.likelihood import ImpossibleCell, LogProbability
from unveil.synthesis.methods import METHODS
from unveil.synthesis.methods.bayes_network import BayesNetworkSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.protocol import FittedVariable, Synthesizer, VariableMethod
from unveil.synthesis.release import synthesize
from unveil.synthesis.repetitions import halves, resamples
from unveil.synthesis.sequence import CartSynthesizer

__all__ = [
    "METHODS",
    "WHOLE_FILE",
    "BayesNetworkSynthesizer",
    "CartMethod",
    "CartSynthesizer",
    "CatallSynthesizer",
    "FittedCart",
    "FittedVariable",
    "ImpossibleCell",
    "LogProbability",
    "Synthesizer",
    "VariableMethod",
    "halves",
    "resamples",
    "synthesize",
]
