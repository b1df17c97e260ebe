"""Search over Hermes' own index: literal by default, newest first, and the answer says what it did not cover."""

from __future__ import annotations

from .conditions import EVERYTHING, Conditions, Scope, make_conditions, make_scope, split_by_edits
from .coverage import Coverage, read_coverage
from .engine import Answer, Total, count, prepare, search
from .filter_values import Vocabulary, parse_date, read_vocabulary
from .filters import FILTER_KEYS, FILTERS, help_lines
from .query import Query, Term, TermKind, parse, unknown_filters
from .snippets import find_ranges, read_context
from .suggest import Suggestion, asks_for_conversations, count_conversations, suggest
from .terms import Matcher, make_plan

__all__ = [
    "EVERYTHING",
    "FILTERS",
    "FILTER_KEYS",
    "Answer",
    "Conditions",
    "Coverage",
    "Matcher",
    "Query",
    "Scope",
    "Suggestion",
    "Term",
    "TermKind",
    "Total",
    "Vocabulary",
    "asks_for_conversations",
    "count",
    "count_conversations",
    "find_ranges",
    "help_lines",
    "make_conditions",
    "make_plan",
    "make_scope",
    "parse",
    "parse_date",
    "prepare",
    "read_context",
    "read_coverage",
    "read_vocabulary",
    "search",
    "split_by_edits",
    "suggest",
    "unknown_filters",
]
