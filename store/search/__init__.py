"""Search over Hermes' own index: literal by default, newest first, honest about what it covers."""

from __future__ import annotations

from .conditions import Conditions, make_conditions
from .context import read_context
from .context import read_context as context
from .coverage import Coverage, read_coverage
from .engine import COUNT_CAP, Answer, Total, count, prepare, search
from .query import FILTER_KEYS, Filter, Problem, Query, Term, TermKind, parse
from .scope import EVERYTHING, Scope, SessionFilter
from .snippet import find_ranges
from .suggest import Suggestion, asks_for_conversations, count_conversations, suggest
from .terms import Matcher, make_plan
from .unknown import recent_tools, unknown_filters
from .values import HAS_VALUES, IN_VALUES, IS_VALUES, NUMBER_KEYS, parse_date

__all__ = [
    "COUNT_CAP",
    "EVERYTHING",
    "FILTER_KEYS",
    "HAS_VALUES",
    "IN_VALUES",
    "IS_VALUES",
    "NUMBER_KEYS",
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
    "asks_for_conversations",
    "context",
    "count",
    "count_conversations",
    "find_ranges",
    "make_conditions",
    "make_plan",
    "parse",
    "parse_date",
    "prepare",
    "read_context",
    "read_coverage",
    "recent_tools",
    "search",
    "suggest",
    "unknown_filters",
]
