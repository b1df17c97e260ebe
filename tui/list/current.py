"""Which conversation is current; everything that shows one or acts on one asks here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .marks import conversation_of, conversations_of
from .model import job_name
from .rows import ConversationRow, HitRow, JobRow, LineageRow


class _Visit(NamedTuple):
    """A conversation on screen that is not listed, or a run of the job under the cursor."""

    session_id: str
    """A session of it: what the catalog is asked for, so that a change shows."""
    conversation: Conversation | None
    """As it was found; None while it is still being looked for."""


class Page(Protocol):
    """Shows what is current."""

    def show(
        self, conversation: Conversation | None, *, message_id: int | None = None, segment: str | None = None
    ) -> None:
        """Show a conversation at its end, at a message lit as a hit, or at the start of a session; or nothing."""

    def wait(self) -> None:
        """Show nothing until what is wanted has been found."""

    def renew(self) -> None:
        """More may be known of what is shown."""

    def go_to_segment(self, conversation: Conversation, session_id: str) -> None:
        """Go to the start of a session of what is shown."""


class Current:
    """The conversation that all panes show and all keys mean.

    It is the row under the cursor of the list. The one exception is a visit: a member of the family, or what a screen
    over this one opened, that the list does not have. Then the list marks no row, and the visit ends when the list gets
    the focus or its cursor is moved. Only the visit is remembered; everything else is derived when it is asked for.

    Args:
        context: The store.
        panes: The list and the tree.
        page: Shows what becomes current.
        best_hit: The best hit of a conversation, while the list shows hits.
    """

    def __init__(
        self, context: Context, panes: Panes, page: Page, best_hit: Callable[[Conversation], int | None]
    ) -> None:
        self._context, self._panes, self._page, self._best_hit = context, panes, page, best_hit
        self._visit: _Visit | None = None
        self._is_adopting = False

    @property
    def _away(self) -> _Visit | None:
        """The visit; None as soon as the list has the focus, even before its events are handled."""
        return self._visit if self._panes.focused is not self._panes.rows else None

    @property
    def _is_read(self) -> bool:
        """Whether a pane that shows the conversation has the focus; keys may come before those panes are there."""
        focused = self._panes.focused
        return focused is not None and focused.id in ("transcript", "lineage")

    @property
    def is_listed(self) -> bool:
        """Whether the row under the cursor of the list is current, or is the job of the current run."""
        away, row = self._away, self._panes.rows.current
        if away is None:
            return True
        run = away.conversation
        return isinstance(row, JobRow) and run is not None and job_name(run.root) == row.name

    @property
    def conversation(self) -> Conversation | None:
        """The current conversation; None if the list is empty or a visit is still being looked for."""
        away = self._away
        if away is None:
            found = conversation_of(self._panes.rows.current)
        else:
            found = self._context.catalog.of_session(away.session_id) or away.conversation
        return self._context.details.complete(found)[0] if found is not None else None

    @property
    def meant(self) -> tuple[Conversation, ...]:
        """What commands act on: in the list all conversations of the row, elsewhere the one that is shown."""
        if self._away is None and not self._is_read:
            return conversations_of(self._panes.rows.current)
        conversation = self.conversation
        return (conversation,) if conversation is not None else ()

    # What changes it

    def listed(self, is_moved: bool, by_hand: bool) -> None:
        """Follow the list: it has another row under its cursor, or the same row was drawn anew.

        Args:
            is_moved: It is another row.
            by_hand: The user has moved there, or asked for another list.
        """
        if self._is_adopting:
            return
        if by_hand:
            self._end_visit()
        elif self._visit is not None:
            self._look_for_visit()
            return
        if is_moved:
            self.follow_row()
        else:
            self._page.renew()

    def follow_row(self) -> None:
        """Show the conversation of the row under the cursor: at its end, or at the hit of the row."""
        row = self._panes.rows.current
        message_id = None
        if isinstance(row, ConversationRow) and row.hits:
            message_id = self._best_hit(row.conversation)
        elif isinstance(row, HitRow):
            message_id = row.hit.message_id
            if row.conversation is None:
                self._context.say(_("message {id} belongs to no session of this store").format(id=message_id))
        self._page.show(conversation_of(row), message_id=message_id)

    def open(self, conversation: Conversation, *, message_id: int | None = None, session_id: str | None = None) -> None:
        """Make a conversation current, whether or not it is listed.

        Args:
            conversation: Which.
            message_id: At this message, lit as a hit.
            session_id: At the start of this session of it.
        """
        root = conversation.root_id
        if not self._adopt(root):
            self._visit = _Visit(session_id or root, conversation)
            self._panes.rows.refresh_rows()
        self._page.show(conversation, message_id=message_id, segment=session_id)

    def node_moved(self, is_moved: bool, by_hand: bool) -> None:
        """Follow the tree: if the user moved its cursor, go to that session."""
        row = self._panes.lineage.current
        if not by_hand or not isinstance(row, LineageRow):
            return
        session_id, conversation = row.node.session.id, self.conversation
        if conversation is not None and session_id in (each.id for each in conversation.segments):
            self._page.go_to_segment(conversation, session_id)
            return
        known = self._context.catalog.of_session(session_id)
        if known is not None:
            self.open(known, session_id=session_id)
        else:
            self._find(session_id)

    def _find(self, session_id: str) -> None:
        """Look for a session that the catalog does not have; until it is found, nothing is current."""
        now = self._context.clock()
        self._visit = _Visit(session_id, None)
        self._panes.rows.refresh_rows()
        self._page.wait()

        def done(catalog: Catalog) -> None:
            found = catalog.of_session(session_id)
            if found is not None and self._visit == (session_id, None):
                self.open(found, session_id=session_id)

        self._context.page_worker.submit(
            "member", lambda reader: read_neighbourhood(reader, [session_id], now), done, self._context.failed
        )

    def focus_moved(self) -> None:
        """Follow the focus: with the list, its own row is current again.

        Outside of it a job is the run that is shown, whatever runs are added and however they are ordered meanwhile.
        """
        visit = self._visit
        if visit is not None and self._away is None:
            self._end_visit()
            now = conversation_of(self._panes.rows.current)
            if now is None or visit.conversation is None or now.root_id != visit.conversation.root_id:
                self.follow_row()
        elif visit is None and self._is_read:
            row = self._panes.rows.current
            if isinstance(row, JobRow):
                self._visit = _Visit(row.runs[0].root_id, row.runs[0])

    def catalog_read(self) -> None:
        """Follow the catalog: what was visited may be listed now, or gone."""
        self._look_for_visit()
        self._page.renew()

    # The visit

    def _end_visit(self) -> None:
        if self._visit is not None:
            self._visit = None
            self._panes.rows.refresh_rows()

    def _adopt(self, root_id: str) -> bool:
        """Put the cursor of the list on a conversation without showing it anew; False where it is not listed."""
        rows = self._panes.rows
        listed = rows.current
        is_there = isinstance(listed, ConversationRow | HitRow) and conversations_of(listed)[:1]
        index = rows.cursor if is_there and is_there[0].root_id == root_id else rows.source.index_of(f"c{root_id}")
        if index is None:
            return False
        self._is_adopting = True
        rows.cursor = index
        self._is_adopting = False
        self._end_visit()
        return True

    def _look_for_visit(self) -> None:
        visit, catalog = self._visit, self._context.catalog
        if visit is None or visit.conversation is None:
            return
        if catalog.of_session(visit.session_id) is not None and self.is_listed:
            return
        if self._adopt(visit.conversation.root_id):
            return
        if catalog.exact and catalog.of_session(visit.session_id) is None:
            self._end_visit()
            self.follow_row()
