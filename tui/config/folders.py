"""Paths of this user's files, and the language setting, which is needed before the configuration is
read.

Importing platformdirs takes as long as painting the first rows, so the folders of Linux and the
BSDs are computed here by the same rule (XDG Base Directory Specification); a test compares the two.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from hermes_browse.store.files import read_regular, write_whole
from hermes_browse.store.wording import LANGUAGES, language_of

MOST_CONFIGURED = 1_000_000
"""Bytes of a configuration; a larger file is none."""
_NAME = "hermes-browse"
_XDG = {"config": ("XDG_CONFIG_HOME", ".config"), "data": ("XDG_DATA_HOME", ".local/share")}
_XDG |= dict.fromkeys(("state", "log"), ("XDG_STATE_HOME", ".local/state"))
"""Kind of folder to its variable, and its place in the home folder where that is not set."""


def user_folder(kind: str) -> Path:
    """Return this user's folder for files of a kind (`config`, `data`, `state`, `log`); it need not
    exist."""
    if sys.platform in ("win32", "darwin") or "ANDROID_DATA" in os.environ:
        import platformdirs  # start: Linux does without it

        folder: Path = getattr(platformdirs, f"user_{kind}_path")(_NAME, appauthor=False)
        return folder
    variable, default = _XDG[kind]
    base = os.environ.get(variable, "").strip()
    folder = (Path(base) if base else Path.home() / default) / _NAME
    return folder / "log" if kind == "log" else folder


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user may read, whole or not at all, and its folder if there is
    none.

    Raises:
        OSError: It could not be written, and a file that was there is as before; or it is there,
            but its folder could not be flushed to disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, [text.encode("utf-8")], replace=True)


def config_path() -> Path:
    """The configuration file."""
    return user_folder("config") / "config.toml"


def memory_path() -> Path:
    """The file in which the browser remembers how it was left."""
    return user_folder("state") / "browser.json"


def history_path() -> Path:
    """The file of past and saved searches."""
    return user_folder("state") / "searches.jsonl"


def log_path() -> Path:
    """The log."""
    return user_folder("log") / "hermes-browse.log"


def chosen_language() -> str:
    """Return the language that is configured, else that of the locale: one of `LANGUAGES`.

    Every command calls this before it prints anything. A regular expression finds the line, because
    importing a TOML parser takes longer; whoever parses the whole file reports errors.
    """
    try:
        text = read_regular(config_path(), MOST_CONFIGURED).decode("utf-8", "replace")
    except OSError:  # missing or unreadable; `read_config` reports the latter
        return language_of()
    top = re.split(r"(?m)^\s*\[", text, maxsplit=1)[0]
    match = re.search(r"""(?m)^\s*language\s*=\s*["'](\w+)["']""", top)
    return match[1] if match is not None and match[1] in LANGUAGES else language_of()
