"""A language for tests in which every text is the English one in brackets, so that what is not
translated shows."""

from __future__ import annotations

from gettext import GNUTranslations

import pytest

from hermes_browse.store import wording


class _Brackets(GNUTranslations):
    def gettext(self, message: str) -> str:
        return f"‹{message}›"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"‹{msgid2}›"

    def pgettext(self, context: str, message: str) -> str:
        return f"‹{message}›"


def speak_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak it until the test is over, as if it were Chinese.

    Args:
        monkeypatch: Of the test.
    """
    monkeypatch.setattr(wording, "_catalog", _Brackets())
    monkeypatch.setattr(wording, "_language", "zh_CN")
