"""Analyse compactions: what each kept and lost, and the context that the model was sent at a message.

What may be unknown or unusual about a compaction or a context stands here, and how it is said.
"""

from __future__ import annotations

from enum import StrEnum

from ..wording import N_


class CompactionNote(StrEnum):
    """Something unknown or unusual about a compaction or a context; `NOTES` has the sentences."""

    ABORTED = "aborted"
    EMPTY_SESSIONS = "empty_shells"
    NO_SUMMARY = "no_summary"
    NO_ORIGINALS = "no_originals"
    NOT_MARKED = "not_marked"
    FALLBACK = "fallback_summary"
    NOT_STORED_AGAIN = "not_stored_again"
    EDGE = "edge_inferred"
    GAP = "id_gap"
    UNANSWERED = "unanswered"
    COPY = "copy"
    SUMMARY = "at_summary"
    REWOUND = "rewound"
    RETRIED = "retried"
    PROMPT = "prompt_overwritten"


NOTES = N_(
    {
        CompactionNote.ABORTED: (
            "Hermes ended the session to compress it, and nothing was written after that."
        ),
        CompactionNote.EMPTY_SESSIONS: "Empty sessions stand between the two.",
        CompactionNote.NO_SUMMARY: (
            "No summary is stored: what stood before is in no message that follows."
        ),
        CompactionNote.NO_ORIGINALS: (
            "The messages that the summary stands for are not in this conversation."
        ),
        CompactionNote.NOT_MARKED: (
            "The messages that were replaced still count as live: a resume sends them and the "
            "summary."
        ),
        CompactionNote.FALLBACK: (
            "No model wrote the summary: Hermes put it together after the call had failed."
        ),
        CompactionNote.NOT_STORED_AGAIN: (
            "The newest messages were not stored again: the model still had them "
            "(`/compress here`), but a resume does not."
        ),
        CompactionNote.EDGE: (
            "Hermes does not store which messages were carried over: this is inferred from their "
            "text."
        ),
        CompactionNote.GAP: (
            "Ids are missing among these messages: rows of this or of another session are gone "
            "from the store."
        ),
        CompactionNote.UNANSWERED: (
            "No answer is stored after this message: nothing shows that the model was given it."
        ),
        CompactionNote.COPY: (
            "This row repeats an earlier one; the context is that of the original."
        ),
        CompactionNote.SUMMARY: (
            "This is a summary; the context is what the model was given from then on."
        ),
        CompactionNote.REWOUND: (
            "Messages were taken back more than once: which of them were there is inferred."
        ),
        CompactionNote.RETRIED: (
            "The user said the same twice in a row: if that was `/retry`, the model was not given "
            "the first of the two, nor its answer."
        ),
        CompactionNote.PROMPT: (
            "Compression in place may have changed the system prompt; only the newest one is "
            "stored."
        ),
    }
)
"""A sentence for each note, passed to `_` when shown."""


HARMLESS = frozenset((CompactionNote.FALLBACK, CompactionNote.EMPTY_SESSIONS))
"""Notes about what is unusual, but known."""
