"""Type checkers see the public names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_type_checkers_find_functions_and_names_of_rooms(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text("""
import unveil
import unveil.posterior
import unveil.tables
from unveil.posterior import Prior
from unveil.report import html


def measured(pair: unveil.Pair, synthesizer: object, prior: Prior) -> float:
    risk: unveil.PosteriorRisk = unveil.posterior(pair, synthesizer, target="income", prior=prior)
    table: unveil.tables.IdentityRisk = unveil.identity(pair, "sex")
    return risk.mean_posterior + table.repU


reveal_type(html)
unveil.posterior(1)
""")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(user)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = re.findall(r"user\.py:(\d+): (error|note: Revealed)", told)
    assert found == [("15", "note: Revealed"), *[("16", "error")] * 2], told
