"""The card that saves conversations: format, place, secrets; asks before it replaces anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.export.files import EXTENSIONS, Format, check_target, export_pieces, file_stem
from hermes_browse.store.export.source import Tally
from hermes_browse.store.messages.models import State
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..commands.screens import EXPORTING
from ..context import Context
from ..screens.card import Card, keys_line
from ..shared.text_box import TextBox
from ..store_paths import store_files
from ..version import version
from .documents import MANY, Document, make_redactor, not_live_words, plan_documents, redacted_words, save

_ORDER = list(Format)
_WORDS = {
    Format.MARKDOWN: N_("Markdown · to read and to share, tools folded"),
    Format.JSONL: N_("JSONL · what Hermes itself exports, and can import"),
    Format.HTML: N_("HTML · one file that opens in any browser, with search"),
}


def _conversations(count: int) -> str:
    return ngettext("1 conversation", "{count:,} conversations", count).format(count=count)


class Wish(NamedTuple):
    """What the user wants."""

    form: Format
    path: str
    redact: bool
    force: bool
    everything: bool = False


class ExportScreen(Card[None]):
    """Asks how and where to, and stays until it is saved: what was typed is not lost where that fails.

    Args:
        conversations: Which.
        store: Their store, whose files are never replaced.
        wanted: Takes the answer; `done` or `failed` answers that.
    """

    KEYS = EXPORTING

    def __init__(self, conversations: Sequence[Conversation], store: Store, wanted: Callable[[Wish], None]) -> None:
        super().__init__()
        self._conversations, self._store, self._wanted = conversations, store, wanted
        self._is_saving = False
        self._form = Format.MARKDOWN
        self._redact = True
        self._everything = False
        self._refused = ""

    def compose(self) -> ComposeResult:
        """Formats, path, secrets."""
        count = len(self._conversations)
        name = one_line(formats.name(self._conversations[0]), 80) if count == 1 else _conversations(count)
        with Vertical(id="card"):
            yield Static(Content.assemble((_("Export") + "  ", "bold"), (name, "dim")))
            yield Static(id="formats")
            yield TextBox(self._proposal(), id="path", select_on_focus=False)
            yield Static(id="everything")
            yield Static(id="secrets")
            yield Static(id="verdict")
            yield keys_line(self.told_keys(_("Enter save")))

    def on_mount(self) -> None:
        """Show the choices."""
        self._show()

    def _proposal(self) -> str:
        many, first = len(self._conversations) > 1, self._conversations[0]
        # What stands in the list where nothing was said, or has not been read yet, is no name for a file.
        stem = MANY if many else file_stem(first.title or first.preview or first.id)
        return stem if many and self._form is Format.MARKDOWN else f"{stem}{EXTENSIONS[self._form]}"

    def _show(self) -> None:
        lines = [
            Content.styled(
                f"{'●' if each is self._form else '○'} {_(_WORDS[each])}", "" if each is self._form else "dim"
            )
            for each in _ORDER
        ]
        self.query_one("#formats", Static).update(Content("\n").join(lines))
        self.query_one("#everything", Static).update(self._told())
        secrets = _("● secrets are taken out") if self._redact else _("○ secrets are kept as they are")
        self.query_one("#secrets", Static).update(Content.styled(secrets, "" if self._redact else "$warning"))
        told = Content.styled(one_line(self._refused, 1000), "$warning")
        if self._is_saving:
            told = Content.styled(_("saving … Esc leaves this card, and the saving goes on"), "dim")
        verdict = self.query_one("#verdict", Static)
        verdict.display = bool(told)
        verdict.update(told)

    def _told(self) -> Content:
        """Which messages go into the file."""
        if self._form is Format.JSONL:
            live = _("○ live messages, which any Hermes imports as such")
            every = _("● rewound and compacted messages too: only Hermes 0.22 and later import them as such")
        else:
            live, every = _("○ what was said"), _("● everything, rewound and hidden messages too")
        return (
            Content.styled(every, "$warning" if self._form is Format.JSONL else "")
            if self._everything
            else (Content(live))
        )

    def action_format(self, by: int) -> None:
        """The next format; a name that was proposed follows it."""
        box = self.query_one(Input)
        proposed = box.value == self._proposal()
        self._form = _ORDER[(_ORDER.index(self._form) + by) % len(_ORDER)]
        if proposed:
            box.value = self._proposal()
        self._refused = ""
        self._show()

    def action_redact(self) -> None:
        """Take secrets out, or keep them."""
        self._redact = not self._redact
        self._show()

    def action_everything(self) -> None:
        """Rows that were taken back too, or not."""
        self._everything = not self._everything
        self._show()

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Save, unless something is there."""
        event.stop()
        self._save(event.value.strip(), force=False)

    def action_replace(self) -> None:
        """Save in the place of what is there."""
        if self._refused:
            self._save(self.query_one(Input).value.strip(), force=True)

    def _save(self, path: str, *, force: bool) -> None:
        if self._is_saving:
            return
        wish = Wish(self._form, path or self._proposal(), self._redact, force, self._everything)
        try:
            self._check(wish)
        except RefusedError as refused:
            self._refused = refused.sentence
            if self._is_replaceable(wish):
                remedy = _("{refusal} Another name, or {key} replaces it.")
                self._refused = remedy.format(refusal=refused.sentence, key=self.key("replace"))
            self._show()
        else:
            self._is_saving, self._refused = True, ""
            self._show()
            self._wanted(wish)

    def done(self) -> None:
        """It is saved."""
        if self.is_current:
            self.dismiss(None)

    def failed(self, error: BrowseError) -> bool:
        """It could not be saved: say why, above what was typed.

        Returns:
            False when the card has been left meanwhile, and nobody would read it here.
        """
        if not self.is_current:
            return False
        self._is_saving, self._refused = False, str(error)
        self._show()
        return True

    def _is_replaceable(self, wish: Wish) -> bool:
        """Whether a path is only refused because there is a file."""
        try:
            self._check(wish._replace(force=True))
        except RefusedError:
            return False
        return True

    def _check(self, wish: Wish) -> None:
        target = Path(wish.path).expanduser()
        if target.is_dir():  # names of files in it are looked at when they are known
            return
        check_target(target, force=wish.force, keep=store_files(self._store.path))


def ask_and_export(context: Context, app: App[Any], conversations: Sequence[Conversation]) -> None:
    """Ask how and where to, then save.

    Args:
        context: The store, and the writer that saves.
        app: Shows the card.
        conversations: Which.
    """

    card = ExportScreen(conversations, context.store, lambda wish: _export(context, conversations, wish, card))
    app.push_screen(card)


def _export(context: Context, conversations: Sequence[Conversation], wish: Wish, card: ExportScreen) -> None:
    """Save on the writer's thread and say where to."""
    notes: list[str] = []
    location, store, now = context.location, context.store, context.clock()

    def work() -> tuple[list[Document], str]:
        redactor = make_redactor(location, notes.append, active=wish.redact)
        with store.reader() as reader:
            detailed = with_details(reader, list(conversations))
        documents = plan_documents(detailed, wish.form, redactor, wish.path)

        def pieces(some: Sequence[Conversation], tally: Tally) -> Iterator[str]:
            exporter = f"hermes-browse {version()}"
            return export_pieces(
                store,
                some,
                wish.form,
                redactor=redactor,
                tally=tally,
                exporter=exporter,
                now=now,
                everything=wish.everything,
            )

        not_live: Counter[State] = Counter()
        written: list[Document] = []
        for saved in save(store, documents, pieces, force=wish.force):
            written.append(saved.document)
            not_live += saved.tally.not_live
        said = [not_live_words(not_live, wish.form, everything=wish.everything), redacted_words(redactor)]
        return written, " · ".join(filter(None, said))

    def done(result: tuple[list[Document], str]) -> None:
        documents, words = result
        first = documents[0].path.absolute()
        if len(documents) == 1:
            saved = _("saved {path}").format(path=first)
        else:
            saved = _("saved {count:,} files in {folder}").format(count=len(documents), folder=first.parent)
        card.done()
        context.say(" · ".join(filter(None, [saved, words, *notes])))

    def failed(error: BrowseError) -> None:
        if card.failed(error):
            context.say("")
        else:
            context.failed(error)

    context.say(_("saving {conversations} …").format(conversations=_conversations(len(conversations))))
    context.writer.submit(work, done, failed)
