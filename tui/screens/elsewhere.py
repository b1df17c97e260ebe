"""The command that searches another profile for what was found there."""

from __future__ import annotations

import shlex

from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.homes import Location, locate, profiles

from ..rows import SuggestionRow


def profile_command(location: Location, row: SuggestionRow) -> str:
    """The command line that asks the same of another profile.

    Args:
        location: The store on screen.
        row: An offer for another profile.
    """
    words = ["hermes-browse"]
    paths = [each.path for each in profiles(location.root) if each.profile == row.profile] if location.root else []
    try:
        is_plain = locate(profile=row.profile).path in paths
    except NotFoundError:
        is_plain = False
    if not is_plain and location.root is not None:  # not the root that a command without --home would take
        words += ["--home", str(location.root)]
    return shlex.join([*words, "--profile", row.profile, "search", "--", row.query.strip()])
