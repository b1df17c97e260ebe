"""The card that saves conversations: which messages go into a file, and what is said of those that do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import browsing, loose, open_app
from pruning import NOW


async def test_export_of_everything(
    fixture_store: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSONL holds live messages unless a key says otherwise; what was left out is said."""
    monkeypatch.chdir(tmp_path)
    async with browsing(open_app(loose(fixture_store("state-v31")), NOW), (250, 36)) as browser:
        await browser.press("4")
        rows = browser.screen.rows
        rows.cursor = rows.source.index_of("c20260115_090000_999001")
        await browser.settle()
        await browser.press("e", "down")
        assert "live messages" in browser.text("#everything")
        browser.app.screen.query_one("Input").value = "live.jsonl"  # type: ignore[attr-defined]
        await browser.press("enter")
        assert "Left out: 2 rewound messages." in browser.text("#status")
        await browser.press("e", "down", "ctrl+l")
        assert "only Hermes 0.22" in browser.text("#everything")
        browser.app.screen.query_one("Input").value = "all.jsonl"  # type: ignore[attr-defined]
        await browser.press("enter")
        assert "With 2 rewound messages" in browser.text("#status")
    counts = {name: len(json.loads((tmp_path / name).read_text())["messages"]) for name in ("live.jsonl", "all.jsonl")}
    assert counts == {"live.jsonl": 3, "all.jsonl": 5}
