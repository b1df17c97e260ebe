"""Every private name of Textual that the browser relies on; other modules take what they need from
here.

Another version may name or use them otherwise: look at each again before `READ_IN` and the pin
move.

- Layout of a screen: `_compositor.Compositor` and `ChopsUpdate`, `_dirty_regions`, `_get_renders`,
  `_visible_widgets`;
  `Screen._compositor`.
- Lines of a widget with its borders: `_styles_cache.StylesCache`, `get_inner_outer`,
  `Widget._styles_cache`.
- Sizes of texts: `Widget._layout_updates`.
- Timers: `message_pump.Timer`, the class of what `set_timer` and `set_interval` make; it is
  replaced here.
- Scrolling: `ScrollView._scroll_update`.
- Keys of a widget: `DOMNode._bindings`.
- The terminal, keys in what it sends, the end of an app: `App._driver`,
  `_xterm_parser.XTermParser`,
  `App._exit_renderables`, `App._close_messages_no_wait`.

Some are overridden, which is done where the class is: `App._fatal_error` (app.py), `Input._on_key`
(text_box.py), `Widget._on_mouse_scroll_down` and `_on_mouse_scroll_up` (list, transcript), and in
driver.py, which only Unix loads, `LinuxDriver._sigcont_application` with what it reads:
`_must_signal_resume`, `_auto_restart`, `_writer_thread`, `_file`, `_loop`, `_app`, `_mouse`,
`_debug`, `_enable_mouse_support` and `_disable_mouse_support`; its thread that reads keys calls
`run_input_thread`, which is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from textual import message_pump
from textual._compositor import ChopsUpdate, Compositor
from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser as XTermParser  # for driver.py
from textual.geometry import Region, Size, Spacing
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.app import App
    from textual.binding import Binding
    from textual.color import Color
    from textual.css.styles import StylesBase
    from textual.driver import Driver
    from textual.screen import Screen
    from textual.widget import Widget

READ_IN = "8.2.8"
"""The version of Textual in which all of this was read."""
_OVER = (
    "tint",
    "hatch",
    "text_opacity",
    "outline_top",
    "outline_right",
    "outline_bottom",
    "outline_left",
)
"""Rules of a style sheet that change lines without taking room."""


class SureTimer(Timer):
    """A timer that rings, even if it is late.

    Textual 8 skips the rings for which a timer was too late. A timer of `set_timer` has only one,
    and it is skipped if the thread stands still for the whole interval while the timer starts: what
    it was to do is never done. With 25 ms that happens now and then on a machine with much to do.
    """

    def __init__(
        self, *given: Any, repeat: int | None = None, skip: bool = True, **named: Any
    ) -> None:
        super().__init__(*given, repeat=repeat, skip=skip and repeat != 0, **named)


message_pump.Timer = SureTimer  # type: ignore[attr-defined]  # imported there, not meant to be exported


class NearCompositor(Compositor):
    """Textual's compositor, which passes over widgets and lines where nothing has changed.

    Textual 8 goes through the lines of every widget whose *container* overlaps the smallest
    rectangle around all that changed: with a step in the list that is each widget of the screen,
    line by line, and more than half of the time that the step takes. What a widget without a change
    has drawn is not written anyway.
    """

    _changed: tuple[Region, ...] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """What has changed, to be written; see `Compositor`."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        changed = self._changed
        if crop is None or not changed:
            return super()._get_renders(crop)
        visible = self.visible_widgets
        band = Region(0, crop.y, self.size.width, crop.height)
        self._visible_widgets = {
            widget: (region, near)
            for widget, (region, clip) in visible.items()
            if (near := clip.intersection(band))
            and (seen := region.intersection(near))
            and any(map(seen.overlaps, changed))
        }
        try:
            return list(super()._get_renders(crop))
        finally:
            self._visible_widgets = visible


class BareLines(StylesCache):
    """Takes the lines of a view as they are, where its style sheet puts nothing around or over
    them.

    Textual 8 looks at border, padding, outline, hatch, tint and opacity for every line anew, which
    takes as long as making a line of the list.
    """

    _is_bare = False
    _free_width = -1

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """The lines of a widget; see `StylesCache`."""
        styles = widget.styles
        self._is_bare = (
            not styles.gutter and widget.opacity == 1.0 and not any(map(styles.has_rule, _OVER))
        )
        self._free_width = (
            widget.scrollable_content_region.width if any(widget.scrollbars_enabled) else -1
        )
        return super().render_widget(widget, crop)

    def render_line(
        self,
        styles: StylesBase,
        y: int,
        size: Size,
        content_size: Size,
        padding: Spacing,
        base_background: Color,
        background: Color,
        render_content_line: Callable[[int], Strip],
        *rest: Any,
    ) -> Strip:
        """One line; see `StylesCache`."""
        if self._is_bare:
            line = render_content_line(y)
            if line.cell_length == self._free_width:
                return line  # what is missing is behind the scroll bar
            return line.adjust_cell_length(
                size.width, self.get_inner_outer(base_background, background)[0].rich_style
            )
        return super().render_line(
            styles,
            y,
            size,
            content_size,
            padding,
            base_background,
            background,
            render_content_line,
            *rest,
        )


def use_near_compositor(screen: Screen[Any]) -> None:
    """Have a screen that is being made write only where something has changed."""
    screen._compositor = NearCompositor()


def take_bare_lines(widget: Widget) -> None:
    """Have the lines of a widget that is being made taken as they are."""
    widget._styles_cache = BareLines()


def forget_colours() -> None:
    """Let go of the widgets that were drawn.

    Textual 8 remembers two colours for each, in a cache of 1,024 entries that is shared by all of
    them and keeps the widget's lines with it: hours of opening and leaving screens cost some 200
    MB.
    """
    forget = getattr(StylesCache.get_inner_outer, "cache_clear", None)
    if forget is not None:
        forget()


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
    """What a key does on a widget by its own bindings."""
    yield from widget._bindings.key_to_bindings.get(key, ())


def driver_of(app: App[Any]) -> Driver | None:
    """What an app has its terminal by; None before it runs."""
    return app._driver


def end_with(app: App[Any], shown: RenderableType) -> None:
    """End an app at once, and print something when the terminal is given back."""
    app._exit_renderables.append(shown)
    app._close_messages_no_wait()
