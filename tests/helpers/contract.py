"""What every JSON document holds: keys and types; more keys are allowed, fewer or other types are
not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], None]


def of(*kinds: type) -> Check:
    """Exactly one of these types; `bool` is no number here, and an integer is a fine float."""

    def check(value: Any, where: str) -> None:
        wanted = {*kinds, int} if float in kinds else set(kinds)
        assert type(value) in wanted, f"{where} is {type(value).__name__} ({value!r})"

    return check


def one(*choices: object) -> Check:
    """One of these values."""

    def check(value: Any, where: str) -> None:
        assert value in choices, f"{where} is {value!r}"

    return check


def each(inner: Check) -> Check:
    """A list of such."""

    def check(value: Any, where: str) -> None:
        assert type(value) is list, f"{where} is {type(value).__name__}"
        for place, item in enumerate(value):
            inner(item, f"{where}[{place}]")

    return check


def keys(**wanted: Check) -> Check:
    """An object with at least these keys."""

    def check(value: Any, where: str) -> None:
        assert type(value) is dict, f"{where} is {type(value).__name__}"
        missing = wanted.keys() - value.keys()
        assert not missing, f"{where} lacks {sorted(missing)}"
        for name, inner in wanted.items():
            inner(value[name], f"{where}.{name}")

    return check


def maybe(inner: Check) -> Check:
    """Such, or null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            inner(value, where)

    return check


TEXT, WORD, FLAG, COUNT = of(str), of(str), of(bool), of(int)
TIME = maybe(of(float))
MONEY = maybe(of(float))
STATES = one("live", "compacted", "rewound")

STORE = keys(
    path=TEXT,
    profile=maybe(TEXT),
    schema_version=maybe(COUNT),
    journal_mode=maybe(one("wal", "delete")),
    bytes=COUNT,
    wal_bytes=COUNT,
    sessions=maybe(COUNT),
    messages=maybe(COUNT),
    read_only=FLAG,
    warnings=each(TEXT),
)
TOKENS = keys(input=COUNT, output=COUNT, cache_read=COUNT, cache_write=COUNT, reasoning=COUNT)
CONVERSATION = keys(
    id=TEXT,
    root_id=TEXT,
    segments=each(TEXT),
    title=maybe(TEXT),
    preview=TEXT,
    source=TEXT,
    model=maybe(TEXT),
    cwd=maybe(TEXT),
    started_at=TIME,
    last_active=TIME,
    ended_at=TIME,
    end_reason=maybe(TEXT),
    status=one("live", "open", "ended", "empty"),
    archived=FLAG,
    pinned=FLAG,
    hidden=FLAG,
    prune_in_days=maybe(of(float)),
    kind=one("chat", "automation", "subagent"),
    message_count=COUNT,
    tool_call_count=COUNT,
    branches=COUNT,
    subagents=COUNT,
    tokens=TOKENS,
    cost_usd=MONEY,
    tree_cost_usd=MONEY,
    bytes=maybe(COUNT),
)
CONTEXT = keys(message_id=COUNT, role=TEXT, text=TEXT)
HIT = keys(
    message_id=COUNT,
    session_id=TEXT,
    conversation_id=TEXT,
    role=TEXT,
    timestamp=TIME,
    snippet=TEXT,
    match=each(each(COUNT)),
    state=STATES,
)
MESSAGE = keys(
    id=COUNT,
    session_id=TEXT,
    role=TEXT,
    text=TEXT,
    parts=each(keys(type=TEXT, text=TEXT)),
    tool_calls=each(keys(id=TEXT, name=TEXT, arguments=TEXT)),
    tool_call_id=maybe(TEXT),
    tool_name=maybe(TEXT),
    reasoning=maybe(TEXT),
    timestamp=TIME,
    finish_reason=maybe(TEXT),
    state=STATES,
    is_summary=FLAG,
)
NODE = keys(
    id=TEXT,
    parent_id=maybe(TEXT),
    relation=one("root", "continued", "branched", "delegated", "reset", "unknown", "orphan"),
    on_path=FLAG,
    title=maybe(TEXT),
    source=TEXT,
    status=one("live", "open", "ended", "empty"),
    message_count=COUNT,
    started_at=TIME,
    last_active=TIME,
    cost_usd=MONEY,
    tree_cost_usd=MONEY,
)
LIST = keys(
    store=STORE,
    view=one("chats", "automation", "archived", "all"),
    shown=COUNT,
    total=COUNT,
    hidden=keys(automation=COUNT, archived=COUNT, other=COUNT),
    conversations=each(CONVERSATION),
)
SEARCH = keys(
    query=TEXT,
    engine=one("fts5", "trigram", "scan", "mixed", "none"),
    complete=FLAG,
    elapsed_ms=of(float),
    total=maybe(COUNT),
    hits=each(HIT),
    suggestions=each(keys(query=TEXT)),
)
SHOW = keys(conversation=CONVERSATION, messages=each(MESSAGE))
NOTE = keys(code=WORD, text=TEXT)
COMPACTION = keys(
    at=TIME,
    kind=one("rotation", "in_place"),
    session_id=TEXT,
    into_session_id=maybe(TEXT),
    replaced=each(COUNT),
    summary=maybe(COUNT),
    kept=each(COUNT),
    tokens_before=maybe(COUNT),
    tokens_after=maybe(COUNT),
    bytes_before=COUNT,
    bytes_after=COUNT,
    before=each(COUNT),
    merged=maybe(COUNT),
    originals=each(maybe(COUNT)),
    shortened=each(COUNT),
    not_stored_again=each(COUNT),
    since=each(COUNT),
    empty_sessions=each(TEXT),
    gap=maybe(keys(first=COUNT, last=COUNT, count=COUNT)),
    known=FLAG,
    notes=each(NOTE),
)
COMPACTIONS = keys(conversation=CONVERSATION, compactions=each(COMPACTION))
LOST = keys(
    lost=each(keys(term=TEXT, kind=WORD, count=COUNT, last_message_id=COUNT)),
    lost_complete=FLAG,
)
GIVEN = keys(why=one("head", "summary", "kept", "since"), certain=FLAG)
KNOWN = keys(
    conversation_id=TEXT,
    session_id=TEXT,
    at=maybe(COUNT),
    of=maybe(COUNT),
    certain=FLAG,
    system_prompt=maybe(TEXT),
    messages=each(MESSAGE),
    tokens=maybe(COUNT),
    bytes=COUNT,
    notes=each(NOTE),
)
LINEAGE = keys(focus=TEXT, resume=keys(id=TEXT, reason=TEXT), nodes=each(NODE))
EDIT = keys(message_id=COUNT, session_id=TEXT, tool=TEXT, at=TIME, ok=FLAG)
CHANGED = keys(
    path=TEXT,
    edits=each(EDIT),
    added=maybe(COUNT),
    removed=maybe(COUNT),
    exact=FLAG,
    by_subagents=COUNT,
    disk=maybe(one("same", "changed", "gone")),
)
CHANGES = keys(
    session=TEXT,
    conversation=TEXT,
    files=each(CHANGED),
    failed=COUNT,
    commands=each(keys(message_id=COUNT, session_id=TEXT, command=TEXT)),
)
BLAME = keys(
    file=TEXT,
    lines=each(
        keys(
            line=COUNT,
            text=TEXT,
            message_id=maybe(COUNT),
            session_id=maybe(TEXT),
            prompt_id=maybe(COUNT),
            prompt=maybe(TEXT),
        )
    ),
)
RUN = keys(
    conversation=TEXT,
    cost_usd=MONEY,
    tree_cost_usd=MONEY,
    marks=each(
        keys(
            kind=one("loop", "cache", "gap", "slowest", "dearest"),
            message_id=maybe(COUNT),
            text=TEXT,
        )
    ),
    subagents=each(keys(session=TEXT, to=TIME, cost_usd=MONEY)),
)
RESUME = keys(
    argv=each(TEXT),
    env=keys(HERMES_HOME=TEXT),
    target=TEXT,
    reason=TEXT,
    warnings=each(keys(code=WORD, text=TEXT)),
)
DOCTOR = keys(
    store=STORE,
    search=keys(fts5=FLAG, trigram=FLAG, indexed=COUNT, messages=COUNT),
    hermes=maybe(keys(path=TEXT, version=maybe(TEXT))),
    terminal=keys(),
    problems=each(
        keys(severity=one("error", "warning", "info"), code=WORD, text=TEXT, remedy=TEXT)
    ),
)
PROFILES = keys(
    root=TEXT,
    active=TEXT,
    profiles=each(
        keys(
            name=TEXT, path=TEXT, active=FLAG, sessions=maybe(COUNT), bytes=COUNT, error=maybe(TEXT)
        )
    ),
)


def holds(document: Mapping[str, Any], wanted: Check) -> None:
    """Fail with the place where a document breaks the contract."""
    wanted(document, "$")
