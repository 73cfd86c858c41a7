"""Remove the records of a release that replicate unique original records."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first, refuse_units
from unveil.errors import DataError, UnveilWarning
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport


@pair_first
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
    ``d_q = 1`` and ``s_q = 1`` are removed; then ``repU = 0`` on these keys (:func:`unveil.identity`). On other keys
    ``repU`` may be above 0, and somebody who knows that such records were removed can infer a unique person from a
    missing combination.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables, without groups (the limits of groups would change with the records).
    release
        Number of the release in the pair, from 0.
    data
        The frame of the release, if it is a frame: the result has its exact types. By default the result has the types
        of a pair: integers and doubles of 64 bits, and text.
    use_keys_na
        Whether combinations with a missing key count; one flag, or one per key.

    Returns
    -------
    frame
        The remaining records, in the same kind of frame; an Arrow table if the release is a file.
    SdcReport
        Report of the changes.

    Raises
    ------
    CallError
        If a key is unknown or repeated, or the release does not exist.
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
    refuse_units(pair, "drop_replicated_uniques")
    study = KeyedPair.of(pair, keys, use_keys_na=use_keys_na)
    source = pair.releases[study.release(release)]
    records = GivenFile.of(source if data is None else data)
    if records.source.num_rows != source.num_rows or records.source.names != source.names:
        raise DataError(f"data is not {source.label}: it has other columns or another number of records")
    if data is not None:
        _check_keys(study, release, records)
    d, by_release = study.combinations.counts()
    replicated = (d == 1) & (by_release[release] == 1) & study.counted
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
    """Raise an error unless the frame holds the records in the pair's order: they are removed by position."""
    for name in study.keys:
        column = study.pair.column(name)
        with warnings.catch_warnings():
            # The same warnings came when the pair was coded.
            warnings.simplefilter("ignore", UnveilWarning)
            again = Pair(study.pair.releases[release], records.source, kinds={name: column.kind}).column(name)
        differing = np.flatnonzero(again.original != again.releases[0])
        if len(differing):
            raise DataError(
                f"data is not {study.pair.labels[release]}: column {name!r} differs in record {int(differing[0]) + 1}; "
                "give the frame that the pair was made of, in its order"
            )
