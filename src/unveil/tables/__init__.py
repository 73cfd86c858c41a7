"""Table measures: identity and attribute disclosure from key combinations."""

from unveil.tables.attribute import attribute
from unveil.tables.attribute_risk import AttributeRisk, AttributeRisks
from unveil.tables.curve import CapCurve
from unveil.tables.identity import IdentityRisk, identity
from unveil.tables.key_sets import KeySet, KeySets, key_sets
from unveil.tables.ladder import Ladder
from unveil.tables.rung import Rung
from unveil.tables.structure import Structure, structure

__all__ = [
    "AttributeRisk",
    "AttributeRisks",
    "CapCurve",
    "IdentityRisk",
    "KeySet",
    "KeySets",
    "Ladder",
    "Rung",
    "Structure",
    "attribute",
    "identity",
    "key_sets",
    "structure",
]
