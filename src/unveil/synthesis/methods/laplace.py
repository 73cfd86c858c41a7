"""Counts and choices that are differentially private: the discrete Laplace and the exponential mechanism, exactly.

Noise of floating-point numbers is not private: its last digits depend on the count (Mironov 2012). Here all random
numbers are whole numbers, drawn from uniform bits without rounding (Canonne, Kamath & Steinke 2020), and by default the
bits come from the operating system. Noise is a multiple of a power of two that is fine enough to act as Laplace noise,
and counts are multiples of it too.

References
----------
Canonne, C., Kamath, G. & Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS 2020, algorithms 1
and 2.
Ghosh, A., Roughgarden, T. & Sundararajan, M. (2012). Universally utility-maximizing privacy mechanisms. SIAM Journal on
Computing 41, 1673-1693.
Mironov, I. (2012). On significance of the least significant bits for differential privacy. CCS 2012, 650-661.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unveil.checks import is_number
from unveil.errors import CallError

FINEST = 30
"""Noise is a multiple of ``2^-FINEST``, or of a larger power of two where its scale is large."""
LARGEST = 40
"""Most bits of the scale, in multiples of that power."""
SMALLEST_EPSILON = 1e-9
BLOCK = 1 << 17
"""Number of counts whose noise is drawn together, to save memory."""


def check_epsilon(epsilon: float | None) -> float:
    """Return the privacy budget as a number.

    Returns
    -------
    float
        ``inf`` for None: no noise.

    Raises
    ------
    CallError
        If it is not a number above 0, or is below 1e-9.
    """
    if epsilon is None:
        return math.inf
    if not is_number(epsilon) or not epsilon > 0:
        raise CallError(f"epsilon must be a number above 0, got {epsilon!r}; None adds no noise")
    if epsilon < SMALLEST_EPSILON:
        raise CallError(f"epsilon must be at least {SMALLEST_EPSILON:g}, got {epsilon}; less leaves nothing but noise")
    return float(epsilon)


class Bits:
    """Uniform random bits, of the operating system unless a seed is given.

    Parameters
    ----------
    seed : int, optional
        Seed for experiments: somebody who knows it can subtract the noise.

    Examples
    --------
    >>> bits = Bits(seed=1)
    >>> all(0 <= number < 10 for number in bits.below(10, 100))
    True
    """

    def __init__(self, seed: int | None = None):
        self._rng = None if seed is None else np.random.default_rng(seed)

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return (n,) random numbers of 64 bits."""
        content = os.urandom(8 * n) if self._rng is None else self._rng.bytes(8 * n)
        return np.frombuffer(content, dtype=np.uint64)

    def below(self, limit: int, n: int) -> NDArray[np.uint64]:
        """Return (n,) uniform whole numbers from 0 to below a limit of at most 2^63, by rejection."""
        mask = np.uint64((1 << (limit - 1).bit_length()) - 1)
        found: NDArray[np.uint64] = self.words(n) & mask
        while (wrong := np.flatnonzero(found >= np.uint64(limit))).size:
            found[wrong] = self.words(wrong.size) & mask
        return found

    def whole_below(self, limit: int) -> int:
        """Return a uniform whole number from 0 to below a limit of any size."""
        length = (limit - 1).bit_length()
        while True:
            words = self.words(max(1, -(-length // 64)))
            number = int.from_bytes(words.tobytes(), "little") & ((1 << length) - 1)
            if number < limit:
                return number


def noisy_counts(counts: NDArray[np.int64], scale: float, bits: Bits, *, shift: float = 0.0) -> NDArray[np.float64]:
    """Return counts with independent discrete Laplace noise; negative results become 0.

    ``max(0, N + shift + E)``, where ``P(E = x) = c exp(-|x| / b)`` for the multiples x of ``2^-k``. ``b`` is the scale,
    rounded up to a multiple of ``2^-k``, and ``k`` is 30 for scales below 1024.

    Parameters
    ----------
    counts : (c,) int64
        Counts.
    scale : float
        Scale of the noise: sensitivity by epsilon; 0 for none.
    bits : Bits
        Random bits.
    shift : float
        Number that is added to every count.

    Returns
    -------
    (c,) float64
        Noisy counts, not negative.
    """
    flat = np.asarray(counts, dtype=np.int64).ravel()
    if scale == 0:
        plain: NDArray[np.float64] = np.maximum(flat + shift, 0.0).reshape(np.shape(counts))
        return plain
    fine = max(0, min(FINEST, LARGEST - math.frexp(scale)[1]))
    steps = math.ceil(Fraction(scale) * (1 << fine))
    noisy = np.empty(flat.size)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        # In whole numbers, so that no rounding depends on the count; the steps after the noise are private anyway.
        total = (part << fine) + _discrete_laplace(steps, part.size, bits)
        noisy[start : start + BLOCK] = np.maximum(total / float(1 << fine) + shift, 0.0)
    return noisy.reshape(np.shape(counts))


def exponential_choice(scores: Sequence[int], epsilon: Fraction, sensitivity: int, bits: Bits) -> int:
    """Return the place of a score, drawn with probability proportional to ``exp(epsilon score / (2 sensitivity))``.

    Parameters
    ----------
    scores
        Whole numbers, at least one.
    epsilon : Fraction
        Privacy budget of the choice.
    sensitivity
        Largest change of a score between neighbouring files.
    bits : Bits
        Random bits.

    Returns
    -------
    int
        Place, from 0. It is drawn uniformly, and kept with probability ``exp(-epsilon (max - score) / (2 S))``.

    References
    ----------
    McSherry, F. & Talwar, K. (2007). Mechanism design via differential privacy. FOCS 2007, 94-103.
    """
    largest = max(scores)
    while True:
        place = bits.whole_below(len(scores))
        if _is_kept(epsilon * (largest - scores[place]) / (2 * sensitivity), bits):
            return place


def _is_kept(exponent: Fraction, bits: Bits) -> bool:
    """Return True with probability ``exp(-exponent)``."""
    whole, part = divmod(exponent.numerator, exponent.denominator)
    for _ in range(whole):
        if not _falls(1, 1, bits):
            return False
    return _falls(part, exponent.denominator, bits)


def _falls(numerator: int, denominator: int, bits: Bits) -> bool:
    """Return True with probability ``exp(-numerator / denominator)``, for a fraction up to 1."""
    k = 1
    while bits.whole_below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def _discrete_laplace(steps: int, n: int, bits: Bits) -> NDArray[np.int64]:
    """Return (n,) whole numbers x with probability proportional to ``exp(-|x| / steps)``."""
    drawn = np.empty(n, dtype=np.int64)
    open_places = np.arange(n)
    while open_places.size:
        part = bits.below(steps, open_places.size)
        kept = _all_fall(part, steps, bits)
        whole = np.zeros(open_places.size, dtype=np.int64)
        going = np.flatnonzero(kept)
        while going.size:
            going = going[_all_fall(np.ones(going.size, dtype=np.uint64), 1, bits)]
            whole[going] += 1
        size = part.astype(np.int64) + whole * steps
        sign = 1 - 2 * (bits.words(open_places.size) & np.uint64(1)).astype(np.int64)
        # Zero would come with either sign, and so twice as often as it should.
        kept &= (sign > 0) | (size > 0)
        drawn[open_places[kept]] = (sign * size)[kept]
        open_places = open_places[~kept]
    return drawn


def _all_fall(numerators: NDArray[np.uint64], denominator: int, bits: Bits) -> NDArray[np.bool_]:
    """Return (n,) flags, true with probability ``exp(-numerator / denominator)``, for fractions up to 1."""
    odd = np.ones(numerators.size, dtype=np.bool_)
    going, k = np.arange(numerators.size), 1
    while going.size:
        going = going[bits.below(denominator * k, going.size) < numerators[going]]
        odd[going] = ~odd[going]
        k += 1
    return odd
