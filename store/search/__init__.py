"""Search over Hermes' own index: literal by default, newest first, honest about what it covers."""

from __future__ import annotations

from .conditions import Conditions, make_conditions, parse_date
from .engine import EVERYTHING, Answer, Scope, read_context, search
from .query import FILTER_KEYS, NUMBER_KEYS, Filter, Problem, Query, Term, parse
from .snippet import find_ranges
from .terms import Matcher, make_plan

__all__ = [
    "EVERYTHING",
    "FILTER_KEYS",
    "NUMBER_KEYS",
    "Answer",
    "Conditions",
    "Filter",
    "Matcher",
    "Problem",
    "Query",
    "Scope",
    "Term",
    "find_ranges",
    "make_conditions",
    "make_plan",
    "parse",
    "parse_date",
    "read_context",
    "search",
]
