"""Regression models as users name them: "income ~ age + sex", "logistic: smoke ~ age", or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.files.nearest import near_matches

KINDS = ("linear", "logistic")
_PARTS = ("outcome", "predictors", "kind")


@dataclass(frozen=True)
class RegressionModel:
    """A regression model.

    Parameters
    ----------
    outcome
        The dependent variable.
    predictors
        The explanatory variables, without interactions.
    kind
        "linear" or "logistic"; None: as the outcome suggests.
    """

    outcome: str
    predictors: tuple[str, ...]
    kind: str | None = None

    def __str__(self) -> str:
        return f"{self.outcome} ~ {' + '.join(self.predictors)}"


def models_of(given: Any, names: Sequence[str], *, every: Sequence[str] | None = None) -> tuple[RegressionModel, ...]:
    """Read models, and check them against the columns.

    Parameters
    ----------
    given
        A formula, a mapping with ``outcome``, ``predictors`` and perhaps ``kind``, or a list of them. In a formula
        ``.`` stands for all other columns, and ``linear:`` or ``logistic:`` may stand before it.
    names
        Columns that all files have.
    every
        Columns that ``.`` stands for; all by default.

    Raises
    ------
    CallError
        If a model cannot be read or names a column that is not there.

    Examples
    --------
    >>> models_of("logistic: smoke ~ age + sex", ["age", "sex", "smoke"])
    (RegressionModel(outcome='smoke', predictors=('age', 'sex'), kind='logistic'),)
    """
    parts = [given] if isinstance(given, str | Mapping | RegressionModel) else list(given)
    found = tuple(_checked(_read(part, names, names if every is None else every), names) for part in parts)
    if len(set(found)) < len(found):
        raise CallError("a model is given twice")
    return found


def _read(given: Any, names: Sequence[str], every: Sequence[str]) -> RegressionModel:
    if isinstance(given, RegressionModel):
        return given
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in _PARTS]
        if unknown or "outcome" not in given or "predictors" not in given:
            raise CallError(f"a model has the parts outcome, predictors and kind, not {', '.join(map(str, given))}")
        predictors = given["predictors"]
        predictors = (predictors,) if isinstance(predictors, str) else tuple(predictors)
        return RegressionModel(given["outcome"], predictors, given.get("kind"))
    if not isinstance(given, str):
        raise CallError(f"a model is a formula or a mapping, not {type(given).__name__}")
    return _formula(given, names, every)


def _formula(text: str, names: Sequence[str], every: Sequence[str]) -> RegressionModel:
    left, tilde, right = text.partition("~")
    if not tilde or "~" in right:
        raise CallError(f"model {text!r}: write outcome ~ predictor + predictor")
    outcome, kind = left.strip(), None
    before, colon, after = outcome.partition(":")
    if colon and outcome not in names:
        kind, outcome = before.strip(), after.strip()
    predictors: list[str] = []
    for term in (_plain(part) for part in right.split("+")):
        if term == "." and "." not in names:
            predictors += [name for name in every if name != _plain(outcome) and name not in predictors]
        else:
            predictors.append(term)
    return RegressionModel(_plain(outcome), tuple(predictors), kind)


def _plain(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name


def _checked(model: RegressionModel, names: Sequence[str]) -> RegressionModel:
    check_choice(f"model {model}: kind", model.kind, (None, *KINDS))
    if not model.predictors:
        raise CallError(f"model of {model.outcome!r}: name at least one predictor")
    for name in (model.outcome, *model.predictors):
        if not isinstance(name, str) or name not in names:
            raise CallError(f"model {model}: the files share no column {name!r}{near_matches(str(name), names)}")
    if len({model.outcome, *model.predictors}) <= len(model.predictors):
        raise CallError(f"model {model}: a column is named twice; there are no interactions or powers")
    return model
