"""Call any synthesizer in the same way: objects with ``fit`` and ``sample``, and functions of a frame.

Synthesizers of this package read sources. All others get frames in the user's types (see
:meth:`unveil.files.Source.to_frame`), by the arguments that they take, and their results are checked.
"""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

from unveil.errors import CallError, DataError, UnveilError, UnveilWarning
from unveil.files.arrays import quoted_list
from unveil.files.frames import is_frame
from unveil.files.opening import open_source
from unveil.files.source import Source
from unveil.synthesis.foreign_results import as_table, figures, figures_by_candidate, shown, values_in_words

SIZES = ("n", "num_rows", "n_rows", "nrows", "n_samples", "num_samples", "n_records", "size", "count", "k", "rows")
"""Usual names of the argument for the number of records; without any of them it is the first argument."""
DRAWS = ("sample", "generate", "synthesize")
"""Usual names of the method that draws records."""
SEEDS = ("seed", "random_state", "random_seed")
LARGEST_SEED = 1 << 31


class MissingMethodError(CallError, AttributeError):
    """A synthesizer lacks a method that a measure calls."""


def is_synthesizer(candidate: Any) -> bool:
    """Whether an object has ``fit``, or is a function of a frame."""
    if is_frame(candidate) or isinstance(candidate, Source):
        return False
    return callable(getattr(candidate, "fit", None)) or callable(candidate)


def named(synthesizer: Any) -> str:
    """How messages call a synthesizer: by its class, a function by its name."""
    return synthesizer.name if isinstance(synthesizer, Foreign) else type(synthesizer).__name__


def as_synthesizer(synthesizer: Any) -> Any:
    """Return a synthesizer of this package unchanged, any other as a :class:`Foreign`.

    Raises
    ------
    CallError
        If it is neither a function of a frame, nor an object with ``fit``.
    """
    if isinstance(synthesizer, Foreign) or _is_own(synthesizer):
        return synthesizer
    if inspect.isclass(synthesizer) and callable(getattr(synthesizer, "fit", None)):
        raise CallError(
            f"synthesizer: {synthesizer.__name__} is a class; give an object of it: {synthesizer.__name__}()"
        )
    if not is_synthesizer(synthesizer):
        raise CallError(
            "a synthesizer is a function of a frame, or an object with fit and sample, "
            f"not {type(synthesizer).__name__}{', which has no fit' if _draw_of(synthesizer) else ''}"
        )
    return Foreign(synthesizer)


def fitted_anew(synthesizer: Any, original: Source, *, seed: int) -> Any:
    """Return a fitted copy of a synthesizer, without its warnings; the synthesizer itself does not change.

    Parameters
    ----------
    synthesizer
        Result of :func:`as_synthesizer`.
    original
        The records.
    seed
        Seed of random fits; noise for differential privacy does not depend on it.
    """
    if isinstance(synthesizer, Foreign):
        return synthesizer.fit(original, seed=seed)
    twin = copy.copy(synthesizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return twin.fit(original, **({"seed": seed} if "seed" in _arguments(twin.fit) else {}))


def releases_of(synthesizer: Any, original: Source, m: int, k: int | None, seed: int) -> list[Source]:
    """Fit a copy of a synthesizer, and return its releases.

    Parameters
    ----------
    synthesizer
        Anything that :func:`as_synthesizer` takes.
    original
        The records.
    m, k
        Number of releases, and of records in each; None for as many as the original has.
    seed
        Seed of fit and draws.
    """
    fitted = fitted_anew(as_synthesizer(synthesizer), original, seed=seed)
    n = original.num_rows if k is None else k
    return [open_source(fitted.sample(n, seed=seed + 1 + copy)) for copy in range(m)]


class Foreign:
    """A synthesizer from outside this package.

    Parameters
    ----------
    inner
        An object with ``fit(frame)`` and ``sample(n)`` (or another of :data:`DRAWS`), ``log_prob(frame)`` or
        ``delta_log_prob(record, candidates)``, or a function from a frame to a frame. Its attribute ``flavour``, if it
        has one, is the kind of frame that it takes.
    original
        The records that it is fitted to; None before the fit.
    """

    def __init__(self, inner: Any, original: Source | None = None):
        self.inner, self.original = inner, original
        self.is_function = not callable(getattr(inner, "fit", None))
        self.name = getattr(inner, "__name__", None) or type(inner).__name__
        # Only the methods that it has, so that callers can check for them as with any synthesizer.
        if self.is_function or _draw_of(inner):
            self.sample = self._sample
        if callable(getattr(inner, "log_prob", None)) and not _inherits_another_likelihood(type(inner)):
            self.log_prob = self._log_prob
        if callable(getattr(inner, "delta_log_prob", None)):
            self.delta_log_prob = self._delta_log_prob
        if callable(getattr(inner, "privacy", None)):
            self.privacy = self._privacy

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            other = " (nor generate)" if name == "sample" else ""
            raise MissingMethodError(f"{self._said()} has no {name}{other}, which is needed here")
        raise AttributeError(name)

    def fit(self, original: Source, *, seed: int = 0) -> Foreign:
        """Return a fitted copy.

        ``fit`` may return the fitted object, nothing, or something that is not a synthesizer (a history of losses).

        Raises
        ------
        DataError
            If its ``fit`` fails.
        """
        if self.is_function:
            return Foreign(self.inner, original)
        twin = _twin(self.inner)
        made = self._call("fit", twin.fit, self._framed(original), **_seeds(twin.fit, seed))
        useful = _draw_of(made) or any(callable(getattr(made, name, None)) for name in _METHODS)
        return Foreign(made if useful else twin, original)

    def _sample(self, n: int, *, seed: int = 0) -> Source:
        """Return synthetic records, checked against the original's columns.

        Raises
        ------
        DataError
            If it fails, or does not return ``n`` records with the columns and kinds of values of the original.
        """
        original = self._fitted()
        name = _draw_of(self.inner)
        function = self.inner if self.is_function else getattr(self.inner, name)
        given = (self._framed(original),) if self.is_function else ()
        numbers = _numbers(function, n, len(given))
        made = self._call(
            "the function" if self.is_function else name, function, *given, *numbers[0],
            **numbers[1], **_seeds(function, seed),
        )  # fmt: skip
        release = self._opened(made, original)
        if release.num_rows != n and (numbers[0] or numbers[1] or not self.is_function):
            raise DataError(f"{self._said()}: it returned {release.num_rows} records in place of {n}")
        return release

    def _log_prob(self, release: Source) -> tuple[int, float]:
        """Return the number of impossible values and the log-probability of the others.

        Raises
        ------
        DataError
            If it fails or does not return numbers.
        """
        flavour = self._flavour or self._fitted().frame_flavour
        found = self._call("log_prob", self.inner.log_prob, release.to_frame(flavour))
        try:
            return figures(found, release.num_rows)
        except (TypeError, ValueError):
            raise DataError(
                f"{self._said()}: log_prob returned {shown(found)}; it has to be a number, one number per record, or "
                "a pair (impossible values, log-probability of the others)"
            ) from None

    def _privacy(self) -> dict[str, Any] | None:
        """Return the privacy loss that it states: ``epsilon``, and which files are ``neighbours``; None for no claim.

        Raises
        ------
        DataError
            If it fails, or returns neither.
        """
        stated = self._call("privacy", self.inner.privacy)
        if stated is None:
            return None
        try:
            found = {"epsilon": float(stated["epsilon"]), "neighbours": stated["neighbours"]}
        except (TypeError, KeyError, ValueError):
            found = {"epsilon": -1.0, "neighbours": None}
        if not found["epsilon"] >= 0 or found["neighbours"] not in ("replace", "add_remove"):
            raise DataError(
                f"{self._said()}: privacy returned {shown(stated)}; it has to be None, or a dictionary with epsilon, a "
                "number from 0, and neighbours, 'replace' or 'add_remove'"
            )
        return found

    def _delta_log_prob(self, record: int, candidates: Any) -> Any:
        """Return by candidate the number of impossible values and the log-likelihood of the others.

        Raises
        ------
        DataError
            If it fails or does not return both for every candidate.
        """
        found = self._call("delta_log_prob", self.inner.delta_log_prob, record, candidates)
        try:
            return figures_by_candidate(found, len(candidates))
        except (TypeError, ValueError):
            raise DataError(
                f"{self._said()}: delta_log_prob returned {shown(found)}; it has to be a pair, impossible values and "
                f"log-likelihood, each with one number for every candidate ({len(candidates)} here)"
            ) from None

    @property
    def _flavour(self) -> Any:
        """The kind of frame that it says it takes; None for that of the user."""
        return getattr(self.inner, "flavour", None)

    def _framed(self, original: Source) -> Any:
        return original.to_frame(self._flavour)

    def _fitted(self) -> Source:
        if self.original is None:
            raise CallError(f"{self._said()}: nothing is fitted yet")
        return self.original

    def _said(self) -> str:
        return f"synthesizer {self.name!r}"

    def _call(self, what: str, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
        try:
            # What it prints does not belong to the results.
            with redirect_stdout(sys.stderr):
                return function(*given, **options)
        except UnveilError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())
            raise DataError(f"{self._said()}: {what} failed with {type(error).__name__}: {reason}") from error

    def _opened(self, made: Any, original: Source) -> Source:
        """Return the result as a source with the columns of the original."""
        label = f"the release of {self._said()}"
        table = as_table(made, original.names)
        if table is None:
            raise DataError(
                f"{self._said()}: it returned {shown(made)}; return a frame (pandas, polars, pyarrow), a "
                "dictionary of columns, or a numpy array with one column for each of the original"
            )
        try:
            release = open_source(table, label=label)
        except UnveilError as error:
            raise DataError(f"{self._said()}: {error}") from None
        missing = [name for name in original.names if name not in release]
        extra = [name for name in release.names if name not in original]
        if missing or extra:
            parts = [f"lacks {quoted_list(missing)}"] if missing else []
            parts += [f"has {quoted_list(extra)}, which the original has not"] if extra else []
            raise DataError(f"{self._said()}: what it returned {' and '.join(parts)}")
        for name in original.names:
            kinds = [values_in_words(one.column(name).type) for one in (original, release)]
            if "empty" not in kinds and kinds[0] != kinds[1]:
                raise DataError(
                    f"{self._said()}: column {name!r} holds {kinds[1]}, and the original {kinds[0]}; return values "
                    "of the kind that fit was given"
                )
        return replace(release, names=original.names)


_METHODS = ("sample", "log_prob", "delta_log_prob", "privacy")
"""Methods that measures look for; a synthesizer need not have all."""


def _draw_of(synthesizer: Any) -> str:
    """Name of the method that draws records; empty if there is none."""
    return next((name for name in DRAWS if callable(getattr(synthesizer, name, None))), "")


def _inherits_another_likelihood(kind: type) -> bool:
    """Whether a class inherits ``log_prob`` from this package, and fits or draws in another way."""
    owners = {
        name: next((i for i, one in enumerate(kind.__mro__) if name in vars(one)), len(kind.__mro__))
        for name in ("fit", "sample", "log_prob")
    }
    last = owners["log_prob"]
    is_ours = last < len(kind.__mro__) and kind.__mro__[last].__module__.startswith("unveil.")
    return is_ours and min(owners["fit"], owners["sample"]) < last


def _is_own(synthesizer: Any) -> bool:
    """Whether a synthesizer is of this package, says no kind of frame, and is as it was: then it reads sources."""
    if hasattr(synthesizer, "flavour"):
        return False
    found = [getattr(type(synthesizer), name, None) for name in ("fit", "sample", "log_prob")]
    return found[0] is not None and all(
        one is None or str(getattr(one, "__module__", "")).partition(".")[0] == "unveil" for one in found
    )


def _twin(synthesizer: Any) -> Any:
    """Return a copy to fit, so that the given object does not change; the object itself if it cannot be copied."""
    for copied in (copy.deepcopy, copy.copy):
        try:
            return copied(synthesizer)
        except Exception:
            # Objects that hold files, devices or locks cannot be copied, and raise errors of any kind.
            continue
    return synthesizer


def _arguments(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a compiled function has no signature
        return {}


def _seeds(function: Callable[..., Any], seed: int) -> dict[str, int]:
    known = _arguments(function)
    # Many libraries do not take seeds beyond 32 bits.
    return {name: seed % LARGEST_SEED for name in SEEDS if name in known}


def _numbers(function: Callable[..., Any], n: int, taken: int) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the number of records by place or by name, as the function takes it behind ``taken`` arguments."""
    known = _arguments(function)
    names = [name for name in SIZES if name in known and list(known).index(name) >= taken]
    if names:
        by_place = known[names[0]].kind is inspect.Parameter.POSITIONAL_ONLY
        return ((n,), {}) if by_place else ((), {names[0]: n})
    if taken:  # functions of a frame need not take the number of records
        return (), {}
    places = [
        one for one in list(known.values())[taken:]
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                        inspect.Parameter.VAR_POSITIONAL) and one.name not in SEEDS
    ]  # fmt: skip
    return ((n,), {}) if places or not known else ((), {})
