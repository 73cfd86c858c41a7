"""Documents that people and programs write: schema, scenario, policy, provenance, assessment; each with other values.

A value is put in place of each part in turn, and the document is then used for what it is for.
"""

from __future__ import annotations

import copy
import datetime
import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import unveil
from fuzz.damage import damaged

__all__ = ["DOCUMENTS", "Document", "changed", "prepare"]

OTHERS: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2**70, 10**200, 1.5, 1e308, -5e-324, math.nan, -math.inf,
    "", "x", "\0", "a/../b", "\x1b[31m\u202e", "9" * 400, "x" * 5000,
    [], [[]], [None], {}, {"a": 1}, {"": {}}, datetime.date(2020, 1, 1),
)  # fmt: skip

ORIGINAL = {
    "sex": ["f", "f", "m", "m", "m", "f"] * 6,
    "age": [30, 31, 30, 30, 52, 44] * 6,
    "income": [-8.0, 100.5, 200.0, 300.0, 400.0, 150.0] * 6,
    "ill": ["no", "yes", "no", "yes", "no", "no"] * 6,
}
SCHEMA = {
    "columns": {
        "sex": {"kind": "categorical", "levels": ["f", "m", "x"], "labels": {"f": "female", "m": "male"}},
        "age": {"kind": "numeric", "special_codes": [99]},
        "income": {"kind": "numeric", "special_codes": [-8, 9.5], "labels": [[-8, "none"]]},
        "ill": {"kind": "ordered", "levels": ["no", "yes"]},
    }
}
SCENARIO = {
    "original": "o.parquet", "synthetic": ["s.parquet"], "keys": ["sex", "age"], "targets": ["ill"],
    "measures": ["identity", "attribute"], "intruders": ["release"], "ngroups_keys": {"age": 2},
    "ngroups_target": 3, "attacker": "cart", "tau": 0.3, "epsilon": 0.1, "permutations": 2,
    "models": ["ill ~ sex"], "level": 0.9, "budget": 20, "minimum_count": 3, "seed": 3,
    "special_codes": {"income": [-8]},
    "kinds": {"age": "numeric"}, "missing": ["-"], "encoding": "utf-8", "delimiter": ",", "decimal": ".",
    "holdout_unseen": False,
}  # fmt: skip
POLICY = {
    "rule": [
        {"measure": "repU", "limit": 5, "note": "7.2"},
        {"measure": "DiSCO", "target": "ill", "statistic": "high", "limit": 0.1, "least": False},
    ]
}


RULES = ({"work": [["age < 18 and `b c` == 'x\\'y'", "no"], [{"age": [15, 17]}, "no"], ["age in [15, 17]", "no"],
                     ["b.d is None or not (0.5 < age <= 1e3)", "yes"]]})  # fmt: skip


def prepare(folder: Path) -> None:
    """The files that the documents speak of."""
    from unveil.files.write import write_table

    write_table(pa.table(ORIGINAL), folder / "o.parquet")
    (folder / "schema.toml").write_bytes(as_toml(SCHEMA))


def _provenance(folder: Path) -> Any:
    """As the package writes it; the release is beside it."""
    from unveil.synthesis.synthetic_files import synthesize_files

    synthesize_files(
        folder / "o.parquet", folder / "s.parquet", m=1, seed=3, reading={"schema": str(folder / "schema.toml")},
        settings={"special_codes": {"income": [-8]}, "kinds": {"age": "numeric"},
                  "methods": dict.fromkeys(ORIGINAL, "sample")},
    )  # fmt: skip
    return json.loads((folder / "s.provenance.json").read_text(encoding="utf-8"))


def _release(content: Any) -> Callable[[Path], Any]:
    """A document that is used with a release beside it."""

    def made(folder: Path) -> Any:
        from unveil.files.write import write_table

        write_table(pa.table(ORIGINAL).slice(3), folder / "s.parquet")
        return content

    return made


def _assessment(folder: Path) -> Any:
    return json.loads((Path(__file__).parent.parent / "show" / "example.json").read_text(encoding="utf-8"))


def _released(folder: Path) -> Any:
    """What may be published of it."""
    from unveil.assessment.gate import release_safe

    return release_safe(_assessment(folder))


MEMBERS = np.arange(12)


def _checkpoint(folder: Path) -> Any:
    """Of two tasks: the line that describes the arrays, and their bytes as text."""
    from unveil._posterior.checkpoint import Checkpoint
    from unveil._posterior.posterior_of_records import Posteriors

    made = Checkpoint(folder / "whole", "this run", MEMBERS, 2)
    numbers, shares, flags = np.arange(4), np.linspace(0, 1, 4), np.zeros(4, dtype=bool)
    block = Posteriors(
        numbers, numbers % 2, shares, shares, numbers % 2, shares, numbers % 2, flags, numbers, ("ill", "x"),
        np.full((4, 2), 0.5),
    )  # fmt: skip
    made.store((0, "exact"), block)
    made.store((1, "fixed"), block)
    made.write()
    magic, _, header, arrays = (folder / "whole").read_bytes().split(b"\n", 3)
    return {"magic": magic.decode(), "header": json.loads(header), "arrays": arrays.decode("latin-1")}


def _checkpoint_stored(content: Any) -> bytes:
    """Under a digest that holds, so that what it describes is looked at."""
    header = as_json(content.get("header")) + b"\n"
    arrays = str(content.get("arrays", "")).encode("latin-1", "replace")
    digest = hashlib.sha256(header + arrays).hexdigest().encode()
    return str(content.get("magic")).encode() + b"\n" + digest + b"\n" + header + arrays


def _kept(folder: Path) -> Any:
    return {"name": "part", "status": "done", "figures": [1.5, None], "reason": None}


def _kept_stored(content: Any) -> bytes:
    text = as_json(content)
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def use_schema(path: Path) -> None:
    """Read two files with it, write it out again."""
    from unveil.files.schema import schema_text

    pair = unveil.Pair(pa.table(ORIGINAL), path.parent / "s.parquet", schema=path)
    for name in pair.names:
        pair.column(name)
    schema_text(pair.original)


def use_scenario(path: Path) -> None:
    """Run it, as far as two quick measures go."""
    from unveil.cli.assess import assess

    assess(scenario=path)


def use_policy(path: Path) -> None:
    """Hold a figure against it."""
    from unveil.assessment.policy import read_policy

    figure = dict.fromkeys(("value", "low", "high", "excess", "excess_low", "excess_high", "p_value"), 3.0)
    read_policy(path).rows([{"measure": "repU", "target": None, "per_release": [1.0], **figure}])


def use_provenance(path: Path) -> None:
    """Build the synthesizer again, and fit it."""
    from unveil.synthesis.provenance import read_provenance
    from unveil.synthesis.rebuild import reading_of, rebuilt

    original = path.parent / "o.parquet"
    reading = reading_of(path)
    maker = rebuilt(path, original, [path.parent / "s.parquet"])
    source = unveil.read(original, **{k: v for k, v in reading.items() if k not in ("special_codes", "kinds")})
    maker.fit(source, seed=read_provenance(path).seed)


def use_assessment(path: Path) -> None:
    """Draw it."""
    from unveil.show.report import html, markdown, public_summary, read_assessment

    found = read_assessment(path)
    html(found)
    markdown(found)
    if found.get("public_summary") is not None:
        public_summary(found)


def use_checkpoint(path: Path) -> None:
    """Go on with it."""
    from unveil._posterior.checkpoint import Checkpoint

    found = Checkpoint(path, "this run", MEMBERS, 2)
    for task in list(found.blocks):
        found.done(task)
    found.write()


def use_kept(path: Path) -> None:
    """Go on with it."""
    from unveil.columns.checkpoint import Checkpoint

    kept = Checkpoint(path.parent / "kept", "this assessment")
    kept.store({"name": "part"})
    (stored,) = kept.folder.iterdir()
    stored.write_bytes(path.read_bytes())
    kept.load("part")


RULED = pa.table({"age": [15, 40, 17, None], "b c": ["x", "y", "x", "y"], "b.d": [None, 10, None, 5],
                  "work": ["no", "yes", "no", "yes"]})  # fmt: skip


def use_rules(path: Path) -> None:
    """Read them, and ask of each which records it holds for."""
    from unveil.files import read
    from unveil.synthesis.encoding import encode
    from unveil.synthesis.rules import parse_rules
    from unveil.synthesis.variable import Levels

    try:
        content = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return
    variables = {variable.name: variable for variable in encode(read(RULED))}
    records = {name: Levels(variable.codes) for name, variable in variables.items()}
    found = parse_rules(content, variables)
    for rule in (rule for rules in found.by_variable.values() for rule in rules):
        rule.decided(records)
    for limit in found.limits:
        limit.truth(records)


@dataclass(frozen=True)
class Document:
    """A kind of document.

    Attributes
    ----------
    name
        Of the file.
    content
        A sound one, as plain values, by the folder of the files that it speaks of.
    stored
        Plain values as bytes of such a document.
    use
        What it is for.
    parts
        Whether parts are changed; else only bytes are.
    """

    name: str
    content: Callable[[Path], Any]
    stored: Callable[[Any], bytes]
    use: Callable[[Path], None]
    parts: bool = True


def _changed_part(content: Any, rng: random.Random) -> tuple[str, Any]:
    """The document with one part another, or gone, or by another name."""
    path = rng.choice([path for path in _paths(content) if path])
    copied = copy.deepcopy(content)
    place = copied
    for step in path[:-1]:
        place = place[step]
    where, last = ".".join(map(str, path)), path[-1]
    what = rng.randrange(len(OTHERS) + 2)
    if what == len(OTHERS):
        del place[last]
        return f"{where} is gone", copied
    if what > len(OTHERS) and isinstance(last, str):
        place["\x1b]0;\u202e"] = place.pop(last)
        return f"{where} by another name", copied
    place[last] = copy.deepcopy(OTHERS[what % len(OTHERS)])
    return f"{where} = {place[last]!r:.40}", copied


def changed(document: Document, content: Any, seed: str) -> tuple[str, bytes]:
    """The document with one or two parts changed, or with damaged bytes; and what was done.

    The same seed gives the same damage.
    """
    rng = random.Random(seed)
    if not document.parts or rng.random() < 0.25:
        stored = document.stored(content)
        return damaged(stored, seed, stored)
    said, copied = _changed_part(content, rng)
    if rng.random() < 0.2 and isinstance(copied, dict) and copied:
        also, copied = _changed_part(copied, rng)
        said = f"{said}, {also}"
    return said, document.stored(copied)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all parts; of a list only the first entry and the last."""
    yield path
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _paths(one, (*path, name))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from _paths(value[i], (*path, i))


def as_toml(value: Any) -> bytes:
    """A mapping as TOML, everything inline; what TOML has no word for is left out."""
    lines = [f"{_text(name)} = {_value(one)}\n" for name, one in value.items() if one is not None]
    return "".join(lines).encode()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(n)} = {_value(v)}" for n, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value if v is not None) + "]"
    return value.isoformat() if isinstance(value, datetime.date) else repr(value)


def _text(text: str) -> str:
    return json.dumps(text)


def as_json(value: Any) -> bytes:
    """As JSON; a date as its text."""
    return json.dumps(value, default=str).encode()


DOCUMENTS = {
    "schema": Document("changed.toml", _release(SCHEMA), as_toml, use_schema),
    "schema in JSON": Document("changed.json", _release(SCHEMA), as_json, use_schema),
    "scenario": Document("changed.toml", _release(SCENARIO), as_toml, use_scenario),
    "policy": Document("changed.toml", _release(POLICY), as_toml, use_policy),
    "provenance": Document("changed.json", _provenance, as_json, use_provenance),
    "assessment": Document("changed.json", _assessment, as_json, use_assessment),
    "released assessment": Document("changed.json", _released, as_json, use_assessment),
    "checkpoint": Document("changed.bin", _checkpoint, _checkpoint_stored, use_checkpoint),
    "kept part": Document("changed.bin", _kept, _kept_stored, use_kept, parts=False),
    "rules": Document("changed.json", lambda _: RULES, as_json, use_rules),
}
