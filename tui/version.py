"""The version of the program."""

from __future__ import annotations

from pathlib import Path


def version() -> str:
    """The installed version.

    Read from the name of the metadata folder beside the package where that is enough: the
    standard library's reader costs more than the interpreter's own start.
    """
    beside = Path(__file__).resolve().parents[2]
    for entry in beside.glob("hermes_browse-*.dist-info"):
        return entry.name.removeprefix("hermes_browse-").removesuffix(".dist-info")
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("hermes-browse")
    except PackageNotFoundError:
        return "0 (not installed)"  # not shown: a version
