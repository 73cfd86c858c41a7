"""What stands beside the package says the same as the package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from unveil import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_python_runs_the_package():
    found = subprocess.run([sys.executable, "-m", "unveil", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.strip().endswith(__version__)


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    own = text.partition("\nreferences:")[0]
    assert re.search(r"^version: (.+)$", own, re.M)[1] == PROJECT["version"] == __version__
    assert re.search(r"^license: (.+)$", own, re.M)[1] == PROJECT["license"]


def test_the_workflow_tries_every_python_that_is_promised():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    promised = {one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)}
    assert promised == set(re.findall(r'"(3\.\d+)"', text.partition("matrix:")[2]))


@pytest.mark.parametrize("name", ["SECURITY.md", "CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md"])
def test_links_lead_somewhere(name):
    path = ROOT / name
    for link in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link
