"""The report as Markdown, for repositories, notebooks and diffs: the same parts in the same order, without plots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unveil.assessment.wording import words_and_options
from unveil.show.report import arrange, first_page, sources
from unveil.show.report import figures as numbers
from unveil.show.report.schema import checked, drawing


def markdown(assessment: Mapping[str, Any]) -> str:
    """The report of an assessment as Markdown (CommonMark with tables).

    Parameters
    ----------
    assessment
        What `Assessment.to_dict()` gives, or the JSON read back.

    Raises
    ------
    DataError
        As :func:`unveil.report.html`.
    """
    content = checked(assessment)
    with drawing(), numbers.rounded_before(content["publication"] is not None):
        return _drawn(arrange.arrange(content))


def _drawn(page: arrange.Page) -> str:
    drawn = {
        "summary": _summary, "care": _care,
        "intruders": _intruders, "targets": _targets, "keys": _keys, "utility": _utility,
        "plausibility": _plausibility,
        "map": _map, "advice": _advice, "policy": _policy, "methods": _methods, "provenance": _provenance,
    }  # fmt: skip
    made = page.a["provenance"]
    head = page.a.get("masthead") or {}
    blocks = [f"# Disclosure risk: {text(head.get('title') or page.a['title'])}"]
    blocks += [text(head[name]) for name in ("organisation", "contact") if head.get(name)]
    blocks.append(f"Made {text(numbers.moment(made['created']))} with unveil {text(made['unveil'])}.")
    for name, title in page.sections:
        blocks += [f"## {title}", *drawn[name](page)]
    return "\n\n".join(blocks) + "\n"


def text(value: Any) -> str:
    """Any value as text on one line, with markup escaped.

    Examples
    --------
    >>> print(text("a|b <i>*x*</i>"))
    a\\|b \\<i\\>\\*x\\*\\</i\\>
    """
    found = " ".join(numbers.value_text(value).split())
    found = re.sub(r"([\\`*_{}\[\]<>|&#~$])", r"\\\1", found)
    # At the beginning of a line these would begin a list or underline a heading.
    return re.sub(r"^(\d*)([-+=.)])(?=[-= ]|$)", r"\1\\\2", found)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table whose first columns are set to the left and the others to the right; cells are Markdown already."""
    rules = [":--" if k < left else "--:" for k in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rules, *rows))


def _records(rows: Sequence[dict[str, Any]], *leading: str, most: int = 400) -> list[str]:
    """A table of dicts; rows beyond the largest number stand in the JSON only."""
    names = arrange.first_columns(rows, *leading)
    if not rows:
        return []
    shown = rows[:most]
    columns = [numbers.column([row.get(name) for row in shown]) for name in names]
    cells = [[text(cell) for cell in row] for row in zip(*columns, strict=True)]
    blocks = [table([text(name.replace("_", " ")) for name in names], cells, len(leading))]
    if len(rows) > most:
        blocks.append(f"The first {most} of {len(rows)} rows; all are in the JSON.")
    return blocks


def _ends(row: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    """Both ends of an interval of a row, and a dash where it was not computed."""
    return numbers.interval(row.get(low), row.get(high), unit) or numbers.DASH


def _points(lines: Iterable[str]) -> list[str]:
    found = "\n".join(f"- {line}" for line in lines)
    return [found] if found else []


def _fence(content: str) -> str:
    """Unchanged text in a fence that is longer than any fence in it."""
    ticks = max((len(run) for run in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, ticks + 1)
    return f"{fence}\n{content.rstrip()}\n{fence}"


def _summary(page: arrange.Page) -> list[str]:
    """What the first page has."""
    rows = [
        [text(cell) for cell in (intruder["title"], row.learns, row.figure["target"] or numbers.DASH,
                                 numbers.shown(row.figure["value"], row.figure["unit"]), row.beside or numbers.DASH)]
        for intruder, found in first_page.strongest_first(page)
        for row in found
    ]  # fmt: skip
    blocks = [table(["Who", "What is learnt", "Target", "Figure", "Beside it"], rows, 3)] if rows else []
    blocks += _points(
        f"**{text(who)}**: {text(said)}" if who else text(said) for who, said in first_page.sentences(page)
    )
    changes = page.a["advice"][: first_page.MOST_CHANGES]
    if changes:
        blocks += ["What would change it:", *_points(text(one["action"]) for one in changes)]
    missing = first_page.not_computed(page)
    return [*blocks, f"Not computed, or not whole: {', '.join(text(one) for one in missing) or 'nothing'}."]


def _care(page: arrange.Page) -> list[str]:
    a = page.a
    blocks = _points(text(one) for one in a["summary"])
    blocks.append(table(["", ""], [
        ["Original", f"{text(a['data']['original']['label'])}, {arrange.records(a, a['data']['original'])}"],
        ["Releases", "; ".join(f"{text(r['label'])}, {arrange.records(a, r)}" for r in a["data"]["releases"])],
        ["Keys", ", ".join(text(k) for k in a["scenario"]["keys"])],
        ["Targets", ", ".join(text(t) for t in a["scenario"]["targets"]) or numbers.DASH],
    ], 2))  # fmt: skip
    if a["warnings"]:
        said = (f"**{text(w['part'])}**: {text(w['text'])}" for w in a["warnings"])
        blocks += ["### Where figures contradict each other or cannot be trusted", *_points(said)]
    unfinished = [p for p in a["parts"] if p["status"] != "done"]
    if unfinished:
        why = (f"**{text(p['name'])}**, {text(p['status'])}: {text(p['reason'])}" for p in unfinished)
        blocks += ["### What was not computed", *_points(why)]
    return [*blocks, "### What may not be published", *_published(a)]


def _published(a: dict[str, Any]) -> list[str]:
    found = a["publication"]
    if found is None:
        first = "**This report must stay in the building.** It was made with release\\_safe off."
        return [first, *_points(text(one) for one in a.get("confidential", []))]
    said = {"Rounding": "rounded", "Protects": "protects", "Does not protect": "does_not_protect"}
    lines = [f"**{title}**: {text(found[name])}" for title, name in said.items()]
    return _points([*lines, *(text(one) for one in a.get("confidential", []))])


def _figures(page: arrange.Page, figures: Sequence[dict[str, Any]]) -> list[str]:
    """Figures beside their baselines, then a note on each figure."""
    with_policy = page.a["policy"] is not None
    rows = []
    for f in figures:
        unit = f["unit"]
        cells = [
            text(f["measure"]), numbers.DASH if f["target"] is None else text(f["target"]),
            "not defined" if f["value"] is None else numbers.shown(f["value"], unit),
            _ends(f, "low", "high", unit), _ends(f, "process_low", "process_high", unit),
            numbers.shown(f["margin"], unit), _ends(f, "null_mean", "null_95", unit),
            numbers.shown(f["held_out"], unit), numbers.shown(f["ceiling"], unit), numbers.shown(f["excess"], "share"),
        ]  # fmt: skip
        if with_policy:
            limits = ((r, arrange.limit_unit(r["statistic"], unit)) for r in arrange.policy_rows(page.a, f))
            cells.append(
                text("; ".join(f"{r['verdict']} {numbers.shown(r['limit'], u)}" for r, u in limits) or "no limit")
            )
        rows.append([cell.replace("<0", "\\<0").replace(">9", "\\>9") for cell in cells])
    kept = figures[0].get("over", "this release") if figures else ""
    header = ["Measure", "Target", "Figure", f"Interval, {kept}", "Interval, the process", "Guess",
              "Null, mean to 95th", "Held out", "Ceiling", "Excess"]  # fmt: skip
    blocks = [table([*header, "Policy"] if with_policy else header, rows, 2)]
    notes = []
    for f in figures:
        said = [f"**{text(f['measure'])}**:"]
        said.append(text(f["sentence"]) if f["value"] is not None else f"not defined, {text(f['undefined'])}.")
        if f["does_not_show"]:
            said.append(f"*Does not show:* {text(f['does_not_show'])}")
        if f["contradicted_by"]:
            said.append(f"*Would be contradicted by:* {text(f['contradicted_by'])}.")
        notes.append(" ".join(said))
    return blocks + _points(notes)


def _intruders(page: arrange.Page) -> list[str]:
    blocks = []
    for number, (one, figures) in enumerate(page.intruders, 1):
        blocks += [f"### {number}. {text(one['title'])}", f"Knows: {text(one['knows'])}"]
        if not one["applies"] and not figures:
            blocks.append(f"Not assessed: {text(one['reason'])}")
        elif figures:
            blocks += _figures(page, figures)
        else:
            blocks.append("No figure was computed for this intruder.")
        if one["name"] == page.membership_with:
            blocks += _membership(page)
    rows = [
        [text(one["package"]), text(one["measure"]), text(f["name"]), f["kind"],
         text(numbers.shown(f["value"], f["kind"])), numbers.quantity(f["persons"])]
        for one in page.a.get("other_measures") or () for f in one["figures"]
    ]  # fmt: skip
    if rows:
        blocks += ["### Measures of other packages", _OF_OTHERS]
        blocks.append(table(["Package", "Measure", "Figure", "Kind", "Value", "Records"], rows))
    return blocks


_OF_OTHERS = "What these figures mean, and that they are what they are declared to be, is for the packages to say."


def _membership(page: arrange.Page) -> list[str]:
    found, exact = page.a["membership"], page.a.get("exact_membership") or {}
    if found is None and not exact:
        return [_missing(page, "Membership", "membership")]
    blocks = []
    if found is None:
        blocks.append(_missing(page, "The attack by distance", "membership"))
    elif found["sentence"]:
        blocks += [text(found["sentence"]), *_records(found.get("attacks", []), "attack")]
    blocks += [text(exact[name]) for name in ("sentence", "contrast") if exact.get(name)]
    return ["#### Whose records were used: membership", *blocks] if blocks else []


def _missing(page: arrange.Page, what: str, *names: str) -> str:
    return f"{what} is not shown: {text(arrange.why_missing(page.a, *names))}."


def _targets(page: arrange.Page) -> list[str]:
    blocks = [] if page.targets else [_missing(page, "Targets", "targets", "attribute")]
    for one in page.targets:
        found = one.content
        blocks += [f"### {text(found['target'])} ({text(found['kind'])})", *(text(s) for s in found["sentences"])]
        left_out = found.get("exclusions")
        if left_out:
            blocks.append(text(left_out["sentence"]))
            blocks += _points(
                f"Not counted: {text(row['what'])} ({row['records']} records)" for row in left_out["rows"]
            )
        blocks += _points(f"Check: {text(check)}" for check in found["checks"])
        if one.figures:
            blocks += _figures(page, one.figures)
        if found["curve"] is not None:
            name = found["curve"]["threshold"]
            blocks += [f"Records at risk by threshold {text(name)}:", _curve(name, found["curve"]["points"])]
        if found["attribution"]:
            blocks += ["Log odds of being at risk:", *_records(found["attribution"], "term")]
        if found["groups"]:
            units = {f["measure"]: f["unit"] for f in one.figures}
            blocks += _groups(page, found["groups"], units)
        if found["posterior"] is not None:
            blocks += _records(arrange.posterior_rows(found["posterior"]), "who", "structure")
            blocks += [text(said) for said in [arrange.on_mixed_donors(page.a)] if said]
            blocks += [text(said) for said in [(found["posterior"].get("mistakes") or {}).get("sentence")] if said]
            blocks += _records(arrange.posterior_cross(found["posterior"]), "name")
        if weakening := found.get("partial_knowledge"):
            blocks += ["#### The strongest intruder, and how fast it weakens"]
            blocks += [text(weakening[name]) for name in ("sentence", "contrast") if weakening[name]]
            blocks += _records(weakening["points"], "share_known")
    return blocks


def _curve(name: str, points: Sequence[dict[str, Any]]) -> str:
    header = [text(name), "Rate", "Interval, this release", "Interval, the process", "Null", "Null 95th", "Ceiling"]
    return table(header, [
        [f"{p['threshold']:g}", *(text(cell) for cell in (
            numbers.shown(p["rate"], "share"), _ends(p, "low", "high", "share"),
            _ends(p, "process_low", "process_high", "share"),
            *(numbers.shown(p[k], "share") for k in ("null_mean", "null_95", "ceiling"))))]
        for p in points
    ])  # fmt: skip


def _groups(page: arrange.Page, groups: Sequence[dict[str, Any]], units: Mapping[str, str]) -> list[str]:
    rows = []
    for g in (one for _, found in arrange.by_measure(groups) for one in found):
        unit = g.get("unit") or units.get(g["measure"], "share")
        figures = (numbers.quantity(g["persons"]), numbers.shown(g["value"], unit), _ends(g, "low", "high", unit))
        rows.append([text(cell) for cell in (g["by"], g["level"], g["measure"], *figures)])
    return [table(["By", "Group", "Measure", "Records", "Figure", "Interval, this release"], rows, 3)] if rows else []


def _keys(page: arrange.Page) -> list[str]:
    keys, structure = page.a["keys"], page.a["structure"]
    blocks = []
    if keys is None:
        blocks.append(_missing(page, "Key sets", "key sets", "keys"))
    else:
        sets = [
            ({"target": s["target"]} if "target" in s else {}) | {"keys": ", ".join(s["keys"])} | s["figures"]
            for s in arrange.sorted_sets(keys["sets"])
        ]
        blocks += ["### Sets of keys", *_records(sets, "keys", most=arrange.MOST_ROWS["sets"])]
        if keys["leave_one_out"]:
            blocks += ["### Without one key", *_records(keys["leave_one_out"], "key")]
        if keys["groups"]:
            blocks += ["### Groups", *_groups(page, keys["groups"], arrange.PERCENT_MEASURES)]
    if structure is None:
        return [*blocks, _missing(page, "Structure", "structure")]
    rows = [[text(k.replace("_", " ")), text(v)] for k, v in structure.items() if k != "sentence"]
    sentence = [text(structure["sentence"])] if structure["sentence"] else []
    return [*blocks, "### Structure: combinations kept and new", *sentence, table(["", "Figure"], rows)]


def _utility(page: arrange.Page) -> list[str]:
    found = page.a["utility"]
    if found is None:
        return [_missing(page, "Utility", "utility")]
    blocks = [text(found["sentence"])] if found["sentence"] else []
    if found["summary"]:
        blocks.append(table(["Measure", "Figure"], [[text(k), text(v)] for k, v in found["summary"].items()]))
    for title, part, leading in (
        ("Single variables", "variables", ("variable",)), ("Pairs of variables", "pairs", ("first", "second")),
        ("Models fitted to both", "models", ("model", "term")), ("Prediction", "prediction", ("target", "metric")),
    ):  # fmt: skip
        if found[part]:
            blocks += [f"### {title}", *_records(found[part], *leading)]
    return blocks


def _plausibility(page: arrange.Page) -> list[str]:
    found = page.a["plausibility"]
    labels = [text(one["label"]) for one in page.a["data"]["releases"]]
    rows = [
        [text(row["rule"]), numbers.shown(arrange.mean_share(row["share"]), "share"),
         numbers.shown(row["share_original"], "share")]
        for row in found["rules"]
    ]  # fmt: skip
    by_release = [
        [text(row["rule"]), label, numbers.quantity(n), numbers.shown(share, "share"), numbers.quantity(new)]
        for row in found["rules"]
        for label, n, share, new in zip(labels, row["broken"], row["share"], row["new_combinations"], strict=True)
    ]
    return [
        text(found["sentence"]),
        table(["Rule", "Released records that break it", "Original records"], rows),
        table(["Rule", "Release", "Records that break it", "Share", "Combinations that no original record has"],
              by_release, 2),
        arrange.OF_NEW_COMBINATIONS,
    ]  # fmt: skip


def _map(page: arrange.Page) -> list[str]:
    found = page.a["map"]
    if found is None:
        return [_missing(page, "The map", "map")]
    units = arrange.map_units(found)
    rows = [
        [text(p["label"]), numbers.value_text(p["pareto"]), *(
            cell for name, unit in zip(("risk", "utility"), units, strict=True)
            for cell in (numbers.shown(p[name], unit), _ends(p, f"{name}_low", f"{name}_high", unit)))]
        for p in found["points"]
    ]  # fmt: skip
    risk, utility = f"Risk: {text(found['risk'])}", f"Utility: {text(found['utility'])}"
    header = ["Release", "Not beaten on both", risk, "Interval, this release", utility,
              "Interval, releases of this original"]  # fmt: skip
    return [table(header, rows, 2)]


def _advice(page: arrange.Page) -> list[str]:
    if not page.a["advice"]:
        return [_missing(page, "Advice", "advice")]
    blocks = []
    for number, one in enumerate(page.a["advice"], 1):
        words, options = words_and_options(one["action"])
        blocks += [
            f"### {number}. {text(words)}",
            *([] if options is None else [_fence(options)]),
            text(one["because"]),
        ]
        if one["effects"]:
            rows = [[text(e["measure"]), text(e["target"]), text(e["how"]),
                     *(text(numbers.shown(e[k], arrange.unit_of(page.a, e))) for k in ("before", "after"))]
                    for e in one["effects"]]  # fmt: skip
            blocks.append(table(["Measure", "Target", "How it was found", "Now", "Then"], rows, 3))
        blocks.append("Measured again with the change made." if one["computed"] else "Not measured.")
    return blocks


def _policy(page: arrange.Page) -> list[str]:
    found = page.a["policy"]
    rows = [[text(r["measure"]), text(r["target"]), text(r["statistic"]), text(r["verdict"]),
             *(text(numbers.shown(r[k], arrange.limit_unit(r["statistic"], arrange.unit_of(page.a, r))))
               for k in ("value", "limit"))]
            for r in found["rows"]]  # fmt: skip
    return [
        f"The limits are the institution's own, from {text(found['label'])}.",
        table(["Measure", "Target", "Statistic", "Verdict", "Figure", "Limit"], rows, 4),
        _fence(found["text"]),
    ]


def _methods(page: arrange.Page) -> list[str]:
    rows = [
        [text(", ".join(m.names)), text(m.formula), text(m.reads), text(m.blind),
         text("; ".join(sources.REFERENCES[s].short for s in m.sources))]
        for m in sources.METHODS
    ]  # fmt: skip
    cited = (f"{text(r.text)}" + (f" [{r.identifier}]({r.link})" if r.link else "")
               for r in sources.REFERENCES.values())  # fmt: skip
    return [text(sources.NOTATION), table(["Measure", "Formula", "Reads", "Does not show", "Source"], rows, 5),
            *_points(cited)]  # fmt: skip


def _provenance(page: arrange.Page) -> list[str]:
    p, a = page.a["provenance"], page.a
    settings = [[text(k.replace("_", " ")), text(v)] for k, v in a["scenario"].items()]
    parts = [[*(text(q[k]) for k in ("name", "status", "reason")), numbers.seconds(q["seconds"])] for q in a["parts"]]
    files = [[text(f[k]) for k in ("label", "role", "sha256", "bytes")] for f in p["inputs"]]
    software = {"unveil": p["unveil"], "Python": p["python"], **p["packages"]}
    return [
        _fence(arrange.command(a)),
        text(arrange.command_note(a)),
        table(["File", "Role", "SHA-256", "Bytes"], files, 3),
        table(["Setting", "Value"], settings, 2),
        table(["Part", "Status", "Reason", "Time"], parts, 3),
        table(["Software", "Version"], [[text(k), text(v)] for k, v in software.items()], 2),
        f"Took {numbers.seconds(p['wall_seconds'])}. Format: {text(a['schema'])} {text(a['schema_version'])}.",
    ]  # fmt: skip
