"""The controller of transcript and tree: reads and shows the current conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from ..bindings import following
from ..compression.tree import Tree
from ..context import Context
from ..screens.panes import Panes
from ..shared import header
from .entries import Look, TranscriptModel
from .opening import WINDOW, open_conversation, read_model, recap_model
from .page import lay_out_message

if TYPE_CHECKING:
    from hermes_browse.store.compression.compactions import Compaction
    from hermes_browse.store.search.terms import Matcher

    from ..work.store_screen import StoreScreen
    from .block_layout import Shown
    from .paragraphs import MessageLayout
    from .view import TranscriptView

_NAMES = {
    Reading.SAID: N_("what was said"),
    Reading.LIVE: N_("what the model still sees"),
    Reading.EVERYTHING: N_("everything: rewound, hidden and repeated messages too"),
}
_REST = 0.025
"""Seconds without a move of the cursor before the conversation is read: more than a frame, too
short to notice."""
PATIENCE = 0.15
"""Seconds for which the previous conversation stays on screen while the next is read; then the page
is cleared."""


class _Opening(NamedTuple):
    """What is to be shown of a conversation."""

    conversation: Conversation
    message_id: int | None
    segment: str | None
    keeps_place: bool
    matchers: Sequence[Matcher]

    def read(
        self, store: OpenStore, reading: Reading, width: int, look: Look
    ) -> tuple[TranscriptModel, int | None, dict[Shown, MessageLayout]]:
        """Read the conversation; return also the message to begin at, and the layout of that."""
        conversation, begin = self.conversation, self.message_id
        model = open_conversation(store, conversation, reading, begin, self.segment)
        if self.keeps_place and begin is not None and model.entry_of(begin) is None:
            begin = model.next_shown(begin)
            model = open_conversation(store, conversation, reading, begin, self.segment)
        # The hit is located among the lines of its message, so it is laid out here.
        return model, begin, lay_out_message(model, begin, width, look)


async def read_missing(
    screen: StoreScreen[Any], transcript: TranscriptView, first: int, last: int
) -> bool:
    """Read the messages of the entries from `first` up to `last` that have not been read, and show
    them.

    Returns:
        Whether the transcript still shows the same conversation.
    """
    model = transcript.model
    if model is None:
        return False
    ids = model.missing(first, last)
    if ids:
        messages = await screen.read(lambda store: store.messages(ids))
        if transcript.model is not model:
            return False
        model.add(messages)
        transcript.loaded()
    return True


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
        self._is_opening = False
        """Whether a conversation is about to be shown."""
        self._retry: Callable[[], None] | None = None
        """Reads again what could not be read because the store was busy."""
        self._page_of = ""
        """The root whose page was requested last."""
        self._left_out: tuple[int | None, int] | None = None
        """The message at which a change of the reading began, and the one that this reading leaves
        out."""

    def _cancel(self) -> None:
        """Cancel what is about to be shown."""
        self._retry, self._is_opening = None, False
        self._panes.cancel("transcript")

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
        opening = _Opening(conversation, message_id, segment, keeps_place, matchers)
        self._begin_opening(opening)

    def _begin_opening(self, opening: _Opening) -> None:
        self._is_opening = True
        self._panes.start("transcript", self._open, opening)

    async def _open(self, opening: _Opening) -> None:
        """Read and show a conversation if the cursor stays on it: its row is painted first."""
        await asyncio.sleep(_REST)
        conversation, transcript = opening.conversation, self._panes.transcript
        self.tree.read(conversation)
        reading, width, look = self.reading, transcript.page.width, transcript.page.look
        late = asyncio.get_running_loop().call_later(PATIENCE, self._clear_late, conversation)
        try:
            model, begin, layouts = await self._panes.read(
                lambda store: opening.read(store, reading, width, look)
            )
        except BrowseError as error:
            self._is_opening = False
            if isinstance(error, StoreBusyError):
                self._retry = partial(self._begin_opening, opening)
            self._clear(conversation)
            raise
        finally:
            late.cancel()
        self._is_opening = False
        transcript.page.add(layouts)
        self._say_what_is_left_out(model, begin, opening.message_id)
        transcript.show(model, message_id=begin, matchers=opening.matchers, segment=opening.segment)
        self.shown(model, False)
        self._context.details.add([model.conversation])
        self._show_titles(model.conversation)

    def _clear_late(self, conversation: Conversation) -> None:
        self._clear(conversation)
        self.tree.clear_unless(conversation.id)

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
        if model is None or model.conversation.root_id != conversation.root_id or self._is_opening:
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
        panes = self._panes
        panes.start("window", read_missing, panes, panes.transcript, first, last)

    def changed(self) -> None:
        """Read new messages of the conversation on screen, as the store has changed."""
        shown = self._panes.transcript.model
        if shown is not None and not self.is_recap:
            self._panes.start("tail", self._read_tail, shown)

    async def _read_tail(self, shown: TranscriptModel) -> None:
        conversation, reading = shown.conversation, self.reading

        def read(store: OpenStore) -> TranscriptModel | None:
            model = read_model(store, conversation, reading)
            if model.outline.rows == shown.outline.rows:
                return None
            model.add(store.messages(model.missing(len(model) - WINDOW, len(model))))
            return model

        model = await self._panes.read(read)
        transcript = self._panes.transcript
        if model is None or transcript.model is not shown:
            return
        model.add([m for m in map(shown.message, range(len(shown))) if m is not None])
        new = transcript.grow(model)
        self.shown(model, True)
        if new:
            self._context.say_of_page(_("{count} new · G to the end").format(count=new))

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
        self._panes.start("transcript", self._show_recap, conversation)

    async def _show_recap(self, conversation: Conversation) -> None:
        try:
            model = await self._panes.read(lambda store: recap_model(store, conversation))
        except BrowseError:
            self._clear(conversation)
            raise
        self.is_recap = True
        self._panes.transcript.show(model)
        self.shown(None, False)
        self._show_titles(conversation)
        self._context.say_of_page(_("the recap Hermes shows on resume · p back to the transcript"))
