"""Read the configuration: each error becomes a sentence with its line, and everything else is
applied; and the language alone, which is needed before that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hermes_browse.store.files import FileTooLargeError, read_regular, user_folder
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import LANGUAGES, _, language_of

from .options import OPTIONS, Options, Problem, shown, similar

_MOST = 1_000_000
"""Bytes of a configuration; a larger file is none."""
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


def _lines_of(text: str) -> dict[tuple[str, int], int]:
    """Return the lines, counted from 1, that set a key or begin a table: by its path, and by the
    number of its table among those of that name (`[[hosts]]`), counted from 0. Keys that are spelled
    in other ways of TOML are not found."""
    lines: dict[tuple[str, int], int] = {}
    tables = Counter[str]()
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            path = current = _bare(header[1])
            tables[path] += 1
        elif path := _bare(line.partition("=")[0]):
            path = f"{current}.{path}".removeprefix(".")
        lines.setdefault((path, max(tables[current] - 1, 0)), number)
    return lines


class Configuration(NamedTuple):
    """A configuration file that has been read."""

    path: Path
    exists: bool = False
    options: Options = Options()
    troubles: tuple[Problem, ...] = ()
    text: str = ""
    """What is in the file, to find the lines of further errors."""

    @property
    def host_troubles(self) -> list[Problem]:
        """Errors because of which a host may be missing."""
        return [each for each in self.troubles if each.table in ("", _HOSTS)]


def located(text: str, table: str, problems: Collection[Problem]) -> Iterator[Problem]:
    """Yield what is wrong in an option or table of a file with this text, with the line that is the
    nearest to it."""
    lines = _lines_of(text) if problems else {}
    for each in problems:
        places = (f"{table}.{each.key}", each.number), (table, each.number), (table, 0)
        line = next(filter(None, map(lines.get, places)), None)
        yield each._replace(table=table, line=line)


def _parse_hosts(value: object, problems: list[Problem]) -> tuple[Host, ...]:
    hosts: dict[str, Host] = {}
    for number, each in enumerate(value if isinstance(value, list) else [value]):
        texts = each.values() if isinstance(each, Mapping) else [None]
        if not all(isinstance(text, str) for text in texts):
            text = _("“hosts” is written as [[hosts]], with texts below it: name, ssh.")
            problems.append(Problem(text, number=number))
            continue
        known = {"name": "", "ssh": ""}
        for field, words in each.items():
            if field in Host._fields:
                known[field] = words
            else:
                text = _("a host has no “{name}”.", name=one_line(field, 60))
                problems.append(Problem(text, similar(field, Host._fields), field, number))
        host = Host(**known)
        key, problem = host.problem()
        if not problem and host.name in hosts:
            key, problem = "name", _("there are two hosts of this name.")
        if problem:
            text = _("the host {name}: {problem}", name=shown(host.name), problem=problem)
            problems.append(Problem(text, "", key, number))
        else:
            hosts[host.name] = host
    return tuple(hosts.values())


def _parse_keys(value: object, problems: list[Problem]) -> dict[str, str]:
    if not isinstance(value, Mapping):
        problems.append(Problem(_("“keys” is a table: a line [keys], and below it action = key.")))
        return {}
    keys: dict[str, str] = {}
    for action, key in value.items():
        names = [key] if isinstance(key, str) else key
        if isinstance(names, list) and names and all(isinstance(each, str) for each in names):
            keys[action] = ",".join("comma" if each == "," else each for each in names)
        else:
            words = _(
                "“{action}” takes a key, or a list of keys, not {value}.",
                action=action,
                value=shown(key),
            )
            problems.append(Problem(words, "", action))
    return keys


_PARSERS: Mapping[str, Callable[[Any, list[Problem]], object]] = {
    **{option.name: option.parse for option in OPTIONS},
    "keys": _parse_keys,
    _HOSTS: _parse_hosts,
}
"""By option or table: what returns a value of TOML as `Options` has it, and adds what is wrong
with it."""


def parse_config(text: str, path: Path) -> Configuration:
    """Parse TOML; the path is that of the file."""
    import tomllib  # start: only with a configuration

    values: dict[str, Any] = {}
    troubles: list[Problem] = []
    document: dict[str, Any] = {}
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = _("The whole file is ignored until that is corrected.")
        troubles.append(Problem(_("{said}.", said=error), remedy))
    except RecursionError:
        troubles.append(Problem(_("brackets are nested too deeply.")))
    for name, value in document.items():
        problems: list[Problem] = []
        if name in _PARSERS:
            values[name] = _PARSERS[name](value, problems)
        else:
            unknown = _("there is no option “{name}”.", name=name)
            problems.append(Problem(unknown, similar(name, _PARSERS)))
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
    return Configuration(path, exists=True, troubles=(Problem(problem, line=line),))
