"""The façade of a store: what can be asked of one, wherever it is.

    from hermes_browse.store import open_store

    with open_store() as store:
        for conversation in store.conversations("source:cli"):
            print(conversation.title, conversation.last_active)

Modules are imported with the first call that needs them: the first rows on screen need few.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, cast

from .connection.connect import Far, Store
from .errors import QueryInterruptedError
from .hermes.homes import Location
from .messages.chat_message import ChatMessage, Hit, Reading
from .sessions.models import Conversation, View
from .sessions.session import Session
from .wording import _

if TYPE_CHECKING:
    from .cleanup.plan import Plan, Planned
    from .cleanup.retention import RetentionRules
    from .cleanup.selection import Selection
    from .cleanup.sizes import Sizes
    from .cleanup.space_map import FileSpace, SpaceMap
    from .compression.compactions import Compaction, CompactionHistory
    from .compression.losses import Losses
    from .compression.model_context import Memory, ModelContext
    from .connection.reader import Reader
    from .export.source import StoredRows, StoredSession
    from .hermes.health import StoreSummary
    from .hermes.index_health import SearchHealth
    from .hermes.resume_command import ResumePlan
    from .insights.facts import Facts
    from .legacy.transcript_files import Count
    from .messages.details import Details
    from .messages.recap import RecapLine
    from .messages.transcript import Outline
    from .search.coverage import Coverage
    from .search.engine import Total
    from .search.filters import Vocabulary
    from .search.found import Found, Suggestion
    from .search.query import Query
    from .sessions.catalog import Catalog, StoreChanges, StoreState
    from .sessions.models import Lineage
    from .sessions.session_rows import SessionsPortion

Stopped = Callable[[], bool]
_P = ParamSpec("_P")
_T = TypeVar("_T")


def never() -> bool:
    """The default of `stopped`: go on."""
    return False


CALLS: dict[str, Callable[..., object]] = {}
"""What another machine may be asked, by name: the methods of `OpenStore` that are marked."""


def call(
    method: Callable[Concatenate[OpenStore, _P], _T],
) -> Callable[Concatenate[OpenStore, _P], _T]:
    """Mark a method as a call: where the store is on another machine, it is carried out there."""
    name = method.__name__
    CALLS[name] = method

    @wraps(method)
    def called(store: OpenStore, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if store.far is None:
            return method(store, *args, **kwargs)
        store.check()
        return cast("_T", store.far.call(name, args, kwargs))

    return called


class OpenStore:
    """A leased connection to one store, opened by the first call that reads.

    One thread calls; any thread may `interrupt`. Times are Unix seconds; catalogs are those of this
    store. Methods raise StoreError if the store cannot be read, and QueryInterruptedError after
    `interrupt`.
    """

    def __init__(self, store: Store, location: Location | None = None) -> None:
        self.store = store
        """The store itself, which holds no handle."""
        self.location = location or Location(store.path)
        self.far: Far | None = store.far()
        """The connection, if the store is on another machine."""
        self._reader: Reader | None = None
        self._is_interrupted = False

    # The connection

    @property
    def reader(self) -> Reader:
        """The read connection."""
        if self._is_interrupted:
            raise QueryInterruptedError(_("The query was interrupted."))
        if self._reader is None:
            self._reader = self.store.open()
        return self._reader

    @property
    def is_open(self) -> bool:
        """Whether it has the file open."""
        return self._reader is not None or self.far is not None

    def begin(self) -> None:
        """Start another piece of work: clear an interrupt or a time-out."""
        self._is_interrupted = False
        if (connection := self.far or self._reader) is not None:
            connection.begin()

    def check(self) -> None:
        """Raise QueryInterruptedError if `interrupt` was called; for work between two calls."""
        if self._is_interrupted:
            raise QueryInterruptedError(_("The query was interrupted."))

    def interrupt(self) -> None:
        """Stop the running call and those to come until `begin`, from any thread."""
        self._is_interrupted = True
        if (connection := self.far or self._reader) is not None:
            connection.interrupt()

    def close(self) -> None:
        """Close the file; another call opens it again."""
        reader, self._reader = self._reader, None
        if (connection := self.far or reader) is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Conversations

    def conversations(self, query: str = "", view: View = View.ALL) -> list[Conversation]:
        """Return the conversations that pass the filters of a query, newest first."""
        from .search.query import parse

        now = time.time()
        catalog = self.catalog(now)
        chosen = set(self.roots(parse(query, now=now), catalog, view, now))
        return [each for each in catalog.select(view) if each.root_id in chosen]

    @call
    def first_page(self, now: float, view: View = View.CHATS, limit: int = 50) -> Catalog:
        """Read the newest conversations of a view; see `read_first_page`."""
        from .sessions.first_page import read_first_page

        return read_first_page(self.reader, now, view=view, limit=limit)

    @call
    def neighbourhood(self, session_ids: Sequence[str], now: float) -> Catalog:
        """Read some sessions with their ancestors and all descendants of these."""
        from .sessions.first_page import read_neighbourhood

        return read_neighbourhood(self.reader, session_ids, now)

    def catalog(self, now: float, known: Catalog | None = None) -> Catalog:
        """Read all conversations; sessions of a `known` catalog that have not changed are used
        again."""
        from .sessions.catalog import catalog_of

        return catalog_of(self._sessions(), now, known)

    def _sessions(self) -> Iterator[Session]:
        portion = self.sessions_after(None)
        yield from portion.sessions
        while portion.last is not None:
            portion = self.sessions_after(portion.last)
            yield from portion.sessions

    @call
    def sessions_after(self, rowid: int | None) -> SessionsPortion:
        """Read some sessions behind a rowid, None for the first."""
        from .sessions.session_rows import read_portion

        return read_portion(self.reader, rowid)

    @call
    def state(self) -> StoreState:
        """Read the state of the store, before a catalog is read, for `increment`."""
        from .sessions.catalog import read_state

        return read_state(self.reader)

    def increment(
        self, catalog: Catalog, state: StoreState, now: float, touched: Collection[str] = ()
    ) -> tuple[Catalog, StoreState] | None:
        """Bring an exact catalog up to date, by the state before it; None if all must be read again.

        `touched` are the ids of sessions known to have been changed, deleted or restored since.
        """
        from .sessions.catalog import unseen, updated

        changes = self.changes(state, unseen(catalog, touched))
        return updated(catalog, changes, now, touched) if changes is not None else None

    @call
    def changes(self, state: StoreState, session_ids: Sequence[str]) -> StoreChanges | None:
        """Read what has changed since a state, and some sessions again; see `read_changes`."""
        from .sessions.catalog import read_changes

        return read_changes(self.reader, state, session_ids)

    @call
    def with_names(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """Add a preview to the conversations without a title."""
        from .messages.preview import with_names

        return with_names(self.reader, conversations)

    @call
    def with_details(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """Add preview and message count to conversations."""
        from .messages.preview import with_details

        return with_details(self.reader, conversations)

    @call
    def count_rows(self, session_ids: Sequence[str]) -> dict[str, int]:
        """Count the messages of sessions that a transcript shows by default."""
        from .messages.transcript import count_rows

        return count_rows(self.reader, session_ids)

    @call
    def content_bytes(self, session_ids: Sequence[str]) -> dict[str, int]:
        """Return the bytes of message content of sessions."""
        from .cleanup.sizes import content_bytes

        return content_bytes(self.reader, session_ids)

    @call
    def lineage(self, session_id: str, now: float) -> Lineage:
        """Read the family tree of a session, given by its exact id."""
        from .sessions.lineage import read_lineage

        return read_lineage(self.reader, session_id, now)

    @call
    def resolve(self, word: str) -> str:
        """Return the id of the session that an id, its beginning, or a title names."""
        from .sessions.resolve import resolve_session

        return resolve_session(self.reader, word)

    @call
    def last(self, source: str = "cli") -> str | None:
        """Return the id of the session of a source that was used last."""
        from .sessions.resolve import resolve_last

        return resolve_last(self.reader, source)

    # Messages

    @call
    def outline(self, segments: Sequence[Session], reading: Reading = Reading.SAID) -> Outline:
        """Read the outline of a conversation from its segments, root first."""
        from .messages.transcript import read_outline

        return read_outline(self.reader, segments, reading)

    @call
    def messages(self, ids: Sequence[int]) -> list[ChatMessage]:
        """Read messages, in the order of the ids; those that do not exist are left out."""
        from .messages.transcript import read_messages_of

        return read_messages_of(self.reader, ids)

    @call
    def messages_around(self, hit: Hit, count: int) -> list[tuple[int, str, str]]:
        """Read so many messages before and after a hit: id, role, text cut short."""
        from .search.snippets import read_context

        return read_context(self.reader, hit, count)

    @call
    def system_prompt(self, session_id: str) -> str | None:
        """Read the system prompt of a session."""
        from .messages.transcript import read_system_prompt

        return read_system_prompt(self.reader, session_id)

    @call
    def raw_message(self, message_id: int) -> str | None:
        """Read all columns of a message, as indented JSON."""
        from .messages.transcript import read_raw

        return read_raw(self.reader, message_id)

    @call
    def image(self, message_id: int, number: int) -> bytes | None:
        """Read an image that is embedded in a message."""
        from .messages.decode import read_image

        return read_image(self.reader, message_id, number)

    @call
    def recap(self, segments: Sequence[Session]) -> list[RecapLine]:
        """Read the recap that Hermes prints on a resume."""
        from .messages.recap import read_recap

        return read_recap(self.reader, segments)

    @call
    def details(self, conversation: Conversation) -> Details:
        """Read the models, tools and settings of a conversation."""
        from .messages.details import read_details

        return read_details(self.reader, conversation)

    # Search

    @call
    def prepare_search(self) -> None:
        """Read what the first search needs."""
        from .search.coverage import prepare

        prepare(self.reader)

    @call
    def vocabulary(self, catalog: Catalog) -> Vocabulary:
        """Return the values that filters can have in this store."""
        from .search.filters import read_vocabulary

        return read_vocabulary(self.reader, catalog)

    @call
    def search(
        self,
        query: Query | str,
        catalog: Catalog | None = None,
        view: View = View.ALL,
        *,
        sort: str = "newest",
        now: float | None = None,
        limit: int = 50,
        titles: int = 0,
        is_typed: bool = False,
        after: Hit | None = None,
        stopped: Stopped = never,
        tell: Callable[[float], None] = lambda share: None,
        portion: Callable[[Found], None] | None = None,
    ) -> Found:
        """Search for a page of hits; see `find_hits`."""
        from .search.found import find_hits
        from .search.query import parse

        moment = time.time() if now is None else now
        return find_hits(
            self.reader,
            parse(query, now=moment) if isinstance(query, str) else query,
            catalog,
            view,
            sort=sort,
            now=moment,
            limit=limit,
            titles=titles,
            is_typed=is_typed,
            after=after,
            stopped=stopped,
            tell=tell,
            portion=portion,
        )

    @call
    def count_hits(
        self,
        query: Query,
        catalog: Catalog,
        view: View,
        now: float,
        *,
        stopped: Stopped = never,
        seconds: float = 20.0,
    ) -> Total:
        """Count all hits of a search; after so many seconds the answer is "at least"."""
        from .search.found import count

        return count(self.reader, query, catalog, view, now, stopped=stopped, seconds=seconds)

    @call
    def count_matches(
        self, query: Query, catalog: Catalog, view: View, now: float, *, stopped: Stopped = never
    ) -> Suggestion | None:
        """Count the hits of a query in another view, or its conversations; None for none."""
        from .search.found import count_matches, whole_catalog

        whole = whole_catalog(self.reader, catalog, view, query, now)
        return count_matches(self.reader, query, whole, view, now, stopped=stopped)

    @call
    def suggestions(
        self, query: Query, catalog: Catalog, view: View, now: float, *, stopped: Stopped = never
    ) -> tuple[Suggestion, ...]:
        """Return wider queries that find something."""
        from .search.found import suggest

        return suggest(self.reader, query, catalog, view, now, stopped=stopped)

    @call
    def roots(self, query: Query, catalog: Catalog, view: View, now: float) -> list[str]:
        """Return the root ids of the conversations that pass the filters of a query."""
        from .search.scope import compile_filters, roots_in

        return roots_in(self.reader, compile_filters(query, now), catalog, view)

    @call
    def coverage(self) -> Coverage:
        """Return what the search index lacks."""
        from .search.coverage import read_coverage

        return read_coverage(self.reader)

    # Compactions

    @call
    def is_compressed(self, segments: Sequence[Session]) -> bool:
        """Whether a conversation shows a compression."""
        from .compression.compactions import is_compressed

        return is_compressed(self.reader, segments)

    @call
    def compactions(self, segments: Sequence[Session]) -> CompactionHistory:
        """Read the compactions of a conversation, and the generations between them."""
        from .compression.compactions import read_history

        return read_history(self.reader, segments)

    @call
    def seen_at(
        self, segments: Sequence[Session], message_id: int | None, *, prompt: bool = False
    ) -> tuple[ModelContext, Memory]:
        """Return what the model was sent at a message, or would be by a resume, and what it still
        knew of the conversation."""
        from .compression.model_context import Contexts, context_of, memory_of

        contexts = Contexts(self.compactions(segments), segments)
        given = context_of(self.reader, contexts, message_id, prompt=prompt)
        return given, memory_of(contexts.history, given)

    @call
    def memory(self, segments: Sequence[Session]) -> Memory:
        """Find out what the model will not have when Hermes resumes a conversation."""
        from .compression.model_context import read_memory

        return read_memory(self.reader, segments)

    @call
    def losses(self, compaction: Compaction, *, stopped: Stopped = never) -> Losses:
        """Return what the model lost by a compaction."""
        from .compression.losses import find_losses

        return find_losses(self.reader, compaction, stopped=stopped)

    # Clean-up

    def measure(
        self,
        sessions: Sequence[Session],
        known: MutableMapping[str, Sizes] | None = None,
        *,
        most: int | None = None,
    ) -> Mapping[str, Sizes]:
        """Measure the bytes of sessions, as far as they are not `known`; those are added there."""
        sizes = known if known is not None else {}
        missing = [each for each in sessions if each.id not in sizes]
        if missing:
            sizes.update(self.sizes_of(missing, most))
        return sizes

    @call
    def sizes_of(self, sessions: Sequence[Session], most: int | None = None) -> dict[str, Sizes]:
        """Measure the bytes of sessions; with `most`, stop after so many messages."""
        from .cleanup.sizes import measure

        return dict(measure(self.reader, sessions, most=most))

    @call
    def plan(
        self,
        selection: Selection,
        catalog: Catalog,
        now: float,
        known: MutableMapping[str, Sizes] | None = None,
        *,
        measure_sizes: bool = True,
    ) -> Plan:
        """Plan a clean-up; see `make_plan`."""
        from .cleanup.plan import make_plan

        return make_plan(
            self.reader, catalog, selection, now, known=known, measure_sizes=measure_sizes
        )

    def measure_more(self, plan: Plan, known: MutableMapping[str, Sizes]) -> Plan:
        """Measure a piece of a plan, at least one session, longest idle first."""
        from .cleanup.plan import PIECE

        return plan.measured(self.measure(plan.unmeasured(), known, most=PIECE))

    @call
    def why_changed(self, conversations: Sequence[Planned]) -> str | None:
        """Return why one of some planned conversations must not be touched any more."""
        from .cleanup.plan import first_change

        return first_change(self.reader, conversations)

    @call
    def file_space(self) -> FileSpace:
        """Read used and free space of the file."""
        from .cleanup.space_map import read_file_space

        return read_file_space(self.reader, self.store.sizes()[1])

    @call
    def space_map(
        self, catalog: Catalog, known: MutableMapping[str, Sizes] | None = None
    ) -> SpaceMap:
        """Measure the whole store by source, job and conversation."""
        from .cleanup.space_map import read_space_map

        return read_space_map(self.reader, catalog, wal_bytes=self.store.sizes()[1], known=known)

    @call
    def retention(self, now: float) -> RetentionRules:
        """Read what Hermes will delete by itself."""
        from .cleanup.retention import retention_rules_at

        return retention_rules_at(self.reader, self.location, now)

    # Files beside the store, on this machine

    def known_sessions(self) -> frozenset[str]:
        """Return the ids of all sessions, as names of files have them."""
        from .legacy.transcript_files import known_sessions

        return known_sessions(self.reader)

    def old_files(self, folder: Path | None) -> Count:
        """Count the old transcripts in a folder that the store does not have."""
        from .legacy.transcript_files import count_files

        return count_files(folder, self.reader)

    # Sums, health, resuming

    def facts(
        self,
        catalog: Catalog,
        *,
        of_tools: bool = False,
        sizes: bool = False,
        stopped: Stopped = never,
        tell: Callable[[float], None] = lambda share: None,
    ) -> Facts:
        """Read the data for sums: of sessions and messages, or of calls and answers of tools."""
        facts = self.read_facts(catalog, of_tools=of_tools, sizes=sizes, stopped=stopped, tell=tell)
        facts.catalog = catalog
        return facts

    @call
    def read_facts(
        self,
        catalog: Catalog,
        *,
        of_tools: bool,
        sizes: bool,
        stopped: Stopped,
        tell: Callable[[float], None],
    ) -> Facts:
        """Read the facts of another machine's catalog; see `facts`."""
        from .insights.facts import read_facts, read_tools

        if of_tools:
            return read_tools(self.reader, catalog, stopped=stopped, tell=tell)
        return read_facts(self.reader, catalog, sizes=sizes, stopped=stopped, tell=tell)

    @call
    def summary(self) -> StoreSummary:
        """Return the facts and numbers of the store."""
        from .hermes.health import summarize

        return summarize(self.reader, self.store, self.location)

    @call
    def search_health(self) -> SearchHealth:
        """Check the search index."""
        from .hermes.index_health import search_health

        return search_health(self.reader)

    def resume_plan(self, session_id: str, now: float) -> ResumePlan:
        """Plan to resume the conversation of a session, on the machine of the store."""
        from .hosts.resume_on_host import over_ssh

        plan = self.plan_resume(session_id, now)
        return plan if self.location.host is None else over_ssh(self.location.host, plan)

    @call
    def plan_resume(self, session_id: str, now: float) -> ResumePlan:
        """Plan to resume the conversation of a session, for someone at its machine."""
        from .hermes.resume_command import plan_resume

        return plan_resume(self.reader, self.location, session_id, now)

    # Exports

    @call
    def stored_session(self, session_id: str) -> StoredSession | None:
        """Read a session as it is stored."""
        from .export.jsonl import read_stored_session

        return read_stored_session(self.reader, session_id)

    @call
    def stored_messages(self, ids: Sequence[int]) -> StoredRows:
        """Read messages as they are stored."""
        from .export.jsonl import read_stored_messages

        return read_stored_messages(self.reader, ids)


def open_store(place: Location | Store | None = None) -> OpenStore:
    """Open a store: at a location, by default the one that Hermes uses."""
    from .hermes.homes import locate

    if isinstance(place, Store):
        return OpenStore(place)
    location = place or locate()
    return OpenStore(Store(location.path), location)
