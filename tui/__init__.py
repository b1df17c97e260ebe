"""The terminal browser and its command line, and their version."""

from __future__ import annotations

import sys
from pathlib import Path


def version() -> str:
    """Return the installed version.

    It is taken from the name of the metadata folder, beside the package or, for a checkout,
    elsewhere on the path: importing `importlib.metadata` takes longer than the interpreter's start.
    """
    for place in (Path(__file__).resolve().parents[2], *map(Path, sys.path)):
        for folder in place.glob("hermes_browse-*.dist-info"):
            return folder.name.removeprefix("hermes_browse-").removesuffix(".dist-info")
    return "0 (not installed)"
