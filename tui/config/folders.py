"""Where the configuration and the memory of the browser lie, and the language, which is wanted before either is read.

Importing platformdirs takes as long as painting the first rows, so the folders of Linux and the BSDs are found without
it, by the same rule (XDG Base Directory Specification); a test holds them against it.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from hermes_browse.store.wording import LANGUAGES, language_of

_NAME = "hermes-browse"


def _xdg(variable: str, *otherwise: str) -> Path | None:
    """The folder the XDG specification gives; None on systems with rules of their own."""
    if sys.platform in ("win32", "darwin") or "ANDROID_DATA" in os.environ:
        return None
    named = os.environ.get(variable, "").strip()
    return (Path(named) if named else Path.home().joinpath(*otherwise)) / _NAME


def config_path() -> Path:
    """Where the configuration file of this user is, whether or not it exists."""
    folder = _xdg("XDG_CONFIG_HOME", ".config")
    if folder is None:
        from platformdirs import user_config_path

        folder = user_config_path(_NAME, appauthor=False)
    return folder / "config.toml"


def memory_path() -> Path:
    """Where the browser remembers how it was left, whether or not the file exists."""
    folder = _xdg("XDG_STATE_HOME", ".local", "state")
    if folder is None:
        from platformdirs import user_state_path

        folder = user_state_path(_NAME, appauthor=False)
    return folder / "browser.json"


def chosen_language() -> str:
    """The language that is set, else that of the locale: one of `LANGUAGES`.

    Every command asks for it before it says anything, so the file is not read as TOML, which would load a reader of
    TOML: a line of its top part is looked at. What is wrong with it is told by whoever reads all of it.
    """
    try:
        text = config_path().read_text(encoding="utf-8", errors="replace")
    except OSError:  # none, or one that cannot be read, which is told where all of it is needed
        return language_of()
    top = re.split(r"(?m)^\s*\[", text, maxsplit=1)[0]
    found = re.search(r"""(?m)^\s*language\s*=\s*["'](\w+)["']""", top)
    return found[1] if found is not None and found[1] in LANGUAGES else language_of()
