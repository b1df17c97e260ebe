"""The version of the program."""

from __future__ import annotations

from pathlib import Path


def version() -> str:
    """Return the installed version.

    It is taken from the name of the metadata folder beside the package if there is one: importing
    `importlib.metadata` takes longer than the interpreter's start.
    """
    site_packages = Path(__file__).resolve().parents[2]
    for folder in site_packages.glob("hermes_browse-*.dist-info"):
        return folder.name.removeprefix("hermes_browse-").removesuffix(".dist-info")
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("hermes-browse")
    except PackageNotFoundError:
        return "0 (not installed)"  # not shown: a version
