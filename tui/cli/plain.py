"""`--plain`: the browser as a line-based dialogue, for screen readers, braille and terminals that
cannot draw.

It prompts for a line, prints lines, and prompts again. It never moves the cursor and writes no
escape sequences; messages are those of `show`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.messages.chat_message import ChatMessage, Hit, Reading, RowInfo
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, PN_, _, ngettext, pgettext

from ..terminal.handover import watch_terminal
from ..text.formats import ago, costs, counted, dollars, listed, timestamp
from ..text.sentences import status
from .output import labelled, print_text, title_or_preview, with_advice
from .resume import as_configured, run_plan
from .show import body_of, heading

_MESSAGES = 5
"""Of a page."""
_CUT = 200
"""Letters of tool output and calls that are printed until all of it is asked for."""
_MOST_HITS = 200
_DIGITS = 9
"""Of a number; a longer one is none."""
_VIEWS = PN_("view", ("chats", "automation", "archived", "all"))
"""Values of `View`."""
HELP = N_("""\
A number opens the conversation or the hit with that number.
n: next page. p: previous page. l: the list again. q: leave.
/words: search, as in "/docker role:user". An empty / ends the search.
v chats, v automation, v archived, v all: another view.
In a conversation: n: later messages. p: earlier messages. b: from the beginning. e: the last messages.
t: tool output and summaries in full, or no longer. i: facts, the full id among them. c: the command that resumes it.
r: resume it in Hermes.
Archiving, deleting and exporting are commands: leave with q, then see hermes-browse --help.""")


@dataclass
class Pages:
    """Rows that are printed page by page."""

    what: str
    """In the plural and translated."""
    rows: Sequence[Any]
    lines: Callable[[Sequence[Any], int], Iterator[str]]
    """Yields the lines of some rows, of which the first has a number."""
    size: int = 10
    """Rows of a page."""
    first: int = 0
    """Index of the first row of the page printed last."""

    def page(self, first: int) -> Iterator[str]:
        """Yield the lines of the page from a row on, or why there is none."""
        if not self.rows:
            yield _("No {what}.", what=self.what)
        elif first >= len(self.rows):
            yield _("That was the last page.")
        elif first <= -self.size:
            yield _("This is the first page.")
        else:
            self.first = max(first, 0)
            shown = self.rows[self.first : self.first + self.size]
            yield from self.lines(shown, self.first + 1)
            yield _(
                "{what} {first:,} to {last:,} of {total:,}.",
                what=self.what.capitalize(),
                first=self.first + 1,
                last=self.first + len(shown),
                total=len(self.rows),
            )


class Transcript(Pages):
    """The messages of a conversation, which has details; from a hit on, or the last ones."""

    def __init__(self, store: OpenStore, conversation: Conversation, hit: Hit | None) -> None:
        self._store, self.conversation = store, conversation
        self._is_full = False
        """Whether tool output and summaries are printed in full."""
        outline, first = store.outline(conversation.segments), None
        if hit is not None:
            first = outline.index_of(hit.message_id)
            if first is None:  # taken back, or hidden
                outline = store.outline(conversation.segments, Reading.EVERYTHING)
                first = outline.index_of(hit.message_id)
        if first is None:
            first = max(len(outline.rows) - _MESSAGES, 0)
        super().__init__(_("messages"), outline.rows, self._messages, _MESSAGES, first)

    def prompt(self) -> Iterator[str]:
        """Yield the last prompt of the user ahead of the first message to print."""
        for between, row in enumerate(reversed(self.rows[: self.first])):
            if row.role != "user" or row.hidden:
                continue
            for message in self._store.messages([row.id]):
                if not message.is_summary:
                    yield from self._message(message)
                    if between:
                        yield ngettext(
                            "{count:,} message in between.",
                            "{count:,} messages in between.",
                            between,
                        )
                    return

    def _messages(self, rows: Sequence[RowInfo], _number: int) -> Iterator[str]:
        for message in self._store.messages([row.id for row in rows]):
            yield from self._message(message)

    def _message(self, message: ChatMessage) -> Iterator[str]:
        yield _("{words}:", words=heading(message))
        body = body_of(message, call=_("Calls {tool} with {arguments}"), with_summary=self._is_full)
        if not self._is_full and message.role == "tool":
            body = _cut(body)
        yield from filter(None, map(str.rstrip, body.split("\n")))

    def toggled(self) -> Iterator[str]:
        """Yield the lines of the page with tool output and summaries in full, or no longer."""
        self._is_full = not self._is_full
        return self.page(self.first)

    def facts(self) -> Iterator[str]:
        """Return what is known of the conversation."""
        conversation = self.conversation
        facts = {
            _("Title"): title_or_preview(conversation),
            _("Id"): conversation.id,
            _("Source"): conversation.source,
            _("Model"): conversation.model,
            _("Directory"): conversation.cwd,
            pgettext("git", "Branch"): conversation.git_branch,
            _("Started"): timestamp(conversation.root.started_at),
            _("Last active"): timestamp(conversation.last_active),
            _("Messages"): f"{conversation.message_count:,}",
            _("Cost"): costs(conversation, dollars),
        }
        return map(one_line, labelled(facts))


class Dialogue:
    """One run of the dialogue. Each answer is an iterator of lines, which are printed as they come."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._view = View.CHATS
        self._list = Pages("", (), self._conversations)
        """What can be opened by a number: conversations without a hit, or hits in some."""
        self._open: Transcript | None = None
        self._plan: ResumePlan | None = None

    def run(self) -> ResumePlan | None:
        """Run until the user quits; return the plan of the requested resume, else None.

        Raises:
            StoreError: The store cannot be read; raised before anything is printed.
        """
        lines, location = self._show_view(), self._store.location
        print_text(_("hermes-browse, {name}. h: help.", name=one_line(location.name, 40)))
        if location.note:
            print_text(one_line(location.note))
        self._print(lines)
        with suppress(EOFError):
            while self._plan is None:
                line = input("> ").strip()
                if line in ("q", "quit", "exit"):
                    break
                self._print(self._answer(line))
        return self._plan

    def _print(self, lines: Iterable[str]) -> None:
        try:
            for text in lines:
                print_text(text)
        except BrowseError as error:
            print_text(one_line(with_advice(error)))
        self._store.close()

    def _answer(self, line: str) -> Iterator[str]:
        opened = self._open
        pages = opened or self._list
        word, _blank, rest = line.partition(" ")
        match line:
            case "" | "n":
                yield from pages.page(pages.first + pages.size)
            case "p":
                yield from pages.page(pages.first - pages.size)
            case "h" | "?" | "help":
                yield from _(HELP).splitlines()
            case "l":
                yield from self._show_list()
            case "b" if opened:
                yield from opened.page(0)
            case "e" if opened:
                yield from opened.page(max(len(opened.rows) - opened.size, 0))
            case "t" if opened:
                yield from opened.toggled()
            case "i" if opened:
                yield from opened.facts()
            case "c" | "r" if opened:
                yield from self._resume(opened.conversation, should_run=line == "r")
            case _ if line.startswith("/"):
                yield from self._search(line[1:].strip())
            case _ if line.isdecimal() and len(line) <= _DIGITS:
                yield from self._open_row(int(line))
            case _ if word == "v" and rest.strip() in _VIEWS:
                self._view = View(rest.strip())
                yield from self._show_view()
            case _:
                extra = ["r", "i"] if opened else ["v all"]
                words = listed(_("a number"), "n", "p", _("/words"), *extra, "l", "h")
                yield _("Unknown command. Type {words} or {last}.", words=words, last="q")

    # The list

    def _show_list(self) -> Iterator[str]:
        """Return the lines of the page printed last, of hits or of a list that is read again."""
        if self._list.what != _("hits"):
            return self._show_view()
        self._open = None
        return self._list.page(self._list.first)

    def _show_view(self) -> Iterator[str]:
        """Read the conversations of the view, and return the lines of the page printed last."""
        self._open = None
        catalog = self._store.catalog(time.time())
        rows = [(conversation, None) for conversation in catalog.select(self._view)]
        what, before = pgettext("view", self._view.value), self._list
        self._list = Pages(what, rows, self._conversations)
        is_there = before.what == what and before.first < len(rows)
        return self._list.page(before.first if is_there else 0)

    def _conversations(
        self, rows: Sequence[tuple[Conversation, None]], first: int
    ) -> Iterator[str]:
        conversations = self._store.with_details([conversation for conversation, _hit in rows])
        for number, conversation in enumerate(conversations, first):
            yield f"{number}. {_description(conversation)}"

    def _search(self, text: str) -> Iterator[str]:
        if not text:
            self._list.first = 0
            yield from self._show_view()
            return
        query = parse(text, now=time.time())
        if query.refusal:
            yield one_line(query.refusal)
            return
        page = self._store.hit_page(query, time.time(), limit=_MOST_HITS)
        rows = [(page.conversations.get(hit.session_id), hit) for hit in page.answer.hits]
        self._list, self._open = Pages(_("hits"), rows, _hit_lines), None
        for sentence in (*(problem.text for problem in query.problems), *page.answer.notes):
            yield one_line(sentence)
        hits = counted(len(rows), "hit")
        if page.answer.more:
            hits = _("more than {hits}", hits=hits)
        yield _("Search for {text}: {hits}.", text=one_line(text, 100), hits=hits)
        yield from self._list.page(0)

    # A conversation

    def _open_row(self, number: int) -> Iterator[str]:
        if not 1 <= number <= len(self._list.rows):
            yield _("There is no number {number}.", number=number)
            return
        found, hit = self._list.rows[number - 1]
        if found is None:
            yield _("This message belongs to no session of the store.")
            return
        (conversation,) = self._store.with_details([found])
        yield _description(conversation)
        transcript = self._open = Transcript(self._store, conversation, hit)
        yield from transcript.prompt()
        if hit is not None:
            yield _("The hit: {text}", text=_cut(hit.snippet))
        yield from transcript.page(transcript.first)

    def _resume(self, conversation: Conversation, *, should_run: bool) -> Iterator[str]:
        plan = as_configured(self._store.resume_plan(conversation.id, time.time()))
        self._store.close()
        for warning in plan.warnings:
            yield one_line(warning.text)
        yield one_line(plan.shell())
        if not should_run or plan.executable is None:
            return
        if not plan.warnings or input(_("Type yes to resume all the same: ")).strip() == "yes":
            self._plan = plan
        else:
            yield _("Nothing was run.")


def _description(conversation: Conversation) -> str:
    """Describe a conversation in one sentence."""
    parts, subagents = len(conversation.segments), conversation.subagents
    phrases = [
        one_line(title_or_preview(conversation), 120).rstrip("."),
        ago(conversation.last_active, time.time()),
        one_line(conversation.source, 20),
        counted(conversation.message_count, "message"),
        status(conversation.status),
        status("pinned") if conversation.pinned else "",
        status("archived") if conversation.archived else "",
        counted(parts, "part") if parts > 1 else "",
        counted(subagents, "subagent") if subagents else "",
    ]
    return _("{words}.", words=pgettext("clauses", ", ").join(filter(None, phrases)))


def _hit_lines(rows: Sequence[tuple[Conversation | None, Hit]], first: int) -> Iterator[str]:
    for number, (conversation, hit) in enumerate(rows, first):
        name = title_or_preview(conversation) if conversation else hit.session_id
        line = _(
            "{role} in {name}: {text}",
            role=one_line(hit.speaker),
            name=one_line(name, 120),
            text=_cut(hit.snippet),
        )
        yield f"{number}. {line}"


def _cut(text: str) -> str:
    """Shorten a text to a line that a screen reader reads whole."""
    return one_line(text, _CUT).replace("…", "...")


def talk(location: Location) -> int:
    """Run the dialogue on standard input and output; return the exit code, unless Hermes replaces
    this process."""
    watch_terminal()
    with open_store(location) as store:
        plan = Dialogue(store).run()
    return run_plan(plan) if plan is not None else 0
