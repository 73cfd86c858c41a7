"""Compare how a release of R's synthpop says that it was made with the assumed settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unveil.files.source import Source
from unveil.notes import Note

_SETTINGS = {"cart.minbucket": "minbucket", "cart.cp": "cp"}


def made_otherwise(releases: Iterable[Source], synthesizer: Any) -> tuple[Note, ...]:
    """Return one sentence for each way in which releases say that they were not made by the synthesizer.

    Parameters
    ----------
    releases
        The opened releases.
    synthesizer
        A :class:`unveil.CartSynthesizer`; for others there are no sentences.

    Returns
    -------
    tuple of Note
        The sentences.
    """
    notes = {}
    for release in releases:
        if release.origin.get("made by") != "synthpop" or not hasattr(synthesizer, "cart"):
            continue
        found = "; ".join(_differences(release, synthesizer))
        if found and found not in notes:
            notes[found] = Note(
                f"{release.label} says that it was made otherwise than is assumed here ({found}): give the synthesizer "
                "these settings"
            )
    return tuple(notes.values())


def _differences(release: Source, synthesizer: Any) -> Iterable[str]:
    origin = release.origin
    sequence = origin.get("visit.sequence")
    order = [name for name in sequence if name in release] if isinstance(sequence, Mapping) else []
    assumed = [name for name in synthesizer.visit_order or release.names if name in order]
    if order and assumed != order:
        yield f"visit order {', '.join(order)}"
    methods = origin.get("method")
    if isinstance(methods, Mapping):
        for name, method in methods.items():
            if method and name in order[1:] and method != _method(synthesizer, name):
                yield f"{name} by {method}"
    if origin.get("proper") is True and not synthesizer.proper:
        yield "proper=True"
    smoothing = origin.get("smoothing")
    if not synthesizer.smoothing:
        named = smoothing if isinstance(smoothing, Mapping) else {"all": smoothing}
        yield from (f"smoothing of {name}: {kind}" for name, kind in named.items() if kind)
    if synthesizer.cart.mix:
        yield "mix=0"
    for argument, setting in _SETTINGS.items():
        told = origin.get("call", {}).get(argument)
        if told is not None and told != getattr(synthesizer.cart, setting):
            yield f"{setting}={told}"


def _method(synthesizer: Any, name: str) -> Any:
    methods = synthesizer.methods
    return methods.get(name, "cart") if isinstance(methods, Mapping) else methods
