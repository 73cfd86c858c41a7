"""A Parquet file that is written again while a pair is open."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil


def test_a_file_that_was_changed_is_refused_and_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "survey.parquet"
    survey = unveil.simulate.demo_population(2000, seed=1)
    pq.write_table(survey, path)
    pair = unveil.Pair(path, survey)
    unveil.identity(pair, ["sex"])
    pq.write_table(pa.concat_tables([survey.slice(0, 10)]), path)
    with pytest.raises(unveil.FileError, match=r"survey\.parquet: the file was changed after it was opened"):
        unveil.identity(pair, ["sex", "age"])
