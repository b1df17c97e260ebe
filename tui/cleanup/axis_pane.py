"""The time axis above a plan: added up on a worker thread, with the cutoff that the rule of age sets."""

from __future__ import annotations

from collections.abc import Callable, Container

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.sessions.catalog import Catalog

from ..screens.sub_screen import SubScreen
from .axis import DAY, Axis, Measure, Point, make_axis, moved, read_points
from .plan_pane import PlanPane
from .widgets import TimeAxis


class AxisPane:
    """Shows when what goes and what stays was last active.

    Args:
        screen: Has the axis.
        plan: Says what goes.
        age: The age in seconds from which on conversations go; None without such a rule.
    """

    def __init__(self, screen: SubScreen, plan: PlanPane, age: Callable[[], float | None]) -> None:
        self._screen, self._context, self._plan, self._age = screen, screen.context, plan, age
        self._measure = Measure.BYTES
        self._points: tuple[Catalog, list[Point]] | None = None
        """The points of the axis, and the catalog they were read from."""
        self._drawn: Axis | None = None

    @property
    def widget(self) -> TimeAxis:
        """The axis on the screen."""
        return self._screen.query_one(TimeAxis)

    @property
    def cut(self) -> float | None:
        """The time before which conversations go, Unix seconds."""
        age = self._age()
        return self._context.clock() - age if age is not None else None

    def show(self) -> None:
        """Add up the columns anew, and show them."""
        catalog, now, measure, view = self._context.catalog, self._context.clock(), self._measure, self._plan.view
        most, known, sizes = max(self.widget.columns // 2, 2), self._points, self._screen.main.context.sizes
        gone: Container[str] = view.goes_of if view is not None else ()
        spared: Container[str] = view.spared if view is not None else ()

        def work(reader: Reader) -> tuple[Catalog, list[Point], Axis]:
            points = known[1] if known is not None and known[0] is catalog else read_points(catalog)
            axis = make_axis(points, gone=gone, spared=spared, sizes=dict(sizes), measure=measure, most=most, now=now)
            return catalog, points, axis

        def done(found: tuple[Catalog, list[Point], Axis]) -> None:
            self._points = found[:2]
            if self._screen.is_whole:
                self._drawn = found[2]
                self.show_cut()

        self._context.page_worker.submit("axis", work, done, self._context.failed)  # the plan's worker is busy longer

    def show_cut(self) -> None:
        """Show the cutoff where it is now."""
        if self._drawn is not None:
            self.widget.show(self._drawn, self.cut)

    def next_measure(self) -> None:
        """Show another measure."""
        self._measure = self._measure.following
        self.show()

    def moved(self, by: int) -> int | None:
        """The cutoff moved by a column.

        Args:
            by: -1 to the left, 1 to the right.

        Returns:
            Days before now; None where there is no further column.
        """
        if self._drawn is None or not self._drawn.columns:
            return None
        age = self._age()
        return moved(self._drawn, age / DAY if age is not None else None, by, self._context.clock())
