"""Draw the pictures of the documents from the demo store, always the same for the same code.

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
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

os.environ.update(TZ="UTC", COLORTERM="truecolor", TERM="xterm-256color", TEXTUAL_ANIMATIONS="none")
os.environ.pop("NO_COLOR", None)
time.tzset()

from browsing import Browser, browsing, demo_app  # noqa: E402  # the environment is read at import
from planting import planted_app  # noqa: E402

PICTURES: dict[str, tuple[tuple[int, int], str, Sequence[str]]] = {
    "browser": ((120, 36), "hermes-dark", ()),
    "browser-light": ((120, 36), "hermes-light", ()),
    "search": ((120, 36), "hermes-dark", ("slash", *"cookie", "enter", "left", "down")),
    "lineage": ((120, 36), "hermes-dark", ("l", "home")),
    "narrow": ((80, 24), "hermes-dark", ()),
    "cleanup": ((120, 36), "hermes-dark", ("P",)),
    "cleanup-narrow": ((80, 24), "hermes-light", ("P",)),
    "insights": ((120, 36), "hermes-dark", ("I",)),
    "changes": ((120, 36), "hermes-dark", ("F",)),
    "run": ((120, 36), "hermes-dark", ("B",)),
    "since": ((120, 36), "hermes-dark", ("A",)),
    "wide": ((200, 60), "hermes-dark", ()),
}
"""Name → size, theme and the keys that lead there."""

TOUR: Sequence[tuple[Sequence[str], float]] = (
    ((), 2.5),
    (("slash", *"coo"), 0.8),
    (tuple("kie"), 2.5),
    (("down", "enter"), 4.0),
    (("R",), 5.0),
)
"""The pictures of `tour.svg`, which shows one after another: the keys that lead to each, and
seconds."""


async def _picture(browser: Browser, name: str) -> str:
    """What is on screen now, as SVG."""
    await browser.measure()
    browser.screen.line("status").update("")  # it tells milliseconds
    await browser.pilot.pause()
    # Textual names its classes after a random number.
    return re.sub(
        r"terminal-\d+", f"terminal-{name}", browser.app.export_screenshot(title="hermes-browse")
    )


async def tour() -> str:
    """From a word to the command that resumes: one SVG that shows its pictures in turns, by CSS
    alone."""
    whole = sum(seconds for _, seconds in TOUR)
    rules, pictures, begin = [], [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        app = demo_app(Path(folder))
        async with browsing(app, (110, 30)) as browser:
            app.theme = "hermes-dark"
            for number, (keys, seconds) in enumerate(TOUR):
                for key in keys:
                    await browser.press(key)
                pictures.append(
                    f'<g id="tour{number}">{await _picture(browser, f"tour{number}")}</g>'
                )
                # The first one stays below the others, for those who see no animation.
                on, off = 100 * begin / whole, 100 * (begin + seconds) / whole
                begin += seconds
                if number:
                    steps = f"0% {{opacity: 0}} {on:.2f}% {{opacity: 1}} {off:.2f}% {{opacity: 0}}"
                    rules.append(f"@keyframes tour{number} {{{steps}}}")
                    timing = f"tour{number} {whole}s step-end infinite"
                    rules.append(f"#tour{number} {{opacity: 0; animation: {timing}}}")
    box = re.search(r'viewBox="[^"]+"', pictures[0])
    assert box is not None
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box[0]}>\n<style>\n'
    return head + "\n".join(rules) + "\n</style>\n" + "\n".join(pictures) + "\n</svg>\n"


async def draw(name: str) -> str:
    """One picture as SVG.

    Args:
        name: Of `PICTURES`.
    """
    size, theme, keys = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        app = planted_app(Path(folder)) if name == "since" else demo_app(Path(folder))
        async with browsing(app, size) as browser:
            app.theme = theme
            for key in keys:
                await browser.press(key)
            return await _picture(browser, name)


def main() -> None:
    """Draw them all."""
    drawn = {name: draw(name) for name in PICTURES} | {"tour": tour()}
    for name, picture in drawn.items():
        (HERE / f"{name}.svg").write_text(asyncio.run(picture), encoding="utf-8")
        print(f"screenshots/{name}.svg")


if __name__ == "__main__":
    main()
