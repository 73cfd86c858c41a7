"""The files that are measured: the reference data, or simulated files in their place.

The folder of reference data is ``$UNVEIL_SHARED``, or ``shared`` beside the project. Files are made in processes of
their own: the process that is measured only reads them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data"
PIECE = 5_000_000
"""Number of records that are drawn at a time."""
SURVEY_KEYS = ["sex", "age", "region", "placesize"]
SPECIAL = {"income": [-8]}
CENSUS = {
    "age": 74, "workclass": 9, "fnlwgt": 28_523, "education": 16, "marital.status": 7, "occupation": 15,
    "relationship": 6, "race": 5, "sex": 2, "capital.gain": 123, "capital.loss": 99, "hours.per.week": 96,
    "native.country": 42, "income": 3,
}  # fmt: skip
"""Columns that Adult and its release share, and their numbers of levels."""
NUMBERS = {"age", "fnlwgt", "capital.gain", "capital.loss", "hours.per.week"}


def have_reference() -> bool:
    """Whether the reference data are there."""
    return (SHARED / "adult.csv.gz").exists() and (SHARED / "sd2011_9.csv").exists()


@dataclass(frozen=True)
class Data:
    """Paths of files, made in a folder when they are asked for.

    Parameters
    ----------
    folder
        Where files are made.
    """

    folder: Path

    def survey(self) -> str:
        """SD2011, nine columns."""
        if have_reference():
            return str(SHARED / "sd2011_9.csv")
        return self._made("survey.csv", _write_survey)

    def survey_release(self) -> str:
        """A release of it that the package makes."""
        original = self.survey()
        return self._made("survey_release.csv", _write_survey_release, original)

    def whole_survey(self) -> str:
        """SD2011 with all columns; without the reference data the nine."""
        return str(SHARED / "sd2011.csv") if have_reference() else self.survey()

    def adult(self) -> tuple[str, str]:
        """Adult and its release."""
        if have_reference():
            return str(SHARED / "adult.csv.gz"), str(SHARED / "adult_syn.csv.gz")
        first, second = (self._made(f"adult{i}.csv", _write_census, i) for i in range(2))
        return first, second

    def drawn(self, n: int, ending: str) -> tuple[str, str]:
        """Records of Adult and of its release drawn with replacement; their ``fnlwgt`` is in ``number`` once more."""
        first, second = (
            self._made(f"drawn{i}_{n}.{ending}", _write_drawn, path, n, i) for i, path in enumerate(self.adult())
        )
        return first, second

    def _made(self, name: str, write: Callable[..., None], *arguments: Any) -> str:
        """The path of a file, written by a process of its own if it is not there."""
        path = str(self.folder / name)
        if not os.path.exists(path):
            process = get_context("spawn").Process(target=write, args=(path, *arguments))
            process.start()
            process.join()
            if process.exitcode:
                raise RuntimeError(f"{name} could not be made")
        return path


def _write_survey(path: str) -> None:
    import unveil
    from unveil.files.write import write_table

    write_table(unveil.simulate.demo_population(5000, seed=1), path)


def _write_survey_release(path: str, original: str) -> None:
    command = [sys.executable, "-m", "unveil.cli", "synthesize", original, "-o", path, "-m", "1", "--seed", "1"]
    subprocess.run([*command, "--special-codes", "income=-8"], check=True, capture_output=True)


def _write_census(path: str, seed: int, n: int = 48_842) -> None:
    """Columns like those of Adult, which share a latent variable."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(seed)
    latent = rng.normal(size=n)
    columns = {}
    for name, levels in CENSUS.items():
        place = (latent + 2 * rng.normal(size=n)) / 10 + 0.5
        level = np.clip(place * levels, 0, levels - 1).astype(int)
        columns[name] = pa.array(level if name in NUMBERS else np.char.add("level ", level.astype(str)))
    pyarrow.csv.write_csv(pa.table(columns), path)


def _write_drawn(path: str, source: str, n: int, seed: int) -> None:
    """Numbers in ``number`` are drawn by themselves: with them keys single out records, however many there are."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, include_columns=list(CENSUS))
    table = pyarrow.csv.read_csv(source, convert_options=options)
    rng = np.random.default_rng(seed)
    is_text = path.endswith("csv")
    schema = table.schema.append(pa.field("number", table.schema.field("fnlwgt").type))
    open_file: Any = pyarrow.csv.CSVWriter if is_text else pyarrow.parquet.ParquetWriter
    with open_file(path, schema) as file:
        for start in range(0, n, PIECE):
            size = min(PIECE, n - start)
            rows, others = (pa.array(rng.integers(0, len(table), size)) for _ in range(2))
            drawn = table.take(rows).append_column("number", table["fnlwgt"].take(others))
            file.write_table(drawn.cast(schema))
