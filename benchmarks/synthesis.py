"""Sequential CART, fit and one copy, beside scikit-learn, synthpop and py-synthpop.

Seconds of synthpop 1.9-2 for the same files are recorded here; where Rscript has synthpop it is run. The Python package
py-synthpop (0.1.2) needs old versions of its dependencies (pandas and numpy below 2): ``--python-synthpop`` names an
interpreter that has it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from benchmarks.data import NUMBERS, SPECIAL, Data
from benchmarks.row import Measured, Row, Side, printed

REFERENCE = {"survey": (2.3, 2.5), "adult": (42.0, 44.0)}
INTERPRETER = "UNVEIL_PYTHON_SYNTHPOP"
PEER = """
import contextlib, io, json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas
from synthpop import Synthpop
path, types, special = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
frame = pandas.read_csv(path, keep_default_na=False, na_values=[""])[list(types)].astype(types)
start = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    synthesizer = Synthpop(cont_na=special)
    synthesizer.fit(frame, types)
    synthesizer.generate(len(frame))
print(time.process_time() - start)
"""
R = """
suppressMessages(library(synthpop))
arguments <- commandArgs(TRUE)
frame <- read.csv(arguments[1], na.strings = "", stringsAsFactors = TRUE)
special <- if (arguments[2] == "special") list(income = -8) else NULL
start <- sum(proc.time()[1:2])
invisible(syn(frame, seed = 1, print.flag = FALSE, cont.na = special))
cat(sum(proc.time()[1:2]) - start)
"""


def file_of(name: str, data: Data) -> tuple[str, dict[str, list[float]]]:
    """The path of a file, and its special codes."""
    return (data.survey(), SPECIAL) if name == "survey" else (data.adult()[0], {})


def cart(name: str, **options: Any) -> Side:
    """Fit and one copy, in one thread."""

    def ready(data: Data) -> Callable[[], Any]:
        from unveil.synthesis import CartSynthesizer

        path, special = file_of(name, data)
        table = as_table(path)
        return lambda: CartSynthesizer(special_codes=special, n_jobs=1, **options).fit(table).sample(seed=1)

    return ready


def as_table(path: str) -> Any:
    """A file as an Arrow table."""
    import pyarrow as pa

    import unveil

    source = unveil.read(path)
    return pa.table({name: source.column(name) for name in source.names if name != "number"})


def trees(path: Callable[[Data], str]) -> Side:
    """One tree of scikit-learn per column, grown on the codes of the columns before it."""

    def ready(data: Data) -> Callable[[], Any]:
        import numpy as np
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        import unveil

        table = as_table(path(data))
        pair = unveil.Pair(table, table.slice(0, 1))
        columns = [pair.column(name) for name in pair.names]
        codes = np.column_stack([column.original for column in columns]).astype(np.float32)

        def run() -> None:
            for j, column in enumerate(columns[1:], start=1):
                tree = (DecisionTreeRegressor if column.has_amounts else DecisionTreeClassifier)(min_samples_leaf=5)
                tree.fit(codes[:, :j], codes[:, j])

        return run

    return ready


def synthpop(name: str) -> Side:
    """The R package where it is installed, else the middle of what is recorded."""

    def ready(data: Data) -> Measured:
        path, special = file_of(name, data)
        program = shutil.which("Rscript")
        if program and not subprocess.run([program, "-e", "library(synthpop)"], capture_output=True).returncode:
            return printed([program, "-e", R, path, "special" if special else "none"], dict(os.environ))
        return Measured(sum(REFERENCE[name]) / 2, "recorded")

    return ready


def py_synthpop(name: str) -> Side:
    """The Python package, in an interpreter of its own."""

    def ready(data: Data) -> Measured:
        path, special = file_of(name, data)
        numeric = NUMBERS | {"income", "depress"} if name == "survey" else NUMBERS | {"education.num"}
        types = {column: "float" if column in numeric else "category" for column in as_table(path).column_names}
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [os.environ[INTERPRETER], "-c", PEER, path, json.dumps(types), json.dumps(special)]
        return printed(command, environment)

    return ready


def hundred_copies(data: Data) -> Callable[[], Any]:
    """Copies of a synthesizer that is fitted."""
    from unveil.synthesis import CartSynthesizer

    fitted = CartSynthesizer(special_codes=SPECIAL, n_jobs=1).fit(data.survey())
    return lambda: fitted.sample(m=100, seed=1)


def whole_survey(data: Data) -> Callable[[], Any]:
    """All columns of SD2011 in their own order."""
    from unveil.synthesis import CartSynthesizer

    table = as_table(data.whole_survey())
    return lambda: CartSynthesizer(n_jobs=1).fit(table).sample(seed=1)


def million(data: Data) -> Callable[[], Any]:
    """A million records, in all threads."""
    from unveil.synthesis import CartSynthesizer

    table = as_table(data.drawn(1_000_000, "parquet")[0])
    return lambda: CartSynthesizer().fit(table).sample(seed=1)


def _rows() -> list[Row]:
    rows = []
    for name, label in (("survey", "SD2011, 9 columns"), ("adult", "Adult, 15 columns")):
        own_trees = trees(lambda data, name=name: file_of(name, data)[0])
        rows += [
            Row("CART beside trees, 1 thread", label, cart(name), own_trees, "scikit-learn, a tree per column"),
            Row("CART beside synthpop, 1 thread", label, cart(name), synthpop(name), "synthpop (R)"),
            Row("CART beside py-synthpop, 1 thread", label, cart(name), py_synthpop(name), "py-synthpop",
                (INTERPRETER,)),
        ]  # fmt: skip
    return rows


ROWS = [
    *_rows(),
    Row("CART, all threads", "1 000 000 records of Adult", million,
        trees(lambda data: data.drawn(1_000_000, "parquet")[0]), "scikit-learn, a tree per column"),
    Row("CART, 100 copies after the fit", "SD2011, 9 columns", hundred_copies, cart("survey"), "fit and one copy"),
    Row("CART, own order", "SD2011, all columns", whole_survey),
]  # fmt: skip
