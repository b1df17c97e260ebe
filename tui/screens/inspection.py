"""What is shown of the compactions of a conversation: rows of their list, transcripts of both sides,
sentences, Markdown; and in the transcript what the model saw at a message: the rest is dimmed, and the
header says what it had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression import NOTES, CompactionNote
from hermes_browse.store.compression.compactions import Compaction, CompactionHistory
from hermes_browse.store.compression.history_rows import RowOrigin
from hermes_browse.store.compression.losses import LOST_KINDS, Losses, Lost, LostKind
from hermes_browse.store.compression.model_context import Memory, ModelContext
from hermes_browse.store.export.markdown import code, message_markdown
from hermes_browse.store.export.source import rendered
from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, State
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.panes import Panes
from ..browser.transcript.entries import TranscriptModel
from ..browser.transcript.page import SeenByModel
from ..text import formats
from ..text.family import context_sizes, count_lost, outcome
from ..text.styled import Line, row_line
from ..widgets.list_rows import Column, Columns

WINDOW = 40
"""Messages that are read before and after the first place of a part."""


class CompactionRow(NamedTuple):
    """One compaction."""

    number: int
    """Counted from 0."""
    compaction: Compaction
    losses: Losses | None
    """None as long as they are not known."""

    @property
    def key(self) -> str:
        return f"c{self.number}"

    def spans(self, width: int, now: float) -> Line:
        when = formats.timestamp(self.compaction.at) or _("unknown time")
        name = formats.joined(when, outcome(self.compaction))
        columns = _COLUMNS.text(self, width, now)
        return row_line(_mark(self.compaction), (name, "title"), columns, width)


_COLUMNS: Columns[CompactionRow] = Columns(
    Column(N_("context"), 24, lambda row, now: context_sizes(row.compaction), least=72),
    Column(N_("lost"), 26, lambda row, now: count_lost(row.losses) if row.losses else "…", 104),
)


def _mark(compaction: Compaction) -> tuple[str, str]:
    if compaction.is_broken:
        return " ! ", "accent"
    return (" · ", "dim") if compaction.is_known else (" ? ", "accent")


class PartModel(TranscriptModel):
    """Some messages of a conversation, none of which has been read.

    They have no states: that they were compacted is what the whole part says. They have one segment
    for all, as seams have no place in a part.
    """

    def __init__(
        self, conversation: Conversation, history: CompactionHistory, ids: Iterable[int]
    ) -> None:
        rows = {row.id: row for row in history.rows}
        shown = (
            RowInfo(row.id, 0, row.role, row.timestamp, State.LIVE, False)
            for row in map(rows.__getitem__, ids)
        )
        super().__init__(conversation, Outline((conversation.root_id,), tuple(shown)))

    def add(self, messages: Iterable[ChatMessage]) -> None:
        super().add([message._replace(state=State.LIVE) for message in messages])


def read_sides(
    store: OpenStore,
    conversation: Conversation,
    history: CompactionHistory,
    compaction: Compaction,
) -> tuple[TranscriptModel, TranscriptModel]:
    """Read what a compaction replaced and what the model had instead, with the messages that are on
    screen first; on a reading thread."""
    replaced = PartModel(conversation, history, compaction.gone)
    instead = PartModel(conversation, history, compaction.instead)
    for model, at in (replaced, 0), (instead, instead.entry_of(compaction.summary) or 0):
        model.add(store.messages(model.missing(at - WINDOW, at + WINDOW)))
    return replaced, instead


def _notes(compaction: Compaction) -> Iterator[str]:
    """Yield what is not known of a compaction or is out of the ordinary, in sentences."""
    left_out = {CompactionNote.GAP}
    if compaction.is_broken and not compaction.kept:
        left_out.add(CompactionNote.EDGE)
    yield from (_(NOTES[note]) for note in compaction.notes if note not in left_out)
    if compaction.gap is not None:
        yield _(
            "The ids {first} to {last} are in no row of the store.",
            first=compaction.gap.first,
            last=compaction.gap.last,
        )


def _remedy(conversation: Conversation, compaction: Compaction) -> str:
    """Return a sentence about what helps where the model went on without the messages; empty where
    it did not."""
    if compaction.is_still_there:
        return _("R resumes with all of them.")
    if CompactionNote.NO_ORIGINALS in compaction.notes:
        return _("They may be in another conversation: search for words of the summary.")
    if not compaction.is_broken:
        return ""
    return _(
        "Hermes resumes …{id} without these messages: c copies them to paste, e saves them in a file.",
        id=one_line(conversation.id[-6:]),
    )


def about(conversation: Conversation, compaction: Compaction) -> Content:
    """Say what helps against a broken compaction, how it was made, and in which session."""
    sessions = [compaction.session_id]
    if compaction.into_session_id not in (None, compaction.session_id):
        sessions.append(str(compaction.into_session_id))
    way = _("in place") if compaction.is_in_place else _("new session")
    ids = one_line(" → ".join(sessions), 200)
    facts = " · ".join([f"{way}: {ids}", *_notes(compaction)])
    helps = _remedy(conversation, compaction)
    if not helps:
        return Content.styled(facts, "dim")
    return Content.assemble((f"! {helps}", "$warning"), (f" · {facts}", "dim"))


def title_of_replaced(compaction: Compaction) -> str:
    """Return the title of the left pane."""
    if not compaction.gone:
        return _("Replaced: nothing")
    messages = formats.counted(len(compaction.gone), "message")
    words = N_("Left behind: {messages}") if compaction.is_broken else N_("Replaced: {messages}")
    return _(words, messages=messages)


def title_of_instead(compaction: Compaction) -> str:
    """Return the title of the right pane."""
    if compaction.is_still_there:
        messages = formats.counted(len(compaction.before), "message")
        return _("Still there: {messages}", messages=messages)
    first = _("no summary") if compaction.summary is None else _("the summary")
    kept = len(compaction.kept) + len(compaction.not_stored_again)
    carried = _("{messages} carried over", messages=formats.counted(kept, "message"))
    return _("Instead: {parts}", parts=formats.joined(first, carried if kept else ""))


def nothing_compressed(history: CompactionHistory) -> str:
    """Return a sentence about a conversation without compactions; it tells which ids are gone."""
    gap = max(history.gaps.values(), key=lambda gap: gap.number, default=None)
    if gap is None:
        return _("Hermes has not compressed this conversation.")
    return _(
        "No compression is stored here, but the ids {first} to {last} are in no row: messages of this or of another "
        "conversation were deleted.",
        first=gap.first,
        last=gap.last,
    )


def describe_lost(lost: Lost, number: int, count: int, message: int) -> str:
    """Return a sentence about a lost term, for the status line.

    Args:
        message: The number of the last message with it, as the pane shows it.
    """
    return _(
        "lost {number:,} of {count:,} · {kind}: {term} · {times:,} ×, last in message {message:,}",
        number=number,
        count=count,
        kind=_(LOST_KINDS[lost.kind]),
        term=one_line(lost.term, 120),
        times=lost.times,
        message=message,
    )


def replaced_markdown(
    store: OpenStore, conversation: Conversation, history: CompactionHistory, compaction: Compaction
) -> str:
    """Return the messages that a summary replaced as Markdown, to be pasted into a conversation."""
    messages = store.messages(compaction.gone)
    model = PartModel(conversation, history, compaction.gone)
    model.add(messages)
    time = formats.timestamp(compaction.at)
    head = _("Messages from before the compression of {time}:", time=time)
    shown = (rendered(each, model.result) for each in messages if model.caller_of(each) is None)
    return "\n\n".join([head, *(message_markdown(each).rstrip() for each in shown)]) + "\n"


def lost_markdown(compaction: Compaction, losses: Losses) -> str:
    """Return what a compaction lost as Markdown, to be pasted into a conversation."""
    lines = [
        _(
            "Details from before the compression of {time} that its summary does not mention:",
            time=formats.timestamp(compaction.at),
        )
    ]
    for kind, label in LOST_KINDS.items():
        told = str if kind is LostKind.DECISION else code
        terms = [f"- {told(one_line(lost.term))}" for lost in losses.terms if lost.kind is kind]
        lines += ["", f"## {_(label)}", "", *terms] if terms else []
    return "\n".join(lines).rstrip() + "\n"


def sentence(context: ModelContext, memory: Memory, number: int) -> str:
    """Describe the context at a message, given by its number, in one line: `at message 52 the model
    had: a summary of 47 messages + 4 messages`."""
    counts = Counter(row.why for row in context.rows)
    kept = counts[RowOrigin.HEAD] + counts[RowOrigin.KEPT]
    forgotten = formats.counted(len(memory.forgotten), "message")
    carried = _("{messages} carried over", messages=formats.counted(kept, "message"))
    parts = (
        _("a summary of {messages}", messages=forgotten) if counts[RowOrigin.SUMMARY] else "",
        carried if kept else "",
        formats.counted(counts[RowOrigin.SINCE], "message"),
    )
    is_gone = context.is_compressed and not counts[RowOrigin.SUMMARY]
    return formats.joined(
        _(
            "at message {number:,} the model had: {parts}",
            number=number,
            parts=" + ".join(filter(None, parts)),
        ),
        _("gone without a summary: {messages}", messages=forgotten) if is_gone else "",
        _("about {count} tokens", count=formats.number(formats.tokens(context.size))),
        "" if context.is_certain else _("inferred"),
    )


def toggle_seen_here(main: Panes) -> None:
    """Show what the model saw at the current message, or everything alike again."""
    model = main.model
    message_id = main.transcript.current_id
    if main.seen is not None:
        main.seen = None
        main.say_of_page("")
    elif model is None or message_id is None or message_id < 0:
        main.say(_("no message here"))
    else:
        main.start("here", _read_seen_here, main, model, message_id)


async def _read_seen_here(main: Panes, model: TranscriptModel, message_id: int) -> None:
    segments = model.conversation.segments
    context, memory = await main.read(lambda store: store.seen_at(segments, message_id))
    if main.model is not model:
        return
    entries = map(model.shown_at, (*memory.known, message_id))
    words = sentence(context, memory, model.number_of(message_id))
    main.seen = SeenByModel(frozenset({None, *map(model.id_of, entries)}), words)
    doubt = "" if context.is_certain else " ".join(_(NOTES[note]) for note in context.notes)
    main.say_of_page(formats.joined(words, _("the rest is dimmed, Esc ends"), doubt))
