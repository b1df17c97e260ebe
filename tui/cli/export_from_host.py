"""`export --host NAME`: the files of an export from another machine are written on this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.export.files import Format, check_target, write_file
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.hermes.homes import locate
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link, Reply
from hermes_browse.store.hosts.running import Running, refusal
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from ..export.documents import plan_paths
from ..store_paths import store_files
from .export import format_of
from .on_host import answered, call_document, named_host, repeat_notes, texts_of
from .output import print_json, print_text


def export_from_host(arguments: SimpleNamespace) -> int:
    """Write files here of what is exported there; each is written whole or not at all.

    Raises:
        NotFoundError: There is no such host.
        RefusedError: A file is there already.
        BrowseError: A file cannot be written, or the export failed there.
    """
    host = named_host(arguments.host)
    if arguments.profile is not None:
        host = host._replace(profile=arguments.profile)
    form, ids = format_of(arguments), list(dict.fromkeys(arguments.ids))
    flags = {
        "--everything": arguments.everything,
        "--no-redact": arguments.no_redact,
        "--old": arguments.old,
    }
    options = [name for name, is_set in flags.items() if is_set]
    titles = [(each, each) for each in ids]
    if form is Format.MARKDOWN or len(ids) == 1:
        redactor = Redactor(active=not arguments.no_redact)
        with closing(Link(host)) as link:
            by_tip = {tip: (title, each) for each in ids for title, tip in [_title(link, each)]}
        titles = [(redactor.text(title), tip) for tip, (title, _id) in by_tip.items()]
        ids = [each for _title, each in by_tip.values()]
    groups = [[each] for each in ids] if form is Format.MARKDOWN else [ids]
    paths, keep = plan_paths(titles, form, arguments.output), store_files(locate().path)
    for path in paths:
        check_target(path, force=arguments.force, keep=keep)
    files: list[Json] = []
    for path, group in zip(paths, groups, strict=True):
        words = ["export", "--output", "-", "--format", form.value, *options, "--", *group]
        running = Running(host, host.command_line(words))
        size = write_file(path, _exported(host, running), force=arguments.force, keep=keep)
        files.append(
            {
                "path": str(path),
                "conversations": group,
                "sessions": None,
                "messages": None,
                "bytes": size,
            }
        )
        repeat_notes(host, running.said)
        if not arguments.json:
            line = _("{path}  (from {name}, {size})")
            print_text(
                line.format(path=one_line(str(path)), name=host.name, size=formats.size(size))
            )
    if arguments.json:
        document = {
            "format": form.value,
            "files": files,
            "everything": arguments.everything,
            "left_out": None,
        }
        document |= {"redact": not arguments.no_redact, "redacted": None}
        print_json(document | answered(host))
    return 0


def _exported(host: Host, running: Running) -> Iterator[str]:
    yield from texts_of(running)
    if running.code:
        raise refusal(host, Reply(running.code, "", running.said))


def _title(link: Link, session: str) -> tuple[str, str]:
    """Return the title of a conversation there, for the name of a file, and the id of its newest
    part."""
    document = call_document(link, "lineage", {"id": session})
    tip, nodes = document.get("resume"), document.get("nodes")
    tip_id = str(tip.get("id") if isinstance(tip, dict) else session)
    for node in nodes if isinstance(nodes, list) else []:
        if (
            isinstance(node, dict)
            and node.get("id") == tip_id
            and isinstance(node.get("title"), str)
        ):
            return str(node["title"]), tip_id
    return tip_id, tip_id
