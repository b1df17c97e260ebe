"""The trash screen: restores, checks and drops bundles."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import Restored, check_index, restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.format import Manifest
from hermes_browse.store.trash.opened import OpenedBundle
from hermes_browse.store.trash.progress import Stage
from hermes_browse.store.trash.shelf import Bundle, drop, find, list_bundles
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..commands.screen_commands import TRASH
from ..edit.change_cards import ProgressCard
from ..list.conversation_list import ConversationList
from ..list.list_model import read_first
from ..list.list_rows import FixedRows, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared.keys import KeyLine
from ..shared.lines import Paragraph, TextLine
from ..store_paths import sessions_folder, trash_folder
from ..writer import Written
from .bundles import (
    BundleRow,
    BundleScreen,
    DeletedConversation,
    DropCard,
    contents,
    read_deleted,
    tell_restored,
)

_UNTITLED = 50
"""Maximum number of untitled bundles whose conversations are read at the start."""
_SMALL = 4_000_000
"""Bundles below this many bytes are read as soon as the cursor is on them."""
_MANY = 2_000
"""Restoring at least this many messages takes seconds and shows progress."""


class TrashScreen(SubScreen):
    """Bundles, newest first."""

    ENTER = N_("open")
    HELP_TITLE = N_("Trash")
    KEYS = TRASH

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._folder = trash_folder(controllers.context.location)
        self._bundles: list[Bundle] = []
        self._marked: set[str] = set()
        self._deleted: dict[str, list[DeletedConversation]] = {}
        """Conversations of the bundles that have been read, by bundle name."""
        self._is_opening = False

    def compose(self) -> ComposeResult:
        """Compose the list of bundles and the contents of the current one."""
        yield TextLine(id="header")
        with Horizontal(id="panes"):
            yield ConversationList(id="bundles")
            with VerticalScroll(id="side", can_focus=False):
                yield Paragraph(id="contents")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read the trash."""
        self.bundles.clock = self.context.clock
        self.bundles.opens = lambda row: isinstance(row, BundleRow)
        self.set_focus(self.bundles)
        self._read()

    @property
    def bundles(self) -> ConversationList:
        """The list."""
        return self.query_one("#bundles", ConversationList)

    def _read(self) -> None:
        folder = self._folder

        def done(bundles: list[Bundle]) -> None:
            self._bundles = bundles
            self._marked &= {each.name for each in bundles}
            if self.is_whole:
                self._show()
                self._read_names([each for each in bundles if not any(each.titles[:1])][:_UNTITLED])

        self.context.writer.submit(lambda: list_bundles(folder), done)

    def _read_names(self, bundles: Sequence[Bundle]) -> None:
        """Read the conversations of small bundles, one after another; large ones are read when they
        are opened."""
        small = [
            each
            for each in bundles
            if each.bytes < _SMALL and not each.damage and each.name not in self._deleted
        ]
        now = self.context.clock()

        def work(bundle: Bundle) -> list[DeletedConversation]:
            with OpenedBundle(bundle.path) as opened:
                return read_deleted(opened, now)

        async def run() -> None:
            for each in small:
                try:
                    self._deleted[each.name] = await asyncio.to_thread(work, each)
                except BrowseError:
                    self._deleted[
                        each.name
                    ] = []  # shown without names; opening it shows the reason
                if self.is_whole:
                    self._show()

        if small:
            self.run_worker(run(), group="names", exclusive=True)

    def _show(self) -> None:
        size = formats.size(sum(each.bytes for each in self._bundles))
        count = formats.counted(len(self._bundles), "bundle")
        summary = _("{bundles} · {size} in {folder}").format(
            bundles=count, size=size, folder=self._folder
        )
        title = " " + _("trash") + "  "
        self.line("header").update(
            Content.assemble((title, "bold"), (one_line(summary, 300), "dim"))
        )
        rows = [
            BundleRow(each, each.name in self._marked, self._deleted.get(each.name, ()))
            for each in self._bundles
        ]
        empty = [NoteRow(_("The trash is empty."))]
        self.bundles.show(FixedRows(rows or empty))
        if self._current is not None:
            self._show_contents(contents(self._current, self.context.clock()))
        if not rows:
            self._show_contents(
                Content.styled(_("Deleted conversations come here, complete."), "dim")
            )

    def _show_contents(self, content: Content) -> None:
        self.query_one("#contents", Paragraph).update(content)

    @property
    def _current(self) -> BundleRow | None:
        row = self.bundles.current
        return row if isinstance(row, BundleRow) else None

    def _targets(self) -> list[Bundle]:
        marked = [each for each in self._bundles if each.name in self._marked]
        return marked or ([self._current.bundle] if self._current is not None else [])

    @on(ConversationList.Highlighted, "#bundles")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show the contents of the bundle under the cursor."""
        event.stop()
        if isinstance(event.row, BundleRow):
            self._show_contents(contents(event.row, self.context.clock()))
            self._read_names([event.row.bundle])

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Stop the event; the rows have no missing details."""
        event.stop()

    @on(ConversationList.Selected, "#bundles")
    def selected(self, event: ConversationList.Selected) -> None:
        """Open a bundle."""
        event.stop()
        if not isinstance(event.row, BundleRow) or self._is_opening:
            return
        bundle, title = event.row.bundle, event.row.title
        controllers, lines = self.controllers, max(self.size.height, 20)
        now = self.context.clock()

        def prepare() -> tuple[OpenedBundle, Catalog, list[Conversation]]:
            opened = OpenedBundle(bundle.path)
            try:
                return opened, *read_first(Store(opened.path), now, lines, View.ALL)
            except BaseException:
                opened.close()
                raise

        async def run() -> None:
            try:
                opened, first, shown = await asyncio.to_thread(prepare)
            except BrowseError as error:
                self.context.failed(error)
                return
            finally:
                self._is_opening = False
            if self.is_current:
                self.app.push_screen(
                    BundleScreen(controllers, opened, first, shown, title), self._came_back
                )
            else:
                opened.close()

        self._is_opening = True
        self.say(_("reading {name} …").format(name=bundle.name))
        self.run_worker(run(), group="bundle")

    def _came_back(self, _result: object) -> None:
        """Read the trash again: something may have been restored."""
        if self.is_whole:
            self.say("")
            self._read()

    def action_mark(self) -> None:
        """Mark or unmark the current bundle."""
        if self._current is not None:
            self._marked ^= {self._current.bundle.name}
            self._show()
            self.bundles.action_move(1)

    def action_restore(self) -> None:
        """Restore the marked bundles, or the current one."""
        bundles = self._targets()
        if not bundles:
            return
        context, folder = self.context, self._folder
        store, now, files = context.store, context.clock(), sessions_folder(context.location)
        text = ngettext("restoring 1 bundle …", "restoring {count:,} bundles …", len(bundles))
        self.say(text.format(count=len(bundles)))
        progress = self._show_progress(bundles)

        def tell(number: int, stage: Stage) -> None:
            if progress is not None:
                share = (number + min(1.0, stage.done / max(stage.total, 1))) / len(bundles)
                text = _("{number:,} of {total:,} · {stage}")
                text = text.format(number=number, total=len(bundles), stage=stage.words)
                context.post(Written(lambda: progress.show(share, text)))

        def stop() -> bool:
            return context.writer.stopping.is_set() or (
                progress is not None and progress.stopped.is_set()
            )

        put_back = partial(
            restore,
            store,
            folder,
            now=now,
            sessions_folder=files,
            stop=stop,
            check=len(bundles) == 1,
        )

        def work() -> tuple[list[Restored], BrowseError | None, tuple[str, ...]]:
            done: list[Restored] = []
            failure: BrowseError | None = None
            for number, each in enumerate(bundles):
                try:
                    done.append(put_back(each.name, tell=partial(tell, number)))
                except BrowseError as error:
                    failure = error
                    break
            return done, failure, check_index(store) if done and len(bundles) > 1 else ()

        def finished(result: tuple[list[Restored], BrowseError | None, tuple[str, ...]]) -> None:
            restored, error, notes = result
            if progress is not None:
                progress.finish()
            if restored:
                tell_restored(self.controllers, restored, notes)
            if error is not None:
                context.failed(error)
            self._marked.clear()
            if self.is_whole:
                self._read()

        context.writer.submit(work, finished)

    def _show_progress(self, bundles: Sequence[Bundle]) -> ProgressCard | None:
        messages = sum(each.messages for each in bundles)
        if messages < _MANY:
            return None
        count = ngettext("1 bundle to restore", "{count:,} bundles to restore", len(bundles))
        title = f"{count.format(count=len(bundles))} · {formats.counted(messages, 'message')}"
        progress = ProgressCard(title)
        self.app.push_screen(progress)
        return progress

    def action_check(self) -> None:
        """Verify the checksums of a bundle."""
        if self._current is None:
            return
        folder, name = self._folder, self._current.bundle.name

        def done(manifest: Manifest) -> None:
            text = _("{name} is complete: {count:,} messages, all checksums match")
            self.say(text.format(name=name, count=manifest.messages))

        self.say(_("reading {name} …").format(name=name))
        self.context.writer.submit(lambda: verify(find(folder, name)), done)

    def action_drop(self) -> None:
        """Remove the marked bundles, or the current one, for good after a confirmation."""
        bundles = self._targets()
        if not bundles:
            return
        folder, count = self._folder, len(bundles)

        def work() -> None:
            for bundle in bundles:
                drop(folder, bundle.name)

        def done(_dropped: None) -> None:
            text = ngettext(
                "dropped 1 bundle for good", "dropped {count:,} bundles for good", count
            )
            self.say(text.format(count=count))
            self._marked.clear()
            if self.is_whole:
                self._read()

        def decided(go: bool | None) -> None:
            if go:
                self.context.writer.submit(work, done)

        self.app.push_screen(DropCard(bundles), decided)
