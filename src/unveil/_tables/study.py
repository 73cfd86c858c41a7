"""Make a study: an original and its releases seen through keys, where their records are counted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil._tables.counted_keys import CountedKeys
from unveil._tables.keyed_pair import Groups, KeyedPair
from unveil.columns.pair import Pair
from unveil.engines.key_range import Layout
from unveil.files.opening import open_source
from unveil.files.source import Source


def pair_of(given: Any) -> tuple[Pair, bool]:
    """The pair, or a file by itself as a pair with itself, and whether it is one."""
    if isinstance(given, Pair):
        return given, False
    source = open_source(given, label=None if isinstance(given, str | os.PathLike | Source) else "the file")
    return Pair(source, source.part(np.arange(source.num_rows), "the same file")), True


def study_of(
    pair: Pair,
    keys: str | Sequence[str],
    targets: str | Sequence[str] | None = (),
    *,
    ngroups_keys: Groups = None,
    use_keys_na: bool | Mapping[str, bool] = True,
) -> KeyedPair:
    """The keys of a pair, checked; with an engine all files are read once for keys and targets.

    Parameters
    ----------
    pair, keys, ngroups_keys, use_keys_na
        See :meth:`KeyedPair.of`.
    targets
        The targets that will be asked for; None for all other columns that every file has.

    Raises
    ------
    CallError
        If no key is given, one is given twice or unknown, or an option names a column that is not a key.
    DataError
        If a release lacks a key.
    """
    others: list[str] = []
    if pair.engine is not None:
        listed = _listed(keys)
        others = [name for name in pair.names if name not in listed] if targets is None else _listed(targets)
        pair.prepare(listed, others)
    study = KeyedPair.of(pair, keys, ngroups_keys=ngroups_keys, use_keys_na=use_keys_na)
    if pair.engine is None:
        return study
    if pair.engine_is_free and not _can_be_numbered(study, others):
        return KeyedPair.of(pair.in_memory, keys, ngroups_keys=ngroups_keys, use_keys_na=use_keys_na)
    return CountedKeys(pair, study.keys, study.columns, study.use_keys_na, study.ungrouped, engine=pair.engine)


def _can_be_numbered(study: KeyedPair, targets: Sequence[str]) -> bool:
    """Whether all combinations of the keys and any one target have numbers, as an engine needs them."""
    widest = max((study.pair.compared(name).n_levels for name in targets if name in study.pair.names), default=1)
    return Layout(tuple(c.n_levels for c in study.columns), (widest,), 1 + study.pair.n_releases).can_be_numbered


def _listed(names: str | Sequence[str]) -> list[str]:
    """Names that may be wrong still, as a list."""
    return [names] if isinstance(names, str) else [name for name in names or () if isinstance(name, str)]
