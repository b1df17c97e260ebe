"""The map of space as rows and as blocks: sources, jobs, conversations, and what each is made
of."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.cleanup.sizes import Sizes, added
from hermes_browse.store.cleanup.space_map import Space
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from .. import formats
from ..list.list_rows import ListRow, NoteRow
from ..shared import calendar
from ..shared.styled import Line, bar, row_line
from .treemap import REST, Tile, TileData, lay_out

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.space_map import SpaceMap
    from hermes_browse.store.sessions.catalog import Catalog

    from ..list.list_model import RowDetails

_MAX_BLOCKS = 300
"""The biggest parts of a line, which can have blocks of their own."""
_MAX_BELOW = 100
"""The biggest parts of a source or job, which have rows below it."""
_KINDS = (
    (N_("tool output"), "tool_output"),
    (N_("said"), "text"),
    (N_("tool calls"), "tool_calls"),
    (N_("reasoning"), "reasoning"),
    (N_("images"), "images"),
    (N_("system prompts"), "prompts"),
    (N_("search index, estimated"), "search"),
)


class SpaceRow(NamedTuple):
    """A line of the space map."""

    space: Space
    depth: int
    is_open: bool
    whole: int
    """Bytes of the store, for the share."""
    freed: int
    """Bytes that the plan frees of it."""
    name: str

    @property
    def key(self) -> str:
        """Made of its place in the map."""
        return self.key_of(self.space, self.depth)

    @staticmethod
    def key_of(space: Space, depth: int) -> str:
        """Return the key of the row of a line of the map."""
        return f"m{depth}{space.level}{space.name}"

    def spans(self, width: int, now: float) -> Line:
        total = self.space.sizes.total
        arrow = "▾" if self.is_open else "▸"
        freed = f"−{formats.size(self.freed)}" if self.freed else ""
        columns = formats.fit(formats.size(total), 9, right=True)
        if width >= 40:
            columns = formats.fit(freed, 10, right=True) + columns
        lead = " " + "  " * self.depth + arrow + " "
        look = "title" if self.depth == 0 else "plain"
        if width < 40:
            return row_line((lead, "dim"), (one_line(self.name, 300), look), columns, width)
        size = 10 if width >= 56 else 6
        full = min(max(1, round(total / self.whole * size)), size) if self.whole and total else 0
        goes = min(full, max(1, round(self.freed / total * full))) if self.freed and total else 0
        line = row_line((lead, "dim"), (one_line(self.name, 300), look), columns, width - size - 1)
        return [
            *line,
            ("█" * goes, "accent"),
            ("█" * (full - goes), "dim"),
            (" " * (size - full + 1), "dim"),
        ]


class KindRow(NamedTuple):
    """One kind of content in a line of the map: text, tool output, images, index."""

    name: str
    bytes: int
    whole: int
    depth: int
    under: str

    @property
    def key(self) -> str:
        """Made of its place in the map."""
        return f"k{self.under}{self.name}"

    def spans(self, width: int, now: float) -> Line:
        columns = formats.fit(formats.size(self.bytes), 9, right=True)
        if width >= 56:
            columns += " " + bar(self.bytes / self.whole if self.whole else 0.0, 10)
        return row_line(
            (" " + "  " * self.depth + "  ", "dim"), (self.name, "note"), columns, width
        )


def freed_sums(space_map: SpaceMap, freed: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes that go of each line of the map, by its key, from those by tip; lines
    without any are left out.

    Visits every conversation of the map, so it runs on a worker thread.
    """
    sums: dict[str, int] = {}

    def add(space: Space, depth: int) -> int:
        if space.level == "conversation":
            size = freed.get(space.name, 0)
        else:
            size = sum(add(each, depth + 1) for each in space.below)
        if size:
            sums[SpaceRow.key_of(space, depth)] = size
        return size

    for source in space_map.sources:
        add(source, 0)
    return sums


def below(space: Space) -> Iterator[Space]:
    """Yield the conversations of a line of the map."""
    if space.level == "conversation":
        yield space
    for each in space.below:
        yield from below(each)


_PERIODS: tuple[tuple[str, Callable[[date], str]], ...] = (
    ("%Y-%m-%d", calendar.full_date),
    ("%Y-%m", calendar.short_month),
    ("%Y", lambda day: str(day.year)),
)
"""Periods by which small conversations are grouped, shortest first: the form of the key, and the
name for people."""


def _kinds(sizes: Sizes) -> list[tuple[str, int]]:
    """Return the kinds of content that are there, by their names as in `_KINDS`, with their
    bytes."""
    return [(name, size) for name, field in _KINDS if (size := getattr(sizes, field))]


def _period_name(name: str, grouping: int) -> str:
    form, to_text = _PERIODS[grouping]
    return to_text(datetime.strptime(name, form)) if name else _("at an unknown time")


def _by_size(spaces: Iterable[Space]) -> tuple[Space, ...]:
    return tuple(sorted(spaces, key=lambda each: -each.sizes.total))


def _smaller(count: int) -> str:
    return _("{count:,} smaller ones").format(count=count)


class MapOfPlan(NamedTuple):
    """The map with what a plan frees, and what names its lines."""

    space_map: SpaceMap
    sums: Mapping[str, int]
    """From `freed_sums`."""
    catalog: Catalog
    details: RowDetails
    """Previews read so far."""

    def _name(self, space: Space) -> str:
        if space.level == "source":
            return f"{formats.source(space.name)} · {space.conversations:,}"
        if space.level == "job":
            run = self.catalog.of_session(space.below[0].name)
            name = self.details.job_title(run) if run is not None else space.name
            return f"{name} · {formats.counted(space.conversations, 'run')}"
        conversation = self.catalog.of_session(space.name)
        return (
            formats.name(self.details.complete(conversation)[0])
            if conversation is not None
            else space.name
        )

    def _goes(self, spaces: Iterable[Space], depth: int) -> int:
        """Return the bytes that go of lines."""
        return sum(self.sums.get(SpaceRow.key_of(space, depth), 0) for space in spaces)

    def _entries(self, spaces: Sequence[Space], depth: int) -> list[TileData]:
        """Convert lines, biggest first, to entries of a treemap, the smallest ones to one entry."""
        entries = []
        for space in spaces[:_MAX_BLOCKS]:
            key, size = SpaceRow.key_of(space, depth), space.sizes.total
            below = partial(self._entries, space.below, depth + 1)
            groups = partial(self._groups, space.below, depth + 1, key)
            goes = min(self.sums.get(key, 0), size)
            entries.append(
                TileData(
                    key, one_line(self._name(space), 100), size, goes, space, below, groups=groups
                )
            )
        if rest := spaces[_MAX_BLOCKS:]:
            size = sum(each.sizes.total for each in rest)
            entries.append(
                TileData(
                    "", _smaller(len(rest)), size, self._goes(rest, depth), None, items=len(rest)
                )
            )
        return entries

    def _periods(self, spaces: Iterable[Space], grouping: int) -> tuple[Space, ...]:
        """Group lines by the period of their last activity, biggest first; a job by that of its
        biggest run."""
        form, below = _PERIODS[grouping][0], dict[str, list[Space]]()
        for space in spaces:
            tip = space if space.level == "conversation" else space.below[0]
            session = self.catalog.forest.sessions.get(tip.name)
            when = session.last_active if session is not None else None
            below.setdefault(
                datetime.fromtimestamp(when).strftime(form) if when is not None else "", []
            ).append(space)
        return _by_size(
            Space(
                name,
                "period",
                added(each.sizes for each in of),
                sum(each.conversations for each in of),
                of,
            )
            for name, of in ((name, tuple(group)) for name, group in below.items())
        )

    def _groups(
        self, spaces: Sequence[Space], depth: int, above: str, first: int
    ) -> Iterator[list[TileData]]:
        """Yield the lines from an index on, grouped by days, then by months, then by years; see
        `treemap.Groups`."""
        for grouping in range(len(_PERIODS)) if depth else ():  # sources are not grouped
            entries = []
            for each in self._periods(spaces[first:], grouping):
                key = f"{REST}{first}#{grouping}:{each.name}@{above}"
                name = f"{_period_name(each.name, grouping)} · {each.conversations:,}"
                goes = self._goes(each.below, depth)
                entries.append(
                    TileData(key, name, each.sizes.total, goes, each, items=each.conversations)
                )
            yield entries

    def blocks(
        self, inside: Sequence[str], width: int, height: int
    ) -> tuple[list[Tile], list[str]]:
        """Lay out the map as blocks in `width` × `height` cells; return these, and the names of the
        blocks entered.

        `inside` are the keys of the blocks that were entered, outermost first; the path ends at the
        first that is gone.
        """
        spaces, depth, path = self.space_map.sources, 0, list[str]()
        for key in inside:
            rest, _at, line = (
                key.removeprefix(REST).partition("@") if key.startswith(REST) else ("", "", key)
            )
            own = ((each, depth) for each in spaces)
            below = (
                (each, depth + 1) for space in spaces for each in space.below
            )  # shown with them, entered directly
            found = next(
                (each for each in chain(own, below) if SpaceRow.key_of(*each) == line), None
            )
            if found is not None:
                spaces, depth = found[0].below, found[1] + 1
            if rest:
                first, _hash, group = rest.partition("#")
                spaces = spaces[int(first) :]
                grouping, kind, name = group[:1], group[1:2], group[2:]
                if grouping:
                    periods = self._periods(spaces, int(grouping))
                    chosen = (
                        [each for each in periods if each.name == name]
                        if kind == ":"
                        else periods[int(name) :]
                    )
                    spaces = _by_size(space for each in chosen for space in each.below)
                path.append(
                    _period_name(name, int(grouping)) if kind == ":" else _smaller(len(spaces))
                )
                continue
            if found is None:
                break
            entered = found[0]
            path.append(one_line(self._name(entered), 40))
            if entered.level == "conversation":
                goes = self.sums.get(key, 0) / entered.sizes.total if entered.sizes.total else 0.0
                kinds = _kinds(entered.sizes)
                parts = [
                    TileData(f"k{name}", _(name), size, round(size * goes), None)
                    for name, size in kinds
                ]
                parts.sort(key=lambda each: -each.bytes)
                return lay_out(parts, width, height, _smaller), path
        groups = partial(self._groups, spaces, depth, "")
        return lay_out(self._entries(spaces, depth), width, height, _smaller, groups), path

    def rows(self, opened: Container[str]) -> list[ListRow]:
        """Return the map as rows: sources; below an open row its kinds of content, jobs and
        conversations."""
        rows: list[ListRow] = []
        whole = self.space_map.total.total

        def add(space: Space, depth: int) -> None:
            key = SpaceRow.key_of(space, depth)
            is_open = key in opened
            rows.append(
                SpaceRow(space, depth, is_open, whole, self.sums.get(key, 0), self._name(space))
            )
            if not is_open:
                return
            rows.extend(
                KindRow(_(name), size, whole, depth + 1, key) for name, size in _kinds(space.sizes)
            )
            if not space.below and not space.sizes.total:
                rows.append(NoteRow(f"{'  ' * (depth + 1)}  {_('nothing in it')}"))
            for each in space.below[:_MAX_BELOW]:
                add(each, depth + 1)
            if len(space.below) > _MAX_BELOW:
                note = _("… and {count:,} smaller ones").format(count=len(space.below) - _MAX_BELOW)
                rows.append(NoteRow(f"{'  ' * (depth + 1)}  {note}"))

        for source in self.space_map.sources:
            add(source, 0)
        return rows or [NoteRow(_("This store has no sessions."))]
