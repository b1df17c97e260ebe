"""Read the configuration: each error becomes a sentence with its line, and everything else is
applied; and the language alone, which is needed before that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hermes_browse.store.files import FileTooLargeError, read_regular, user_folder
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import LANGUAGES, _, language_of

from .options import OPTIONS, REMOVED, Options, Problem, shown, similar

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
    table: str = ""
    """The option or table that it is in; empty for the file as a whole."""

    def sentence(self, name: str = "config.toml") -> str:
        """Return what is wrong and where, in one printable line."""
        place = _("{name}: {text}") if self.line is None else _("{name}, line {line}: {text}")
        text = f"{self.text} {self.remedy}".rstrip()
        return one_line(place.format(name=name, line=self.line, text=text), 400)


class Configuration(NamedTuple):
    """A configuration file that has been read."""

    path: Path
    exists: bool = False
    options: Options = Options()
    troubles: tuple[Trouble, ...] = ()
    text: str = ""

    @property
    def host_troubles(self) -> list[Trouble]:
        """Errors because of which a host may be missing."""
        return [each for each in self.troubles if each.table in ("", _HOSTS)]


def located(text: str, name: str, problems: Iterable[Problem]) -> Iterator[Trouble]:
    """Yield what is wrong in an option or table of a file, with the line that is the nearest to
    it."""
    for each in problems:
        # An empty line of the table would be that of an empty key.
        line = line_of(text, name, each.key, each.number) if each.key else None
        line = line or line_of(text, "", name, each.number) or line_of(text, "", name)
        yield Trouble(line, each.text, each.remedy, name)


def _parse(name: str, value: object) -> tuple[object, list[Problem]]:
    """Return a value of TOML as `Options` has it, None for the default, and what is wrong with
    it."""
    if name == _KEYS:
        return _parse_keys(value)
    if name == _HOSTS:
        return _parse_hosts(value)
    option = next((each for each in OPTIONS if each.name == name), None)
    if option is not None:
        return option.parse(value)
    remedy = similar(name, Options._fields)
    if name in REMOVED:
        remedy = _(REMOVED[name])
    return None, [Problem(_("there is no option “{name}”.", name=name), remedy)]


def _parse_hosts(value: object) -> tuple[tuple[Host, ...], list[Problem]]:
    hosts: dict[str, Host] = {}
    problems: list[Problem] = []
    for index, each in enumerate(value if isinstance(value, list) else [value]):
        texts = each.values() if isinstance(each, Mapping) else [None]
        if not all(isinstance(text, str) for text in texts):
            text = _("“hosts” is written as [[hosts]], with texts below it: name, ssh.")
            problems.append(Problem(text, number=index))
            continue
        for unknown in [key for key in each if key not in Host._fields]:
            text = _("a host has no “{name}”.", name=one_line(unknown, 60))
            problems.append(Problem(text, similar(unknown, Host._fields), unknown, index))
        known = {key: text for key, text in each.items() if key in Host._fields}
        host = Host(**{"name": "", "ssh": ""} | known)
        key, problem = host.problem()
        if not problem and host.name in hosts:
            key, problem = "name", _("there are two hosts of this name.")
        if not problem:
            hosts[host.name] = host
            continue
        text = _("the host {name}: {problem}", name=shown(host.name), problem=problem)
        problems.append(Problem(text, "", key, index))
    return tuple(hosts.values()), problems


def _parse_keys(value: object) -> tuple[dict[str, str], list[Problem]]:
    if not isinstance(value, Mapping):
        return {}, [Problem(_("“keys” is a table: a line [keys], and below it action = key."))]
    keys: dict[str, str] = {}
    problems: list[Problem] = []
    for action, key in value.items():
        names = [key] if isinstance(key, str) else key
        if isinstance(names, list) and names and all(isinstance(each, str) for each in names):
            keys[action] = ",".join("comma" if each == "," else each for each in names)
            continue
        words = _("“{action}” takes a key, or a list of keys, not {value}.")
        problems.append(Problem(words.format(action=action, value=shown(key)), "", action))
    return keys, problems


def parse_config(text: str, path: Path) -> Configuration:
    """Parse TOML; the path is that of the file."""
    import tomllib  # start: only with a configuration

    values: dict[str, Any] = {}
    document: dict[str, Any] = {}
    troubles: list[Trouble] = []
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = _("The whole file is ignored until that is corrected.")
        troubles.append(Trouble(None, _("{said}.", said=error), remedy))
    except RecursionError:
        troubles.append(Trouble(None, _("brackets are nested too deeply.")))
    for name, value in document.items():
        parsed, problems = _parse(name, value)
        if parsed is not None:
            values[name] = parsed
        troubles += located(text, name, problems)
    return Configuration(path, True, Options(**values), tuple(troubles), text)


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
    return Configuration(path, exists=True, troubles=(Trouble(line, problem),))
