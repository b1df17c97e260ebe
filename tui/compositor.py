"""Draws only the widgets that have something to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class NearCompositor(Compositor):
    """Textual's compositor, which passes over widgets and lines where nothing has changed.

    Textual 8 goes through the lines of every widget whose *container* overlaps the smallest rectangle around all that
    changed: with a step in the list that is each widget of the screen, line by line, and more than half of the time
    that the step takes.
    """

    _is_wanted: Callable[[int], bool] | None = None

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        self._is_wanted = is_rendered_line
        try:
            return super()._render_chops(crop, is_rendered_line)
        finally:
            self._is_wanted = None

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        wanted = self._is_wanted
        if crop is None or wanted is None:
            return super()._get_renders(crop)
        visible = self.visible_widgets
        band = Region(0, crop.y, self.size.width, crop.height)
        self._visible_widgets = {
            widget: (region, near)
            for widget, (region, clip) in visible.items()
            if (near := clip.intersection(band))
            and (seen := region.intersection(near))
            and any(map(wanted, seen.line_range))
        }
        try:
            return list(super()._get_renders(crop))
        finally:
            self._visible_widgets = visible
