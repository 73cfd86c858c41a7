"""The provenance of synthetic files: a small JSON file beside them.

It holds no value of any record, but it is confidential: with the seed, or with the SHA-256 of the original, somebody
who knows all records of the original but one can find that record by trial. Its content, by key:

``format``
    1; raised when a key changes its meaning.
``confidential``
    A sentence that the file is confidential.
``versions``
    Of unveil, Python, numpy, pyarrow and scipy.
``date``, ``seconds``
    When the files were made (UTC), and how long it took.
``method``, ``settings``, ``seed``, ``m``, ``k``
    The method, the settings by parameter name (of :class:`unveil.CartSynthesizer`, or of the class for the whole file),
    the seed of fit and draws, the number of copies, and the number of records in each.
``reading``
    How the original was read, by parameter name of :func:`unveil.read`; only parameters that were given.
``original``
    Name, SHA-256 and number of records of the original.
``releases``
    The same for each synthetic file, in the order of the copies.
``variables``
    In the order of the file, with the part "which special value" by itself (``income_part``): name, method, number of
    leaves, leaves that the collapse removed, and the dependence that was lost with them (mutual information of leaf and
    value beyond chance, in bits per record); null without a tree.
``privacy``
    With noise for differential privacy: ``epsilon`` of all releases together; ``neighbours``, the files that it
    compares, and their ``meaning``; the ``mechanism``; the source of the ``noise``; and the ``domain``: by column the
    declared levels, or bounds and ends of bins, special codes, and whether there can be gaps. Null without noise.
``warnings``
    Texts of the warnings.

With the original, the method, settings, seed and versions make the same files again, and the same fit, from whose
likelihood an exact risk is computed.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from unveil.errors import CallError, DataError, FileError
from unveil.files.atomic import replacing
from unveil.files.digest import sha256
from unveil.files.documents import Maybe, check_shape, read_json

FORMAT = 1
CONFIDENTIAL = (
    "Keep this file in the building. Somebody who has its seed, or the SHA-256 of the original, and all records of the "
    "original but one, can find that record by trial."
)
PACKAGES = ("unveil", "numpy", "pyarrow", "scipy")


@dataclass(frozen=True)
class FileFacts:
    """A file by name, content and size.

    Parameters
    ----------
    name
        Its name, without the folder.
    sha256
        SHA-256 of its content, hexadecimal.
    records
        Number of records.
    """

    name: str
    sha256: str
    records: int

    @classmethod
    def of(cls, path: str | Path, records: int) -> FileFacts:
        """Return the facts of an existing file.

        Raises
        ------
        FileError
            If it cannot be read.
        """
        return cls(Path(path).name, sha256(path), records)


@dataclass(frozen=True)
class VariableFacts:
    """How one variable was modelled.

    Parameters
    ----------
    name, method
        The variable, and its method.
    leaves
        Number of leaves of its tree; None without a tree.
    leaves_removed, bits_lost
        Leaves removed by the collapse, and the dependence lost with them, in bits per record; None without a tree.
    """

    name: str
    method: str
    leaves: int | None = None
    leaves_removed: int | None = None
    bits_lost: float | None = None


@dataclass(frozen=True)
class Provenance:
    """The provenance of synthetic files; see the head of this module for the fields."""

    method: str
    settings: Mapping[str, Any]
    seed: int
    m: int
    k: int
    original: FileFacts
    releases: tuple[FileFacts, ...]
    variables: tuple[VariableFacts, ...]
    seconds: float
    reading: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    privacy: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file as plain values."""
        plain = asdict(self)
        lists = {name: list(plain[name]) for name in ("releases", "variables", "warnings")}
        return {"format": FORMAT, "confidential": CONFIDENTIAL, **plain, **lists}

    def check_original(self, path: str | Path) -> None:
        """Check that a file is the original of the synthetic files.

        Raises
        ------
        DataError
            If its content differs.
        FileError
            If it cannot be read.
        """
        if sha256(path) != self.original.sha256:
            raise DataError(
                f"{Path(path).name} is not the file that the release was made from ({self.original.name}, "
                f"SHA-256 {self.original.sha256[:12]}...); give that very file"
            )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages on which a result can depend.

    Examples
    --------
    >>> sorted(versions())
    ['numpy', 'pyarrow', 'python', 'scipy', 'unveil']
    """
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES}


def write_provenance(provenance: Provenance, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the provenance as JSON.

    Parameters
    ----------
    provenance
        The provenance.
    path
        Path of the file.
    overwrite
        Whether an existing file may be replaced.

    Raises
    ------
    CallError
        If a setting is not a plain value, for example a function.
    FileError
        If the file exists and ``overwrite`` is not set, or cannot be written.
    """
    for name, value in (*provenance.settings.items(), *provenance.reading.items()):
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise CallError(
                f"setting {name!r} cannot be kept in {Path(path).name}: it has to consist of numbers, text, "
                "lists and mappings"
            ) from None
    text = json.dumps(provenance.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path, overwrite=overwrite, confidential=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_provenance(path: str | Path) -> Provenance:
    """Read a provenance file; its method and settings rebuild the synthesizer.

    Parameters
    ----------
    path
        The file that :func:`write_provenance` wrote.

    Returns
    -------
    Provenance
        Content of the file; ``settings`` are the synthesizer's parameters by name.

    Raises
    ------
    FileError
        If the file cannot be read, or is not a provenance file of this format.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "release.provenance.json")
    >>> facts = FileFacts("original.csv", "0" * 64, 5000)
    >>> write_provenance(Provenance("cart", {"minbucket": 5}, 1, 1, 5000, facts, (), (), 0.5), path)
    >>> found = read_provenance(path)
    >>> found.method, found.settings, found.original.records
    ('cart', {'minbucket': 5}, 5000)
    >>> folder.cleanup()
    """
    label = Path(path).name
    content = read_json(path, label, "a provenance file")
    if not isinstance(content, dict) or "format" not in content:
        raise FileError(f"{label}: not a provenance file; it has no 'format'")
    if content.pop("format") != FORMAT:
        raise FileError(f"{label}: a provenance file of another version of unveil; this one knows format {FORMAT}")
    content.pop("confidential", None)
    try:
        check_shape(content, _CONTENT, "the content")
        reading = content["reading"]
        if not isinstance(reading.get("missing", ""), str):  # one text, or several
            check_shape(reading["missing"], [_TEXT], "the content.reading.missing")
        if "schema" in reading:
            _check_name(reading["schema"]["name"])
        return Provenance(
            **content
            | {
                "original": FileFacts(**content["original"]),
                "releases": tuple(FileFacts(**one) for one in content["releases"]),
                "variables": tuple(VariableFacts(**one) for one in content["variables"]),
                "warnings": tuple(content["warnings"]),
            }
        )
    except (DataError, TypeError) as error:
        raise FileError(f"{label}: not a complete provenance file ({' '.join(str(error).split())})") from None


def _check_name(name: str) -> None:
    """Raise an error unless the name has no folder: the schema is read only from the folder of the provenance file."""
    if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
        raise DataError(f"the name of the schema is {name!r:.60}, expected the name of a file without its folder")


_TEXT, _COUNT, _NUMBER = (str,), (int,), (int, float)
_FILE = {"name": _TEXT, "sha256": _TEXT, "records": _COUNT}
_SCHEMA = {"name": _TEXT, "sha256": _TEXT}
_CONTENT: dict[str, Any] = {
    "method": _TEXT, "settings": {"special_codes?": Maybe({}), "kinds?": Maybe({})},
    "seed": _COUNT, "m": _COUNT, "k": _COUNT, "original": _FILE, "releases": [_FILE],
    "variables": [
        {"name": _TEXT, "method": _TEXT, "leaves?": Maybe(_COUNT), "leaves_removed?": Maybe(_COUNT),
         "bits_lost?": Maybe(_NUMBER)}
    ],
    "seconds": _NUMBER,
    "reading": {"encoding?": _TEXT, "delimiter?": _TEXT, "decimal?": _TEXT, "schema?": _SCHEMA},
    "warnings": [_TEXT], "versions": {}, "date": _TEXT,
}  # fmt: skip
"""Shape of a provenance file, without its format."""
