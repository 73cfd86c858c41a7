"""Make the synthetic copies of an original in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from unveil.checks import check_whole_numbers
from unveil.errors import CallError
from unveil.files import read
from unveil.synthesis.any_synthesizer import is_synthesizer, releases_of
from unveil.synthesis.foreign_results import as_original
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.named import check_name, is_of_others, synthesizer_by_name
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.whole_units import keeping_units

S = TypeVar("S")


def synthesize(
    original: Any, *, method: Any = "cart", m: int = 5, k: int | None = None, seed: int | None = None,
    unit: str | Sequence[str] | None = None, time: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Make synthetic copies of a file.

    Parameters
    ----------
    original
        The file of real records: a path, a data frame, or what :func:`unveil.read` gives.
    method : str or synthesizer
        ``"cart"``; another method for all variables (see ``unveil.synthesis.METHODS``); a method for the whole
        file (see ``unveil.synthesis.WHOLE_FILE``); the name of another synthesizer (see :func:`unveil.synthesizers`);
        or an object with ``fit`` and ``sample``, or a function of a frame.
    m : int
        Number of copies.
    k : int, optional
        Number of records of each copy; as many as the original by default.
    seed : int, optional
        The same seed gives the same copies, for demonstrations and tests. By default a secret seed comes from the
        operating system. A seed is confidential: somebody who has all records but one, the order of the file and the
        seed can repeat the synthesis for every possible value of the last record, and so find its value.
    unit, time
        What keeps units whole, for "cart" alone; ``k`` is then their number. Of a panel, the columns of the person and
        the wave of each row (:class:`unveil.synthesis.PanelSynthesizer`); of households, ``unit=["household",
        "person"]`` (:class:`unveil.synthesis.HouseholdSynthesizer`).
    **options
        Options of :class:`unveil.CartSynthesizer`, or of the class of the method for the whole file, or settings of
        another synthesizer by name.

    Returns
    -------
    frame or list of frames
        In the flavour and with the types of the original; a list where ``m`` is more than 1.

    Raises
    ------
    CallError
        If the method or an option is unknown or out of its range.
    DataError
        If the file cannot be synthesised.

    Examples
    --------
    >>> from unveil import simulate
    >>> original = simulate.latner_population(500, seed=1)
    >>> releases = synthesize(original, m=2, k=100, seed=1)
    >>> [release.num_rows for release in releases]
    [100, 100]
    """
    seed = seed_or_secret(seed)
    of_units = keeping_units(unit, time, method if isinstance(method, str) else None)
    if of_units is not None:
        return _made(of_units, options).fit(original, seed=seed).sample(k, m=m, seed=seed)
    if not isinstance(method, str) or is_of_others(method):
        return _by_others(original, method, m, k, seed, options)
    if method in WHOLE_FILE:
        whole = _made(WHOLE_FILE[method], options)
        return whole.fit(original, seed=seed).sample(k, m=m, seed=seed)
    if method != "cart":
        check_name(method, "method")
        if "methods" in options:
            raise CallError("give either method for all variables or methods by variable, not both")
        options["methods"] = method
    synthesizer = _made(CartSynthesizer, options)
    return synthesizer.fit(original, seed=seed).sample(k, m=m, seed=seed)


def _by_others(original: Any, method: Any, m: int, k: int | None, seed: int, options: dict[str, Any]) -> Any:
    """Copies by a synthesizer of others: by name, or given."""
    check_whole_numbers(1, m=m, k=1 if k is None else k)
    if isinstance(method, str):
        maker = synthesizer_by_name(method, **options)
    elif not is_synthesizer(method) or isinstance(method, Mapping):
        raise CallError(
            f"method must be a name, such as 'cart', or a synthesizer, not {method!r}; methods goes by column"
        )
    elif options:
        raise CallError(f"a synthesizer that is given has its settings: leave out {', '.join(options)}")
    else:
        maker = method
    source = read(original)
    frames = [as_original(one, source) for one in releases_of(maker, source, m, k, seed)]
    return frames[0] if m == 1 else frames


def _made(synthesizer: Callable[..., S], options: dict[str, Any]) -> S:
    try:
        return synthesizer(**options)
    except TypeError as error:
        reason = str(error).rpartition("__init__() ")[2]
        raise CallError(f"synthesize: {reason}") from None
