"""Where stores are: the Hermes root, its profiles, and which one a command means.

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

from ..errors import NotFoundError, RefusedError
from ..wording import _, pgettext

DATABASE = "state.db"
DEFAULT_PROFILE = "default"
_PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Location(NamedTuple):
    """A store and what Hermes calls it."""

    path: Path
    root: Path | None = None
    """The Hermes root; None for a file that is no root's or profile's own."""
    profile: str | None = None
    """Profile name, `default` for the root's; None for a loose file."""
    demo: bool = False
    """The built-in sample store."""
    note: str = ""
    """Why it is this one, for the screen."""
    old_files: Path | None = None
    """The folder of transcripts that this store was made from; None for a store of Hermes' own."""
    label: str = ""
    """What the screen calls it, where that is neither a profile nor the file."""

    @property
    def home(self) -> Path | None:
        """What HERMES_HOME must be for Hermes to open this very store."""
        if self.root is None or self.profile is None:
            return None
        return self.root

    @property
    def name(self) -> str:
        """What the screen calls it."""
        if self.demo:
            return "demo"
        if self.old_files is not None:
            return _("old transcripts")
        return self.label or self.profile or self.path.name

    def refuse_without_home(self, what: str) -> None:
        """Refuse what needs Hermes on a store that Hermes would not open.

        Args:
            what: `resume` or `make smaller`.

        Raises:
            RefusedError: With the reason.
        """
        cannot = {
            "resume": pgettext("Hermes cannot …", "resume"),
            "make smaller": pgettext("Hermes cannot …", "make smaller"),  # not shown
        }[what]
        if self.demo:
            raise RefusedError(
                _("This is the demo store: Hermes cannot {resume} it.").format(resume=cannot),
                remedy=_("Open a store of your own."),
            )
        if self.old_files is not None:
            raise RefusedError(
                _("These are files in {folder}, not sessions of the store: Hermes cannot {resume} them.").format(
                    folder=self.old_files, resume=cannot
                ),
                remedy=_("They can be read, searched, copied and exported."),
            )
        if self.root is None:
            raise RefusedError(
                _("Hermes cannot {resume} from {path}: it is not the state.db of a Hermes root or profile.").format(
                    resume=cannot, path=self.path
                ),
                remedy=_("Hermes opens <root>/state.db and <root>/profiles/NAME/state.db only."),
            )


def default_root() -> Path:
    """The root Hermes takes when HERMES_HOME is not set."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "hermes" if base else Path.home() / "AppData" / "Local" / "hermes"
    return Path.home() / ".hermes"


def root_of(home: Path) -> Path:
    """The root a home belongs to: a profile's home names its grandparent."""
    named = home.parent.name == "profiles" and _PROFILE_NAME.fullmatch(home.name)
    return home.parent.parent if named else home


def is_root(folder: Path) -> bool:
    """Whether Hermes, given this folder as HERMES_HOME and a profile, stays in it.

    For any folder below the default root it goes to that root instead (`get_default_hermes_root`, 0.19),
    so a backup kept there is no root; nor is what lies in a folder `profiles`. Links are followed, as Hermes does.
    """
    if folder.parent.name == "profiles":
        return False
    default = os.path.realpath(default_root())
    return not os.path.realpath(folder).startswith(default.rstrip(os.sep) + os.sep)


def _path(text: str) -> Path:
    """A path as a shell reads it: a `~name` of nobody stays as it is."""
    path = Path(text)
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        return path.absolute()


def active_profile(root: Path) -> str | None:
    """The sticky profile of a root, None when none is set."""
    try:
        name = (root / "active_profile").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if _PROFILE_NAME.fullmatch(name) else None


def profile_home(root: Path, name: str) -> Path:
    """The folder of a profile; `default` is the root itself."""
    return root if name == DEFAULT_PROFILE else root / "profiles" / name


def profiles(root: Path) -> list[Location]:
    """The root's own store and those of its profiles, whether or not they have a file yet."""
    found = [Location(root / DATABASE, root, DEFAULT_PROFILE)]
    try:
        folders = sorted(entry for entry in (root / "profiles").iterdir() if entry.is_dir())
    except OSError:
        return found
    names = [folder.name for folder in folders if _PROFILE_NAME.fullmatch(folder.name)]
    return found + [Location(root / "profiles" / name / DATABASE, root, name) for name in names]


def locate_file(path: Path) -> Location:
    """What a store file is to Hermes.

    A folder below the default root that is no profile (a backup, say) is not a root: `hermes -p
    default` would open the default root's store instead (observed, 0.19).
    """
    absolute = _path(str(path))
    if absolute.name != DATABASE:
        return Location(absolute)
    folder = absolute.parent
    root, profile = folder, DEFAULT_PROFILE
    if folder.parent.name == "profiles" and _PROFILE_NAME.fullmatch(folder.name):
        root, profile = folder.parent.parent, folder.name
    return Location(absolute, root, profile) if is_root(root) else Location(absolute)


def locate(*, home: str | None = None, profile: str | None = None, database: str | None = None) -> Location:
    """The store a command means.

    Args:
        home: `--home`: a Hermes root.
        profile: `--profile`: one of its profiles.
        database: `--db`: any store file.

    Raises:
        NotFoundError: There is no such profile.
    """
    if database is not None:
        return locate_file(Path(database))
    named = home or os.environ.get("HERMES_HOME", "").strip()
    base = _path(named) if named else default_root()
    root = root_of(base)
    if profile is None:
        if base != root:
            profile = base.name
        elif home is None and base.parent.name != "profiles":
            # A HERMES_HOME under ~/.hermes takes the sticky profile of that root (hermes_constants.py, 0.19).
            sticky_root = root if is_root(root) else default_root()
            sticky = active_profile(sticky_root)
            if sticky is not None and sticky != DEFAULT_PROFILE and profile_home(sticky_root, sticky).is_dir():
                root, profile = sticky_root, sticky
    chosen = profile or DEFAULT_PROFILE
    if not _PROFILE_NAME.fullmatch(chosen) or (chosen != DEFAULT_PROFILE and not profile_home(root, chosen).is_dir()):
        known = ", ".join(each.profile or "" for each in profiles(root))
        raise NotFoundError(
            _("There is no profile “{name}” in {root}.").format(name=chosen, root=root),
            remedy=_("Known profiles: {names}.").format(names=known),
        )
    path = profile_home(root, chosen) / DATABASE
    return Location(path, root, chosen) if is_root(root) else Location(path)
