"""The main screen over all profiles and hosts, with a column that says where a conversation is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.places.merged import MergedStore
from hermes_browse.store.places.place import Place
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys import changed
from ...settings.keys.main_commands import MAIN
from ...text import formats
from ...text.styled import Span
from ...widgets.list_rows import ListRow
from ...work.application import Arrival
from ..list.list_model import FirstPage
from ..list.rows import HitRow
from ..main import MainScreen, OtherScreen
from .switching import reason_of

_NOT_OF_SEVERAL = (
    *("archive", "delete", "pin", "rename", "tag", "undo", "prune", "trash", "retention"),
    *("view-old", "insights", "doctor"),
)
"""Commands about one store."""
_CHANGED: Mapping[str, dict[str, Any]] = {
    "hit-order": {
        "title": N_("open there"),
        "tooltip": N_("Open it in its own profile or host"),
        "footer": True,
        "call": "open_there",
    },
    "back": {"footer": True},
}
"""How commands are shown here, where it differs; hits have one order, so its key opens."""


class AwayRow(NamedTuple):
    """A place of which nothing can be shown."""

    place: Place
    reason: str

    @property
    def key(self) -> str:
        return f"a{self.place.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        name = f"{one_line(self.place.name, 40)}  "
        reason = formats.fit(self.reason, max(width - 3 - len(name), 0))
        return [(" ! ", "note"), (name, "accent"), (reason, "note")]


def _names(names: Sequence[str]) -> str:
    """Return names of places, as many as a line takes."""
    shown, more = ", ".join(names[:3]), len(names) - 3
    return _("{names} and {count:,} more", names=shown, count=more) if more > 0 else shown


class PlacesScreen(OtherScreen):
    """The main screen over a `MergedStore`."""

    KEYS = changed(MAIN, _CHANGED, _NOT_OF_SEVERAL)
    REFUSAL = N_("these are several stores: o opens the one of this conversation, 0 another")

    def __init__(self, beside: MainScreen, store: MergedStore, first: FirstPage) -> None:
        name = _("all profiles and hosts") if beside.options.hosts else _("all profiles")
        location = beside.app.here._replace(
            path=store.path, root=None, profile=name, note="", label=name
        )
        super().__init__(location, store, first)
        self._merged = store

    def notes(self) -> Sequence[ListRow]:
        now, away = self.clock(), [(place, place.away) for place in self._merged.places]
        return [AwayRow(place, reason_of(place, why, now)) for place, why in away if why]

    def uncovered(self) -> str:
        waited = _names([each.name for each in self._merged.places if each.is_waited_for])
        away = _names([each.name for each in self._merged.places if each.away])
        return formats.joined(
            _("asking {hosts} …", hosts=waited) if waited else "",
            _("without {hosts}", hosts=away) if away else "",
        )

    def enter_row(self, row: ListRow) -> None:
        """Ask a place again that is away; other rows as on every main screen."""
        if isinstance(row, AwayRow):
            self.say(_("asking {hosts} …", hosts=row.place.name))
            self.start("again", self._read_again, row.place)
        else:
            super().enter_row(row)

    async def _read_again(self, place: Place) -> None:
        await self.call(place.retry)
        self.listing.read()

    def describe_row(self) -> None:
        super().describe_row()
        row = self.rows.current
        if isinstance(row, AwayRow) and (error := row.place.away) is not None:
            more, host = "", row.place.host
            if host is not None:
                more = _("`hermes-browse hosts check {name}` says more", name=host.name)
            remedy = error.mend if isinstance(error, HostError) else error.remedy
            self.about = formats.joined(_("Enter asks it again"), more, one_line(remedy, 300))

    def open_there(self) -> None:
        """Open the current conversation, at the hit under the cursor, in its own place."""
        conversation, row = self.current, self.rows.current
        place = self._merged.place(conversation.root_id) if conversation is not None else None
        if conversation is None or place is None:
            return
        own = place.keys.there(conversation)
        message = row.hit.message_id if isinstance(row, HitRow) else self.message_id
        own_message = place.keys.there(message) if message is not None else None
        self.switching.to_place(place, Arrival(own, own_message))
