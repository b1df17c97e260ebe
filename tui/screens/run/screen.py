"""How a conversation went: a time axis, and below it what stands out, its parts and subagents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.changes.run import Run
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...browser.list.conversation_list import ConversationList
from ...settings.keys.screen_commands import RUN
from ...text import formats
from ...text.sentences import cache_share, ended_at, facts, has_tokens
from ...text.styled import Line, row_line
from ...widgets.lines import TextLine
from ...widgets.list_rows import Column, Columns, FixedRows
from ..sub_screen import ConversationScreen
from .axis import RunAxis


class RunEventRow(NamedTuple):
    """Something of a run that can be read where it happened."""

    sign: str
    text: str
    session_id: str
    message_id: int | None
    at: float | None
    cost: float | None = None

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"r{self.session_id} {self.message_id} {self.text}"

    def spans(self, width: int, now: float) -> Line:
        look = "accent" if self.sign == "!" else "dim"
        lead = (f" {self.sign} ", look)
        text = one_line(self.text, 400)
        return row_line(lead, (text, "title"), _COLUMNS.text(self, width, now), width)


_COLUMNS: Columns[RunEventRow] = Columns(
    Column(N_("when"), 17, lambda row, now: formats.timestamp(row.at), least=60),
    Column(N_("cost"), 9, lambda row, now: formats.dollars(row.cost)),
)


def run_rows(run: Run) -> Iterator[RunEventRow]:
    """Yield what stands out, then the parts, then the subagents."""
    times: dict[int | None, float | None] = {row.id: row.at for row in run.rows}
    sessions: dict[int | None, str] = {row.id: row.session_id for row in run.rows}
    for mark in run.marks:
        id = mark.message_id
        session_id = sessions.get(id, run.conversation.id)
        yield RunEventRow("!", mark.text, session_id, id, times.get(id))
    for part in run.stretches:
        words = _("part: {facts}", facts=formats.joined(part.model, cache_share(part)))
        place = part.session_id, part.first_message_id, part.at
        yield RunEventRow("│", words, *place, part.cost_usd)
    for subagent in run.subagents:
        begin, end = subagent.root.started_at, ended_at(subagent)
        took = formats.duration(end - begin) if begin is not None and end is not None else ""
        words = _("subagent: {facts}", facts=formats.joined(took, formats.name(subagent)))
        yield RunEventRow("█", words, subagent.id, None, begin, subagent.cost_usd)


class RunScreen(ConversationScreen):
    """How the current conversation went."""

    ENTER = N_("Read it where it happened")
    HELP_TITLE = N_("The run")
    KEYS = RUN
    TITLE = N_("run")

    def content(self) -> ComposeResult:
        yield TextLine(id="facts")
        yield RunAxis(id="axis")
        yield ConversationList(id="marks")

    @property
    def axis(self) -> RunAxis:
        return self.query_one("#axis", RunAxis)

    async def read_rows(self) -> None:
        session_id, now = self.conversation.id, self.main.clock()

        def read(store: OpenStore) -> tuple[Run, list[RunEventRow]]:
            run = store.run(session_id, now)
            run = run._replace(subagents=tuple(store.with_names(run.subagents)))
            return run, list(run_rows(run))

        run, rows = await self.read(read)
        missing = _("no cost per message is stored, so the axis has none")
        if not has_tokens(run):
            missing = _("neither cost nor tokens per message are stored, so the axis has none")
        self.line("facts").update(
            Content.assemble((facts(run), ""), (f" · {missing}", "dim")), layout=True
        )
        self.axis.show(run)
        self.rows.show(FixedRows(rows))

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show on the axis when it was."""
        event.stop()
        if isinstance(event.row, RunEventRow):
            self.axis.point_at(event.row.at)
            self.describe(one_line(event.row.text, 400), by_hand=event.by_hand)

    @on(ConversationList.Selected)
    def selected(self, event: ConversationList.Selected) -> None:
        """Read it."""
        event.stop()
        if isinstance(event.row, RunEventRow):
            self.read_message(event.row.session_id, event.row.message_id)
