"""Seeds of what is released: secret unless they are given.

Whoever has all records but one, the order of the file, the settings and the seed repeats the synthesis for every value
that the last record may have, and reads its value off the one file that comes out the same. So a default seed must not
be known: it is drawn from the operating system, and kept in the provenance file alone. Seeds of measures concern
figures, not records, and have a fixed default.
"""

from __future__ import annotations

import secrets

from unveil.checks import check_whole_numbers

BITS = 128
CONFIDENTIAL = (
    "the seed is confidential: whoever has it and all records but one repeats the synthesis and reads the last record "
    "off"
)


def seed_or_secret(seed: int | None) -> int:
    """The seed that was given, else one from the operating system that nobody can guess.

    Raises
    ------
    CallError
        If it is no whole number from 0.

    Examples
    --------
    >>> seed_or_secret(7)
    7
    >>> seed_or_secret(None) == seed_or_secret(None)
    False
    """
    if seed is None:
        return secrets.randbits(BITS)
    check_whole_numbers(0, seed=seed)
    return int(seed)
