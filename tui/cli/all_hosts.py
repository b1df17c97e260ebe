"""`--all-hosts`: ask this machine and all configured hosts at once, and merge what they answer."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import BrowseError, StoreEmptyError, StoreMissingError
from hermes_browse.store.hosts.faults import fault
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link
from hermes_browse.store.hosts.running import asked_at_once
from hermes_browse.store.sessions.models import FAR_PAST, Sort
from hermes_browse.store.wording import _, pgettext

from ..formats import dollars, long_number, size
from .advice import with_advice
from .calls import call_of
from .command_context import Subcommand
from .on_host import ask_document, call_document, configured_hosts, how_to_add
from .output import note, print_json, print_sums
from .parser import with_options, without
from .tables import number_of, print_conversations, print_hits, text_of

SOME_SILENT = 6
"""The exit code when some host did not answer."""
_TEXT, _NUMBER = (str, NoneType), (int, float, NoneType)
_CONVERSATION: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "title", "preview", "source", "status", "profile"), _TEXT),
    **dict.fromkeys(("last_active", "started_at", "message_count", "bytes"), _NUMBER),
    **dict.fromkeys(("cost_usd", "tree_cost_usd"), _NUMBER),
    "tokens": (dict, NoneType),
}
_HIT: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("session_id", "role", "snippet", "profile"), _TEXT),
    **dict.fromkeys(("message_id", "timestamp"), _NUMBER),
    "context": (list, NoneType),
}
_SUMS: Mapping[str, tuple[type, ...]] = {
    "key": (str,),
    **dict.fromkeys(
        ("conversations", "sessions", "messages", "calls", "cost_usd", "bytes"), _NUMBER
    ),
    **dict.fromkeys(
        ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), _NUMBER
    ),
}
_ROWS = {"list": ("conversations", _CONVERSATION), "search": ("hits", _HIT), "stats": ("by", _SUMS)}
"""By command: the list in its document, and the types of the values used here; a key that is
missing counts as null."""


class _HostAnswers(NamedTuple):
    """What came back."""

    documents: Sequence[tuple[str | None, Json]]
    """The host, None for this machine, and what it answered."""
    hosts: list[Json]
    """As in the merged document."""
    seconds: float

    @property
    def are_all(self) -> bool:
        """Whether all answered."""
        return all(each["answered"] for each in self.hosts)

    def rows(self, name: str) -> list[Json]:
        """Return the rows of all documents, each with its host, and with null for what another
        version lacks."""
        rows = [
            {"host": None} | each | {"host": host}
            for host, document in self.documents
            for each in _objects(document, name)
        ]
        empty: Json = dict.fromkeys(key for row in rows for key in row)
        return [empty | row for row in rows]

    def sum(self, name: str) -> int | None:
        """Add up a number of all documents; None if one has none."""
        values = [document.get(name) for _host, document in self.documents]
        return sum(each for each in values if isinstance(each, int)) if None not in values else None

    def sums(self, name: str) -> Json:
        """Add up an object of numbers of all documents."""
        sums: Json = {}
        for _host, document in self.documents:
            part = document.get(name)
            sums = _added(sums, part if isinstance(part, dict) else {})
        return sums


def _objects(document: Json, name: str) -> list[Json]:
    found = document.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _number(value: object, default: float = FAR_PAST) -> float:
    number = number_of(value)
    return default if number is None else number


def run_everywhere(command: Subcommand, arguments: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run `list`, `search` or `stats` on this machine and on all configured hosts, and print one
    answer.

    Returns:
        0, or 6 if some host did not answer.

    Raises:
        BrowseError: There are no hosts, and the store of this machine cannot be read.
    """
    begun, hosts = time.monotonic(), configured_hosts()
    most = getattr(arguments, "limit", 0) and arguments.limit + getattr(arguments, "offset", 0)
    words = without(
        argv,
        {"--home", "--profile", "--db", "--limit", "--offset"},
        {"--demo", "--or-demo", "--debug", "--json", "--all-hosts"},
    )
    limits: Json = {} if arguments.command == "stats" else {"limit": most, "offset": 0}
    call = call_of(SimpleNamespace(**(vars(arguments) | limits)))
    links = {host.name: Link(host) for host in hosts}
    rows, kinds = _ROWS[arguments.command]

    def ask(host: Host) -> Json | BrowseError:
        try:
            if call is not None:
                document = call_document(links[host.name], *call)
            else:  # --all-profiles: a connection is about one store
                own = with_options(words, "--limit", str(most))
                document = ask_document(host._replace(profile=""), own)
            found = document.get(rows)
            if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
                raise fault(host, "host-noise", said=rows)
            if wrong := [
                key
                for each in found
                for key, types in kinds.items()
                if not isinstance(each.get(key), types)
            ]:
                raise fault(host, "host-noise", said=wrong[0])
        except BrowseError as error:
            return error
        return document

    try:
        with asked_at_once(hosts, ask) as asked:
            here = _ask_here(command, arguments, most)
            if isinstance(here, BrowseError) and not hosts:
                raise here
            there = [each.result() for each in asked]
    finally:
        for link in links.values():
            link.close()
    answers: list[tuple[str | None, Json]] = []
    told: list[Json] = []
    for name, answer in zip([None, *(host.name for host in hosts)], [here, *there], strict=True):
        if isinstance(answer, BrowseError):
            if name is None and isinstance(answer, StoreMissingError | StoreEmptyError):
                continue  # a machine may have no store of its own
            note(with_advice(answer))
            told.append({"name": name, "answered": False, "error": answer.sentence})
        else:
            answers.append((name, answer))
            if name is not None:
                told.append({"name": name, "answered": True, "error": None})
    if not hosts:
        note(how_to_add())
    merged = _HostAnswers(answers, told, time.monotonic() - begun)
    {"list": _list, "search": _search, "stats": _stats}[arguments.command](merged, arguments)
    return 0 if merged.are_all else SOME_SILENT


def _ask_here(command: Subcommand, arguments: SimpleNamespace, most: int) -> Json | BrowseError:
    """Return the document of the command on this machine, or why there is none."""
    settings: dict[str, object] = {"json": True, "all_hosts": False}
    if arguments.command != "stats":
        settings |= {"limit": most, "offset": 0}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            command.start(SimpleNamespace(**(vars(arguments) | settings)))
        except BrowseError as error:
            return error
    document: Json = json.loads(printed.getvalue())
    return document


def _who_answered(answers: _HostAnswers) -> str:
    answered = sum(each["name"] is not None and bool(each["answered"]) for each in answers.hosts)
    count = sum(each["name"] is not None for each in answers.hosts)
    if not count:
        return ""
    return _("{answered} of {count} hosts answered").format(answered=answered, count=count)


def _sort_key(sort: Sort) -> Callable[[Json], float | str]:
    """Return the order of `list` over rows of JSON, as `catalog.sort_key` has it over sessions."""
    fields = {
        Sort.ACTIVITY: "last_active",
        Sort.STARTED: "started_at",
        Sort.MESSAGES: "message_count",
    }
    fields |= {Sort.SIZE: "bytes"}

    def key(row: Json) -> float | str:
        if sort is Sort.TITLE:
            title = text_of(row.get("title"))
            return f"0{title.casefold()}" if title else "1"  # untitled conversations come last
        if sort is Sort.TOKENS:
            tokens = row.get("tokens")
            names = ("input", "output", "cache_read", "cache_write")
            return (
                sum(_number(tokens.get(name), 0) for name in names)
                if isinstance(tokens, dict)
                else 0
            )
        if sort is Sort.COST:
            return _number(_cost(row))
        return _number(row.get(fields[sort]))

    return key


def _cost(row: Json) -> object:
    """Return the cost with all subagents; hosts with a version before 0.2 do not tell it apart."""
    return row.get("tree_cost_usd", row.get("cost_usd"))


def _list(answers: _HostAnswers, arguments: SimpleNamespace) -> None:
    sort = Sort(arguments.sort)
    rows = answers.rows("conversations")
    rows.sort(key=_sort_key(sort), reverse=arguments.reverse is (sort is Sort.TITLE))
    page = rows[arguments.offset : arguments.offset + arguments.limit if arguments.limit else None]
    total = answers.sum("total")
    if arguments.json:
        document: Json = {
            "store": None,
            "hosts": answers.hosts,
            "view": arguments.view,
            "shown": len(page),
            "total": total,
        }
        if arguments.all_profiles:
            document["broken"] = answers.rows("broken")
        else:
            document["hidden"] = _added(answers.sums("hidden"), {"other": len(rows) - len(page)})
        print_json(document | {"conversations": page})
        return
    print_conversations(page)
    shown = _("{count:,} of {total:,} shown").format(count=len(page), total=total or 0)
    note(" · ".join(filter(None, (shown, _who_answered(answers)))))


def _search(answers: _HostAnswers, arguments: SimpleNamespace) -> None:
    rows = answers.rows("hits")
    rows.sort(key=lambda row: _number(row.get("timestamp")), reverse=arguments.sort == "newest")
    hits = rows[: arguments.limit or None]
    engines = {str(document.get("engine")) for _host, document in answers.documents}
    engines = engines - {"none"} or engines or {"none"}
    documents = [document for _host, document in answers.documents]
    total = answers.sum("total")
    if arguments.json:
        notes: list[str] = []
        for host, document in answers.documents:
            found = document.get("notes")
            said = [str(each) for each in found] if isinstance(found, list) else []
            notes += said if host is None else [f"{host}: {each}" for each in said]
        print_json(
            {
                "query": " ".join(arguments.query),
                "engine": engines.pop() if len(engines) == 1 else "mixed",
                "complete": answers.are_all
                and all(each.get("complete") is True for each in documents),
                "more": len(hits) < len(rows)
                or any(each.get("more") is True for each in documents),
                "elapsed_ms": round(answers.seconds * 1000, 3),
                "total": total,
                "hits": hits,
                "suggestions": [],
                "notes": notes,
                "hosts": answers.hosts,
            }
        )
        return
    print_hits(hits)
    shown = _("{count:,} hits shown").format(count=len(hits))
    if total is not None:
        shown = _("{count:,} of {total} hits").format(count=len(hits), total=f"{total:,}")
    note(" · ".join(filter(None, (shown, _who_answered(answers)))))


def _stats(answers: _HostAnswers, arguments: SimpleNamespace) -> None:
    by: dict[str, Json] = {}
    for _host, document in answers.documents:
        for row in _objects(document, "by"):
            by[str(row["key"])] = _added(by.get(str(row["key"]), {}), row)
    total = answers.sums("total")
    rows = sorted(by.values(), key=lambda row: str(row["key"]))
    if arguments.by not in ("day", "week", "month", "hour"):
        rows.sort(
            key=lambda row: [-_number(row.get(name), 0) for name in ("calls", "messages", "bytes")]
        )
    if arguments.json:
        document = {"total": total, "grouped_by": arguments.by, "by": rows, "hosts": answers.hosts}
        first: Json = answers.documents[0][1] if answers.documents else {}
        print_json(document | {name: first[name] for name in ("period", "since") if name in first})
        return
    counts = {"sessions": _("sessions"), "messages": _("msgs")}
    counts |= {"calls": _("calls")} if arguments.by == "tool" else {}
    tokens = {"input_tokens": pgettext("column", "in"), "output_tokens": pgettext("column", "out")}
    cells = [
        [
            str(row["key"]),
            f"{_number(row.get('conversations'), 0):,}",
            *(f"{_number(row.get(name), 0):,}" for name in counts),
            *(long_number(_number(row.get(name), 0)) for name in tokens),
            long_number(
                _number(row.get("cache_read_tokens"), 0) + _number(row.get("cache_write_tokens"), 0)
            ),
            dollars(_number(row.get("cost_usd"), 0)),
            "" if row.get("bytes") is None else size(_number(row["bytes"])),
        ]
        for row in [*rows, total | {"key": pgettext("sum", "all")}]
    ]
    print_sums(
        arguments.by, [*counts.values(), *tokens.values(), _("cache"), _("cost"), _("size")], cells
    )
    if answered := _who_answered(answers):
        note(answered)


def _added(sums: Json, row: Json) -> Json:
    """Add the numbers of a row to sums; anything else is kept as it is first said."""
    added = dict(sums)
    for name, value in row.items():
        before = added.get(name)
        if isinstance(value, int | float) and isinstance(before, int | float | NoneType):
            added[name] = (before or 0) + value
        elif before is None:
            added[name] = value
    return added
