"""The first page: what is there at once, what gets better afterwards, and what stays when the work is interrupted."""

from __future__ import annotations

import shutil
import sys

import pyarrow.csv
import pytest

import unveil
from unveil.assessment import run as call
from unveil.cli import main

# It takes reading sys.argv under pytest for an oversight.
pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

KEYS = ["sex", "age"]
MEASURES = ["identity", "attribute", "structure", "key sets", "utility", "inference", "posterior"]


@pytest.fixture(scope="module")
def pair():
    people = unveil.simulate.demo_population(300, seed=1)
    return unveil.Pair(people, unveil.CartSynthesizer().fit(people).sample(seed=2))


@pytest.fixture(scope="module")
def pages(pair):
    seen = []
    last = unveil.assess(
        pair, KEYS, targets="depress", measures=MEASURES, synthesizer=unveil.CartSynthesizer(), permutations=4,
        budget=600, page=seen.append,
    )  # fmt: skip
    return [*seen, last]


def status(page):
    return {part["name"]: part["status"] for part in page.content["parts"]}


def test_the_first_figures_are_those_of_identity_and_attributes(pages, pair):
    first = pages[0]
    assert {name for name, how in status(first).items() if how != "waiting"} == {"identity", "attribute"}
    assert first.figure("repU").value == unveil.identity(pair, KEYS).repU
    assert first.figure("DiSCO").value == unveil.attribute(pair, KEYS, target="depress").mean["DiSCO"]


def test_the_first_page_has_an_attacker_an_intruder_with_all_records_but_one_and_variables(pages, pair):
    page = pages[1]
    assert {name for name, how in status(page).items() if how == "waiting"} == {"key sets"}
    tree = unveil.rapid(pair, KEYS, target="depress", attacker="cart", permutations=4, seed=0)
    assert page.figure("RAPID").value == tree.rate
    assert "one tree" in page.figure("RAPID").sentence
    strong = unveil.posterior(pair, unveil.CartSynthesizer(), target="depress", structure="fixed")
    assert page.figure("posterior").value == pytest.approx(strong.posteriors().posterior.mean(), rel=1e-12)
    alone = unveil.utility(pair, measures="marginals").mean
    assert page.content["utility"]["summary"]["TVD_max"] == alone["TVD_max"]
    assert page.content["utility"]["pairs"] == []
    assert f"{100 * alone['TVD_max']:.1f} %" in page.content["utility"]["sentence"]
    reasons = {part["name"]: part["reason"] for part in page.content["parts"]}
    assert reasons["inference: depress"] == "first figures; to come: a random forest, which learns more than one tree"


def test_the_last_page_is_that_of_a_call_without_pages(pages, pair):
    alone = unveil.assess(
        pair, KEYS, targets="depress", measures=MEASURES, synthesizer=unveil.CartSynthesizer(), permutations=4,
        budget=600,
    )  # fmt: skip
    last = pages[-1]
    assert last.content["figures"] == alone.content["figures"]
    assert last.content["summary"] == alone.content["summary"]
    assert set(status(last).values()) == {"done"}
    assert last.figure("posterior").value != pages[1].figure("posterior").value


def test_every_page_can_be_drawn_and_passes_the_gate(pages):
    for page in pages:
        assert page.to_dict()["release_safe"] is True
        for text in (page.to_html(), page.to_markdown(), str(page)):
            assert "repU" in text
        assert "Summary for publication" in page.to_public_summary(form="html")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    people = unveil.simulate.demo_population(200, seed=1)
    for name, table in (("o", people), ("s", people.slice(0, 120))):
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
    with pytest.raises(SystemExit) as ending:
        main()
    return ending.value.code, capsys.readouterr()


CALL = "assess o.csv s.csv --keys sex,age --targets depress --measures identity,attribute,inference,advice"


def test_an_interrupted_call_keeps_its_page(folder, monkeypatch, capsys):
    original_run = call.run

    def interrupted(part, context, *, first):
        if part.measure == "advice":
            raise KeyboardInterrupt
        return original_run(part, context, first=first)

    monkeypatch.setattr(call, "run", interrupted)
    code, said = ended(monkeypatch, capsys, f"{CALL} --attacker cart --html r.html --json r.json")
    assert code == 130
    assert "interrupted: a call with --checkpoint keeps what is finished" in said.err
    assert "what was worked out until then is shown" in said.err
    assert "Traceback" not in said.err
    assert "RAPID" in said.out
    assert "advice: keys: waiting, not begun yet." in said.out
    assert "not begun yet" in (folder / "r.html").read_text(encoding="utf-8")
    assert (folder / "r.json").exists()


def test_a_call_that_is_interrupted_before_the_first_figures_leaves_nothing(folder, monkeypatch, capsys):
    def interrupted(part, context, *, first):
        raise KeyboardInterrupt

    monkeypatch.setattr(call, "run", interrupted)
    code, said = ended(monkeypatch, capsys, f"{CALL} --html r.html")
    assert code == 130
    assert said.out == ""
    assert not (folder / "r.html").exists()


def test_what_got_better_is_said(folder, monkeypatch, capsys):
    code, said = ended(monkeypatch, capsys, f"{CALL} --permutations 2")
    assert code == 0
    lines = said.err.splitlines()
    assert lines[0].startswith("repU: ")
    assert any(line.startswith("DiSCO of depress: ") for line in lines)
    rapid = [line for line in lines if line.startswith("RAPID of depress: ")]
    assert len(rapid) == 2
    assert "before" in rapid[1]
    assert rapid[1].split("before ")[1].split(" ")[0] == rapid[0].split(": ")[1].split(" ")[0]


def test_pages_round_a_figure_of_the_public_summary_by_one_draw(pages):
    """The mean of independent draws over pages would tell the figure."""
    rounded = {}
    for page in pages:
        exact = {figure["measure"]: figure["value"] for figure in page.content["figures"]}
        for row in page.content["public_summary"]["figures"]:
            if row["measure"] in exact:
                rounded.setdefault((row["measure"], exact[row["measure"]]), set()).add(row["value"])
    assert {measure for measure, _ in rounded} == {"repU", "DiSCO", "DCAP"}
    assert len(pages) > 4
    assert all(len(values) == 1 for values in rounded.values())


def test_a_page_that_can_no_longer_be_written_takes_nothing_else_with_it(folder, monkeypatch, capsys):
    (folder / "pages").mkdir()
    original_run = call.run

    def with_the_folder_gone(part, context, *, first):
        if part.measure == "inference":
            shutil.rmtree(folder / "pages", ignore_errors=True)
        return original_run(part, context, first=first)

    monkeypatch.setattr(call, "run", with_the_folder_gone)
    code, said = ended(monkeypatch, capsys, f"{CALL} --attacker cart --html pages/r.html --json r.json")
    assert code == 1
    assert "; the work goes on" in said.err
    assert "RAPID" in said.out
    assert (folder / "r.json").exists()
