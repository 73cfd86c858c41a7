"""A file and its twin, the same records written otherwise: the same figures, or a note."""

from __future__ import annotations

import csv
import datetime
import gzip
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import DataError

Records = dict[str, list[Any]]
HAS_PANDAS = bool(importlib.util.find_spec("pandas"))
HAS_PACKAGES = HAS_PANDAS and bool(importlib.util.find_spec("pyreadstat"))
EXTRA = {"child": {0: "none", 1: "one", 2: "2", 3: "3 or more"}}


def _text(value: Any, decimal: str = ".", days: str = "%Y-%m-%d", truths: Sequence[str] = ("TRUE", "FALSE")) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return truths[0] if value else truths[1]
    if isinstance(value, datetime.date):
        return value.strftime(days)
    return str(value).replace(".", decimal) if isinstance(value, float) else str(value)


def _delimited(
    name: str, delimiter: str = ",", encoding: str = "utf-8", quoting: int = csv.QUOTE_MINIMAL, **how: Any
) -> Callable[[Records, Path], Any]:
    def write(records: Records, folder: Path) -> Path:
        path = folder / name
        opened = gzip.open if name.endswith(".gz") else open
        with opened(path, "wt", encoding=encoding, newline="") as file:
            rows = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n")
            rows.writerow(records)
            for row in zip(*records.values(), strict=True):
                rows.writerow([_text(value, **how) for value in row])
        return path

    return write


def _arrow(write: Callable[[pa.Table, Path], Any] | None, name: str, **types: pa.DataType) -> Callable[..., Any]:
    def written(records: Records, folder: Path) -> Any:
        table = pa.table({n: pa.array(v, types[n]) if n in types else pa.array(v) for n, v in records.items()})
        if write is None:
            return table
        write(table, folder / name)
        return folder / name

    return written


def _pandas(how: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda records, folder: how(pa.table({n: pa.array(v) for n, v in records.items()}).to_pandas())


def _categorical(frame: Any) -> Any:
    return frame.assign(child=frame["child"].astype("category"), town=frame["town"].astype("category"))


def _package(ending: str, labels: dict[str, dict[int, str]] | None = None) -> Callable[..., Any]:
    def write(records: Records, folder: Path) -> Path:
        import pandas as pd
        import pyreadstat

        path = folder / f"people{ending}"
        frame = pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in records.items()})
        frame = frame.assign(
            child=frame["child"].astype(float), income=frame["income"].astype(float), ill=frame["ill"].astype(float)
        )
        writer = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
        writer(frame, str(path), variable_value_labels=labels or {})
        return path

    return write


def _labelled(records: Records, folder: Path) -> Any:
    words = [None if code is None else EXTRA["child"][code] for code in records["child"]]
    return pa.table({n: pa.array(words if n == "child" else v) for n, v in records.items()})


FORMS: dict[str, Callable[..., Any]] = {
    "table": _arrow(None, ""),
    "narrow table": _arrow(None, "", child=pa.int8(), income=pa.float64(), born=pa.date64()),
    "dictionaries": _arrow(None, "", town=pa.dictionary(pa.int8(), pa.string())),
    "parquet": _arrow(pq.write_table, "people.parquet"),
    "feather": _arrow(feather.write_feather, "people.feather"),
    "csv": _delimited("people.csv"),
    "quoted csv": _delimited("people.csv", quoting=csv.QUOTE_ALL),
    "csv of R": _delimited("people.csv", quoting=csv.QUOTE_NONNUMERIC, truths=("T", "F")),
    "packed csv": _delimited("people.csv.gz"),
    "tsv": _delimited("people.tsv", "\t"),
    "bar": _delimited("people.txt", "|", truths=("true", "false")),
    "windows": _delimited("people.csv", ";", "cp1252"),
    "utf-16": _delimited("people.csv", ",", "utf-16"),
    "marked": _delimited("people.csv", ",", "utf-8-sig"),
    "german": _delimited("people.csv", ";", decimal=",", days="%d.%m.%Y"),
    "american": _delimited("people.csv", days="%m/%d/%Y", truths=("yes", "no")),
    "labels": _labelled,
}
if HAS_PANDAS:
    FORMS |= {
        "pandas": _pandas(lambda frame: frame),
        "nullable pandas": _pandas(lambda frame: frame.convert_dtypes()),
        "categories": _pandas(_categorical),
        "objects": _pandas(lambda frame: frame.astype(object)),
    }
if HAS_PACKAGES:
    FORMS |= {".sav": _package(".sav"), ".dta": _package(".dta"), "labelled .sav": _package(".sav", EXTRA)}

REASONS = ("nothing can match", "'town': 'NA' read as a gap", "beside dates", "hold values that no record of")
"""Of figures that differ: what no program could know, and says. A file in which all towns are NA has none."""

TOWNS = ["Köln", "Aachen", "NA", " Bonn", "a,b;c|d", 'the "old" town', "7th", "Íslá"]
RECORD = st.fixed_dictionaries(
    {
        "child": st.integers(0, 3),
        "income": st.none() | st.sampled_from([0.5, 1.25, -3.0, 1000.75, 1e6]),
        "town": st.sampled_from(TOWNS),
        "born": st.sampled_from([datetime.date(1942, 4, 13), datetime.date(2000, 1, 2), datetime.date(1999, 12, 31)]),
        "ill": st.booleans(),
    }
)


def _columns(records: list[dict[str, Any]]) -> Records:
    return {name: [record[name] for record in records] for name in records[0]}


def _measured(original: Any, release: Any) -> tuple[list[Any], list[str]]:
    """Figures of several keys and targets, and all that is said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            schema = {"child": unveil.Variable("child", labels=EXTRA["child"])}
            pair = unveil.Pair(unveil.read(original, schema=schema), release)
            results = [unveil.identity(pair, ["child", "town", "born"])]
            for keys, target in ((["child", "born"], "income"), (["town", "income"], "ill"), (["ill"], "child")):
                results.append(unveil.attribute(pair, keys, target=target))
        except DataError as error:
            return [], [str(error)]
    said = [str(one.message) for one in caught] + [text for result in results for text in result.warnings]
    return [dict(result.releases[0]) for result in results], said


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    original=st.lists(RECORD, min_size=5, max_size=14).map(_columns),
    release=st.lists(RECORD, min_size=5, max_size=14).map(_columns),
    forms=st.tuples(st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(FORMS))),
)
def test_a_twin_gives_the_same_figures_or_says_so(original: Records, release: Records, forms: Any, tmp_path: Path):
    folders = tmp_path / "original", tmp_path / "release"
    for folder in folders:
        folder.mkdir(exist_ok=True)
    right, _ = _measured(FORMS["table"](original, folders[0]), FORMS["table"](release, folders[1]))
    found, said = _measured(FORMS[forms[0]](original, folders[0]), FORMS[forms[1]](release, folders[1]))
    assert _same(found, right) or any(reason in text for text in said for reason in REASONS), (forms, found, right)


def _same(found: list[Any], right: list[Any]) -> bool:
    return len(found) == len(right) and all(
        one == pytest.approx(other, nan_ok=True) for one, other in zip(found, right, strict=True)
    )


@pytest.mark.parametrize("form", sorted(FORMS))
def test_each_form_meets_the_plain_table(form: str, tmp_path: Path):
    """With every value in it, each form is read as what it is, whatever is said."""
    records = _columns(
        [
            {"child": i % 4, "income": [0.5, 1.25, -3.0, 1000.75, 1e6, None][i % 6], "town": TOWNS[i % 8],
             "born": datetime.date(1942 + i, 1 + i % 12, 13 + i % 5), "ill": i % 3 == 0}
            for i in range(24)
        ]
    )  # fmt: skip
    release = {name: values[6:] + values[:3] for name, values in records.items()}
    table = FORMS["table"]
    right, _ = _measured(table(records, tmp_path), table(release, tmp_path))
    assert _same(_measured(table(records, tmp_path), FORMS[form](release, tmp_path))[0], right)
    assert _same(_measured(FORMS[form](records, tmp_path), table(release, tmp_path))[0], right)
