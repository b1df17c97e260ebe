"""What the rows of `sessions` lack, as far as it has been read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hermes_browse.store.sessions.jobs import job_of, name_in_title
from hermes_browse.store.sessions.models import Conversation, Sort
from hermes_browse.store.since.attention import Attention
from hermes_browse.store.text import one_line


class RowDetails:
    """Cache of what the rows of `sessions` lack: previews, counts, bytes, and the names of cron
    jobs."""

    def __init__(self) -> None:
        self._cached: dict[str, tuple[tuple[float | None, int], str, int | None]] = {}
        self._completed: dict[str, tuple[Conversation, tuple[Conversation, bool]]] = {}
        """By root id: a conversation, and the answer to `complete`."""
        self.amounts: dict[Sort, dict[str, int]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """Sort keys by root id, filled as they are measured: chat messages shown by default, and
        bytes that deleting the conversation with its subagents would free."""
        self.additions = 0
        """How often previews and counts were added."""
        self.jobs: Mapping[str, str] = {}
        """Names of cron jobs by id, as stored in Hermes' own file."""
        self._attention = Attention()

    @staticmethod
    def _mark(conversation: Conversation) -> tuple[float | None, int]:
        return conversation.last_active, sum(
            segment.message_count for segment in conversation.segments
        )

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Cache previews and counts of conversations."""
        self.additions += 1
        for conversation in conversations:
            mark = self._mark(conversation)
            self._cached[conversation.root_id] = (mark, conversation.preview, conversation.rows)
            self._completed.pop(conversation.root_id, None)

    @property
    def attention(self) -> Attention:
        """What is new, and what waits for the user."""
        return self._attention

    @attention.setter
    def attention(self, attention: Attention) -> None:
        self._attention = attention
        self._completed.clear()

    def with_attention(self, conversation: Conversation) -> Conversation:
        """Return the conversation with what is new in it, and whether it waits."""
        root = conversation.root_id
        if (new := self._attention.unread.get(root)) is not None:
            conversation = conversation._replace(
                new_messages=new.amount, first_new=new.first_message_id
            )
        return conversation._replace(waits=conversation.waits or root in self._attention.waiting)

    def set_amount(self, sort: Sort, root_id: str, amount: int) -> None:
        """Keep a measured amount, on any thread."""
        self.amounts[sort][root_id] = amount
        self._completed.pop(root_id, None)

    def complete(self, conversation: Conversation) -> tuple[Conversation, bool]:
        """Return the conversation with all cached details, and whether preview and count are up to
        date.

        It is put together once, until one of them changes.
        """
        known = self._completed.get(conversation.root_id)
        if known is None or known[0] is not conversation:
            known = conversation, self._with_details(conversation)
            self._completed[conversation.root_id] = known
        return known[1]

    def _with_details(self, conversation: Conversation) -> tuple[Conversation, bool]:
        root = conversation.root_id
        nothing = None, conversation.preview, conversation.rows
        mark, preview, rows = self._cached.get(root, nothing)
        is_fresh = rows is not None and mark == self._mark(conversation)
        if not is_fresh:
            rows = self.amounts[Sort.MESSAGES].get(root, rows)
        size = self.amounts[Sort.SIZE].get(root, conversation.size)
        whole = conversation._replace(preview=preview, rows=rows, size=size)
        return self.with_attention(whole), is_fresh

    def nameless(self, conversations: Iterable[Conversation]) -> list[Conversation]:
        """Return those that have no title, and whose preview has not been read.

        That of a conversation without messages stays empty.
        """
        completed = [self.complete(each) for each in conversations if not each.title]
        return [each for each, is_fresh in completed if not (each.preview or is_fresh)]

    def job_title(self, run: Conversation) -> str:
        """Return the title of a job, given any run of it: its name, else its task, else its id;
        printable."""
        job = job_of(run.root) or ""
        return one_line(
            self.jobs.get(job)
            or name_in_title(run.title)
            or self.complete(run)[0].preview
            or f"cron {job}",
            200,
        )
