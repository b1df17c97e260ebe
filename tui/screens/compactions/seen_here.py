"""What the model saw at a message: the rest of the transcript is dimmed, and the header says what
it had."""

from __future__ import annotations

from collections import Counter

from hermes_browse.store.compression.compactions import NOTES
from hermes_browse.store.compression.model_context import (
    Memory,
    ModelContext,
    RowOrigin,
)
from hermes_browse.store.wording import _

from ...browser.panes import Panes
from ...browser.transcript.entries import TranscriptModel
from ...browser.transcript.page import SeenByModel
from ...text import formats


def sentence(given: ModelContext, memory: Memory) -> str:
    """Describe a context in one line: `the model had: a summary of 47 messages + 4 messages`."""
    counts = Counter(row.why for row in given.rows)
    kept = counts[RowOrigin.HEAD] + counts[RowOrigin.KEPT]
    forgotten = formats.counted(len(memory.forgotten), "message")
    parts = [formats.counted(counts[RowOrigin.SINCE], "message")]
    if kept:
        carried = formats.counted(kept, "message")
        parts.insert(0, _("{messages} carried over", messages=carried))
    if counts[RowOrigin.SUMMARY]:
        parts.insert(0, _("a summary of {messages}", messages=forgotten))
    is_gone = given.is_compressed and not counts[RowOrigin.SUMMARY]
    return formats.joined(
        _("the model had: {parts}", parts=" + ".join(parts)),
        _("gone without a summary: {messages}", messages=forgotten) if is_gone else "",
        _("about {count} tokens", count=formats.number(formats.tokens(given.size))),
        "" if given.is_certain else _("inferred"),
    )


def toggle_seen_here(main: Panes) -> None:
    """Show what the model saw at the current message, or everything alike again."""
    model, message_id = main.model, main.transcript.current_id
    if main.seen is not None:
        main.seen = None
        main.say_of_page("")
    elif model is None or message_id is None or message_id < 0:
        main.say(_("no message here"))
    else:
        main.start("here", _read_seen_here, main, model, message_id)


async def _read_seen_here(main: Panes, model: TranscriptModel, message_id: int) -> None:
    segments = model.conversation.segments
    given, memory = await main.read(lambda store: store.seen_at(segments, message_id))
    if main.model is not model:
        return
    entries, words = map(model.shown_at, (*memory.known, message_id)), sentence(given, memory)
    main.seen = SeenByModel(frozenset({None, *map(model.id_of, entries)}), words)
    doubt = "" if given.is_certain else " ".join(_(NOTES[note]) for note in given.notes)
    main.say_of_page(formats.joined(words, _("the rest is dimmed, Esc ends"), doubt))
