"""Paths of this user's files, and the language setting, which is needed before the configuration is
read."""

from __future__ import annotations

import re
from pathlib import Path

from hermes_browse.store.files import read_regular, user_folder, write_whole
from hermes_browse.store.wording import LANGUAGES, language_of

MOST_CONFIGURED = 1_000_000
"""Bytes of a configuration; a larger file is none."""


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
