"""The checks of `doctor`, for the command line and the screen: facts, and problems with their
remedies."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.health import (
    SearchHealth,
    StoreProblem,
    StoreSummary,
    problems_of,
)
from hermes_browse.store.hermes.homes import Location, sessions_folder
from hermes_browse.store.hermes.processes import Holder, find_hermes, hermes_version, holders
from hermes_browse.store.wording import PN_, _, ngettext

from ..settings.keymap import resolve_keymap
from ..settings.options import WINDOW
from ..settings.read_config import Configuration, config_path, read_config
from ..terminal.clipboard import route
from ..terminal.logfile import log_path
from . import formats

_LOW_DISK = 200_000_000
"""Bytes; a disk with less is reported as nearly full."""


def terminal(stream: TextIO | None = None) -> dict[str, object]:
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
        "clipboard": route(env),
        "ssh": "SSH_CONNECTION" in env,
    }


def disk_free(path: Path) -> int | None:
    """Bytes free on the disk of the store; None if unknown."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None


def problems_around(
    holders: Sequence[Holder],
    free: int | None,
    size: int,
    term: Mapping[str, object],
    configuration: Configuration,
) -> Iterator[StoreProblem]:
    """Check the surroundings of a store of `size` bytes, which `holders` have open, with `free`
    bytes on its disk.

    `term` is from `terminal`.
    """
    yield from _holder_problems(holders)
    if free is not None:
        yield from _disk_problems(free, size)
    for trouble in resolve_keymap(configuration)[1]:
        sentence = trouble._replace(remedy="").sentence(str(configuration.path))
        remedy = trouble.remedy or _("`hermes-browse config show` says more.")
        yield StoreProblem("warning", "config", sentence, remedy)
    if not term["interactive"]:
        return
    options = configuration.options
    if options.resume == "window" and options.window == WINDOW and term["windows"] is None:
        text = _('resume = "window" has no terminal here that opens windows.')
        remedy = _("Start the browser in tmux, or set the option “window”.")
        yield StoreProblem("warning", "no-windows", text, remedy)
    yield from _terminal_problems(term)


def _holder_problems(holders: Sequence[Holder]) -> Iterator[StoreProblem]:
    if gone := _names(each for each in holders if each.is_gone):
        text = _(
            "{names} writes to a store that has been removed or replaced: what it writes is lost."
        )
        yield StoreProblem("error", "held-gone", text.format(names=gone), _("Restart it."))
    if here := _names(each for each in holders if not each.is_gone):
        text = _("{names} has the store open.", names=here)
        remedy = _(
            "Browsing is safe beside it; end it before Hermes' own prune, optimize or repair, which refuse."
        )
        yield StoreProblem("info", "held", text, remedy)


def _names(holders: Iterable[Holder], comma: str = ", ") -> str:
    return comma.join(f"{each.name} ({each.pid})" for each in holders)


def _disk_problems(free: int, size: int) -> Iterator[StoreProblem]:
    if free < _LOW_DISK:
        text = _("The disk of the store has {free} left: Hermes cannot write to a full one.")
        remedy = _("Free disk space, or prune: `hermes-browse prune --dry-run`.")
        yield StoreProblem("warning", "disk-low", text.format(free=formats.size(free)), remedy)
    elif free < 2 * size:  # https://sqlite.org/lang_vacuum.html
        text = _("The disk has {free} left, and VACUUM may need twice the size of the store.")
        remedy = _("Free disk space before `hermes sessions optimize`.")
        yield StoreProblem("info", "disk-vacuum", text.format(free=formats.size(free)), remedy)


def _terminal_problems(term: Mapping[str, object]) -> Iterator[StoreProblem]:
    if str(term["encoding"] or "").lower().replace("-", "") != "utf8":
        text = _("The terminal's encoding is {encoding}: other letters become question marks.")
        remedy = _("Set LANG to a locale with UTF-8, such as C.UTF-8.")
        yield StoreProblem("warning", "encoding", text.format(encoding=term["encoding"]), remedy)
    if term["term"] in (None, "", "dumb"):
        text = _(
            "The terminal does not say what it is (TERM), so it has no screen for the browser."
        )
        remedy = _("Set TERM, for example to xterm-256color.")
        yield StoreProblem("warning", "terminal-dumb", text, remedy)
    elif term["colors"] not in ("none", "truecolor", "24bit"):
        text = _(
            "The terminal does not say that it has true colours, so the first rows are not painted ahead."
        )
        remedy = _("Set COLORTERM=truecolor where it has them.")
        yield StoreProblem("info", "no-truecolor", text, remedy)
    columns, rows = int(str(term["columns"])), int(str(term["rows"]))
    if columns < 80 or rows < 24:
        text = _("The terminal has {columns} × {rows} cells; the browser wants 80 × 24.")
        remedy = _("Make it larger, or its letters smaller.")
        small = text.format(columns=columns, rows=rows)
        yield StoreProblem("info", "terminal-small", small, remedy)


def _old_transcript_problems(location: Location, store: OpenStore) -> Iterator[StoreProblem]:
    folder = sessions_folder(location)
    count = store.old_files(folder)
    if not count.files:
        return
    text = ngettext(
        "1 file is a transcript without a session in the store ({size} in {folder}).",
        "{count:,} files are transcripts without a session in the store ({size} in {folder}).",
        count.files,
    )
    files = text.format(count=count.files, size=formats.size(count.bytes), folder=folder)
    remedy = _("Read them with `hermes-browse --old list`, or with the key 5 in the browser.")
    yield StoreProblem("info", "old-transcripts", files, remedy)


_SEVERITIES = PN_("severity", ("error", "warning", "info"))


class Checkup(NamedTuple):
    summary: StoreSummary
    search: SearchHealth
    hermes: str | None
    """Path of the `hermes` that resuming would run."""
    hermes_version: str | None
    terminal: Mapping[str, object]
    holders: list[Holder] | None
    """None if unknown."""
    free: int | None
    """Bytes free on the disk of the store."""
    rules: RetentionRules | None
    """What Hermes deletes by itself; None if the store cannot be read."""
    configuration: Configuration
    log: Path
    problems: tuple[StoreProblem, ...]
    """Worst first."""
    exit_code: int
    """Of the command: 0, or that of the error with which reading the store failed."""


def examine(store: Store, location: Location, stream: TextIO | None = None) -> Checkup:
    """Run all checks; takes as long as a few counts over the store. `stream` is as for
    `terminal`."""
    executable, code = find_hermes(), 0
    search, rules = SearchHealth(False, False, 0, 0), None
    size, wal_size = store.sizes()
    path, profile = location.path, location.profile
    try:
        with OpenStore(store, location) as lease:
            summary = lease.summary()
            search = lease.search_health()
            problems = list(_old_transcript_problems(location, lease))
            rules = lease.retention(time.time())
        problems = [*problems_of(summary, search, executable), *problems]
    except StoreError as error:
        code = error.exit_code
        problems = [StoreProblem("error", error.code, error.sentence, error.remedy, error.advice)]
        summary = StoreSummary(
            path, profile, None, None, size, wal_size, None, None, True, tuple(problems)
        )
    held, free, term = holders(path), disk_free(path), terminal(stream)
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
        log=log_path(),
        problems=tuple(sorted(problems, key=lambda each: _SEVERITIES.index(each.severity))),
        exit_code=code,
    )


def facts(checkup: Checkup) -> list[tuple[str, str]]:
    """Return the facts as names and texts, without unknown ones."""
    every = [*_store_facts(checkup), *_hermes_facts(checkup), *_facts_here(checkup)]
    return [(name, text) for name, text in every if text]


def _store_facts(checkup: Checkup) -> Iterator[tuple[str, str]]:
    summary, size = checkup.summary, formats.size
    yield _("store"), str(summary.path)
    yield _("profile"), summary.profile or ""
    if summary.sessions is not None:
        holds = _(
            "{sessions:,} sessions, {messages:,} messages",
            sessions=summary.sessions,
            messages=summary.messages or 0,
        )
        yield _("holds"), holds
    if summary.schema_version is not None:
        yield _("schema"), str(summary.schema_version)
    if summary.journal_mode is not None:
        mode = _("{mode}, opened for reading only") if summary.read_only else "{mode}"
        yield _("journal mode"), mode.format(mode=summary.journal_mode)
    yield (
        _("size"),
        _("{size}, write-ahead log {wal}", size=size(summary.size), wal=size(summary.wal_size)),
    )
    if checkup.free is not None:
        yield _("disk"), _("{size} free", size=size(checkup.free))
    if summary.sessions is not None:
        yield _("search index"), _index(checkup.search)


def _hermes_facts(checkup: Checkup) -> Iterator[tuple[str, str]]:
    if checkup.holders is None:
        yield _("open in"), _("this system does not tell")
    else:
        names = _names(checkup.holders, _(", "))
        yield _("open in"), names or _("no other process")
    version = f"{checkup.hermes} {checkup.hermes_version or ''}".rstrip()
    yield "hermes", version if checkup.hermes else _("not found")
    if checkup.rules is not None:
        yield _("retention"), _hermes_cleans_up(checkup.rules)


def _facts_here(checkup: Checkup) -> Iterator[tuple[str, str]]:
    term, configuration, log = checkup.terminal, checkup.configuration, checkup.log
    tool, windows = _("by {tool}"), term["windows"]
    yield _("terminal"), _terminal_words(term)
    yield _("clipboard"), tool.format(tool=term["clipboard"])
    yield _("new windows"), tool.format(tool=windows) if windows else _("not from this terminal")
    path = "{path}" if configuration.exists else _("{path} (not there: nothing is set)")
    yield _("configuration"), path.format(path=configuration.path)
    path = "{path}" if log.exists() else _("{path} (nothing went wrong yet)")
    yield _("log"), path.format(path=log)


def _hermes_cleans_up(rules: RetentionRules) -> str:
    retention = rules.retention
    parts = (
        [rules.why_never] if rules.why_never else [retention.sentence, retention.vacuum_sentence]
    )
    return _("; ").join(part for part in parts if part)


def _index(search: SearchHealth) -> str:
    if not search.fts:
        return _("none: searches look through the messages")
    share = f" ({search.indexed / search.messages:.1%})" if search.messages else ""
    if search.trigram:
        text = _("{indexed:,} of {messages:,} messages{share}, with an index of substrings")
    else:
        text = _("{indexed:,} of {messages:,} messages{share}, without an index of substrings")
    return text.format(indexed=search.indexed, messages=search.messages, share=share)


def _terminal_words(term: Mapping[str, object]) -> str:
    parts = [
        f"{term['columns']} × {term['rows']}",
        f"{term['term'] or _('no TERM')}",
        _("colours {depth}", depth=term["colors"]),
        f"{term['encoding']}",
        _("in {program}", program=term["multiplexer"]) if term["multiplexer"] else "",
        _("over SSH") if term["ssh"] else "",
    ]
    return _(", ").join(part for part in parts if part)
