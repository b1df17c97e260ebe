"""Bundles on the screen: rows, contents, the message after a restore, the card of a drop, the
screen of an open one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import Restored, describe_restored
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ..browser.edit.deleting import and_more
from ..browser.edit.marks_and_undo import Undoable
from ..browser.list.list_model import FirstPage
from ..browser.main import MainScreen, OtherScreen
from ..settings.keys import changed
from ..settings.keys.main_commands import MAIN
from ..settings.keys.screen_commands import DROPPING
from ..text import formats
from ..text.styled import Line, row_line
from ..widgets.card import CountCard, styled
from ..widgets.list_rows import Column, Columns

_LISTED = 200
"""Maximum number of conversations listed."""
_NAMED = 12
"""Maximum number of bundles that the confirmation names."""
_REFUSED = (
    *("resume", "resume-window", "copy-command", "archive", "delete", "pin"),
    *("rename", "tag", "undo", "prune", "trash", "retention", "since", "profiles"),
    "view-old",
)
"""Commands that need sessions in the user's store; these are deleted."""
_QUIET: Mapping[str, Any] = {"footer": False}
_CHANGED: Mapping[str, Mapping[str, Any]] = {
    "reasoning": {
        "title": N_("restore"),
        "tooltip": N_("Restore this conversation, or the marked ones"),
        "call": "put_back",
        "footer": True,
        "priority": True,  # in the transcript too
    },
    "back": {"footer": True},
    **dict.fromkeys(("sort", "lineage", "tools", "reading"), _QUIET),
}
"""How commands are shown here, where it differs; Esc needs the room."""


class BundleRow(NamedTuple):
    """A bundle in the list."""

    bundle: Bundle
    is_marked: bool
    enter: str = N_("open")

    @property
    def key(self) -> str:
        return f"b{self.bundle.name}"

    @property
    def title(self) -> str:
        """How many conversations it has, if several, and the name of the first: what is cut is the
        name."""
        bundle = self.bundle
        count = len(bundle.conversations)
        first = next(filter(None, bundle.titles), None)
        name = first or next(iter(bundle.conversations), bundle.name)
        return f"{count:,} · {name}" if count > 1 else name

    @property
    def _state(self) -> str:
        bundle = self.bundle
        if bundle.damage:
            return _("damaged")
        if bundle.restored_at is not None:
            return _("restored")
        count = len(bundle.conversations)
        back = sum(tip in bundle.restored for tip in bundle.conversations)
        if back:
            return _("{back:,} of {count:,} back", back=back, count=count)
        return pgettext("in the trash", "copy") if bundle.is_copy else ""

    def spans(self, width: int, now: float) -> Line:
        bundle = self.bundle
        state = f"  {self._state}".rstrip()
        columns = BUNDLE_COLUMNS.text(bundle, width, now)
        room = max(width - 5 - cell_len(columns) - cell_len(state), 8)
        name = formats.clip(one_line(self.title, 200), room) + state
        look = "note" if bundle.damage else "dim" if bundle.restored_at is not None else "title"
        lead = (" ! ", "accent") if bundle.damage else (" · ", "dim")
        return row_line((" ✓ ", "mark") if self.is_marked else lead, (name, look), columns, width)


BUNDLE_COLUMNS: Columns[Bundle] = Columns(
    Column(N_("when"), formats.AGE_WIDTH, lambda bundle, now: formats.age(bundle.created_at, now)),
    Column(N_("msgs"), 12, lambda bundle, now: formats.messages(bundle.messages), least=50),
    Column(N_("size"), 9, lambda bundle, now: formats.size(bundle.bytes)),
)


def contents(row: BundleRow) -> Content:
    """Format the contents of a bundle: its facts and the names of its conversations."""
    bundle = row.bundle
    damage = _("damaged: {reason}", reason=bundle.damage) if bundle.damage else ""
    counts = (
        formats.counted(len(bundle.conversations), "conversation"),
        formats.counted(len(bundle.sessions), "session"),
        formats.counted(bundle.messages, "message"),
    )
    made = _("deleted {day}, {clock} · {size}")
    if bundle.is_copy:
        made = _("copied {day}, {clock} · {size}")
    when = made.format(
        day=formats.day(bundle.created_at),
        clock=formats.clock(bundle.created_at),
        size=formats.size(bundle.bytes),
    )
    restored = ""
    if bundle.restored_at:
        restored = _(
            "restored {day}; its file stays in the trash until it is deleted for good",
            day=formats.day(bundle.restored_at),
        )
    facts = (
        (row.title, "bold"),
        (damage, "$error"),
        (formats.joined(*counts), "dim"),
        (when, "dim"),
        (restored, "dim"),
        (_("from {store}", store=bundle.store) if bundle.store else "", "dim"),
        (bundle.name, "dim"),
    )
    lines = [Content.styled(one_line(text, 300), look) for text, look in facts if text]
    lines.append(Content(""))
    for tip, title in zip(bundle.conversations[:_LISTED], bundle.titles, strict=False):
        mark = ("✓ ", "$success") if tip in bundle.restored else ("◆ ", "$accent")
        lines.append(Content.assemble(mark, one_line(title or tip, 100)))
    return Content("\n").join([*lines, *and_more(len(bundle.conversations) - _LISTED)])


def tell_restored(main: MainScreen, restored: Sequence[Restored], more: Sequence[str]) -> str:
    """Report a restore of one bundle or several in the status line, followed by further sentences;
    `u` undoes it.

    Returns:
        The message.
    """
    sessions = [session for each in restored for session in each.sessions]
    notes = [note for each in restored for note in each.notes]
    # An undo deletes only the sessions that were not in the store before.
    new = [session for each in restored for session in each.sessions if session not in each.present]

    def back() -> str:
        return main.connect().delete(new).sentence

    message = " · ".join([describe_restored(restored), *notes, *more])
    if new:
        main.edits.record(Undoable(message, back, sessions))
    else:
        main.say(message)
    return message


class DropCard(CountCard):
    """The confirmation of a drop, also of a single bundle."""

    KEYS = DROPPING

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        count = len(bundles)
        asked = ngettext(
            "type {count} to delete it for good",
            "type {count} to delete them for good",
            count,
        )
        super().__init__(count, asked, _("{count} and Enter delete for good", count=count))
        self._bundles = bundles

    def content(self) -> ComposeResult:
        asked = ngettext(
            "Delete 1 deletion for good? ({size})",
            "Delete {count:,} deletions for good? ({size})",
            self.count,
            size=formats.size(sum(each.bytes for each in self._bundles)),
        )
        yield styled(asked, "bold")
        for each in self._bundles[:_NAMED]:
            name = one_line(BundleRow(each, is_marked=False).title, 70)
            sessions = formats.counted(len(each.sessions), "session")
            yield Static(Content.assemble("  ", name, (f"  {sessions}", "dim")))
        yield from map(Static, and_more(self.count - _NAMED))
        yield styled(_("They cannot be restored after that."), "$warning")
        yield self.box()


class BundleScreen(OtherScreen):
    """The main screen with the conversations of a bundle; `r` restores them.

    `beside` is that of the store that the bundle belongs to.
    """

    KEYS = changed(MAIN, _CHANGED, _REFUSED)
    RESUMES = False
    REFUSAL = N_(
        "this is in the trash: it can be read, searched, copied, exported, and restored with r"
    )

    def __init__(self, beside: MainScreen, bundle: Bundle, first: FirstPage, title: str) -> None:
        label = _("trash: {title}", title=one_line(title, 40))
        location = Location(bundle.path, label=label)
        super().__init__(location, Store(bundle.path), first)
        self._beside = beside
        self._bundle = bundle
        self._note_back(bundle.restored)
        self.begin_as(View.ALL)

    def _note_back(self, sessions: Iterable[str]) -> None:
        """Say in their rows that conversations, by their tips, have been restored."""
        self.details.notes |= dict.fromkeys(sessions, _("back in the store"))

    def put_back(self) -> None:
        """Restore the targets with their subagents; the bundle keeps them as well."""
        if conversations := self.edits.targets:
            self.say(_("restoring …"))
            self._beside.start_write(self._put_back, conversations)

    async def _put_back(self, conversations: Sequence[Conversation]) -> None:
        beside = self._beside
        name = self._bundle.name

        def work() -> Restored:
            store = beside.connect()
            only = store.find_in_deletion(name, [each.id for each in conversations])
            return store.restore(name, only, stopped=beside.writes.stopping.is_set)

        restored = await beside.write(work)
        message = tell_restored(beside, [restored], ())
        if self.is_attached:
            self._note_back(restored.sessions)
            self.edits.clear()
            self.say(message)
