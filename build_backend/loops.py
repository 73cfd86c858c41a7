"""Compile the loops of ``src/unveil/core``: with the C compiler that is there, else with Zig's.

The loops are plain C without headers of Python, so that one library serves every version of Python, and a machine that
has Python and nothing else can build it. ``python build_backend/loops.py`` compiles in place.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ZIG = "ziglang>=0.13"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# A fit must be the same on every machine: no fused multiply-adds, no relaxed arithmetic, and whole numbers wrap.
FLAGS = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fwrapv", "-fPIC", "-fvisibility=hidden", "-shared"]


def compiler() -> list[str]:
    """The command of the C compiler of this machine; empty where there is none."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    return next(([name] for name in ("cc", "gcc", "clang") if shutil.which(name)), [])


def zig() -> list[str]:
    """The command of the C compiler of Zig; without a target it would compile for the processor of this machine."""
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    system = {"win32": "windows-gnu", "darwin": "macos"}.get(sys.platform)
    if system is None:
        system = "linux-gnu.2.17" if platform.libc_ver()[0] == "glibc" else "linux-musl"
    return [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-{system}", "-mcpu=baseline"]


def compile_loops(folder: Path) -> Path:
    """Compile the loops of a folder into a library beside them, which appears whole or not at all."""
    library = folder / f"_loops{SUFFIX}"
    sources = sorted(str(source) for source in folder.glob("*.c"))
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        made = Path(aside) / library.name
        libraries = [] if sys.platform == "win32" else ["-lm"]
        subprocess.run([*(compiler() or zig()), *FLAGS, "-o", str(made), *sources, *libraries], check=True)
        os.replace(made, library)
    return library


class LoopsHook(BuildHookInterface[Any]):
    """The library becomes a part of the wheel, and the wheel one of this platform and any Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are collected."""
        library = compile_loops(Path(self.root) / "src" / "unveil" / "core")
        build_data["artifacts"].append(str(library.relative_to(self.root)))
        build_data["pure_python"] = False
        portable = not compiler() and platform.libc_ver()[0] == "glibc"
        tag = f"manylinux_2_17_{platform.machine()}" if portable else next(platform_tags())
        build_data["tag"] = f"py3-none-{tag}"


if __name__ == "__main__":
    print(compile_loops(Path(__file__).parent.parent / "src" / "unveil" / "core"))
