"""Find what a compaction lost: names, paths, commands, numbers and decisions that the model no
longer has.

Terms are extracted by patterns from the replaced rows, and searched in what the model had from then
to the next compaction: the summary, the rows carried over, and the rows that follow. A path is found
by its last part, because a model finds the file by that. All terms must occur literally, in whole
words, ignoring case; only a decision, a sentence of the user, is also found if most of its
significant words are in the summary or in what was carried over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from ..connection.reader import Reader, chunks, grouped
from ..connection.stored_values import as_mapping, load_json
from ..messages.chat_message import ChatMessage, State
from ..messages.decode import read_messages_of
from ..wording import N_
from .compactions import Compaction

_MAX_CHARACTERS = 4_000_000
"""Most characters of the replaced rows that are scanned, newest first."""
_MAX_PER_TEXT = 60_000
"""Most characters of one text that are scanned; the rest, mostly tool output, is skipped."""
_MAX_TERMS = 500
_BATCH = 200


class LostKind(StrEnum):
    """Kind of a lost term."""

    DECISION = "decision"
    COMMAND = "command"
    URL = "url"
    PATH = "path"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    NAME = "name"


LOST_KINDS = N_(
    {
        LostKind.DECISION: "decision",
        LostKind.COMMAND: "command",
        LostKind.URL: "address",
        LostKind.PATH: "path",
        LostKind.IDENTIFIER: "identifier",
        LostKind.NUMBER: "number",
        LostKind.NAME: "name",
    }
)


class Lost(NamedTuple):
    """A lost term."""

    term: str
    """Spelled as in its last occurrence; not yet printable."""
    kind: LostKind
    times: int
    """Occurrences in the replaced rows."""
    last_message_id: int
    """Id of the last row that contains it."""


class Losses(NamedTuple):
    """The terms that one compaction lost."""

    terms: tuple[Lost, ...]
    """Decisions and the most used first, then the latest."""
    is_complete: bool
    """Whether all replaced rows were scanned to their ends, and `terms` was not cut off."""


_URL = r"https?://[^\s<>\"'`)\]}]+"
_PATH = r"(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+|\b(?:[\w.@+-]+/)+[\w@+-]+\.\w{1,8}\b|\b[A-Za-z]:\\[\w\\.@+ -]+"
_FILE = (
    r"\b[\w@+-]+\.(?:py|js|ts|tsx|rs|go|c|h|cpp|java|rb|sh|md|txt|json|ya?ml|toml|ini|cfg|sql|db|csv|html|css|log"
    r"|lock|bak)\b"
)
_IDENTIFIER = (
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
    r"|\b[A-Za-z]\w*(?:_\w+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b[\w-]+@[\w-]+\.[\w.]+\b"
    r"|\b[A-Z]{2,}-\d+\b|#\d+\b|\b[A-Za-z_]\w*\(\)"
)
_NUMBER = r"(?<![\w.])[$€£]?\d[\d.,:]*\d(?:\s?(?:%|ms|s|min|h|[kKMGT]?i?B|px|USD|EUR))?(?!\w)|(?<![\w.])\d+\s?%"
_NAME = r"(?<=[a-z,;:(] )[A-Z][\w'’-]*[a-z][\w'’-]*(?: [A-Z][\w'’-]*[a-z][\w'’-]*)*"
_PATTERN = re.compile(
    f"(?P<url>{_URL})|(?P<path>{_PATH}|{_FILE})|(?P<identifier>{_IDENTIFIER})|(?P<number>{_NUMBER})"
    f"|(?P<name>{_NAME})"
)
"""The groups are kinds."""
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\w))+[.!?。！？]*")
"""A dot inside a word, as in a host name, ends none."""
_DECIDES = re.compile(
    r"\b(?:use|don'?t|do not|never|always|instead|prefer|must|should|let'?s|we(?:'| wi)ll|go with|decided?|keep"
    r"|no longer|not yet|stop|agreed|approved?|rejected?|make sure|remember|leave)\b"
    r"|不要|必须|改用|应该|决定|保留",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}|[\w./-]*\d[\w./-]*|[\u4e00-\u9fff]")
_ANY_WORD = re.compile(r"\w+")
_PLAIN = re.compile(
    "this|that|with|from|have|will|would|should|could|please|instead|always|never|about|there|their|them|then|than|only"
    "|just|make|sure|must|what|when|which|where|into|your|also|keep|using|prefer|remember|rather|want|need|does|done"
)
"""Insignificant words of a decision."""
_LONG_RUN = re.compile(r"(\S{400})(?=\S)")
"""Long runs without a space, which are split: the time that patterns take grows with the square of
their length."""
_DIFF = re.compile(r"^(\+\+\+ |--- )[ab]/", re.MULTILINE)
"""Prefix of a path in a diff."""
_STEM = 6
"""Characters at the start of a word that must occur in a summary; endings may differ."""
_COMMANDS = ("command", "cmd", "script", "code")
"""Names of tool arguments that hold a command."""


def find_losses(reader: Reader, compaction: Compaction) -> Losses:
    """Return the terms that occur in the rows a compaction removed and in no row that the model had
    from then to the next one."""
    gone, is_complete = _scan(reader, compaction.gone)
    every = (
        Lost(term, kind, 1, message.id)
        for message, texts in gone
        for kind, term in _terms(message, texts)
    )
    same = grouped(every, key=lambda lost: (lost.kind, lost.term.casefold()))
    # The last occurrence is found first.
    found = [some[0]._replace(times=len(some)) for some in same.values()]
    if not found:
        return Losses((), is_complete)
    after = read_messages_of(reader, compaction.instead)
    instead = "\n".join(chain.from_iterable(map(_texts, after))).casefold()
    since, is_all = _scan(reader, compaction.since)
    there = (texts for message, texts in since if message.state is not State.REWOUND)
    given = "\n".join([instead, *chain.from_iterable(there)]).casefold()
    words = set(_ANY_WORD.findall(given))
    terms = [
        lost
        for lost in found
        if not (_is_named(lost, given, words) or _is_paraphrased(lost, instead))
    ]
    first = nsmallest(_MAX_TERMS, terms, key=_rank)
    return Losses(tuple(first), is_complete and is_all and len(terms) <= _MAX_TERMS)


def _rank(lost: Lost) -> tuple[int, int, str]:
    """Sort key: decisions and what was used often first, then the latest."""
    factor = 3 if lost.kind is LostKind.DECISION else 1
    return -factor * (1 + min(lost.times, 20)), -lost.last_message_id, lost.term


def _is_named(lost: Lost, given: str, words: set[str]) -> bool:
    """Return whether a term, of a path its last part, occurs literally in a text that was given to
    the model, and in its whole words."""
    sought = lost.term.casefold()
    if lost.kind is LostKind.PATH:
        sought = re.split(r"[/\\]", sought.rstrip("/\\"))[-1]
    return words.issuperset(_ANY_WORD.findall(sought)) and sought in given


def _is_paraphrased(lost: Lost, given: str) -> bool:
    """Return whether most significant words of a decision occur in a text."""
    words = _WORD.findall(lost.term.casefold())
    stems = {word[:_STEM] for word in words if not _PLAIN.fullmatch(word)}
    there = sum(stem in given for stem in stems)
    return lost.kind is LostKind.DECISION and there * 3 >= len(stems) * 2


def _scan(reader: Reader, ids: Sequence[int]) -> tuple[list[tuple[ChatMessage, list[str]]], bool]:
    """Read rows, newest first, with their texts cut off; and whether all were read whole."""
    scanned: list[tuple[ChatMessage, list[str]]] = []
    characters, is_whole = 0, True
    for some in chunks(ids[::-1], _BATCH):
        if characters > _MAX_CHARACTERS:
            return scanned, False
        for message in read_messages_of(reader, some):
            texts = list(_texts(message))
            cut = [text[:_MAX_PER_TEXT] for text in texts]
            characters += sum(map(len, cut))
            is_whole &= cut == texts
            scanned.append((message, cut))
    return scanned, is_whole


def _texts(message: ChatMessage) -> Iterator[str]:
    """Yield the texts of a message and of the arguments of its calls; of JSON, only the values."""
    for text in (message.text, *(call.arguments for call in message.tool_calls)):
        loaded = load_json(text)  # most tools answer in JSON
        yield from [text] if loaded is None else _strings(loaded)


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, list | dict) and depth < 8:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth + 1)


def _terms(message: ChatMessage, texts: Iterable[str]) -> Iterator[tuple[LostKind, str]]:
    """Yield the terms of a message with their kinds."""
    for call in message.tool_calls:
        for value in map(as_mapping(call.arguments).get, _COMMANDS):
            if isinstance(value, str) and 2 < len(value.strip()) <= 300:
                yield LostKind.COMMAND, " ".join(value.split())
    for text in texts:
        for match in _PATTERN.finditer(_LONG_RUN.sub(r"\1 ", _DIFF.sub(r"\1", text))):
            term = match[0].rstrip(".,:;")
            if len(term) > 2 and term != "/dev/null":
                yield LostKind(str(match.lastgroup)), term[:300]
    said = message.said[:_MAX_PER_TEXT] if message.role == "user" else ""
    for sentence in _SENTENCE.findall(said):
        decision = " ".join(sentence.split())
        if 8 <= len(decision) <= 400 and _DECIDES.search(decision):
            yield LostKind.DECISION, decision
