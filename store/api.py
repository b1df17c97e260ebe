"""The façade of a store: what can be asked of one, and done with it, wherever it is.

from hermes_browse.store import open_store

with open_store() as store:
    for conversation in store.conversations("source:cli"):
        print(conversation.title, conversation.last_active)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import later
from .call import read, read_at, read_in_portions, read_method
from .connection.connect import Store
from .errors import StoreError
from .hermes.homes import Location, locate, locate_file, notes_file
from .messages.chat_message import ChatMessage, Reading
from .progress import quiet
from .sessions.models import Conversation, Session, View
from .text import one_line
from .wording import _
from .writes import StoreWrites

if TYPE_CHECKING:
    from .cleanup.plan import Plan
    from .cleanup.sizes import Sizes
    from .compression.model_context import Memory, ModelContext
    from .edit.flags import Change
    from .export.source import Format
    from .hermes.resume_command import ResumePlan
    from .hosts.connection import Links
    from .search.query import Query
    from .sessions.catalog import Catalog
    from .sessions.session_rows import StoreState
    from .trash.session_files import Count

_PIECE = 20_000
"""Messages that are measured at once."""
_WINDOW = 500
"""Messages of a transcript that are read at once."""


class OpenStore(StoreWrites):
    """A store that can be read and changed; the first call that reads opens it.

    Times are Unix seconds; a catalog must be of the same store.
    """

    # Conversations

    first_page = read(later.first_page.read_first_page)
    neighbourhood = read(later.first_page.read_neighbourhood)
    list_page = read(later.list_page.read_list_page)
    sessions_after = read(later.session_rows.read_portion)
    state = read(later.session_rows.read_state)
    changes = read(later.session_rows.read_changes)
    with_names = read(later.decode.with_names)
    with_details = read(later.list_page.with_details)
    count_rows = read(later.transcript.count_rows)
    resolve = read(later.session_rows.resolve_session)
    last = read(later.session_rows.resolve_last)
    tags = read(later.tagging.count_tags)
    attention = read(later.since.read_attention)
    since = read(later.since.read_since)
    job_output = read(later.cron_runs.read_output)

    def conversations(self, query: str = "", view: View = View.ALL) -> list[Conversation]:
        """Return the conversations that pass the filters of a query, newest first."""
        now = time.time()
        catalog = self.catalog(now)
        chosen = set(self.roots(later.query.parse(query, now=now), catalog, view, now))
        return [each for each in catalog.select(view) if each.root_id in chosen]

    def conversations_of(self, session_ids: Sequence[str], now: float) -> list[Conversation]:
        """Return the conversation of each session, whether or not it is listed.

        Raises:
            NotFoundError: One of the sessions is not in the store.
        """
        return list(map(self.neighbourhood(session_ids, now).conversation, session_ids))

    def catalog(self, now: float, known: Catalog | None = None) -> Catalog:
        """Read all conversations; sessions of a `known` catalog that have not changed are used
        again."""
        return later.catalog.catalog_of(
            later.session_rows.read_all(self.sessions_after), now, known
        )

    def increment(
        self, catalog: Catalog, state: StoreState, now: float, touched: Collection[str] = ()
    ) -> tuple[Catalog, StoreState] | None:
        """Bring an exact catalog up to date, by the state before it; None if all must be read again.

        `touched` are the ids of sessions known to have been changed, deleted or restored since.
        """
        changes = self.changes(state, later.catalog.unseen(catalog, touched))
        return None if changes is None else later.catalog.updated(catalog, *changes, now, touched)

    lineage = read(later.lineage.read_lineage)

    # Messages

    outline = read(later.transcript.read_outline)
    messages = read(later.decode.read_messages_of)
    system_prompt = read(later.transcript.read_system_prompt)
    raw_message = read(later.transcript.read_raw)
    image = read(later.decode.read_image)
    recap = read(later.details.read_recap)
    details = read(later.details.read_details)

    def transcript(self, session_id: str, reading: Reading = Reading.SAID) -> Iterator[ChatMessage]:
        """Yield the messages of the whole conversation of a session, given by its exact id.

        Raises:
            NotFoundError: There is no such session.
        """
        (conversation,) = self.conversations_of([session_id], time.time())
        rows = self.outline(conversation.segments, reading).rows
        yield from read_in_portions(self.messages, [row.id for row in rows], _WINDOW)

    # Search

    search = read(later.found.find_hits)
    hit_page = read(later.found.read_hit_page)
    count_hits = read(later.found.count)
    count_matches = read(later.suggestions.count_matches)
    suggestions = read(later.suggestions.suggest)
    prepare_search = read(later.coverage.read_gaps)
    coverage = read(later.coverage.read_coverage)
    vocabulary = read(later.query.read_vocabulary)

    @read_method
    def roots(self, query: Query, catalog: Catalog, view: View, now: float) -> list[str]:
        """Return the root ids of the conversations that pass the filters of a query."""
        conditions = later.scope.compile_filters(query, now, view)
        return later.scope.roots_in(self.reader, conditions, catalog)

    # Compactions

    is_compressed = read(later.compactions.is_compressed)
    compactions = read(later.compactions.read_history)
    losses = read(later.losses.find_losses)

    @read_method
    def seen_at(
        self, segments: Sequence[Session], message_id: int | None, *, prompt: bool = False
    ) -> tuple[ModelContext, Memory]:
        """Return what the model was sent at a message, or would be by a resume, and what it still
        knew of the conversation."""
        contexts = later.model_context.Contexts(self.reader, segments)
        context = contexts.at(message_id)
        if prompt:
            context = context._replace(prompt=self.system_prompt(context.session_id))
        return context, contexts.memory(context)

    # What conversations did to files, and how they went

    file_changes = read(later.changes.read_changes)
    prompt_before = read(later.blame.prompt_before)

    run = read(later.run.read_run)

    # Sizes, sums, health, and plans of clean-ups

    @read_method
    def sizes_of(self, sessions: Sequence[Session], most: int | None = None) -> dict[str, Sizes]:
        """Measure the bytes of sessions; with `most`, stop after so many messages."""
        return dict(later.sizes.measure(self.reader, sessions, most=most))

    plan = read(later.plan.make_plan)

    def measure_more(self, plan: Plan, known: MutableMapping[str, Sizes]) -> Plan:
        """Measure a piece of a plan, at least one session, longest idle first.

        Raises:
            StoreError: None was measured, so that to go on would never end.
        """
        missing = {session.id: session for session in plan.unmeasured() if session.id not in known}
        if missing:
            measured = self.sizes_of(list(missing.values()), _PIECE)
            if missing.keys().isdisjoint(measured):
                raise StoreError(
                    _("The size of {session} is not known.", session=one_line(next(iter(missing))))
                )
            known.update(measured)
        return plan.measured(known)

    def archive_planned(self, plan: Plan) -> Change:
        """Archive the conversations of a plan in one transaction; those that it spares stay, even
        members of a lineage. What another program has deleted meanwhile is passed over."""
        spared = [id for each in plan.spared for id in each.conversation.session_ids]
        present = self.neighbourhood(plan.tips(), time.time()).sessions
        return self.archive([tip for tip in plan.tips() if tip in present], spared=spared)

    file_space = read(later.sizes.read_file_space)
    space_map = read(later.sizes.read_space_map)

    retention = read_at(later.retention.retention_rules_at)
    search_health = read(later.health.search_health)

    facts = read(later.facts.read_facts)
    report = read(later.sums.read_report)

    summary = read_at(later.health.summarize)

    # Resuming

    def resume_plan(self, session_id: str, now: float) -> ResumePlan:
        """Plan to resume the conversation of a session from this machine: over `ssh` if the store is
        on another."""
        plan = self.local_resume_plan(session_id, now)
        host = self.location.host
        return plan if host is None else later.remote.over_ssh(host, plan)

    local_resume_plan = read_at(later.resume_command.plan_resume)

    # Exports, and files beside a store of this machine

    stored_session = read(later.jsonl.read_stored_session)
    stored_messages = read(later.jsonl.read_stored_messages)

    def export(
        self,
        session_ids: Sequence[str],
        format_: Format,
        *,
        redact: bool = True,
        tell: Callable[[str], object] = quiet,
    ) -> Iterator[str]:
        """Yield the conversations of sessions as a document in pieces of text, without secrets
        unless told otherwise.

        `tell` receives a sentence for each `.env` file whose values cannot be read.
        """
        now = time.time()
        conversations = self.conversations_of(session_ids, now)
        redactor = later.redact.make_redactor(self.location, tell, active=redact)
        export = later.source.Export(self, format_, redactor, now)
        return later.files.export_pieces(export, self.with_details(conversations))

    def known_sessions(self) -> frozenset[str]:
        """Return the ids of all sessions, as names of files have them."""
        return later.session_files.known_sessions(self.reader)

    def old_files(self, folder: Path | None) -> Count:
        """Count the old transcripts in a folder that the store does not have."""
        return later.session_files.count_old_files(folder, self.reader)


def open_store(
    place: str | Path | Location | Store | None = None, links: Links | None = None
) -> OpenStore:
    """Open a store.

    Args:
        place: Its file, a Hermes home, or its location; by default the store that Hermes uses.
        links: The connections to other machines, for a location on one.
    """
    if isinstance(place, Store):
        return OpenStore(place)
    if isinstance(place, Location):
        location = place
    elif place is None:
        location = locate()
    elif Path(place).is_dir():
        location = locate(home=str(place))
    else:
        location = locate_file(Path(place))
    if location.host is None or links is None:
        return OpenStore(Store(location.path, notes=notes_file(location)), location)
    link = links.of(location.host)
    return OpenStore(later.remote.RemoteStore(link, location.path), location)
