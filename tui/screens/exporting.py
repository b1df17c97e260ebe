"""The export card: format, path, secrets; asks before a file is replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.export.files import (
    EXTENSIONS,
    Format,
    check_target,
    file_stem,
)
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..browser.context import Context
from ..settings.keys.screen_commands import EXPORTING
from ..settings.store_paths import store_files
from ..text import formats
from ..text.export_files import (
    MANY,
    Document,
    Export,
    make_redactor,
    not_live_words,
    plan_documents,
    redacted_words,
)
from ..widgets.bindings import following
from ..widgets.card import Card, keys_line
from ..widgets.text_box import TextBox

_WORDS = {
    Format.MARKDOWN: N_("Markdown · to read and to share, tools folded"),
    Format.JSONL: N_("JSONL · what Hermes itself exports, and can import"),
    Format.HTML: N_("HTML · one file that opens in any browser, with search"),
}


class ExportRequest(NamedTuple):
    """How and where to export."""

    form: Format
    path: str
    redact: bool
    force: bool
    """Replace existing files."""
    everything: bool
    """Include rewound and hidden messages."""


class ExportCard(Card[None]):
    """Asks how and where to export, and stays until that is done: what was typed is not lost when
    it fails.

    Args:
        conversations: What is exported.
        store: Their store, whose files are never replaced.
        wanted: Takes the request; calls `done` or `failed` later.
        part: Number of the messages if only those are exported that a compaction replaced; Hermes
            cannot import these.
    """

    KEYS = EXPORTING

    def __init__(
        self,
        conversations: Sequence[Conversation],
        store: Store,
        wanted: Callable[[ExportRequest], object],
        part: int | None = None,
    ) -> None:
        super().__init__()
        self._conversations, self._store, self._wanted, self._part = (
            conversations,
            store,
            wanted,
            part,
        )
        self._forms = [each for each in Format if part is None or each is not Format.JSONL]
        self._is_saving = False
        self._form = Format.MARKDOWN
        self._redact = True
        self._everything = False
        self._refused = ""

    def compose(self) -> ComposeResult:
        count = len(self._conversations)
        name = (
            one_line(formats.name(self._conversations[0]), 80)
            if count == 1
            else formats.counted(count, "conversation")
        )
        with Vertical(id="card"):
            yield Static(Content.assemble((_("Export") + "  ", "bold"), (name, "dim")))
            yield Static(id="formats")
            yield TextBox(self._proposal(), id="path", select_on_focus=False)
            yield Static(id="everything")
            yield Static(id="secrets")
            yield Static(id="verdict")
            without = ("everything",) if self._part is not None else ()
            yield keys_line(self.keys_text(_("Enter save"), without=without))

    def on_mount(self) -> None:
        self._show()

    def _proposal(self) -> str:
        many, first = len(self._conversations) > 1, self._conversations[0]
        # Not `formats.name`: what the list shows for an empty or unread conversation is no file
        # name.
        stem = MANY if many else file_stem(first.title or first.preview or first.id)
        return stem if many and self._form is Format.MARKDOWN else f"{stem}{EXTENSIONS[self._form]}"

    def _show(self) -> None:
        lines = [
            Content.styled(
                f"{'●' if each is self._form else '○'} {_(_WORDS[each])}",
                "" if each is self._form else "dim",
            )
            for each in self._forms
        ]
        self.query_one("#formats", Static).update(Content("\n").join(lines))
        self.query_one("#everything", Static).update(self._scope())
        secrets = (
            _("● secrets are taken out") if self._redact else _("○ secrets are kept as they are")
        )
        self.query_one("#secrets", Static).update(
            Content.styled(secrets, "" if self._redact else "$warning")
        )
        told = Content.styled(one_line(self._refused, 1000), "$warning")
        if self._is_saving:
            told = Content.styled(_("saving … Esc leaves this card, and the saving goes on"), "dim")
        verdict = self.query_one("#verdict", Static)
        verdict.display = bool(told)
        verdict.update(told)

    def _scope(self) -> Content:
        """Return which messages are exported."""
        if self._part is not None:
            return Content(
                ngettext(
                    "● the message that was replaced",
                    "● the {count:,} messages that were replaced",
                    self._part,
                    count=self._part,
                )
            )
        if self._form is not Format.JSONL:
            mark = "●" if self._everything else "○"
            return Content(f"{mark} " + _("also rewound and hidden messages"))
        if not self._everything:
            return Content(_("○ also rewound and compacted messages; any Hermes imports the rest"))
        every = _(
            "● also rewound and compacted messages: only Hermes 0.22 and later import them as such"
        )
        return Content.styled(every, "$warning")

    def action_format(self, by: int) -> None:
        """Choose the next format; a proposed name gets its extension."""
        box = self.query_one(Input)
        is_proposed = box.value == self._proposal()
        self._form = following(self._forms, self._form, by)
        if is_proposed:
            box.value = self._proposal()
        self._refused = ""
        self._show()

    def action_redact(self) -> None:
        """Redact secrets, or keep them."""
        self._redact = not self._redact
        self._show()

    def action_everything(self) -> None:
        """Include rewound and hidden messages, or leave them out."""
        self._everything = not self._everything and self._part is None
        self._show()

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Save, unless the file exists."""
        event.stop()
        self._save(event.value.strip(), force=False)

    def action_replace(self) -> None:
        """Save, replacing the file."""
        if self._refused:
            self._save(self.query_one(Input).value.strip(), force=True)

    def _save(self, path: str, *, force: bool) -> None:
        if self._is_saving:
            return
        request = ExportRequest(
            self._form, path or self._proposal(), self._redact, force, self._everything
        )
        if refusal := self._refusal(request):
            self._refused = refusal
            if not self._refusal(request._replace(force=True)):
                self._refused = _(
                    "{refusal} Another name, or {key} replaces it.",
                    refusal=refusal,
                    key=self.key("replace"),
                )
            self._show()
        else:
            self._is_saving, self._refused = True, ""
            self._show()
            self._wanted(request)

    def done(self) -> None:
        """Close the card: the files are written."""
        if self.is_current:
            self.dismiss(None)

    def failed(self, error: BrowseError) -> bool:
        """Show above what was typed why nothing was written.

        Returns:
            False if the card has been closed meanwhile, so that nobody would read it there.
        """
        if not self.is_current:
            return False
        self._is_saving, self._refused = False, str(error)
        self._show()
        return True

    def _refusal(self, request: ExportRequest) -> str:
        """Return why the path cannot be written to; empty if it can."""
        target = Path(request.path).expanduser()
        if target.is_dir():  # its files are checked when their names are known
            return ""
        try:
            check_target(target, force=request.force, keep=store_files(self._store.path))
        except RefusedError as refused:
            return refused.sentence
        return ""


def ask_and_export(
    context: Context,
    app: App[Any],
    conversations: Sequence[Conversation],
    part: Collection[int] | None = None,
) -> None:
    """Show the card, then export; with `part`, only the messages with these ids."""

    card = ExportCard(
        conversations,
        context.store,
        lambda request: context.start_write(_export, context, conversations, request, card, part),
        len(part) if part is not None else None,
    )
    app.push_screen(card)


async def _export(
    context: Context,
    conversations: Sequence[Conversation],
    request: ExportRequest,
    card: ExportCard,
    part: Collection[int] | None,
) -> None:
    """Write the files on the writing thread, and report where they are."""
    notes: list[str] = []
    location, store, now = context.location, context.store, context.clock()

    def work() -> tuple[list[Document], str]:
        redactor = make_redactor(location, notes.append, active=request.redact)
        opened, form, everything = OpenStore(store, location), request.form, request.everything
        detailed = opened.with_details(list(conversations))
        documents = plan_documents(detailed, form, redactor, request.path)
        not_live: Counter[State] = Counter()
        export = Export(opened, form, redactor, now, everything, part)
        for saved in export.save(documents, force=request.force):
            not_live += saved.tally.not_live
        words = [
            not_live_words(not_live, form, everything=everything),
            redacted_words(redactor),
        ]
        return documents, " · ".join(filter(None, words))

    count = formats.counted(len(conversations), "conversation")
    context.say(_("saving {conversations} …", conversations=count))
    try:
        documents, words = await context.write(work)
    except BrowseError as error:
        if not card.failed(error):
            raise
        context.say("")
        return
    first = documents[0].path.absolute()
    if len(documents) == 1:
        saved = _("saved {path}", path=first)
    else:
        saved = _("saved {count:,} files in {folder}", count=len(documents), folder=first.parent)
    card.done()
    context.say(" · ".join(filter(None, [saved, words, *notes])))
