"""Damage to files, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["KINDS", "damaged"]

Damage = Callable[[bytearray, random.Random, bytes], bytes]
EXTREMES = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 40, (1 << 63) - 1)


def _place(content: bytearray, rng: random.Random) -> int:
    """Somewhere in the file; head and tail, where lengths and footers are, as often as all the rest."""
    size = len(content)
    if size <= 512:
        return rng.randrange(size)
    part = rng.random()
    if part < 0.3:
        return rng.randrange(256)
    if part < 0.6:
        return size - 1 - rng.randrange(512)
    return rng.randrange(size)


def _bits(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        content[_place(content, rng)] ^= 1 << rng.randrange(8)
    return bytes(content)


def _bytes(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 16))):
        content[_place(content, rng)] = rng.randrange(256)
    return bytes(content)


def _cut(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    return bytes(content[: rng.randrange(len(content))])


def _drop(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    start = _place(content, rng)
    del content[start : start + rng.choice((1, 1, 2, 8, 80, 512))]
    return bytes(content)


def _insert(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    start = _place(content, rng)
    extra = rng.choice((b"\0", b'"', b"\n", b",", b"\xff", b"\r", rng.randbytes(8), other[:64], bytes(80)))
    content[start:start] = extra
    return bytes(content)


def _swap(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    length = rng.choice((1, 4, 8, 64))
    first, second = sorted((_place(content, rng), _place(content, rng)))
    one, two = content[first : first + length], content[second : second + length]
    content[second : second + len(two)] = one[: len(two)]
    content[first : first + len(one)] = two[: len(one)]
    return bytes(content)


def _zeros(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    start = _place(content, rng)
    length = min(rng.choice((1, 4, 8, 64, 512, 4096)), len(content) - start)
    content[start : start + length] = bytes(length)
    return bytes(content)


def _length(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    """What may be a length, a count or an offset becomes one that is wrong."""
    width, order = rng.choice((1, 2, 4, 8)), rng.choice(("little", "little", "big"))
    start = min(_place(content, rng), max(len(content) - width, 0))
    value = int.from_bytes(content[start : start + width], order)
    wrong = rng.choice((value + 1, value - 1, value * 2, value // 2, *EXTREMES)) % (1 << 8 * width)
    content[start : start + width] = wrong.to_bytes(width, order)
    return bytes(content)


def _splice(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    """The beginning of one file and the end of another."""
    return bytes(content[: rng.randrange(len(content))]) + other[rng.randrange(len(other)) :]


def _repeat(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    start = _place(content, rng)
    piece = content[start : start + rng.choice((1, 8, 64, 1024))]
    content[start:start] = piece
    return bytes(content)


def _append(content: bytearray, rng: random.Random, other: bytes) -> bytes:
    return bytes(content) + rng.choice((b"\0", bytes(512), b"\n", b'"', rng.randbytes(32), other, bytes(content)))


KINDS: dict[str, Damage] = {
    "bits": _bits, "bytes": _bytes, "cut": _cut, "drop": _drop, "insert": _insert, "swap": _swap, "zeros": _zeros,
    "length": _length, "splice": _splice, "repeat": _repeat, "append": _append,
}  # fmt: skip


def damaged(content: bytes, seed: str, other: bytes) -> tuple[str, bytes]:
    """A damaged copy, and what was done.

    Parameters
    ----------
    content
        The file.
    seed
        The same gives the same damage.
    other
        Another file of the format, of which a piece may be taken.
    """
    rng = random.Random(seed)
    kind = rng.choice(list(KINDS))
    return kind, KINDS[kind](bytearray(content), rng, other)
