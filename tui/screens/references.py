"""The card of what a message refers to: images to look at, links to open or to copy, paths to copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.images import read_image
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import browser, clipboard, pictures
from ..commands.screens import REFERENCES
from ..context import Context
from ..pictures import Pictures
from ..references import Kind, Reference
from .card import Card, keys_line

_UNKNOWN = N_("not an image known here; & shows the row as it is stored")
_WORDS = {Kind.IMAGE: N_("image"), Kind.LINK: N_("link"), Kind.PATH: N_("path")}


def _counted(kind: Kind, count: int) -> str:
    """`1 image`, `12 links`."""
    match kind:
        case Kind.IMAGE:
            words = ngettext("1 image", "{count:,} images", count)
        case Kind.LINK:
            words = ngettext("1 link", "{count:,} links", count)
        case Kind.PATH:
            words = ngettext("1 path", "{count:,} paths", count)
    return words.format(count=count)


class ReferencesScreen(Card[None]):
    """Shows them; stays until it is left.

    Args:
        context: Whose terminal a browser of text is lent.
        pictures: Keeps the files of images.
        title: Of the message, printable.
        found: At least one.
    """

    AUTO_FOCUS = "#references"
    KEYS = REFERENCES

    def __init__(self, context: Context, pictures: Pictures, title: str, found: Sequence[Reference]) -> None:
        super().__init__()
        self.context, self._pictures, self._title, self._found = context, pictures, title, found

    def compose(self) -> ComposeResult:
        """Title, references, keys."""
        kinds = [each.kind for each in self._found]
        counts = [_counted(kind, kinds.count(kind)) for kind in Kind if kind in kinds]
        with Vertical(id="card"):
            yield Static(Content.assemble((self._title, "bold"), (f"  {' · '.join(counts)}", "dim")))
            yield OptionList(*map(self._row, self._found), id="references", markup=False)
            yield keys_line(self.told_keys(_("↵ open"), without=() if Kind.IMAGE in kinds else ("show-here",)))

    def _row(self, reference: Reference) -> Option:
        shown = one_line(reference.target, 2000)
        word = _(_WORDS[reference.kind]) + "  "
        label = f"  {reference.label}" if reference.label else ""
        is_copied = reference.kind is Kind.LINK and not reference.can_be_opened
        note = "  " + _("is only copied") if is_copied else ""
        return Option(Content.assemble((word, "dim"), shown, (label + note, "dim")))

    @property
    def _current(self) -> Reference | None:
        index = self.query_one(OptionList).highlighted
        return self._found[index] if index is not None else None

    def _tell(self, text: str) -> None:
        if self.is_attached:
            self.answer(one_line(text, 300))

    def _tell_copies(self, text: str) -> None:
        """What went wrong, and the key that copies instead.

        Args:
            text: Translated, with the place of the key.
        """
        self._tell(text.format(key=self.key("copy")))

    def action_move(self, by: int) -> None:
        """Up and down."""
        options = self.query_one(OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_copy(self) -> None:
        """Put the target on the clipboard, and say by which way."""
        reference = self._current
        if reference is not None and reference.number < 0:
            self.run_worker(self._copy(reference), group="reference", exclusive=True)
        elif reference is not None:
            self._tell(_("an embedded image has no path to copy · ↵ opens it"))

    async def _copy(self, reference: Reference, before: str = "") -> None:
        route = await clipboard.copy(reference.target, self.app.copy_to_clipboard)
        word = _(_WORDS[reference.kind])
        self._tell(f"{before}{word} {route}")

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click: open what may be opened, copy the rest."""
        event.stop()
        self.run_worker(self._open(self._found[event.option_index]), group="reference", exclusive=True)

    async def _open(self, reference: Reference) -> None:
        if reference.kind is Kind.IMAGE:
            self._with_file(reference, self._outside)
            return
        if not reference.can_be_opened:
            why = "" if reference.kind is Kind.PATH else _("not of the web: ")
            await self._copy(reference, why)
            return
        in_terminal = await asyncio.to_thread(browser.takes_the_terminal)
        if in_terminal is None:
            self._tell_copies(_("no browser on this machine · {key} copies"))
        elif in_terminal:
            try:
                with self.context.host.lent():
                    went = browser.open_here(reference.target)
            except SuspendNotSupported:
                self._tell_copies(_("the terminal cannot be handed over here · {key} copies"))
                return
            if went:
                self._tell(_("back from the browser"))
            else:
                self._tell_copies(_("the browser did not take it · {key} copies"))
        else:
            self._tell(_("opening …"))
            went = await asyncio.to_thread(browser.open_quietly, reference.target)
            if went:
                self._tell(_("handed to the system's browser"))
            else:
                self._tell_copies(_("no browser took it · {key} copies"))

    # Images

    def action_show_here(self) -> None:
        """Draw the image on the terminal, where it can be done."""
        reference = self._current
        if reference is None or reference.kind is not Kind.IMAGE:
            self._tell(_("not an image"))
        elif not pictures.can_show():
            self._tell(_(pictures.HOW_TO_GET))
        else:
            self._with_file(reference, self._here)

    def _with_file(self, reference: Reference, then: Callable[[Path], None]) -> None:
        """Have the file of an image, written for an embedded one, and go on."""
        if reference.number < 0:
            then(Path(reference.target).expanduser())
            return

        def done(data: bytes | None) -> None:
            path = self._pictures.keep(data) if data is not None else None
            if path is None:
                self._tell(_(_UNKNOWN))
            elif self.is_attached:
                then(path)

        self.context.page_worker.submit(
            "image",
            lambda reader: read_image(reader, reference.message_id, reference.number),
            done,
            self.context.failed,
        )

    def _outside(self, path: Path) -> None:
        async def work() -> None:
            self._tell(await asyncio.to_thread(pictures.open_outside, path))

        self.run_worker(work(), group="reference", exclusive=True)

    def _here(self, path: Path) -> None:
        try:
            with self.context.host.lent():
                wrong = pictures.show_here(path)
        except SuspendNotSupported:
            wrong = _("the terminal cannot be handed over here")
        self._tell(wrong or _("back from {name}").format(name=path.name))
