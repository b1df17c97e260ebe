"""Draws only the widgets that have something to draw."""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip


class NearCompositor(Compositor):
    """Textual's compositor, which passes over widgets and lines where nothing has changed.

    Textual 8 goes through the lines of every widget whose *container* overlaps the smallest rectangle around all that
    changed: with a step in the list that is each widget of the screen, line by line, and more than half of the time
    that the step takes. What a widget without a change has drawn is not written anyway.
    """

    _changed: tuple[Region, ...] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """What has changed, to be written; see `Compositor`."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
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
