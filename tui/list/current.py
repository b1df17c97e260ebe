"""The current conversation: the only place that knows it; panes and actions ask here each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .conversation_rows import ConversationRow, JobRow
from .hit_rows import HitRow
from .lineage_rows import LineageRow
from .list_model import job_key_of
from .marks import conversation_of, conversations_of

if TYPE_CHECKING:
    from ..transcript.reading import TranscriptController


class _Visit(NamedTuple):
    """A conversation on screen that is not listed, or a run of the job under the cursor."""

    session_id: str
    """A session of it, looked up in the catalog each time so that changes show."""
    conversation: Conversation | None
    """As it was read; None while it is being looked up."""


class Current:
    """The conversation that all panes show and all keys act on.

    It is the row under the cursor of the list, except during a visit: an unlisted conversation was
    opened from the lineage tree or from a screen over this one. Then the list highlights no row,
    and the visit ends when the list gets the focus or its cursor moves. Only the visit is stored;
    the rest is derived on each access.

    Args:
        best_hit: Returns the message id of a conversation's best hit; None outside a search.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        page: TranscriptController,
        best_hit: Callable[[Conversation], int | None],
    ) -> None:
        self._context, self._panes, self._page, self._best_hit = context, panes, page, best_hit
        self._visit: _Visit | None = None
        self._is_adopting = False

    @property
    def _active_visit(self) -> _Visit | None:
        """The visit; None as soon as the list has the focus, even before the focus event is
        handled."""
        return self._visit if self._panes.focused is not self._panes.rows else None

    @property
    def _is_read(self) -> bool:
        """Whether transcript or tree has the focus; keys may come before they are mounted."""
        focused = self._panes.focused
        return focused is not None and focused.id in ("transcript", "lineage")

    @property
    def is_listed(self) -> bool:
        """Whether the row under the list's cursor is current, or is the job of the current run."""
        visit, row = self._active_visit, self._panes.rows.current
        if visit is None:
            return True
        run = visit.conversation
        return isinstance(row, JobRow) and run is not None and job_key_of(run.root) == row.name

    @property
    def conversation(self) -> Conversation | None:
        """The current conversation; None if the list is empty or a visit is being looked up."""
        visit = self._active_visit
        if visit is None:
            conversation = conversation_of(self._panes.rows.current)
        else:
            conversation = self._context.catalog.of_session(visit.session_id) or visit.conversation
        return self._context.details.complete(conversation)[0] if conversation is not None else None

    @property
    def targets(self) -> tuple[Conversation, ...]:
        """The conversations that commands act on: those of the row in the list, else the one
        shown."""
        if self._active_visit is None and not self._is_read:
            details = self._context.details
            rows = conversations_of(self._panes.rows.current)
            return tuple(details.complete(each)[0] for each in rows)
        conversation = self.conversation
        return (conversation,) if conversation is not None else ()

    # Changes

    def list_moved(self, is_moved: bool, by_hand: bool) -> None:
        """Follow the list: another row is under its cursor, or the same row was updated.

        Args:
            is_moved: It is another row.
            by_hand: The user moved the cursor or requested another list.
        """
        if self._is_adopting:
            return
        if by_hand:
            self._end_visit()
        elif self._visit is not None:
            self._update_visit()
            return
        if is_moved:
            self.follow_row()
        else:
            self._page.renew()

    def follow_row(self) -> None:
        """Show the conversation of the row under the cursor, at the row's hit if it has one, else
        at its end."""
        row = self._panes.rows.current
        message_id = None
        if isinstance(row, ConversationRow) and row.hits:
            message_id = self._best_hit(row.conversation)
        elif isinstance(row, HitRow):
            message_id = row.hit.message_id
            if row.conversation is None:
                self._context.say(
                    _("message {id} belongs to no session of this store").format(id=message_id)
                )
        self._page.show(conversation_of(row), message_id=message_id)

    def open(
        self,
        conversation: Conversation,
        *,
        message_id: int | None = None,
        session_id: str | None = None,
    ) -> None:
        """Make a conversation current, whether or not it is listed.

        Args:
            message_id: Scroll to this message, highlighted as a hit.
            session_id: Scroll to the start of this session of it.
        """
        root = conversation.root_id
        if not self._adopt(root):
            self._visit = _Visit(session_id or root, conversation)
            self._panes.rows.refresh_rows()
        self._page.show(conversation, message_id=message_id, segment=session_id)

    def node_moved(self, is_moved: bool, by_hand: bool) -> None:
        """Show the session under the tree's cursor if the user moved it."""
        row = self._panes.lineage.current
        if not by_hand or not isinstance(row, LineageRow):
            return
        session_id, conversation = row.node.session.id, self.conversation
        if conversation is not None and session_id in (each.id for each in conversation.segments):
            self._page.go_to_segment(conversation, session_id)
            return
        conversation = self._context.catalog.of_session(session_id)
        if conversation is not None:
            self.open(conversation, session_id=session_id)
        else:
            self._find(session_id)

    def _find(self, session_id: str) -> None:
        """Look up a session that the catalog lacks; nothing is current until it is found."""
        self._visit = _Visit(session_id, None)
        self._panes.rows.refresh_rows()
        self._page.wait()
        self._panes.start("member", self._read_member, session_id)

    async def _read_member(self, session_id: str) -> None:
        now = self._context.clock()
        catalog = await self._panes.read(lambda store: store.neighbourhood([session_id], now))
        conversation = catalog.of_session(session_id)
        if conversation is not None and self._visit == (session_id, None):
            self.open(conversation, session_id=session_id)

    def focus_moved(self) -> None:
        """Follow the focus: in the list, its own row is current again.

        Outside the list, the run shown for a job stays current although runs are added or
        reordered.
        """
        visit = self._visit
        if visit is not None and self._active_visit is None:
            self._end_visit()
            listed = conversation_of(self._panes.rows.current)
            if (
                listed is None
                or visit.conversation is None
                or listed.root_id != visit.conversation.root_id
            ):
                self.follow_row()
        elif visit is None and self._is_read:
            row = self._panes.rows.current
            if isinstance(row, JobRow):
                self._visit = _Visit(row.runs[0].root_id, row.runs[0])

    def catalog_read(self) -> None:
        """Follow the catalog: the visited conversation may be listed now, or gone."""
        self._update_visit()
        self._page.renew()

    # The visit

    def _end_visit(self) -> None:
        if self._visit is not None:
            self._visit = None
            self._panes.rows.refresh_rows()

    def _adopt(self, root_id: str) -> bool:
        """Move the list's cursor to a conversation without showing it again; return False if it is
        not listed."""
        rows = self._panes.rows
        row = rows.current
        listed = conversation_of(row) if isinstance(row, ConversationRow | HitRow) else None
        is_there = listed is not None and listed.root_id == root_id
        index = rows.cursor if is_there else rows.source.index_of(f"c{root_id}")
        if index is None:
            return False
        self._is_adopting = True
        rows.cursor = index
        self._is_adopting = False
        self._end_visit()
        return True

    def _update_visit(self) -> None:
        """End the visit if the conversation is listed or gone."""
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
