"""The checks of `doctor`, for the command line and the screen: facts, and problems with their
remedies."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.health import (
    Holder,
    SearchHealth,
    StoreProblem,
    StoreSummary,
    holders,
    problems_of,
)
from hermes_browse.store.hermes.homes import Location, sessions_folder
from hermes_browse.store.hermes.resume_command import find_hermes, hermes_version
from hermes_browse.store.wording import N_, PN_, _, ngettext

from ..settings.keymap import resolve_keymap
from ..settings.options import WINDOW
from ..settings.read_config import Configuration, config_path, read_config
from ..terminal.logfile import log_path
from ..terminal.programs import route
from . import formats
from .glyphs import is_unicode

_LOW_DISK = 200_000_000
"""Bytes; a disk with less is reported as nearly full."""


def terminal(stream: TextIO | None = None) -> dict[str, Any]:
    """Return the properties of the terminal; `stream` is standard output by default, which Textual
    replaces."""
    stream = stream or sys.stdout
    size = shutil.get_terminal_size()
    env = os.environ
    return {
        "columns": size.columns,
        "rows": size.lines,
        "interactive": stream.isatty(),
        "term": env.get("TERM"),
        "program": env.get("TERM_PROGRAM"),
        "colors": "none" if "NO_COLOR" in env else env.get("COLORTERM") or "unknown",
        "encoding": stream.encoding,
        "multiplexer": "tmux" if "TMUX" in env else "zellij" if "ZELLIJ" in env else None,
        "windows": "tmux" if env.get("TMUX") else None,
        "clipboard": route(),
        "ssh": "SSH_CONNECTION" in env,
    }


def disk_free(path: Path) -> int | None:
    """Bytes free on the disk of the store; None if unknown."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None


_PROBLEMS = N_(
    {
        "held-gone": (
            "{gone} writes to a store that has been removed or replaced: what it writes is lost.",
            "Restart it.",
        ),
        "held": (
            "{here} has the store open.",
            "Browsing is safe beside it; end it before Hermes' own prune, optimize or repair, which refuse.",
        ),
        "disk-low": (
            "The disk of the store has {free} left: Hermes cannot write to a full one.",
            "Free disk space, or prune: `hermes-browse prune --dry-run`.",
        ),
        "disk-vacuum": (
            "The disk has {free} left, and VACUUM may need twice the size of the store.",
            "Free disk space before `hermes sessions optimize`.",
        ),
        "no-windows": (
            'resume = "window" has no terminal here that opens windows.',
            "Start the browser in tmux, or set the option “window”.",
        ),
        "encoding": (
            "The terminal's encoding is {encoding}: other letters become question marks.",
            "Set LANG to a locale with UTF-8, such as C.UTF-8.",
        ),
        "terminal-dumb": (
            "The terminal does not say what it is (TERM), so it has no screen for the browser.",
            "Set TERM, for example to xterm-256color.",
        ),
        "no-truecolor": (
            "The terminal does not say that it has true colours, so the first rows are not painted ahead.",
            "Set COLORTERM=truecolor where it has them.",
        ),
        "terminal-small": (
            "The terminal has {columns} × {rows} cells; the browser wants 80 × 24.",
            "Make it larger, or its letters smaller.",
        ),
    }
)
"""What can be wrong around a store, and what to do about it, by code."""


def problems_around(
    holders: Sequence[Holder],
    free: int | None,
    size: int,
    term: dict[str, Any],
    configuration: Configuration,
) -> list[StoreProblem]:
    """Check the surroundings of a store of `size` bytes, which `holders` have open, with `free`
    bytes on its disk.

    `term` is from `terminal`.
    """
    options = configuration.options
    values = term | {
        "gone": _names(each for each in holders if each.is_gone),
        "here": _names(each for each in holders if not each.is_gone),
        "free": formats.size(free or 0),
    }
    wants_windows = options.resume == "window" and options.window == WINDOW
    is_dumb = term["term"] in (None, "", "dumb")
    has_colours = term["colors"] in ("none", "truecolor", "24bit")
    checks = [
        ("error", "held-gone", values["gone"]),
        ("info", "held", values["here"]),
        ("warning", "disk-low", free is not None and free < _LOW_DISK),
        # https://sqlite.org/lang_vacuum.html
        ("info", "disk-vacuum", free is not None and _LOW_DISK <= free < 2 * size),
    ]
    if term["interactive"]:
        checks += [
            ("warning", "no-windows", wants_windows and term["windows"] is None),
            ("warning", "encoding", not is_unicode(term["encoding"])),
            ("warning", "terminal-dumb", is_dumb),
            ("info", "no-truecolor", not is_dumb and not has_colours),
            ("info", "terminal-small", term["columns"] < 80 or term["rows"] < 24),
        ]
    problems = [
        StoreProblem(severity, code, _(_PROBLEMS[code][0], **values), _(_PROBLEMS[code][1]))
        for severity, code, is_so in checks
        if is_so
    ]
    for trouble in resolve_keymap(configuration)[1]:
        sentence = trouble._replace(remedy="").sentence(str(configuration.path))
        remedy = trouble.remedy or _("`hermes-browse config show` says more.")
        problems.append(StoreProblem("warning", "config", sentence, remedy))
    return problems


def _names(holders: Iterable[Holder]) -> str:
    return formats.listed(*(f"{each.name} ({each.pid})" for each in holders))


def _old_transcript_problems(location: Location, store: OpenStore) -> Iterator[StoreProblem]:
    folder = sessions_folder(location)
    count = store.old_files(folder)
    if not count.files:
        return
    files = ngettext(
        "1 file is a transcript without a session in the store ({size} in {folder}).",
        "{count:,} files are transcripts without a session in the store ({size} in {folder}).",
        count.files,
        size=formats.size(count.bytes),
        folder=folder,
    )
    remedy = _("Read them with `hermes-browse --old list`, or with the key 5 in the browser.")
    yield StoreProblem("info", "old-transcripts", files, remedy)


_SEVERITIES = PN_("severity", ("error", "warning", "info"))


class Checkup(NamedTuple):
    summary: StoreSummary
    search: SearchHealth
    hermes: str | None
    """Path of the `hermes` that resuming would run."""
    hermes_version: str | None
    terminal: dict[str, Any]
    holders: list[Holder] | None
    """None if unknown."""
    free: int | None
    """Bytes free on the disk of the store."""
    rules: RetentionRules | None
    """What Hermes deletes by itself; None if the store cannot be read."""
    configuration: Configuration
    problems: tuple[StoreProblem, ...]
    """Worst first."""


def examine(store: Store, location: Location, stream: TextIO | None = None) -> Checkup:
    """Run all checks; takes as long as a few counts over the store. `stream` is as for
    `terminal`."""
    executable = find_hermes()
    search, rules = SearchHealth(False, False, 0, 0), None
    size, wal_size = store.sizes()
    try:
        with OpenStore(store, location) as opened:
            summary = opened.summary()
            search = opened.search_health()
            problems = list(problems_of(summary, search, executable))
            problems += _old_transcript_problems(location, opened)
            rules = opened.retention(time.time())
    except StoreError as error:
        problems = [StoreProblem("error", error.code, error.sentence, error.remedy, error.advice)]
        path, profile = location.path, location.profile
        summary = StoreSummary(
            path, profile, None, None, size, wal_size, None, None, True, tuple(problems)
        )
    held, free, term = holders(location.path), disk_free(location.path), terminal(stream)
    configuration = read_config(config_path())
    problems += problems_around(held or [], free, size, term, configuration)
    return Checkup(
        summary=summary,
        search=search,
        hermes=executable,
        hermes_version=hermes_version(executable) if executable is not None else None,
        terminal=term,
        holders=held,
        free=free,
        rules=rules,
        configuration=configuration,
        problems=tuple(sorted(problems, key=lambda each: _SEVERITIES.index(each.severity))),
    )


def facts(checkup: Checkup) -> list[tuple[str, str]]:
    """Return the facts as names and texts, without unknown ones."""
    summary, term, size = checkup.summary, checkup.terminal, formats.size
    mode = summary.journal_mode
    if mode and summary.read_only:
        mode = _("{mode}, opened for reading only", mode=mode)
    holds = index = ""
    if summary.sessions is not None:
        holds = _(
            "{sessions:,} sessions, {messages:,} messages",
            sessions=summary.sessions,
            messages=summary.messages or 0,
        )
        index = _index(checkup.search)
    tool, windows = N_("by {tool}"), term["windows"]
    path, log = checkup.configuration.path, log_path()
    is_set, is_written = checkup.configuration.exists, os.path.exists(log)
    open_in = _("this system does not tell")
    if checkup.holders is not None:
        open_in = _names(checkup.holders) or _("no other process")
    hermes = f"{checkup.hermes} {checkup.hermes_version or ''}".rstrip()
    cleans_up, rules = "", checkup.rules
    if rules is not None:
        sentences = (rules.retention.sentence, rules.retention.vacuum_sentence)
        cleans_up = rules.why_never or _("; ").join(filter(None, sentences))
    every = {
        _("store"): summary.path,
        _("profile"): summary.profile,
        _("holds"): holds,
        _("schema"): summary.schema_version,
        _("journal mode"): mode,
        _("size"): _(
            "{size}, write-ahead log {wal}", size=size(summary.size), wal=size(summary.wal_size)
        ),
        _("disk"): None if checkup.free is None else _("{size} free", size=size(checkup.free)),
        _("search index"): index,
        _("open in"): open_in,
        "hermes": hermes if checkup.hermes else _("not found"),
        _("retention"): cleans_up,
        _("terminal"): _terminal_words(term),
        _("clipboard"): _(tool, tool=term["clipboard"]),
        _("new windows"): _(tool, tool=windows) if windows else _("not from this terminal"),
        _("configuration"): path if is_set else _("{path} (not there: nothing is set)", path=path),
        _("log"): log if is_written else _("{path} (nothing went wrong yet)", path=log),
    }
    return [(name, str(fact)) for name, fact in every.items() if fact not in (None, "")]


def _index(search: SearchHealth) -> str:
    if not search.fts:
        return _("none: searches look through the messages")
    share = f" ({search.indexed / search.messages:.1%})" if search.messages else ""
    text = N_("{indexed:,} of {messages:,} messages{share}, without an index of substrings")
    if search.trigram:
        text = N_("{indexed:,} of {messages:,} messages{share}, with an index of substrings")
    return _(text, indexed=search.indexed, messages=search.messages, share=share)


def _terminal_words(term: dict[str, Any]) -> str:
    return formats.listed(
        f"{term['columns']} × {term['rows']}",
        term["term"] or _("no TERM"),
        _("colours {depth}", depth=term["colors"]),
        term["encoding"],
        _("in {program}", program=term["multiplexer"]) if term["multiplexer"] else "",
        _("over SSH") if term["ssh"] else "",
    )
