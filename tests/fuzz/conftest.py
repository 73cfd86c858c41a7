"""What the fuzz tests share."""

from __future__ import annotations

import pytest

from fuzz.seeds import FORMATS


@pytest.fixture
def format_here(request: pytest.FixtureRequest) -> None:
    """Skip a format whose sound files nothing here can make or read."""
    ending = request.getfixturevalue("ending")
    if ending not in FORMATS:
        pytest.skip(f"{ending}: neither rdata with pandas nor pyreadstat with a frame library is installed for it")
