"""What an institution puts at the head of its report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from unveil.errors import CallError


@dataclass(frozen=True)
class Masthead:
    """Head of the report; what is not given is not drawn.

    It is printed as it is, in documents for publication too.

    Parameters
    ----------
    title
        Title of the report. Default: the files.
    organisation
        Who made it, or for whom.
    contact
        Whom to ask: a name, an address, or a telephone number.

    Raises
    ------
    CallError
        If one of them is no text, or empty.

    Examples
    --------
    >>> Masthead(title="Living conditions 2026").to_dict()
    {'title': 'Living conditions 2026'}
    """

    title: str | None = None
    organisation: str | None = None
    contact: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise CallError(f"{name} takes a text, not {value!r}")

    def to_dict(self) -> dict[str, str]:
        """What was given, on one line each."""
        return {name: " ".join(value.split()) for name, value in asdict(self).items() if value is not None}
