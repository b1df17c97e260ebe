"""The filters of a query, each an entry of `FILTERS`: its names, its values, its condition, and its
line of the help.

The parser, the search, clean-ups, completion, suggestions and the help read this table; a new
filter is one more entry. A filter is a condition in SQL: on a row of `messages m`
(`message_rows.rows_sql`), or on a row of `conversations c` (`conversation_table`). A clean-up takes
whole conversations, so it has no use for the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..ages import parse_when
from ..amounts import parse_bytes, parse_count, parse_money
from ..wording import N_, _
from . import conditions
from .conditions import Filter
from .conversation_table import EVERYTHING, Condition
from .filter_values import Vocabulary


def _wants_a_value(typed: Filter, now: float = 0.0) -> str:
    return "" if typed.value.strip() else _("{key}: wants a value").format(key=typed.key)


@dataclass(frozen=True, kw_only=True)
class FilterKind:
    """One kind of filter. Functions with a float take the time in Unix seconds, for dates."""

    key: str
    condition: Callable[[Filter, float], Condition]
    """Return the condition; called with valid values only."""
    example: str
    help: str
    """What it means, shown through `_`; filters with the same text share a line of the help."""
    reason: Callable[[Filter, float], str] = _wants_a_value
    """Return what is wrong with the value, a sentence; empty for a valid value."""
    also_called: tuple[str, ...] = ()
    """Names in other programs: recognized as a mistake, with this filter as the suggestion."""
    values: Callable[[Vocabulary, float], Sequence[str]] = lambda stored, now: ()
    """Return the values it can be completed to."""
    sign: str = ":"
    """What follows the key: `>` for numbers, which take `<`, `>=`, `<=` and `=` too."""
    is_value: bool = False
    """It needs a number or a date; without one the query cannot be run."""
    is_limit: bool = False
    """Several of this kind must all hold; those of other kinds are alternatives."""
    facet: Callable[[str], str] = lambda value: ""
    """Only values with the same facet are alternatives."""
    of_messages: bool = False
    """Its condition is on single messages, whatever the value: a clean-up has no use for it."""
    is_cleanup_only: bool = False
    """It chooses among what the other filters of a clean-up mean; it has no condition."""

    def reads_messages(self, typed: Filter, now: float) -> bool:
        """Whether a valid filter is a condition on messages."""
        return "c." not in self.condition(typed, now).sql and not self.is_cleanup_only


def _one_of(values: Sequence[str]) -> Callable[[Filter, float], str]:
    def reason(typed: Filter, now: float) -> str:
        if not typed.value.strip() or typed.value.lower() in values:
            return _wants_a_value(typed)
        return _("{key}: knows {values}").format(key=typed.key, values=", ".join(values))

    return reason


def _no_amount(parse: Callable[[str], float]) -> Callable[[Filter, float], str]:
    def reason(typed: Filter, now: float) -> str:
        try:
            parse(typed.value)
        except ValueError:
            text = _("{filter} needs a number, e.g. {filter}{example}")
            return text.format(
                filter=f"{typed.key}{typed.op}", example="10M" if parse is parse_bytes else "1"
            )
        return ""

    return reason


def _no_date(typed: Filter, now: float) -> str:
    if not typed.value.strip():
        return _wants_a_value(typed)
    try:
        parse_when(typed.value, now)
    except ValueError as error:
        return f"{typed.key}: {error}"
    return ""


def _dates(stored: Vocabulary, now: float) -> Sequence[str]:
    today = datetime.fromtimestamp(now)
    words = (
        "today",
        "yesterday",
        "5h",
        "3d",
        "2w",
        "1mo",
        "1y",
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
    )
    return (*words, f"{today:%Y-%m}", f"{today:%Y-%m-%d}")


def _no_condition(typed: Filter, now: float) -> Condition:
    return EVERYTHING


def share_of(value: str) -> float | None:
    """Parse a share such as `50%`, 0 to 1; None for anything else.

    Raises:
        ValueError: It is not between 0 and 100 per cent.
    """
    if not value.endswith("%"):
        return None
    share = parse_money(value[:-1]) / 100
    if not 0 < share <= 1:
        raise ValueError(value)
    return share


def _no_share(typed: Filter, now: float) -> str:
    try:
        if share_of(typed.value) is None:
            parse_bytes(typed.value)
    except ValueError:
        return _("free: wants a share or a size, e.g. free:50% or free:2GB")
    return ""


_ROLES = ("user", "assistant", "tool", "system")
_STATES = (*conditions.IS_CONVERSATION, *conditions.IS_ROW)
INCLUDED = ("archived", "stale", "open")
"""What a clean-up leaves out unless a filter names it."""

_FROM = N_("whole names: who, in which chat or kind of chat, Git branch, provider, why it ended")
_WHO = N_("where, who, with which tool")
_WHAT = N_("of the conversation")
_WHEN = N_("when; also 30min 5h 2w 6mo 1y, today, 2026-03-05")
_SIZE = N_("size of the conversation")

FILTERS = (
    FilterKind(
        key="source", condition=conditions.whole_line("sources"), example="source:cli", help=_WHO,
        also_called=("platform", "channel"), values=lambda stored, now: stored.sources,
    ),
    FilterKind(
        key="role", condition=conditions.role, example="role:user", help=_WHO, also_called=("author", "by"),
        values=lambda stored, now: _ROLES,
        of_messages=True,
    ),
    FilterKind(
        key="tool", condition=conditions.tool, example="tool:terminal", help=_WHO,
        values=lambda stored, now: stored.tools,
        of_messages=True,
    ),
    FilterKind(
        key="file", condition=conditions.file, example="file:src/auth.py", also_called=("path",),
        help=N_("conversations that edited this file, then those that mention it"),
        of_messages=True,
    ),
    FilterKind(  # `compile_query` makes the search read reasoning instead
        key="in", condition=lambda typed, now: Condition(conditions.HAS_REASONING), example="in:reasoning",
        help=N_("look in reasoning instead: it is in no index, so this scans"),
        reason=_one_of(("reasoning",)), values=lambda stored, now: ("reasoning",),
        of_messages=True,
    ),
    FilterKind(
        key="title", condition=conditions.in_lines("titles"), example="title:x", help=_WHAT,
        also_called=("name", "subject"),
    ),
    FilterKind(
        key="id", condition=conditions.in_lines("ids"), example="id:x", help=_WHAT,
        also_called=("session",),
    ),
    FilterKind(
        key="cwd", condition=conditions.folder, example="cwd:x", help=_WHAT,
        also_called=("dir", "folder", "repo"), values=lambda stored, now: stored.folders,
    ),
    FilterKind(
        key="model", condition=conditions.in_lines("models"), example="model:x", help=_WHAT,
        values=lambda stored, now: stored.models,
    ),
    FilterKind(
        key="user", condition=conditions.whole_line("users"), example="user:42", help=_FROM,
        also_called=("user_id",),
    ),
    FilterKind(
        key="chat", condition=conditions.whole_line("chats"), example="chat:group", help=_FROM,
        also_called=("chat_id", "chat_type"),
    ),
    FilterKind(
        key="branch", condition=conditions.whole_line("branch_names"), example="branch:main", help=_FROM,
        also_called=("git",), values=lambda stored, now: stored.branches,
    ),
    FilterKind(
        key="provider", condition=conditions.whole_line("providers"), example="provider:openai", help=_FROM,
    ),
    FilterKind(
        key="ended", condition=conditions.whole_line("ended"), example="ended:cli_close", help=_FROM,
        also_called=("end_reason",), values=lambda stored, now: stored.ends,
    ),
    FilterKind(
        key="after", condition=conditions.dated, example="after:3d", help=_WHEN, also_called=("since", "from", "newer"),
        reason=_no_date, values=_dates, is_value=True, is_limit=True,
        of_messages=True,
    ),
    FilterKind(
        key="before", condition=conditions.dated, example="before:2026-03", help=_WHEN,
        also_called=("until", "to"), reason=_no_date, values=_dates, is_value=True, is_limit=True,
        of_messages=True,
    ),
    FilterKind(
        key="on", condition=conditions.dated, example="on:mon", help=_WHEN, also_called=("date", "day", "when"),
        reason=_no_date, values=_dates, is_value=True,
        of_messages=True,
    ),
    FilterKind(
        key="older", condition=conditions.idle, example="older:30d",
        help=N_("no activity for so long, or since a date; -older:7d: used since then"), also_called=("idle",),
        reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="is", condition=conditions.is_state, example="is:live is:archived -is:rewound …",
        help=N_(
            "live open stale (open, silent for a week) ended empty "
            "archived pinned hidden chat automation subagent branch; messages: compacted, rewound (taken back), "
            "forgotten (compressed: the model has them no longer)"
        ),
        also_called=("state", "status", "type"), reason=_one_of(_STATES),
        values=lambda stored, now: _STATES, facet=conditions.facet,
    ),
    FilterKind(
        key="has", condition=conditions.has_content, example="has:image has:error has:code",
        help=N_("also has:tool has:branch has:subagent"), also_called=("contains",),
        reason=_one_of(tuple(conditions.HAS)), values=lambda stored, now: tuple(conditions.HAS),
    ),
    FilterKind(
        key="cost", condition=conditions.compared("cost", parse_money), example="cost>1",
        help=N_("US dollars, with all subagents"), also_called=("price", "usd"),
        reason=_no_amount(parse_money), sign=">", is_value=True,
    ),
    FilterKind(
        key="msgs", condition=conditions.compared("messages", parse_count), example="msgs>100",
        help=_SIZE, also_called=("messages",), reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
    FilterKind(
        key="tokens", condition=conditions.compared("tokens", parse_count), example="tokens>1m",
        help=_SIZE, reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
    FilterKind(
        key="tools", condition=conditions.compared("tools", parse_count), example="tools>20",
        help=_SIZE, also_called=("calls",), reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
    FilterKind(
        key="size", condition=conditions.compared("size", parse_bytes), example="size>10M",
        help=N_("bytes with their share of the search index, without subagents: they are measured first"),
        also_called=("bytes",), reason=_no_amount(parse_bytes), sign=">", is_value=True,
    ),
    FilterKind(
        key="include", condition=_no_condition, example="include:archived include:stale", is_cleanup_only=True,
        help=N_("a clean-up leaves out archived and open conversations; these go as well (also include:open)"),
        reason=_one_of(INCLUDED), values=lambda stored, now: INCLUDED, is_value=True,
    ),
    FilterKind(
        key="free", condition=_no_condition, example="free:50% free:2GB", is_cleanup_only=True,
        help=N_("of a clean-up, the longest idle until this share of the used bytes, or so many, is given back"),
        reason=_no_share, values=lambda stored, now: ("10%", "25%", "50%", "1GB"), is_value=True,
    ),
)  # fmt: skip
"""All filters, in the order of the help."""

BY_KEY: Mapping[str, FilterKind] = {each.key: each for each in FILTERS}
FILTER_KEYS = tuple(each.key for each in FILTERS if each.sign == ":")
"""Filters written `key:value`."""
NUMBER_KEYS: tuple[str, ...] = tuple(each.key for each in FILTERS if each.sign != ":")
"""Filters written `key>value`, also with `<`, `>=`, `<=`, `=` and `:`."""
FOREIGN_NAMES: Mapping[str, str] = {name: each.key for each in FILTERS for name in each.also_called}
"""The filter for each name in other programs."""


def help_lines(*, for_cleanup: bool = False) -> list[tuple[str, str]]:
    """Return examples and what they mean, in English, one pair for each line of the help."""
    lines: dict[str, list[str]] = {}
    for each in kinds_for(for_cleanup=for_cleanup):
        lines.setdefault(each.help, []).append(each.example)
    return [(" ".join(examples), text) for text, examples in lines.items()]


def kinds_for(*, for_cleanup: bool) -> Iterable[FilterKind]:
    """Return the filters that a clean-up takes, or a search."""
    if for_cleanup:
        return [each for each in FILTERS if not each.of_messages]
    return [each for each in FILTERS if not each.is_cleanup_only]
