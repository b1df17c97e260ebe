"""What the transcript and the tree show: the conversation under the cursor, read as it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_browse.store.catalog import Catalog, read_neighbourhood
from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.models import ChatMessage, Conversation, Lineage, Reading
from hermes_browse.store.transcript import read_messages
from hermes_browse.store.wording import _

from .. import header
from ..drawing import Key
from ..entries import TranscriptModel
from ..page import draw_message
from ..rows import ConversationRow, FixedRows, HitRow, JobRow, ListRow, NoteRow, lineage_rows
from ..styled import Line
from .opening import WINDOW, open_conversation, read_model, recap_model

if TYPE_CHECKING:
    from .main import MainScreen

_ORDER = list(Reading)
_REST = 0.025
"""Seconds the cursor rests on a row before what it is about is read: more than a frame, less than is noticed."""


class ConversationPane:
    """Keeps transcript, title and tree on one conversation."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.conversation: Conversation | None = None
        """What is shown, or about to be."""
        self.reading = Reading.SAID
        self._recap = False
        self._timer: Timer | None = None
        self._again: Callable[[], None] | None = None
        """Asks anew for what could not be read: a writer kept us out for too long."""

    def preview(self, row: ListRow) -> None:
        """Show what a row is about: a conversation at its end, a hit in its place."""
        if isinstance(row, JobRow):
            self.show(row.runs[0])
        elif isinstance(row, ConversationRow):
            first = self._screen.searching.first_hit(row.conversation) if row.hits else None
            self.show(row.conversation, message_id=first)
        elif isinstance(row, HitRow) and row.conversation is not None:
            self.show(row.conversation, message_id=row.hit.message_id)
        elif isinstance(row, HitRow):
            self._show_nothing()
            sentence = _("message {id} belongs to no session of this store")
            self._screen.say(sentence.format(id=row.hit.message_id))
        elif isinstance(row, NoteRow):
            self._show_nothing()

    def _forget_the_row(self) -> None:
        self._again = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _show_nothing(self) -> None:
        self._forget_the_row()
        self.conversation = None
        self._screen.transcript_worker.cancel("open")
        self._screen.transcript.show(None)
        self._screen.finding.shown(None)
        self._screen.lineage.show(FixedRows([]))
        self._screen.show_family(False)
        for name in ("title", "facts", "lineage-title"):
            self._screen.line(name).update("")

    def show(self, conversation: Conversation, *, message_id: int | None = None, segment: str | None = None) -> None:
        """Show a conversation.

        Args:
            conversation: Which.
            message_id: At this message, lit as a hit.
            segment: At the start of this session.
        """
        transcript = self._screen.transcript
        matchers = self._screen.searching.matchers
        self._recap = False
        if message_id is not None and matchers:
            self._screen.finding.close()  # a hit of the search was gone to: n and N are about the search again
        same = self.conversation is not None and self.conversation.root_id == conversation.root_id
        on_screen = transcript.model is not None and transcript.model.conversation.root_id == conversation.root_id
        # Hits of a conversation that is on screen need no reading.
        if same and on_screen and message_id is not None and transcript.go_to_message(message_id, matchers):
            return
        self.conversation = conversation
        reading = self.reading

        width, look = transcript.page.width, transcript.look

        def work(reader: Reader) -> tuple[TranscriptModel, dict[Key, list[Line]]]:
            model = open_conversation(reader, conversation, reading, message_id, segment)
            # A hit has to be found among the lines of its message at once.
            return model, draw_message(model, message_id, width, look) if message_id is not None else {}

        def done(answer: tuple[TranscriptModel, dict[Key, list[Line]]]) -> None:
            model, drawn = answer
            transcript.page.drawing.add(drawn)
            self.conversation = model.conversation
            at = message_id
            if at is not None and model.entry_of(at) is None:
                self._screen.say(_("the hit is in a rewound message: v shows everything"))
            transcript.show(model, message_id=at, matchers=matchers, segment=segment)
            self._screen.finding.shown(model)
            self._show_titles(model.conversation)

        def failed(error: BrowseError) -> None:
            self._again = begin if isinstance(error, StoreBusyError) else None
            self._screen.failed(error)

        def begin() -> None:
            self._show_titles(conversation)
            self._screen.transcript_worker.submit("open", work, done, failed)
            if not same or not len(self._screen.lineage):
                self._read_lineage(conversation)

        self._after_the_list(begin)

    def _after_the_list(self, begin: Callable[[], None]) -> None:
        """Have the row that was moved to painted first, and what it is about only where the cursor rests."""
        self._forget_the_row()

        def go() -> None:
            self._timer = None
            begin()

        self._timer = self._screen.set_timer(_REST, go)

    @property
    def is_pending(self) -> bool:
        """Whether something is to be shown that has not been asked for yet."""
        return self._timer is not None

    def _read_lineage(self, conversation: Conversation) -> None:
        now = self._screen.clock()
        tip = conversation.id

        def done(lineage: Lineage) -> None:
            rows = FixedRows(list(lineage_rows(lineage)))
            self._screen.lineage.show(rows, key=f"l{tip}")
            self._screen.show_family(len(lineage.nodes) > 1)
            self._screen.line("lineage-title").update(header.lineage_title(lineage))

        def work(reader: Reader) -> Lineage:
            from hermes_browse.store.lineage import read_lineage

            return read_lineage(reader, tip, now)

        self._screen.page_worker.submit("lineage", work, done, self._screen.failed)

    def _show_titles(self, conversation: Conversation) -> None:
        width = self._screen.transcript.size.width
        self._screen.line("title").update(header.conversation_title(conversation, width))
        self._screen.line("facts").update(header.conversation_facts(conversation, self.reading, width))

    def fit_titles(self) -> None:
        """The pane has another width: title and facts take what there is."""
        if self.conversation is not None:
            self._show_titles(self.conversation)

    def go_to_session(self, session_id: str) -> None:
        """Show a session of the family: scroll to it, or open the conversation it is part of."""
        current = self.conversation
        if current is not None and session_id in (segment.id for segment in current.segments):
            self._screen.transcript.go_to_segment(session_id)
            return
        known = self._screen.listing.catalog.of_session(session_id)
        if known is not None:
            self._show_member(known, session_id)
            return
        now = self._screen.clock()

        def done(catalog: Catalog) -> None:
            found = catalog.of_session(session_id)
            if found is not None:
                self._show_member(found, session_id)

        self._screen.page_worker.submit(
            "member", lambda reader: read_neighbourhood(reader, [session_id], now), done, self._screen.failed
        )

    def _show_member(self, conversation: Conversation, session_id: str) -> None:
        """Show another conversation of the same family; the tree stays as it is."""
        self._forget_the_row()
        self.conversation = conversation
        self._show_titles(conversation)
        reading = self.reading

        def done(model: TranscriptModel) -> None:
            self.conversation = model.conversation
            self._screen.transcript.show(model, segment=session_id)
            self._screen.finding.shown(model)
            self._show_titles(model.conversation)

        self._screen.transcript_worker.submit(
            "open",
            lambda reader: open_conversation(reader, conversation, reading, None, session_id),
            done,
            self._screen.failed,
        )

    def read_window(self, first: int, last: int) -> None:
        """Read messages that came into sight."""
        model = self._screen.transcript.model
        if model is None:
            return
        bones = model.missing(first, last)

        def done(messages: list[ChatMessage]) -> None:
            if self._screen.transcript.model is model:
                model.add(messages)
                self._screen.transcript.loaded()

        self._screen.transcript_worker.submit(
            "window", lambda reader: read_messages(reader, bones), done, self._screen.failed
        )

    def changed(self) -> None:
        """The store has changed: read what is new in the conversation on screen."""
        transcript = self._screen.transcript
        shown = transcript.model
        if shown is None or self._recap:
            return
        conversation, reading = shown.conversation, self.reading

        def work(reader: Reader) -> TranscriptModel | None:
            model = read_model(reader, conversation, reading)
            if model.skeleton.bones == shown.skeleton.bones:
                return None
            model.add(read_messages(reader, model.missing(len(model) - WINDOW, len(model))))
            return model

        def done(model: TranscriptModel | None) -> None:
            if model is None or transcript.model is not shown:
                return
            model.add([m for m in map(shown.message, range(len(shown))) if m is not None])
            new = transcript.grow(model)
            self._screen.finding.shown(model, grown=True)
            if new:
                self._screen.say(_("{count} new · G to the end").format(count=new))

        self._screen.transcript_worker.submit("tail", work, done, self._screen.failed)

    def catalog_read(self, catalog: Catalog) -> None:
        """The whole list is known: the conversation on screen may have grown a segment, or can be read now."""
        if self.conversation is None:
            return
        again, self._again = self._again, None
        if again is not None:
            again()
            return
        known = catalog.of_session(self.conversation.root_id)
        if known is not None and len(known.segments) != len(self.conversation.segments):
            self.show(known)

    def next_reading(self) -> None:
        """Said → live → everything, at the message on screen."""
        self.reading = _ORDER[(_ORDER.index(self.reading) + 1) % len(_ORDER)]
        names = {
            Reading.SAID: _("what was said"),
            Reading.LIVE: _("what the model still sees"),
            Reading.EVERYTHING: _("everything: rewound, hidden and repeated messages too"),
        }
        if self.conversation is not None:
            current = self._screen.transcript.current
            conversation, self.conversation = self.conversation, None
            at_end = self._screen.transcript.at_end
            self.show(conversation, message_id=current.id if current is not None and not at_end else None)
        self._screen.say(names[self.reading])

    def show_recap(self) -> None:
        """The recap of Hermes in place of the transcript, and back."""
        conversation = self.conversation
        if conversation is None:
            return
        if self._recap:
            self.conversation = None
            self.show(conversation)
            return

        def done(model: TranscriptModel) -> None:
            self._recap = True
            self._screen.transcript.show(model)
            self._screen.finding.shown(None)
            self._screen.say(_("the recap Hermes shows on resume · p back to the transcript"))

        self._screen.transcript_worker.submit(
            "open", lambda reader: recap_model(reader, conversation), done, self._screen.failed
        )
