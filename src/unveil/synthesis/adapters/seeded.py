"""Repeatable draws of libraries that use the generators that all code of a process shares."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the shared generators of NumPy, and of PyTorch if it is loaded; keep quiet what the library says meanwhile.

    The generator of NumPy is given back as it was. What a library prints of its progress, and warnings of its own
    libraries, concern nobody who calls it by its name.
    """
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
