"""The compiled library: what is said where it is missing, and what a loop is given."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from unveil.core import STRUCTS, loop

WITHOUT = """
import ctypes, sys
import numpy, pyarrow.compute
def refuse(*_): raise OSError("_loops: cannot open shared object file")
ctypes.CDLL = refuse
from unveil.cli import main
sys.argv = ["unveil", "synthesize", "survey.csv"]
main()
"""


def test_a_missing_library_is_said_in_one_line():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("unveil: the compiled loops of unveil are missing or of another system")
    assert done.stderr.count("\n") == 1


def test_loops_take_arrays_as_they_are():
    sort_by_code = loop("sort_by_code", int, np.int32, int, np.int64, np.int32)
    order, codes = np.empty(2, np.int32), np.zeros(4, np.int32)
    with pytest.raises(ctypes.ArgumentError, match="contiguous"):
        sort_by_code(2, codes[::2], 1, np.zeros(2, np.int64), order)
    with pytest.raises(ctypes.ArgumentError, match="array of int32, not of int64"):
        sort_by_code(2, codes.astype(np.int64), 1, np.zeros(2, np.int64), order)


def test_layouts_are_those_that_numpy_reads():
    for name in ("Node", "Known"):
        fields = np.dtype(STRUCTS[name]).fields
        assert {field: offset for field, (_, offset) in fields.items()} == {
            field: getattr(STRUCTS[name], field).offset for field, _ in STRUCTS[name]._fields_
        }
