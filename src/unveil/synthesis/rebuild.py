"""Restore, from a provenance file, how the original was read and the synthesizer that made the releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from unveil.errors import CallError, DataError
from unveil.files.digest import sha256
from unveil.notes import warn
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.named import is_of_others, synthesizer_by_name
from unveil.synthesis.provenance import Provenance, read_provenance
from unveil.synthesis.sequence import CartSynthesizer

READING = ("special_codes", "kinds", "missing", "encoding", "delimiter", "decimal")
"""Options of reading a file; special codes and kinds may be among the synthesizer's settings."""


def reading_of(path: str | Path, schema: str | Path | None = None) -> dict[str, Any]:
    """Return how the original was read when the releases were made, by the provenance file.

    Parameters
    ----------
    path
        Path of the provenance file.
    schema
        Path of the schema file, if it is not beside the provenance file under the same name.

    Returns
    -------
    dict
        Options of :class:`unveil.Pair` by name; only those that were given.

    Raises
    ------
    FileError
        If it is not a provenance file, or a file cannot be read.
    CallError
        If the original was read with a schema that is not found.
    DataError
        If the schema differs from that of the synthesis: other levels or codes would give other trees.
    """
    found = read_provenance(path)
    said = dict(found.reading) | dict(found.settings)
    reading = {name: said[name] for name in READING if said.get(name)}
    if "schema" in found.reading:
        reading["schema"] = _schema(Path(path), found.reading["schema"], schema)
    return reading


def _schema(provenance: Path, facts: Mapping[str, str], given: str | Path | None) -> Path:
    """Return the path of the schema file, after a check of its content."""
    path = provenance.with_name(facts["name"]) if given is None else Path(given)
    if given is None and not os.path.exists(path):
        raise CallError(
            f"{provenance.name}: the original was read with the schema {facts['name']}, which is not beside it; name "
            "it with schema"
        )
    if sha256(path) != facts["sha256"]:
        raise DataError(
            f"{path.name} is not the schema that the original was read with when the releases were made "
            f"({facts['name']}, SHA-256 {facts['sha256'][:12]}...); give that very file"
        )
    return path


def rebuilt(path: str | Path, original: str | Path, releases: Sequence[str | Path] = ()) -> Any:
    """Return the synthesizer of releases by their provenance file, not yet fitted.

    Parameters
    ----------
    path
        Path of the provenance file.
    original
        Path of the original, which the synthesizer will be fitted to.
    releases
        Paths of the releases. A warning names those that the provenance file does not know: they may have been changed,
        or made in another way.

    Raises
    ------
    FileError
        If a file cannot be read, or the first is not a provenance file.
    DataError
        If the original is not that of the releases, or the likelihood cannot be computed again.
    """
    found = read_provenance(path)
    found.check_original(original)
    known = {one.sha256 for one in found.releases}
    if others := [Path(release).name for release in releases if sha256(release) not in known]:
        warn(
            f"{Path(path).name} tells of other files than {', '.join(others)} (by SHA-256); figures for the intruder "
            "who has the synthesizer hold only if it made them"
        )
    return synthesizer_of(found)


def synthesizer_of(provenance: Provenance) -> Any:
    """Return the synthesizer, not yet fitted, with the settings of the releases.

    Raises
    ------
    DataError
        If the likelihood of the method cannot be computed again, or the method lacks a setting.
    """
    method, settings = provenance.method, dict(provenance.settings)
    if method == "command":
        raise DataError(
            "the releases were made by a command, which is not run because a file says so; give it by "
            "--synthesizer-command in place of the provenance"
        )
    if "unit" in settings:
        raise DataError("the releases were made of whole units (unit, time), whose likelihood is not computed")
    if "strata_apart" in settings:
        raise DataError("the release was made stratum by stratum (strata_apart), whose likelihood is not computed")
    if is_of_others(method):
        return synthesizer_by_name(method, **settings)
    if method in WHOLE_FILE and method != "catall":
        raise DataError(f"the releases were made by {method!r}, whose likelihood is not computed")
    # Other methods for single variables are among the settings, by column.
    maker: Any = CatallSynthesizer if method == "catall" else CartSynthesizer
    known = signature(maker).parameters
    for name in settings:
        if name not in known:
            raise DataError(f"provenance: method {method!r} has no setting {name!r:.60}; give the file as written")
    return maker(**settings)
