"""The compiled loops, and the way of arrays to them.

The loops are C functions in this folder. ``layouts.h`` says which structs they take; the structs of this module are
made from its text, so that both sides have the same fields at the same places. A call releases the interpreter lock.

Examples
--------
>>> import numpy as np
>>> sort_by_code = loop("sort_by_code", int, np.int32, int, np.int64, np.int32)
>>> order = np.empty(3, np.int32)
>>> sort_by_code(3, np.array([1, 0, 1], np.int32), 2, np.zeros(3, np.int64), order)
>>> order.tolist()
[1, 0, 2]
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unveil.errors import MissingPackageError

SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = Path(__file__).with_name(f"_loops{SUFFIX}")
_NUMBERS: dict[str, Any] = {"int64_t": ctypes.c_int64, "double": ctypes.c_double}
_ARRAYS = {"uint8_t *": np.uint8, "int32_t *": np.int32, "int64_t *": np.int64, "float *": np.float32,
           "double *": np.float64}  # fmt: skip
_address, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer


def _load() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise MissingPackageError(
            f"the compiled loops of unveil are missing or of another system ({error}); install the package again"
        ) from None


_LIBRARY = _load()


class Struct(ctypes.Structure):
    """A struct of ``layouts.h``; keeps the arrays alive whose addresses it holds."""

    arrays: dict[str, np.dtype[Any]]

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.kept: dict[str, NDArray[Any]] = {}
        self.keep(**fields)

    def keep(self, **fields: Any) -> None:
        """Set fields: numbers, structs, arrays, or None for an array that there is not."""
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                self.kept[name] = value
                value = address_of(value, self.arrays[name])
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Callable[..., Struct], tuple[str, dict[str, Any]]]:
        """For another process: the numbers, and the arrays whose addresses it holds."""
        fields = {name: self.kept.get(name, getattr(self, name)) for name, *_ in self._fields_}
        loose = [name for name in self.arrays if isinstance(fields[name], int)]
        if loose:
            raise TypeError(f"{type(self).__name__}: the memory behind {', '.join(loose)} belongs to this process")
        return _made_anew, (type(self).__name__, fields)


def _made_anew(name: str, fields: dict[str, Any]) -> Struct:
    return STRUCTS[name](**fields)


def address_of(array: NDArray[Any], dtype: np.dtype[Any]) -> int:
    """Where an array begins that a loop may read and write as it is."""
    kind = array.dtype
    if kind is not dtype and kind != dtype and not (kind == np.bool_ and dtype == np.uint8):
        raise TypeError(f"a loop takes an array of {dtype}, not of {kind}")
    buffer: Any = array
    try:
        # The buffer tells the address in a third of the time, but only of what is contiguous and can be written.
        return _address(_first_byte(buffer))
    except (TypeError, ValueError):
        if not array.flags.c_contiguous:
            raise TypeError("a loop takes a contiguous array") from None
        return int(array.__array_interface__["data"][0])


class _Array:
    """Type of an argument: an array of a type."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)

    def from_param(self, array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(address_of(array, self.dtype))


class _AnyArray:
    """Type of an argument: an array whose size of entries the call says."""

    @staticmethod
    def from_param(array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(address_of(array, array.dtype))


def _structs() -> dict[str, type[Struct]]:
    """The structs of ``layouts.h``."""
    layouts = _LIBRARY.layouts
    layouts.restype = ctypes.c_char_p
    found: dict[str, type[Struct]] = {}
    for line in layouts().decode().splitlines():
        name, _, text = line.partition(":")
        fields = [field.rsplit(" ", 1) for field in text.split(";") if field]
        types = [
            (field, ctypes.c_void_p if kind.endswith("*") else _NUMBERS.get(kind) or found[kind])
            for kind, field in fields
        ]
        arrays = {
            field: np.dtype(_ARRAYS[kind]) if kind in _ARRAYS else kind for kind, field in fields if kind[-1] == "*"
        }
        found[name] = type(name, (Struct,), {"_fields_": types, "arrays": arrays})
    for struct in found.values():
        struct.arrays = {
            field: np.dtype(found[kind.rstrip(" *")]) if isinstance(kind, str) else kind
            for field, kind in struct.arrays.items()
        }
    return found


STRUCTS = _structs()


def loop(name: str, *arguments: Any, result: Any = None) -> Callable[..., Any]:
    """A loop by its name.

    Parameters
    ----------
    name
        Name of the C function.
    *arguments
        Types of its arguments: a struct, ``int``, ``float``, the type of an array's entries, or ``None`` for an array
        of entries of any size.
    result
        ``int``, ``float``, or ``bool`` for a function that says whether it got its memory; None for no result.

    Returns
    -------
    callable
        The function. It raises ``MemoryError`` where it did not get its memory, and ``ctypes.ArgumentError`` where an
        array has another type, or is not contiguous.
    """
    function = getattr(_LIBRARY, name)
    function.argtypes = [_argument(kind) for kind in arguments]
    function.restype = {None: None, int: ctypes.c_int64, float: ctypes.c_double, bool: ctypes.c_int}[result]
    if result is bool:
        function.errcheck = _raise_without_memory
    called: Callable[..., Any] = function
    return called


def _argument(kind: Any) -> Any:
    if kind is None:
        return _AnyArray
    if kind is int:
        return ctypes.c_int64
    if kind is float:
        return ctypes.c_double
    return ctypes.POINTER(kind) if isinstance(kind, type) and issubclass(kind, Struct) else _Array(kind)


def _raise_without_memory(code: int, function: Any, arguments: Any) -> None:
    if code:
        raise MemoryError("not enough memory for a tree")


def taken(address: int, dtype: DTypeLike, n: int) -> NDArray[Any]:
    """A copy of ``n`` entries that a loop has made."""
    made = np.empty(n, dtype=dtype)
    if n:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made
