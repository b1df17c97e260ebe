"""Looks: each picture is one thing a reviewer should see. Behaviour is tested elsewhere."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from browsing import Browser, demo_app
from paths import ROOT
from textual.pilot import Pilot

from hermes_browse.store.hermes.resume_command import ResumePlan

SCREENSHOTS = ROOT / "screenshots"
Compare = Callable[..., bool]


def steps(app_keys: tuple[str, ...], theme: str) -> Callable[[Pilot[ResumePlan]], Awaitable[None]]:
    """Press keys, waiting for the workers after each."""

    async def run(pilot: Pilot[ResumePlan]) -> None:
        app = pilot.app
        browser = Browser(app, pilot)  # type: ignore[arg-type]  # the pilot's app is the browser
        app.theme = theme
        await browser.settle()
        for key in app_keys:
            await browser.press(key)
        await browser.measure()
        browser.screen.line("status").update("")  # it tells milliseconds
        await pilot.pause()

    return run


LOOKS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "main-80x24-dark": ((80, 24), "hermes-dark", ()),
    "main-120x36-light": ((120, 36), "hermes-light", ()),
    "main-200x60-dark": ((200, 60), "hermes-dark", ()),
    "main-120x36-ansi": ((120, 36), "ansi-dark", ()),
    "search-120x36-dark": ((120, 36), "hermes-dark", ("slash", *"cookie", "enter", "left", "down")),
    "search-80x24-light": ((80, 24), "hermes-light", ("slash", *"cookie", "enter", "left", "down")),
    "search-nothing": ((80, 24), "hermes-dark", ("slash", *"zzqq")),
    "lineage-80x24": ((80, 24), "hermes-dark", ("l", "home")),
    "automation": ((100, 30), "hermes-dark", ("2", "down", "R")),
    "everything-tools-full": ((120, 36), "hermes-dark", ("tab", "t", "r", "home")),
    "cleanup-120x36-dark": ((120, 36), "hermes-dark", ("P",)),
    "cleanup-80x24-light": ((80, 24), "hermes-light", ("P", "tab", "enter")),
    "delete-80x24-dark": ((80, 24), "hermes-dark", ("down", "space", "space", "D")),
    "marks-120x36-light": ((120, 36), "hermes-light", ("down", "space", "space")),
    "changes-120x36-dark": ((120, 36), "hermes-dark", ("F", "tab", *["down"] * 6)),
    "changes-80x24-light": ((80, 24), "hermes-light", ("F",)),
    "run-120x36-dark": ((120, 36), "hermes-dark", ("B",)),
    "run-80x24-light": ((80, 24), "hermes-light", ("B", "down", "down")),
    "help-80x24": ((80, 24), "hermes-dark", ("question_mark",)),
}


@pytest.mark.parametrize("look", LOOKS)
def test_look(look: str, tmp_path: Path, snap_compare: Compare) -> None:
    """The named screen, on the demo store, with the clock stopped."""
    size, theme, keys = LOOKS[look]
    assert snap_compare(demo_app(tmp_path), terminal_size=size, run_before=steps(keys, theme))


@pytest.mark.slow
def test_the_pictures_of_the_readme_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make screenshots` would draw the same."""
    monkeypatch.syspath_prepend(str(SCREENSHOTS))
    make = importlib.import_module("make")
    for name in ("browser", "search", "cleanup"):
        assert asyncio.run(make.draw(name)) == (SCREENSHOTS / f"{name}.svg").read_text(
            encoding="utf-8"
        ), name
