"""Every verb at the coarseness of the release: the same document as of two files that are coarsened by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
PARTS = {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
HIERARCHIES = """
[region]
n1 = "north"
n2 = "north"
s1 = "south"
s2 = "south"

[age]
"0-39" = [0, 40]
"40-89" = [40, 90]
"""


def people(seed: int, n: int = 90) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, n)
    return pa.table(
        {
            "region": rng.choice(list(PARTS), n),
            "age": age,
            "pay": rng.integers(0, 400, n) + 10 * age,
            "ill": np.where(rng.random(n) < 0.1 + age / 120, "yes", "no"),
        }
    )


def coarse(table: pa.Table) -> pa.Table:
    return table.set_column(0, "region", pa.array([PARTS[one] for one in table["region"].to_pylist()])).set_column(
        1, "age", pa.array(["0-39" if one < 40 else "40-89" for one in table["age"].to_pylist()])
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Fine files with their hierarchies; the same files coarsened by hand. The release is the same."""
    folder = tmp_path_factory.mktemp("coarse")
    release = unveil.CartSynthesizer().fit(coarse(people(1))).sample(seed=3)
    for name, made in (("fine", lambda table: table), ("by_hand", coarse)):
        (folder / name).mkdir()
        for file, table in (("o.csv", made(people(1))), ("h.csv", made(people(2))), ("s.csv", release)):
            pyarrow.csv.write_csv(table, folder / name / file)
    (folder / "fine" / "h.toml").write_text(HIERARCHIES, encoding="utf-8")
    return folder / "fine", folder / "by_hand"


def without_files(document: Any) -> Any:
    """A document without what is said of the files themselves, seconds, and figures that are rounded at random."""
    if isinstance(document, list):
        return [without_files(one) for one in document]
    if not isinstance(document, dict):
        return document
    left_out = ("provenance", "hierarchies", "seconds", "public_summary")
    return {name: without_files(one) for name, one in document.items() if name not in left_out}


CALLS = [
    "identity o.csv s.csv --keys region,age",
    "attribute o.csv s.csv --keys region,age --target ill",
    "structure o.csv s.csv --keys region,age",
    "keysets o.csv s.csv --keys region,age --target ill",
    "anonymity o.csv s.csv --keys region,age --targets ill",
    "population o.csv s.csv --keys region,age,pay --ngroups-keys pay=8 --population 900",
    "rapid o.csv s.csv --keys region,age --target ill --attacker cart --permutations 3",
    "utility o.csv s.csv",
    "posterior o.csv s.csv --target ill --rows 0:15",
    "membership o.csv s.csv --holdout h.csv --holdout-unseen",
    "membership o.csv s.csv --holdout h.csv --exact swap --sample 8",
    "partial-knowledge o.csv s.csv --target ill --records-known 1,0.9 --sample 6 --sweeps 40 --most-sweeps 40 --sets 1",
    "privacy-loss o.csv s.csv --persons 6 --curves 2 --releases 5",
    "assess o.csv s.csv --keys region,age --targets ill --measures identity,attribute,structure,utility "
    "--no-release-safe",
    "compare o.csv s.csv --keys region,age --targets ill --seed 1",
]


@pytest.mark.parametrize("call", CALLS, ids=[" ".join(one.split()[::5]) for one in CALLS])
def test_a_verb_gives_the_document_of_files_that_are_coarsened_by_hand(
    call: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for folder, more in zip(folders, (["--hierarchies", "h.toml"], []), strict=True):
        monkeypatch.chdir(folder)
        status, out, err = called([*call.split(), *more, "--json", "-"], monkeypatch, capsys)
        assert status == 0, err
        found.append(without_files(json.loads(out)))
    assert found[0] == found[1]


REFUSED = {
    "anonymity o.csv --keys region": "--hierarchies needs a release too",
    "population o.csv --keys region --population 900": "--hierarchies needs a release too",
    "privacy-loss o.csv --persons 5": "--hierarchies needs a release",
    "membership o.csv --refit cart": "those of --refit are as fine as the original",
    "tune o.csv --keys region --policy p.toml": "hierarchies: the releases that are tried are as fine as the original",
}


@pytest.mark.parametrize("call", REFUSED)
def test_where_there_is_no_coarseness_of_a_release_one_line_says_so(
    call: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folders[0])
    limits = '[[rule]]\nmeasure = "repU"\nlimit = 20\n'
    Path("p.toml").write_text(limits, encoding="utf-8")
    status, _, err = called([*call.split(), "--hierarchies", "h.toml"], monkeypatch, capsys)
    assert (status, err.count("\n")) == (2, 1)
    assert REFUSED[call] in err


def test_the_report_says_which_hierarchies_were_used(folders: tuple[Path, Path]) -> None:
    fine = folders[0]
    pair = unveil.Pair(fine / "o.csv", fine / "s.csv", hierarchies=fine / "h.toml")
    found = unveil.assess(pair, ["region", "age"], targets="ill", measures=["identity"])
    assert pair.coarsened == {"region": ("north", "south"), "age": ("0-39", "40-89")}
    assert found.to_dict()["scenario"]["hierarchies"] == ["region", "age"]
    whole = unveil.assess(pair, ["region", "age"], targets="ill", measures=["identity"], release_safe=False)
    assert whole.to_dict()["scenario"]["hierarchies"]["age"] == ["0-39", "40-89"]
    assert "--hierarchies hierarchies.toml" in whole.to_html()
    assert (
        "--hierarchies"
        not in unveil.assess(
            unveil.Pair(fine / "s.csv", fine / "s.csv"), ["region"], targets="ill", measures=["identity"]
        ).to_html()
    )
