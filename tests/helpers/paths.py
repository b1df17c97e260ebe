"""Where the files of the project are."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
"""Stores written by released versions of Hermes, and other recorded files."""
HERMES = Path(sys.executable).with_name("hermes")
"""The real program, installed beside the tests' interpreter."""


def fixture(schema: int | str) -> Path:
    """The store of a schema, as the real Hermes wrote it; read it only."""
    return next(DATA.glob(f"state-v{schema}-*.db"))
