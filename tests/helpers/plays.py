"""The recorded plays of `tests/data/changes` as stores, and Git to judge a diff."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import paths
from store_builder import StoreBuilder

DATA = paths.DATA / "changes"
RELEASES = tuple(sorted(path.stem for path in DATA.glob("*.json")))


def play(release: str) -> dict[str, Any]:
    """What a release did, and the files before and after."""
    document = json.loads((DATA / f"{release}.json").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def store_of(
    document: Mapping[str, Any], path: Path, directory: str = "", shape: str = "22"
) -> Path:
    """Write a play as a store.

    Args:
        document: The play.
        path: Of the new store.
        directory: Takes the place of the folder of the recording.
        shape: As of `StoreBuilder`.
    """
    builder = StoreBuilder(path, shape)
    recorded = document["directory"]
    for name, parent in document["parents"].items():
        columns: dict[str, object] = {"parent_session_id": parent}
        if shape != "11":
            columns["cwd"] = directory or recorded
        if name == "agent":
            columns |= {"source": "subagent", "model_config": {"_delegate_from": parent}}
        if name == "first":
            columns["end_reason"] = "compression"
            columns["ended_at"] = 1_767_258_090.0
        builder.session(name, **columns)
    for message in document["messages"]:
        told = dict(message)
        if directory:
            told = json.loads(json.dumps(told).replace(recorded, directory))
        session, role, content = (told.pop(key) for key in ("session_id", "role", "content"))
        builder.message(session, role, content, **told)
    return builder.write()


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, given by their path in a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """Make a Git repository with these files in its first commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    write_files(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "first")
    return folder


def git(folder: Path, *arguments: str, text: str | None = None) -> str:
    """Run Git in a folder, without the settings of this machine; return what it prints."""
    settings = ("core.autocrlf=false", "user.name=x", "user.email=x@y", "core.safecrlf=false")
    options = [part for setting in settings for part in ("-c", setting)]
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=folder,
        input=text.encode() if text is not None else None,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode() + (text or "")
    return done.stdout.decode()


def apply_and_compare(folder: Path, diff: str, expected: str | None, path: str) -> None:
    """Apply a diff in a repository; the file must then be what was left, byte for byte."""
    if diff:
        git(folder, "apply", "--whitespace=nowarn", "-", text=diff)
    file = folder / path
    left = file.read_bytes().decode() if file.exists() else None
    assert left == expected, path
