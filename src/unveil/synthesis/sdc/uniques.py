"""Removing the records of a release that replicate unique original records."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.pair import Pair
from unveil.errors import DataError, UnveilWarning
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport


def drop_replicated_uniques(
    pair: Pair,
    keys: str | Sequence[str],
    release: int = 0,
    *,
    data: Any = None,
    use_keys_na: bool | Mapping[str, bool] = True,
) -> tuple[Any, SdcReport]:
    """Remove from a release the records that replicate unique original records.

    With d_q and s_q the number of original and synthetic records of key combination q, the synthetic records with
    ``d_q = 1`` and ``s_q = 1`` are removed; for the rest :func:`unveil.identity` finds ``repU = 0`` on these keys.
    On other keys it need not be 0, and who knows that such records were removed can conclude from a gap in the
    release that it is one.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables, as they stand (not grouped: the limits of groups move with the records).
    release
        Number of the release in the pair, from 0.
    data
        The release once more, where it was given as a frame: it comes back in exactly its own types. Without it
        it comes back in the types that a pair keeps: whole numbers of 64 bits, decimals of 64 bits, text.
    use_keys_na
        Whether combinations in which a key is missing count; one flag, or one per key.

    Returns
    -------
    frame
        The remaining records, in the flavour that came in; an Arrow table where the release is a file.
    SdcReport
        What was done.

    Raises
    ------
    CallError
        If a key is unknown or repeated, or there is no such release.
    DataError
        If the release lacks a key, or ``data`` is not the release.

    References
    ----------
    Raab, Nowok & Dibben (2026), Practical privacy metrics for synthetic data, section 2.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m"], "age": [30, 30, 40]})
    >>> release = pa.table({"sex": ["f", "m"], "age": [30, 40]})
    >>> kept, report = drop_replicated_uniques(unveil.Pair(original, release), ["sex", "age"])
    >>> kept.to_pylist(), report.n_changed
    ([{'sex': 'f', 'age': 30}], 1)
    """
    study = KeyedPair.of(pair, keys, use_keys_na=use_keys_na)
    source = pair.releases[study.release(release)]
    records = GivenFile.of(source if data is None else data)
    if records.source.num_rows != source.num_rows or records.source.names != source.names:
        raise DataError(f"data is not {source.label}: it has other columns or another number of records")
    if data is not None:
        _check_keys(study, release, records)
    d, by_release = study.combinations.counts()
    replicated = (d == 1) & (by_release[release] == 1)
    if study.excluded is not None:
        replicated &= ~study.excluded
    flags = replicated[study.combinations.releases[release]]
    n, n_removed = source.num_rows, int(flags.sum())
    sentences = [
        f"{n_removed} of {n} records replicated an original record that is unique on the keys; they are removed,",
        f"{n - n_removed} remain, and repU on these keys is 0. Other keys, other records: see unveil.key_sets.",
    ]
    if data is None and source.path is None:
        sentences.append("Columns are in the types that a pair keeps; give the frame as data= to keep its own.")
    figures = {"keys": list(study.keys), "n_remaining": n - n_removed}
    return records.kept(~flags), SdcReport(
        "drop_replicated_uniques", source.label, study.keys, n, n_removed, figures, tuple(sentences)
    )


def _check_keys(study: KeyedPair, release: int, records: GivenFile) -> None:
    """The records are removed by their position, so the frame must hold them in the pair's order."""
    for name in study.keys:
        column = study.pair.column(name)
        with warnings.catch_warnings():
            # Whatever can be said of the column was said when the pair was coded.
            warnings.simplefilter("ignore", UnveilWarning)
            again = Pair(study.pair.releases[release], records.source, kinds={name: column.kind}).column(name)
        differing = np.flatnonzero(again.original != again.releases[0])
        if len(differing):
            raise DataError(
                f"data is not {study.pair.labels[release]}: column {name!r} differs in record {int(differing[0]) + 1}; "
                "give the frame that the pair was made of, in its order"
            )
