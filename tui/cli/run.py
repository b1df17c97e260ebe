"""From arguments to an exit code: which store, which command, and every failure as a sentence."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import BrowseError, StoreEmptyError, StoreMissingError
from hermes_browse.store.homes import Location, locate
from hermes_browse.store.text import HOSTILE, as_text
from hermes_browse.store.wording import ENGLISH, _, speak

from ..config.tongue import chosen_language
from .columns import note
from .quick import read_quickly

USAGE = 2
INTERRUPTED = 130


class Context:
    """What a command works with: its arguments, the store and the time."""

    def __init__(self, arguments: SimpleNamespace, location: Location) -> None:
        self.arguments = arguments
        self.location = location
        self.store = Store(location.path)
        self.now = _demo_time(arguments) if location.demo else time.time()

    @property
    def json(self) -> bool:
        """Whether one JSON document is wanted."""
        return bool(getattr(self.arguments, "json", False))


def print_json(document: object) -> None:
    """Print one JSON document in UTF-8 whatever the locale; text as stored, controls escaped."""
    import json

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2 if sys.stdout.isatty() else None)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    # Legal inside JSON strings, but a terminal, or the pager behind a pipe, would act on them.
    print(re.sub(HOSTILE, lambda match: json.dumps(match[0])[1:-1], as_text(text) or ""))


def _wanted_location(arguments: SimpleNamespace) -> Location | str:
    """The store the arguments name, or why it is to be the demo."""
    if arguments.demo:
        return _("a sample store: yours opens without --demo")
    location = locate(home=arguments.home, profile=arguments.profile, database=arguments.db)
    if arguments.or_demo:
        try:
            Store(location.path).check()
        except (StoreMissingError, StoreEmptyError):
            return _("no Hermes store at {path} yet: this is a sample").format(path=location.path)
    return location


def _demo_time(arguments: SimpleNamespace) -> float:
    """When the sample store is made for: now, but for commands the hour's beginning.

    Its ids follow the clock, and what one command prints should be an argument of the next.
    """
    now = time.time()
    return now - now % 3600 if arguments.command is not None else now


@contextmanager
def opened_location(arguments: SimpleNamespace) -> Iterator[Location]:
    """The store the arguments name; a demo store lives in a temporary folder as long as the block."""
    wanted = _wanted_location(arguments)
    if isinstance(wanted, Location) and not arguments.old:
        yield wanted
        return
    from hermes_browse.store.temporary import TemporaryFolder, removed_when_told_to_end

    with removed_when_told_to_end():
        if isinstance(wanted, Location):
            from .old import opened_transcripts

            named = getattr(arguments, "id", None) or getattr(arguments, "ids", None) or []
            with opened_transcripts(wanted, [named] if isinstance(named, str) else named) as location:
                yield location
            return
        from hermes_browse.store.demo import build

        with TemporaryFolder("demo") as folder:
            path = folder / "state.db"
            build(path, now=_demo_time(arguments))
            yield Location(path, demo=True, note=wanted)


def _commands() -> dict[str, Callable[[Context], int]]:
    from . import changing, commands, exporting, inspect, pruning, resuming, searching, statistics, trashing

    return {
        "list": commands.list_conversations,
        "search": searching.search_messages,
        "show": commands.show_conversation,
        "lineage": commands.show_lineage,
        "resume": resuming.resume,
        "rename": changing.rename,
        **dict.fromkeys(("archive", "unarchive", "pin", "unpin"), changing.mark),
        "delete": trashing.delete_conversations,
        "trash": trashing.trash,
        "prune": pruning.prune,
        "export": exporting.export,
        "stats": statistics.show_statistics,
        "profiles": inspect.list_profiles,
        "doctor": inspect.doctor,
    }


def _without_store(arguments: SimpleNamespace) -> int | None:
    """Run a command that asks no store; None for all others."""
    if arguments.command == "config":
        from .configuring import config

        return config(arguments)
    if arguments.command == "completions":
        from .arguments import make_parser
        from .completing import completions

        speak(ENGLISH)  # shells keep the script, and one that is made elsewhere should be the same
        print(completions(arguments.shell, make_parser()))
        return 0
    if arguments.command == "man":
        from .arguments import make_parser
        from .manual import manual
        from .version import version

        print(manual(make_parser(), version()))
        return 0
    return None


def _browse(location: Location, arguments: SimpleNamespace) -> int:
    cannot_draw = os.environ.get("TERM") == "dumb" and not arguments.print_command and sys.stdin.isatty()
    if cannot_draw and not arguments.plain:
        note(_("This terminal cannot draw (TERM=dumb): --plain is what it can do."))
    if arguments.plain or cannot_draw:
        from .plain import talk

        return talk(location)
    if arguments.print_command:
        from .choosing import choose_and_print

        return choose_and_print(location)
    # Textual paints on standard error, so that one has to be a terminal as well.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        told = _("the browser needs a terminal; try `hermes-browse list`, or `hermes-browse --help`.")
        note(f"hermes-browse: {told}")
        return USAGE
    from hermes_browse.tui.launch import launch

    return launch(location)


def _run(argv: Sequence[str]) -> int:
    arguments = read_quickly(argv)
    if arguments is None:
        from .arguments import parse

        try:
            arguments = parse(argv)
        except SystemExit as ended:  # argparse has printed help (0), or the mistake has been said (2)
            return int(ended.code or 0) if not isinstance(ended.code, str) else USAGE
    if arguments.version:
        from .version import version

        print(f"hermes-browse {version()}")
        return 0
    if getattr(arguments, "debug", False):
        from ..logfile import start_debugging

        told = _("writing down what is done: {path}").format(path=start_debugging(arguments.command or "browser"))
        note(f"hermes-browse: {told}")
    if getattr(arguments, "json", False):
        speak(ENGLISH)  # what programs read is the same in every language, the sentences in it too
    if (code := _without_store(arguments)) is not None:
        return code
    if getattr(arguments, "all_profiles", False):
        from .everywhere import list_everywhere, search_all

        run_all = list_everywhere if arguments.command == "list" else search_all
        return run_all(arguments)
    with opened_location(arguments) as location:
        if arguments.command is None:
            return _browse(location, arguments)
        return _commands()[arguments.command](Context(arguments, location))


def _hush() -> None:
    """Send what is still to be written nowhere: Python would complain at its end."""
    try:
        number = sys.stdout.fileno()
    except OSError:  # not a real file: no complaint to come
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _take_letters_it_has() -> None:
    """Have output in another encoding than UTF-8 end in ASCII signs and question marks, not in an error."""
    from ..shared.glyphs import is_unicode

    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if is_unicode(stream.encoding):
            stream.reconfigure(errors="replace" if stream is sys.stdout else stream.errors)
            continue
        import codecs

        from ..shared.glyphs import replace_unencodable

        codecs.register_error("hermes-browse", replace_unencodable)
        stream.reconfigure(errors="hermes-browse")


def run(argv: Sequence[str]) -> int:
    """Run a command line.

    Args:
        argv: Arguments without the program's name.

    Returns:
        The exit code.
    """
    speak(chosen_language())
    if sys.stdout is None:
        told = _("standard output is closed, so there is nowhere to write to.")
        note(f"hermes-browse: {told}")
        return 1
    if isinstance(sys.stdout, io.TextIOWrapper):  # a locale without UTF-8 must not end in an error
        _take_letters_it_has()
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrowseError as error:
        from ..logfile import log_expected

        log_expected()
        note(f"hermes-browse: {error}")
        return error.exit_code
    except BrokenPipeError:  # the reader of a pipe went away (`| head`): that is its right
        _hush()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # the border: a person gets a sentence, the log gets the rest
        from ..logfile import log_failure

        what = f"{error.strerror}" if isinstance(error, OSError) and error.strerror else type(error).__name__
        told = _("something unexpected went wrong ({what}). Details: {path}").format(what=what, path=log_failure())
        note(f"hermes-browse: {told}")
        if isinstance(error, OSError):  # a full disk refuses the rest as well
            _hush()
        return 1
