"""The current conversation: that of the row under the list's cursor, or one that was opened
elsewhere. It is kept in `shown`, which all panes follow."""

from __future__ import annotations

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.relations import job_of
from hermes_browse.store.wording import _

from ..settings.keys.main_commands import OF_COMPRESSED, OF_CONVERSATION, OF_MARKED
from ..text.family import NO_FAMILY, Entry, SessionEntry
from . import header
from .context import ShownConversation
from .lineage import TreeRow
from .list.conversation_list import CursorRow
from .list.rows import ConversationRow, HitRow, JobRow, conversation_of, conversations_of
from .panes import Panes

_OF_FIND = ("transcript-next-find", "transcript-end-finding")
"""Ids of commands that work only while a text is being found in the transcript."""


class ConversationPanes(Panes):
    """The panes, and the conversation that they show."""

    _is_adopting = False

    @property
    def current_conversations(self) -> tuple[Conversation, ...]:
        """The conversations that commands act on: those of the row in the list, else the one
        shown."""
        if self.shown.is_listed and not self.has_reading_focus:
            shown = conversations_of(self.rows.current)
            return tuple(self.details.complete(conversation) for conversation in shown)
        return (self.current,) if self.current is not None else ()

    @property
    def is_row_current(self) -> bool:
        """Whether the row under the list's cursor is current, or is the job of the current run."""
        row, run = self.rows.current, self.shown.conversation
        is_job = isinstance(row, JobRow) and run is not None and job_of(run.root) == row.job
        return self.shown.is_listed or is_job

    @property
    def has_reading_focus(self) -> bool:
        return self.focused in (self.transcript, self.lineage)

    # The list

    def row_changed(self, at: CursorRow) -> None:
        if self._is_adopting:
            return
        if at.is_step:
            self.forget_status()
        if at.by_hand or (at.is_moved and self.shown.is_listed):
            self.follow_row()
        elif self.shown.is_listed:
            self.shown = self.shown._replace(conversation=conversation_of(at.row), is_same=True)
        else:
            self.refresh_shown()

    def forget_status(self) -> None:
        """Remove what was said before the user moved on; the shortfall of a search stays."""
        if self.status.text:
            self.say("")
        self.search_status = self.results.shortfall if self.results is not None else ""

    def follow_row(self) -> None:
        """Show the conversation of the row under the list's cursor, at its hit if it has one, else
        at its end."""
        row = self.rows.current
        message_id = row.best if isinstance(row, ConversationRow) else None
        if isinstance(row, HitRow):
            message_id = row.hit.message_id
            if row.conversation is None:
                self.say(_("message {id} belongs to no session of this store", id=message_id))
        self.shown = ShownConversation(conversation_of(row), message_id)

    def open(
        self, conversation: Conversation, message_id: int | None = None, segment: str | None = None
    ) -> None:
        """Show a conversation, whether or not it is listed, at a message or a session if one is
        given."""
        is_listed = self._adopt(conversation.root_id)
        self.shown = ShownConversation(conversation, message_id, segment, is_listed)

    def read_there(self, conversation: Conversation, message_id: int | None = None) -> None:
        self.open(conversation, message_id)
        self.set_focus(self.transcript)

    def focus_moved(self) -> None:
        """Follow the focus: in the list, its own row is current again.

        Outside the list, the run shown for a job stays current although runs are added or
        reordered.
        """
        row, conversation = self.rows.current, self.shown.conversation
        if self.focused is self.rows and not self.shown.is_listed:
            listed = conversation_of(row)
            if listed is None or conversation is None or listed.root_id != conversation.root_id:
                self.follow_row()
            else:
                self.shown = self.shown._replace(is_listed=True, is_same=True)
        elif self.shown.is_listed and self.has_reading_focus and isinstance(row, JobRow):
            self.shown = self.shown._replace(is_listed=False, is_same=True)

    def refresh_shown(self) -> None:
        """Follow the catalog: what was opened elsewhere may be listed now, or gone."""
        conversation = self.shown.conversation
        if self.shown.is_listed or conversation is None:
            # Its details may have been read.
            self.shown = self.shown._replace(is_same=True)
            return
        known = self.catalog.of_session(conversation.root_id)
        if known is None and self.catalog.exact:
            self.follow_row()
        else:
            is_listed = not self.is_row_current and self._adopt(conversation.root_id)
            self.shown = self.shown._replace(
                conversation=known or conversation, is_listed=is_listed, is_same=True
            )

    def _adopt(self, root_id: str) -> bool:
        """Move the list's cursor to a conversation; return False if it is not listed."""
        rows, row = self.rows, self.rows.current
        listed = conversation_of(row) if isinstance(row, ConversationRow | HitRow) else None
        is_there = listed is not None and listed.root_id == root_id
        index = rows.cursor if is_there else rows.source.index_of(f"c{root_id}")
        if index is not None:
            self._is_adopting = True
            rows.cursor = index
            self._is_adopting = False
        return index is not None

    # The tree

    @property
    def is_entry_current(self) -> bool:
        """Whether what is under the tree's cursor is of the current conversation."""
        entry, conversation = self.lineage.entry, self.current
        if conversation is None or entry is None:
            return False
        return entry.session_id in conversation.session_ids

    def watch_family(self) -> None:
        """Show the lineage tree below the transcript if it has more than one line.

        The class is set on what it shows: one of a pane would make Textual recompute the styles of
        all that is in it.
        """
        family, title = self.family, self.line("lineage-title")
        compactions = len(family.compactions)
        is_tree = len(family.lineage.nodes) + compactions > 1
        for widget in (title, self.lineage):
            widget.set_class(is_tree, "-family")
        title.update(
            "" if family is NO_FAMILY else header.lineage_title(family.lineage, compactions)
        )
        stays = self.focused is self.lineage and self.is_entry_current
        self.lineage.show_family(family, stays=stays)
        self.offer_keys()

    def offer_keys(self) -> None:
        """Leave out of the footer the keys that mean nothing for what is shown; begin with those of a
        find and of a search, and with the way back."""
        withheld = frozenset() if self.family.compactions else OF_COMPRESSED
        if not self.current_conversations:
            withheld |= OF_CONVERSATION - OF_MARKED if self.marks else OF_CONVERSATION
        steps = ("next-hit",) if self.results is not None and self.results.hits else ()
        back = ("back",) if self.searched is not None or self.seen is not None else ()
        self.key_line.withhold(withheld, (*_OF_FIND, *steps, *back))

    def redraw_marks(self) -> None:
        self.rows.refresh_rows()
        self.show_header_soon()
        self.offer_keys()

    def entry_changed(self, at: CursorRow) -> None:
        """Show the session or the compression to which the user moved the tree's cursor."""
        if not at.is_step or not isinstance(at.row, TreeRow):
            return
        entry = at.row.entry
        member = self.catalog.of_session(entry.session_id)
        message_id, segment = _begin_of(entry)
        if self.is_entry_current:
            self.shown = self.shown._replace(message_id=message_id, segment=segment, is_same=False)
        elif member is not None:
            self.open(member, message_id, segment)
        else:  # nothing is current until it is found
            self.shown = ShownConversation(segment=entry.session_id, is_listed=False)
            self.start("member", self._find, entry.session_id)

    async def _find(self, session_id: str) -> None:
        conversation = await self.find_conversation(session_id)
        if self.shown[:3] == (None, None, session_id):
            self.open(conversation, segment=session_id)


def _begin_of(entry: Entry) -> tuple[int | None, str | None]:
    """Return the message or the session at which the transcript begins for an entry of the tree."""
    if isinstance(entry, SessionEntry):
        return None, entry.session_id
    compaction = entry.compaction
    if compaction.summary is not None:
        return compaction.summary, None
    return None, compaction.into_session_id or compaction.session_id
