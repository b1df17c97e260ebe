"""Search over Hermes' own index: literal by default, newest first, honest about what it covers."""

from __future__ import annotations

from .coverage import Coverage, read_coverage
from .engine import COUNT_CAP, Answer, Total, count, prepare, search
from .filters import FILTER_KEYS, FILTERS, help_lines
from .judge import EVERYTHING, Conditions, Scope, SessionFilter, make_conditions
from .query import Filter, Problem, Query, Term, TermKind, parse, unknown_filters
from .snippets import find_ranges, read_context
from .suggest import Suggestion, asks_for_conversations, count_conversations, suggest
from .terms import Matcher, make_plan
from .values import Vocabulary, parse_date, read_vocabulary

__all__ = [
    "COUNT_CAP",
    "EVERYTHING",
    "FILTERS",
    "FILTER_KEYS",
    "Answer",
    "Conditions",
    "Coverage",
    "Filter",
    "Matcher",
    "Problem",
    "Query",
    "Scope",
    "SessionFilter",
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
    "parse",
    "parse_date",
    "prepare",
    "read_context",
    "read_coverage",
    "read_vocabulary",
    "search",
    "suggest",
    "unknown_filters",
]
