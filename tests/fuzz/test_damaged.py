"""Damaged files and documents: no signal, no traceback, no hang, and nothing that is read otherwise than it is written.

They are read in another process. An error is one line that names the file; what is read without an error is compared
with what the library of the format says at its strictest. Seeds are fixed: the same numbers are the same damage.
``UNVEIL_FUZZ_MINUTES=20`` goes on for so long, with other damage after the usual.
"""

from __future__ import annotations

import os

import pytest

from fuzz.campaign import Campaign, campaign, campaign_for
from fuzz.documents import DOCUMENTS
from fuzz.seeds import ENDINGS

USUAL = 60
MINUTES = float(os.environ.get("UNVEIL_FUZZ_MINUTES", "0"))


def damaged(what: str) -> Campaign:
    """The usual number of damaged files, or so many as there is time for."""
    if not MINUTES:
        return campaign(what, 0, USUAL)
    return campaign_for(what, 60 * MINUTES / (len(ENDINGS) + len(DOCUMENTS)))


def check(found: Campaign) -> None:
    """Nothing that must not be, and enough that tells something."""
    said = "\n".join(f"{number}: {text}" for number, text in found.bad.items())
    assert not found.bad, f"{found}\n{said}"
    assert found.counts["files"] >= USUAL
    assert found.counts["refused"] + found.counts["read"] == found.counts["files"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_files(ending: str, format_here: None):
    found = damaged(ending)
    check(found)
    assert found.counts["refused"] > USUAL / 4
    assert found.counts["compared"] == found.counts["read"]


@pytest.mark.parametrize("what", DOCUMENTS)
def test_damaged_documents(what: str):
    found = damaged(what)
    check(found)
    # A finished part that is damaged is worked out anew, with a warning.
    assert found.counts["warned" if what == "kept part" else "refused"] > USUAL / 4
