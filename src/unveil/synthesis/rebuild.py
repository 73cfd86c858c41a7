"""From a provenance file back to how the original was read, and to the synthesizer that made the releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unveil.errors import DataError
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.provenance import Provenance, read_provenance
from unveil.synthesis.sequence import CartSynthesizer

__all__ = ["reading_of", "rebuilt", "synthesizer_of"]

READING = ("special_codes", "kinds", "missing", "encoding", "delimiter", "decimal")
"""What belongs to reading a file; special codes and kinds may stand among the synthesizer's settings."""


def reading_of(path: str | Path) -> dict[str, Any]:
    """How the original was read when the releases were made, as far as the provenance file says so.

    Parameters
    ----------
    path
        The provenance file.

    Returns
    -------
    dict
        Options of :class:`unveil.Pair` by name; only those that were given.

    Raises
    ------
    FileError
        If it is no provenance file, or cannot be read.
    """
    found = read_provenance(path)
    said = dict(found.reading) | dict(found.settings)
    return {name: said[name] for name in READING if said.get(name)}


def rebuilt(path: str | Path, original: str | Path) -> Any:
    """The synthesizer of the releases that a provenance file stands beside, not yet fitted.

    Parameters
    ----------
    path
        The provenance file.
    original
        The file that the synthesizer is to be fitted to.

    Raises
    ------
    FileError
        If a file cannot be read, or the first is no provenance file.
    DataError
        If the original is not the one that the releases were made from, or the likelihood cannot be computed anew.
    """
    found = read_provenance(path)
    found.check_original(original)
    return synthesizer_of(found)


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
