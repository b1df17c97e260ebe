"""`--plain`: the browser as a line-based dialogue, for screen readers, braille and terminals that
cannot draw.

It prompts for a line, prints lines, and prompts again. It never moves the cursor and writes no
escape sequences; messages are those of `show`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.messages.chat_message import ChatMessage, Hit, Reading
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ..terminal.hang_up import watch_terminal
from ..text.formats import ago, costs, counted, dollars, status, timestamp
from .advice import with_advice
from .output import print_text, title_or_preview
from .resume import as_configured, run_plan
from .show import body_of, heading

_PAGE, _MESSAGES = 10, 5
"""Conversations or hits per page, and messages."""
_MOST_HITS = 200
_CUT = 200
"""Letters of tool output and calls that are printed until all of it is asked for."""
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
class _Pages:
    """Something that is printed page by page."""

    what: str
    """Its name in the plural, translated."""
    total: int
    size: int
    say: Callable[[int, int], None]
    """Prints the items from one index to before another."""
    first: int = 0
    """Index of the first item of the page printed last."""


_Item = tuple[Conversation | None, Hit | None]
"""A row of the list: a conversation, or a hit in one."""


class _Transcript:
    """The open conversation.

    Args:
        store: Its store.
        conversation: With details.
        hit: What it is opened at; None for its end.
        say: Prints a line.
    """

    def __init__(
        self,
        store: OpenStore,
        conversation: Conversation,
        hit: Hit | None,
        say: Callable[[str], object],
    ) -> None:
        self._store, self.conversation, self._say = store, conversation, say
        self.is_full = False
        """Whether tool output and summaries are printed in full."""
        self._ids, self.at = self._ids_and_place(hit)
        """`at` is the index of the first message to print."""
        self.pages = _Pages(_("messages"), len(self._ids), _MESSAGES, self._say_messages)

    def _ids_and_place(self, hit: Hit | None) -> tuple[Sequence[int], int]:
        """Return the ids of the messages, and the index of the hit, else of the last page."""
        segments = self.conversation.segments
        said = self._store.outline(segments)
        if hit is not None:
            for outline in (said, self._store.outline(segments, Reading.EVERYTHING)):
                at = outline.index_of(hit.message_id)
                if at is not None:
                    return [row.id for row in outline.rows], at
        return [row.id for row in said.rows], max(len(said.rows) - _MESSAGES, 0)

    def say_prompt(self) -> None:
        """Print the last prompt of the user ahead of the first message to print."""
        for index in range(self.at - 1, -1, -1):
            for message in filter(_is_prompt, self._store.messages([self._ids[index]])):
                self._say_message(message)
                if between := self.at - index - 1:
                    self._say(
                        ngettext(
                            "{count:,} message in between.",
                            "{count:,} messages in between.",
                            between,
                            count=between,
                        )
                    )
                return

    def _say_messages(self, first: int, end: int) -> None:
        for message in self._store.messages(self._ids[first:end]):
            self._say_message(message)

    def _say_message(self, message: ChatMessage) -> None:
        self._say(_("{words}:", words=heading(message)))
        call = _("Calls {tool} with {arguments}")
        body = body_of(message, call=call, with_summary=self.is_full)
        if not self.is_full and message.role == "tool":
            body = one_line(body, _CUT).replace("…", "...")
        for line in filter(None, map(str.rstrip, body.split("\n"))):
            self._say(line)

    def say_facts(self) -> None:
        """Print what is known of the conversation."""
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
        for label, text in facts.items():
            if text:
                self._say(_("{label}: {text}", label=label, text=one_line(text)))


class Dialogue:
    """One run of the dialogue.

    Args:
        store: The store.
        ask: Prompts and returns a line; raises EOFError at the end of input.
        say: Prints a line; callers pass printable text.
        now: Returns Unix seconds.
    """

    def __init__(
        self,
        store: OpenStore,
        ask: Callable[[str], str],
        say: Callable[[str], object],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._ask, self._say, self._now = store, ask, say, now
        self._view, self._text = View.CHATS, ""
        self._items: Sequence[_Item] = ()
        self._list = _Pages("", 0, _PAGE, self._say_items)
        self._open: _Transcript | None = None
        self._plan: ResumePlan | None = None

    def run(self) -> ResumePlan | None:
        """Run until the user quits; return the plan of the requested resume, else None.

        Raises:
            StoreError: The store cannot be read; raised before anything is printed.
        """
        self._read()
        location = self._store.location
        self._say(_("hermes-browse, {name}. h: help.", name=one_line(location.name, 40)))
        if location.note:
            self._say(one_line(location.note))
        self._say_page(self._list)
        while self._plan is None:
            self._store.close()
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

    def _handle(self, line: str) -> None:
        word, _blank, rest = line.partition(" ")
        if line.startswith("/"):
            self._search(line[1:].strip())
        elif line.isdecimal():
            self._open_item(int(line))
        elif word == "v" and rest.strip() in list(View):
            self._view, self._text = View(rest.strip()), ""
            self._show_list()
        elif action := self._actions().get(line):
            action()
        else:
            numbers, words = _("a number"), _("/words")
            extra = ["v all"] if self._open is None else ["r", "i"]
            choices = pgettext("list", ", ").join([numbers, "n", "p", words, *extra, "l", "h"])
            self._say(_("Unknown command. Type {words} or {last}.", words=choices, last="q"))

    def _actions(self) -> dict[str, Callable[[], object]]:
        """Return what can be typed now, and does something."""
        opened = self._open
        pages = self._list if opened is None else opened.pages
        actions: dict[str, Callable[[], object]] = {
            **dict.fromkeys(("", "n"), partial(self._turn, pages, pages.size)),
            "p": partial(self._turn, pages, -pages.size),
            **dict.fromkeys(("h", "?", "help"), self._help),
            "l": self._show_list,
        }
        if opened is None:
            return actions
        return actions | {
            "b": partial(self._say_page, pages, 0),
            "e": partial(self._say_page, pages, max(pages.total - pages.size, 0)),
            "t": partial(self._toggle, opened),
            "i": opened.say_facts,
            "c": partial(self._resume, opened.conversation, should_run=False),
            "r": partial(self._resume, opened.conversation, should_run=True),
        }

    def _help(self) -> None:
        for line in _(HELP).split("\n"):
            self._say(line)

    # Pages

    def _say_page(self, pages: _Pages, first: int = 0) -> None:
        pages.first, end = first, min(first + pages.size, pages.total)
        if not pages.total:
            self._say(_("No {what}.", what=pages.what))
            return
        pages.say(first, end)
        what = pages.what.capitalize()
        self._say(
            _(
                "{what} {first:,} to {last:,} of {total:,}.",
                what=what,
                first=first + 1,
                last=end,
                total=pages.total,
            )
        )

    def _turn(self, pages: _Pages, by: int) -> None:
        if by > 0 and pages.first + by >= pages.total:
            self._say(_("That was the last page."))
        elif by < 0 and pages.first == 0:
            self._say(_("This is the first page."))
        else:
            self._say_page(pages, max(pages.first + by, 0))

    # The list

    def _show_list(self) -> None:
        self._open = None
        if not self._text:
            self._read()
        self._say_page(self._list, self._list.first if self._list.first < self._list.total else 0)

    def _read(self) -> None:
        catalog = self._store.catalog(self._now())
        items = [(catalog.conversation(root), None) for root in catalog.order(self._view)]
        names = {
            View.CHATS: pgettext("view", "chats"),
            View.AUTOMATION: pgettext("view", "automation"),
            View.ARCHIVED: pgettext("view", "archived"),
            View.ALL: pgettext("view", "all"),
        }
        self._list_items(items, names[self._view])

    def _list_items(self, items: Sequence[_Item], what: str) -> None:
        first = self._list.first if what == self._list.what else 0
        self._items, self._open = items, None
        self._list = _Pages(what, len(items), _PAGE, self._say_items, first)

    def _say_items(self, first: int, end: int) -> None:
        items = self._items[first:end]
        if self._text:
            lines = [_hit_line(conversation, hit) for conversation, hit in items if hit]
        else:
            page = [conversation for conversation, _hit in items if conversation]
            lines = [self._line(conversation) for conversation in self._store.with_details(page)]
        for number, line in enumerate(lines, first + 1):
            self._say(f"{number}. {line}")

    def _line(self, conversation: Conversation) -> str:
        """Describe a conversation in one sentence."""
        parts, subagents = len(conversation.segments), conversation.subagents
        marks = {"pinned": conversation.pinned, "archived": conversation.archived}
        phrases = [
            one_line(title_or_preview(conversation), 120).rstrip("."),
            ago(conversation.last_active, self._now()),
            one_line(conversation.source, 20),
            counted(conversation.message_count, "message"),
            status(conversation.status),
            *(status(mark) for mark, is_set in marks.items() if is_set),
            counted(parts, "part") if parts > 1 else "",
            counted(subagents, "subagent") if subagents else "",
        ]
        return _("{words}.", words=pgettext("clauses", ", ").join(filter(None, phrases)))

    def _search(self, text: str) -> None:
        self._text = text
        self._list.first = 0
        if not text:
            self._show_list()
            return
        query = parse(text, now=self._now())
        if query.refusal:
            self._list_items((), _("hits"))
            self._say(one_line(query.refusal))
            return
        page = self._store.hit_page(query, self._now(), limit=_MOST_HITS)
        items = [(page.conversations.get(hit.session_id), hit) for hit in page.answer.hits]
        self._list_items(items, _("hits"))
        for sentence in (*(problem.text for problem in query.problems), *page.answer.notes):
            self._say(one_line(sentence))
        hits = counted(len(items), "hit")
        if page.answer.more:
            hits = _("more than {hits}", hits=hits)
        self._say(_("Search for {text}: {hits}.", text=one_line(text, 100), hits=hits))
        self._say_page(self._list)

    # A conversation

    def _open_item(self, number: int) -> None:
        if not 1 <= number <= len(self._items):
            self._say(_("There is no number {number}.", number=number))
            return
        found, hit = self._items[number - 1]
        if found is None:
            self._say(_("This message belongs to no session of the store."))
            return
        (conversation,) = self._store.with_details([found])
        self._say(self._line(conversation))
        transcript = self._open = _Transcript(self._store, conversation, hit, self._say)
        transcript.say_prompt()
        if hit is not None:
            self._say(_("The hit: {text}", text=_snippet(hit)))
        self._say_page(transcript.pages, transcript.at)

    def _toggle(self, transcript: _Transcript) -> None:
        transcript.is_full = not transcript.is_full
        self._say_page(transcript.pages, transcript.pages.first)

    def _resume(self, conversation: Conversation, *, should_run: bool) -> None:
        plan = as_configured(self._store.resume_plan(conversation.id, self._now()))
        self._store.close()
        for warning in plan.warnings:
            self._say(one_line(warning.text))
        self._say(one_line(plan.shell()))
        if should_run and plan.executable is not None and self._is_wanted(plan):
            self._plan = plan

    def _is_wanted(self, plan: ResumePlan) -> bool:
        if not plan.is_risky:
            return True
        try:
            answer = self._ask(_("Type yes to resume all the same: ")).strip()
        except EOFError:
            return False
        if answer != "yes":
            self._say(_("Nothing was run."))
        return answer == "yes"


def _hit_line(conversation: Conversation | None, hit: Hit) -> str:
    name = title_or_preview(conversation) if conversation is not None else hit.session_id
    return _(
        "{role} in {name}: {text}",
        role=one_line(hit.role),
        name=one_line(name, 120),
        text=_snippet(hit),
    )


def _snippet(hit: Hit) -> str:
    """Return the matched text of a hit with a few words of context."""
    return one_line(hit.snippet, _CUT).replace("…", "...")


def _is_prompt(message: ChatMessage) -> bool:
    return message.role == "user" and not (message.is_summary or message.is_hidden)


def talk(location: Location) -> int:
    """Run the dialogue on standard input and output; return the exit code, unless Hermes replaces
    this process."""
    watch_terminal()
    with open_store(location) as store:
        plan = Dialogue(store, input, print_text).run()
    return run_plan(plan) if plan is not None else 0
