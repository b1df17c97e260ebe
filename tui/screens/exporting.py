"""The export card: format, path, secrets; asks before a file is replaced."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import var
from textual.widgets import Input, Static

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.export.files import (
    EXTENSIONS,
    check_target,
    file_stem,
)
from hermes_browse.store.export.redact import make_redactor
from hermes_browse.store.export.source import Format
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..browser.context import Context
from ..settings.keys.screen_commands import EXPORTING
from ..text import formats
from ..text.export_files import (
    MANY,
    FileExport,
    format_by_name,
    kept_files,
    redacted_words,
)
from ..widgets.bindings import following
from ..widgets.card import Card
from ..widgets.lines import TextBox

_WORDS = {
    Format.MARKDOWN: N_("Markdown · to read and to share, tools folded"),
    Format.JSONL: N_("JSONL · what Hermes itself exports, and can import"),
    Format.HTML: N_("HTML · one file that opens in any browser, with search"),
}


def _choice(text: str, is_chosen: bool) -> Content:
    return Content.styled(f"{'●' if is_chosen else '○'} {text}", "" if is_chosen else "dim")


def _switch(text: str, is_on: bool, look_off: str = "dim") -> Content:
    return Content.styled(f"[{'x' if is_on else ' '}] {text}", "" if is_on else look_off)


class ExportCard(Card[None]):
    """Asks how and where to export, and stays until that is done: what was typed is not lost when
    it fails.

    Args:
        context: The screen that exports.
        conversations: What is exported.
        part: The ids of the messages if only those are exported that a compaction replaced; Hermes
            cannot import these.
    """

    ENTER = N_("Enter save")
    KEYS = EXPORTING

    format = var(Format.MARKDOWN, init=False)
    redacts = var(True, init=False)
    everything = var(False, init=False)
    refused = var("", init=False)
    """Why it was not saved."""
    is_saving = var(False, init=False)

    def __init__(
        self,
        context: Context,
        conversations: Sequence[Conversation],
        part: Collection[int] | None = None,
    ) -> None:
        super().__init__()
        self._main = context
        self._conversations = conversations
        self._part = part
        self._formats = [each for each in Format if part is None or each is not Format.JSONL]

    def content(self) -> ComposeResult:
        name = one_line(formats.name(self._conversations[0]), 80)
        if (count := len(self._conversations)) > 1:
            name = formats.counted(count, "conversation")
        yield Static(Content.assemble((_("Export") + "  ", "bold"), (name, "dim")))
        yield Static(id="formats")
        yield TextBox(self._proposal(), id="path", select_on_focus=False)
        yield Static(id="folder")
        yield Static(id="everything")
        yield Static(id="secrets")
        yield Static(id="verdict")

    def keys_text(self) -> str:
        return self.named_keys(without=("everything",) if self._part is not None else ())

    def on_mount(self) -> None:
        self._show()

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Show in which folder that is. A name that ends as one of another format chooses that one;
        a refusal was of the name before."""
        self.refused = ""
        named = format_by_name(event.value)
        if named in self._formats:
            self.format = named
        self._main.start("folder", self._show_folder, event.value or self._proposal())

    async def _show_folder(self, path: str) -> None:
        """Show the folder that a file at a path is in, or the path itself if that is one; `?` if the
        current folder is gone."""

        def folder() -> str:
            try:
                absolute = os.path.abspath(os.path.expanduser(path))
            except OSError:
                return "?"
            return absolute if os.path.isdir(absolute) else os.path.dirname(absolute)

        words = _("in {folder}", folder=one_line(await self._main.call(folder), 300))
        if self.is_attached:
            self.query_one("#folder", Static).update(Content.styled(words, "dim"))

    def _proposal(self) -> str:
        many = len(self._conversations) > 1
        first = self._conversations[0]
        # Not `formats.name`: what the list shows for an empty or unread conversation is no file
        # name.
        stem = MANY if many else file_stem(first.title or first.preview or first.id)
        is_folder = many and self.format is Format.MARKDOWN
        return stem if is_folder else f"{stem}{EXTENSIONS[self.format]}"

    def _show(self) -> None:
        forms = [_choice(_(_WORDS[each]), each is self.format) for each in self._formats]
        words = _("secrets are taken out") if self.redacts else _("secrets are kept as they are")
        verdict = Content.styled(one_line(self.refused, 1000), "$warning")
        if self.is_saving:
            verdict = Content.styled(
                _("saving … Esc leaves this card, and the saving goes on"), "dim"
            )
        texts = {
            "formats": Content("\n").join(forms),
            "everything": self._scope(),
            "secrets": _switch(words, self.redacts, "$warning"),
            "verdict": verdict,
        }
        for name, text in texts.items():
            self.query_one(f"#{name}", Static).update(text)
        self.query_one("#verdict").display = bool(verdict)

    watch_format = watch_redacts = watch_everything = watch_refused = watch_is_saving = _show

    def _scope(self) -> Content:
        """Return which messages are exported."""
        if self._part is not None:
            words = ngettext(
                "the message that was replaced",
                "the {count:,} messages that were replaced",
                len(self._part),
            )
            return Content(f"    {words}")
        words = _("also rewound and hidden messages")
        look = ""
        if self.format is Format.JSONL and self.everything:
            words = _("also rewound and compacted: only Hermes 0.22 and later import them as such")
            look = "$warning"
        return _switch(words, self.everything).stylize(look)

    def action_format(self, by: int) -> None:
        """Choose the next format; a proposed name, or one that ends as a format, gets its
        extension."""
        box = self.query_one(Input)
        is_proposed = box.value == self._proposal()
        stem = box.value if format_by_name(box.value) is None else os.path.splitext(box.value)[0]
        self.format = following(self._formats, self.format, by)
        if is_proposed:
            box.value = self._proposal()
        elif stem != box.value:
            box.value = stem + EXTENSIONS[self.format]
        self.refused = ""

    def validate_everything(self, everything: bool) -> bool:
        """A part has no rewound and hidden messages."""
        return everything and self._part is None

    @on(Input.Submitted)
    def submitted(self) -> None:
        self._save()

    def action_replace(self) -> None:
        if self.refused:
            self._save(force=True)

    def _save(self, *, force: bool = False) -> None:
        """Save, unless the file exists and may not be replaced."""
        if self.is_saving:
            return
        path = self.query_one(Input).value.strip() or self._proposal()
        self.refused = self._refusal(path, force=force)
        if not self.refused:
            self.is_saving = True
            self._main.start_write(self._export, path, force)
        elif not self._refusal(path, force=True):
            self.refused = _(
                "{refusal} Another name, or {key} replaces it.",
                refusal=self.refused,
                key=self.key("replace"),
            )

    def _refusal(self, path: str, *, force: bool) -> str:
        """Return why a path cannot be written to; empty if it can."""
        target = os.path.expanduser(path)  # a `~name` of no user stays as it is
        if os.path.isdir(target):  # its files are checked when their names are known
            return ""
        try:
            check_target(Path(target), force=force, keep=kept_files(self._main.location))
        except BrowseError as error:
            return error.sentence
        return ""

    async def _export(self, path: str, force: bool) -> None:
        """Write the files on the writing thread, and report where they are."""
        context = self._main
        conversations = list(self._conversations)
        chosen = self.format
        everything = self.everything
        redacts = self.redacts
        notes: list[str] = []

        def work() -> tuple[list[Path], str]:
            redactor = make_redactor(context.location, notes.append, active=redacts)
            opened = context.connect()
            now = context.clock()
            export = FileExport(opened, chosen, redactor, now, everything, self._part)
            present = conversations
            if self._part is None:  # they may have other parts than when the card opened
                present = opened.conversations_of([each.id for each in conversations], now)
            documents = export.plan(opened.with_details(present), path)
            saved = export.save(documents, keep=kept_files(context.location), force=force)
            paths = [document.path for document, _counts, _bytes in saved]
            return paths, formats.joined(export.not_live_words(), redacted_words(redactor))

        count = formats.counted(len(conversations), "conversation")
        context.say(_("saving {conversations} …", conversations=count))
        try:
            paths, words = await context.write(work)
        except BrowseError as error:
            if not self.is_current:  # nobody would read it there
                raise
            context.say("")
            self.is_saving = False
            self.refused = str(error)
            return
        first = paths[0].absolute()
        many = len(paths)
        saved = _("saved {path}", path=first)
        if many > 1:
            saved = _("saved {count:,} files in {folder}", count=many, folder=first.parent)
        if self.is_current:
            self.dismiss(None)
        context.say(formats.joined(saved, words, *notes))
