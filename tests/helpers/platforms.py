"""What a test needs of the system."""

from __future__ import annotations

import sys

import pytest

posix_only = pytest.mark.skipif(
    sys.platform == "win32", reason="pseudo-terminals, signals, pipes and shell scripts of POSIX"
)
