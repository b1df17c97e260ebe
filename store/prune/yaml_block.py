"""A strict reader of one block of settings in a `config.yaml`.

It is no YAML reader: it knows the plain forms Hermes and people write, and whatever else stands there makes a setting
"cannot tell" instead of wrong. A library could read more, but the store half does without any, and anchors, merges
and variables only Hermes itself resolves as Hermes does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..wording import _

Value = bool | int | float

_MOST_BYTES = 4_000_000
_KEY = r"""("[^"\\]*"|'[^']*'|[^\s\-?:,\[\]{}#&*!|>'"%@`][^#]*?|[\-?:][^\s#][^#]*?)"""
_ENTRY = re.compile(rf"( *)((?:- +)*){_KEY} *:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"( *)- +(.*)$")
_BLOCK = re.compile(r"[|>][-+0-9]*\s*(#.*)?$")
_PREFIX = re.compile(r"^(?:[&!][^\s]*\s+)+")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+")
_TRUE = frozenset(case for word in ("true", "yes", "on") for case in (word, word.title(), word.upper()))
_FALSE = frozenset(case for word in ("false", "no", "off") for case in (word, word.title(), word.upper()))
_NULL = frozenset(["", "~", "null", "Null", "NULL"])


class _UnclearError(Exception):
    """Something this reader does not understand; its text says what."""


class Block(NamedTuple):
    """What one file says about sessions."""

    values: dict[str, Value]
    unclear: frozenset[str] = frozenset()
    """Settings that are there, but in a form that is not read."""
    trouble: str = ""
    """Why nothing can be said at all; empty otherwise."""


@dataclass
class _Entry:
    indent: int
    item: bool
    key: str
    value: str
    more: bool = False
    """Lines follow that belong to the value."""


def _plain(value: str) -> str:
    """A value without its comment and the blanks around it."""
    value = value.strip()
    return "" if value.startswith("#") else re.sub(r"\s+#.*$", "", value)


def _past_quotes(text: str, start: int) -> int:
    """Index behind the closing quote of the quoted text that begins at `start`; -1 when it is not closed."""
    quote, index = text[start], start + 1
    while index < len(text):
        if quote == '"' and text[index] == "\\":
            index += 2
        elif text[index] == quote:
            if quote == "'" and text[index + 1 : index + 2] == "'":
                index += 2
                continue
            return index + 1
        else:
            index += 1
    return -1


def _is_closed(text: str) -> bool:
    """Whether a quoted text or a flow collection ends in what is given of it."""
    if text[0] in "\"'":
        return _past_quotes(text, 0) >= 0
    depth, index = 0, 0
    while index < len(text):
        # A quote begins a quoted text only where a key or a value begins; elsewhere it is a letter.
        if text[index] in "\"'" and text[:index].rstrip()[-1:] in "[{,:?":
            index = _past_quotes(text, index)
            if index < 0:
                return False
            continue
        depth += (text[index] in "[{") - (text[index] in "]}")
        if depth == 0:
            return True
        index += 1
    return False


def _entries(lines: list[str]) -> list[_Entry]:
    """Every `key: value` that is none of another value's text."""
    found: list[_Entry] = []
    at, begun = 0, False
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith(("---", "...", "%")):
            if line != "---" or begun:
                raise _UnclearError(_("it holds several documents"))
            begun = True
            continue
        begun = True
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise _UnclearError(_("it is indented with tabs"))
        match = _ENTRY.match(line)
        if match is not None:
            key = match[3][1:-1] if match[3][0] in "\"'" else match[3]
            found.append(_Entry(len(match[1]), bool(match[2]), key, (match[4] or "").strip()))
            indent, value = len(match[1]), found[-1].value
        elif (item := _ITEM.match(line)) is not None:
            indent, value = len(item[1]), item[2].strip()
            if found:
                found[-1].more = True
        elif line[0] != " ":
            raise _UnclearError(_("line {number} is of no kind that is read here").format(number=at))
        else:  # goes on with a plain text
            if found:
                found[-1].more = True
            continue
        value = _PREFIX.sub("", value)
        if _BLOCK.match(value):
            while at < len(lines) and (not lines[at].strip() or _indent(lines[at]) > indent):
                at += 1
        elif value[:1] in ('"', "'", "[", "{"):
            text = value
            while not _is_closed(text):
                if at >= len(lines):
                    raise _UnclearError(_("a quote or bracket is never closed"))
                text += "\n" + lines[at]
                at += 1
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _scalar(text: str) -> Value | None:
    """A plain scalar as PyYAML reads it (YAML 1.1); None for texts, octals and whatever may be one."""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else None


def _settings(entries: list[_Entry], name: str) -> Block:
    if entries and entries[0].indent > 0:
        raise _UnclearError(_("it is indented as a whole"))
    top = [place for place, entry in enumerate(entries) if entry.indent == 0 and not entry.item]
    if any(entries[place].key == "<<" for place in top):
        raise _UnclearError(_("it merges other blocks into itself"))
    places = [place for place in top if entries[place].key == name]
    if len(places) > 1:
        raise _UnclearError(_("it has several blocks named {name}").format(name=name))
    if not places:
        return Block({})
    head = entries[places[0]]
    if _plain(head.value) not in _NULL and _plain(head.value) != "{}":
        raise _UnclearError(_("its block {name} is written in a form that is not read here").format(name=name))
    no_list = _("its block {name} is no list of settings").format(name=name)
    if head.more:
        raise _UnclearError(no_list)
    below: list[_Entry] = []
    for entry in entries[places[0] + 1 :]:
        if entry.indent == 0:
            break
        below.append(entry)
    values: dict[str, Value] = {}
    seen: set[str] = set()
    unclear: set[str] = set()
    for entry in below:
        if entry.indent > below[0].indent:
            continue
        if entry.indent < below[0].indent or entry.item or entry.key == "<<":
            raise _UnclearError(no_list)
        value = None if entry.more else _scalar(_plain(entry.value))
        if entry.key in seen or value is None:
            unclear.add(entry.key)
            values.pop(entry.key, None)
        else:
            values[entry.key] = value
        seen.add(entry.key)
    return Block(values, frozenset(unclear))


def read_block(path: Path, name: str = "sessions") -> Block:
    """The settings of one block of a `config.yaml`; a file or a block that is not there is an empty one.

    Args:
        path: The file.
        name: The block, a key at the top of the file.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            return Block({}, trouble=_("{path} is too large to be a configuration").format(path=path))
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Block({})
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else _("it is no UTF-8 text")
        return Block({}, trouble=_("{path} cannot be read: {reason}").format(path=path, reason=said))
    try:
        return _settings(_entries(text.splitlines()), name)
    except _UnclearError as unclear:
        return Block({}, trouble=_("{path} cannot be understood: {reason}").format(path=path, reason=unclear))
