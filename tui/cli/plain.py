"""`--plain`: the browser as a line-based dialogue, for screen readers, braille and terminals that
cannot draw.

It prompts for a line, prints lines, and prompts again. It never moves the cursor and writes no
escape sequences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.resume_command import ResumePlan, plan_resume
from hermes_browse.store.messages.chat_message import Hit, Reading, RowInfo, State
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_messages, read_outline
from hermes_browse.store.search.engine import Answer, Search
from hermes_browse.store.search.query import Query, parse
from hermes_browse.store.search.scope import read_scope
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ..formats import counted
from ..hang_up import watch_terminal
from .advice import with_advice
from .output import print_text
from .plain_words import (
    HELP,
    choices,
    conversation_line,
    facts,
    is_said,
    message_lines,
    name_of,
    page_line,
    snippet_of,
    view_name,
)
from .resume import as_configured, run_plan

PAGE = 10
"""Conversations or hits per page."""
MESSAGES = 5
"""Messages per page."""
_MOST_HITS = 200


class _Open(NamedTuple):
    """The open conversation."""

    conversation: Conversation
    rows: Sequence[RowInfo]
    first: int
    """Index of the first message of the page printed last."""
    hit: Hit | None = None
    """The hit it was opened at."""


_FoundHit = tuple[Hit, Conversation | None]


def _find(reader: Reader, query: Query, now: float) -> tuple[Answer, list[_FoundHit]]:
    """Search; return the answer, and its hits with their conversations."""
    answer = Search(reader, query, read_scope(reader, query, now)).page(_MOST_HITS)
    session_ids = list({hit.session_id for hit in answer.hits})
    catalog = read_neighbourhood(reader, session_ids, now)
    pairs = [(hit, catalog.of_session(hit.session_id)) for hit in answer.hits]
    unique = {each.root_id: each for _hit, each in pairs if each}
    by_root = {each.root_id: each for each in with_details(reader, list(unique.values()))}
    return answer, [(hit, by_root[each.root_id] if each else None) for hit, each in pairs]


def _rows_at(
    reader: Reader, conversation: Conversation, hit: Hit | None
) -> tuple[Sequence[RowInfo], int]:
    """Return the messages of a conversation, and the index of the first one to print: that of a
    hit, else the first of the last page."""
    said = read_outline(reader, conversation.segments)
    if hit is not None:
        at = said.index_of(hit.message_id)
        if at is not None:
            return said.rows, at
        everything = read_outline(reader, conversation.segments, Reading.EVERYTHING)
        at = everything.index_of(hit.message_id)
        if at is not None:  # rewound or hidden
            return everything.rows, at
    return said.rows, max(len(said.rows) - MESSAGES, 0)


def _last_prompt(reader: Reader, rows: Sequence[RowInfo], at: int) -> int | None:
    """Return the index of the last user message at or before `at`; None if there is none."""
    for index in range(min(at, len(rows) - 1), -1, -1):
        row = rows[index]
        if row.role == "user" and not row.hidden and row.state is not State.REWOUND:
            messages = read_messages(reader, [row])
            if messages and not messages[0].is_summary:
                return index
    return None


class Dialogue:
    """One run of the dialogue.

    Args:
        location: The store.
        ask: Prompts and returns a line; raises EOFError at the end of input.
        say: Prints a line; callers pass printable text.
        now: Unix seconds; the system clock by default.
    """

    def __init__(
        self,
        location: Location,
        ask: Callable[[str], str],
        say: Callable[[str], object],
        now: float | None = None,
    ) -> None:
        self._location, self._ask, self._say = location, ask, say
        self._store = Store(location.path)
        self._fixed_now = now
        self._view, self._query = View.CHATS, ""
        self._first = 0
        self._open: _Open | None = None
        self._roots: Sequence[str] = []
        self._hits: list[_FoundHit] = []
        self._catalog: Catalog | None = None
        self._is_full = False
        self._plan: ResumePlan | None = None

    @property
    def _now(self) -> float:
        return self._fixed_now if self._fixed_now is not None else time.time()

    def run(self) -> ResumePlan | None:
        """Run until the user quits; return the plan of the requested resume, else None.

        Raises:
            StoreError: The store cannot be read; raised before anything is printed.
        """
        self._read()
        self._say(
            _("hermes-browse, {name}. h: help.").format(name=one_line(self._location.name, 40))
        )
        if self._location.note:
            self._say(one_line(self._location.note))
        self._say_list()
        while self._plan is None:
            try:
                line = self._ask("> ").strip()
            except EOFError:
                return None
            if line in ("q", "quit", "exit"):
                return None
            try:
                self._handle(line)
            except BrowseError as error:
                self._say(one_line(with_advice(error)))
        return self._plan

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)

    # The list

    def _read(self) -> None:
        with self._store.reader() as reader:
            self._catalog = read_catalog(reader, self._now)
        self._roots = self._catalog.order(self._view)

    def _say_list(self) -> None:
        catalog = self._catalog
        assert catalog is not None
        if self._query:
            self._say_hits()
            return
        total = len(self._roots)
        page = [
            catalog.conversation(root) for root in self._roots[self._first : self._first + PAGE]
        ]
        with self._store.reader() as reader:
            page = with_details(reader, page)
        for number, each in enumerate(page, self._first + 1):
            self._say(f"{number}. {conversation_line(each, self._now)}")
        counts = catalog.counts()
        phrase = _("{count:,} {view}")
        phrases = [
            phrase.format(count=counts[view], view=view_name(view))
            for view in View
            if view is not self._view
        ]
        self._say(page_line(self._first + 1, self._first + len(page), total, view_name(self._view)))
        self._say(_("Elsewhere: {views}.").format(views=pgettext("list", ", ").join(phrases)))

    def _say_hits(self) -> None:
        page = self._hits[self._first : self._first + PAGE]
        for number, (hit, conversation) in enumerate(page, self._first + 1):
            name = name_of(conversation) if conversation is not None else one_line(hit.session_id)
            line = _("{role} in {name}: {text}").format(
                role=one_line(hit.role), name=name, text=snippet_of(hit)
            )
            self._say(f"{number}. {line}")
        self._say(page_line(self._first + 1, self._first + len(page), len(self._hits), _("hits")))

    def _search(self, text: str) -> None:
        self._open, self._first, self._query = None, 0, text
        if not text:
            self._say_list()
            return
        query = parse(text, now=self._now)
        if query.refusal:
            self._hits = []
            self._say(one_line(query.refusal))
            return
        with self._store.reader() as reader:
            answer, self._hits = _find(reader, query, self._now)
        self._say_all(
            one_line(each)
            for each in (*(problem.text for problem in answer.query.problems), *answer.notes)
        )
        hits = counted(len(self._hits), "hit")
        if answer.more:
            hits = _("more than {hits}").format(hits=hits)
        is_scanned = answer.engine in ("scan", "mixed")
        scanned, indexed = (
            _("Search for {text}: {hits}, by reading every message."),
            _("Search for {text}: {hits}."),
        )
        sentence = scanned if is_scanned else indexed
        self._say(sentence.format(text=one_line(text, 100), hits=hits))
        self._say_list()

    # Input

    def _handle(self, line: str) -> None:
        word, _blank, rest = line.partition(" ")
        if line.startswith("/"):
            self._search(line[1:].strip())
        elif line.isdecimal():
            self._open_item(int(line))
        elif word == "v" and rest.strip() in [view.value for view in View]:
            self._view, self._query, self._first, self._open = View(rest.strip()), "", 0, None
            self._read()
            self._say_list()
        elif line in ("h", "?", "help"):
            self._say_all(_(HELP).split("\n"))
        elif line == "l":
            self._open = None
            if not self._query:
                self._read()
            self._say_list()
        elif self._open is not None:
            self._handle_open(line)
        elif line in ("", "n", "p"):
            self._turn_page(-PAGE if line == "p" else PAGE)
        else:
            self._unknown()

    def _unknown(self) -> None:
        extra = ["r", "i"] if self._open is not None else ["v all"]
        words = choices([_("a number"), "n", "p", _("/words"), *extra, "l", "h", "q"])
        self._say(_("Unknown command. {choices}").format(choices=words))

    def _turn_page(self, by: int) -> None:
        total = len(self._hits) if self._query else len(self._roots)
        first = self._first + by
        if not 0 <= first < total:
            self._say(_("That was the last page.") if by > 0 else _("This is the first page."))
            return
        self._first = first
        self._say_list()

    # A conversation

    def _open_item(self, number: int) -> None:
        catalog = self._catalog
        assert catalog is not None
        total = len(self._hits) if self._query else len(self._roots)
        if not 1 <= number <= total:
            self._say(_("There is no number {number}.").format(number=number))
            return
        hit = self._hits[number - 1] if self._query else None
        conversation = hit[1] if hit is not None else catalog.conversation(self._roots[number - 1])
        if conversation is None:
            self._say(_("This message belongs to no session of the store."))
            return
        with self._store.reader() as reader:
            conversation = with_details(reader, [conversation])[0]
            rows, at = _rows_at(reader, conversation, hit[0] if hit is not None else None)
            prompt = _last_prompt(reader, rows, at)
        self._say(conversation_line(conversation, self._now))
        self._open = _Open(conversation, rows, 0, hit[0] if hit is not None else None)
        if prompt is not None and prompt < at:
            self._say_messages(rows[prompt : prompt + 1])
            if between := at - prompt - 1:
                sentence = ngettext(
                    "{count:,} message in between.", "{count:,} messages in between.", between
                )
                self._say(sentence.format(count=between))
        self._say_page(at)

    def _say_messages(self, rows: Sequence[RowInfo]) -> None:
        with self._store.reader() as reader:
            messages = read_messages(reader, rows)
        hit = self._open.hit if self._open is not None else None
        for message in messages:
            lines = list(message_lines(message, is_full=self._is_full))
            self._say_all(lines)
            if hit is not None and hit.message_id == message.id and not is_said(hit, lines):
                self._say(_("The hit: {text}").format(text=snippet_of(hit)))

    def _say_page(self, first: int) -> None:
        assert self._open is not None
        rows = self._open.rows
        self._open = self._open._replace(first=first)
        self._say_messages(rows[first : first + MESSAGES])
        self._say(page_line(first + 1, min(first + MESSAGES, len(rows)), len(rows), _("messages")))

    def _handle_open(self, line: str) -> None:
        assert self._open is not None
        conversation, rows, first, _hit = self._open
        if line in ("", "n") and first + MESSAGES >= len(rows):
            self._say(_("That was the last message. l: the list."))
        elif line == "p" and first == 0:
            self._say(_("This is the beginning."))
        elif line in ("", "n"):
            self._say_page(first + MESSAGES)
        elif line == "p":
            self._say_page(max(first - MESSAGES, 0))
        elif line == "b":
            self._say_page(0)
        elif line == "e":
            self._say_page(max(len(rows) - MESSAGES, 0))
        elif line == "t":
            self._is_full = not self._is_full
            self._say_page(first)
        elif line == "i":
            self._say_all(facts(conversation, self._now))
        elif line in ("r", "c"):
            self._resume(conversation, should_run=line == "r")
        else:
            self._unknown()

    def _resume(self, conversation: Conversation, *, should_run: bool) -> None:
        with self._store.reader() as reader:
            plan = plan_resume(reader, self._location, conversation.id, self._now)
        plan = as_configured(plan)
        self._say_all(one_line(each.text) for each in plan.warnings)
        self._say(one_line(plan.shell()))
        if not should_run or plan.executable is None:
            return
        if plan.is_risky:
            try:
                answer = self._ask(_("Type yes to resume all the same: ")).strip()
            except EOFError:
                return
            if answer != "yes":
                self._say(_("Nothing was run."))
                return
        self._plan = plan


def talk(location: Location) -> int:
    """Run the dialogue on standard input and output; return the exit code, unless Hermes replaces
    this process."""
    watch_terminal()
    plan = Dialogue(location, input, print_text).run()
    return run_plan(plan) if plan is not None else 0
