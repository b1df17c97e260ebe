"""Every private name of Textual that the browser relies on; other modules take what they need from
here.

Another version may name or use them otherwise: look at each again before `READ_IN` and the pin
move.

- Lines and colours of drawn widgets: `_styles_cache.StylesCache`, with its `get_inner_outer` and
  `render_line`; `Widget._styles_cache`.
- Sizes of texts: `Widget._layout_updates`.
- Scrolling: `ScrollView._scroll_update`.
- Keys of a widget: `DOMNode._bindings`, `App._keymap`, `App._check_bindings`,
  `App._flush_next_callbacks`.
- Frames: `Screen._layout_required`, `Screen._dirty_widgets`, `Screen._on_timer_update`.
- The terminal, keys in what it sends, the end of an app: `App._driver`,
  `_xterm_parser.XTermParser`,
  `App._exit_renderables`, `App._close_messages_no_wait`.

Some are overridden, which is done where the class is: `App._fatal_error` (application.py), and in
driver.py, which only Unix loads, `LinuxDriver._sigcont_application` with what it reads:
`_must_signal_resume`, `_auto_restart`, `_writer_thread`, `_file`, `_loop`, `_app`, `_mouse`,
`_debug`, `_enable_mouse_support` and `_disable_mouse_support`; its thread that reads keys calls
`run_input_thread`, which is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import RenderableType
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser as XTermParser  # for driver.py
from textual.app import App
from textual.binding import Binding
from textual.driver import Driver
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

Renders = Iterator[tuple[Region, Region, list[Strip]]]
"""Where widgets are, where of that they may be drawn, and their lines."""
_A_MOMENT = 0.0001
"""Seconds for which the thread that writes to the terminal can have Python's lock."""
READ_IN = "8.2.8"
"""The version of Textual in which all of this was read."""


def forget_colours() -> None:
    """Let go of the widgets that were drawn.

    Textual 8 remembers two colours for each, in a cache of 1,024 entries that is shared by all of
    them and keeps the widget's lines with it: hours of opening and leaving screens cost some 200
    MB.
    """
    StylesCache.get_inner_outer.cache_clear()


def tell_scroll_bar(view: ScrollView, size: Size) -> None:
    """Give the scroll bar of a view another length, without laying out the screen."""
    view._scroll_update(size)


def measure_anew(widget: Widget) -> None:
    """Have the next layout measure a widget.

    Textual 8 keeps the size of a widget under the number of its requests for a layout, and does not
    count a request while another one waits. A layout between the two has measured the older text,
    and that size would stay.
    """
    widget._layout_updates += 1


def bindings_of(widget: Widget, key: str) -> Iterator[Binding]:
    """What a key does on a widget by its own bindings, with the keys that the user has chosen."""
    bindings = widget._bindings
    if keymap := widget.app._keymap:
        bindings = bindings.copy()
        bindings.apply_keymap(keymap)
    yield from bindings.key_to_bindings.get(key, ())


async def run_bound(app: App[Any], key: str) -> bool:
    """Run what a key is bound to where the focus is; return whether there was something."""
    is_done = await app._check_bindings(key, priority=True) or await app._check_bindings(key)
    return bool(is_done)


def draw_now(widget: Widget) -> None:
    """Draw what has changed of a widget, unless the screen must be laid out first; what else has
    changed is drawn in the next frame.

    Textual 8 would draw it after three other tasks have run, and after a frame it waits for two more
    ticks of its timer. It composes all that stands within the smallest rectangle around what it
    draws, which for a line across the screen and a pane is everything.
    """
    screen = widget.screen
    if screen._layout_required:
        return
    others = screen._dirty_widgets - {widget}
    screen._dirty_widgets = {widget}
    screen._on_timer_update()
    screen._dirty_widgets |= others
    screen.check_idle()
    time.sleep(_A_MOMENT)


def draw_plainly(widget: Widget) -> None:
    """Take the lines of a widget as it draws them: they fill its width, in its colours.

    Textual 8 looks up borders, padding, opacity and more for each line, which takes as long as to
    draw a row of a list.
    """
    widget._styles_cache = _PlainLines()


class _PlainLines(StylesCache):
    """Keeps lines as they were drawn."""

    def render_line(self, styles: Any, y: int, *of_style: Any) -> Strip:
        if styles.gutter.totals != (0, 0):
            return super().render_line(styles, y, *of_style)  # something is drawn around it
        draw: Callable[[int], Strip] = of_style[5]
        return draw(y)


class NarrowCompositor(Compositor):
    """Composes only the widgets that are seen in the changed part of the screen.

    That of Textual 8 compares this part with where a widget may be drawn, which is the whole screen
    for most, and so takes the lines of all of them for each frame; also those of containers, which
    are covered by what they contain.
    """

    def _get_renders(self, crop: Region | None = None) -> Renders:
        for widget, (region, clip) in self.visible_widgets.items():  # from front to back
            shown = region.intersection(clip)
            if crop is None or crop.overlaps(shown):
                yield region, clip, widget.render_lines(shown.translate(-region.offset))
                if crop is not None and shown.contains_region(crop):
                    return  # all others are behind it


def driver_of(app: App[Any]) -> Driver | None:
    """What an app has its terminal by; None before it runs."""
    return app._driver


def end_with(app: App[Any], shown: RenderableType) -> None:
    """End an app at once, and print something when the terminal is given back."""
    app._exit_renderables.append(shown)
    app._close_messages_no_wait()
