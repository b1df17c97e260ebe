"""Read the configuration: each error becomes a sentence with its line, and everything else is
applied; and the language alone, which is needed before that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.files import FileTooLargeError, read_regular, user_folder
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import LANGUAGES, _, language_of

from .options import OPTIONS, REMOVED, Options, shown, similar

_MOST = 1_000_000
"""Bytes of a configuration; a larger file is none."""
_KEYS = "keys"
_HOSTS = "hosts"
_TABLE = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")


def config_path() -> Path:
    """The configuration file."""
    return user_folder("config") / "config.toml"


def chosen_language() -> str:
    """Return the language that is configured, else that of the locale: one of `LANGUAGES`.

    Every command calls this before it prints anything. A regular expression finds the line, because
    importing a TOML parser takes longer; whoever parses the whole file reports errors.
    """
    try:
        text = read_regular(config_path(), _MOST).decode("utf-8", "replace")
    except OSError:  # missing or unreadable; `read_config` reports the latter
        return language_of()
    top = re.split(r"(?m)^\s*\[", text, maxsplit=1)[0]
    match = re.search(r"""(?m)^\s*language\s*=\s*["'](\w+)["']""", top)
    return match[1] if match is not None and match[1] in LANGUAGES else language_of()


def _bare(name: str) -> str:
    return re.sub(r"""["'\s]""", "", name)


def line_of(text: str, table: str, name: str, index: int = 0) -> int | None:
    """Return the line, counted from 1, that sets a key; None if not found, as TOML can spell keys
    in other ways.

    Args:
        table: Name of the table the key is in, empty for the top.
        name: The key, or a table of that name.
        index: Which of several tables of that name (`[[hosts]]`), counted from 0.
    """
    lines: dict[tuple[str, int], int] = {}
    tables = Counter[str]()
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            path = current = _bare(header[1])
            tables[path] += 1
        else:
            key = _bare(line.partition("=")[0])
            path = f"{current}.{key}" if current else key
        lines.setdefault((path, max(tables[current] - 1, 0)), number)
    return lines.get((f"{table}.{name}" if table else name, index))


class Trouble(NamedTuple):
    """An error in the file."""

    line: int | None
    """Counted from 1; None for the file as a whole, also where the text names a line."""
    text: str
    remedy: str = ""

    def sentence(self, name: str = "config.toml") -> str:
        """Return what is wrong and where, in one printable line."""
        text = f"{self.text} {self.remedy}".rstrip()
        if self.line is None:
            return one_line(_("{name}: {text}", name=name, text=text), 400)
        return one_line(_("{name}, line {line}: {text}", name=name, line=self.line, text=text), 400)


class Configuration(NamedTuple):
    """A configuration file that has been read."""

    path: Path
    exists: bool = False
    options: Options = Options()
    troubles: tuple[Trouble, ...] = ()
    text: str = ""


class _Parser:
    """Collects the values of a file, and what is wrong in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.values: dict[str, object] = {}
        self.troubles: list[Trouble] = []

    def trouble(
        self, text: str, remedy: str, *places: tuple[str, str] | tuple[str, str, int]
    ) -> None:
        """Note a trouble at the first of some places, as of `line_of`, that is found."""
        lines = (line_of(self.text, *place) for place in places)
        self.troubles.append(Trouble(next(filter(None, lines), None), text, remedy))

    def take(self, name: str, value: object) -> None:
        option = next((each for each in OPTIONS if each.name == name), None)
        if option is None:
            names = [*(each.name for each in OPTIONS), _KEYS, _HOSTS]
            remedy = _(REMOVED[name]) if name in REMOVED else similar(name, names)
            self.trouble(_("there is no option “{name}”.", name=name), remedy, ("", name))
            return
        parsed, problems = option.parse(value)
        if parsed is not None:
            self.values[name] = parsed
        for each in problems:
            self.trouble(each.text, each.remedy, (name, each.key), ("", name))

    def take_hosts(self, value: object) -> None:
        hosts: dict[str, Host] = {}
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            beginning = ("", _HOSTS, index), ("", _HOSTS)
            if not isinstance(each, Mapping) or not all(
                isinstance(text, str) for text in each.values()
            ):
                text = _("“hosts” is written as [[hosts]], with texts below it: name, ssh.")
                self.trouble(text, "", *beginning)
                continue
            for unknown in [key for key in each if key not in Host._fields]:
                text = _("a host has no “{name}”.", name=one_line(unknown, 60))
                remedy = similar(unknown, Host._fields)
                self.trouble(text, remedy, (_HOSTS, unknown, index), *beginning)
            known = {key: text for key, text in each.items() if key in Host._fields}
            host = Host(**{"name": "", "ssh": ""} | known)
            key, problem = host.problem()
            if not problem and host.name in hosts:
                key, problem = "name", _("there are two hosts of this name.")
            if problem:
                text = _("the host {name}: {problem}", name=shown(host.name), problem=problem)
                self.trouble(text, "", (_HOSTS, key, index), *beginning)
            else:
                hosts[host.name] = host
        self.values[_HOSTS] = tuple(hosts.values())

    def take_keys(self, value: object) -> None:
        if not isinstance(value, Mapping):
            text = _("“keys” is a table: a line [keys], and below it action = key.")
            self.trouble(text, "", ("", _KEYS))
            return
        keys: dict[str, str] = {}
        for action, key in value.items():
            names = [key] if isinstance(key, str) else key
            if isinstance(names, list) and names and all(isinstance(each, str) for each in names):
                keys[action] = ",".join("comma" if each == "," else each for each in names)
                continue
            text = _(
                "“{action}” takes a key, or a list of keys, not {value}.",
                action=action,
                value=shown(key),
            )
            self.trouble(text, "", (_KEYS, action))
        self.values[_KEYS] = keys


def _nothing_of(path: Path, trouble: Trouble, text: str = "") -> Configuration:
    """Return the configuration by a file that cannot be used."""
    return Configuration(path, True, Options(), (trouble,), text)


def parse_config(text: str, path: Path) -> Configuration:
    """Parse TOML; the path is that of the file."""
    import tomllib  # start: only with a configuration

    parser = _Parser(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = _("The whole file is ignored until that is corrected.")
        return _nothing_of(path, Trouble(None, _("{said}.", said=error), remedy), text)
    except RecursionError:
        return _nothing_of(path, Trouble(None, _("brackets are nested too deeply.")), text)
    for name, value in document.items():
        if name == _KEYS:
            parser.take_keys(value)
        elif name == _HOSTS:
            parser.take_hosts(value)
        else:
            parser.take(name, value)
    return Configuration(path, True, Options(**parser.values), tuple(parser.troubles), text)  # type: ignore[arg-type]  # each option has checked its own


def read_config(path: Path) -> Configuration:
    """Read a configuration; a missing file sets nothing."""
    line = None
    try:
        raw = read_regular(path, _MOST)
        text = raw.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return Configuration(path)
    except FileTooLargeError:
        problem = _("it is too large for a configuration.")
    except OSError as error:
        problem = _("it cannot be read: {reason}.", reason=error.strerror)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = _("this is not UTF-8, so the whole file is ignored.")
    else:
        return parse_config(text.replace("\r\n", "\n"), path)
    return _nothing_of(path, Trouble(line, problem))
