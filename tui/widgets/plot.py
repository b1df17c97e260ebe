"""Bars over time, drawn with plotext, and a map of the week in shades; loaded with the screen that shows them.

What is chosen differs in shape as well as in colour: full blocks before shaded ones, and an arrow below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.color import Color
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual_plotext import PlotextPlot

from hermes_browse.store.wording import _

from ..shared.calendar import weekday

_SCALE = 7
"""Cells for the numbers on the left."""
_WIDEST = 8
"""Cells of a bar and the gap behind it."""
_SHADES = "·░▒▓█"

PlotColor = int | tuple[int, int, int]


class Course(NamedTuple):
    """Bars from left to right."""

    labels: Sequence[str]
    """What each stands for."""
    values: Sequence[float]
    part: Sequence[float] | None = None
    """How much of each belongs to what is chosen; None where bars themselves are chosen."""
    chosen: int | None = None
    """The bar that is chosen."""
    form: Callable[[float], str] = str
    """Prints a value in few cells."""


class Layout(NamedTuple):
    """Which bars are shown, and how wide."""

    first: int
    shown: int
    step: int
    """Cells from one bar to the next."""

    @property
    def bar(self) -> int:
        """Cells of a bar: one is left free between two where there is room."""
        return max(1, self.step - 1)


def lay_out(course: Course, width: int) -> Layout:
    """Fit bars into a width; where not all of them fit, the last ones, or those around the chosen one.

    Args:
        course: What is to be shown.
        width: Cells for the bars.
    """
    count, width = len(course.values), max(width, 1)
    if count <= width:
        return Layout(0, count, min(_WIDEST, max(1, width // max(count, 1))))
    first = count - width
    if course.chosen is not None and course.chosen < first:
        first = max(0, course.chosen - width // 4)
    return Layout(first, width, 1)


def axis(course: Course, layout: Layout, width: int) -> str:
    """The line below the bars: the first, the last, and an arrow to the chosen one, as far as they do not meet.

    Args:
        course: What is shown.
        layout: How.
        width: Cells for the bars.
    """
    line = [" "] * width
    taken: list[tuple[int, int]] = []

    def put(text: str, start: int) -> None:
        start = max(0, min(start, width - cell_len(text)))
        end = start + cell_len(text)
        if end <= width and all(end < low or start > high for low, high in taken):
            # One entry for each cell: a wide letter leaves the second of its own empty.
            line[start:end] = [part for letter in text for part in (letter, *[""] * (cell_len(letter) - 1))]
            taken.append((start, end))

    last = layout.first + layout.shown - 1
    if course.chosen is not None and layout.first <= course.chosen <= last:
        place = (course.chosen - layout.first) * layout.step + (layout.bar - 1) // 2
        label = course.labels[course.chosen]
        if place + cell_len(label) + 2 <= width:
            put(f"▲ {label}", place)
        else:
            put(f"{label} ▲", place - cell_len(label) - 1)
    if layout.shown:
        put(course.labels[layout.first], 0)
        end = (layout.shown - 1) * layout.step + layout.bar
        put(course.labels[last], end - cell_len(course.labels[last]))
    return "".join(line)


class BarPlot(PlotextPlot):
    """Bars over time."""

    DEFAULT_CSS = ""

    class Chosen(Message):
        """A bar was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.theme = "clear"  # no background of its own
        self._course: Course | None = None

    @property
    def course(self) -> Course | None:
        """What is shown."""
        return self._course

    def on_unmount(self) -> None:
        """The app outlives it, and would keep it with all it drew for the sake of a new theme."""
        self.app.theme_changed_signal.unsubscribe(self)

    def show(self, course: Course | None) -> None:
        """Show these bars."""
        self._course = course
        self.refresh()

    def _color(self, name: str) -> PlotColor:
        color = Color.parse(self.app.theme_variables[name])
        return color.ansi if color.ansi is not None and color.ansi >= 0 else color.rgb

    @property
    def _room(self) -> int:
        return max(1, self.size.width - _SCALE - 1)

    def render(self) -> Text:
        """The bars and the line below them."""
        course, height = self._course, self.size.height - 1
        if course is None or not course.values or height < 2:
            return Text("")
        layout = lay_out(course, self._room)
        shown = slice(layout.first, layout.first + layout.shown)
        values = list(course.values[shown])
        part = list(course.part[shown]) if course.part is not None else None
        most = max(values) or 1.0
        cells = layout.shown * layout.step
        plot: Any = self.plt  # its functions have no types
        plot.clear_figure()
        plot.theme("clear")
        plot.plotsize(cells + _SCALE, height)
        # `plotsize` cuts to the size of the terminal the process was started in; textual-plotext does the same.
        plot._set_size(cells + _SCALE, height)
        plot.frame(False)
        plot.xlim(0, cells - 1)
        plot.ylim(0, most)
        plot.yticks([0, most / 2, most], [f"{course.form(each):>{_SCALE - 1}} " for each in (0, most / 2, most)])
        quiet, loud = self._color("primary"), self._color("accent")

        def draw(places: Sequence[int], heights: Sequence[float], marker: str, color: PlotColor) -> None:
            pairs = [(place, each) for place, each in zip(places, heights, strict=True) if each > 0]
            if pairs:
                centres = [place * layout.step + (layout.bar - 1) / 2 for place, _ in pairs]
                # plotext takes the width as a share of the mean distance between bars.
                distance = (centres[-1] - centres[0]) / (len(centres) - 1) if len(centres) > 1 else 1.0
                width = max(layout.bar - 1, 0.01) / distance
                plot.bar(centres, [each for _, each in pairs], width=width, marker=marker, color=color)

        every = list(range(len(values)))
        chosen = course.chosen - layout.first if course.chosen is not None else None
        draw(every, values, "█" if part is None else "░", quiet)
        if part is not None:
            draw(every, part, "█", loud)
        elif chosen is not None and 0 <= chosen < len(values):
            draw([chosen], [values[chosen]], "█", loud)
        plot.xticks([])  # after the bars, which bring their own
        drawn = Text.from_ansi(str(plot.build()).rstrip("\n"), no_wrap=True)
        below = Text(" " * _SCALE + axis(course, layout, self._room), style="dim", no_wrap=True)
        return Text("\n", no_wrap=True).join([drawn, below])

    def on_click(self, event: Click) -> None:
        """A click on a bar chooses it."""
        event.stop()
        if self._course is None:
            return
        layout = lay_out(self._course, self._room)
        place = (event.x - _SCALE) // layout.step
        if event.x >= _SCALE and place < layout.shown:
            self.post_message(self.Chosen(layout.first + place))


class WeekPlot(Widget):
    """Hours of the week as shades: the more, the denser; an arrow at the chosen one."""

    class Chosen(Message):
        """An hour was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._values: Mapping[str, float] = {}
        self._chosen = ""
        self._form: Callable[[float], str] = str

    def show(self, values: Mapping[str, float], chosen: str, form: Callable[[float], str]) -> None:
        """Show these.

        Args:
            values: By key as of `Calendar.key`: `0-14`.
            chosen: The key of one of them.
            form: Prints a value in few cells.
        """
        self._values, self._chosen, self._form = values, chosen, form
        self.refresh()

    def _style(self, name: str) -> str:
        color = Color.parse(self.app.theme_variables[name])
        return f"color({color.ansi})" if color.ansi is not None and color.ansi >= 0 else color.hex6

    @property
    def _step(self) -> int:
        return max(1, min(6, (self.size.width - 6) // 24))

    def render(self) -> Text:
        """Seven lines with 24 hours each, hours above."""
        step, most = self._step, max(self._values.values(), default=0.0)
        style, accent = self._style("primary"), self._style("accent")
        text = Text("      ", no_wrap=True)
        for hour in range(0, 24, 3):
            text.append(f"{hour:02}".ljust(3 * step)[: 3 * step], "dim")
        for day in range(7):
            text.append(f"\n {set_cell_size(weekday(day), 4)} ", "dim")
            for hour in range(24):
                key = f"{day}-{hour:02}"
                value = self._values.get(key, 0.0)
                level = 0 if not value else 1 + min(3, int(4 * value / most * 0.9999))
                cell = _SHADES[level] * max(1, step - 1) if level else "·".ljust(max(1, step - 1))
                is_chosen = key == self._chosen
                text.append(cell, f"bold {accent}" if is_chosen else style if level else "dim")
                if step > 1:
                    text.append("◂" if is_chosen else " ", accent if is_chosen else "")
        text.append(f"\n      {_SHADES[0]} {_('none')}", "dim")
        for level in range(1, 5):
            text.append(f"  {_SHADES[level] * 2}", style)
            text.append(" " + _("to {value}").format(value=self._form(most * level / 4)), "dim")
        return text

    def on_click(self, event: Click) -> None:
        """A click on an hour chooses it."""
        event.stop()
        hour = (event.x - 6) // self._step
        if 0 <= hour < 24 and 1 <= event.y <= 7:
            self.post_message(self.Chosen(f"{event.y - 1}-{hour:02}"))
