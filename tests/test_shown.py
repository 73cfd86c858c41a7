"""Names and levels that hold what commands a terminal: seen by their numbers, on every way to a reader."""

from __future__ import annotations

import json
import sys
import tomllib
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil.cli import main
from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilWarning
from unveil.files.schema import schema_text
from unveil.printable import one_line, printable

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

ESC, BEL, CSI, RLO, RLI, HIDDEN = "\x1b[31m", "\x07", "\x9b1m", "\u202e", "\u2067", "\u200b\U000e0041"
EVIL = f"a{ESC}{BEL}{CSI}{RLO}{RLI}{HIDDEN}\x7f\x08\rz"
COMMANDS = [chr(c) for c in (*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B)]
Run = Callable[..., tuple[int, str, str]]


def no_commands(text: str) -> bool:
    return not any(command in text for command in COMMANDS if command not in "\n\t")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in a folder with two files that are up to no good."""
    monkeypatch.chdir(tmp_path)
    rows = [["f", "30", "no"], ["m", "31", EVIL], ["f", "30", "no"], ["m", "52", "yes"]] * 4
    for name in ("o.csv", f"s{ESC}{RLO}.csv"):
        lines = [["sex", f"age{EVIL}", "ill"], *rows]
        Path(name).write_text("\n".join(",".join(f'"{field}"' for field in line) for line in lines) + "\n", newline="")

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        return status, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    "words",
    [
        ["identity", "--keys", f"sex,age{EVIL}", "--by", "ill"],
        ["identity", "--keys", f"sex,age{EVIL}", "--json", "-"],
        ["attribute", "--keys", f"sex,age{EVIL}", "--target", "ill", "--by", "ill"],
        ["attribute", "--keys", "sex", "--target", "ill", "--exclude-pairs", f"sex=f:{EVIL}x"],
        ["structure", "--keys", f"sex,age{EVIL}"],
        ["keysets", "--keys", f"sex,age{EVIL}", "--target", "ill"],
        ["utility"],
        ["rapid", "--keys", "sex", "--target", "ill", "--by", "ill"],
        ["identity", "--keys", f"no such{EVIL}"],
        ["identity", f"--no-such{EVIL}"],
        ["identity", "--keys", "sex", "--schema", f"none{EVIL}.toml"],
        ["identity", "--keys", "sex", "--records", f"out{ESC}.csv"],
        ["identity", "--keys", "sex", "--records", f"no{ESC}/out.csv"],
    ],
)
def test_nothing_commands_the_terminal(run: Run, words: list[str]):
    status, out, err = run(words[0], "o.csv", f"s{ESC}{RLO}.csv", *words[1:])
    assert status in (0, 1, 2, 3)
    assert no_commands(out)
    assert no_commands(err)
    assert out + err
    if words[-1] == "-":
        assert json.loads(out)["keys"] == ["sex", f"age{EVIL}"]


def test_files_that_are_not_there_and_levels_of_schemas(run: Run):
    _, out, err = run("identity", f"none{EVIL}.csv", "o.csv", "--keys", "sex")
    assert no_commands(err)
    assert err.count("\n") == 1
    _, out, _ = run("schema", f"s{ESC}{RLO}.csv")
    assert no_commands(out)
    columns = tomllib.loads(out)["columns"]
    assert list(columns) == ["sex", f"age{EVIL}", "ill"]
    assert EVIL in columns["ill"]["levels"]


def test_reports_show_them_by_their_numbers(run: Run):
    words = ("--keys", f"sex,age{EVIL}", "--targets", "ill", "--measures", "identity,attribute", "--budget", "5")
    documents = ("--html", "r.html", "--markdown", "r.md", "--no-release-safe")
    status, out, err = run("assess", "o.csv", f"s{ESC}{RLO}.csv", *words, *documents)
    assert status == 0, err
    assert no_commands(out + err)
    for name in ("r.html", "r.md"):
        text = Path(name).read_text(encoding="utf-8")
        assert no_commands(text), name
        assert "x1b" in text


def test_results_and_what_they_are_made_of_print_so_too():
    key, town = f"k{EVIL}", f"a{EVIL}"
    original = pa.table({"sex": ["f", "m"] * 10, key: [town, "b", "b", town] * 5, "ill": ["no", "yes", "no", "no"] * 5})
    release = unveil.read(original.slice(1), label=f"r{EVIL}")
    pair = unveil.Pair(original, release)
    attribute = unveil.attribute(pair, ["sex", key], target="ill")
    results = [
        pair,
        unveil.identity(pair, ["sex", key]),
        attribute,
        unveil.attribute(pair, ["sex"], targets=["ill", key]),
        attribute.cap_curve(),
        attribute.ladder(permutations=2, seed=1),
        unveil.structure(pair, ["sex", key]),
        unveil.key_sets(pair, ["sex", key], target="ill"),
        unveil.rapid(pair, ["sex", key], target="ill", attacker="cart", permutations=2, seed=1),
        unveil.utility(pair),
        unveil.CartSynthesizer().fit(original, seed=1).log_prob(original),
    ]
    for result in results:
        assert no_commands(str(result)), type(result)
        assert no_commands(repr(result)), type(result)
        assert r"\x1b[31m\x07\x9b1m\u202e" in str(result), type(result)
    assert no_commands(schema_text(unveil.read(original, label=f"o{EVIL}")))


def test_errors_and_warnings_are_one_line_in_python_too():
    said = f"{EVIL}\n.csv: no columns"
    for kind in (CallError, DataError, FileError, MissingPackageError):
        shown = "".join(traceback.format_exception_only(kind(said)))
        assert no_commands(shown)
        assert shown.count("\n") == 1
    shown = warnings.formatwarning(UnveilWarning(said), UnveilWarning, "file.py", 1, "")
    assert no_commands(shown)
    assert str(UnveilWarning(said)).count("\n") == 0
    assert UnveilWarning(said).text == said
    with pytest.raises(FileError) as caught:
        unveil.read(f"none{EVIL}.csv")
    assert no_commands(str(caught.value))


def test_texts_of_people_stay():
    for text in ("Zoë", "日本", "می\u200cخواهم", "👩\u200d🔬", "a\u00a0b", "שלום", "ا", "a\tb\nc", "–", "²"):
        assert printable(text) == text
    assert one_line("a\nb") == r"a\nb"
    assert len(one_line("x" * 10**6)) < 3000
