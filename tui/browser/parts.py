"""What does the work of the main screen: each part reads its state, sets it, and knows no other
part. Those that the first frame does not need are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import on
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location, trash_folder
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import ngettext

from ..settings.keys.main_commands import MAIN
from ..widgets.bindings import BoundKeys
from ..work.application import Application, Arrival
from .by_name import load
from .current import CurrentPanes
from .lineage.loader import FamilyLoader
from .list.listing import Listing
from .transcript.ask_line import AskInput
from .transcript.loader import TranscriptLoader
from .transcript.view import TranscriptView

if TYPE_CHECKING:
    from .edit.edits import Edits
    from .places.switching import Switching
    from .resume.resuming import Resuming
    from .search.query_line import QueryLine
    from .search.search import LiveSearch
    from .transcript.copying import Copying
    from .transcript.finding import Finding


def _on_first_use(name: str) -> Any:
    """Return a part as an attribute, which is imported and made when it is first asked for."""
    return cached_property(lambda main: load(name)(main))


class WayBack(NamedTuple):
    """The way back to the screen from which a conversation was opened."""

    root_id: str
    """Of the conversation."""
    go: Callable[[], None]
    forget: Callable[[], None]


class Parts(BoundKeys, CurrentPanes):
    """The panes with what fills them.

    Args:
        first: Catalog of the first page.
        shown: Its conversations that have been read.
    """

    KEYS = MAIN
    RESUMES: ClassVar[bool] = True
    """Whether Enter may resume its conversations, if it is configured to."""

    def __init__(
        self,
        host: Application,
        location: Location,
        store: Store,
        first: Catalog,
        shown: Sequence[Conversation],
    ) -> None:
        super().__init__(host, location, store, first)
        self.details.add(shown)
        self.rows.resumes = self.RESUMES and self.options.enter == "resume"
        self.listing = Listing(self)
        self.loader = TranscriptLoader(self)
        self.family_loader = FamilyLoader(self)
        self.way_back: WayBack | None = None

    query_line: QueryLine = _on_first_use("query-line")
    """What is typed in the search box."""
    search: LiveSearch = _on_first_use("search")
    """Search as you type."""
    finding: Finding = _on_first_use("finding")
    """Find in the transcript."""
    edits: Edits = _on_first_use("edits")
    """Marks, changes, and their undo."""
    copying: Copying = _on_first_use("copying")
    """Clipboard, pager and editor."""
    resuming: Resuming = _on_first_use("resuming")
    """Resume in Hermes."""
    switching: Switching = _on_first_use("switching")
    """Switch to other profiles, machines, old transcripts."""

    def load_search(self) -> None:
        """Import what the first letter in the search box needs, on a thread, as it takes about
        three frames."""
        self.search.stop()
        self.query_line.history.load()

    def close(self) -> None:
        """Close the store, and remove temporary files."""
        self.forget_way_back()
        if "copying" in self.__dict__:
            self.copying.close()
        self.reads.stop()

    # Screens over this one

    def open_screen(self, name: str, *given: object) -> None:
        self.forget_way_back()
        super().open_screen(name, *given)

    def go_back(self) -> bool:
        """Open the screen again from which the current conversation was opened; return False if
        there is none."""
        way, current = self.way_back, self.current
        if way is None or current is None or current.root_id != way.root_id:
            return False
        self.way_back = None
        way.go()
        return True

    def forget_way_back(self) -> None:
        if self.way_back is not None:
            self.way_back.forget()
            self.way_back = None

    def search_for(self, query: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self.query_line.put(query, remark)
        self.set_focus(self.rows)

    def watch_arrival(self, arrival: Arrival) -> None:
        """Continue here after a switch of stores: show a conversation, or search."""
        if arrival.conversation is not None:
            self.read_there(arrival.conversation, arrival.message_id)
        elif arrival.query:
            self.search_for(
                arrival.query
            )  # no space after it: it was counted with the last word as a prefix

    async def expire_trash(self, age: str) -> None:
        """Drop bundles of this age, as written in the configuration; report how many."""
        trash, now = trash_folder(self.location), self.clock()
        count = await self.write(lambda: len(load("expire")(trash, load("parse-age")(age), now)))
        if count:
            self.say(
                ngettext(
                    "1 deletion as old as the configuration says was deleted for good",
                    "{count:,} deletions as old as the configuration says were deleted for good",
                    count,
                    count=count,
                )
            )

    # Messages of the transcript

    @on(TranscriptView.Needed)
    def messages_needed(self, event: TranscriptView.Needed) -> None:
        self.loader.read_window(event.first, event.last)

    @on(TranscriptView.Seen)
    def messages_seen(self, event: TranscriptView.Seen) -> None:
        """Mark new messages in sight as read."""
        new = self.details.attention.unread.get(event.segments[0].id)
        if new is not None and event.message_id >= new.first_message_id:
            ids = [segment.id for segment in event.segments]
            self.start("mark-read", self.mark_read, ids, event.message_id)

    @on(TranscriptView.Notice)
    def transcript_notice(self, event: TranscriptView.Notice) -> None:
        if event.text:
            self.say_of_page(event.text)
        else:
            self.page_left()

    @on(TranscriptView.FindKeyPressed)
    def find_key_pressed(self, event: TranscriptView.FindKeyPressed) -> None:
        """Go to the next or previous match in the transcript, or end the find."""
        if event.step:
            self.finding.step(event.step)
        else:
            self.finding.end()

    @on(TranscriptView.Resized)
    def transcript_resized(self) -> None:
        self.loader.fit_titles()

    @on(Input.Changed, "#ask-box")
    def find_edited(self, event: Input.Changed) -> None:
        self.finding.edited(event.value)

    @on(Input.Submitted, "#ask-box")
    def find_submitted(self, event: Input.Submitted) -> None:
        self.finding.submitted(event.value)

    @on(AskInput.Stepped)
    def find_stepped(self, event: AskInput.Stepped) -> None:
        self.finding.step(event.by)

    @on(AskInput.Left)
    def find_left(self) -> None:
        self.finding.left()
