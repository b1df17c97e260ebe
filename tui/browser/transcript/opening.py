"""Read what the transcript shows of a conversation; all of it runs on a reading thread."""

from __future__ import annotations

from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.messages.chat_message import ChatMessage, Reading, RowInfo, State
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from .entries import TranscriptModel

WINDOW = 60
"""Messages read before and after the first place."""
_PROMPT_ID = -1
"""The id of the system prompt in the transcript; no row of `messages` has it."""


def read_model(store: OpenStore, conversation: Conversation, reading: Reading) -> TranscriptModel:
    """Read the outline of a conversation; in the reading of everything, with the system prompt
    first."""
    outline = store.outline(conversation.segments, reading)
    prompt = store.system_prompt(conversation.root_id) if reading is Reading.EVERYTHING else None
    if prompt is None:
        return TranscriptModel(conversation, outline)
    first = RowInfo(_PROMPT_ID, 0, "system", None, State.LIVE, True)
    model = TranscriptModel(conversation, outline._replace(rows=(first, *outline.rows)))
    model.add(
        [
            ChatMessage(
                _PROMPT_ID, conversation.root_id, "system", prompt, display_kind=_("system prompt")
            )
        ]
    )
    return model


class Opening(NamedTuple):
    """What is to be shown of a conversation."""

    conversation: Conversation
    message_id: int | None = None
    segment: str | None = None
    keeps_place: bool = False
    """If the message is left out, begin at the next one that is shown."""

    def read(self, store: OpenStore, reading: Reading) -> tuple[TranscriptModel, int | None]:
        """Read the conversation and the messages that will be on screen first; return also the
        message at which it begins."""
        conversation, begin = self.conversation, self.message_id
        if conversation.rows is None:
            conversation = store.with_details([conversation])[0]
        model = read_model(store, conversation, reading)
        if self.keeps_place and begin is not None and model.entry_of(begin) is None:
            begin = model.next_shown(begin)
        middle = model.entry_of(begin)
        if middle is None:
            middle = model.entry_of_segment(self.segment)
        if middle is None:
            middle = len(model)
        model.add(store.messages(model.missing(middle - WINDOW, middle + WINDOW)))
        return model, begin


def recap_model(store: OpenStore, conversation: Conversation) -> TranscriptModel:
    """Read the recap as a transcript of its own."""
    lines = store.recap(conversation.segments)
    rows = tuple(
        RowInfo(
            -index - 1, 0, "recap" if line.role == "earlier" else line.role, None, State.LIVE, False
        )
        for index, line in enumerate(lines)
    )
    model = TranscriptModel(conversation, Outline((conversation.root_id,), rows))
    model.add(
        [
            ChatMessage(row.id, conversation.root_id, row.role, line.text)
            for row, line in zip(rows, lines, strict=True)
        ]
    )
    return model
