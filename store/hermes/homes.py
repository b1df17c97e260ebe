"""Locate stores: the Hermes root, its profiles, and the store that a command selects.

Facts of Hermes 0.13 to 0.22 (`hermes_constants.py`, `_apply_profile_override`): HERMES_HOME, else
`~/.hermes` (`%LOCALAPPDATA%\\hermes` on Windows); profiles under `<root>/profiles/<name>`; a sticky
profile in `<root>/active_profile`.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

from ..errors import (
    BrowseError,
    NotFoundError,
    RefusedError,
    StoreEmptyError,
    StoreMissingError,
)
from ..files import read_regular, user_folder
from ..hosts.host import Host
from ..wording import _

DATABASE = "state.db"
DEFAULT_PROFILE = "default"
_UNREAD = "profiles/"
"""Stands for the profiles of a root that cannot be listed."""
_PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Location(NamedTuple):
    """A store, with its Hermes root and profile."""

    path: Path
    root: Path | None = None
    """The Hermes root; None for a file that is not the store of a root or profile."""
    profile: str | None = None
    """Profile name, `default` for the root's; None for a file outside a root."""
    demo: bool = False
    """The built-in sample store."""
    note: str = ""
    """Why this store was chosen, for the screen."""
    old_files: Path | None = None
    """The folder of transcripts that this store was made from; None for a store of Hermes."""
    label: str = ""
    """Its name on the screen, if neither the profile nor the file name is right."""
    host: Host | None = None
    """The machine it is on; None for this one. The path then names no file of this machine."""

    @property
    def name(self) -> str:
        """Name on the screen."""
        if self.demo:
            return "demo" if self.profile in (None, DEFAULT_PROFILE) else f"demo · {self.profile}"
        if self.old_files is not None:
            return _("old transcripts")
        return self.label or self.profile or self.path.name

    def profiles(self) -> list[Location]:
        """The stores of all profiles of its root, sample stores if it is one; none for a file that
        has no root."""
        found = profiles(self.root) if self.root is not None else []
        return [each._replace(demo=self.demo, note=self.note) for each in found]

    def refuse_without_home(self) -> None:
        """Raise RefusedError if Hermes would not open this store."""
        if self.demo:
            raise RefusedError(
                _("This is the sample store: Hermes does not open it."),
                remedy=_("Open a store of your own."),
            )
        if self.host is not None:
            raise RefusedError(
                _(
                    "This store is on {name}: Hermes does not open it from here.",
                    name=self.host.name,
                ),
                remedy=_(
                    "Do it there: `ssh -t {ssh} {command}`.",
                    ssh=self.host.ssh,
                    command=self.host.command,
                ),
            )
        if self.old_files is not None:
            raise RefusedError(
                _(
                    "These are files in {folder}, not sessions of the store: Hermes does not open them.",
                    folder=self.old_files,
                ),
                remedy=_("They can be read, searched, copied and exported."),
            )
        if self.root is None:
            raise RefusedError(
                _(
                    "Hermes does not open {path}: it is not the state.db of a Hermes root or profile.",
                    path=self.path,
                ),
                remedy=_("Hermes opens <root>/state.db and <root>/profiles/NAME/state.db only."),
            )


def default_root() -> Path:
    """Return Hermes' root if HERMES_HOME is not set."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / "hermes"
    return Path.home() / ".hermes"


def root_of(home: Path) -> Path:
    """Return the root of a home: of a profile's home, its grandparent."""
    is_profile = home.parent.name == "profiles" and _PROFILE_NAME.fullmatch(home.name)
    return home.parent.parent if is_profile else home


def is_root(folder: Path) -> bool:
    """Tell whether Hermes uses this folder if it is HERMES_HOME and a profile is given.

    For any folder below the default root it uses that root instead (`get_default_hermes_root`,
    0.19), so a backup there is not a root; nor is a folder in `profiles`. Links are followed, as by
    Hermes.
    """
    default = os.path.realpath(default_root()).rstrip(os.sep) + os.sep
    return folder.parent.name != "profiles" and not os.path.realpath(folder).startswith(default)


def _path(text: str) -> Path:
    """Return an absolute path with `~` expanded; a `~name` of no user stays as it is."""
    return Path(os.path.expanduser(text)).absolute()


_MAX_BYTES = 4096
"""Of a file that holds the name of a profile."""


def active_profile(root: Path) -> str | None:
    """Return the sticky profile of a root; None if none is set."""
    try:
        name = read_regular(root / "active_profile", _MAX_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if _PROFILE_NAME.fullmatch(name) else None


def profile_home(root: Path, name: str) -> Path:
    """Return the folder of a profile; `default` is the root itself."""
    return root if name == DEFAULT_PROFILE else root / "profiles" / name


def _has_profile(root: Path, name: str) -> bool:
    """Whether a root has a profile; where they cannot be listed any counts, for opening its store
    says why."""
    known = {each.profile for each in profiles(root)}
    return name in known or (_UNREAD in known and _PROFILE_NAME.fullmatch(name) is not None)


def profiles(root: Path) -> list[Location]:
    """List the stores of a root and of its profiles, whether or not the files exist.

    A folder of profiles that cannot be read is listed in their place: opening it says why.
    """
    folder, default = root / "profiles", Location(root / DATABASE, root, DEFAULT_PROFILE)
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return [default]
    except OSError:
        return [default, Location(folder, root, _UNREAD)]
    # The default profile is the root, whatever folder has its name (0.13 to 0.22).
    names = [name for name in names if name != DEFAULT_PROFILE and _PROFILE_NAME.fullmatch(name)]
    return [default, *(Location(folder / name / DATABASE, root, name) for name in names)]


def locate_file(path: Path) -> Location:
    """Return the location of a store file, with its root and profile if Hermes would open it.

    For a folder below the default root that is not a profile (a backup, for example), `hermes -p
    default` would open the default root's store instead (observed, 0.19).
    """
    absolute = _path(str(path))
    if absolute.name != DATABASE:
        return Location(absolute)
    folder = absolute.parent
    root = root_of(folder)
    profile = DEFAULT_PROFILE if root == folder else folder.name
    return Location(absolute, root, profile) if is_root(root) else Location(absolute)


def locate(
    *, home: str | None = None, profile: str | None = None, database: str | None = None
) -> Location:
    """Return the store that `--home`, `--profile` and `--db` of a command select; NotFoundError for
    no such profile."""
    if database is not None:
        return locate_file(Path(database))
    folder = home or os.environ.get("HERMES_HOME", "").strip()
    base = _path(folder) if folder else default_root()
    root = root_of(base)
    if profile is None and base != root:
        profile = base.name
    elif profile is None and home is None and base.parent.name != "profiles":
        root, profile = _sticky_profile(root)
    chosen = profile or DEFAULT_PROFILE
    if not _has_profile(root, chosen):
        known = ", ".join(each.profile or "" for each in profiles(root))
        raise NotFoundError(
            _("There is no profile “{name}” in {root}.", name=chosen, root=root),
            remedy=_("Known profiles: {names}.", names=known),
        )
    return locate_file(profile_home(root, chosen) / DATABASE)


def _sticky_profile(root: Path) -> tuple[Path, str]:
    """Return the root and profile that Hermes takes for a root without a named profile.

    A HERMES_HOME under `~/.hermes` takes the sticky profile of that root (hermes_constants.py,
    0.19).
    """
    sticky_root = root if is_root(root) else default_root()
    sticky = active_profile(sticky_root) or DEFAULT_PROFILE
    if sticky == DEFAULT_PROFILE or not _has_profile(sticky_root, sticky):
        return root, DEFAULT_PROFILE
    return sticky_root, sticky


def trash_folder(location: Location) -> Path:
    """The folder of deleted conversations: the sample store's is beside it, all others share the
    user's."""
    return _own_folder(location) / "trash"


def notes_file(location: Location) -> Path | None:
    """The file of tags and read marks: the sample store's is beside it, all others share the
    user's; old transcripts have none."""
    return _own_folder(location) / "notes.db" if location.old_files is None else None


def _own_folder(location: Location) -> Path:
    return location.path.parent if location.demo else user_folder("data")


def sessions_folder(location: Location) -> Path | None:
    """The folder where Hermes keeps files of sessions; None for a store outside a Hermes home."""
    return location.root and location.path.parent / "sessions"


def short_reason(error: BrowseError, location: Location) -> str:
    """Return why a store cannot be read, without its folder, which the profile's name implies."""
    if isinstance(error, StoreMissingError | StoreEmptyError):
        return _("it has not been used yet")
    return error.sentence.replace(str(location.path), location.path.name)
