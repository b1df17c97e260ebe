"""Stores for the search tests, and a plain scan to hold the search to."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from searching import count, search
from store_builder import StoreBuilder

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import TRIGRAM, WORDS
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.terms import fold

NOW = 1_767_258_000.0
"""2026-01-01 09:00 UTC."""


def write_store(
    path: Path,
    messages: Iterable[str | bytes | Mapping[str, object]],
    *,
    fts: bool = True,
    trigram: bool = True,
) -> Path:
    """A store of schema 22 without triggers and constraints; a message that is no mapping is the
    content of a user message."""
    builder = StoreBuilder(path)
    without = [*builder.shape.triggers]
    without += [name for name, has in {WORDS: fts, TRIGRAM: trigram}.items() if not has]
    shape = builder.shape.without(without)
    lax = {
        name: tuple(line.replace("NOT NULL", "") for line in lines)
        for name, lines in shape.tables.items()
    }
    builder.shape = replace(shape, tables=lax)
    builder.session("s")
    for number, each in enumerate(messages, 1):
        row = dict(each) if isinstance(each, Mapping) else {"content": each}
        builder.message("s", **{"timestamp": NOW + number} | row)
    return builder.write()


def ask(path: Path, text: str, **options: object) -> Answer:
    """Search a store for a text; all hits unless told otherwise."""
    with Store(path).reader() as reader:
        return search(reader, text, **({"limit": 0} | options))  # type: ignore[arg-type]  # test options


def ids(answer: Answer) -> list[int]:
    """Message ids in the order given."""
    return [hit.message_id for hit in answer.hits]


def found(path: Path, text: str, **options: object) -> list[int]:
    """Ids of the hits for a text, in the order given."""
    return ids(ask(path, text, **options))


def pages(path: Path, text: str, **options: object) -> list[int]:
    """Ids of all hits, read page by page."""
    answer = ask(path, text, **options)
    joined = ids(answer)
    while answer.more:
        answer = ask(path, text, before=answer.hits[-1], **options)
        joined += ids(answer)
    return joined


def counted(path: Path, text: str, **options: object) -> int:
    """How many hits are counted, all of them unless told otherwise."""
    with Store(path).reader() as reader:
        return count(reader, text, **({"cap": 0} | options)).count  # type: ignore[arg-type]  # test options


def rows(path: Path) -> dict[int, str]:
    """What a search may look at, by message id: read here without the code under test."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    columns = {row[1] for row in connection.execute("PRAGMA table_info(messages)")}
    shown = "display_kind IS NOT 'hidden'" if "display_kind" in columns else "1"
    metadata = "display_metadata" if "display_metadata" in columns else "NULL"
    read = connection.execute(
        f"SELECT id, content, tool_name, tool_calls, {metadata} FROM messages "
        f"WHERE role IS NOT 'session_meta' AND {shown}"
    ).fetchall()
    connection.close()
    texts = {}
    for message_id, content, tool_name, tool_calls, note in read:
        if note and json.loads(note).get("model_only"):
            continue
        parts = [part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part or "") for part in
                 (content, tool_name, tool_calls)]  # fmt: skip
        if parts[0].startswith("\x00json:"):
            parts.append(json.dumps(_loaded(parts[0][6:]), ensure_ascii=False))
        texts[message_id] = " ".join(parts)
    return texts


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


class Texts(dict[int, str]):
    """By message id; too long to be told with every failure."""

    def __repr__(self) -> str:
        return f"{len(self)} texts"


def contains(text: str, piece: str) -> bool:
    """Whether a text contains a term, said once more and plainly."""
    text, folded = fold(unicodedata.normalize("NFC", text)), fold(piece)
    if piece.startswith('"'):
        words = r"[\W_]+".join(folded[1:-1].split())
        return re.search(rf"(?<![^\W_]){words}(?![^\W_])", text) is not None
    if piece.startswith("*"):
        return folded.strip("*") in text
    bare = folded.rstrip("*")
    if not re.search(r"[^\W_]", bare) or re.search("[\u2e80-\ud7ff]", bare):
        return bare in text
    start = r"(?<![^\W_])" if bare[0].isalnum() else ""
    end = r"(?![^\W_])" if folded[-1].isalnum() else ""
    return re.search(start + re.escape(bare) + end, text) is not None


def standing(path: Path, text: str) -> list[int]:
    """Ids of the rows that contain all terms in a text, newest first."""
    pieces, texts = text.split(), rows(path).items()
    return sorted((key for key, said in texts if all(contains(said, each) for each in pieces)))[
        ::-1
    ]
