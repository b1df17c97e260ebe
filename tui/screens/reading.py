"""What the transcript and the tree show: the conversation under the cursor, read as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.messages.models import ChatMessage, Reading, State
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import Bone, Skeleton, read_messages, read_skeleton, read_system_prompt
from hermes_browse.store.sessions.models import Conversation, Lineage
from hermes_browse.store.wording import _

from ..context import Context
from ..list.rows import FixedRows, LineageRow, lineage_rows
from ..shared import header
from ..shared.styled import Line
from ..transcript.layout_cache import Key
from ..transcript.model import EntryKind, TranscriptModel
from ..transcript.page import draw_message
from .panes import Panes

if TYPE_CHECKING:
    from hermes_browse.store.search import Matcher
_ORDER = list(Reading)
_REST = 0.025
"""Seconds the cursor rests on a row before what it is about is read: more than a frame, less than is noticed."""
_PATIENCE = 0.15
"""Seconds what was shown before may stand while the next is read; then the page is empty until it comes."""

WINDOW = 60
"""Messages that are read before and behind the place a conversation is opened at."""
_PROMPT_ID = -1
"""No row of `messages` has this id; the system prompt is shown under it."""


def read_model(reader: Reader, conversation: Conversation, reading: Reading) -> TranscriptModel:
    """A conversation's rows without their texts; when everything is asked for, the system prompt first."""
    skeleton = read_skeleton(reader, conversation.segments, reading)
    prompt = read_system_prompt(reader, conversation.root_id) if reading is Reading.EVERYTHING else None
    if prompt is None:
        return TranscriptModel(conversation, skeleton)
    first = Bone(_PROMPT_ID, 0, "system", None, State.LIVE, True)
    model = TranscriptModel(conversation, skeleton._replace(bones=(first, *skeleton.bones)))
    model.add([ChatMessage(_PROMPT_ID, conversation.root_id, "system", prompt, display_kind=_("system prompt"))])
    return model


def open_conversation(
    reader: Reader, conversation: Conversation, reading: Reading, message_id: int | None, segment: str | None = None
) -> TranscriptModel:
    """A conversation with the window that will be on screen first; on a worker's thread."""
    if conversation.rows is None:
        conversation = with_details(reader, [conversation])[0]
    model = read_model(reader, conversation, reading)
    target = model.entry_of(message_id) if message_id is not None else None
    if target is None and segment is not None:
        target = model.entry_of_segment(segment)
    middle = target if target is not None else len(model)
    model.add(read_messages(reader, model.missing(middle - WINDOW, middle + WINDOW)))
    return model


def recap_model(reader: Reader, conversation: Conversation) -> TranscriptModel:
    """The recap as a transcript of its own."""
    from hermes_browse.store.messages.recap import read_recap  # start: few look at a recap

    lines = read_recap(reader, conversation.segments)
    bones = tuple(
        Bone(-index - 1, 0, "recap" if line.role == "earlier" else line.role, None, State.LIVE, False)
        for index, line in enumerate(lines)
    )
    model = TranscriptModel(conversation, Skeleton((conversation.root_id,), bones, Reading.SAID))
    model.add(
        [
            ChatMessage(bone.id, conversation.root_id, bone.role, line.text)
            for bone, line in zip(bones, lines, strict=True)
        ]
    )
    assert all(entry.kind is EntryKind.MESSAGE for entry in model.entries)
    return model


class ConversationPane:
    """Keeps transcript, title and tree on the current conversation.

    Title and transcript are put on screen together, so that neither ever stands beside another one's; what `Current`
    says in the meantime is what keys are about.

    Args:
        context: The store.
        panes: Transcript, tree, title and facts.
        current: The current conversation.
        matchers: What the search wants lit.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        current: Callable[[], Conversation | None],
        matchers: Callable[[], Sequence[Matcher]],
    ) -> None:
        self._context, self._panes, self._current, self._matchers = context, panes, current, matchers
        self.shown: Callable[[TranscriptModel | None, bool], None] = lambda model, grown: None
        """Told what the transcript shows, and whether it is the same with more at its end."""
        self.hit_shown: Callable[[], None] = lambda: None
        """Told when a hit of the search is gone to."""
        self.reading = Reading.SAID
        self._titled: Conversation | None = None
        """What title and facts were made from."""
        self._recap = False
        self._timer: Timer | None = None
        self._late: Timer | None = None
        self._again: Callable[[], None] | None = None
        """Asks anew for what could not be read: a writer kept us out for too long."""
        self._page_of = self._tree_of = ""
        """The root whose page, and the tip whose family, have been asked for last."""

    def _forget_the_row(self) -> None:
        self._again = None
        for timer in (self._timer, self._late):
            if timer is not None:
                timer.stop()
        self._timer = self._late = None
        self._context.transcript_worker.cancel("open")

    def _show_nothing(self) -> None:
        self._forget_the_row()
        self._page_of = ""
        self._put(None)
        self._show_tree(None)

    def wait(self) -> None:
        """What is to be shown is still being looked for; the tree it was chosen in stays."""
        self._forget_the_row()
        self._page_of = self._tree_of = ""
        self._put(None)

    def _put(self, conversation: Conversation | None) -> None:
        """An empty page, under the title of a conversation that is still being read, or under none."""
        self._panes.transcript.show(None)
        self.shown(None, False)
        self._titled = None
        if conversation is not None:
            self._show_titles(conversation)
            return
        for name in ("title", "facts"):
            self._panes.line(name).update("")

    def _show_tree(self, lineage: Lineage | None) -> None:
        panes = self._panes
        rows = FixedRows(list(lineage_rows(lineage)) if lineage is not None else [])
        if lineage is None:
            self._tree_of = ""
            self._context.page_worker.cancel("lineage")
            panes.lineage.show(rows)
        else:  # who moves in the tree stays where he is
            at, tip = panes.lineage.current, lineage.resume.id
            conversation = self._current()
            segments = {each.id for each in conversation.segments} if conversation is not None else set()
            is_there = isinstance(at, LineageRow) and at.node.session.id in segments
            panes.lineage.show(rows, key=None if is_there and panes.lineage.has_focus else f"l{tip}")
        panes.show_family(lineage is not None and len(lineage.nodes) > 1)
        panes.line("lineage-title").update(header.lineage_title(lineage) if lineage is not None else "")

    def show(
        self,
        conversation: Conversation | None,
        *,
        message_id: int | None = None,
        segment: str | None = None,
        anew: bool = False,
    ) -> None:
        """Show what has become current.

        Args:
            conversation: Which; None for nothing.
            message_id: At this message, lit as a hit.
            segment: At the start of this session.
            anew: Read it again, also where it is on screen.
        """
        self._context.page_left()
        if conversation is None:
            self._show_nothing()
            return
        transcript = self._panes.transcript
        matchers = self._matchers()
        self._recap, self._page_of = False, conversation.root_id
        if message_id is not None and matchers:
            self.hit_shown()  # a hit of the search was gone to: n and N are about the search again
        self._forget_the_row()
        on_screen = transcript.model is not None and transcript.model.conversation.root_id == conversation.root_id
        # Hits of a conversation that is on screen need no reading.
        if on_screen and not anew and message_id is not None and transcript.go_to_message(message_id, matchers):
            self._read_tree(conversation)
            self.renew()
            return
        reading = self.reading
        width, look = transcript.page.width, transcript.look

        def work(reader: Reader) -> tuple[TranscriptModel, dict[Key, list[Line]]]:
            model = open_conversation(reader, conversation, reading, message_id, segment)
            # A hit has to be found among the lines of its message at once.
            return model, draw_message(model, message_id, width, look) if message_id is not None else {}

        def done(answer: tuple[TranscriptModel, dict[Key, list[Line]]]) -> None:
            model, drawn = answer
            self._forget_the_row()
            transcript.page.layouts.add(drawn)
            at = message_id
            if at is not None and model.entry_of(at) is None:
                self._context.say_of_page(_("the hit is in a rewound message: v shows everything"))
            transcript.show(model, message_id=at, matchers=matchers, segment=segment)
            self.shown(model, False)
            self._context.details.add([model.conversation])
            self._show_titles(model.conversation)

        def failed(error: BrowseError) -> None:
            self._forget_the_row()
            self._again = begin if isinstance(error, StoreBusyError) else None
            self._put(conversation)
            self._context.failed(error)

        def late() -> None:
            self._late = None
            self._put(conversation)
            at = self._panes.lineage
            members = {row.node.session.id for row in map(at.source.row, range(len(at))) if isinstance(row, LineageRow)}
            if conversation.id not in members:
                at.show(FixedRows([]))

        def begin() -> None:
            self._timer = None
            self._late = self._panes.set_timer(_PATIENCE, late)
            self._context.transcript_worker.submit("open", work, done, failed)
            self._read_tree(conversation)

        # The row that was moved to is painted first, and what it is about is read only where the cursor rests.
        self._timer = self._panes.set_timer(_REST, begin)

    @property
    def is_pending(self) -> bool:
        """Whether something is to be shown that has not been asked for yet."""
        return self._timer is not None

    def _read_tree(self, conversation: Conversation, *, anew: bool = False) -> None:
        tip, now = conversation.id, self._context.clock()
        if tip == self._tree_of and not anew:
            return
        self._tree_of = tip

        def failed(error: BrowseError) -> None:
            self._show_tree(None)
            self._context.failed(error)

        def work(reader: Reader) -> Lineage:
            from hermes_browse.store.sessions.lineage import read_lineage  # start: nobody waits for a tree

            return read_lineage(reader, tip, now)

        self._context.page_worker.submit("lineage", work, self._show_tree, failed)

    def _show_titles(self, conversation: Conversation) -> None:
        self._titled = conversation
        known = self._context.details.complete(conversation)[0]
        width = self._panes.transcript.size.width
        self._panes.line("title").update(header.conversation_title(known, width))
        self._panes.line("facts").update(header.conversation_facts(known, self.reading, width))

    def fit_titles(self) -> None:
        """The pane has another width: title and facts take what there is."""
        if self._titled is not None:
            self._show_titles(self._titled)

    def renew(self) -> None:
        """More may be known of the current conversation: a new title, another segment, or that it can be read now."""
        again, self._again = self._again, None
        if again is not None:
            again()
            return
        model, known = self._panes.transcript.model, self._current()
        if known is not None and known.root_id != self._page_of:  # the newest run of a job is another one now
            self.show(known)
            return
        if model is None or known is None or model.conversation.root_id != known.root_id or self._titled == known:
            return
        if [each.id for each in known.segments] != [each.id for each in model.conversation.segments]:
            self.show(known)
            return
        self._show_titles(known)
        self._read_tree(known, anew=True)

    def go_to_segment(self, conversation: Conversation, session_id: str) -> None:
        """Show the current conversation at one of its sessions."""
        model = self._panes.transcript.model
        if model is None or model.conversation.root_id != conversation.root_id or self._timer is not None:
            self.show(conversation, segment=session_id)
        elif not self._panes.transcript.go_to_segment(session_id):
            self._context.say_of_page(_("this session has no messages"))

    def read_window(self, first: int, last: int) -> None:
        """Read messages that came into sight."""
        model = self._panes.transcript.model
        if model is None:
            return
        bones = model.missing(first, last)

        def done(messages: list[ChatMessage]) -> None:
            if self._panes.transcript.model is model:
                model.add(messages)
                self._panes.transcript.loaded()

        self._context.transcript_worker.submit(
            "window", lambda reader: read_messages(reader, bones), done, self._context.failed
        )

    def changed(self) -> None:
        """The store has changed: read what is new in the conversation on screen."""
        transcript = self._panes.transcript
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
            self.shown(model, True)
            if new:
                self._context.say_of_page(_("{count} new · G to the end").format(count=new))

        self._context.transcript_worker.submit("tail", work, done, self._context.failed)

    def next_reading(self) -> None:
        """Said → live → everything, at the message on screen."""
        self.reading = _ORDER[(_ORDER.index(self.reading) + 1) % len(_ORDER)]
        names = {
            Reading.SAID: _("what was said"),
            Reading.LIVE: _("what the model still sees"),
            Reading.EVERYTHING: _("everything: rewound, hidden and repeated messages too"),
        }
        conversation = self._current()
        if conversation is not None:
            current, at_end = self._panes.transcript.current, self._panes.transcript.at_end
            message_id = current.id if current is not None and not at_end else None
            self.show(conversation, message_id=message_id, anew=True)
        self._context.say_of_page(names[self.reading])

    def show_recap(self) -> None:
        """The recap of Hermes in place of the transcript, and back."""
        conversation = self._current()
        if conversation is None:
            return
        if self._recap:
            self.show(conversation, anew=True)
            return
        self._forget_the_row()

        def done(model: TranscriptModel) -> None:
            self._recap = True
            self._panes.transcript.show(model)
            self.shown(None, False)
            self._show_titles(conversation)
            self._context.say_of_page(_("the recap Hermes shows on resume · p back to the transcript"))

        def failed(error: BrowseError) -> None:
            self._put(conversation)
            self._context.failed(error)

        self._context.transcript_worker.submit("open", lambda reader: recap_model(reader, conversation), done, failed)
