"""Table measures: identity and attribute disclosure from key combinations."""

from unveil._tables.anonymity import Anonymity, anonymity
from unveil._tables.attribute import attribute
from unveil._tables.attribute_risk import AttributeRisk, AttributeRisks
from unveil._tables.compared_measure import ComparedMeasure
from unveil._tables.curve import CapCurve
from unveil._tables.identity import IdentityRisk, identity
from unveil._tables.key_sets import KeySet, KeySets, key_sets
from unveil._tables.ladder import Ladder
from unveil._tables.plausibility import Plausibility, plausibility
from unveil._tables.population import PopulationRisk, population_risk
from unveil._tables.structure import Structure, structure

__all__ = [
    "Anonymity",
    "AttributeRisk",
    "AttributeRisks",
    "CapCurve",
    "ComparedMeasure",
    "IdentityRisk",
    "KeySet",
    "KeySets",
    "Ladder",
    "Plausibility",
    "PopulationRisk",
    "Structure",
    "anonymity",
    "attribute",
    "identity",
    "key_sets",
    "plausibility",
    "population_risk",
    "structure",
]
