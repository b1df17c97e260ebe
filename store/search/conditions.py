"""Conditions in SQL, on a row of `message_rows m` or of `conversations c`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..messages.decode import REASONING_KEYS
from ..sessions.session_rows import MARKERS


class Condition(NamedTuple):
    """A condition in SQL, with the values for its placeholders."""

    sql: str
    values: tuple[object, ...] = ()


EVERYTHING = Condition("1")


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return a condition that is true where all of these are."""
    parts = [each for each in conditions if each != EVERYTHING]
    return any_of(parts, " AND ") if parts else EVERYTHING


def any_of(conditions: Sequence[Condition], operator: str = " OR ") -> Condition:
    """Return a condition that is true where one of these is, or as another operator joins them."""
    sql = operator.join(f"({each.sql})" for each in conditions)
    return Condition(sql, tuple(value for each in conditions for value in each.values))


_CALLS = (
    "SELECT 1 FROM json_each(m.tool_calls) t WHERE lower(COALESCE("
    "json_extract(m.tool_calls, t.fullkey || '.function.name'), json_extract(m.tool_calls, t.fullkey || '.name'))) = ?"
)
"""The calls of one tool in a message; only for valid JSON."""
USES = (
    "lower(m.tool_name) = ? OR (instr(lower(m.tool_calls), ?) > 0 AND "
    f"CASE WHEN json_valid(m.tool_calls) THEN EXISTS ({_CALLS}) END)"
)
_MARKERS = ", ".join(f"json_extract(n.model_config, '$.{name}')" for name in MARKERS)
CONTINUED = (
    "m.session_id IN (SELECT s.id FROM session_rows s WHERE s.end_reason = 'compression' AND EXISTS "
    "(SELECT 1 FROM session_rows n WHERE n.parent_session_id = s.id AND n.source IS NOT 'tool' "
    "AND n.id <> s.id "  # a damaged file; of two that are the parent of each other the older begins
    "AND NOT (n.id IS s.parent_session_id AND (n.started_at, n.id) < (s.started_at, s.id)) AND "
    f"COALESCE(CASE WHEN json_valid(n.model_config) THEN s.id NOT IN ({_MARKERS}) END, 1)))"
)
"""Whether a compression ended the session and another one goes on (`sessions.relations.edge`), so
that the model has a summary of it."""
HAS_REASONING = " OR ".join(
    [
        "COALESCE(m.reasoning, '') <> ''",
        "COALESCE(m.reasoning_content, '') <> ''",
        *(f"instr(m.reasoning_details, '\"{key}\"') > 0" for key in REASONING_KEYS),
    ]
)
_IMAGES = ('"type": "image', '"type":"image', '"image_url":')
"""Of multimodal content, as JSON: within a text there is a backslash before each quote."""
HAS_IMAGE = " OR ".join(
    f"instr(CAST(m.content AS BLOB), CAST('{each}' AS BLOB)) > 0" for each in _IMAGES
)
HAS_FAILED = (
    "m.role = 'tool' AND has_failed(CAST(m.content AS BLOB), CAST(m.effect_disposition AS BLOB))"
)
AT = (
    "CASE typeof(m.timestamp) WHEN 'text' THEN CAST(strftime('%s', m.timestamp, 'utc') AS REAL) "
    "ELSE m.timestamp END"
)
"""The time of a message; other tools have written ISO times."""
