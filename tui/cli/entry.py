"""Run a command line: the browser or a command. Every failure becomes a sentence and an exit
code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.wording import ENGLISH, _, speak

from .. import version
from ..settings.read_config import chosen_language
from .output import complain, discard_output, note, print_text, printing, with_advice
from .stores import INTERRUPTED, opened_location, opened_there

if TYPE_CHECKING:
    from hermes_browse.store.connection.connect import Store
    from hermes_browse.store.hosts.connection import Links

USAGE = 2
_WITH_VALUE = ("--home", "--profile", "--db")
_FLAGS = ("--demo", "--or-demo", "--print-command", "--plain")
_NOTHING_GIVEN = {
    **dict.fromkeys(("command", "home", "profile", "db", "host")),
    **dict.fromkeys(("demo", "or_demo", "print_command", "plain", "version", "old"), False),
    **dict.fromkeys(("debug", "json", "all_profiles", "all_hosts"), False),
}


def read_quickly(argv: Sequence[str]) -> SimpleNamespace | None:
    """Parse the arguments of the browser without argparse, whose import takes a tenth of the
    start-up time.

    Returns:
        The same as `registry.parse`; None for anything beyond naming a store, and for errors.
    """
    values: dict[str, str | bool] = {}
    words = iter(argv)
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        if word in _FLAGS:
            values[name] = True
            continue
        value = next(words, "")
        if word not in _WITH_VALUE or value[:1] in ("", "-"):
            return None
        values[name] = value
    if len(values.keys() & {"db", "demo", "home", "profile"}) > 1:
        return None
    return SimpleNamespace(**_NOTHING_GIVEN | values)


def _has_terminal() -> bool:
    """Tell whether the browser can draw here; Textual draws on standard error, so that must be a
    terminal too."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if all(stream is not None and stream.isatty() for stream in streams):
        return True
    complain(
        _("the browser needs a terminal; try `hermes-browse list`, or `hermes-browse --help`.")
    )
    return False


def _browse(arguments: SimpleNamespace) -> int:
    """Open the browser, or the line-based dialogue on a terminal that cannot draw."""
    cannot_draw = os.environ.get("TERM") == "dumb"
    if arguments.host is not None:
        return _browse_there(arguments, cannot_draw=cannot_draw)
    with opened_location(arguments) as location:
        if arguments.print_command:
            return _print_command(location)
        if cannot_draw and not arguments.plain and sys.stdin.isatty():
            note(_("This terminal cannot draw (TERM=dumb): --plain is what it can do."))
            arguments.plain = True
        if arguments.plain:
            from .plain import talk  # start time: the browser does not need it

            return talk(location)
        return _draw(location) if _has_terminal() else USAGE


def _browse_there(arguments: SimpleNamespace, *, cannot_draw: bool) -> int:
    """Open the browser on the store of a host."""
    if cannot_draw:
        sentence = _(
            "This terminal cannot draw (TERM=dumb), and the dialogue reads stores of this machine."
        )
        raise RefusedError(sentence)
    if not _has_terminal():
        return USAGE
    note(_("asking {name} …", name=arguments.host))  # which may take seconds
    with opened_there(arguments) as (store, links):
        return _draw(store.location, store.source, links)


def _draw(location: Location, store: Store | None = None, links: Links | None = None) -> int:
    from ..start import run_browser  # the command line never loads the screen

    code, plan = run_browser(location, store=store, links=links)
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
    location.refuse_without_home()
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        complain(
            _(
                "--print-command needs a terminal for its screen; try `hermes-browse resume ID --print`."
            )
        )
        return USAGE
    try:
        with _standard_streams_on(terminal):
            from ..start import run_browser  # likewise

            code, plan = run_browser(location, is_printed=True)
    finally:
        os.close(terminal)
    if plan is not None:
        print_text(plan.shell())
    return code


def _run(argv: Sequence[str]) -> int:
    arguments, command = read_quickly(argv), None
    if arguments is None:
        from .registry import parse  # start time: the browser does without argparse

        try:
            arguments, command = parse(argv)
        except SystemExit as ended:  # argparse has printed the help (0) or the error (2)
            return int(ended.code or 0)
    if arguments.version:
        print_text(f"hermes-browse {version()}")
        return 0
    if arguments.debug:
        path = _logfile().start_debugging(arguments.command or "browser")
        complain(_("writing the log: {path}", path=path))
    if command is None:
        return _browse(arguments)
    if arguments.json:
        speak(ENGLISH)  # programs get the same sentences in every language
    if arguments.host is not None and command.runs_there():
        from .hosts import run_there  # start time: rarely needed

        return run_there(arguments, argv)
    return command.start()


def _logfile() -> ModuleType:
    """Return what writes the log."""
    from ..terminal import logfile  # start time: only with --debug, and after a failure

    return logfile


def run(argv: Sequence[str]) -> int:
    """Run a command line, without the program's name; return the exit code. Every failure is
    printed as a sentence."""
    speak(chosen_language())
    if sys.stdout is None:
        complain(_("standard output is closed, so there is nowhere to write to."))
        return 1
    if sys.stdin is None:  # closed by the caller: there is nothing to read
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # question marks for what its encoding lacks
            stream.reconfigure(errors="replace")
    try:
        code = _run(argv)
        with printing():
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of a pipe may close it early, as `head` does
        discard_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    """Print the sentence of an error, and log it; return the exit code."""
    if isinstance(error, BrowseError):
        _logfile().log_expected()
        complain(with_advice(error))
        return error.exit_code
    # Last resort: the user gets a sentence, the log the details.
    cause = getattr(error, "strerror", None) or type(error).__name__
    path = _logfile().log_failure()
    complain(_("something unexpected went wrong ({what}). Details: {path}", what=cause, path=path))
    if isinstance(error, OSError):  # on a full disk, flushing would fail too
        discard_output()
    return 1
