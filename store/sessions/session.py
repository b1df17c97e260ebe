"""One row of `sessions`.

Times are Unix seconds (float) or None; money is USD. Text is as stored (see `text.as_text`), not
yet printable.
"""

from typing import NamedTuple


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
        return sum(self[:4])


class Session(NamedTuple):
    """One row of `sessions`, without its large columns; columns that a store lacks are None or 0.

    No dataclass: importing `dataclasses` alone would delay the first rows by a tenth, and 100,000
    frozen objects take more than twice as long to build and four times as long to compare.
    """

    id: str
    source: str
    parent_id: str | None = None
    title: str | None = None
    model: str | None = None
    cwd: str | None = None
    """The working directory."""
    git_branch: str | None = None
    end_reason: str | None = None
    session_key: str | None = None
    """Key of a chat that came through a gateway."""
    started_at: float | None = None
    ended_at: float | None = None
    archived: bool = False
    pinned: bool = False
    """Protected from pruning (0.20 and later)."""
    hidden: bool = False
    """Hidden by Hermes (0.20 and later)."""
    message_count: int = 0
    """The stored counter: a hint, not a count of rows."""
    tool_call_count: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    """Actual cost, else the estimate of Hermes."""
    last_active: float | None = None
    """Time of the newest message or recorded activity, else the start."""
    branched_from: str | None = None
    """The `_branched_from` marker of `model_config` (0.16 and later)."""
    delegate_from: str | None = None
    """The `_delegate_from` marker (0.17 and later), `__orphaned__` where a migration guessed."""
    reset_from: str | None = None
    """The `_reset_from` marker (0.20 and later)."""
    busy: bool = False
    """Whether a live turn lease or compression lock names it."""
    has_messages: bool = True
    """Whether it has any row in `messages`."""
    tags: tuple[str, ...] = ()
    """Those of the user, in order (`notes/notes_file.py`)."""

    @property
    def tokens(self) -> Tokens:
        """The five counts as one value."""
        return Tokens(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        )
