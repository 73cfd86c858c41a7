"""R files."""

from __future__ import annotations

import importlib

import pyarrow as pa
import pytest

from unveil.errors import FileError, MissingPackageError
from unveil.microdata.files import open_source

pd = pytest.importorskip("pandas", reason="R files are read as pandas frames")
pyreadr = pytest.importorskip("pyreadr", reason="for R files")

FRAME = pd.DataFrame(
    {
        "f": pd.Categorical(["a", None, "b"], ["b", "a", "unused"]),
        "n": [1.5, None, 2.0],
        "i": pd.Series([1, 2, 3], dtype="int32"),
        "l": [True, False, True],
        "s": ["x", None, ""],
    }
)


@pytest.mark.parametrize("name", ["people.rds", "people.rda", "people.RData"])
def test_one_data_frame(tmp_path, name):
    path = tmp_path / name
    write = pyreadr.write_rds if name.endswith("rds") else pyreadr.write_rdata
    write(str(path), FRAME)
    source = open_source(path)
    assert source.names == ("f", "n", "i", "l", "s")
    assert source.flavour == "arrow"
    assert source.column("f").to_pylist() == ["a", None, "b"]
    assert source.variable("f").levels == ("b", "a", "unused")
    assert source.column("i").type == pa.int64()
    assert source.column("l").type == pa.bool_()
    assert source.column("n").to_pylist()[0] == 1.5


def test_several_objects_are_named(tmp_path, monkeypatch):
    path = tmp_path / "people.rda"
    pyreadr.write_rdata(str(path), FRAME)
    monkeypatch.setattr(pyreadr, "read_r", lambda _: {"one": FRAME, "two": FRAME})
    with pytest.raises(FileError, match=r"people\.rda: holds 'one', 'two'; save exactly one"):
        open_source(path)
    monkeypatch.setattr(pyreadr, "read_r", lambda _: {})
    with pytest.raises(FileError, match="holds no data frame"):
        open_source(path)


def test_what_is_no_r_file(tmp_path):
    path = tmp_path / "people.rds"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match=r"people\.rds: not an R file"):
        open_source(path)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = tmp_path / "people.rds"
    path.write_bytes(b"")

    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[files\]'"):
        open_source(path)
