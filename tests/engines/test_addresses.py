"""Addresses of file systems on the command line: they keep their slashes, and only Spark reads them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.cli.run import run
from unveil.errors import CallError
from unveil.files import spark_session
from unveil.files.addresses import Address, numbered, path_or_address

ADDRESSES = [
    "hdfs://office:8020/census.parquet",
    "s3a://bucket/census",
    "hdfs:///data/a.parquet",
    "abfss://c@a.net/d/*",
]


@pytest.mark.parametrize("written", ADDRESSES)
def test_an_address_keeps_its_slashes(written: str) -> None:
    path = path_or_address(written)
    assert isinstance(path, Address)
    assert (str(path), f"{path}", path.name) == (written, written, written.rpartition("/")[2])
    assert not path.exists()


def test_paths_stay_paths() -> None:
    for written in ("data//people.csv", "C:/people.csv", "a:b//c.csv", "people.csv"):
        assert not isinstance(path_or_address(written), Address)
        assert path_or_address(written) == Path(written)
    assert str(numbered(path_or_address("s3a://b/flags.parquet"), 1)) == "s3a://b/flags_1.parquet"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a call that fails says."""

    def call(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            run()
        assert ended.value.code
        return capsys.readouterr().err

    return call


@pytest.mark.parametrize("verb", ["identity", "rapid"])
def test_spark_gets_what_was_written(verb: str, told: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    class Read:
        def parquet(self, path: str) -> Any:
            given.append(path)
            if len(given) == len(ADDRESSES):
                raise CallError("enough")

    class Session:
        read = Read()

    monkeypatch.setattr(spark_session, "_session", lambda master: Session())
    monkeypatch.setattr(spark_session, "open_spark_frame", lambda frame, label: label)
    assert "enough" in told(verb, *ADDRESSES, "--keys", "sex", "--spark-master", "sc://office")
    assert given == ADDRESSES


def test_without_spark_an_address_is_refused(told: Callable[..., str]) -> None:
    found = told("identity", ADDRESSES[0], "release.parquet", "--keys", "sex")
    assert f"{ADDRESSES[0]}: Spark alone" in found
    assert "--spark-master" in found
    found = told("identity", "a.csv", "b.csv", "--keys", "sex", "--records", "s3a://b/flags.parquet")
    assert "s3a://b/flags.parquet: Spark alone" in found


def test_records_of_a_cluster_on_a_local_path(
    told: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(master: str) -> Any:
        raise CallError("no session")

    monkeypatch.setattr(spark_session, "_session", refused)
    words = ["identity", *ADDRESSES[:2], "--keys", "sex", "--records"]
    own, shared = str(tmp_path / "flags.parquet"), "hdfs://office/flags.parquet"
    cluster = ["--spark-master", "spark://o:7077"]
    assert "each worker writes its part to its own disk" in told(*words, own, *cluster)
    assert "own disk" not in told(*words, own, "--spark-master", "local[2]")
    assert "own disk" not in told(*words, shared, *cluster)
    assert "Spark writes Parquet" in told(*words, "s3a://b/flags.csv", *cluster)
