"""The arguments of a browser that is to open at once, read without argparse: that takes a tenth of the start."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

_WITH_VALUE = {"--home": "home", "--profile": "profile", "--db": "db"}


def read_quickly(argv: Sequence[str]) -> SimpleNamespace | None:
    """The arguments when all they do is name a store to browse.

    Args:
        argv: Without the program's name.

    Returns:
        What `arguments.parse` would give; None for everything else, mistakes included, which is its affair.
    """
    found: dict[str, str | None] = {"home": None, "profile": None, "db": None}
    flags = {"demo": False, "or_demo": False, "print_command": False, "old": False, "plain": False}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name in _WITH_VALUE:
            value = value if equals else next(words, "")
            if not value or found[_WITH_VALUE[name]] is not None or (not equals and value.startswith("-")):
                return None
            found[_WITH_VALUE[name]] = value
        elif word in ("--demo", "--or-demo", "--print-command", "--plain"):
            flags[word[2:].replace("-", "_")] = True
        else:
            return None
    if (found["db"] is not None) + flags["demo"] + (found["home"] is not None or found["profile"] is not None) > 1:
        return None
    return SimpleNamespace(command=None, version=False, **found, **flags)
