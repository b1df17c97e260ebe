"""What a test needs of the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

posix_only = pytest.mark.skipif(
    sys.platform == "win32", reason="pseudo-terminals, signals, pipes and shell scripts of POSIX"
)


def script(path: Path, body: str = "") -> Path:
    """Write a shell script, without its first line here, as a program; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path
