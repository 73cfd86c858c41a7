"""Rules in an assessment: who breaks them, the original beside, and what of them may be published."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from command_line import called
from unveil.show.report.arrange import command

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
# 100 persons, of whom three are widows and nobody below 20 is married.
PEOPLE = pa.table(
    {
        "sex": ["f", "m"] * 50,
        "age": [18] * 20 + [30] * 40 + [60] * 37 + [70] * 3,
        "marital": ["single"] * 20 + ["married"] * 77 + ["widowed"] * 3,
        "gross": [10] * 50 + [20] * 50,
        "net": [8] * 50 + [16] * 49 + [17],
    }
)
GROWN = "age >= 20 or marital == 'single'"
WIDOWED = "not (marital == 'widowed' and age < 60)"
TAXED = "net <= gross"
HALF = "net >= gross * 0.85"
RULES = [GROWN, WIDOWED, TAXED, HALF]


def with_column(table: pa.Table, name: str, values: list[object]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


# Of the first release 5 of 100 below 20 are married; of the second, which has 50 records, 1 is widowed at 30.
FIRST = with_column(PEOPLE, "marital", ["married"] * 5 + PEOPLE["marital"].to_pylist()[5:])
SECOND = with_column(
    PEOPLE.slice(0, 50), "marital", [*PEOPLE["marital"].to_pylist()[:49], "widowed"]
)  # fmt: skip
PAIR = unveil.Pair(PEOPLE, [FIRST, SECOND])


def assessed(**options: object) -> unveil.Assessment:
    given = {"targets": "marital", "measures": ["structure"], "rules": RULES, "release_safe": False}
    return unveil.assess(PAIR, ["sex", "age"], **(given | options))


def rows_of(document: dict) -> list[dict]:
    return document["plausibility"]["rules"]


def test_the_figures_are_those_counted_by_hand() -> None:
    document = assessed().to_dict()
    grown, widowed, taxed, half = rows_of(document)
    assert [row["rule"] for row in rows_of(document)] == RULES
    assert grown["columns"] == ["age", "marital"]
    assert (grown["broken"], grown["share"]) == ([5, 0], [0.05, 0])
    assert (widowed["broken"], widowed["share"]) == ([0, 1], [0, 0.02])
    assert (grown["broken_original"], grown["share_original"]) == (0, 0)
    assert taxed["broken"] == [0, 0]
    # 8 of 10 and 16 of 20 are below 85 percent, 17 of 20 is not.
    assert (half["broken_original"], half["share_original"]) == (99, 0.99)
    # (18, married) of the first release, (30, widowed) of the second.
    assert (grown["new_combinations"], grown["share_new"]) == ([1, 1], [0.05, 0.02])
    assert half["new_combinations"] == [0, 0]
    assert document["plausibility"]["in_short"] == (
        f"Released records break 2 rules that every original record keeps; most often '{GROWN}', broken by 5 of 150."
    )
    assert document["plausibility"]["in_short"] in document["summary"]
    # Any rule: 99 or 100 of the first release, 50 of the second, 99 of the original.
    said = document["plausibility"]["sentence"]
    assert said.endswith("; of 100 original records, 99.0.")
    assert "break at least one of the 4 rules" in said
    assert [(p["name"], p["status"]) for p in document["parts"]][-1] == ("plausibility", "done")


def test_for_publication_the_original_is_rounded_and_rare_values_are_not_named() -> None:
    whole = assessed()
    safe = json.loads(assessed(release_safe=True).to_json())
    grown, widowed, taxed, half = rows_of(safe)
    # Three widows are fewer than ten, and a number that is calculated with may be anything.
    assert [grown["rule"], taxed["rule"]] == [GROWN, TAXED]
    assert widowed["rule"] == "a rule of age and marital"
    assert half["rule"] == "a rule of gross and net"
    # Of 100 records with at least 10 each: multiples of ten, and not all but for one.
    assert (half["broken_original"], half["share_original"]) == (100, 0.9)
    assert (grown["broken"], grown["share"]) == ([5, 0], [0.05, 0])
    assert safe["scenario"]["rules"] is None
    assert "widowed" not in json.dumps(safe["plausibility"])
    assert "widowed" in json.dumps(whole.to_dict()["plausibility"])
    few = assessed(release_safe=True, rules=["marital in ['single', 'widowed'] or age >= 20", "age != 70 # Erika"])
    assert [row["rule"] for row in rows_of(few.to_dict())] == ["a rule of age and marital", "a rule of age"]
    text = few.to_dict()["plausibility"]["in_short"]
    assert text.endswith("it is a rule of age and marital, broken by 5 of 150.")


def test_it_stands_on_the_pages_and_only_where_rules_are_given() -> None:
    whole = assessed()
    for page in (whole.to_html(), whole.to_markdown()):
        assert "Rules that records break" in page
        # On the first page, and with all sentences below it.
        assert page.count("Released records break 2 rules that every original record keeps") == 2
        assert "of 100 original records, 99.0." in page
    without = assessed(rules=())
    assert "plausibility" not in without.to_dict()
    assert "Rules that records break" not in without.to_html() + without.to_markdown()
    kept = assessed(rules=TAXED).to_dict()
    assert kept["plausibility"]["in_short"] is None
    assert not any("every original record keeps" in text for text in kept["summary"])


def test_rules_look_at_rows_where_units_have_several() -> None:
    pair = unveil.Pair(*(table.append_column("id", pa.array(range(table.num_rows // 2)).take(
        pa.array([i // 2 for i in range(table.num_rows)]))) for table in (PEOPLE, FIRST)), unit="id")  # fmt: skip
    found = unveil.assess(pair, "sex", targets="gross", measures="structure", rules=GROWN, release_safe=False).to_dict()
    assert rows_of(found)[0]["broken"] == [5]
    assert found["plausibility"]["sentence"].startswith("Of 100 released records, 5.0 break the rule")
    assert any("for utility and rules, which look at rows" in text for text in found["summary"])


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("agee > 5", "there is no column 'agee'; did you mean 'age'"),
        (["age >"], "cannot be read"),
        (5, "rules takes a text or a list of texts, not 5"),
        (["", "age > 5"], "a rule is written"),
    ],
)
def test_what_cannot_be_read_is_refused_at_the_door(rules: object, said: str) -> None:
    with pytest.raises(unveil.CallError, match=said) as caught:
        assessed(rules=rules)
    assert "\n" not in str(caught.value)


def test_maps_refuse_rules() -> None:
    with pytest.raises(unveil.CallError, match="the map shows no rules"):
        unveil.compare(PEOPLE, {"a": FIRST}, ["sex"], rules=TAXED)


def test_a_scenario_the_command_line_and_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study").mkdir()
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "o.csv")
    pyarrow.csv.write_csv(FIRST, tmp_path / "s.csv")
    (tmp_path / "study" / "rules.toml").write_text(f'rules = ["{GROWN}", "{TAXED}"]\n', encoding="utf-8")
    (tmp_path / "study" / "study.toml").write_text(
        'original = "../o.csv"\nsynthetic = "../s.csv"\nkeys = ["sex", "age"]\ntargets = "marital"\n'
        f'measures = "structure"\nrules = ["rules.toml", "{WIDOWED}"]\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    tail = ["--measures", "structure", "--no-release-safe", "--json", "-"]
    calls = [
        "assess --scenario study/study.toml",
        f'assess o.csv s.csv --keys sex,age --targets marital --rules study/rules.toml --rules "{WIDOWED}"',
    ]
    found = []
    for call in calls:
        status, out, err = called([*shlex.split(call), *tail], monkeypatch, capsys)
        assert status == 0, err
        found.append(json.loads(out[out.index("{") :]))
    assert found[0]["plausibility"] == found[1]["plausibility"]
    assert found[0]["scenario"]["rules"] == [GROWN, TAXED, WIDOWED]
    status, out, err = called([*shlex.split(command(found[0]))[1:], *tail], monkeypatch, capsys)
    assert status == 0, err
    assert json.loads(out[out.index("{") :])["plausibility"] == found[0]["plausibility"]
    # A file of rules is not written over.
    words = [*shlex.split(calls[1]), "--html", "study/rules.toml", "--overwrite"]
    status, _, err = called(words, monkeypatch, capsys)
    assert status != 0
    assert (tmp_path / "study" / "rules.toml").read_text(encoding="utf-8").startswith("rules")
