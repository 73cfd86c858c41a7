"""What is released by default cannot be repeated by anybody, and can be by whoever has the provenance file."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from packages import skip_where_it_cannot_be_written
from unveil import cli
from unveil.simulate import latner_population
from unveil.synthesis import CartSynthesizer, sdc, synthesize
from unveil.synthesis.methods.whole_file import CatallSynthesizer
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import rebuilt
from unveil.synthesis.synthetic_files import synthesize_files

PEOPLE = latner_population(1000, seed=0)
VARIABLES = PEOPLE.column_names
BEYOND_64_BITS = 2**100 + 7


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Function from arguments to what the command prints, on stdout and stderr."""

    def call(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", "synthesize", *map(str, arguments)])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Cyclopts application invoked without tokens")
            with suppress(SystemExit):
                cli.main()
        said = capsys.readouterr()
        return said.out, said.err

    return call


def written(tmp_path: Path, ending: str = "csv") -> Path:
    from unveil.files.write import write_table

    write_table(PEOPLE.slice(800), tmp_path / f"people.{ending}")
    return tmp_path / f"people.{ending}"


MAKERS = {
    "synthesize": lambda **seed: synthesize(PEOPLE, m=1, **seed),
    "a method for single variables": lambda **seed: synthesize(PEOPLE, method="sample", m=1, **seed),
    "catall": lambda **seed: synthesize(PEOPLE, method="catall", m=1, **seed),
    "dp_bayesnet": lambda **seed: synthesize(PEOPLE, method="dp_bayesnet", epsilon=None, noise_seed=1, m=1, **seed),
    "fit and sample": lambda **seed: CartSynthesizer(n_jobs=1).fit(PEOPLE, **seed).sample(**seed),
    "random fits": lambda **seed: CartSynthesizer(n_jobs=1, methods={"var4": "rf"}).fit(PEOPLE, **seed).sample(seed=1),
    "bootstrapped fits": lambda **seed: CartSynthesizer(n_jobs=1, proper=True).fit(PEOPLE).sample(**seed),
    "a table": lambda **seed: CatallSynthesizer().fit(PEOPLE).sample(**seed),
    "noise on amounts": lambda **seed: sdc.smooth(pa.table({"x": np.arange(50) ** 2}), "x", **seed)[0],
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_two_releases_differ_unless_the_seed_is_given(make):
    assert not make().equals(make())
    assert make(seed=3).equals(make(seed=3))
    assert make(seed=BEYOND_64_BITS).equals(make(seed=BEYOND_64_BITS))
    assert not make(seed=BEYOND_64_BITS).equals(make(seed=BEYOND_64_BITS + 1))


def worlds():
    """The original with each of the values that its last record may have."""
    known = PEOPLE.slice(0, 999)
    for values in product((0, 1), repeat=4):
        last = pa.table({name: pa.array([value], PEOPLE.schema.field(name).type) for name, value in zip(
            VARIABLES, values, strict=True)})  # fmt: skip
        yield values, pa.concat_tables([known, last])


def reproduced(release: pa.Table, **seed: int) -> list[tuple[int, ...]]:
    return [values for values, world in worlds() if synthesize(world, m=1, **seed).equals(release)]


def test_the_intruder_who_has_the_seed_reads_the_last_record_off_and_no_other_does():
    """All records but one, the order of the file and the settings are known, and all 16 values are tried."""
    (truth,) = ([PEOPLE.column(name)[999].as_py() for name in VARIABLES],)
    assert reproduced(synthesize(PEOPLE, m=1, seed=1), seed=1) == [tuple(truth)]
    release = synthesize(PEOPLE, m=1)
    for guess in range(5):
        assert reproduced(release, seed=guess) == []
    assert reproduced(release) == []


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "sav"])
def test_the_seed_stands_in_the_provenance_file_and_nowhere_else(tmp_path, ending, run):
    skip_where_it_cannot_be_written(ending)
    original, out = written(tmp_path, ending), tmp_path / "out"
    printed = run(original, "-o", out, "-m", 2)
    seed = read_provenance(out / "people_syn.provenance.json").seed
    assert seed > 2**63
    hidden = [str(seed).encode(), f"{seed:x}".encode(), seed.to_bytes(16, "little"), seed.to_bytes(16, "big")]
    places = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    places |= {"stdout": printed[0].encode(), "stderr": printed[1].encode()}
    holding = [name for name, content in places.items() if any(one in content for one in hidden)]
    assert holding == ["people_syn.provenance.json"]
    assert (out / "people_syn.provenance.json").stat().st_mode & 0o077 == 0
    assert "confidential" in json.loads((out / "people_syn.provenance.json").read_text())


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "sav", "dta"])
def test_the_provenance_file_makes_the_release_again_to_the_byte(tmp_path, ending):
    skip_where_it_cannot_be_written(ending)
    original = written(tmp_path, ending)
    synthesize_files(original, tmp_path / "one", m=2, k=70)
    found = read_provenance(tmp_path / "one" / "people_syn.provenance.json")
    synthesize_files(original, tmp_path / "two", m=found.m, k=found.k, seed=found.seed)
    for copy in (1, 2):
        files = [tmp_path / folder / f"people_syn{copy}.{ending}" for folder in ("one", "two")]
        if ending in ("csv", "parquet", "feather"):
            assert files[0].read_bytes() == files[1].read_bytes()
        assert unveil.read(files[0]).column("var4").to_pylist() == unveil.read(files[1]).column("var4").to_pylist()
    again = rebuilt(tmp_path / "one" / "people_syn.provenance.json", original)
    release = again.fit(original, seed=found.seed).sample(found.k, seed=found.seed)
    assert release.column("var3").to_pylist() == unveil.read(files[0].with_name(f"people_syn1.{ending}")).column(
        "var3").to_pylist()  # fmt: skip


def test_a_seed_on_the_command_line_is_called_confidential(tmp_path, run):
    original = written(tmp_path)
    out, err = run(original, "-o", tmp_path / "a", "-m", 1, "--seed", BEYOND_64_BITS)
    assert "seed is confidential" in err
    assert str(BEYOND_64_BITS) not in out + err
    assert read_provenance(tmp_path / "a" / "people_syn.provenance.json").seed == BEYOND_64_BITS
    assert "confidential" not in run(original, "-o", tmp_path / "b", "-m", 1)[1]


def test_releases_that_are_compared_come_from_secret_seeds():
    def figures(**seed):
        found = unveil.compare(
            PEOPLE, {"cart": CartSynthesizer(n_jobs=1)}, ["var1", "var2"], targets="var3", m=1, measures=["attribute"],
            **seed,
        )  # fmt: skip
        return found.to_dict()["points"]

    assert figures() != figures()
    assert figures(seed=4) == figures(seed=4)


def test_settings_in_a_report_hold_no_seed():
    from unveil.synthesis.settings import settings_of

    assert "noise_seed" not in settings_of(CatallSynthesizer(noise_seed=5))


@pytest.mark.parametrize("method", ["cart", "sample", "catall"])
def test_the_order_of_the_records_says_nothing_of_the_originals(method):
    """As many records as the original; how often record i of the release is record i of the original, of 400 kinds."""
    original = pa.table({"a": np.arange(400) // 20, "b": np.arange(400) % 20})
    original = original.take(pa.array(np.random.default_rng(1).permutation(400)))
    options = {"prior": 0} if method == "catall" else {}
    releases = synthesize(original, method=method, m=25, seed=2, **options)
    same = sum(
        np.count_nonzero(release.column("a").to_numpy() == original.column("a").to_numpy()) for release in releases
    )
    # 1 of 20 by chance: 500 of 10000, standard deviation 22.
    assert abs(same - 500) < 5 * 22
