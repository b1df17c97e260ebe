"""The options of the configuration, as one table for the reader, the sample and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hermes_browse.store.hosts.host import Host
from hermes_browse.store.wording import LANGUAGES, N_, _

AUTO = "auto"
FOREVER = "forever"
DEFAULT_THEME = "hermes-dark"
RESUME_MODES = ("exec", "return", "window")
WINDOW = "tmux new-window -n {title} -c {folder} {command}"
SURFACES = ("cli", "tui")
"""As in `store.hermes.resume_command`, which need not be imported for it; a test compares them."""
COLUMNS = ("age", "source", "messages", "cost", "model", "tokens", "size", "started", "branch", "directory")
"""As in `list/columns.py`, which need not be imported for it; a test compares them."""


class Options(NamedTuple):
    """The values of the options; None for those that are remembered instead."""

    theme: str | None = None
    mouse: bool = True
    resume: str = RESUME_MODES[0]
    window: str = WINDOW
    """The command that opens a window, with the words `{command}`, and `{title}` and `{folder}` if wanted."""
    keys: Mapping[str, str] = MappingProxyType({})
    """Command id to keys as the user spells them, separated by commas."""
    surface: Mapping[str, str] = MappingProxyType({})
    """Source to `cli` or `tui`."""
    language: str = AUTO
    trash: str = FOREVER
    """The age at which a bundle is dropped, as `store.ages.parse_age` reads it."""
    columns: tuple[str, ...] = ()
    """From `COLUMNS`; empty for as many of them as there is room for."""
    hosts: tuple[Host, ...] = ()
    """Other machines, in the order of the file."""


class Option(NamedTuple):
    """An option, as a line of the sample describes it."""

    name: str
    values: tuple[str, ...]
    """Allowed values; empty where these are not a fixed set of strings."""
    sample: str
    """A value as TOML."""
    help: str
    """What it does; `{values}` stands for `listed`."""
    listed: tuple[str, ...] = ()

    def description(self) -> str:
        """Return what it does, translated."""
        text = _(self.help)
        return text.format(values=", ".join(self.listed)) if self.listed else text


OPTIONS = (
    Option(
        "language",
        (AUTO, *LANGUAGES),
        f'"{AUTO}"',
        N_("The language of the program: auto is that of the locale (LANG and its like), where there are words in it."),
    ),
    Option(
        "theme",
        (),
        f'"{DEFAULT_THEME}"',
        N_(
            "hermes-dark, hermes-light, ansi-dark, ansi-light, or any other the palette (Ctrl+P) offers.\n"
            "Left out: the one chosen in the palette last."
        ),
    ),
    Option("mouse", (), "true", N_("false leaves the mouse to the terminal, for selecting text.")),
    Option(
        "columns",
        (),
        "[]",
        N_(
            "What rows say at their right, in this order: {values}.\n"
            "What would take more than half of a row is left out. Empty: as many of the first five as there is room "
            "for."
        ),
        COLUMNS,
    ),
    Option(
        "resume",
        RESUME_MODES,
        '"exec"',
        N_(
            "What resuming does with the browser: exec becomes Hermes, return comes back when Hermes ends,\n"
            "window opens Hermes in a new window, with the command below."
        ),
    ),
    Option(
        "window",
        (),
        f'"{WINDOW}"',
        N_(
            "The command that opens a window: {command} is what runs in it; {title} and {folder} can be left out.\n"
            "No shell reads it. WezTerm: wezterm cli spawn --cwd {folder} -- {command}"
        ),
    ),
    Option(
        "surface",
        (),
        "{}",
        N_(
            'What Hermes shows a resumed conversation in, by its source: {telegram="cli", any="tui"}.\n'
            "cli is the classic prompt, tui the full screen, any stands for the other sources.\n"
            "A source that is left out is as Hermes itself has it; so is everything for a Hermes without these options."
        ),
    ),
    Option(
        "trash",
        (),
        f'"{FOREVER}"',
        N_(
            "How long the trash keeps what was deleted: forever, or an age of a day or more, like 90d or 12w.\n"
            "Older bundles are dropped for good when the browser starts, and it says so. Damaged ones stay."
        ),
    ),
)
