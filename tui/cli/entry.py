"""Run a command line: the browser or a command. Every failure becomes a sentence and an exit
code."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.wording import ENGLISH, _, speak

from ..config.folders import chosen_language
from ..shared.glyphs import is_unicode, replace_unencodable
from ..version import version
from .advice import with_advice
from .command_context import Subcommand, opened_location
from .output import complain, note, print_text

if TYPE_CHECKING:
    from hermes_browse.store.connection.connect import Store
    from hermes_browse.store.hosts.link import Links

USAGE = 2
INTERRUPTED = 130
_WITH_VALUE = {"--home": "home", "--profile": "profile", "--db": "db"}


def read_quickly(argv: Sequence[str]) -> SimpleNamespace | None:
    """Parse the arguments of the browser without argparse, whose import takes a tenth of the
    start-up time.

    Returns:
        The same as `registry.parse`; None for anything beyond naming a store, and for errors.
    """
    named: dict[str, str | None] = {"home": None, "profile": None, "db": None}
    flags = {"demo": False, "or_demo": False, "print_command": False, "old": False, "plain": False}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name in _WITH_VALUE:
            value = value if equals else next(words, "")
            if (
                not value
                or named[_WITH_VALUE[name]] is not None
                or (not equals and value.startswith("-"))
            ):
                return None
            named[_WITH_VALUE[name]] = value
        elif word in ("--demo", "--or-demo", "--print-command", "--plain"):
            flags[word[2:].replace("-", "_")] = True
        else:
            return None
    if (named["db"] is not None) + flags["demo"] + (
        named["home"] is not None or named["profile"] is not None
    ) > 1:
        return None
    return SimpleNamespace(command=None, version=False, host=None, **named, **flags)


def _has_terminal() -> bool:
    """Tell whether the browser can draw here; Textual draws on standard error, so that must be a
    terminal too."""
    if all(
        stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)
    ):
        return True
    complain(
        _("the browser needs a terminal; try `hermes-browse list`, or `hermes-browse --help`.")
    )
    return False


def _browse(
    location: Location,
    arguments: SimpleNamespace,
    store: Store | None = None,
    links: Links | None = None,
) -> int:
    """Open the browser, or the line-based dialogue on a terminal that cannot draw.

    Args:
        store: The store at the location, if it is on a host.
        links: The connections to hosts, if one is open already.
    """
    cannot_draw = (
        os.environ.get("TERM") == "dumb" and not arguments.print_command and sys.stdin.isatty()
    )
    if cannot_draw and not arguments.plain:
        note(_("This terminal cannot draw (TERM=dumb): --plain is what it can do."))
    if arguments.plain or cannot_draw:
        from .plain import talk  # start time: the browser does not need it

        return talk(location)
    if arguments.print_command:
        return _print_command(location)
    if not _has_terminal():
        return USAGE
    from ..start.launch import choose  # the command line never loads the screen

    code, plan = choose(location, store=store, links=links)
    if plan is None:
        return code
    from .resume import run_plan  # start time: the browser does not need it

    return run_plan(plan)


@contextmanager
def _standard_streams_on(terminal: int) -> Iterator[None]:
    """Redirect the standard streams that are not terminals to `terminal`, a file descriptor, for
    the block."""
    redirected = [(number, os.dup(number)) for number in (0, 1, 2) if not os.isatty(number)]
    try:
        for number, _copy in redirected:
            os.dup2(terminal, number)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, copy in redirected:
            os.dup2(copy, number)
            os.close(copy)


def _print_command(location: Location) -> int:
    """Run the browser, and print the command that resumes the chosen conversation
    (`--print-command`).

    The shell reads standard output in `eval "$(hermes-browse --print-command)"` and in key
    bindings, so the screen is drawn on /dev/tty.
    """
    location.refuse_without_home("resume")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        complain(
            _(
                "--print-command needs a terminal for its screen; try `hermes-browse resume ID --print`."
            )
        )
        return USAGE
    from ..start.launch import choose  # the command line never loads the screen

    try:
        with _standard_streams_on(terminal):
            code, plan = choose(location, is_printed=True)
    finally:
        os.close(terminal)
    if plan is not None:
        print_text(plan.shell())
    return code


def _run_there(arguments: SimpleNamespace, command: Subcommand | None, argv: Sequence[str]) -> int:
    """Run a command on a host, or open the browser on its store."""
    if arguments.command == "export" and arguments.output != "-":
        from .export_from_host import export_from_host  # start time: rarely needed

        return export_from_host(arguments)
    from .on_host import opened_there, run_on_host  # start time: rarely needed

    if command is not None:
        return run_on_host(arguments, argv)
    if os.environ.get("TERM") == "dumb":
        raise RefusedError(
            _(
                "This terminal cannot draw (TERM=dumb), and the dialogue reads stores of this machine."
            )
        )
    if not _has_terminal():
        return USAGE
    note(_("asking {name} …").format(name=arguments.host))  # which may take seconds
    with opened_there(arguments.host) as (location, store, links):
        return _browse(location, arguments, store, links)


def _run(argv: Sequence[str]) -> int:
    arguments, command = read_quickly(argv), None
    if arguments is None:
        from .registry import parse  # start time: the browser does without argparse

        try:
            arguments, command = parse(argv)
        except SystemExit as ended:  # argparse has printed the help (0) or the error (2)
            return int(ended.code or 0) if not isinstance(ended.code, str) else USAGE
    if arguments.version:
        print(f"hermes-browse {version()}")
        return 0
    if getattr(arguments, "debug", False):
        from ..logfile import start_debugging  # start time: only needed with --debug

        path = start_debugging(arguments.command or "browser")
        complain(_("writing the log: {path}").format(path=path))
    if getattr(arguments, "json", False):
        speak(ENGLISH)  # programs get the same sentences in every language
    if arguments.host is not None:
        return _run_there(arguments, command, argv)
    if command is not None and getattr(arguments, "all_hosts", False):
        from .all_hosts import run_everywhere  # start time: rarely needed

        return run_everywhere(command, arguments, argv)
    if command is not None:
        return command.start(arguments)
    with opened_location(arguments) as location:
        return _browse(location, arguments)


def _discard_output() -> None:
    """Discard buffered output, which Python would otherwise fail to flush at exit and report."""
    try:
        output = sys.stdout.fileno()
    except OSError:  # not a real file, so nothing is reported
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, output)
    os.close(null)


def _replace_unencodable_characters() -> None:
    """Print question marks for characters the output encoding lacks, rather than fail; the screen
    too."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if is_unicode(stream.encoding):
            stream.reconfigure(errors="replace" if stream is sys.stdout else stream.errors)
            continue
        codecs.register_error("hermes-browse", replace_unencodable)
        stream.reconfigure(errors="hermes-browse")


def run(argv: Sequence[str]) -> int:
    """Run a command line, without the program's name; return the exit code."""
    speak(chosen_language())
    if sys.stdout is None:
        complain(_("standard output is closed, so there is nowhere to write to."))
        return 1
    if isinstance(sys.stdout, io.TextIOWrapper):
        _replace_unencodable_characters()
    return ended(lambda: _run(argv))


def ended(work: Callable[[], int]) -> int:
    """Return the exit code of a piece of work; every failure is printed as a sentence."""
    try:
        code = work()
        sys.stdout.flush()
        return code
    except BrowseError as error:
        from ..logfile import log_expected  # start time: only needed after a failure

        log_expected()
        complain(with_advice(error))
        return error.exit_code
    except BrokenPipeError:  # the reader of a pipe may close it early, as `head` does
        _discard_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # last resort: the user gets a sentence, the log the details
        from ..logfile import log_failure  # start time: only needed after a failure

        cause = (
            f"{error.strerror}"
            if isinstance(error, OSError) and error.strerror
            else type(error).__name__
        )
        sentence = _("something unexpected went wrong ({what}). Details: {path}")
        complain(sentence.format(what=cause, path=log_failure()))
        if isinstance(error, OSError):  # on a full disk, flushing would fail too
            _discard_output()
        return 1
