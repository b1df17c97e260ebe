"""The language of the program: the one that is set, else that of the locale.

It is asked for at the start of every command, before anything is said, so the file is not read as TOML for it, which
would load a reader of TOML: a line of its top part is looked at. What is wrong with it is told by who reads it whole.
"""

from __future__ import annotations

import re

from hermes_browse.store.wording import LANGUAGES, language_of

from .folders import config_path


def chosen_language() -> str:
    """One of `LANGUAGES`."""
    try:
        text = config_path().read_text(encoding="utf-8", errors="replace")
    except OSError:  # none, or one that cannot be read, which is told where all of it is needed
        return language_of()
    top = re.split(r"(?m)^\s*\[", text, maxsplit=1)[0]
    found = re.search(r"""(?m)^\s*language\s*=\s*["'](\w+)["']""", top)
    return found[1] if found is not None and found[1] in LANGUAGES else language_of()
