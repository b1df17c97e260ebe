"""Shells that source what the program printed for them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from commandline import call

SHELLS = ("bash", "zsh", "fish")
_QUIET = {"bash": ("--norc", "--noprofile"), "zsh": ("-f",), "fish": ("--no-config",)}


def script_for(shell: str, command: str, folder: Path) -> Path:
    """Write what `completions` or `shell-init` prints for a shell into a file."""
    script = folder / "script"
    script.write_text(call(command, shell).out)
    return script


def run_in(shell: str, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a shell that reads no configuration, with arguments of its own."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    return subprocess.run(
        [program, *_QUIET[shell], "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
