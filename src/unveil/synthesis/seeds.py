"""Seeds of releases: secret unless the user gives one.

Somebody who has all records but one, the order of the file, the settings and the seed can repeat the synthesis for
every possible value of the last record, and find the value that gives the same file. So the default seed is drawn from
the operating system and stored only in the provenance file. Seeds of measures concern figures, not records, and have a
fixed default.
"""

from __future__ import annotations

import secrets

from unveil.checks import check_whole_numbers

BITS = 128
CONFIDENTIAL = (
    "the seed is confidential: somebody who has it and all records but one can repeat the synthesis and find the last "
    "record"
)


def seed_or_secret(seed: int | None) -> int:
    """Return the given seed, or a secret one from the operating system.

    Raises
    ------
    CallError
        If the seed is not a whole number from 0.

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
