"""What messages of the panes of the main screen lead to: rows that are chosen or shown, what is typed
in the search box, pages and finds of the transcript."""

from __future__ import annotations

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from hermes_browse.store.wording import _

from ..widgets.list_rows import ListRow, NoteRow
from . import header
from .keyed import KeyScreen
from .list.conversation_list import ConversationList
from .list.rows import ConversationRow, JobRow, MoreRow, SuggestionRow
from .transcript.view import TranscriptView


class PaneMessages(KeyScreen):
    """Handles the messages of the panes."""

    _is_box_followed = False
    _opens_first = False
    """Enter was pressed before the results were there: the first one is opened when it comes."""

    # The list and the tree

    def set_focus(self, widget: Widget | None, *args: bool, **kwargs: bool) -> None:
        """Focus a pane, which may change the current conversation.

        A field that opens ends what was said before, except the box of a search, as that is of it.
        """
        is_opened = isinstance(widget, Input) and not isinstance(self.focused, Input)
        if is_opened and not (widget is self.box and self.box.value):
            self.forget_status()
        super().set_focus(widget, *args, **kwargs)
        self.share_out()
        self.focus_moved()
        self.describe_row()
        self.family_loader.find_losses()

    def tell_of_row_soon(self) -> None:
        """Show what tells of the row under the list's cursor, after the cursor is drawn."""
        self.call_later(self._tell_of_row)

    def _tell_of_row(self) -> None:
        if self._opens_first and not self.search.is_pending:
            self._open_first()
        self.head.refresh()
        self.offer_keys()

    def describe_row(self) -> None:
        """Tell in the status line of the row under the list's cursor, or of another conversation to
        which the tree led."""
        row, shown = self.rows.current, self.shown.conversation
        if shown is not None and not self.is_row_current:
            row = ConversationRow(shown)
        resumes = self.rows.enter_resumes
        enter = _("Enter resumes …{id}") if resumes else _("Enter reads it")
        if self.has_reading_focus:  # the footer tells what Enter does there
            enter = ""
        self.about = header.about(row, self.clock(), enter, self.status_room)

    @on(ConversationList.Selected, "#list")
    def row_selected(self, event: ConversationList.Selected) -> None:
        row = self.rows.current
        if row is None or row.key != event.row.key:
            return  # it has gone since
        if self.rows.enter_resumes:
            self.resuming.resume()
        else:
            self.enter_row(row)

    def enter_row(self, row: ListRow) -> None:
        """Go one step into a row: read a conversation, at its hit if it has one, or show more."""
        if isinstance(row, JobRow):
            self.listing.toggle_job(row.job)
        elif isinstance(row, MoreRow):
            self.search.unfold(row)
        elif isinstance(row, SuggestionRow):
            self._take_suggestion(row)
        elif not isinstance(row, NoteRow):
            self.follow_row()
            self.set_focus(self.transcript)

    def _take_suggestion(self, row: SuggestionRow) -> None:
        """Run a suggested search, which may switch to another profile."""
        query = row.found.query
        if row.profile:
            self.switching.search(row.profile, query)
            return
        if query != self.box.value:  # the last word was counted as a whole one: a space ends it
            self.query_line.put(f"{query} ")
        self.search_view = row.view

    @on(ConversationList.RowsShown, "#list")
    def rows_shown(self, event: ConversationList.RowsShown) -> None:
        """Read missing details of the rows on screen, or the next page of hits at their end."""
        self.listing.complete(event.rows)
        if self.searched is not None and event.last >= len(self.rows) - 1:
            self.search.read_on()

    @on(ConversationList.Selected, "#lineage")
    def node_selected(self) -> None:
        """Inspect a compression, or read a session, unless the tree is still that of another
        conversation."""
        if not self.is_entry_current:
            self.say(_("the family of this conversation is still being read"))
        elif self.lineage.compression is not None:
            self.open_compactions()
        else:
            self.set_focus(self.transcript)

    # The search box

    def follow_box(self) -> None:
        """Search for what is typed in the box from now on.

        Letters typed before the first frame stand in it without a search, whose modules take a tenth
        of the start.
        """
        if self._is_box_followed:
            return
        self._is_box_followed = True
        self.watch(self.box, "value", self.query_typed, init=False)
        if self.box.value:
            self.query_typed(self.box.value)

    def query_typed(self, text: str) -> None:
        """Search for the changed text of the box, within the keystroke."""
        self._opens_first = False
        self.say("")
        self.search.query_changed(self.query_line.edited(text))

    def move_from_box(self, by: int) -> None:
        if not self.query_line.recall(by):
            self.rows.action_move(by)

    def leave_box(self) -> None:
        """Stop a scan, else clear the box, else go back to the list."""
        if self.searched is not None and self.search.stop():
            return
        if self.box.value:
            self.box.value = ""
        else:
            self.set_focus(self.rows)

    def open_result(self) -> None:
        """Open the first result, or the one under the cursor, as soon as there is one."""
        self.follow_box()
        if self.searched is None:
            self.set_focus(self.rows)
            return
        self.query_line.remember()
        self._opens_first = self.search.is_pending
        if not self._opens_first:
            self._open_first()

    def _open_first(self) -> None:
        self._opens_first = False
        row = self.rows.current
        if row is None or isinstance(row, NoteRow | JobRow):
            self.set_focus(self.rows)
        else:
            self.enter_row(row)

    # The transcript

    @on(TranscriptView.InSight)
    def messages_in_sight(self, event: TranscriptView.InSight) -> None:
        """Mark new messages in sight as read."""
        new = self.details.attention.unread.get(event.segments[0].id)
        if new is not None and event.message_id >= new.first_message_id:
            ids = [segment.id for segment in event.segments]
            self.start("mark-read", self.mark_read, ids, event.message_id)

    @on(TranscriptView.Notice)
    def transcript_notice(self, event: TranscriptView.Notice) -> None:
        self.say_of_page(event.text)

    @on(TranscriptView.FindKeyPressed)
    def find_key_pressed(self, event: TranscriptView.FindKeyPressed) -> None:
        """Go to the next or previous match in the transcript, or end the find."""
        if event.step:
            self.finding.step(event.step)
        else:
            self.finding.stop()
            self.finding.hide_boxes()

    @on(TranscriptView.Resized)
    def transcript_resized(self) -> None:
        self.loader.fit_titles()

    @on(Input.Changed, "#find-box")
    def find_edited(self, event: Input.Changed) -> None:
        self.finding.edited(event.value)
