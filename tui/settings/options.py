"""The options of the configuration: one table, whose entries check values by themselves.

The reader, the sample, `config show` and the documents go by it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from hermes_browse.store.amounts import DAY, parse_age
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import LANGUAGES, N_, _

AUTO = "auto"
FOREVER = "forever"
DEFAULT_THEME = "hermes-dark"
RESUME_MODES = ("return", "exit", "window")
ENTER_MODES = ("read", "resume")
WINDOW = "tmux new-window -n {title} -c {folder} {command}"
SURFACES = ("cli", "tui")
"""As in `store.hermes.resume_command`, which need not be imported for it; a test compares them."""


class Options(NamedTuple):
    """The values of the options, with their defaults."""

    language: str = AUTO
    theme: str | None = None
    """None for the one that is remembered."""
    mouse: bool = True
    columns: tuple[str, ...] = ()
    """Names of columns of the list; empty for as many of them as there is room for."""
    enter: str = ENTER_MODES[0]
    """What Enter does with conversations of the main list."""
    resume: str = RESUME_MODES[0]
    window: str = WINDOW
    """The command that opens a window, with the word `{command}`, and `{title}` and `{folder}` if
    wanted."""
    surface: Mapping[str, str] = MappingProxyType({})
    """Source to `cli` or `tui`."""
    trash: str = FOREVER
    """The age at which a bundle is dropped, as `store.amounts.parse_age` reads it."""
    keys: Mapping[str, str] = MappingProxyType({})
    """Command id to keys as the user spells them, separated by commas."""
    hosts: tuple[Host, ...] = ()
    """Other machines, in the order of the file."""


class Problem(NamedTuple):
    """What is wrong in the file."""

    text: str
    remedy: str = ""
    key: str = ""
    """Of a table: the key that is meant."""
    number: int = 0
    """Which of several tables of a name is meant, counted from 0."""
    table: str = ""
    """The option or table that it is in; empty for the file as a whole."""
    line: int | None = None
    """Counted from 1; None for the file as a whole, also where the text names a line."""

    def sentence(self, name: str = "config.toml") -> str:
        """Return what is wrong and where, in one printable line."""
        place = N_("{name}: {text}") if self.line is None else N_("{name}, line {line}: {text}")
        text = f"{self.text} {self.remedy}".rstrip()
        return one_line(_(place, name=name, line=self.line, text=text), 400)


class Option(NamedTuple):
    """An option, and `choices` for what it, its items or its values can be."""

    name: str
    help: str
    """What it does; `{choices}` stands for `choices`."""
    wrong: str
    """A sentence about a wrong value of TOML, with `{name}`, `{choices}` and `{value}`."""
    kind: type[Any] = str
    """Of a value."""
    is_right: Callable[[Any], bool] | None = None
    """Returns whether a text is a value; None for any, or any of the choices."""
    choices: tuple[str, ...] = ()
    wrong_item: str = ""
    """Of a list or table: a sentence about a wrong item, with `{key}` in a table too."""
    table: str = ""
    """The module whose `COLUMNS` are the choices: it is on a higher floor, and seldom needed."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it, its items or its values can be."""
        return tuple(import_module(self.table).COLUMNS) if self.table else self.choices

    def parse(self, value: Any, problems: list[Problem]) -> object:
        """Return a value of TOML as `Options` has it, the default for a wrong one, and add what is
        wrong with it."""
        if not self._holds(value):
            text = self._sentence(self.wrong, value)
            problems.append(Problem(text, similar(value, self.names)))
            return Options._field_defaults[self.name]
        if not self.wrong_item:
            return value
        is_table = isinstance(value, Mapping)
        good = {}
        for key, item in value.items() if is_table else ((each, each) for each in value):
            if item in self.names:
                good[key] = item
            else:
                text = self._sentence(self.wrong_item, item, str(key))
                every = _("There are {names}.", names=", ".join(self.names))
                remedy = similar(item, self.names) or every
                problems.append(Problem(text, remedy, key if is_table else ""))
        return good if is_table else tuple(good)

    def _holds(self, value: Any) -> bool:
        if not isinstance(value, self.kind):
            return False
        if self.is_right is not None:
            return self.is_right(value)
        return bool(self.wrong_item) or not self.choices or value in self.choices

    def _sentence(self, text: str, value: object, key: str = "") -> str:
        values = {
            "choices": ", ".join(self.names),
            "value": shown(value),
            "key": one_line(key, 40),
        }
        return _(text, name=self.name, **values)

    def description(self) -> str:
        """Return what it does, translated."""
        return _(self.help).replace("{choices}", ", ".join(self.names))

    @property
    def sample(self) -> str:
        """The default as TOML."""
        default = Options._field_defaults[self.name]
        return toml(DEFAULT_THEME if default is None else default)


def toml(value: object) -> str:
    """Format a value as TOML, which spells all but tables as JSON does."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    inner = ", ".join(f'"{one_line(name, 60)}" = {toml(each)}' for name, each in value.items())
    return f"{{ {inner} }}" if inner else "{}"


def shown(value: object) -> str:
    """Return a wrong value for a sentence."""
    return one_line(f"“{value}”" if isinstance(value, str) else repr(value), 60)


def similar(name: object, names: Iterable[str]) -> str:
    """Return `Did you mean “x”?`, or nothing."""
    from difflib import get_close_matches  # only after a typing error

    matches = get_close_matches(name, list(names), n=1) if isinstance(name, str) else []
    return _("Did you mean “{name}”?", name=matches[0]) if matches else ""


def _is_command(text: str) -> bool:
    try:
        return "{command}" in shlex.split(text)[1:]
    except ValueError:  # an open quote
        return False


def _is_long_age(text: str) -> bool:
    """Return whether it is an age that a typing error is not: that must not empty the trash."""
    try:
        return text == FOREVER or parse_age(text) >= DAY
    except ValueError:
        return False


_LANGUAGES = (AUTO, *LANGUAGES)
_NONE_OF = N_("“{name}” is one of {choices}, not {value}.")

OPTIONS = (
    Option(
        "language",
        "The language of the program: auto is that of the locale (LANG and its like), where there are words in it.",
        _NONE_OF,
        choices=_LANGUAGES,
    ),
    Option(
        "theme",
        (
            "hermes-dark, hermes-light, ansi-dark, ansi-light, or any other the palette (Ctrl+P) offers.\n"
            "Left out: the one chosen in the palette last."
        ),
        "“{name}” is the name of a theme, not {value}.",
    ),
    Option(
        "mouse",
        "false leaves the mouse to the terminal, for selecting text.",
        "“{name}” is true or false, not {value}.",
        bool,
    ),
    Option(
        "columns",
        (
            "What rows say at their right, in this order: {choices}.\n"
            "What would take more than half of a row is left out. Empty: as many of the first six as there is room "
            "for."
        ),
        '“columns” is a list of names, like ["age", "cost"].',
        list,
        wrong_item=N_("there is no column {value}."),
        table="hermes_browse.tui.browser.list.columns",
    ),
    Option(
        "enter",
        (
            "What Enter does with a conversation in the list: {choices}. Hits, the family tree, the trash\n"
            "and the clean-up are always read, and R always resumes."
        ),
        _NONE_OF,
        choices=ENTER_MODES,
    ),
    Option(
        "resume",
        (
            "What resuming does with the browser: return comes back when Hermes ends, exit becomes Hermes,\n"
            "window opens Hermes in a new window, with the command below."
        ),
        _NONE_OF,
        choices=RESUME_MODES,
    ),
    Option(
        "window",
        (
            "The command that opens a window: {command} is what runs in it; {title} and {folder} can be left out.\n"
            "No shell reads it. WezTerm: wezterm cli spawn --cwd {folder} -- {command}"
        ),
        "“{name}” is a command with the word {{command}} in it, not {value}.",
        is_right=_is_command,
    ),
    Option(
        "surface",
        (
            'What Hermes shows a resumed conversation in, by its source: {telegram="cli", any="tui"}.\n'
            "cli is the classic prompt, tui the full screen, any stands for the other sources.\n"
            "A source that is left out is as Hermes itself has it; so is everything for a Hermes without these options."
        ),
        '“surface” is a table of sources, like {{ any = "tui" }}.',
        dict,
        choices=SURFACES,
        wrong_item=N_("the surface of “{key}” is one of {choices}, not {value}."),
    ),
    Option(
        "trash",
        (
            "How long the trash keeps what was deleted: forever, or an age of a day or more, like 90d or 12w.\n"
            "Older deletions are deleted for good when the browser starts, and it says so. Damaged ones stay."
        ),
        "“{name}” is forever, or an age from 1d on, not {value}.",
        is_right=_is_long_age,
    ),
)
