"""The result of an assessment: one dict, and what is drawn from it."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from unveil.assessment.gate import release_safe as publishable
from unveil.errors import CallError
from unveil.files.atomic import replacing
from unveil.files.nearest import near_matches
from unveil.plain import without_nan
from unveil.result import Result, drawer


class Assessment(Result):
    """What releases give away and what they are good for; made by :func:`unveil.assess`.

    Where it is release-safe, what it is written as (``to_dict``, ``to_json``, ``to_html``, ``to_markdown``) has passed
    the gate of documents for publication. What is printed, drawn by ``plot``, and given by ``figure`` and ``to_frame``
    is for whoever has the data: figures and reasons as they are.

    Parameters
    ----------
    content
        The whole assessment as one dict; ``docs/assessment.md`` describes it.
    release_safe
        Whether documents hold only what may be published.
    """

    _words = "words.assessment.assessment"
    _drawing = "plots.assessment.plot_figures"
    flavour = "arrow"

    def __init__(self, content: Mapping[str, Any], *, release_safe: bool = False):
        self._content: dict[str, Any] = without_nan(dict(content))
        self._document = publishable(self._content) if release_safe else self._content

    @property
    def content(self) -> Mapping[str, Any]:
        """The whole assessment with its figures as they are, for use inside the building."""
        return self._content

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings and parts that failed, in words; :meth:`to_dict` says to which part each belongs."""
        failed = [f"{part['name']}: {part['reason']}" for part in self._content["parts"] if part["status"] == "failed"]
        return tuple(dict.fromkeys([*(one["text"] for one in self._content["warnings"]), *failed]))

    @property
    def within_policy(self) -> bool | None:
        """Whether every rule of the policy is met, by a figure that was measured; None without a policy."""
        policy = self._content["policy"]
        return None if policy is None else all(row["verdict"] == "within" for row in policy["rows"])

    def to_dict(self) -> dict[str, Any]:
        """The assessment as plain values; what is not defined is None."""
        return copy.deepcopy(self._document)

    def to_json(self, path: str | Path | None = None, *, overwrite: bool = False) -> str:
        """The assessment as JSON, also written to a file if one is named.

        Raises
        ------
        FileError
            If the file exists, or cannot be written.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        return _written(text, path, overwrite)

    def to_html(self, path: str | Path | None = None, *, overwrite: bool = False) -> str:
        """The report as one HTML page without any outside part, also written to a file if one is named.

        Raises
        ------
        FileError
            If the file exists, or cannot be written.
        """
        return _written(drawer("report.html")(self.to_dict()), path, overwrite)

    def to_markdown(self, path: str | Path | None = None, *, overwrite: bool = False) -> str:
        """The report as Markdown, also written to a file if one is named.

        Raises
        ------
        FileError
            If the file exists, or cannot be written.
        """
        return _written(drawer("report.markdown")(self.to_dict()), path, overwrite)

    def to_public_summary(
        self, path: str | Path | None = None, *, form: str | None = None, overwrite: bool = False
    ) -> str:
        """A page of at most ten rounded figures that may be published, also written to a file if one is named.

        Parameters
        ----------
        path
            The file to write.
        form
            "html" or "markdown"; without it by the ending of the file, and a page where there is none.
        overwrite
            Whether a file that exists is replaced.

        Raises
        ------
        CallError
            If neither form nor ending is known.
        FileError
            If the file exists, or cannot be written.
        """
        chosen = form or ("html" if path is None else drawer("report.form_of")(path))
        return _written(drawer("report.public_summary")(self._document, chosen), path, overwrite)

    def figure(self, measure: str, target: str | None = None, intruder: str | None = None) -> SimpleNamespace:
        """One figure of risk as it is, by the names in :meth:`to_dict`; what is not defined is NaN.

        Raises
        ------
        CallError
            If there is no such figure.
        """
        for found in self._content["figures"]:
            if (
                found["measure"] == measure
                and target in (None, found["target"])
                and intruder in (None, found["intruder"])
            ):
                return SimpleNamespace(**{k: math.nan if v is None and k in _NUMBERS else v for k, v in found.items()})
        names = [f["measure"] for f in self._content["figures"]]
        raise CallError(f"there is no figure {measure!r} of {target!r}{near_matches(measure, names)}")

    def _columns(self) -> dict[str, Any]:
        """A row per figure of risk, unrounded."""
        names = ("measure", "intruder", "target", "unit", *_NUMBERS[:3], "over", *_NUMBERS[3:], "undefined")
        return {name: [figure[name] for figure in self._content["figures"]] for name in names}


_NUMBERS = (
    "value", "low", "high", "process_low", "process_high", "margin", "null_mean", "null_95", "p_value", "ceiling",
    "held_out", "excess", "excess_low", "excess_high",
)  # fmt: skip


def _written(text: str, path: str | Path | None, overwrite: bool) -> str:
    if path is not None:
        with replacing(path, overwrite=overwrite) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text
