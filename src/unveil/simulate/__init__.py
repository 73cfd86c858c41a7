"""Simulated populations, so that figures can be shown without data of real persons.

:func:`rapid_population` and :func:`latner_population` are the designs of two papers,
:func:`demo_population` is a survey of persons such as a statistical office would want to release.
"""

from unveil.simulate.demo import DEMO_KEYS, DEMO_SPECIAL_CODES, demo_population
from unveil.simulate.latner import latner_population
from unveil.simulate.rapid import rapid_population

__all__ = ["DEMO_KEYS", "DEMO_SPECIAL_CODES", "demo_population", "latner_population", "rapid_population"]
