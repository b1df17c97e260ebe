"""The card of references, opened and asked."""

from __future__ import annotations

from browsing import Browser

from hermes_browse.tui.browser.transcript.references import ReferencesCard


async def open_references(browser: Browser, *keys: str) -> None:
    """Open it on the message to which these keys of the transcript go."""
    await browser.press("tab", *keys, "L")
    await browser.wait_until(lambda: isinstance(browser.app.screen, ReferencesCard))


async def answer_to(browser: Browser, *keys: str) -> str:
    """Press keys of the card, and return what it answers."""
    await browser.press(*keys)
    await browser.settle()
    return browser.text("#answer")
