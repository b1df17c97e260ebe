"""Tell apart what stands in the text of a message: what was said, a compaction summary, context
added by Hermes."""

from __future__ import annotations

import re

_STARTS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
"""Prefixes of a compaction summary (agent/context_compressor.py, 0.19)."""
_END = re.compile(r"^--- END OF CONTEXT SUMMARY.*$", re.MULTILINE)
_PRIOR_CONTEXT = "[PRIOR CONTEXT — for reference only; not a new message]"
"""Stands above what was said where a summary was merged behind it (0.18 and 0.19)."""
_BELOW = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_MEMORY = re.compile(r"<memory-context>.*?</memory-context>\s*", re.DOTALL)


def split_summary(text: str) -> tuple[str, str]:
    """Split a text into a compaction summary and the rest; either may be empty.

    Hermes merges a summary into another message if roles must alternate: before it, closed by an
    end marker, or behind it, after a delimiter (agent/context_compressor.py, 0.19).
    """
    before, delimiter, after = text.partition(_BELOW)
    if delimiter and after.lstrip().startswith(_STARTS):
        return after.strip(), before.strip().removeprefix(_PRIOR_CONTEXT).strip()
    if not text.lstrip().startswith(_STARTS):
        return "", text
    end = _END.search(text)
    if end is None:
        return text, ""
    return text[: end.start()].rstrip(), text[end.end() :].strip()


def without_injections(text: str) -> str:
    """Remove the memory that Hermes injected into a user or assistant text (`sanitize_context`,
    0.19)."""
    return _MEMORY.sub("", text) if "<memory-context>" in text else text


def injected_context(text: str, sent: str | None) -> str:
    """Return what Hermes added to a message for the model: recalled memory, a plug-in's context.

    Args:
        text: Of the message, as stored.
        sent: What the model was sent (0.19); None if equal.

    Returns:
        Only the addition if the sent text contains the message, else all of it; empty if nothing
        was added.
    """
    if sent is None:
        return "\n".join(match[0].strip() for match in _MEMORY.finditer(text))
    typed = without_injections(text).strip()
    if not typed:
        return sent.strip()
    before, separator, after = sent.rpartition(typed)
    if not separator:
        return sent.strip()
    return "\n\n".join(part for part in (before.strip(), after.strip()) if part)
