"""From arguments to an exit code: which store, which command, and every failure as a sentence."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import BrowseError, StoreEmptyError, StoreMissingError
from hermes_browse.store.homes import Location, locate

from .arguments import make_parser
from .columns import note

USAGE = 2
INTERRUPTED = 130


class Context:
    """What a command works with: its arguments, the store and the time."""

    def __init__(self, arguments: argparse.Namespace, location: Location) -> None:
        self.arguments = arguments
        self.location = location
        self.store = Store(location.path)
        self.now = time.time()

    @property
    def json(self) -> bool:
        """Whether one JSON document is wanted."""
        return bool(getattr(self.arguments, "json", False))


def print_json(document: object) -> None:
    """Print one JSON document; text as stored, controls escaped as JSON does."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2 if sys.stdout.isatty() else None)
    # C1 controls and bidi overrides are legal inside JSON strings, but a terminal would act on them.
    print("".join(_escape(letter) for letter in text) if sys.stdout.isatty() else text)


def _escape(letter: str) -> str:
    hostile = "\x7f" <= letter <= "\x9f" or letter in "\u061c\u200e\u200f" or "\u2028" <= letter <= "\u202e"
    return f"\\u{ord(letter):04x}" if hostile or "\u2066" <= letter <= "\u2069" else letter


def _wanted_location(arguments: argparse.Namespace) -> Location | str:
    """The store the arguments name, or why it is to be the demo."""
    if arguments.demo:
        return "a sample store: yours opens without --demo"
    location = locate(home=arguments.home, profile=arguments.profile, database=arguments.db)
    if arguments.or_demo:
        try:
            Store(location.path).check()
        except (StoreMissingError, StoreEmptyError):
            return f"no Hermes store at {location.path} yet: this is a sample"
    return location


@contextmanager
def opened_location(arguments: argparse.Namespace) -> Iterator[Location]:
    """The store the arguments name; a demo store lives in a temporary folder as long as the block."""
    wanted = _wanted_location(arguments)
    if isinstance(wanted, Location):
        yield wanted
        return
    from hermes_browse.store.demo import build

    folder = Path(tempfile.mkdtemp(prefix="hermes-browse-demo-"))
    try:
        path = folder / "state.db"
        build(path, now=time.time())
        yield Location(path, demo=True, note=wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _commands() -> dict[str, Callable[[Context], int]]:
    from . import commands, inspect, resuming

    return {
        "list": commands.list_conversations,
        "search": commands.search_messages,
        "show": commands.show_conversation,
        "lineage": commands.show_lineage,
        "resume": resuming.resume,
        "profiles": inspect.list_profiles,
        "doctor": inspect.doctor,
    }


def _browse(location: Location, arguments: argparse.Namespace) -> int:
    # Textual paints on standard error, so that one has to be a terminal as well.
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        note("hermes-browse: the browser needs a terminal; try `hermes-browse list`, or `hermes-browse --help`.")
        return USAGE
    from hermes_browse.tui.launch import launch

    return launch(location)


def run(argv: Sequence[str]) -> int:
    """Run a command line.

    Args:
        argv: Arguments without the program's name.

    Returns:
        The exit code.
    """
    try:
        arguments = make_parser().parse_args(argv)
    except SystemExit as ended:  # argparse has printed help (0) or a usage error (2)
        return int(ended.code or 0) if not isinstance(ended.code, str) else USAGE
    if arguments.version:
        from .version import version

        print(f"hermes-browse {version()}")
        return 0
    try:
        with opened_location(arguments) as location:
            if arguments.command is None:
                return _browse(location, arguments)
            code = _commands()[arguments.command](Context(arguments, location))
            sys.stdout.flush()
            return code
    except BrowseError as error:
        note(f"hermes-browse: {error}")
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): that is its right. Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # the border: a person gets a sentence, the log gets the rest
        from ..logfile import log_failure

        note(f"hermes-browse: something unexpected went wrong ({type(error).__name__}). Details: {log_failure()}")
        return 1
