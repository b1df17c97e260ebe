"""`since`: what happened since the user looked, of one store or of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hermes_browse.store.amounts import parse_when
from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.notes.notes_file import NotesError
from hermes_browse.store.since import SinceItem
from hermes_browse.store.since.since import Since, order
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..text import formats
from ..text.sentences import LANE_NAMES, why
from .output import TableColumn, fields, note, print_table
from .parser import ALL_HOSTS, Flag, Valued
from .several import Answers, ManyStoresCommand, place_columns


class _PlacedItem(NamedTuple):
    place: Json
    item: SinceItem


class SinceCommand(ManyStoresCommand[Since]):
    """Print what happened since the user looked."""

    arguments = (
        Valued(
            "--after", "since this time instead of what was read: 2h, yesterday, 2026-03-05", "TIME"
        ),
        Flag("--all-profiles", "of all profiles"),
        ALL_HOSTS,
    )

    def contradictions(self) -> Mapping[str, object]:
        """What is after may be no time."""
        try:
            self._after(0.0)
        except ValueError as error:
            return {f"--after: {error}": True}
        return {}

    def ask(self, store: OpenStore, now: float) -> Since:
        after = self._after(now)
        notes: list[str] = []
        try:
            if after is None:
                store.begin_marks(now)
        except RefusedError:
            pass  # a machine that may only be read keeps no marks
        except NotesError as error:  # nothing is new where they cannot be begun
            notes.append(str(error))
        found = store.since(store.catalog(now), now, after)
        return found._replace(notes=(*notes, *found.notes))

    def _after(self, now: float) -> float | None:
        after = self.given.after
        return parse_when(after, now)[0] if after is not None else None

    def report(self, answers: Answers[Since]) -> None:
        rows = [_PlacedItem(place, item) for place, found in answers.placed for item in found.items]
        rows.sort(key=lambda row: order(row.item))
        note(*dict.fromkeys(text for found in answers.values for text in found.notes))
        since = min((found.since for found in answers.values), default=None)
        if self.given.json:
            lanes = {
                lane: [
                    row.place
                    | fields(
                        row.item,
                        "title message_id at why certain source job session=session_id "
                        "conversation=session_id",
                    )
                    for row in rows
                    if row.item.lane == lane
                ]
                for lane in LANE_NAMES
            }
            self.print_json({"since": since, **lanes, **answers.facts})
        else:
            print_table([*place_columns(answers), *_COLUMNS], rows)
            if since is not None:
                note(_("since {time}", time=formats.timestamp(since)))


_COLUMNS = [
    TableColumn("lane", lambda row: _(LANE_NAMES[row.item.lane])),
    TableColumn("time", "item.at", dropped=3, form=formats.timestamp),
    TableColumn("title", lambda row: one_line(row.item.title, 60)),
    TableColumn("why", "item", is_flexible=True, form=why),
    TableColumn("source", "item.source", dropped=1),
    TableColumn("id", "item.session_id", dropped=2),
]
