"""Programs as synthesizers: what they are given, what becomes of their output, and what they cannot leave behind."""

from __future__ import annotations

import datetime
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError, DataError
from unveil.synthesis.adapters.command import CommandSynthesizer

PYTHON = shlex.quote(sys.executable)
RECORDS = {
    "text": ["a,b", 'say "x"', None, "two\nlines", "Zoë", "NA"],
    "digits": ["01", "02", "10", None, "3.0", "1e5"],
    "whole": pa.array([1, None, -8, 2**53 + 1, 0, 7], pa.int64()),
    "part": [0.1, None, -8.0, 1e-300, 3.0, 1 / 3],
    "flag": [True, False, None, True, True, False],
    "day": [datetime.date(2020, 1, 5), None, datetime.date(1899, 12, 31), *[datetime.date(2021, 3, 1)] * 3],
    "moment": pa.array([0, None, 1_000_001, 2, 3, 4], pa.timestamp("us")),
}
SHUFFLE = """
import csv, os, random, sys
given, made, seed = sys.argv[1:4]
with open(given, encoding="utf-8", newline="") as file:
    head, *rows = csv.reader(file)
random.seed(int(seed))
columns = [random.sample(column, len(column)) for column in zip(*rows)]
with open(made, "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([head, *zip(*columns)])
"""


def script(folder: Path, text: str, name: str = "make.py") -> str:
    """A command that runs a program with the two files and the seed."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return f"{PYTHON} {shlex.quote(str(path))} {{in}} {{out}} {{seed}}"


def copying(folder: Path) -> str:
    return script(folder, "import shutil, sys; shutil.copyfile(*sys.argv[1:3])", "copies.py")


def schema_of(frame: Any) -> str:
    """Names and types of the columns of any frame."""
    return str(frame.dtypes.to_dict() if hasattr(frame, "iloc") else frame.schema)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_kind_of_value_comes_back_as_it_went(form: str, make_frame: Any, tmp_path: Path) -> None:
    original = make_frame(RECORDS)
    made = unveil.synthesize(original, method=CommandSynthesizer(copying(tmp_path), format=form), m=1)
    assert type(made) is type(original)
    assert schema_of(made) == schema_of(original)
    before, after = unveil.read(original), unveil.read(made)
    for name in RECORDS:
        assert after.column(name).to_pylist() == before.column(name).to_pylist(), name


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_of_a_file_the_copies_are_files_like_it(ending: str, tmp_path: Path) -> None:
    from unveil.files.write import write_table

    write_table(pa.table(RECORDS), tmp_path / f"o.{ending}")
    call(tmp_path, "synthesize", f"o.{ending}", "-o", f"s.{ending}", "-m", "1", "--synthesizer-command",
         copying(tmp_path))  # fmt: skip
    for name in RECORDS:
        before, after = (unveil.read(tmp_path / f"{one}.{ending}").column(name).to_pylist() for one in "os")
        assert after == before, name
    assert '"method": "command"' in (tmp_path / "s.provenance.json").read_text()


def test_numbers_as_other_programs_write_them(tmp_path: Path) -> None:
    """R writes NA and TRUE, pandas 3.0 where a column has gaps."""
    text = "a,b,c\\nNA,TRUE,\\n3.0,F,NA\\n5,NA,x\\n"
    command = script(tmp_path, f"import sys; open(sys.argv[2], 'w').write('{text}')")
    original = pa.table({"a": [1, None, 2], "b": [True, False, None], "c": ["x", None, "y"]})
    made = CommandSynthesizer(command).fit(original).sample(3)
    assert made.to_pydict() == {"a": [None, 3, 5], "b": [True, False, None], "c": [None, None, "x"]}
    assert made.column("a").type == pa.int64()


def test_the_same_seed_gives_the_same_release(tmp_path: Path) -> None:
    people = unveil.simulate.demo_population(60, seed=1)
    fitted = CommandSynthesizer(script(tmp_path, SHUFFLE)).fit(people)
    assert fitted.sample(60, seed=3).equals(fitted.sample(60, seed=3))
    assert not fitted.sample(60, seed=3).equals(fitted.sample(60, seed=4))


LOOK = """
import json, os, stat, sys
modes = [stat.S_IMODE(os.stat(one).st_mode) for one in (os.path.dirname(sys.argv[1]), sys.argv[1])]
open("left_behind", "w").write("a record")
said = {"modes": modes, "here": os.getcwd(), "words": sys.argv[4:], "seed": [sys.argv[3], os.environ["UNVEIL_SEED"]],
        "temporary": os.environ["TMPDIR"]}
json.dump(said, open(os.environ["SAID"], "w"))
import shutil
shutil.copyfile(*sys.argv[1:3])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="modes and the folder of temporary files are those of POSIX")
def test_it_runs_in_a_folder_of_its_own_without_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.setenv("SAID", str(tmp_path / "said.json"))
    command = script(tmp_path, LOOK) + " '; touch injected' $HOME {n}"
    CommandSynthesizer(command).fit(pa.table({"a": [1, 2]})).sample(2, seed=7)
    said = json.loads((tmp_path / "said.json").read_text())
    assert said["modes"] == [0o700, 0o600]
    assert said["words"] == ["; touch injected", "$HOME", "2"]
    assert said["seed"] == ["7", "7"]
    assert Path(said["temporary"]).resolve() == Path(said["here"]).resolve()
    assert not Path(said["here"]).exists()


def test_a_program_beside_the_caller_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copying(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert CommandSynthesizer(f"{PYTHON} copies.py {{in}} {{out}}").fit(pa.table({"a": [1]})).sample(1).num_rows == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import sys; sys.stderr.write('first\\n  last one  \\n\\n'); sys.exit(7)", "exit status 7: last one$"),
        ("import sys; sys.exit(3)", "exit status 3: it wrote nothing to its standard error"),
        ("", "ended well and wrote no file {out}; let it write the release there$"),
        ("import sys; open(sys.argv[2], 'w')", "its output cannot be read: Empty CSV file"),
        ("import sys; open(sys.argv[2], 'w').write('b\\n1\\n2\\n')", "its output lacks the column 'a'"),
        (
            "import sys; open(sys.argv[2], 'w').write('a,b\\n1,x\\n')",
            "in place of 2; tell it the number by {n}",
        ),
        ("import sys; open(sys.argv[2], 'w').write('a,b\\n')", "made 0 records in place of 2"),
        ("import sys; open(sys.argv[2], 'w').write('a,b\\nold,x\\n1,y\\n')", "column 'a' of its output does not hold"),
        ("import sys; open(sys.argv[2], 'w').write('a,b,c\\n1,x,1\\n2,y,1\\n')", "has 'c', which the original has not"),
    ],
)
def test_what_goes_wrong_is_one_line_with_its_name(text: str, complaint: str, tmp_path: Path) -> None:
    original = pa.table({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(DataError, match=complaint) as caught:
        unveil.synthesize(original, method=CommandSynthesizer(script(tmp_path, text)), m=1)
    assert "make.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_script_that_is_not_there_is_named_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fitted = CommandSynthesizer(f"{PYTHON} nk.py {{in}} {{out}}").fit(pa.table({"a": [1]}))
    with pytest.raises(DataError, match=re.escape(f"; there is no file 'nk.py' in {tmp_path}") + "$"):
        fitted.sample(1)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("cp {in}", "lacks {out}, the file that it writes"),
        ("cp {out}", "lacks {in}, the file that it reads"),
        ("cp '{in} {out}", "No closing quotation"),
        ("", "lacks {in}"),
        ("{in} {out}", "lacks {in}"),
        (["cp", "{in}", "{out}"], "a command is a text"),
    ],
)
def test_commands_that_cannot_be(command: Any, complaint: str) -> None:
    with pytest.raises(CallError, match=complaint):
        CommandSynthesizer(command)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(CallError, match="there is no program 'no_such_program'; install it"):
        CommandSynthesizer("no_such_program {in} {out}").fit(pa.table({"a": [1]})).sample(1)
    with pytest.raises(CallError, match="fit it to records first"):
        CommandSynthesizer("cp {in} {out}").sample(1)
    with pytest.raises(CallError, match="format must be"):
        CommandSynthesizer("cp {in} {out}", format="xlsx")


WITH_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(os.environ["SAID"], "w").write(f"{child.pid} {os.getcwd()}")
time.sleep(60)
"""


def is_running(number: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ended(said: Path) -> bool:
    """Whether the child and the folder of a program are gone, at once or a moment later."""
    number, _, folder = said.read_text().partition(" ")
    for _ in range(100):
        if not is_running(int(number)) and not Path(folder).exists():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_what_takes_too_long_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAID", str(tmp_path / "said"))
    slow = CommandSynthesizer(script(tmp_path, WITH_CHILD), time_limit=1.5).fit(pa.table({"a": [1]}))
    with pytest.raises(DataError, match=r"took longer than 1\.5 s and was ended"):
        slow.sample(1)
    assert ended(tmp_path / "said")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_program_with_its_children(number: int, tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("a\n1\n2\n")
    words = [sys.executable, "-m", "unveil", "synthesize", "o.csv", "-o", "s.csv", "-m", "1", "--synthesizer-command",
             script(tmp_path, WITH_CHILD)]  # fmt: skip
    said = tmp_path / "said"
    caller = subprocess.Popen(words, cwd=tmp_path, env=os.environ | {"SAID": str(said)}, stderr=subprocess.PIPE)
    while caller.poll() is None and not (said.exists() and " " in said.read_text()):
        time.sleep(0.02)
    caller.send_signal(number)
    complaint = caller.communicate(timeout=20)[1].decode()
    assert "Traceback" not in complaint
    assert caller.returncode not in (0, 1)
    assert ended(said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["make.py", "o.csv", "said"]


def call(folder: Path, *words: str, status: int = 0) -> str:
    done = subprocess.run([sys.executable, "-m", "unveil", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from unveil.files.write import write_table

    made = tmp_path_factory.mktemp("command")
    write_table(unveil.simulate.demo_population(120, seed=1), made / "o.csv")
    script(made, SHUFFLE, "shuffle.py")
    return made


COMMAND = ("--synthesizer-command", f"{PYTHON} shuffle.py {{in}} {{out}} {{seed}}")


@pytest.mark.slow
def test_posterior_and_assessment_by_a_command(folder: Path) -> None:
    call(folder, "synthesize", "o.csv", "-o", "s.csv", "-m", "1", "--seed", "1", "--overwrite", *COMMAND)
    shown = call(folder, "posterior", "o.csv", "s.csv", "--target", "sex", "--rows", "3", "--replicates", "2", *COMMAND)
    assert "simulated" in shown
    shown = call(folder, "assess", "o.csv", "s.csv", "--keys", "sex,age", "--targets", "depress", "--measures",
                 "identity,membership", "--budget", "10", *COMMAND)  # fmt: skip
    assert "membership" in shown


def test_a_command_and_cart_on_one_map(folder: Path) -> None:
    import json

    text = call(folder, "compare", "o.csv", "--synthesizer", "cart", *COMMAND, "--keys", "sex,age", "--targets",
                "depress", "--m", "1", "--seed", "1", "--json", "-")  # fmt: skip
    points = {point["label"]: point for point in json.loads(text)["points"]}
    assert set(points) == {"cart", f"{Path(sys.executable).name} shuffle.py"}
    assert all(point["utilities"]["mean TVD"] for point in points.values())


MAKE = ("synthesize", "o.csv", "-o", "x.csv", "-m", "1")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("synthesize", "o.csv", "-o", "x.csv", "-m", "1", "--cp", "0.1", *COMMAND),
            "--cp is a setting of unveil's own",
        ),
        ((*MAKE, "--method", "no"), "there is no 'no'"),
        ((*MAKE, *COMMAND, *COMMAND), "two synthesizers are called"),
        (("compare", "o.csv", "--keys", "sex", "--settings", "a=1"), "--settings are those of one synthesizer"),
        (
            ("posterior", "o.csv", "o.csv", "--target", "sex", "--cp", "1", *COMMAND),
            "only cart has trees",
        ),
        (
            ("assess", "o.csv", "o.csv", "--keys", "sex", "--synthesizer", "crt"),
            "did you mean 'cart'",
        ),
    ],
)
def test_wrong_calls(words: tuple[str, ...], complaint: str, folder: Path) -> None:
    said = call(folder, *words, status=2)
    assert complaint in said
    lines = said.splitlines()
    assert [line for line in lines if not line.startswith("warning: o.csv is the original itself")] == lines[-1:]


RESAMPLE = """
words <- commandArgs(trailingOnly = TRUE)
set.seed(as.integer(words[3]))
people <- read.csv(words[1], check.names = FALSE, fileEncoding = "UTF-8")
made <- as.data.frame(lapply(people, sample, replace = TRUE), check.names = FALSE)
write.csv(made, words[2], row.names = FALSE, fileEncoding = "UTF-8")
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_a_program_of_r(tmp_path: Path) -> None:
    (tmp_path / "resample.R").write_text(RESAMPLE)
    people = unveil.simulate.demo_population(200, seed=1)
    command = f"Rscript --vanilla {shlex.quote(str(tmp_path / 'resample.R'))} {{in}} {{out}} {{seed}}"
    made = unveil.synthesize(people, method=CommandSynthesizer(command), m=1, seed=1)
    assert made.schema == people.schema
    for name in people.column_names:
        assert set(made.column(name).to_pylist()) <= set(people.column(name).to_pylist()), name
    with pytest.raises(DataError, match=r"Rscript --vanilla resample\.R.*exit status"):
        CommandSynthesizer(command.replace("{seed}", "none")).fit(people).sample(200)
