"""Conversations read for the transcript: the part that will be on screen first; on a worker's thread."""

from __future__ import annotations

from hermes_browse.store.connect import Reader
from hermes_browse.store.models import ChatMessage, Reading, State
from hermes_browse.store.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.transcript import Bone, Skeleton, read_messages, read_skeleton, read_system_prompt
from hermes_browse.store.wording import _

from ..entries import EntryKind, TranscriptModel

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
    from hermes_browse.store.recap import read_recap

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
