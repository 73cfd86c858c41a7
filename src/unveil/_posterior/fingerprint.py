"""Fingerprint of a run, so that its finished records are not taken for those of another run."""

from __future__ import annotations

import hashlib

import numpy as np

from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.tree_sequence import TreeSequence
from unveil.synthesis.settings import identity_of, in_plain_words
from unveil.version import __version__

_OPTIONS = (
    *("targets", "known", "structures", "members", "groups", "intruder_errors", "seed", "replicates", "candidates"),
    *("intervals", "prior"),
)


def fingerprint(options: CheckedOptions, sequence: TreeSequence) -> str:
    """Return a text that is the same for two runs only if their files, synthesizer and options are.

    The time limit and the order in which records are taken are not part of it.
    """
    values = hashlib.sha256()
    for name, variable in sequence.variables.items():
        values.update(repr((name, variable.kind, str(variable.values.type), variable.python_values)).encode())
        for codes in (sequence.original[name], *sequence.released[name], sequence.further[name]):
            values.update(np.ascontiguousarray(codes).tobytes())
        values.update(repr([part.of_level.tolist() for part in variable.parts]).encode())
    asked = {name: getattr(options, name) for name in _OPTIONS} | {
        "version": __version__,
        "sizes": (options.pair.n_original, options.pair.n_synthetic),
        "withheld": sequence.withheld,
        "synthesizer": identity_of(options.synthesizer),
        "files": values.hexdigest(),
        "told": hashlib.sha256(repr(getattr(options.synthesizer, "told_seed", None)).encode()).hexdigest(),
    }
    return repr({name: in_plain_words(value) for name, value in asked.items()})
