"""`profiles`: list the stores of a Hermes root. Also reads all of them for `--all-profiles` of
other commands."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError, StoreError, StoreMissingError
from hermes_browse.store.hermes.health import summarize
from hermes_browse.store.hermes.homes import Location, active_profile, locate
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ..formats import size
from ..profiles.read_profiles import AllProfiles, read_everywhere
from .command_context import CommandContext, Subcommand
from .output import note, print_json, print_table


class ProfilesCommand(Subcommand):
    """List the store of the root and those of its profiles."""

    def run(self, context: CommandContext) -> int:
        root = context.location.root
        if root is None:
            raise RefusedError(
                _("{path} belongs to no Hermes root, so it has no profiles.").format(
                    path=context.location.path
                ),
                remedy=_("Name a root with --home."),
            )
        active = active_profile(root) or "default"
        profiles = [_read_profile(location, active) for location in context.location.profiles()]
        if context.json:
            print_json({"root": str(root), "active": active, "profiles": profiles})
            return 0
        rows = [
            [
                ("* " if each["active"] else "  ") + str(each["name"]),
                "" if each["sessions"] is None else str(each["sessions"]),
                size(float(str(each["bytes"]))),
                str(each["error"] or each["path"]),
            ]
            for each in profiles
        ]
        print_table(
            [_("profile"), _("sessions"), _("size"), _("store")], rows, right=(1, 2), flexible=3
        )
        return 0


def _read_profile(location: Location, active: str) -> Json:
    store = Store(location.path)
    sessions: int | None = None
    error: str | None = None
    try:
        with store.reader() as reader:
            sessions = summarize(reader, store, location).sessions
    except StoreError as problem:
        error = problem.sentence
    return {
        "name": location.profile,
        "path": str(location.path),
        "active": location.profile == active,
        "sessions": sessions,
        "bytes": store.sizes()[0],
        "error": error,
    }


def refuse_a_store_with_all_profiles(arguments: SimpleNamespace) -> str:
    """Return the error for options that name a store beside `--all-profiles`; empty if there is
    none."""
    if arguments.db is not None or arguments.demo or arguments.profile is not None or arguments.old:
        return _("--all-profiles goes with --home alone: it means every profile of that root")
    return ""


def read_all_profiles(
    home: str | None, now: float, view: View, sources: Collection[str] = ()
) -> AllProfiles:
    """Read the conversations of all profiles; note the profiles that cannot be read.

    Args:
        home: The Hermes root; None for the default one.
        now: Unix seconds.
        view: The conversations to include.
        sources: Likewise; empty for all.

    Raises:
        RefusedError: The store belongs to no root.
        StoreMissingError: No profile can be read.
    """
    location = locate(home=home)
    if location.root is None:
        sentence = _("{path} belongs to no Hermes root, so it has no profiles.")
        raise RefusedError(sentence.format(path=location.path))
    everywhere = read_everywhere(location, now, view, sources=sources, named=0)
    for each in everywhere.broken:
        note(_("{name} cannot be read: {error}").format(name=each.name, error=each.error))
    if not everywhere.catalogs:
        raise StoreMissingError(
            _("No profile of {root} has a store that can be read.").format(root=location.root)
        )
    return everywhere


def broken_json(everywhere: AllProfiles) -> list[Json]:
    """Build the JSON of the unreadable profiles, each with the reason."""
    return [
        {"profile": each.name, "path": str(each.location.path), "error": each.error}
        for each in everywhere.broken
    ]
