"""From a provenance file back to the synthesizer that made the releases."""

from __future__ import annotations

from typing import Any

from unveil.errors import DataError
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.provenance import Provenance
from unveil.synthesis.sequence import CartSynthesizer

__all__ = ["synthesizer_of"]


def synthesizer_of(provenance: Provenance) -> Any:
    """The synthesizer, not yet fitted, with the settings that the releases were made with.

    Raises
    ------
    DataError
        If the method has no likelihood that can be computed anew.
    """
    method, settings = provenance.method, dict(provenance.settings)
    if method == "catall":
        return CatallSynthesizer(**settings)
    if method in WHOLE_FILE:
        raise DataError(f"the releases were made by {method!r}, whose likelihood is not computed")
    # Another method than cart is written out by column.
    return CartSynthesizer(**settings)
