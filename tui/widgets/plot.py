"""Bars over time, and a map of the week in shades; loaded with the screen that shows them.

What is chosen differs in shape as well as in colour: full blocks before shaded ones, and an arrow below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.color import Color
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from hermes_browse.store.wording import _

from ..shared.calendar import weekday

_SCALE = 7
"""Cells for the numbers on the left."""
_WIDEST = 8
"""Cells of a bar and the gap behind it."""
_SHADES = "·░▒▓█"


class Course(NamedTuple):
    """Bars from left to right."""

    labels: Sequence[str]
    """What each stands for."""
    values: Sequence[float]
    part: Sequence[float] | None = None
    """How much of each value belongs to what is chosen; None if a bar itself is chosen."""
    chosen: int | None = None
    """The index of the chosen bar."""
    form: Callable[[float], str] = str
    """Prints a value in few cells."""


class Layout(NamedTuple):
    """Which bars are shown, and how wide they are."""

    first: int
    shown: int
    step: int
    """Cells from one bar to the next."""

    @property
    def bar(self) -> int:
        """Cells of a bar: one is left free between two where there is room."""
        return max(1, self.step - 1)


def lay_out(course: Course, width: int) -> Layout:
    """Fit bars into a width. If not all of them fit, show the last ones, or those around the chosen one.

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
    """The line below the bars: the first label, the last, and an arrow to the chosen one, unless they would meet.

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


def _style(widget: Widget, name: str) -> str:
    """A colour of the theme as Rich writes it; one of the terminal's own stays its own."""
    color = Color.parse(widget.app.theme_variables[name])
    return f"color({color.ansi})" if color.ansi is not None and color.ansi >= 0 else color.hex6


def _rows(value: float, most: float, height: int) -> int:
    """How many cells high a bar is: at least one, unless its value is 0."""
    return 1 + math.floor(value / most * (height - 1) + 0.5) if value > 0 else 0


class BarPlot(Widget):
    """Bars over time."""

    class Chosen(Message):
        """A bar was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._course: Course | None = None

    @property
    def course(self) -> Course | None:
        """What is shown."""
        return self._course

    def show(self, course: Course | None) -> None:
        """Show these bars."""
        self._course = course
        self.refresh()

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
        values = course.values[shown]
        parts = [0.0] * len(values) if course.part is None else course.part[shown]
        most = max(values) or 1.0
        quiet, loud = _style(self, "primary"), _style(self, "accent")
        scale = {_rows(each, most, height) or 1: each for each in (0.0, most / 2, most)} if any(values) else {}
        heights = [
            (_rows(value, most, height), _rows(part, most, height)) for value, part in zip(values, parts, strict=True)
        ]
        drawn = Text(no_wrap=True)
        for row in range(height, 0, -1):
            label = f"{course.form(scale[row]):>{_SCALE - 1}} " if row in scale else ""
            drawn.append(f"{label:{_SCALE}}")
            for place, (whole, part) in enumerate(heights):
                is_loud = row <= part or (course.part is None and layout.first + place == course.chosen)
                cell = " " if row > max(whole, part) else "█" if is_loud or course.part is None else "░"
                drawn.append(cell * layout.bar, "" if cell == " " else loud if is_loud else quiet)
                drawn.append(" " * (layout.step - layout.bar))
            drawn.append("\n")
        return drawn.append(" " * _SCALE + axis(course, layout, self._room), style="dim")

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
    """Hours of the week as shades, denser for more, with an arrow at the chosen one."""

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
            values: By key as of `periods.key_of`: `0-14`.
            chosen: The key of one of them.
            form: Prints a value in few cells.
        """
        self._values, self._chosen, self._form = values, chosen, form
        self.refresh()

    @property
    def _step(self) -> int:
        return max(1, min(6, (self.size.width - 6) // 24))

    def render(self) -> Text:
        """Seven lines with 24 hours each, hours above."""
        step, most = self._step, max(self._values.values(), default=0.0)
        style, accent = _style(self, "primary"), _style(self, "accent")
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
