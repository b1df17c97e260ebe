"""The base classes of commands of no store and of one: what they print, and what they ask the
user."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.wording import _

from .output import note, print_json
from .parser import Argument, ArgumentGroup, OneOf, Parser, add_all
from .stores import as_typed, now_in, opened_store, with_host

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.bulk import Step
    from hermes_browse.store.progress import Stage
    from hermes_browse.store.sessions.models import Conversation

_PROGRESS_EVERY = 2.0
"""Seconds between two progress notes of a long write."""


class Subcommand(ABC):
    """Base class of commands; `registry.COMMANDS` lists them with their help."""

    takes_common_options = True
    """Whether it takes `--json` and the options that name a store."""
    takes_host = True
    """Whether it can read the store of a host (`--host`)."""
    needs_files = False
    """Whether it then runs as a command line on the host, because it needs files there."""
    arguments: Iterable[Argument | OneOf | ArgumentGroup] = ()
    """What it takes itself, in the order of the help."""
    given: SimpleNamespace
    """The values of all arguments."""
    store: OpenStore | None = None
    """The one store that it works on; None for several, and for none."""

    def add_arguments(self, parser: Parser) -> None:
        """Add its `arguments` to its parser; a command with actions overrides this."""
        add_all(parser, self.arguments)

    def contradictions(self) -> Mapping[str, object]:
        """Return how valid arguments can contradict each other, in sentences, each with whether
        they do; the first one is printed."""
        return {}

    def runs_there(self) -> bool:
        """Whether it runs as a command line on the host that the arguments name."""
        return self.needs_files or self.given.old or self.given.all_profiles

    @abstractmethod
    def start(self) -> int:
        """Run, and return the exit code."""

    def print_json(
        self, document: Mapping[str, object], name: str = "", items: Iterable[object] | None = None
    ) -> None:
        """Print a document as `output.print_json` does. If the store is on a host, the document and
        each conversation in it name that host."""
        host = self.store.location.host if self.store is not None else None
        print_json(with_host(document, host), name, items)

    def give(
        self, document: Mapping[str, object], tell: Callable[..., object], *what: object
    ) -> None:
        """Print a document with `--json`, else call `tell` with `what`. The store is closed before, as
        a pager may wait."""
        if self.store is not None:
            self.store.close()
        if self.given.json:
            self.print_json(document)
        else:
            tell(*what)

    def remark(self, *texts: str) -> None:
        """Note what a document says by itself."""
        if not self.given.json:
            note(*texts)


class StoreCommand(Subcommand):
    """Base class of commands that work on the one store that the arguments name."""

    store: OpenStore
    now: float
    """Unix seconds."""

    @abstractmethod
    def run(self) -> int | None:
        """Execute the command and print the result; return an exit code, if it is not 0."""

    def start(self) -> int:
        with opened_store(self.given) as self.store:
            self.now = now_in(self.given, self.store.location)
            return self.run() or 0

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked for confirmation."""
        return on_a_terminal() and not self.given.json

    def advice(self, text: str) -> str:
        """Return a sentence with the commands in it as they are typed for this store."""
        return as_typed(text, self.given)

    def find(self, words: Sequence[str]) -> list[Conversation]:
        """Find the conversations a user names. Commands call it before they change anything.

        Args:
            words: Session ids, prefixes of them, or titles.

        Returns:
            For each word the conversation of the matching session.

        Raises:
            NotFoundError: A word matches no session, or several.
        """
        ids = [self.store.resolve(word) for word in words]
        return self.store.conversations_of(ids, self.now)

    def conversation(self) -> Conversation:
        """Return the conversation that the argument `id` names, as `find` does, with details."""
        (conversation,) = self.store.with_details(self.find([self.given.id]))
        return conversation

    def confirm(self, count: int, what: str, *, by_number: bool = False) -> None:
        """Ask for the number of items when there are several, or `by_number`, else for a `y`.

        Args:
            what: The action, as part of a sentence.

        Raises:
            RefusedError: The answer was different, or the user cannot be asked.
        """
        if not self.can_ask:
            raise RefusedError(
                _("Not without --yes: this would {what}. Nothing was changed.", what=what)
            )
        wanted = str(count) if count > 1 or by_number else "y"
        question = _(
            "This will {what}. Type {wanted} to go on, anything else to leave: ",
            what=what,
            wanted=wanted,
        )
        print(question, end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().replace(",", "").lower() != wanted:
            raise RefusedError(_("Nothing was changed."))


def on_a_terminal() -> bool:
    """Return whether standard input and standard error are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def telling() -> Callable[[Stage | Step], None]:
    """Return a callback that notes the progress of a long write: on a terminal, every two
    seconds."""
    last = time.monotonic()

    def tell(progress: Stage | Step) -> None:
        nonlocal last
        if time.monotonic() - last > _PROGRESS_EVERY and sys.stderr.isatty():
            last = time.monotonic()
            note(progress.words)

    return tell
