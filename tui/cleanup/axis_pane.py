"""The time axis above a plan, added up on a worker thread, with the cutoff of the age rule."""

from __future__ import annotations

from collections.abc import Callable, Container

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.sessions.catalog import Catalog

from ..bindings import following
from ..screens.sub_screen import SubScreen
from .axis import DAY, Axis, Measure, Point, make_axis, moved, read_points
from .plan_pane import PlanPane
from .widgets import TimeAxis


class AxisPane:
    """Shows when conversations that go, are spared or stay were last active.

    Args:
        screen: Has the axis.
        plan: The plan.
        age: Returns the age in seconds from which on conversations go; None without such a rule.
    """

    def __init__(self, screen: SubScreen, plan: PlanPane, age: Callable[[], float | None]) -> None:
        self._screen, self._context, self._plan, self._age = screen, screen.context, plan, age
        self._measure = Measure.BYTES
        self._points: tuple[Catalog, list[Point]] | None = None
        """The points of the axis, and the catalog they were read from."""
        self._axis: Axis | None = None

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
        """Add up the columns, and show them."""
        catalog, now, measure, view = self._context.catalog, self._context.clock(), self._measure, self._plan.view
        most, cached, sizes = max(self.widget.columns // 2, 2), self._points, self._screen.controllers.context.sizes
        gone: Container[str] = view.sessions if view is not None else ()
        spared: Container[str] = view.spared if view is not None else ()

        def work(reader: Reader) -> tuple[Catalog, list[Point], Axis]:
            points = cached[1] if cached is not None and cached[0] is catalog else read_points(catalog)
            axis = make_axis(points, gone=gone, spared=spared, sizes=dict(sizes), measure=measure, most=most, now=now)
            return catalog, points, axis

        def done(result: tuple[Catalog, list[Point], Axis]) -> None:
            self._points = result[:2]
            if self._screen.is_whole:
                self._axis = result[2]
                self.show_cut()

        self._context.page_worker.submit("axis", work, done, self._context.failed)  # the plan's worker is busy longer

    def show_cut(self) -> None:
        """Show the current cutoff."""
        if self._axis is not None:
            self.widget.show(self._axis, self.cut)

    def next_measure(self) -> None:
        """Show another measure."""
        self._measure = following(Measure, self._measure)
        self.show()

    def moved(self, by: int) -> int | None:
        """Return the cutoff moved by a column to the left (-1) or right (1), in days before now; None at the end."""
        if self._axis is None or not self._axis.columns:
            return None
        age = self._age()
        return moved(self._axis, age / DAY if age is not None else None, by, self._context.clock())
