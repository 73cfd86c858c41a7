"""The process that works out an assessment: its plan comes by standard input, and lines of JSON go out."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from traceback import extract_tb
from typing import Any

from unveil.errors import UnveilError, UnveilWarning, is_of_memory
from unveil.serve.plan import Plan
from unveil.show.words.assessment import news

Tell = Callable[[str, Any], None]


def work() -> None:
    """Work out the plan that standard input holds; end when it ends."""
    # Ctrl-C in the terminal reaches this process too; the other one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: Plan = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    out, sys.stdout = sys.stdout, sys.stderr

    def tell(what: str, content: Any) -> None:
        out.write(json.dumps([what, content]) + "\n")
        out.flush()

    with warnings.catch_warnings():
        # The report says them.
        warnings.simplefilter("ignore", UnveilWarning)
        run(plan, tell)


def run(plan: Plan, tell: Tell) -> None:
    """Work out a plan, and tell its progress, its pages, its error, and its end."""
    last: Any = None

    def page(found: Any) -> None:
        nonlocal last
        tell("page", {"news": news(last, found), "documents": documents(found)})
        last = found

    try:
        page(plan.assess(plan.pair(), lambda done, total, part: tell("progress", [done, total, part]), page))
    except UnveilError as error:
        tell("error", str(error))
    except Exception as error:
        tell("error", unforeseen(error))
    else:
        tell("done", None)


def documents(found: Any) -> dict[str, str]:
    """An assessment as the files that can be saved; all have passed the gate if it is for publication."""
    return {
        "report.html": found.to_html(), "report.md": found.to_markdown(), "assessment.json": found.to_json(),
        "summary.html": found.to_public_summary(form="html"),
    }  # fmt: skip


def unforeseen(error: Exception) -> str:
    """An error without its text, which may hold values of records."""
    if is_of_memory(error):
        return "there is not enough memory; close other programs, choose fewer columns, or use a larger machine"
    where = [f" in {os.path.basename(one.filename)}, line {one.lineno}" for one in extract_tb(error.__traceback__)]
    return f"unveil failed: {type(error).__name__}{''.join(where[-1:])}; please report it"


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
