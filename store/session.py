"""One row of `sessions` as data, small enough to hold 100,000 of them.

What many sessions have in common is one object for all of them, and the counters are bytes: a tuple of all
columns takes twice the room. Times are Unix seconds (float) or None; money is USD.
"""

from math import nan
from struct import Struct
from typing import Any, NamedTuple


class Tokens(NamedTuple):
    """Token counts as Hermes counted them; cache reads are not part of `input`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input, output and both cache counts; reasoning is part of the output."""
        return self.input + self.output + self.cache_read + self.cache_write


class Shared(NamedTuple):
    """What many sessions have in common: one object for all that say the same."""

    model: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    branched_from: str | None = None
    delegate_from: str | None = None
    reset_from: str | None = None
    session_key: str | None = None
    archived: bool = False
    pinned: bool = False
    hidden: bool = False
    busy: bool = False
    has_messages: bool = True


_NUMBERS = Struct("=7qd")
"""The counters and the cost of a session, which as objects take twice the room; NaN where there is no cost."""

pack_numbers = _NUMBERS.pack
unpack_numbers = _NUMBERS.iter_unpack
NUMBERS_SIZE = _NUMBERS.size


class _Kept(NamedTuple):
    """A session as it is held in memory: a list of 100,000 of them is made of these."""

    id: str
    source: str
    parent_id: str | None
    title: str | None
    started_at: float | None
    ended_at: float | None
    end_reason: str | None
    last_active: float | None
    """Newest message or recorded activity, else the start."""
    shared: Shared
    numbers: bytes
    """Of `pack_numbers`."""


class Session(_Kept):
    """One row of `sessions`, read for what lists and lineage need; columns a store lacks are None or 0."""

    __slots__ = ()

    def __new__(
        cls,
        id: str,
        source: str,
        parent_id: str | None = None,
        title: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        git_branch: str | None = None,
        started_at: float | None = None,
        ended_at: float | None = None,
        end_reason: str | None = None,
        last_active: float | None = None,
        branched_from: str | None = None,
        delegate_from: str | None = None,
        reset_from: str | None = None,
        session_key: str | None = None,
        archived: bool = False,
        pinned: bool = False,
        hidden: bool = False,
        message_count: int = 0,
        tool_call_count: int = 0,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        cost_usd: float | None = None,
        busy: bool = False,
        has_messages: bool = True,
    ) -> "Session":
        """One session, field by field; rows of a store are made without a call for each."""
        shared = Shared(
            model,
            cwd,
            git_branch,
            branched_from,
            delegate_from,
            reset_from,
            session_key,
            archived,
            pinned,
            hidden,
            busy,
            has_messages,
        )
        numbers = pack_numbers(
            message_count,
            tool_call_count,
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
            nan if cost_usd is None else cost_usd,
        )
        return cls._make((id, source, parent_id, title, started_at, ended_at, end_reason, last_active, shared, numbers))

    @property
    def model(self) -> str | None:
        """As stored."""
        return self.shared.model

    @property
    def cwd(self) -> str | None:
        """The working directory."""
        return self.shared.cwd

    @property
    def git_branch(self) -> str | None:
        """As stored."""
        return self.shared.git_branch

    @property
    def branched_from(self) -> str | None:
        """The `_branched_from` marker of `model_config` (0.16 and later)."""
        return self.shared.branched_from

    @property
    def delegate_from(self) -> str | None:
        """The `_delegate_from` marker (0.17 and later), `__orphaned__` where a migration guessed."""
        return self.shared.delegate_from

    @property
    def reset_from(self) -> str | None:
        """The `_reset_from` marker (0.20 and later)."""
        return self.shared.reset_from

    @property
    def session_key(self) -> str | None:
        """Of a gateway's chat."""
        return self.shared.session_key

    @property
    def archived(self) -> bool:
        """Put away."""
        return self.shared.archived

    @property
    def pinned(self) -> bool:
        """Protected from pruning (0.20 and later)."""
        return self.shared.pinned

    @property
    def hidden(self) -> bool:
        """Hidden by Hermes (0.20 and later)."""
        return self.shared.hidden

    @property
    def busy(self) -> bool:
        """A live turn lease or compression lock names it."""
        return self.shared.busy

    @property
    def has_messages(self) -> bool:
        """Whether there is any row of `messages`."""
        return self.shared.has_messages

    @property
    def message_count(self) -> int:
        """The stored counter: a hint, not a count of rows."""
        return int(_NUMBERS.unpack(self.numbers)[0])

    @property
    def tool_call_count(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[1])

    @property
    def input_tokens(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[2])

    @property
    def output_tokens(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[3])

    @property
    def cache_read_tokens(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[4])

    @property
    def cache_write_tokens(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[5])

    @property
    def reasoning_tokens(self) -> int:
        """The stored counter."""
        return int(_NUMBERS.unpack(self.numbers)[6])

    @property
    def cost_usd(self) -> float | None:
        """What was paid, else what Hermes reckoned."""
        cost = float(_NUMBERS.unpack(self.numbers)[7])
        return None if cost != cost else cost

    @property
    def tokens(self) -> Tokens:
        """The five counts as one value."""
        return Tokens._make(_NUMBERS.unpack(self.numbers)[2:7])

    def _replace(self, **changes: Any) -> "Session":
        """The same session with some fields changed, by the names `Session()` takes."""
        return Session(**({name: getattr(self, name) for name in _FIELDS} | changes))

    def __repr__(self) -> str:
        """All fields by name."""
        return f"Session({', '.join(f'{name}={getattr(self, name)!r}' for name in _FIELDS)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        """What a copy is made of."""
        return tuple(getattr(self, name) for name in _FIELDS)


_FIELDS = (
    *("id", "source", "parent_id", "title", "model", "cwd", "git_branch", "started_at", "ended_at", "end_reason"),
    *("last_active", "branched_from", "delegate_from", "reset_from", "session_key", "archived", "pinned", "hidden"),
    *("message_count", "tool_call_count", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("reasoning_tokens", "cost_usd", "busy", "has_messages"),
)
