"""The method of each variable, by the user's options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.files.source import Scalar
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.methods import METHODS, name_of
from unveil.synthesis.methods.sample import Sample
from unveil.synthesis.plan import unknown
from unveil.synthesis.protocol import VariableMethod
from unveil.synthesis.variable import EncodedVariable

Method = str | VariableMethod
Smoothing = Literal["density"]
NUMERIC_ONLY = ("norm", "normrank", "pmm")
"""Methods that cannot model which special value a record has; CART does."""
Methods = dict[str, VariableMethod]


def choose_methods(
    names: Sequence[str],
    cart: CartMethod,
    methods: Method | Mapping[str, Method],
    smoothing: Smoothing | Mapping[str, Smoothing | None] | None,
) -> tuple[Methods, Methods]:
    """Return the method of each variable, and that of its part "which special value".

    Parameters
    ----------
    names
        The variables.
    cart
        Settings of the trees.
    methods
        Name or object, for all variables or by variable.
    smoothing
        Smoothing, for all variables or by variable.

    Returns
    -------
    dict, dict
        Methods of the variables, and methods of the parts, by variable.

    Raises
    ------
    CallError
        If a variable or method is unknown, or donors are mixed and a variable is modelled without donors of leaves.

    Examples
    --------
    >>> methods, parts = choose_methods(["age", "wage"], CartMethod(), {"wage": "norm"}, None)
    >>> type(methods["wage"]).__name__, type(parts["wage"]).__name__
    ('Norm', 'CartMethod')
    """
    if not isinstance(methods, str | Mapping) and not callable(getattr(methods, "fit", None)):
        raise CallError(f"methods: give a name, an object with fit(), or a mapping by column, not {methods!r}")
    if smoothing is not None and not isinstance(smoothing, str | Mapping):
        raise CallError(f"smoothing must be None or 'density', or a mapping by column, not {smoothing!r}")
    wanted = methods if isinstance(methods, Mapping) else dict.fromkeys(names, methods)
    smoothed = smoothing if isinstance(smoothing, Mapping) else dict.fromkeys(names, smoothing)
    for option, given in (("methods", wanted), ("smoothing", smoothed)):
        for name in given:
            if name not in names:
                raise unknown(name, names, option)
    chosen, parts = {}, {}
    for name in names:
        method = wanted.get(name, "cart")
        own = cart if smoothed.get(name) == cart.smoothing else replace(cart, smoothing=smoothed.get(name))
        chosen[name] = _method(method, own, name)
        if cart.mix and not isinstance(chosen[name], CartMethod | Sample):
            raise CallError(
                f"mix: column {name!r} is modelled by {name_of(chosen[name]) or type(chosen[name]).__name__!r}, which "
                "does not mix its donors and would leave the column unprotected; use method 'cart' or 'sample' for it, "
                "or mix=0"
            )
        parts[name] = cart if isinstance(method, str) and method in NUMERIC_ONLY else chosen[name]
    return chosen, parts


def carries_recodings(method: VariableMethod) -> bool:
    """Whether a recoding of an earlier predictor replaces this method: only for methods of this package.

    A method of the user may be there to break the relation of two variables. With mixed donors a value that is carried
    over would be the only one that is never mixed.
    """
    if type(method) is CartMethod:
        return not method.mix
    return name_of(method) is not None


def check_special_codes(
    special_codes: Mapping[str, Iterable[Scalar] | Scalar], variables: Sequence[EncodedVariable]
) -> None:
    """Raise an error unless special codes are numbers of numeric columns; in others every value is a level anyway.

    Raises
    ------
    CallError
        If a special code is not a number, or its column is not numeric.
    """
    for variable in variables:
        if variable.name not in special_codes:
            continue
        if variable.kind != "numeric" and len(variable.values):
            raise CallError(
                f"special_codes: column {variable.name!r} is {variable.kind}, where every value is kept apart "
                "as it is; leave it out"
            )
        given = special_codes[variable.name]
        for code in [given] if isinstance(given, str) or not isinstance(given, Iterable) else given:
            if isinstance(code, str) or not isinstance(code, int | float | np.number):
                raise CallError(f"special_codes: {code!r} of the numeric column {variable.name!r} is not a number")


def _method(method: Method, cart: CartMethod, column: str) -> VariableMethod:
    if not isinstance(method, str):
        if not callable(getattr(method, "fit", None)):
            raise CallError(f"methods: that of column {column!r} is {method!r}; give a name, or an object with fit()")
        return method
    if method == "cart":
        return cart
    check_choice("methods", method, ("cart", *METHODS))
    return METHODS[method]()
