"""Everything `doctor` looks at, for the command line and for the screen: one look, one list of facts and problems."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from hermes_browse.store.connection.connect import Reader, Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.health import Problem, StoreSummary, hermes_version, problems_of, summarize
from hermes_browse.store.hermes.holders import Holder, holders
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.index_health import SearchHealth, search_health
from hermes_browse.store.hermes.resume import find_hermes
from hermes_browse.store.legacy.finding import count_files
from hermes_browse.store.wording import _, ngettext

from ..config.folders import log_path
from ..config.keymap import troubles_of
from ..config.reading import Configuration, read_config
from ..formats import long_number
from ..resume.terminal_windows import terminal_of
from ..shared.clipboard import route
from ..store_paths import sessions_folder

_LITTLE = 200_000_000
"""Bytes; a disk with less is as good as full."""


def terminal(stream: TextIO | None = None) -> dict[str, object]:
    """What the terminal is and can.

    Args:
        stream: What is written to; standard output by default, which a screen has taken for itself.
    """
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
        "windows": terminal_of(env),
        "clipboard": route(env),
        "ssh": "SSH_CONNECTION" in env,
    }


def disk_free(path: Path) -> int | None:
    """Bytes free where the store is; None when the system does not tell."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None


def problems_around(
    holders: Sequence[Holder], free: int | None, size: int, told: Mapping[str, object], configuration: Configuration
) -> list[Problem]:
    """What is wrong, or worth knowing, around a store.

    Args:
        holders: Who has it open.
        free: Bytes free on its disk.
        size: Its bytes.
        told: From `terminal`.
        configuration: What the user has set.
    """
    found = [*_held(holders), *_room(free, size)]
    for trouble in troubles_of(configuration):
        sentence = trouble._replace(remedy="").sentence(str(configuration.path))
        found.append(
            Problem("warning", "config", sentence, trouble.remedy or _("`hermes-browse config show` says more."))
        )
    if configuration.options.resume == "window" and told["windows"] is None and told["interactive"]:
        text = _('resume = "window" has no terminal here that opens windows.')
        found.append(Problem("warning", "no-windows", text, _("Start the browser in tmux, Zellij, WezTerm or kitty.")))
    return found + (_terminal(told) if told["interactive"] else [])


def _held(holders: Sequence[Holder]) -> list[Problem]:
    found = []
    if gone := [f"{each.name} ({each.pid})" for each in holders if each.is_gone]:
        text = _("{names} writes to a store that has been removed or replaced: what it writes is lost.")
        found.append(Problem("error", "held-gone", text.format(names=", ".join(gone)), _("Restart it.")))
    if here := [f"{each.name} ({each.pid})" for each in holders if not each.is_gone]:
        text = _("{names} has the store open.").format(names=", ".join(here))
        remedy = _("Browsing is safe beside it; end it before Hermes' own prune, optimize or repair, which refuse.")
        found.append(Problem("info", "held", text, remedy))
    return found


def _room(free: int | None, size: int) -> list[Problem]:
    if free is None:
        return []
    if free < _LITTLE:
        text = _("The disk of the store has {free:,.0f} MB left: Hermes cannot write to a full one.")
        remedy = _("Make room, or prune: `hermes-browse prune --dry-run`.")
        return [Problem("warning", "disk-low", text.format(free=free / 1e6), remedy)]
    if free < 2 * size:  # https://sqlite.org/lang_vacuum.html
        text = _("The disk has {free:,.0f} MB left, and VACUUM may need twice the size of the store.")
        remedy = _("Make room before `hermes sessions optimize`.")
        return [Problem("info", "disk-vacuum", text.format(free=free / 1e6), remedy)]
    return []


def _terminal(told: Mapping[str, object]) -> list[Problem]:
    found = []
    if str(told["encoding"] or "").lower().replace("-", "") != "utf8":
        text = _("The terminal's encoding is {encoding}: other letters become question marks.")
        remedy = _("Set LANG to a locale with UTF-8, such as C.UTF-8.")
        found.append(Problem("warning", "encoding", text.format(encoding=told["encoding"]), remedy))
    if told["term"] in (None, "", "dumb"):
        text = _("The terminal does not say what it is (TERM), so it has no screen for the browser.")
        found.append(Problem("warning", "terminal-dumb", text, _("Set TERM, for example to xterm-256color.")))
    elif told["colors"] not in ("none", "truecolor", "24bit"):
        text = _("The terminal does not say that it has true colours, so the first rows are not painted ahead.")
        found.append(Problem("info", "no-truecolor", text, _("Set COLORTERM=truecolor where it has them.")))
    columns, rows = int(str(told["columns"])), int(str(told["rows"]))
    if columns < 80 or rows < 24:
        text = _("The terminal has {columns} × {rows} cells; the browser wants 80 × 24.")
        text = text.format(columns=columns, rows=rows)
        found.append(Problem("info", "terminal-small", text, _("Make it larger, or its letters smaller.")))
    return found


_WORST = ("error", "warning", "info")


class Checkup(NamedTuple):
    """What was found."""

    summary: StoreSummary
    search: SearchHealth
    hermes: str | None
    """Path of the `hermes` that a resume would run."""
    hermes_version: str | None
    terminal: Mapping[str, object]
    holders: list[Holder] | None
    """None where the system does not tell."""
    free: int | None
    """Bytes free on the disk of the store."""
    configuration: Configuration
    log: Path
    problems: tuple[Problem, ...]
    """Worst first."""
    exit_code: int
    """Of the command: 0, or that of the store's own failure."""


def examine(store: Store, location: Location, stream: TextIO | None = None) -> Checkup:
    """Look at everything; takes as long as a few counts over the store.

    Args:
        store: The store.
        location: Where it is.
        stream: The terminal; standard output by default.
    """
    executable, code = find_hermes(), 0
    search = SearchHealth(False, False, 0, 0)
    try:
        with store.reader() as reader:
            summary = summarize(reader, store, location)
            search = search_health(reader)
            old = old_problems(location, reader)
        problems = [*problems_of(summary, search, executable), *old]
    except StoreError as error:
        code = error.exit_code
        size, wal_size = store.sizes()
        said = (error.sentence,)
        summary = StoreSummary(location.path, location.profile, None, None, size, wal_size, None, None, True, said)
        problems = [Problem("error", error.code, error.sentence, error.remedy)]
    held, free, told = holders(location.path), disk_free(location.path), terminal(stream)
    configuration = read_config()
    problems += problems_around(held or [], free, store.sizes()[0], told, configuration)
    return Checkup(
        summary,
        search,
        executable,
        hermes_version(executable) if executable is not None else None,
        told,
        held,
        free,
        configuration,
        log_path(),
        tuple(sorted(problems, key=lambda each: _WORST.index(each.severity))),
        code,
    )


def facts(found: Checkup) -> list[tuple[str, str]]:
    """What was found, in words: a name and a sentence for each; what is not known is left out."""
    summary, search, told = found.summary, found.search, found.terminal
    rows: list[tuple[str, str]] = [(_("store"), str(summary.path))]
    if summary.profile is not None:
        rows.append((_("profile"), summary.profile))
    if summary.sessions is not None:
        holds = _("{sessions:,} sessions, {messages:,} messages")
        holds = holds.format(sessions=summary.sessions, messages=summary.messages or 0)
        rows.append((_("holds"), holds))
    if summary.schema_version is not None:
        rows.append((_("schema"), str(summary.schema_version)))
    if summary.journal_mode is not None:
        mode = _("{mode}, opened for reading only") if summary.read_only else "{mode}"
        rows.append((_("journal mode"), mode.format(mode=summary.journal_mode)))
    sizes = _("{size}, write-ahead log {wal}").format(size=_size(summary.size), wal=_size(summary.wal_size))
    rows.append((_("size"), sizes))
    if found.free is not None:
        rows.append((_("disk"), _("{size} free").format(size=_size(found.free))))
    if summary.sessions is not None:
        rows.append((_("search index"), _index(search)))
    if found.holders is None:
        rows.append((_("open in"), _("this system does not tell")))
    else:
        names = _(", ").join(f"{each.name} ({each.pid})" for each in found.holders)
        rows.append((_("open in"), names or _("no other process")))
    hermes = f"{found.hermes} {found.hermes_version or ''}".rstrip() if found.hermes else _("not on PATH")
    rows.append(("hermes", hermes))
    rows.append((_("terminal"), _terminal_words(told)))
    rows.append((_("clipboard"), _("by {tool}").format(tool=told["clipboard"])))
    windows = _("by {tool}").format(tool=told["windows"]) if told["windows"] else _("not from this terminal")
    rows.append((_("new windows"), windows))
    there = "{path}" if found.configuration.exists else _("{path} (not there: nothing is set)")
    rows.append((_("configuration"), there.format(path=found.configuration.path)))
    log = "{path}" if found.log.exists() else _("{path} (nothing went wrong yet)")
    rows.append((_("log"), log.format(path=found.log)))
    return rows


def _size(count: int) -> str:
    return f"{long_number(float(count))}B"


def _index(search: SearchHealth) -> str:
    if not search.fts:
        return _("none: searches look through the messages")
    share = f" ({search.indexed / search.messages:.1%})" if search.messages else ""
    if search.trigram:
        told = _("{indexed:,} of {messages:,} messages{share}, with an index of substrings")
    else:
        told = _("{indexed:,} of {messages:,} messages{share}, without an index of substrings")
    return told.format(indexed=search.indexed, messages=search.messages, share=share)


def _terminal_words(told: Mapping[str, object]) -> str:
    parts = [
        f"{told['columns']} × {told['rows']}",
        f"{told['term'] or _('no TERM')}",
        _("colours {depth}").format(depth=told["colors"]),
        f"{told['encoding']}",
        _("in {program}").format(program=told["multiplexer"]) if told["multiplexer"] else "",
        _("over SSH") if told["ssh"] else "",
    ]
    return _(", ").join(part for part in parts if part)


def old_problems(location: Location, reader: Reader) -> list[Problem]:
    """That there are old transcripts, for `doctor`.

    Args:
        location: The store.
        reader: An open reader of it.
    """
    folder = sessions_folder(location)
    found = count_files(folder, reader)
    if not found.files:
        return []
    told = ngettext(
        "1 file is a transcript without a session in the store ({size} in {folder}).",
        "{count:,} files are transcripts without a session in the store ({size} in {folder}).",
        found.files,
    )
    return [
        Problem(
            "info",
            "old-transcripts",
            told.format(count=found.files, size=f"{long_number(float(found.bytes))}B", folder=folder),
            _("Read them with `hermes-browse --old list`, or with the key 5 in the browser."),
        )
    ]
