"""What a test needs of the system."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

posix_only = pytest.mark.skipif(
    sys.platform == "win32", reason="pseudo-terminals, signals, pipes and shell scripts of POSIX"
)

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="the system does not tell of its processes"
)
HAS_HERMES = find_spec("hermes_state") is not None
needs_hermes = pytest.mark.skipif(not HAS_HERMES, reason="hermes-agent is not installed")
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives up what it may do"
)


def script(path: Path, body: str = "") -> Path:
    """Write a shell script, without its first line here, as a program; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let nobody list a folder, not even root."""
    scandir = os.scandir

    def refuse(path: Any = ".") -> Any:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)


def python(code: str, *arguments: str) -> str:
    """Run code in an interpreter of its own, which must end well; what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, timeout=120
    ).stdout


def until(holds: Callable[[], object], told: Callable[[], object] = str) -> None:
    """Wait for something another program or thread does; on failure, what is told is said."""
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, told()
        time.sleep(0.01)
