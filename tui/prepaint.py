"""The first rows before Textual is loaded: importing it takes ten times as long as reading and painting them.

The frame is the one Textual paints next: same rows, same places, same colours, so that taking over
changes nothing that is seen. It is painted on terminals with true colours only; elsewhere the start
is as long as it is. The terminal is out of canonical mode and silent before the first byte, keys
typed meanwhile stay in its buffer, and every way out puts it back as it was.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.catalog import Catalog
from hermes_browse.store.homes import Location
from hermes_browse.store.models import Conversation, Sort, View
from hermes_browse.store.text import one_line, printable

from .formats import clip, fit
from .list_model import Details, make_rows, order_name, shown_line, view_name
from .row_format import format_row
from .shares import Shares

Colour = tuple[int, int, int]


class Palette(NamedTuple):
    """The colours of a theme, as Textual resolves them; a test holds them against it."""

    background: Colour
    foreground: Colour
    panel: Colour
    accent: Colour
    success: Colour
    cursor: Colour


PALETTES = {
    "hermes-dark": Palette((22, 23, 26), (213, 211, 205), (36, 38, 43), (215, 166, 87), (143, 181, 115), (80, 65, 44)),
    "hermes-light": Palette(
        (250, 249, 246), (38, 40, 44), (234, 232, 226), (137, 90, 0), (60, 107, 33), (216, 201, 172)
    ),
}
"""Themes that can be painted ahead."""
DIM = 0.66
"""How much of the foreground is left of dim text."""

_LOOKS: dict[str, tuple[str, bool, str]] = {
    "title": ("foreground", False, ""),
    "plain": ("foreground", False, ""),
    "dim": ("foreground", True, ""),
    "note": ("foreground", True, "3"),
    "accent": ("accent", False, ""),
    "live": ("success", False, "1"),
    "hit": ("accent", False, "1;4"),
}
"""Colour of the palette, whether it is dim, attributes."""


def _mix(colour: Colour, background: Colour, share: float) -> Colour:
    red, green, blue = (int(b + (c - b) * share) for c, b in zip(colour, background, strict=True))
    return red, green, blue


def _sgr(text: str, colour: Colour, background: Colour, attributes: str = "") -> str:
    front, back = ";".join(map(str, colour)), ";".join(map(str, background))
    return f"\x1b[0;{attributes + ';' if attributes else ''}38;2;{front};48;2;{back}m{printable(text)}"


def is_possible() -> bool:
    """Whether this terminal is one to paint on: true colours, no settings that ask for another look."""
    env = os.environ
    if sys.platform == "win32" or env.get("COLORTERM", "").lower() not in ("truecolor", "24bit"):
        return False
    if any(name in env for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_DRIVER")):
        return False
    return env.get("TERM", "dumb") != "dumb" and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def terminal_size() -> tuple[int, int]:
    """Columns and lines by the rules of `shutil.get_terminal_size`, which Textual asks: importing it takes as long
    as painting.
    """
    said = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    columns, lines = (int(text) if text.isdecimal() else 0 for text in said)
    if not columns or not lines:
        try:
            found = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
        except (OSError, ValueError):  # no terminal, or its stream is closed
            found = os.terminal_size((80, 24))
        columns, lines = columns or found.columns or 80, lines or found.lines or 24
    return columns, lines


def _views(catalog: Catalog, palette: Palette) -> str:
    background, foreground = palette.background, palette.foreground
    counts = catalog.counts()
    line = _sgr(" ", foreground, background)
    for number, view in enumerate(View, 1):
        count = f"{counts[view]:,}" if catalog.exact else "…"
        label = f" {number} {view_name(view)} {count} "
        muted = _mix(foreground, background, DIM)
        is_current = view is View.CHATS
        line += _sgr(label, foreground if is_current else muted, background, "1;7" if is_current else "")
        line += _sgr(" ", foreground, background)
    return line + _sgr(f"  ↓ {order_name(Sort.ACTIVITY)}", _mix(foreground, background, DIM), background)


def frame(
    catalog: Catalog,
    shown: Sequence[Conversation],
    location: Location,
    size: tuple[int, int],
    now: float,
    palette: Palette,
    shares: Shares,
) -> str:
    """The first screen as escape sequences.

    Args:
        catalog: The first page.
        shown: Its first conversations, with previews.
        location: Of the store.
        size: Columns and lines of the terminal.
        now: Unix seconds.
        palette: Colours of the theme.
        shares: How much of the panes is the list's.
    """
    width, height = size
    plain, foreground, panel = palette.background, palette.foreground, palette.panel
    details = Details()
    details.add(shown)
    muted = _mix(foreground, plain, DIM)
    told = shown_line(catalog, View.CHATS)
    name = one_line(location.name, 30)
    title = f" hermes-browse  {name}"
    space = " " * max(width - cell_len(title) - cell_len(told) - 1, 2)
    lines = [
        _sgr(" hermes-browse  ", foreground, plain, "1")
        + _sgr(name, palette.accent, plain)
        + _sgr(space, foreground, plain)
        + _sgr(clip(told, max(width - cell_len(title) - len(space), 0)), muted, plain),
        _sgr(fit("", width), foreground, panel),
        _views(catalog, palette),
    ]
    rows = make_rows(catalog, details, View.CHATS, Sort.ACTIVITY, reverse=False, opened=())
    list_width, list_height = shares.of(width, height - 5)
    for index in range(min(list_height, len(rows))):
        background = palette.cursor if index == 0 else plain
        spans = format_row(rows.row(index), list_width - 1, now)
        if index == 0:
            spans[0] = ("▌" + spans[0][0][1:], spans[0][1])
        line = ""
        for text, look in spans:
            name, is_dim, attributes = _LOOKS[look]
            colour: Colour = getattr(palette, name)
            if index == 0:
                attributes = "1" if attributes in ("", "1") else f"1;{attributes}"
            line += _sgr(text, _mix(colour, background, DIM) if is_dim else colour, background, attributes)
        lines.append(line)
    blank = _sgr("", foreground, plain) + "\x1b[2J"
    placed = "".join(f"\x1b[{number};1H{line}" for number, line in enumerate(lines, 1))
    note = clip(f" {one_line(location.note, 400)}", width)
    status = f"\x1b[{height - 1};1H{_sgr(note, muted, plain)}"
    keys = f"\x1b[{height};1H{_sgr(' ' * width, foreground, panel)}"
    return f"\x1b[?1049h\x1b[?25l{blank}{placed}{status}{keys}\x1b[0m"


class Taken:
    """Who has the screen."""

    def __init__(self) -> None:
        self.is_taken = False
        """The alternate screen is up."""
        self.is_handed_over = False
        """Textual leaves it: leaving it twice would move the cursor over what has been said since."""
        self.put_back: Callable[[], None] = lambda: None
        """Puts the terminal's settings back as they were found; Textual knows only those of the silent terminal."""
        self.told = 0
        """The signal that told us to end, 0 for none: raised where Python ignores exceptions, the ending would be
        lost, and Textual has an ending of its own.
        """

    def leave(self, number: int, stack: FrameType | None) -> None:
        """Told to end: at once, or by Textual once it has the screen."""
        self.told = number
        if not self.is_handed_over:
            raise SystemExit(128 + number)


@contextlib.contextmanager
def painted(
    catalog: Catalog,
    shown: Sequence[Conversation],
    location: Location,
    now: float,
    *,
    theme: str = "hermes-dark",
    is_wanted: bool = True,
    shares: Shares | None = None,
) -> Iterator[Taken]:
    """Paint where it is possible, and put the terminal back at the end of the block, however it ends.

    Args:
        catalog: The first page.
        shown: Its first conversations, with previews.
        location: Of the store.
        now: Unix seconds.
        theme: Of the first frame; some are not painted ahead.
        is_wanted: False where the first frame is to be another one: another view or order.
        shares: How the panes share the screen.

    Yields:
        Who has the screen.
    """
    taken = Taken()
    if not is_wanted or theme not in PALETTES or not is_possible():
        yield taken
        return
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = termios.tcgetattr(descriptor)
    silent[0] &= ~termios.ICRNL  # Enter is to arrive as Enter
    silent[3] &= ~(termios.ICANON | termios.ECHO)
    handlers = {number: signal.signal(number, taken.leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        termios.tcsetattr(descriptor, termios.TCSANOW, silent)  # NOW: what has been typed stays in the buffer
        first = frame(catalog, shown, location, terminal_size(), now, PALETTES[theme], shares or Shares())
        os.write(sys.stderr.fileno(), first.encode())
        taken.is_taken = True
        taken.put_back = lambda: termios.tcsetattr(descriptor, termios.TCSANOW, before)
        yield taken
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with contextlib.suppress(OSError, termios.error):  # a terminal that is gone needs nothing put back
            if not taken.is_handed_over:
                os.write(sys.stderr.fileno(), b"\x1b[?1049l\x1b[?25h")
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
