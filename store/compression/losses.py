"""What a compaction lost: names, paths, commands, numbers and decisions that nothing after it mentions.

Plain text work: what stands in the replaced rows and neither in the summary nor in what was carried over. A path counts
as mentioned when its last part is, since a model finds the file by that. A decision is a sentence of the user, and
counts as mentioned when most of its telling words are. Anything else must stand there letter by letter, in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from ..connection.connect import Reader
from ..connection.values import read_json
from ..messages.blocks import texts_of
from ..messages.models import ChatMessage
from ..messages.transcript import read_messages_of
from .compactions import Compaction

_MOST_LETTERS = 4_000_000
"""Of the replaced rows, newest first; beyond that nothing is looked at."""
_MOST_OF_ONE = 60_000
"""Letters of one message: the rest of a long output of a tool is left out."""
_MOST_TERMS = 500
_BATCH = 200


class Term(StrEnum):
    """What kind of thing was lost, the most telling first."""

    DECISION = "decision"
    COMMAND = "command"
    URL = "url"
    PATH = "path"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    NAME = "name"


class Lost(NamedTuple):
    """One thing that is not mentioned any more."""

    term: str
    """As it stood last; as stored, so not yet printable."""
    kind: Term
    times: int
    """How often it stood in the replaced rows."""
    last_message_id: int
    """The last row it stood in."""


class Losses(NamedTuple):
    """What one compaction lost."""

    terms: tuple[Lost, ...]
    """Most used and latest first."""
    is_complete: bool
    """Whether all replaced rows were looked through, to their ends, and all that was found is here."""


_URL = r"https?://[^\s<>\"'`)\]}]+"
_PATH = r"(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+|\b(?:[\w.@+-]+/)+[\w@+-]+\.\w{1,8}\b|\b[A-Za-z]:\\[\w\\.@+ -]+"
_FILE = (
    r"\b[\w@+-]+\.(?:py|js|ts|tsx|rs|go|c|h|cpp|java|rb|sh|md|txt|json|ya?ml|toml|ini|cfg|sql|db|csv|html|css|log"
    r"|lock|bak)\b"
)
_HASH = r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
_IDENTIFIER = (
    r"\b[A-Za-z]\w*(?:_\w+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b[\w-]+@[\w-]+\.[\w.]+\b"
    r"|\b[A-Z]{2,}-\d+\b|#\d+\b|\b[A-Za-z_]\w*\(\)"
)
_NUMBER = r"(?<![\w.])[$€£]?\d[\d.,:]*\d(?:\s?(?:%|ms|s|min|h|[kKMGT]?i?B|px|USD|EUR))?(?!\w)|(?<![\w.])\d+\s?%"
_NAME = r"(?<=[a-z,;:(] )[A-Z][\w'’-]*[a-z][\w'’-]*(?: [A-Z][\w'’-]*[a-z][\w'’-]*)*"
_PATTERN = re.compile(
    f"(?P<url>{_URL})|(?P<path>{_PATH}|{_FILE})|(?P<hash>{_HASH})|(?P<identifier>{_IDENTIFIER})|(?P<number>{_NUMBER})"
    f"|(?P<name>{_NAME})"
)
_KINDS = {
    "url": Term.URL,
    "path": Term.PATH,
    "hash": Term.IDENTIFIER,
    "identifier": Term.IDENTIFIER,
    "number": Term.NUMBER,
    "name": Term.NAME,
}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_DECIDES = re.compile(
    r"\b(?:use|don'?t|do not|never|always|instead|prefer|must|should|let'?s|we(?:'| wi)ll|go with|decided?|keep"
    r"|no longer|not yet|stop|agreed|approved?|rejected?|make sure|remember|leave)\b"
    r"|不要|必须|改用|应该|决定|保留",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}|[\w./-]*\d[\w./-]*|[\u4e00-\u9fff]")
_PLAIN = re.compile(
    "this|that|with|from|have|will|would|should|could|please|instead|always|never|about|there|their|them|then|than|only"
    "|just|make|sure|must|what|when|which|where|into|your|also|keep|using|prefer|remember|rather|want|need|does|done"
)
"""Words that tell nothing of a decision."""
_LONG_RUN = re.compile(r"(\S{400})(?=\S)")
"""Letters without a space: patterns go through each such run from many places, so that runs have to end."""
_DIFF = re.compile(r"^(\+\+\+ |--- )[ab]/", re.MULTILINE)
"""What stands before a path in a diff and is no part of it."""
_STEM = 6
"""Letters of a word that a summary has to have: endings differ."""
_COMMANDS = ("command", "cmd", "script", "code")
"""Arguments of a tool that are a command."""


def find_losses(
    reader: Reader, compaction: Compaction, *, most: int = _MOST_TERMS, stopped: Callable[[], bool] = lambda: False
) -> Losses:
    """What stood in the rows that a compaction replaced, and in nothing the model was given after it.

    Args:
        reader: An open reader.
        compaction: Of the conversation.
        most: How many terms at most.
        stopped: Asked between batches of rows; ends the search with what was found.
    """
    after = [compaction.summary, *(each.id for each in compaction.kept), *compaction.not_stored_again]
    kept = [each for each in after if each is not None]
    mentioned = "\n".join("\n".join(_texts(message)) for message in read_messages_of(reader, kept)).casefold()
    found: dict[tuple[Term, str], tuple[str, int, int]] = {}
    letters, is_complete = 0, True
    for start in range(len(compaction.replaced), 0, -_BATCH):
        if stopped() or letters > _MOST_LETTERS:
            is_complete = False
            break
        ids = compaction.replaced[max(0, start - _BATCH) : start]
        for message in reversed(read_messages_of(reader, ids)):
            texts = list(_texts(message))
            cut = [_LONG_RUN.sub(r"\1 ", _DIFF.sub(r"\1", text[:_MOST_OF_ONE])) for text in texts]
            is_complete &= all(len(text) <= _MOST_OF_ONE for text in texts)
            letters += sum(map(len, cut))
            for kind, term in _terms(message, cut):
                _count(found, kind, term, message.id)
    lost = [
        Lost(term, kind, count, last)
        for (kind, _key), (term, count, last) in found.items()
        if not _is_mentioned(kind, term, mentioned)
    ]
    place = {each: at for at, each in enumerate(compaction.replaced, 1)}
    total = max(len(place), 1)

    def weight(each: Lost) -> float:
        late = place.get(each.last_message_id, 0) / total
        return (1 + min(each.times, 20)) * (0.5 + late) * (3 if each.kind is Term.DECISION else 1)

    ranked = sorted(lost, key=lambda each: (-weight(each), -each.last_message_id, each.term))
    return Losses(tuple(ranked[:most]), is_complete and len(ranked) <= most)


def _texts(message: ChatMessage) -> Iterator[str]:
    """What the model could read of a message; the texts in the arguments of its calls, not the JSON around them."""
    if message.text[:1] in ("{", "["):  # what most tools answer
        yield from _strings(_loaded(message.text))
    elif message.text:
        yield message.text
    for call in message.tool_calls:
        yield from _strings(_loaded(call.arguments))


def _loaded(arguments: str) -> object:
    try:
        return read_json(arguments)
    except (ValueError, RecursionError):
        return arguments  # cut short, so that it is no JSON any more


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, list | dict) and depth < 8:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each, depth + 1)


def _terms(message: ChatMessage, texts: Iterable[str]) -> Iterator[tuple[Term, str]]:
    """What is worth remembering in a message."""
    for call in message.tool_calls:
        yield from ((Term.COMMAND, command) for command in _commands(call.arguments))
    for text in texts:
        for match in _PATTERN.finditer(text):
            term = match[0].rstrip(".,:;")
            kind = _KINDS[str(match.lastgroup)]
            if (
                len(term) > 2
                and term != "/dev/null"
                and (kind is not Term.NUMBER or len(re.sub(r"\D", "", term)) > 2 or not term.isdigit())
            ):
                yield kind, term[:300]
    if message.role == "user":
        for sentence in _SENTENCE.findall(texts_of(message).said[:_MOST_OF_ONE]):
            said = " ".join(sentence.split())
            if 8 <= len(said) <= 400 and _DECIDES.search(said):
                yield Term.DECISION, said


def _commands(arguments: str) -> Iterator[str]:
    """Commands among the arguments of a tool."""
    loaded = _loaded(arguments)
    for name in _COMMANDS if isinstance(loaded, dict) else ():
        value = loaded.get(name) if isinstance(loaded, dict) else None
        if isinstance(value, str) and 2 < len(value.strip()) <= 300:
            yield " ".join(value.split())


def _count(found: dict[tuple[Term, str], tuple[str, int, int]], kind: Term, term: str, at: int) -> None:
    """Count a term; messages come newest first, so the first sight of it is the last one in the conversation."""
    key = (kind, term.casefold())
    if key in found:
        text, count, last = found[key]
        found[key] = (text, count + 1, last)
    else:
        found[key] = (term, 1, at)


def _is_mentioned(kind: Term, term: str, text: str) -> bool:
    """Whether what the model was given after a compaction still has a term.

    A decision counts as mentioned when most of its telling words are: summaries say it in words of their own.
    """
    folded = term.casefold()
    if folded in text:
        return True
    if kind is Term.PATH:
        name = re.split(r"[/\\]", folded.rstrip("/\\"))[-1]
        return len(name) > 2 and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None
    if kind is Term.DECISION:
        telling = {word for word in _WORD.findall(folded) if not _PLAIN.fullmatch(word)}
        return not telling or sum(word[:_STEM] in text for word in telling) * 3 >= len(telling) * 2
    return False
