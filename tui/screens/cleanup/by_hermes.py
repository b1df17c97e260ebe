"""What Hermes itself cleans up: the screen of conversations that it will delete, where one key saves
a conversation; and `hermes sessions optimize`, which makes the file smaller: the card that says what
it needs, and the run.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from textual.app import ComposeResult, SuspendNotSupported
from textual.content import Content
from textual.events import Resize
from textual.getters import query_one
from textual.screen import Screen

from hermes_browse.store.amounts import DAY
from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.cleanup.sizes import FileSpace
from hermes_browse.store.edit.delete import copy_to_trash
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location, sessions_folder, trash_folder
from hermes_browse.store.hermes.processes import find_hermes, hermes_word
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from ...browser.context import Context
from ...browser.list.conversation_list import ConversationList
from ...browser.list.list_model import NamedRows
from ...browser.main import MainScreen
from ...settings.keys.screen_commands import RECLAIM, RETENTION
from ...terminal.programs import how_it_ended, wait_for_enter
from ...text import formats
from ...widgets.card import Card, styled
from ...widgets.lines import TextLine
from ...widgets.list_rows import ListRow, NoteRow
from ..sub_screen import ListScreen
from .plan_rows import FORECAST_COLUMNS, ForecastRow
from .time_axis import TimeAxis, coming


def _rule(rules: RetentionRules, leaving: Sequence[ForecastRow]) -> str:
    """Say by which rule Hermes deletes, what goes next, and what protects from it."""
    rule = one_line(rules.why_never or rules.retention.sentence, 300)
    if not leaving:
        return rule
    first = sum(row.days < 1 for row in leaving)
    at_next = _("{count:,} at its next clean-up", count=first)
    protects = _("this store has no pins: b makes a copy")
    if rules.pins_hold:
        protects = _("a pin protects, archiving does not")
    elif rules.can_pin:
        protects = _("a pin protects only since Hermes 0.20.5: b makes a copy")
    return " · ".join([rule, at_next if first else _("none at its next clean-up"), protects])


def _none(rules: RetentionRules) -> NoteRow:
    is_known = rules.retention.auto_prune is not None or bool(rules.why_never)
    if is_known:
        return NoteRow(_("No conversation of this store would go."))
    return NoteRow(_("It is unknown which conversations would go."))


class RetentionScreen(ListScreen):
    """Conversations by the day on which Hermes deletes them."""

    KEYS = RETENTION
    TITLE = N_("retention: what Hermes will delete")

    axis = query_one(TimeAxis)
    leaving: Sequence[ForecastRow] = ()

    def content(self) -> ComposeResult:
        yield TextLine(id="rule")
        yield TimeAxis(self.main.clock, _("deletions"))
        yield TextLine(id="forecasts-head")
        yield ConversationList(id="forecasts")

    async def read_rows(self) -> None:
        current, now = self.main.catalog, self.main.clock()

        def look(store: OpenStore) -> tuple[RetentionRules, list[ForecastRow]]:
            rules = store.retention(now)
            leaving = rules.deletions(current if current.exact else store.catalog(now))
            return rules, [ForecastRow(*each) for each in leaving]

        rules, self.leaving = await self.read(look)
        self.line("rule").update(Content.styled(_rule(rules, self.leaving), "dim"), layout=True)
        self.axis.set_class(not self.leaving, "-empty")
        self._show_axis()
        self.offer_keys(are_of_use=bool(self.leaving))
        self.rows.show(NamedRows(self.leaving or [_none(rules)], self.main.details))

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show_axis)

    def _show_axis(self) -> None:
        """Show how many conversations go on which day."""
        if self.is_whole:
            self.start("axis", self._add_up)

    async def _add_up(self) -> None:
        days, most, now = [each.days for each in self.leaving], self.axis.most, self.main.clock()
        self.axis.show(await self.call(partial(coming, days, most, now)), self._at_row)

    @property
    def _at_row(self) -> float | None:
        """The time when the conversation under the cursor goes, Unix seconds."""
        return self.main.clock() + self._row.days * DAY if self._row is not None else None

    @property
    def _row(self) -> ForecastRow | None:
        row = self.rows.current
        return row if isinstance(row, ForecastRow) else None

    def heads_shown(self) -> None:
        self.line("forecasts-head").set_class(self._row is None, "-empty")
        lead = f"   {formats.fit(_('goes in'), 7, right=True)}  "
        self.show_head("forecasts-head", FORECAST_COLUMNS, _("conversation"), lead=lead)

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        """Say why the conversation goes, and show when on the axis."""
        super().came_to(row, by_hand=by_hand)
        if self.is_whole:
            self.axis.show(self.axis.axis, self._at_row)

    def action_pin(self) -> None:
        """Pin the conversation, so that Hermes keeps it."""
        if self._row is not None:
            self.main.edits.pin_these([self._row.conversation])

    def action_bundle(self) -> None:
        """Put a copy of the conversation into the trash."""
        if self._row is not None:
            self.main.start_write(_copy_to_trash, self.main, self._row.conversation.id)


async def _copy_to_trash(context: Context, session_id: str) -> None:
    location = context.location
    folders = trash_folder(location), sessions_folder(location)
    bundle = await context.write(partial(copy_to_trash, context.store, session_id, *folders))
    context.say(
        _(
            "a copy is in the trash: {name}; restore it after Hermes has deleted the original",
            name=bundle.name,
        )
    )


class Reclaim(NamedTuple):
    """The command, and the facts on the card."""

    argv: tuple[str, ...]
    home: str
    executable: str | None
    file: FileSpace
    disk_free: int
    """Bytes free on the disk of the store."""

    @property
    def shell(self) -> str:
        return f"HERMES_HOME={shlex.quote(self.home)} {shlex.join(self.argv)}"

    @property
    def needed(self) -> int:
        """The most bytes that it takes on the disk: VACUUM writes a copy, in WAL mode twice
        (https://sqlite.org/lang_vacuum.html)."""
        return 2 * (self.file.file_bytes - self.file.free_bytes)


class ReclaimCard(Card[bool]):
    """Says what `hermes sessions optimize` does before it runs."""

    KEYS = RECLAIM

    def __init__(self, reclaim: Reclaim) -> None:
        super().__init__()
        self._reclaim = reclaim

    def content(self) -> ComposeResult:
        reclaim, file = self._reclaim, self._reclaim.file
        yield styled(_("Shrink the file"), "bold")
        gained = _(
            "{free} of {size} are free inside the file",
            free=formats.size(file.free_bytes),
            size=formats.size(file.file_bytes),
        )
        yield styled(gained, "$accent")
        merges = _(
            "Hermes merges its search index and rewrites the whole file without the free part."
        )
        needed = _(
            "It needs up to {needed} beside it while it runs; {free} are free on that disk.",
            needed=formats.size(reclaim.needed),
            free=formats.size(reclaim.disk_free),
        )
        alone = _(
            "No other program can write while it runs, which takes minutes on a large store, so stop the "
            "gateway first. Since 0.22 Hermes refuses while another process has the file open; this "
            "program closes it before."
        )
        for text in (merges, needed, alone):
            yield styled(text, "dim", classes="paragraph")
        if reclaim.disk_free < reclaim.needed:
            yield styled("! " + _("there may not be enough room"), "$warning")
        if reclaim.executable is None:
            warning = _("there is no hermes on PATH or in ~/.local/bin: copy the command")
            yield styled(f"! {warning}", "$warning")
        yield styled(printable(reclaim.shell), "dim", id="command")

    def keys_text(self) -> str:
        return self.named_keys(without=("run",) if self._reclaim.executable is None else ())

    def action_go(self) -> None:
        if self._reclaim.executable is not None:
            self.dismiss(True)

    def action_copy(self) -> None:
        self.copy(self._reclaim.shell)


def open_reclaim(main: MainScreen) -> None:
    """Read the sizes of the file, then open the card."""
    location = main.location
    if location.demo:
        main.say(_("this is the sample store: in your own one, v makes the file smaller"))
        return
    try:
        location.refuse_without_home()
    except BrowseError as error:
        main.failed(error)
        return

    main.start("file", _open_card, main, location, main.app.screen)


async def _open_card(main: MainScreen, location: Location, over: Screen[Any]) -> None:
    def measure(store: OpenStore) -> Reclaim:
        executable = find_hermes()
        return Reclaim(
            argv=(
                hermes_word(executable),
                "-p",
                location.profile or "default",
                "sessions",
                "optimize",
            ),
            home=str(location.root),
            executable=executable,
            file=store.file_space(),
            disk_free=shutil.disk_usage(location.path.parent).free,
        )

    reclaim = await main.read(measure)

    def decided(go: bool | None) -> None:
        if go:
            _run(main, reclaim)

    main.open_card(ReclaimCard(reclaim), decided, over)


def _run(main: MainScreen, reclaim: Reclaim) -> None:
    """Close the store, run Hermes in the foreground, and report the outcome."""
    assert reclaim.executable is not None
    before = main.store.sizes()[0]
    try:
        with main.reads.released(), main.app.lend_terminal():
            code = _in_foreground(reclaim.executable, reclaim.argv, reclaim.home)
    except SuspendNotSupported:
        main.failed(BrowseError(_("This terminal cannot be lent to Hermes and taken back.")))
        return
    except OSError as error:
        main.failed(
            BrowseError(
                _(
                    "{program} could not be started: {reason}.",
                    program=reclaim.executable,
                    reason=error.strerror,
                )
            )
        )
        return
    after = main.store.sizes()[0]
    # Before 0.22 Hermes always ends with 0, so the size of the file is reported.
    sizes = _(
        "the file has {after}, it had {before}",
        after=formats.size(after),
        before=formats.size(before),
    )
    main.say(_("hermes {ended}: {told}", ended=how_it_ended(code), told=sizes) if code else sizes)
    main.listing.read()


def _in_foreground(executable: str, argv: Sequence[str], home: str) -> int:
    print(printable(" ".join(argv)), flush=True)
    environment = {**os.environ, "HERMES_HOME": home}
    code = subprocess.run([executable, *argv[1:]], env=environment, check=False).returncode
    wait_for_enter()
    return code
