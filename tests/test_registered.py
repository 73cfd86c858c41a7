"""What other packages register: it is found by its name, listed with its package, and disturbs nothing if broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError, MissingPackageError
from unveil.files.write import write_table
from unveil.synthesis import synthesizer_by_name

CODE = """
from sklearn.tree import DecisionTreeClassifier

class Shuffled:
    flavour = "arrow"
    def __init__(self, offset=0):
        self.offset = offset
    def fit(self, frame):
        self.frame = frame
    def sample(self, n, seed):
        import random
        rows = random.Random(seed + self.offset).choices(range(len(self.frame)), k=n)
        return self.frame.take(rows)

ready = Shuffled(3)

def same(frame):
    return frame

shallow = DecisionTreeClassifier(max_depth=1, random_state=0)

class NeedsMore:
    def __init__(self, depth):
        pass
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Function that puts a package with entry points in front of all others, as pip would."""

    def installed(name: str, entries: str, code: str = CODE, version: str = "1.2") -> None:
        site = tmp_path / "site"
        about = site / f"{name}-{version}.dist-info"
        about.mkdir(parents=True)
        (site / f"{name}.py").write_text(code)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (about / "entry_points.txt").write_text(entries)
        monkeypatch.syspath_prepend(site)
        monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
        monkeypatch.delitem(sys.modules, name, raising=False)

    return installed


SYNTHESIZERS = "[unveil.synthesizers]\nshuffled = theirs:Shuffled\nready = theirs:ready\nsame = theirs:same\n"
PEOPLE = unveil.simulate.demo_population(80, seed=1)


def test_a_synthesizer_is_found_by_its_name(install: Install) -> None:
    install("theirs", SYNTHESIZERS)
    real = set(map(str, PEOPLE.to_pylist()))
    for name in ("shuffled", "ready", "same"):
        made = unveil.synthesize(PEOPLE, method=name, m=1, seed=1)
        assert made.schema == PEOPLE.schema
        assert set(map(str, made.to_pylist())) <= real
    assert unveil.synthesize(PEOPLE, method="shuffled", m=1, seed=1, offset=3).equals(
        unveil.synthesize(PEOPLE, method="ready", m=1, seed=1)
    )


def test_all_are_listed_with_the_package_that_they_come_from(install: Install) -> None:
    install("theirs", SYNTHESIZERS)
    found = unveil.synthesizers()
    rows = set(zip(found.names, found.packages, found.states, strict=True))
    assert {(name, "theirs 1.2", "ready") for name in ("shuffled", "ready", "same")} < rows
    assert ("cart", "unveil", "ready") in rows
    assert found.to_frame("arrow").num_rows == len(rows)
    assert "theirs 1.2" in str(found)
    assert not found.warnings


BROKEN = "import there_is_no_such_module\n"


def test_a_broken_package_is_one_line_and_disturbs_nothing(install: Install) -> None:
    install("theirs", SYNTHESIZERS)
    install("broken", "[unveil.synthesizers]\nmine = broken:Mine\n", BROKEN)
    found = unveil.synthesizers()
    said = "synthesizer 'mine' of the package broken 1.2 cannot be loaded (ModuleNotFoundError: No module named"
    assert found.states[found.names.index("mine")] == "cannot be used"
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(said)
    assert f"warning: {said}" in str(found)
    with pytest.raises(MissingPackageError, match=r"of the package broken .* cannot be loaded"):
        unveil.synthesize(PEOPLE, method="mine")
    assert unveil.synthesize(PEOPLE, method="same", m=1).to_pylist() == PEOPLE.to_pylist()


def test_names_that_are_taken(install: Install) -> None:
    install("theirs", "[unveil.synthesizers]\ncart = theirs:Shuffled\ntwice = theirs:same\n")
    install("others", "[unveil.synthesizers]\ntwice = others:same\n")
    found = unveil.synthesizers()
    assert "theirs 1.2 registers 'cart', which is a name of unveil; it is not used" in found.warnings
    assert isinstance(synthesizer_by_name("cart"), unveil.CartSynthesizer)
    with pytest.raises(CallError, match=r"'twice' is registered by several packages: others 1\.2, theirs 1\.2"):
        unveil.synthesize(PEOPLE, method="twice")


def test_wrong_settings_and_names(install: Install) -> None:
    install("theirs", SYNTHESIZERS)
    with pytest.raises(CallError, match="synthesizer 'shuffled': got an unexpected keyword argument 'depth'"):
        unveil.synthesize(PEOPLE, method="shuffled", depth=3)
    with pytest.raises(CallError, match="synthesizer 'ready' is not a class and takes no settings: leave out depth"):
        unveil.synthesize(PEOPLE, method="ready", depth=3)
    with pytest.raises(CallError, match="there is no 'shufled'; did you mean 'shuffled'"):
        unveil.synthesize(PEOPLE, method="shufled")


def test_what_unveil_can_call_and_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.synthesis import named

    monkeypatch.setattr(named, "find_spec", lambda name: None)
    found = unveil.synthesizers()
    assert found.states[found.names.index("sdv_ctgan")] == "not installed (licence BUSL-1.1)"
    with pytest.raises(MissingPackageError, match=r"'sdv_ctgan' needs the package sdv \(licence BUSL-1\.1\)"):
        unveil.synthesize(PEOPLE, method="sdv_ctgan")


def test_on_the_command_line(install: Install, tmp_path: Path) -> None:
    install("theirs", SYNTHESIZERS)
    install("broken", "[unveil.synthesizers]\nmine = broken:Mine\n", BROKEN)
    write_table(PEOPLE, tmp_path / "o.csv")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "unveil", *words], cwd=tmp_path, capture_output=True, text=True)

    done = call("synthesize", "o.csv", "-o", "s.csv", "-m", "1", "--synthesizer", "shuffled", "--settings", "offset=2")
    assert done.returncode == 0, done.stderr
    done = call("assess", "o.csv", "s.csv", "--keys", "sex", "--targets", "edu", "--measures", "identity",
                "--provenance", "s.provenance.json", "--budget", "5")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = call("membership", "o.csv", "--refit", "shuffled", "--settings", "offset=2", "--repeats", "1")
    assert done.returncode == 0, done.stderr
    done = call("privacy-loss", "o.csv", "--synthesizer", "shuffled", "--persons", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "a synthesizer whose likelihood is known" in done.stderr
    done = call("synthesizers")
    assert [line.split() for line in done.stdout.splitlines() if line.startswith("shuffled")] == [
        ["shuffled", "theirs", "1.2", "ready"]
    ]
    done = call("compare", "o.csv", "--synthesizer", "shuffled,mine", "--keys", "sex")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "of the package broken 1.2 cannot be loaded" in done.stderr


ATTACKERS = "[unveil.attackers]\nshallow = theirs:shallow\nneeds = theirs:NeedsMore\nrf = theirs:shallow\n"


def test_an_attacker_is_found_by_its_name(install: Install) -> None:
    from sklearn.tree import DecisionTreeClassifier

    install("theirs", ATTACKERS)
    pair = unveil.Pair(PEOPLE, unveil.simulate.demo_population(80, seed=2))
    options = {"target": "edu", "permutations": 0, "ceiling": False}
    named = unveil.rapid(pair, ["sex", "age"], attacker="shallow", **options)
    given = unveil.rapid(pair, ["sex", "age"], attacker=DecisionTreeClassifier(max_depth=1, random_state=0), **options)
    assert named.attackers == ("shallow",)
    assert named.rate == given.rate
    assert unveil.rapid(pair, ["sex", "age"], attacker=["rf", "shallow"], **options).attackers == ("rf", "shallow")
    for name, complaint in (("needs", "of the package theirs 1.2 cannot be made without settings"),
                            ("shalow", "did you mean 'shallow'")):  # fmt: skip
        with pytest.raises(CallError, match=complaint):
            unveil.rapid(pair, ["sex", "age"], attacker=name, **options)
    found = unveil.assess(pair, ["sex"], targets=["edu"], attacker="shallow", measures=["inference"], budget=5)
    assert found.to_dict()["scenario"]["attacker"] == "shallow"


def test_nothing_registered_is_looked_at_where_no_name_asks_for_it(install: Install) -> None:
    install("broken", "[unveil.synthesizers]\nmine = broken:Mine\n[unveil.attackers]\nmine = broken:Mine\n", BROKEN)
    table = pa.table({"a": [1, 2] * 20, "b": ["x", "y"] * 20})
    assert unveil.synthesize(table, m=1, seed=1).num_rows == 40
    assert "broken" not in sys.modules
