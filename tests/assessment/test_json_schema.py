"""The published JSON Schema says what assessments are: real ones of every kind fit, and what is damaged does not."""

from __future__ import annotations

import copy
import functools
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.assessment.gate import release_safe
from unveil.errors import DataError
from unveil.files.documents import Maybe
from unveil.report import checked
from unveil.show.report.json_meanings import MEANING, MEANING_BY_NAME
from unveil.show.report.json_schema import entries
from unveil.show.report.schema import ASSESSMENT

validators = pytest.importorskip("jsonschema", reason="the extra test brings it").validators

ROOT = Path(__file__).parents[2]
LEAVES = [
    line
    for line in (Path(__file__).parent / "leaves.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
EXAMPLE = json.loads((ROOT / "tests" / "show" / "example.json").read_text(encoding="utf-8"))
SCHEMA = unveil.assessment_schema()
VALIDATOR = validators.Draft202012Validator(SCHEMA)


def closed(schema):
    """The schema without leave for entries that it does not name."""
    found = {name: closed(one) if isinstance(one, dict) else one for name, one in schema.items()}
    if "anyOf" in found:
        found["anyOf"] = [closed(one) for one in found["anyOf"]]
    if "properties" in found and "additionalProperties" not in found:
        found |= {"additionalProperties": False, "patternProperties": {"_public$": {}}}
    return found


CLOSED = validators.Draft202012Validator(closed(SCHEMA))


@functools.cache
def assessments():
    """Assessments of one pair, by what they are."""
    people = unveil.simulate.demo_population(200, seed=1).select(["sex", "age", "region", "depress"])
    synthesizer = unveil.CartSynthesizer().fit(people)
    pair = unveil.Pair(people, [synthesizer.sample(seed=2), synthesizer.sample(seed=3)])
    pages = []
    options = {"targets": ["depress"], "attacker": "cart", "permutations": 2, "budget": 4, "seed": 1}
    keys, measures = ["sex", "age", "region"], ["identity", "attribute", "key sets", "structure", "utility", "advice"]
    small = pa.table({"a": ["x", None], "b": ["y", "y"]})
    whole = unveil.assess(pair, keys, measures=measures, models=["age ~ sex"], page=pages.append, **options)
    models = unveil.assess(pair, keys, measures=["inference", "membership", "posterior"], synthesizer=synthesizer,
                           **options)  # fmt: skip
    failed = unveil.assess(pair, keys, measures=["identity", "posterior"], synthesizer=object(), **options)
    tiny = unveil.assess(unveil.Pair(small, small), ["a"], measures=["identity", "attribute"])
    found = {"whole": whole, "models": models, "failed": failed, "tiny": tiny, "first page": pages[0]}
    return {name: json.loads(json.dumps(one.content)) for name, one in found.items()}


def without_nan(document):
    return json.loads(json.dumps(document), parse_constant=lambda _: None)


@pytest.mark.parametrize("kind", ["whole", "models", "failed", "tiny", "first page"])
def test_every_entry_of_real_assessments_is_named_by_the_schema(kind):
    full = assessments()[kind]
    for document in (full, release_safe(full)):
        assert [error.message for error in CLOSED.iter_errors(without_nan(document))] == []


def test_the_kinds_are_what_they_are_called():
    status = {kind: {part["status"] for part in found["parts"]} for kind, found in assessments().items()}
    assert "failed" in status["failed"]
    assert {"partial", "waiting"} & status["first page"]
    assert "done" in status["whole"] & status["models"] & status["tiny"]


def test_it_is_a_schema_of_the_draft_it_names_and_a_new_dict_each_time():
    validators.Draft202012Validator.check_schema(SCHEMA)
    assert validators.validator_for(SCHEMA) is validators.Draft202012Validator
    unveil.assessment_schema()["properties"].clear()
    assert unveil.assessment_schema() == SCHEMA == json.loads(json.dumps(SCHEMA))


def declared(shape, names):
    """Whether a shape has a place for a path."""
    while isinstance(shape, Maybe):
        shape = shape.shape
    if not names or isinstance(shape, tuple):
        return not names or object in shape
    if isinstance(shape, list):
        return names[0] == "[]" and declared(shape[0], names[1:])
    inner = {name.removesuffix("?"): one for name, one in shape.items()}
    place = inner.get(names[0], inner.get("*"))
    return place is not None and declared(place, names[1:])


def test_everything_that_may_be_published_has_a_place():
    assert len(LEAVES) > 100
    for leaf in LEAVES:
        names = leaf.replace("[]", ".[]").split(".")
        public = any(name.endswith("_public") for name in names)
        assert public or leaf in ("schema", "schema_version") or declared(ASSESSMENT, names), leaf


def places(value, path=()):
    """Paths of all entries and members."""
    for step, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, step)
        if isinstance(one, (dict, list)):
            yield from places(one, (*path, step))


PLACES = [path for path in places(EXAMPLE) if not any(str(step).endswith("_public") for step in path)]


@settings(max_examples=60)
@given(st.sampled_from(PLACES), st.sampled_from(["left out", [], {}, "x", 3, 3.5, None, True, [None], {"x": []}]))
def test_the_report_refuses_what_the_schema_refuses(path, other):
    damaged = copy.deepcopy(EXAMPLE)
    holder = functools.reduce(lambda inner, step: inner[step], path[:-1], damaged)
    if other == "left out":
        del holder[path[-1]]
    else:
        holder[path[-1]] = other
    try:
        checked(damaged)
        refused = ""
    except DataError as error:
        refused = str(error)
    assert bool(refused) != VALIDATOR.is_valid(damaged), refused
    assert "\n" not in refused


def test_meanings_are_of_entries_that_exist_and_no_figure_lacks_one():
    named = dict(entries(SCHEMA))
    assert set(MEANING) <= set(named)
    told = {path for path, entry in named.items() if "description" in entry}
    assert set(named) == told
    names = {path.rpartition(".")[2] for path in set(named) - set(MEANING)}
    assert set(MEANING_BY_NAME) <= names


def test_the_page_names_entries_of_the_schema():
    page = (ROOT / "docs" / "assessment.md").read_text(encoding="utf-8").split("## The JSON")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    top, figure = set(SCHEMA["properties"]), set(SCHEMA["properties"]["figures"]["items"]["properties"])
    in_page = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert in_page == top | figure
