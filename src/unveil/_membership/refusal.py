"""When held-out records cannot have been held out: what the provenance beside a release says."""

from __future__ import annotations

from pathlib import Path

from unveil.columns.holdout import WHY
from unveil.columns.pair import Pair
from unveil.errors import CallError, DataError
from unveil.files.source import Source
from unveil.notes import Note
from unveil.synthesis.provenance import FileFacts, Provenance, read_provenance


def require_statement(holdout_unseen: bool) -> None:
    """Ask for the statement that no figure can replace.

    Raises
    ------
    CallError
        If it is not made.
    """
    if holdout_unseen is not True:
        raise CallError(
            Note(
                "say holdout_unseen=True (--holdout-unseen) if the synthesizer never saw the held-out records, nor "
                f"anybody who tuned it; {WHY}. Without such records, membership_synthesizer (--refit cart) fits the "
                "synthesizer anew with and without them"
            )
        )


def check_provenance(pair: Pair) -> tuple[str, ...]:
    """Compare the original with what the releases were made from, where a provenance file says it.

    Parameters
    ----------
    pair
        The original, its releases and the held-out records.

    Returns
    -------
    tuple of str
        Labels of the releases for which a provenance file was found and agrees.

    Raises
    ------
    DataError
        If a release was made from other records than those of the original.
    FileError
        If a provenance file that names the release cannot be read.
    """
    confirmed = []
    for release in pair.releases:
        found = _provenance_of(release)
        if found is not None:
            _compare(release, found, pair)
            confirmed.append(release.label)
    return tuple(confirmed)


def _provenance_of(release: Source) -> Provenance | None:
    """The provenance in the release's folder that lists a file of its name and content."""
    if release.path is None:
        return None
    path = Path(release.path)
    for candidate in sorted(path.parent.glob("*.provenance.json")):
        if path.name not in candidate.read_text(encoding="utf-8", errors="replace"):
            continue
        provenance = read_provenance(candidate)
        facts = FileFacts.of(path, release.num_rows)
        if any(one.name == path.name and one.sha256 == facts.sha256 for one in provenance.releases):
            return provenance
    return None


def _compare(release: Source, provenance: Provenance, pair: Pair) -> None:
    original, holdout, made_from = pair.original, pair.holdout, provenance.original
    assert holdout is not None
    if holdout.path and FileFacts.of(holdout.path, 0).sha256 == made_from.sha256:
        raise DataError(f"{release.label} was made from {holdout.label} itself; {WHY}")
    if made_from.records != original.num_rows:
        together = original.num_rows + holdout.num_rows
        how = " (as many as the original and the held-out records together)" if made_from.records == together else ""
        raise DataError(
            f"{release.label} was made from the {made_from.records} records of {made_from.name}{how}, not from the "
            f"{original.num_rows} of {original.label}; {WHY}. Make a release from {original.label} alone"
        )
    if original.path and FileFacts.of(original.path, 0).sha256 != made_from.sha256:
        raise DataError(
            f"{release.label} was made from {made_from.name} (SHA-256 {made_from.sha256[:12]}...), and "
            f"{original.label} is another file: who was a member is not known; give that very file as the original"
        )
