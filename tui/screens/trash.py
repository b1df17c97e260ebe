"""The trash: what was deleted and when, put back whole, checked, or dropped for good after a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.manifest import Manifest
from hermes_browse.store.trash.shelf import Bundle, check, drop, list_bundles

from .. import formats, header
from ..clean_rows import BundleRow
from ..marks import Undoable
from ..places import sessions_folder, trash_folder
from ..rows import FixedRows, NoteRow
from ..widgets.conversation_list import ConversationList
from ..widgets.keys import KeyLine
from ..widgets.line import TextLine
from ..writer import Written
from .card import counted
from .sub_screen import BACK, SubScreen

if TYPE_CHECKING:
    from hermes_browse.store.trash.stages import Stage
    from hermes_browse.store.write.restore import Restored

    from .main import MainScreen
    from .progress import ProgressScreen

_SHOWN = 200
_MANY = 2_000
"""Messages from which on progress is shown: to put so many back takes seconds."""


class TrashScreen(SubScreen):
    """Bundles, newest first."""

    HELP_TITLE = "Trash"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "restore", "restore", tooltip="Put the marked bundles back, or the current one"),
        Binding("space", "mark", "mark", tooltip="Mark this bundle, or unmark it"),
        Binding("c", "check", "check", tooltip="Read the whole bundle against its sums"),
        Binding("D", "drop", "drop", tooltip="Remove for good, after a question"),
        *BACK,
    ]

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._folder = trash_folder(main.location)
        self._bundles: list[Bundle] = []
        self._marked: set[str] = set()

    def compose(self) -> ComposeResult:
        """Bundles, and what is in the current one."""
        yield TextLine(id="header")
        with Horizontal(id="panes"):
            yield ConversationList(id="bundles")
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="contents")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read the trash."""
        self.bundles.clock = self.main.clock
        self.set_focus(self.bundles)
        self._read()

    @property
    def bundles(self) -> ConversationList:
        """The list."""
        return self.query_one("#bundles", ConversationList)

    def _read(self) -> None:
        folder = self._folder

        def done(found: list[Bundle]) -> None:
            self._bundles = found
            self._marked &= {each.name for each in found}
            if self.is_whole:
                self._show()

        self.main.writer.submit(lambda: list_bundles(folder), done, self.main.failed)

    def _show(self) -> None:
        size = formats.size(sum(each.bytes for each in self._bundles))
        told = f"{counted(len(self._bundles), 'bundle')} · {size} in {self._folder}"
        self.line("header").update(Content.assemble((" trash  ", "bold"), (one_line(told, 300), "dim")))
        rows = [BundleRow(each, each.name in self._marked) for each in self._bundles]
        empty = [NoteRow("The trash is empty.")]
        self.bundles.show(FixedRows(rows or empty))
        if not rows:
            told = "What D deletes comes here, whole. Nothing leaves it by itself."
            self.query_one("#contents", Static).update(Content.styled(told, "dim"))

    def _targets(self) -> list[Bundle]:
        row = self.bundles.current
        current = [row.bundle] if isinstance(row, BundleRow) else []
        return [each for each in self._bundles if each.name in self._marked] or current

    @on(ConversationList.Highlighted, "#bundles")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show what is in it."""
        event.stop()
        if isinstance(event.row, BundleRow):
            self.query_one("#contents", Static).update(contents(event.row.bundle))

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """They are complete."""
        event.stop()

    @on(ConversationList.Selected, "#bundles")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter does nothing that changes the store."""
        event.stop()
        self.tell(header.status("r puts it back", ""))

    def action_mark(self) -> None:
        """Mark, or unmark."""
        row = self.bundles.current
        if isinstance(row, BundleRow):
            self._marked ^= {row.bundle.name}
            self._show()
            self.bundles.action_move(1)

    def action_restore(self) -> None:
        """Put back, bundle by bundle."""
        from hermes_browse.store.write.restore import check_index, restore

        meant = self._targets()
        if not meant:
            return
        main, folder = self.main, self._folder
        store, now, files = main.store, main.clock(), sessions_folder(main.location)
        self.tell(header.status(f"putting back {counted(len(meant), 'bundle')} …", ""))

        progress = self._show_progress(meant)

        def tell(number: int, stage: Stage) -> None:
            if progress is not None:
                share = (number + min(1.0, stage.done / max(stage.total, 1))) / len(meant)
                words = f"{number:,} of {len(meant):,} · {stage.words}"
                main.post_message(Written(lambda: progress.show(share, words)))

        def stop() -> bool:
            return main.writer.stopping.is_set() or (progress is not None and progress.stopped.is_set())

        put_back = partial(restore, store, folder, now=now, sessions_folder=files, stop=stop, check=len(meant) == 1)

        def work() -> tuple[list[Restored], BrowseError | None, tuple[str, ...]]:
            done: list[Restored] = []
            failure: BrowseError | None = None
            for number, each in enumerate(meant):
                try:
                    done.append(put_back(each.name, tell=partial(tell, number)))
                except BrowseError as error:
                    failure = error
                    break
            return done, failure, check_index(store) if done and len(meant) > 1 else ()

        def finished(result: tuple[list[Restored], BrowseError | None, tuple[str, ...]]) -> None:
            restored, error, notes = result
            if progress is not None:
                progress.finish()
            if restored:
                self._restored(restored, notes)
            if error is not None:
                main.failed(error)
            self._marked.clear()
            if self.is_whole:
                self._read()

        main.writer.submit(work, finished, main.failed)

    def _show_progress(self, meant: Sequence[Bundle]) -> ProgressScreen | None:
        messages = sum(each.messages for each in meant)
        if messages < _MANY:
            return None
        from .progress import ProgressScreen

        progress = ProgressScreen(f"{counted(len(meant), 'bundle')} to be put back · {counted(messages, 'message')}")
        self.app.push_screen(progress)
        return progress

    def _restored(self, restored: Sequence[Restored], more: Sequence[str]) -> None:
        from hermes_browse.store.write.delete import delete

        main, folder = self.main, self._folder
        store, files = main.store, sessions_folder(main.location)
        sessions = tuple(session for each in restored for session in each.sessions)
        messages = sum(each.messages for each in restored)
        notes = [*(note for each in restored for note in each.notes), *more]

        def back() -> tuple[str, tuple[str, ...]]:
            done = delete(store, sessions, folder, sessions_folder=files)
            return done.sentence, done.sessions

        sentence = f"put back {counted(len(sessions), 'session')}, {counted(messages, 'message')}"
        main.changing.done(Undoable(" · ".join([sentence, *notes]), back), sessions)

    def action_check(self) -> None:
        """Read a bundle against its sums."""
        row = self.bundles.current
        if not isinstance(row, BundleRow):
            return
        folder, name = self._folder, row.bundle.name

        def done(manifest: Manifest) -> None:
            self.tell(header.status(f"{name} is whole: {manifest.messages:,} messages, every sum agrees", ""))

        self.tell(header.status(f"reading {name} …", ""))
        self.main.writer.submit(lambda: check(folder, name), done, self.main.failed)

    def action_drop(self) -> None:
        """Remove for good, after a question."""
        meant = self._targets()
        if not meant:
            return
        from .dropping import DropScreen

        folder = self._folder

        def work() -> int:
            for each in meant:
                drop(folder, each.name)
            return len(meant)

        def done(count: int) -> None:
            self.tell(header.status(f"dropped {counted(count, 'bundle')} for good", ""))
            self._marked.clear()
            if self.is_whole:
                self._read()

        def decided(go: bool | None) -> None:
            if go:
                self.main.writer.submit(work, done, self.main.failed)

        self.app.push_screen(DropScreen(meant), decided)


def contents(bundle: Bundle) -> Content:
    """What is in a bundle, line by line."""
    lines = [Content.styled(one_line(bundle.title or bundle.name, 200), "bold")]
    if bundle.damage:
        lines.append(Content.styled(f"damaged: {one_line(bundle.damage, 300)}", "$error"))
    facts = [
        f"{counted(len(bundle.conversations), 'conversation')} · {counted(len(bundle.sessions), 'session')} · "
        f"{counted(bundle.messages, 'message')}",
        f"deleted {formats.day(bundle.created_at)}, {formats.clock(bundle.created_at)} · {formats.size(bundle.bytes)}",
    ]
    if bundle.restored_at is not None:
        facts.append(f"put back {formats.day(bundle.restored_at)}; the bundle stays until it is dropped")
    facts += [f"from {one_line(bundle.store, 300)}" if bundle.store else "", bundle.name, ""]
    lines += [Content.styled(fact, "dim") for fact in facts]
    tips = set(bundle.conversations)
    for session in bundle.sessions[:_SHOWN]:
        lines.append(Content.assemble(("◆ " if session in tips else "  ", "$accent"), one_line(session, 100)))
    if len(bundle.sessions) > _SHOWN:
        lines.append(Content.styled(f"  … and {len(bundle.sessions) - _SHOWN:,} more", "dim"))
    return Content("\n").join(lines)
