"""Draw the pictures of the README from the demo store, always the same for the same code.

Run it through `make screenshots`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "tui"))

os.environ.update(TZ="UTC", COLORTERM="truecolor", TERM="xterm-256color", TEXTUAL_ANIMATIONS="none")
os.environ.pop("NO_COLOR", None)
time.tzset()

from browsing import browsing, demo_app  # noqa: E402  # the environment is read at import

PICTURES: dict[str, tuple[tuple[int, int], str, Sequence[str]]] = {
    "browser": ((120, 36), "hermes-dark", ()),
    "browser-light": ((120, 36), "hermes-light", ()),
    "search": ((120, 36), "hermes-dark", ("slash", *"cookie", "enter", "down")),
    "lineage": ((120, 36), "hermes-dark", ("l", "home")),
    "narrow": ((80, 24), "hermes-dark", ()),
    "cleanup": ((120, 36), "hermes-dark", ("P",)),
    "cleanup-narrow": ((80, 24), "hermes-light", ("P",)),
    "insights": ((120, 36), "hermes-dark", ("I",)),
    "wide": ((200, 60), "hermes-dark", ()),
}
"""Name → size, theme and the keys that lead there."""


async def draw(name: str) -> str:
    """One picture as SVG.

    Args:
        name: Of `PICTURES`.
    """
    size, theme, keys = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        app = demo_app(Path(folder))
        async with browsing(app, size) as browser:
            app.theme = theme
            for key in keys:
                await browser.press(key)
            await browser.measure()
            browser.screen.line("status").update("")  # it tells milliseconds
            await browser.pilot.pause()
            svg = app.export_screenshot(title="hermes-browse")
    # Textual names its classes after a random number.
    return re.sub(r"terminal-\d+", f"terminal-{name}", svg)


def main() -> None:
    """Draw them all."""
    for name in PICTURES:
        (HERE / f"{name}.svg").write_text(asyncio.run(draw(name)), encoding="utf-8")
        print(f"screenshots/{name}.svg")


if __name__ == "__main__":
    main()
