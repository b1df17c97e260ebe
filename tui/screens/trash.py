"""The trash screen: restores, checks and drops bundles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Stopped
from hermes_browse.store.edit.restore import Restored
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.progress import Stage
from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.bundle import read_bundle_facts, verify
from hermes_browse.store.trash.shelf import Bundle, find, remove_bundle
from hermes_browse.store.wording import N_, _, ngettext

from ..browser.edit.long_writes import Tell, write_in_sight
from ..browser.list.conversation_list import ConversationList
from ..browser.list.list_model import FirstPage
from ..settings.keys.screen_commands import TRASH
from ..text import formats
from ..widgets.lines import TextLine, WrappedText
from ..widgets.list_rows import FixedRows, ListRow, NoteRow
from .bundles import (
    BUNDLE_COLUMNS,
    BundleRow,
    BundleScreen,
    DropCard,
    contents,
    tell_restored,
)
from .sub_screen import ListScreen


class TrashScreen(ListScreen):
    """Bundles, newest first."""

    ENTER = N_("open")
    KEYS = TRASH
    TITLE = N_("trash")

    _bundles: Sequence[Bundle] = ()
    _marked: frozenset[str] = frozenset()
    """Names of bundles."""

    def content(self) -> ComposeResult:
        yield Horizontal(
            Vertical(TextLine(id="bundles-head"), ConversationList(id="bundles"), id="left"),
            VerticalScroll(WrappedText(id="contents"), id="side", can_focus=False),
            id="panes",
        )

    async def read_rows(self) -> None:
        self._bundles = await self.write(self.main.connect().deletions)  # after what is under way
        self._marked &= {each.name for each in self._bundles}
        self._show()

    def _show(self) -> None:
        size = formats.size(sum(bundle.bytes for bundle in self._bundles))
        copies = sum(bundle.is_copy for bundle in self._bundles)
        deletions = len(self._bundles) - copies
        folder = trash_folder(self.main.location)
        bundles = formats.listed(
            formats.counted(deletions, "bundle") if deletions or not copies else "",
            formats.counted(copies, "copy") if copies else "",
        )
        summary = _("{bundles} · {size} in {folder}", bundles=bundles, size=size, folder=folder)
        self.show_title(one_line(summary, 300))
        rows = [BundleRow(bundle, bundle.name in self._marked) for bundle in self._bundles]
        self.rows.show(FixedRows(rows or [NoteRow(_("The trash is empty."))]))
        self.offer_keys(are_of_use=bool(rows))
        self._show_contents()

    def _show_contents(self) -> None:
        row = self.rows.current
        about = self.query_one("#contents", WrappedText)
        if isinstance(row, BundleRow):
            about.update(contents(row))
        else:
            about.update(Content.styled(_("Deleted conversations come here, complete."), "dim"))

    def heads_shown(self) -> None:
        if self._bundles:
            self.show_head("bundles-head", BUNDLE_COLUMNS, _("conversation"))
        else:
            self.show_line("bundles-head", "")

    def _targets(self) -> list[Bundle]:
        marked = [each for each in self._bundles if each.name in self._marked]
        return marked or self._here()

    def _here(self) -> list[Bundle]:
        """Return the bundle under the cursor; say so if there is none."""
        row = self.rows.current
        if isinstance(row, BundleRow):
            return [row.bundle]
        self.say(_("no deletion here"))
        return []

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        self._show_contents()

    def chose(self, row: ListRow) -> None:
        if isinstance(row, BundleRow):
            self.say(_("reading {name} …", name=row.bundle.name))
            self.start("bundle", self._open, row)

    async def _open(self, row: BundleRow) -> None:
        bundle = row.bundle

        def read() -> FirstPage:
            read_bundle_facts(bundle.path)
            return self.main.first_page(Store(bundle.path), View.ALL)

        first = await self.call(read)
        if self.app.screen is self:
            self.say("")
            self._is_away = True  # what may be restored there is read on the way back
            self.app.push_screen(BundleScreen(self.main, bundle, first, row.title))

    def action_mark(self) -> None:
        """Mark or unmark the current bundle."""
        for bundle in self._here():
            self._marked ^= {bundle.name}
            self._show()
            self.rows.action_move(1)

    def action_restore(self) -> None:
        """Restore the marked bundles, or the current one."""
        if bundles := self._targets():
            self.main.start_write(self._restore, bundles)

    async def _restore(self, bundles: Sequence[Bundle]) -> None:
        main = self.main
        store = main.connect()
        total = len(bundles)
        restored: list[Restored] = []

        def restore_all(tell: Tell, stopped: Stopped) -> None:
            def told(stage: Stage) -> None:
                number = len(restored)
                share = (number + min(1.0, stage.done / max(stage.total, 1))) / total
                words = stage.words
                tell(
                    share,
                    _("{number:,} of {total:,} · {stage}", number=number, total=total, stage=words),
                )

            for each in bundles:
                restored.append(store.restore(each.name, check=False, stopped=stopped, tell=told))

        title = ngettext("restoring 1 deletion", "restoring {count:,} deletions", total)
        messages = sum(each.messages for each in bundles)
        try:
            await write_in_sight(main, title, messages, restore_all)
        finally:  # what is back is told and shown, though the rest could not be restored
            if restored:
                tell_restored(main, restored, await main.write(store.check_index))
            self._marked = frozenset()
            if self.is_whole:
                self.catalog_changed()

    def action_check(self) -> None:
        """Verify the checksum of a bundle."""
        for bundle in self._here():
            self.say(_("reading {name} …", name=bundle.name))
            self.start("check", self._check, bundle.name)

    async def _check(self, name: str) -> None:
        folder = trash_folder(self.main.location)
        facts = await self.write(lambda: verify(find(folder, name)))
        self.say(
            _(
                "{name} is complete: {count:,} messages, the checksum matches",
                name=name,
                count=facts.messages,
            )
        )

    def action_drop(self) -> None:
        """Remove the marked bundles, or the current one, for good after a confirmation."""
        if bundles := self._targets():
            self.main.start_write(self._drop, bundles)

    async def _drop(self, bundles: Sequence[Bundle]) -> None:
        main = self.main
        if not await main.ask(DropCard(bundles)):
            return
        try:
            for bundle in bundles:
                await main.write(partial(remove_bundle, bundle.path))
        finally:  # what is gone is not shown, though the rest could not be removed
            self._marked = frozenset()
            if self.is_whole:
                self.catalog_changed()
        main.say(
            ngettext(
                "deleted 1 deletion for good",
                "deleted {count:,} deletions for good",
                len(bundles),
            )
        )
