"""What a run is about, so that records that it has finished are not taken for those of another."""

from __future__ import annotations

import hashlib

import numpy as np

from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.tree_sequence import TreeSequence
from unveil.synthesis.settings import identity_of, in_plain_words
from unveil.version import __version__


def fingerprint(setting: CheckedOptions, chain: TreeSequence) -> str:
    """A text that is the same for two runs only if their files, synthesizer and question are.

    The number of seconds and the order in which records are taken do not belong to it.
    """
    values = hashlib.sha256()
    for name, variable in chain.variables.items():
        values.update(repr((name, variable.kind, str(variable.values.type), variable.python_values)).encode())
        for codes in (chain.original[name], *chain.released[name], chain.further[name]):
            values.update(np.ascontiguousarray(codes).tobytes())
        values.update(repr([part.of_level.tolist() for part in variable.parts]).encode())
    asked = {
        "version": __version__,
        "targets": setting.targets,
        "known": setting.known,
        "structures": setting.structures,
        "members": setting.members,
        "groups": setting.groups,
        "sizes": (setting.pair.n_original, setting.pair.n_synthetic),
        "intruder_errors": setting.intruder_errors,
        "seed": setting.seed,
        "replicates": setting.replicates,
        "candidates": setting.candidates,
        "intervals": setting.intervals,
        "prior": setting.prior,
        "withheld": chain.withheld,
        "synthesizer": identity_of(setting.synthesizer),
        "files": values.hexdigest(),
    }
    return repr({name: in_plain_words(value) for name, value in asked.items()})
