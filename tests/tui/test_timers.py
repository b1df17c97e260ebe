"""What was set to be done later is done, however busy the machine is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from browsing import PATIENCE
from textual import _time
from textual.app import App

import hermes_browse.tui.textual_private  # noqa: F401  # replaces the timers of Textual


async def test_a_timer_rings_if_the_thread_stood_still_as_it_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Textual alone skips the only ring of a timer that is late as it starts, and never calls
    back."""
    rung: list[str] = []
    asked: list[None] = []
    real = _time.get_time

    def ten_seconds_ago_at_first() -> float:
        asked.append(None)
        return real() - 10.0 * (len(asked) == 1)

    async def until(holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.001)

    app = App[None]()
    async with app.run_test():
        monkeypatch.setattr(_time, "get_time", ten_seconds_ago_at_first)
        app.set_timer(0.01, lambda: rung.append("late"))
        await until(lambda: len(asked) > 1)
        app.set_timer(0.05, lambda: rung.append("in time"))
        await until(lambda: "in time" in rung)
    assert rung == ["late", "in time"]
