"""The controller of transcript and tree: reads and shows the current conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.messages.chat_message import ChatMessage, Reading
from hermes_browse.store.messages.transcript import read_messages
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from ..bindings import following
from ..compression.tree import Tree
from ..context import Context
from ..screens.panes import Panes
from ..shared import header
from ..shared.styled import Line
from .entries import TranscriptModel
from .layout_cache import Key
from .opening import WINDOW, open_conversation, read_model, recap_model
from .page import draw_message
from .view import TranscriptView

if TYPE_CHECKING:
    from hermes_browse.store.compression.compactions import Compaction
    from hermes_browse.store.search.terms import Matcher

_Opened = tuple[TranscriptModel, int | None, dict[Key, list[Line]]]
"""What was read, the message to begin at, and the lines of that."""
_NAMES = {
    Reading.SAID: N_("what was said"),
    Reading.LIVE: N_("what the model still sees"),
    Reading.EVERYTHING: N_("everything: rewound, hidden and repeated messages too"),
}
_REST = 0.025
"""Seconds without a move of the cursor before the conversation is read: more than a frame, too
short to notice."""
_PATIENCE = 0.15
"""Seconds for which the previous conversation stays on screen while the next is read; then the page
is cleared."""


def read_missing(
    context: Context,
    slot: str,
    transcript: TranscriptView,
    first: int,
    last: int,
    then: Callable[[], object] = lambda: None,
) -> None:
    """Read the messages of the entries from `first` up to `last` that have not been read, and show
    them.

    When all have been read, `then` is called, unless the transcript shows something else by then.
    """
    model = transcript.model
    if model is None:
        return
    rows = model.missing(first, last)
    if not rows:
        then()
        return

    def done(messages: list[ChatMessage]) -> None:
        if transcript.is_attached and transcript.model is model:
            model.add(messages)
            transcript.loaded()
            then()

    context.transcript_worker.submit(slot, lambda reader: read_messages(reader, rows), done)


class TranscriptController:
    """Shows the current conversation in transcript, title and tree.

    Title and transcript change together. Until then keys already act on the conversation that
    `current` returns. `matchers` returns the terms of the search, to be highlighted.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        current: Callable[[], Conversation | None],
        matchers: Callable[[], Sequence[Matcher]],
    ) -> None:
        self._context, self._panes, self._current, self._matchers = (
            context,
            panes,
            current,
            matchers,
        )
        self.shown: Callable[[TranscriptModel | None, bool], None] = lambda model, grown: None
        """Called with what the transcript shows, and whether that is the same conversation with new
        messages."""
        self.hit_shown: Callable[[], None] = lambda: None
        """Called when a hit of the search is shown."""
        self.reading = Reading.SAID
        self.tree = Tree(context, panes, current)
        """The lineage below the transcript."""
        self._titled: Conversation | None = None
        """The conversation in title and facts."""
        self.is_recap = False
        """Whether the transcript shows Hermes' recap instead of the conversation."""
        self._timer: Timer | None = None
        self._late: Timer | None = None
        self._request: object = None
        """Identifies what is being read; a timer that has been stopped may still call back."""
        self._retry: Callable[[], None] | None = None
        """Reads again what could not be read because the store was busy."""
        self._page_of = ""
        """The root whose page was requested last."""
        self._left_out: tuple[int | None, int] | None = None
        """The message at which a change of the reading began, and the one that this reading leaves
        out."""

    def _cancel(self) -> None:
        """Cancel the request that is waiting or running."""
        self._retry = None
        for timer in (self._timer, self._late):
            if timer is not None:
                timer.stop()
        self._timer = self._late = self._request = None
        self._context.transcript_worker.cancel("open")

    def wait(self) -> None:
        """Clear the page while a conversation that was chosen in the tree is searched for; the tree
        stays."""
        self._cancel()
        self._page_of = ""
        self.tree.forget()
        self._clear(None)

    def _clear(self, conversation: Conversation | None) -> None:
        """Show an empty page under the title of a conversation that is still being read, or without
        a title."""
        self._panes.transcript.show(None)
        self.shown(None, False)
        self._titled = None
        if conversation is not None:
            self._show_titles(conversation)
            return
        for name in ("title", "facts"):
            self._panes.line(name).update("")

    def show(
        self,
        conversation: Conversation | None,
        *,
        message_id: int | None = None,
        segment: str | None = None,
        reload: bool = False,
        keeps_place: bool = False,
    ) -> None:
        """Show a conversation.

        Args:
            conversation: None for nothing.
            message_id: Begin at this message, highlighted as a hit.
            segment: Begin at this session.
            reload: Read it again even if it is on screen.
            keeps_place: If the reading leaves the message out, begin at the next one that it shows.
        """
        self._context.page_left()
        if conversation is None:
            self.wait()
            self.tree.clear()
            return
        transcript = self._panes.transcript
        matchers = self._matchers()
        self.is_recap, self._page_of = False, conversation.root_id
        if message_id is not None and matchers:
            self.hit_shown()  # `n` and `N` act on the search again
        self._cancel()
        on_screen = (
            transcript.model is not None
            and transcript.model.conversation.root_id == conversation.root_id
        )
        # Hits of a conversation on screen need no reading.
        if (
            on_screen
            and not reload
            and message_id is not None
            and transcript.show_find(message_id, matchers=matchers)
        ):
            self.tree.read(conversation)
            self.renew()
            return
        reading = self.reading
        width, look = transcript.page.width, transcript.page.look

        def work(reader: Reader) -> _Opened:
            model, begin = (
                open_conversation(reader, conversation, reading, message_id, segment),
                message_id,
            )
            if keeps_place and message_id is not None and model.entry_of(message_id) is None:
                begin = model.next_shown(message_id)
                model = open_conversation(reader, conversation, reading, begin, segment)
            # The hit is located among the lines of its message, so these are laid out here.
            return (
                model,
                begin,
                draw_message(model, begin, width, look) if begin is not None else {},
            )

        def done(answer: _Opened) -> None:
            model, begin, drawn = answer
            self._cancel()
            transcript.page.layouts.add(drawn)
            self._say_what_is_left_out(model, begin, message_id)
            transcript.show(model, message_id=begin, matchers=matchers, segment=segment)
            self.shown(model, False)
            self._context.details.add([model.conversation])
            self._show_titles(model.conversation)

        self._read_when_at_rest(conversation, work, done)

    def _say_what_is_left_out(
        self, model: TranscriptModel, begin: int | None, message_id: int | None
    ) -> None:
        """Tell the user if the reading leaves out the message that was asked for; it begins at
        another one then."""
        self._left_out = (
            (begin, message_id) if message_id is not None and begin != message_id else None
        )
        if self._left_out is not None:
            sentence = _("{reading} · the message you were at is not part of it")
            self._context.say_of_page(sentence.format(reading=_(_NAMES[self.reading])))
        elif message_id is not None and model.entry_of(message_id) is None:
            unseen = _("the model no longer sees the hit: v shows everything")
            rewound = _("the hit is in a rewound message: v shows everything")
            self._context.say_of_page(unseen if self.reading is Reading.LIVE else rewound)

    def _read_when_at_rest(
        self,
        conversation: Conversation,
        work: Callable[[Reader], _Opened],
        done: Callable[[_Opened], None],
    ) -> None:
        """Read a conversation if the cursor stays on it: its row is painted first."""
        request = self._request = object()

        def failed(error: BrowseError) -> None:
            self._cancel()
            self._retry = retry if isinstance(error, StoreBusyError) else None
            self._clear(conversation)
            self._context.failed(error)

        def late() -> None:
            if self._request is not request:
                return
            self._late = None
            self._clear(conversation)
            self.tree.clear_unless(conversation.id)

        def begin() -> None:
            if self._request is not request:
                return
            self._timer = None
            self._late = self._panes.set_timer(_PATIENCE, late)
            self._context.transcript_worker.submit("open", work, done, failed)
            self.tree.read(conversation)

        def retry() -> None:
            self._request = request
            begin()

        self._timer = self._panes.set_timer(_REST, begin)

    @property
    def is_pending(self) -> bool:
        """Whether a conversation is about to be read."""
        return self._timer is not None

    def _show_titles(self, conversation: Conversation) -> None:
        self._titled = conversation
        detailed = self._context.details.complete(conversation)[0]
        width = self._panes.transcript.size.width
        self._panes.line("title").update(header.conversation_title(detailed, width))
        seen = self._panes.transcript.page.seen
        here = seen.words if seen is not None else ""
        self._panes.line("facts").update(
            header.conversation_facts(detailed, self.reading, width, here)
        )

    def fit_titles(self) -> None:
        """Fit title and facts to another width of the pane."""
        if self._titled is not None:
            self._show_titles(self._titled)

    def renew(self) -> None:
        """Show a new title or segment of the current conversation from the catalog, or retry
        reading it."""
        retry, self._retry = self._retry, None
        if retry is not None:
            retry()
            return
        model, current = self._panes.transcript.model, self._current()
        if current is not None and current.root_id != self._page_of:  # a job has a new latest run
            self.show(current)
            return
        if model is None or current is None or model.conversation.root_id != current.root_id:
            return
        if self._titled == current:
            return
        if [each.id for each in current.segments] != [
            each.id for each in model.conversation.segments
        ]:
            self.show(current)
            return
        self._show_titles(current)
        self.tree.read(current, reload=True)

    def go_to_segment(self, conversation: Conversation, session_id: str) -> None:
        """Show the current conversation at one of its sessions."""
        model = self._panes.transcript.model
        if (
            model is None
            or model.conversation.root_id != conversation.root_id
            or self._timer is not None
        ):
            self.show(conversation, segment=session_id)
        elif not self._panes.transcript.go_to_segment(session_id):
            self._context.say_of_page(_("this session has no messages"))

    def go_to_compaction(self, conversation: Conversation, compaction: Compaction) -> None:
        """Show the current conversation where it was compressed."""
        if compaction.summary is not None:
            self.show(conversation, message_id=compaction.summary)
        elif compaction.into_session_id is not None:
            self.go_to_segment(conversation, compaction.into_session_id)

    def read_window(self, first: int, last: int) -> None:
        """Read messages that have come into sight."""
        read_missing(self._context, "window", self._panes.transcript, first, last)

    def changed(self) -> None:
        """Read new messages of the conversation on screen, as the store has changed."""
        transcript = self._panes.transcript
        shown = transcript.model
        if shown is None or self.is_recap:
            return
        conversation, reading = shown.conversation, self.reading

        def work(reader: Reader) -> TranscriptModel | None:
            model = read_model(reader, conversation, reading)
            if model.outline.rows == shown.outline.rows:
                return None
            model.add(read_messages(reader, model.missing(len(model) - WINDOW, len(model))))
            return model

        def done(model: TranscriptModel | None) -> None:
            if model is None or transcript.model is not shown:
                return
            model.add([m for m in map(shown.message, range(len(shown))) if m is not None])
            new = transcript.grow(model)
            self.shown(model, True)
            if new:
                self._context.say_of_page(_("{count} new · G to the end").format(count=new))

        self._context.transcript_worker.submit("tail", work, done)

    def next_reading(self) -> None:
        """Show the next reading (said, live, everything), at the current message."""
        self.reading = following(Reading, self.reading)
        conversation = self._current()
        if conversation is not None:
            current, at_end = self._panes.transcript.current, self._panes.transcript.at_end
            message_id = current.id if current is not None and not at_end else None
            if self._left_out is not None and message_id == self._left_out[0]:
                message_id = self._left_out[1]
            self.show(conversation, message_id=message_id, reload=True, keeps_place=True)
        self._context.say_of_page(_(_NAMES[self.reading]))

    def show_recap(self) -> None:
        """Show Hermes' recap instead of the transcript, or the transcript again."""
        conversation = self._current()
        if conversation is None:
            return
        if self.is_recap:
            self.show(conversation, reload=True)
            return
        self._cancel()

        def done(model: TranscriptModel) -> None:
            self.is_recap = True
            self._panes.transcript.show(model)
            self.shown(None, False)
            self._show_titles(conversation)
            self._context.say_of_page(
                _("the recap Hermes shows on resume · p back to the transcript")
            )

        def failed(error: BrowseError) -> None:
            self._clear(conversation)
            self._context.failed(error)

        self._context.transcript_worker.submit(
            "open", lambda reader: recap_model(reader, conversation), done, failed
        )
