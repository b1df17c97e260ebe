"""Conditions in SQL, on a row of `message_rows m` or of `conversations c`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ..messages.decode import REASONING_KEYS
from ..sessions.session_rows import MARKERS
from .terms import Term


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


# Of terms

LINES = "ntr"
"""Letters of the escapes of JSON that an index joins to the word after them."""
_TEXTS = ("m.content", "m.tool_name", "m.tool_calls")
_HAS_ESCAPES = "instr(m.content, '\\u') > 0 OR instr(m.tool_calls, '\\u') > 0"
_NOT_ASCII = "length({text}) <> length(CAST({text} AS BLOB))"
"""Whether SQL cannot compare a text letter by letter: there are other letters than those of ASCII,
or a NUL ahead."""


def _may_contain(needles: Collection[str], test: str = "instr(lower({text}), ?) > 0") -> Condition:
    """Return a condition that is true for all rows with one of some folded ASCII texts."""
    tests = [Condition(test.format(text=text), (needle,)) for text in _TEXTS for needle in needles]
    tests += [Condition(_NOT_ASCII.format(text=text)) for text in _TEXTS]
    return any_of([*tests, Condition(_HAS_ESCAPES)])


def may_have(group: Iterable[Term]) -> Condition:
    """Return a condition that is true for all rows which have the terms of a group, and false for
    most others."""
    conditions = []
    for each in group:
        # What JSON may put an escape into, or before, is left out.
        parts = re.findall("[a-z0-9]+" if each.is_plain else r"[!#-.0-\[\]-~]+", each.spelling)
        has_case = each.composed.lower() != each.composed.upper()
        condition = _may_contain([max(parts, key=len)] if parts else ())
        if not parts and not has_case:  # Chinese, emoji, signs
            piece = max(re.split(r'[\s"/\\]+', each.composed), key=len)
            within = [Condition(f"instr({text}, ?) > 0", (piece,)) for text in _TEXTS]
            condition = any_of([*within, Condition(_HAS_ESCAPES)])
        conditions.append(condition)
    return all_of(conditions)


def may_be_joined(group: Iterable[Term]) -> Condition:
    """Return a condition that is true for all rows in which a word of a group follows the escape of
    a line end, a tab or a sign, and false for most others: `hat` after a tab is `that` to the
    index."""
    starts = [re.split("[^a-z0-9]", word)[0] for each in group for word in each.words]
    patterns = [f"*\\[{LINES}]{start}*" for start in starts]
    is_json = "substr(m.content, 1, 1) IN ('[', '{', '\"', '') OR m.tool_calls <> ''"
    return all_of([Condition(is_json), _may_contain(patterns, "lower({text}) GLOB ?")])
