"""What the help of every verb says, and the switches that every verb takes."""

from __future__ import annotations

import itertools
import re
import shlex
import sys

import pyarrow as pa
import pyarrow.csv
import pytest

from unveil.cli import main
from unveil.cli.assess import grid_of
from unveil.cli.run import VERBS, app, without_switches


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    ages = pa.table({"age": [21, 22, 22, 40], "sex": ["f", "m", "m", "f"], "ill": ["a", "b", "b", "b"]})
    for name in ("o.csv", "s.csv"):
        pyarrow.csv.write_csv(ages, name)

    def called(*words):
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    return called


@pytest.mark.parametrize("verb", VERBS)
def test_help_lists_every_option_and_ends_with_an_example(call, verb):
    status, out, _ = call(verb, "--help")
    assert status == 0
    assert max(len(line) for line in out.splitlines()) <= 80
    joined = "".join(line.strip("│ ") for line in out.splitlines())
    for argument in app[verb].assemble_argument_collection():
        name = argument.names[0] if argument.names else argument.name
        if argument.show:
            assert name.lstrip("-").upper() in joined.upper(), name
    head, example = out.rsplit("Example:", 1)
    without = ("demo", "serve", "schema", "synthesizers", "conformance", "report", "json-schema")
    assert head.count("╭─ Files") == (verb not in without)
    words = shlex.split(example)
    assert words[:2] == ["unveil", verb]


@pytest.mark.parametrize("verb", VERBS)
def test_lines_of_the_help_end_where_the_next_word_has_no_room(call, verb):
    _, out, _ = call(verb, "--help")
    for line, following in itertools.pairwise(out.splitlines()):
        if following.startswith("│" + 15 * " "):
            text, word = line.rstrip(" │"), following.strip("│ ").split(" ")[0]
            assert len(text) + len(" ") + len(word) > len("│") + 77, line


@pytest.mark.parametrize("verb", VERBS)
def test_a_shell_takes_the_lines_of_an_example_for_one(call, verb):
    example = call(verb, "--help")[1].rsplit("Example:\n", 1)[1].rstrip("\n")
    assert all(line == line.rstrip() for line in example.splitlines())
    assert shlex.split(example.replace("\\\n", "")) == shlex.split(f"unveil {verb} {VERBS[verb][-1]}")


@pytest.mark.parametrize("verb", VERBS)
def test_an_option_is_not_broken_nor_parted_from_its_value_in_an_example(call, verb):
    out = call(verb, "--help")[1]
    for argument in app[verb].assemble_argument_collection():
        for name in argument.names if argument.show else ():
            assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", out, re.IGNORECASE), name
    for line in out.rsplit("Example:\n", 1)[1].splitlines():
        assert not line.endswith("\\") or not line.split()[-2].startswith("-")


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_of_a_verb_can_be_called(verb):
    command, bound, _ = app.parse_args([verb, *shlex.split(VERBS[verb][-1])], print_error=False, exit_on_error=False)
    assert command.__name__ == verb.replace("-", "_")
    assert bool(bound.arguments) == bool(VERBS[verb][-1])


def test_the_grid_of_the_example_is_understood():
    words = shlex.split(VERBS["compare"][-1])
    assert grid_of([words[words.index("--grid") + 1]]) == {"minbucket": [5, 20]}


def test_verbs_come_in_the_order_of_work(call):
    out = call("--help")[1]
    places = [out.index(f"│ {verb} ") for verb in VERBS]
    assert places == sorted(places)
    assert out.index("╭─ Begin") < out.index("╭─ One measure") < out.index("╭─ All measures") < out.index("╭─ Other")


@pytest.mark.filterwarnings("ignore:.*")
def test_quiet_calls_show_results_and_errors_alone(call):
    words = ("identity", "o.csv", "s.csv", "--keys", "age,sex")
    loud, quiet = call(*words), call("-q", *words)
    assert quiet[1] == loud[1]
    assert quiet[2] == ""
    status, out, err = call("identity", "--quiet", "o.csv", "none.csv", "--keys", "age")
    assert (status, out) == (1, "")
    assert err.startswith("unveil: none.csv")
    assert call(*words) == loud


def test_switches_are_no_words_of_a_verb():
    assert without_switches(["-v", "demo", "--quiet"]) == (["demo"], True, True)
    assert without_switches(["keysets", "--", "-q"]) == (["keysets", "--", "-q"], False, False)
