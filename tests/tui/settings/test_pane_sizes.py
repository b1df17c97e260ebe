"""The line between the panes: moved by keys, within bounds, remembered, and painted ahead where it
is."""

import pytest
from browsing import browsing, demo_app
from platforms import posix_only
from terminal import Terminal

from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.tui.settings.start import (
    LEAST,
    MOST,
    LastState,
    PaneSizes,
    memory_path,
    read_memory,
    read_start,
    write_memory,
)


@pytest.mark.slow
async def test_it_is_as_it_was_left(tmp_path):
    """In the file of what is remembered; nonsense in it is as nothing."""
    app = demo_app(tmp_path)
    async with browsing(app) as browser:
        await browser.press("tab", "z")
        assert not app.new_memory().list_alone, "the transcript is"
        await browser.press("z", "escape", "less_than_sign", "z")
    assert app.new_memory() == LastState(View.CHATS, Sort.ACTIVITY, False, None, 52, 40, True)
    write_memory(memory_path(), app.new_memory())
    assert vars(read_start().pane_sizes) == vars(PaneSizes(52, 40, True))
    for value in ("true", "19", '"50"', "1e9"):
        memory_path().write_text(f'{{"list_width": {value}}}')
        assert read_memory(memory_path()).list_width == 56


def test_bounds():
    """No more than there is, and it is told."""
    pane_sizes = PaneSizes()
    assert pane_sizes.change(100, is_narrow=False) and pane_sizes.width == MOST
    assert not pane_sizes.change(1, is_narrow=False)
    assert pane_sizes.change(-100, is_narrow=True) and pane_sizes.height == LEAST
    assert pane_sizes.of(200, 50) == (160, 50) and pane_sizes.of(80, 20) == (80, 4)


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize(
    "memory, width", [(LastState(list_width=62), 73), (LastState(list_alone=True), 119)]
)
def test_what_is_painted_ahead_has_the_same_shares(hermes_home, memory, width):
    """Nothing moves when Textual takes over."""
    write_memory(memory_path(), memory)
    terminal = Terminal(["--home", str(hermes_home)], columns=120, rows=36, COLORTERM="truecolor")
    terminal.wait_for("search:")
    ahead = terminal.painted_ahead()
    assert "started 119 days ago" in "\n".join(ahead.display) and "search:" not in "\n".join(
        ahead.display
    )
    digits = str.maketrans("0123456789…~", " " * 12)

    def shown(screen):
        return [line[:width].translate(digits) for line in screen.display[4:20]]

    terminal.read_until(lambda: shown(terminal.screen) == shown(ahead), "the list changed")
    terminal.leave()


@pytest.mark.slow
@posix_only
def test_the_mouse_is_left_and_taken_back(hermes_home):
    """By a key; where the configuration leaves it, the key takes it."""
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("search:")
    terminal.send("\x1b[20~", "the terminal has the mouse")
    assert terminal.raw.rfind(b"\x1b[?1000l") > terminal.raw.rfind(b"\x1b[?1000h")
    terminal.send("\x1b[20~", "the browser has the mouse")
    assert terminal.raw.rfind(b"\x1b[?1000h") > terminal.raw.rfind(b"\x1b[?1000l")
    terminal.leave()
