"""The base class of commands, and their context: arguments, store, time, and questions to the
user."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Generic, TypeVar

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import RefusedError, no_session
from hermes_browse.store.wording import _

from .output import note, print_json
from .parser import Argument, OneOf, Parser, add_all
from .several_stores import Answers, ask_stores
from .stores import SOME_SILENT, as_typed, now_in, opened_store, with_host

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.bulk import Step
    from hermes_browse.store.progress import Stage
    from hermes_browse.store.sessions.models import Conversation

T = TypeVar("T")
_PROGRESS_EVERY = 2.0
"""Seconds between two progress notes of a long write."""


class CommandContext:
    """The arguments of a command, the store they name, and the time."""

    def __init__(self, arguments: SimpleNamespace, store: OpenStore) -> None:
        self.arguments, self.store, self.location = arguments, store, store.location
        self.now = now_in(arguments, self.location)
        self.json: bool = arguments.json
        """Whether to print one JSON document."""

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked for confirmation."""
        return on_a_terminal() and not self.json

    def print_json(
        self, document: Mapping[str, object], name: str = "", items: Iterable[object] | None = None
    ) -> None:
        """Print a document as `output.print_json` does; of a host's store it says so, in its
        conversations as well."""
        print_json(with_host(document, self.location), name, items)

    def give(
        self, document: Mapping[str, object], tell: Callable[..., object], *what: object
    ) -> None:
        """Print what came of the command, as the function `give` does; nothing is open while
        somebody reads."""
        self.store.close()
        give(self.arguments, with_host(document, self.location), tell, *what)

    def remark(self, *texts: str) -> None:
        """Note what a document says by itself."""
        if not self.json:
            note(*texts)

    def note_with_advice(self, sentences: Iterable[str]) -> None:
        """Note sentences, with their `advice`."""
        note(*map(self.advice, sentences))

    def advice(self, text: str) -> str:
        """Return a sentence with the commands in it as they are typed for this store."""
        return as_typed(text, self.arguments)

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
        catalog = self.store.neighbourhood(ids, self.now)
        for session_id in ids:
            if session_id not in catalog.sessions:  # deleted since
                raise no_session(session_id)
        return list(map(catalog.conversation, ids))

    def conversation(self) -> Conversation:
        """Return the conversation that the argument `id` names, as `find` does."""
        (conversation,) = self.find([self.arguments.id])
        return conversation

    def confirm(self, count: int, what: str) -> None:
        """Ask for a `y`, or for the number of items when there are several.

        Args:
            what: The action, as part of a sentence.

        Raises:
            RefusedError: The answer was different, or the user cannot be asked.
        """
        if not self.can_ask:
            raise RefusedError(
                _("Not without --yes: this would {what}. Nothing was changed.", what=what)
            )
        wanted = str(count) if count > 1 else "y"
        ask(
            _(
                "This will {what}. Type {wanted} to go on, anything else to leave: ",
                what=what,
                wanted=wanted,
            ),
            wanted,
        )


class Subcommand:
    """Base class of commands; `registry.COMMANDS` lists them with their help."""

    takes_common_options = True
    """Whether it takes `--json` and the options that name a store."""
    takes_host = True
    """Whether it can read the store of a host (`--host`)."""
    needs_files = False
    """Whether it then runs as a command line on the host, because it needs files there."""
    arguments: Iterable[Argument | OneOf] = ()
    """Its own arguments, in the order of the help."""

    def add_arguments(self, parser: Parser) -> None:
        """Add its own arguments; for those in groups."""
        add_all(parser, self.arguments)

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return a sentence if valid arguments contradict each other, else an empty text."""
        return ""

    def runs_there(self, arguments: SimpleNamespace) -> bool:
        """Whether it runs as a command line on the host that the arguments name."""
        return self.needs_files or arguments.old or arguments.all_profiles

    def start(self, arguments: SimpleNamespace) -> int:
        """Open the store, run and return the exit code. Commands that do not read exactly one store
        override this."""
        with opened_store(arguments) as store:
            return self.run(CommandContext(arguments, store)) or 0

    def run(self, context: CommandContext) -> int | None:
        """Execute the command and print the result; return an exit code, if it is not 0."""
        raise NotImplementedError


class ManyStoresCommand(Subcommand, Generic[T]):
    """Base class of commands that read one store, or all profiles and hosts as one."""

    def ask(self, store: OpenStore, now: float, arguments: SimpleNamespace) -> T:
        """Read what one store has."""
        raise NotImplementedError

    def report(self, answers: Answers[T], arguments: SimpleNamespace) -> None:
        """Print what all of them have."""
        raise NotImplementedError

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for options that name a store beside `--all-profiles`."""
        others = (arguments.db, arguments.demo, arguments.profile, arguments.old)
        if arguments.all_profiles and any(others):
            return _("--all-profiles goes with --home alone: it means every profile of that root")
        return ""

    def start(self, arguments: SimpleNamespace) -> int:
        answers = ask_stores(arguments, partial(self.ask, arguments=arguments))
        self.report(answers, arguments)
        return 0 if answers.is_complete else SOME_SILENT


def give(
    arguments: SimpleNamespace,
    document: Mapping[str, object],
    tell: Callable[..., object],
    *what: object,
) -> None:
    """Print a document, or for people what `tell` makes of something."""
    if arguments.json:
        print_json(document)
    else:
        tell(*what)


def on_a_terminal() -> bool:
    """Return whether standard input and standard error are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(question: str, expected: str) -> None:
    """Ask for confirmation.

    Args:
        question: Printed without a newline; the answer is typed behind it.
        expected: The answer that confirms; case and commas are ignored.

    Raises:
        RefusedError: The answer was different.
    """
    print(question, end="", file=sys.stderr)
    sys.stderr.flush()
    if sys.stdin.readline().strip().replace(",", "").lower() != expected:
        raise RefusedError(_("Nothing was changed."))


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
