"""Files that keep finished work under a digest: what is read is what was written, or it is refused."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import FileError
from unveil.files.atomic import replacing


@dataclass(frozen=True)
class Sealed:
    """A file of three parts: a line that says what it is, the SHA-256 of the content in a line, and the content.

    Parameters
    ----------
    path
        Path of the file.
    magic
        The line that says what it is, with its end; empty for none.
    """

    path: Path
    magic: bytes = b""

    def write(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Write the pieces of the content, as a whole or not at all; only the owner can read the file.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        pieces, digest = list(pieces), hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
        with replacing(self.path, overwrite=True, confidential=True) as temporary, temporary.open("wb") as stream:
            stream.write(self.magic + digest.hexdigest().encode() + b"\n")
            stream.writelines(pieces)

    def read(self) -> bytes | None:
        """Content of the file; None if there is no file.

        Raises
        ------
        FileError
            If the path is not that of a file, the file is of another kind, or it was changed.
        """
        try:
            # Opened without waiting: a pipe that nobody writes to would keep the program for ever.
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"{self.path}: cannot be read as a checkpoint ({reason})") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise FileError(f"{self.path}: not a file, which a checkpoint is; name another")
        with os.fdopen(handle, "rb") as stream:
            if stream.read(len(self.magic)) != self.magic:
                raise FileError(f"{self.path}: no checkpoint of this version of unveil; name another, or remove it")
            digest, content = stream.readline(65), stream.read()
        if digest != hashlib.sha256(content).hexdigest().encode() + b"\n":
            raise self.damaged()
        return content

    def damaged(self) -> FileError:
        """What to raise if the content is not what it should be."""
        return FileError(
            f"{self.path}: a checkpoint that is damaged; remove it, and the run starts anew, or name another"
        )
