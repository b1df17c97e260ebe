"""Models as the JSON that scripts rely on: keys are added, never renamed or dropped."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_browse.store.health import StoreSummary
from hermes_browse.store.models import ChatMessage, Hit
from hermes_browse.store.sessions.models import Conversation, Hidden, Lineage, Node
from hermes_browse.store.sessions.session import Tokens

Json = dict[str, object]


def store_json(summary: StoreSummary) -> Json:
    """A STORE."""
    return {
        "path": str(summary.path),
        "profile": summary.profile,
        "schema_version": summary.schema_version,
        "journal_mode": summary.journal_mode,
        "bytes": summary.size,
        "wal_bytes": summary.wal_size,
        "sessions": summary.sessions,
        "messages": summary.messages,
        "read_only": summary.read_only,
        "warnings": list(summary.warnings),
    }


def hidden_json(hidden: Hidden) -> Json:
    """What a list leaves out."""
    return {"automation": hidden.automation, "archived": hidden.archived, "other": hidden.other}


def tokens_json(tokens: Tokens) -> Json:
    """Token counts."""
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
    }


def conversation_json(conversation: Conversation, prune_in_days: float | None = None) -> Json:
    """A CONVERSATION.

    Args:
        conversation: With its preview and rows.
        prune_in_days: Until Hermes deletes it by itself; None when it does not, or nobody can tell.
    """
    return {
        "id": conversation.id,
        "root_id": conversation.root_id,
        "segments": [segment.id for segment in conversation.segments],
        "title": conversation.title,
        "preview": conversation.preview,
        "source": conversation.source,
        "model": conversation.model,
        "cwd": conversation.cwd,
        "git_branch": conversation.git_branch,
        "started_at": conversation.root.started_at,
        "last_active": conversation.last_active,
        "ended_at": conversation.tip.ended_at,
        "end_reason": conversation.tip.end_reason,
        "status": conversation.status.value,
        "archived": conversation.archived,
        "pinned": conversation.pinned,
        "hidden": conversation.hidden,
        "prune_in_days": prune_in_days,
        "kind": conversation.kind.value,
        "relation": conversation.relation.value,
        "note": conversation.note or None,
        "message_count": conversation.message_count,
        "tool_call_count": conversation.tool_call_count,
        "branches": conversation.branches,
        "subagents": conversation.subagents,
        "tokens": tokens_json(conversation.tokens),
        "cost_usd": conversation.cost_usd,
        "bytes": conversation.size,
    }


def hit_json(hit: Hit, conversation_id: str, context: Sequence[tuple[int, str, str]] | None) -> Json:
    """A HIT, with its context when that was asked for."""
    found: Json = {
        "message_id": hit.message_id,
        "session_id": hit.session_id,
        "conversation_id": conversation_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "match": [list(span) for span in hit.match],
        "state": hit.state.value,
    }
    if context is not None:
        found["context"] = [{"message_id": key, "role": role, "text": text} for key, role, text in context]
    return found


def message_json(message: ChatMessage) -> Json:
    """A MESSAGE."""
    return {
        "id": message.id,
        "session_id": message.session_id,
        "role": message.role,
        "text": message.text,
        "parts": [
            {"type": part.kind, "text": part.text, "mime": part.mime, "url": part.url, "bytes": part.size}
            for part in message.parts
        ],
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "reasoning": message.reasoning,
        "timestamp": message.timestamp,
        "finish_reason": message.finish_reason,
        "state": message.state.value,
        "is_summary": message.is_summary,
        "is_hidden": message.is_hidden,
    }


def node_json(node: Node) -> Json:
    """A NODE."""
    session = node.session
    return {
        "id": session.id,
        "parent_id": node.parent_id,
        "relation": node.relation.value,
        "on_path": node.on_path,
        "title": session.title,
        "source": session.source,
        "status": node.status.value,
        "message_count": node.rows,
        "started_at": session.started_at,
        "last_active": session.last_active,
        "cost_usd": session.cost_usd,
        "end_reason": session.end_reason,
        "note": node.note or None,
    }


def lineage_json(lineage: Lineage) -> Json:
    """A family tree."""
    return {
        "focus": lineage.focus,
        "resume": {"id": lineage.resume.id, "reason": lineage.resume.reason},
        "hermes_opens": lineage.predicted,
        "nodes": [node_json(node) for node in lineage.nodes],
    }
