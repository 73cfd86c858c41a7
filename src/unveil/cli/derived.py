"""Options of the command line, made from the class that declares them for Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, make_dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter

from unveil.cli.options import Listed
from unveil.cli.parsing import whole
from unveil.docstrings import parameter_texts

COMMAS = "Separated by commas."
T = TypeVar("T", bound="Derived")


@dataclass(frozen=True)
class Derived:
    """Options that are None unless they are given."""

    def given(self) -> dict[str, Any]:
        """The options that are given, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


def derived(
    source: type,
    typed: Mapping[str, str] | None = None,
    *,
    only: Collection[str] | None = None,
    group: Group | None = None,
    groups: Mapping[str, Group] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Give a class the options of another: their names, types, defaults and texts.

    Parameters
    ----------
    source
        The frozen dataclass that declares the options; its docstring holds their texts.
    typed
        How an option is typed, by its name, where that needs saying.
    group
        Where the help lists the options.
    groups
        Where it lists some of them, by their names.
    only
        Options that are taken; all by default.
    """
    texts, hints = parameter_texts(source), get_type_hints(source)

    def decorate(cls: type[T]) -> type[T]:
        options = []
        for option in (one for one in fields(source) if only is None or one.name in only):
            words = [*texts[option.name].replace("``", "").split(), (typed or {}).get(option.name, "")]
            about = Parameter(help=" ".join(words).strip())
            if groups and option.name in groups:
                about = Parameter.combine(about, Parameter(group=groups[option.name]))
            options.append((option.name, _typed(hints[option.name], about, option.default), None))
        made = make_dataclass(cls.__name__, options, bases=(cls,), frozen=True)
        made.__doc__, made.__module__ = cls.__doc__, cls.__module__
        return (Parameter(name="*", group=group) if group else Parameter(name="*"))(made)

    return decorate


def _typed(hint: Any, about: Parameter, default: Any) -> Any:
    """The type of an option as the command line reads it, with its text, group and default."""
    kinds = [one for one in (get_args(hint) or (hint,)) if one is not type(None)]
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    about = Parameter.combine(about, Parameter(show_default=default not in (MISSING, None, ()) and shown))
    if Sequence[str] in kinds or list[str] in kinds or any(get_origin(kind) is Mapping for kind in kinds):
        return Annotated[Listed, about, Parameter(negative=())]
    if kinds == [int]:
        return Annotated[int | None, about, Parameter(converter=whole)]
    return Annotated[kinds[0] | None, about]
