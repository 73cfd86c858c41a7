"""Hatchling, and Zig where there is no C compiler."""

from __future__ import annotations

from typing import Any

import hatchling.build
from hatchling.build import *  # noqa: F403


def _with_compiler(requirements: list[str]) -> list[str]:
    # Not at the top: hatchling itself is not yet there when a tool only reads this module.
    from loops import ZIG, compiler

    return requirements if compiler() else [*requirements, ZIG]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What building a wheel needs."""
    return _with_compiler(hatchling.build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What an editable installation needs."""
    return _with_compiler(hatchling.build.get_requires_for_build_editable(config_settings))
