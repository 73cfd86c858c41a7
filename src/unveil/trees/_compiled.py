"""Typed decorators of numba.

All loops of this room are compiled once and stored on disk, release the interpreter lock so that trees can be fitted in
threads, and never use relaxed floating-point arithmetic: a fit must be the same on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

T = TypeVar("T")


def allocating(function: Callable[..., T]) -> Callable[..., T]:
    """Compile a function that creates arrays.

    Parameters
    ----------
    function : callable
        Function of numbers, numpy arrays and named tuples of them; no recursion.

    Returns
    -------
    callable
        The same function, compiled at its first call; division by zero is that of IEEE.
    """
    return cast(Callable[..., T], numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled(function: Callable[..., T]) -> Callable[..., T]:
    """Compile a function that only reads and writes the arrays it is given.

    Numba counts references to arrays at every call, with atomic instructions; in the inner loops of a tree this takes a
    third of the time. Functions that create no array do not count them, if this version of numba has the option.

    Parameters
    ----------
    function : callable
        Function of numbers, numpy arrays and named tuples of them; no recursion, no new arrays.

    Returns
    -------
    callable
        The same function, compiled at its first call; division by zero is that of IEEE.
    """
    try:
        bare = cast(Any, numba.njit)(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)
    except (KeyError, TypeError):
        return allocating(function)
    return cast(Callable[..., T], bare)
