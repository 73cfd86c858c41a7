"""What can go wrong, in few words that say what to do.

Every error that the package raises on purpose is an :class:`UnveilError`. The command line maps the two
families to its exit status: a wrong call to 2, data that cannot be measured to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from unveil.printable import one_line


class UnveilError(Exception):
    """Base of all errors raised by the package; its message is one line that commands no terminal."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class CallError(UnveilError, ValueError):
    """The call is wrong: an unknown column, an option out of its range, a key that is also the target."""


class DataError(UnveilError, ValueError):
    """The call is right but the data cannot be measured: no records, columns that cannot be compared."""


class FileError(DataError):
    """A file cannot be read or written."""


class MissingPackageError(UnveilError, ImportError):
    """An optional package, or a compiled part of this one, is needed for this and is not installed."""


class UnveilWarning(UserWarning):
    """Something in the data deserves a look; the figures are computed all the same, as the text says.

    Parameters
    ----------
    text
        What deserves a look.
    columns
        The columns concerned; none where it is the file as a whole, or the column that is being read.
    """

    def __init__(self, text: str, columns: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.columns = tuple(columns)

    def __str__(self) -> str:
        return one_line(super().__str__())


def is_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory is missing: for values, a thread, a mapped file or a library."""
    said = str(error).lower()
    words = ("cannot allocate memory", "launch worker thread", "can't start new thread", "failed to map segment")
    return isinstance(error, MemoryError) or any(word in said for word in words)


@contextmanager
def enough_memory() -> Iterator[None]:
    """Turn a lack of memory while records are coded or counted into one line that says what to do.

    Raises
    ------
    DataError
        In place of the error of whoever needed more memory.
    """
    try:
        yield
    except UnveilError:
        raise
    except Exception as error:
        if not is_of_memory(error):
            raise
        raise DataError(
            "there is not enough memory to count the records; name fewer keys and targets, count Parquet files batch "
            "by batch (engine='files', with a memory_limit below what is free), or use a larger machine"
        ) from None
