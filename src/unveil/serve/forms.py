"""What a form sends: bounded, whole text, and from a page of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs

from unveil.errors import CallError

LARGEST = 4 << 20
MOST_FIELDS = 200_000


@dataclass(frozen=True)
class Form:
    """The fields of a form by name; a name may have several values.

    Examples
    --------
    >>> form = Form.of(b"keys=sex&keys=age&budget=+60+")
    >>> form.all("keys"), form.text("budget"), form.text("seed")
    (['sex', 'age'], '60', '')
    """

    fields: Mapping[str, list[str]]

    @classmethod
    def of(cls, body: bytes) -> Form:
        """The form in the body of a request.

        Raises
        ------
        CallError
            If it is not text in UTF-8, or has too many fields.
        """
        try:
            return cls(parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
        except ValueError:
            raise CallError("the form is not text that can be read; load the page again") from None

    def all(self, name: str) -> list[str]:
        """All values of a field that are not blank."""
        return [text.strip() for text in self.fields.get(name, []) if text.strip()]

    def text(self, name: str) -> str:
        """The value of a field, or an empty text."""
        return next(iter(self.all(name)), "")


async def form_of(request: Any, secret: str) -> Form:
    """Read the form of a request.

    Parameters
    ----------
    request
        The request.
    secret
        What the field or header ``csrf`` must be: only pages of ours know it.

    Raises
    ------
    CallError
        If the form is too large, is no text, or does not come from a page of ours.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise CallError(f"the form is larger than {LARGEST >> 20} MB; name fewer or shorter values")
    form = Form.of(bytes(body))
    check_secret(request.headers.get("x-csrf") or form.text("csrf"), secret)
    return form


def check_secret(given: str, secret: str) -> None:
    """Refuse a request that does not come from a page of ours.

    Raises
    ------
    CallError
        If it does not know the secret.
    """
    if not compare_digest(given.encode(), secret.encode()):
        raise CallError("this page is of an earlier start of unveil; load it again")
