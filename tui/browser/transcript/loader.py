"""Reads the current conversation into the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.call import read_in_portions
from hermes_browse.store.errors import BrowseError, StoreBusyError, ValueTooLongError
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.messages.chat_message import ChatMessage, Reading
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from ...widgets.bindings import following
from .. import header
from ..context import ShownConversation
from ..panes import Panes, load
from .entries import TranscriptModel
from .page import Layouts, Page, lay_out

if TYPE_CHECKING:
    from ...work.jobs import StoreScreen
    from .scroll import Needed
    from .view import TranscriptView

_NAMES = {
    Reading.SAID: N_("what was said"),
    Reading.LIVE: N_("what the model still sees"),
    Reading.EVERYTHING: N_("everything: rewound, hidden and repeated messages too"),
}
WINDOW = 60
"""Messages read before and after the first place."""
_PORTION = 1000
"""Messages that are asked for at a time."""


def read_model(store: OpenStore, conversation: Conversation, reading: Reading) -> TranscriptModel:
    """Read the outline of a conversation; in the reading of everything, with the system prompt
    first."""
    outline, root_id = store.outline(conversation.segments, reading), conversation.root_id
    prompt = store.system_prompt(root_id) if reading is Reading.EVERYTHING else None
    if prompt is None:
        return TranscriptModel(conversation, outline)
    message = ChatMessage(-1, root_id, "system", prompt, display_kind=_("system prompt"))
    return TranscriptModel(conversation, outline, [message])


def _recap_model(store: OpenStore, conversation: Conversation) -> TranscriptModel:
    """Read the recap as a transcript of its own."""
    root_id = conversation.root_id
    messages = [
        ChatMessage(-index, root_id, "recap" if line.role == "earlier" else line.role, line.text)
        for index, line in enumerate(store.recap(conversation.segments), 1)
    ]
    return TranscriptModel(conversation, Outline((root_id,), ()), messages)


def read_messages(
    store: OpenStore, model: TranscriptModel, ids: Sequence[int]
) -> list[ChatMessage]:
    """Read messages of a conversation; in place of one that a host cannot send stands a sentence."""

    def read(some: list[int]) -> list[ChatMessage]:
        try:
            return store.messages(some)
        except ValueTooLongError:
            if len(some) > 1:  # fewer will be asked for
                raise
        row = model.row(model.entry_of(some[0]))
        assert row is not None
        session_id = model.outline.session_ids[row.segment]
        sentence = _("[this message is too long to be sent by that machine]")
        return [ChatMessage(row.id, session_id, row.role, sentence, row.timestamp, state=row.state)]

    messages = list(read_in_portions(read, ids, _PORTION))
    load("languages")(each.text for each in messages)
    return messages


class Opening(NamedTuple):
    """What is to be shown of a conversation."""

    conversation: Conversation
    message_id: int | None = None
    segment: str | None = None
    is_recap: bool = False
    """Hermes' recap of it instead."""

    def read(
        self, store: OpenStore, reading: Reading, page: Page
    ) -> tuple[TranscriptModel, int | None, Layouts]:
        """Read the conversation and the messages that will be on screen first.

        Returns:
            The model; the message at which it begins: the next one, if this reading leaves that
            out; and its layout, as a hit is located among the lines of its message.
        """
        conversation, begin = self.conversation, self.message_id
        if conversation.shown_count is None:
            conversation = store.with_details([conversation])[0]
        if self.is_recap:
            return _recap_model(store, conversation), None, {}
        model = read_model(store, conversation, reading)
        if begin is not None and model.entry_of(begin) is None:
            begin = model.next_shown(begin)
        places = (model.entry_of(begin), model.entry_of_segment(self.segment), len(model))
        middle = next(each for each in places if each is not None)
        model.add(read_messages(store, model, model.missing(middle - WINDOW, middle + WINDOW)))
        hit = model.shown(model.entry_of(begin), page.width, page.look)
        return model, begin, lay_out([hit] if hit is not None else ())


async def read_missing(
    screen: StoreScreen[Any], transcript: TranscriptView, first: int, last: int
) -> bool:
    """Read the messages of the entries from `first` up to `last` that have not been read, and show
    them.

    Returns:
        Whether the transcript still shows these messages: it may have grown meanwhile.
    """
    model = transcript.page.model
    ids = model.missing(first, last)
    if ids:
        messages = await screen.read(lambda store: read_messages(store, model, ids))
        shown = transcript.page.model
        if not set(ids) <= shown.ids:
            return False
        shown.add(messages)
        transcript.loaded()
    return True


class TranscriptLoader:
    """Fills transcript, title and facts, which change together."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self.is_recap = False
        """Whether the transcript shows the recap instead of the conversation."""
        self._opening: Opening | None = None
        """What is about to be shown, or could not be read."""
        self._is_retried = False
        """It could not be read because the store was busy, or its host away: it is read again with
        the list."""
        self._changes = 0
        """How often the store may have changed."""
        self._asked_for: dict[int | None, int | None] = {}
        """Where the page began → the message that was asked for, which this reading may leave
        out."""

    def follow(self, shown: ShownConversation) -> None:
        """Show something else, or the changes of the same conversation."""
        if shown.is_same:
            self._renew()
            return
        main, transcript, conversation = self._main, self._main.transcript, shown.conversation
        if conversation is None:
            self._leave()
            self._show(None)
            return
        is_on_screen = transcript.page.model.conversation.root_id == conversation.root_id
        if shown.segment is not None and is_on_screen and self._opening is None:
            if not transcript.go_to_segment(shown.segment):
                main.say_of_page(_("this session has no messages"))
            return
        # Hits of a conversation on screen need no reading.
        begin = shown.message_id if is_on_screen else None
        if begin is not None and transcript.show_find(begin, matchers=main.matchers):
            self._leave()
            self._renew()
        else:
            self._open(Opening(conversation, shown.message_id, shown.segment))

    def _leave(self) -> None:
        """Leave the page, and cancel what is about to be shown."""
        self._main.say_of_page("")
        self._opening, self._is_retried = None, False
        self._main.cancel("transcript")

    def _show(self, model: TranscriptModel | None, **where: Any) -> None:
        self._main.transcript.show(model, **where)
        self._main.model, self._main.seen = model, None
        self.fit_titles()

    def _open(self, opening: Opening) -> None:
        self._leave()
        details = self._main.details
        detailed = details.complete(opening.conversation)
        if not details.is_fresh(opening.conversation):
            detailed = detailed._replace(shown_count=None)  # counted again with the opening
        self._opening = opening._replace(conversation=detailed)
        self.is_recap = opening.is_recap
        self._main.start("transcript", self._read, self._opening)

    async def _read(self, opening: Opening) -> None:
        main, page, reading = self._main, self._main.transcript.page, self._main.mode
        changes, read = self._changes, partial(opening.read, reading=reading, page=page)
        try:
            model, begin, layouts = await main.read_at_rest(read, partial(self._show, None))
        except BrowseError as error:
            self._is_retried = isinstance(error, StoreBusyError | HostError)
            raise
        self._opening = None
        page.add(layouts)
        main.details.add([model.conversation])
        self._asked_for = {begin: opening.message_id}
        if begin != opening.message_id:
            main.say_of_page(
                _(
                    "{reading} · this message is not part of it: v shows everything",
                    reading=_(_NAMES[reading]),
                )
            )
        matchers = main.matchers if not opening.is_recap else ()
        self._show(model, message_id=begin, matchers=matchers, segment=opening.segment)
        if opening.is_recap:
            main.say_of_page(_("the recap Hermes shows on resume · p back to the transcript"))
        self._renew()  # the list may have been read meanwhile
        if self._changes != changes:
            self.read_new()

    def fit_titles(self) -> None:
        """Show title and facts, fitted to the width of the pane: of the page, or of what is being
        read where it is empty."""
        main, width = self._main, self._main.transcript.size.width
        title = facts = Content()
        model = main.transcript.model
        titled = model if model is not None else self._opening
        if titled is not None:
            detailed = main.details.complete(titled.conversation)
            here = main.seen.words if main.seen is not None else ""
            title = header.conversation_title(detailed, width)
            facts = header.conversation_facts(detailed, main.mode, width, here)
        main.line("title").update(title)
        main.line("facts").update(facts)

    def _renew(self) -> None:
        """Show a new title or segment of the current conversation, or retry reading it."""
        current, model = self._main.current, self._main.transcript.page.model
        wanted = self._opening or model
        if self._opening is not None and self._is_retried:
            self._open(self._opening)
        elif current is None:
            return
        elif current.root_id != wanted.conversation.root_id:
            self._open(Opening(current))  # a job's new latest run
        elif model.conversation.session_ids == current.session_ids:
            # The line "new from here" stays where it is.
            model.conversation = current._replace(first_new=model.conversation.first_new)
            self.fit_titles()
        elif model.conversation.root_id == current.root_id and self.is_recap:
            self._open(Opening(current, is_recap=True))
        elif model.conversation.root_id == current.root_id:
            self.read_new()

    def read_window(self, needed: Needed | None) -> None:
        """Read messages that have come into sight."""
        main = self._main
        if needed is not None:
            main.start("window", read_missing, main, main.transcript, needed.first, needed.last)

    def read_new(self) -> None:
        """Read new messages of the conversation on screen, and where the unread ones begin, as the
        store or what is known of it has changed. A read under way goes on: a long one would never
        end while somebody writes."""
        self._changes += 1
        if not self._main.is_under_way("tail"):
            self._main.start("tail", self._follow)

    async def _follow(self) -> None:
        seen = 0
        while seen != self._changes:
            seen, shown = self._changes, self._main.transcript.model
            if shown is not None and not self.is_recap:
                await self._read_tail(shown)
                self._renew()  # the list may have been read meanwhile

    async def _read_tail(self, shown: TranscriptModel) -> None:
        main, conversation, reading = self._main, self._main.current, self._main.mode
        if conversation is None or conversation.root_id != shown.conversation.root_id:
            conversation = main.details.complete(shown.conversation)
        if shown.conversation.first_new is not None:  # where its line stands
            conversation = conversation._replace(first_new=shown.conversation.first_new)

        def read(store: OpenStore) -> TranscriptModel | None:
            model = read_model(store, conversation, reading)
            if model.entries == shown.entries:
                return None
            model.add(read_messages(store, model, model.missing(len(model) - WINDOW, len(model))))
            return model

        model = await main.read(read)
        if main.transcript.model is not shown:
            return
        if model is None:
            shown.conversation = conversation
            self.fit_titles()
            main.transcript.tell_in_sight()  # it was in sight before it was known to be new
            return
        model.add(shown.messages.values())
        new = main.transcript.grow(model)
        main.model = model
        self.fit_titles()
        if new:
            main.say_of_page(_("{count} new · G to the end", count=new))

    def next_mode(self) -> None:
        """Show the next reading (said, live, everything), at the current message."""
        main, transcript, conversation = self._main, self._main.transcript, self._main.current
        main.mode = following(Reading, main.mode)
        if conversation is not None:
            message_id = transcript.current_id if not transcript.page.at_end else None
            self._open(Opening(conversation, self._asked_for.get(message_id, message_id)))
        main.say_of_page(_(_NAMES[main.mode]))

    def toggle_recap(self) -> None:
        """Show Hermes' recap instead of the transcript, or the transcript again."""
        if self._main.current is not None:
            self._open(Opening(self._main.current, is_recap=not self.is_recap))
