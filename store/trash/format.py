"""The format of a bundle: stored values and rows as JSON, `manifest.json`, `README.txt`, and the
errors of the trash.

SQLite does not enforce column types (https://sqlite.org/datatype3.html): text may be invalid UTF-8,
a text column may hold a number. NULL, integers, finite reals and valid text are written as JSON
values; others are an object with one key, which preserves storage class and bytes:

    {"text": BASE64}    text that is not valid UTF-8
    {"blob": BASE64}    a blob
    {"real": "inf"}     an infinite real, or `-inf`

Lines are ASCII, so that stored text cannot act on a terminal when a bundle is read by hand.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from ..connection.schema import sql_name
from ..errors import BrowseError, NotFoundError
from ..text import as_text
from ..wording import _

T = TypeVar("T")

Encoded = None | int | float | str | dict[str, str]
"""A stored value as encoded in a line."""

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class TableRow(NamedTuple):
    """One row of any table."""

    table: str
    rowid: int | None
    """None if a column is the rowid, or the table has none."""
    row: dict[str, Encoded]
    """Stored columns in the order of the table."""


def reading(columns: Sequence[str]) -> str:
    """Return SQL that selects the storage class and the value of each column, text as bytes; see
    `encode_row`."""
    parts = []
    for name in map(sql_name, columns):
        parts += [
            f"typeof({name})",
            f"CASE WHEN typeof({name}) = 'text' THEN CAST({name} AS BLOB) ELSE {name} END",
        ]
    return ", ".join(parts)


def encode(kind: object, value: object) -> Encoded:
    """Encode for a line one value read by `reading`: its storage class, and text and blobs as
    bytes."""
    if isinstance(value, bytes):
        if kind == "text":
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError:
                return {"text": base64.b64encode(value).decode("ascii")}
        return {"blob": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"real": "inf" if value > 0 else "-inf"}
    if value is None or isinstance(value, int):
        return value
    raise TypeError(f"SQLite gives no {type(value).__name__}")


def encode_row(columns: Sequence[str], values: Sequence[object]) -> dict[str, Encoded]:
    """Encode a row that was selected by `reading` of the same columns."""
    return {name: encode(values[2 * at], values[2 * at + 1]) for at, name in enumerate(columns)}


def bound(value: Encoded) -> tuple[str, object]:
    """Return a placeholder and the value to bind, so that SQLite stores what was read.

    Raises:
        ValueError: It is not a value of a line.
    """
    if not isinstance(value, dict):
        return "?", value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag in ("text", "blob"):
            try:
                raw = base64.b64decode(inner, validate=True)
            except binascii.Error as error:
                raise ValueError(f"no base64: {inner[:20]!r}") from error
            # Bytes are bound as a blob; casting a blob to text does not change the bytes.
            return ("CAST(? AS TEXT)" if tag == "text" else "?"), raw
        if tag == "real" and inner in ("inf", "-inf"):
            return "?", float(inner)
    raise ValueError(f"no stored value: {str(value)[:40]}")


def text_of(value: Encoded) -> str | None:
    """Return a value as text, to show it or to compare it with ids."""
    return as_text(bound(value)[1])


def write_line(line: TableRow) -> bytes:
    """Encode a row as one line with a newline; equal rows give equal bytes."""
    document: dict[str, object] = {"table": line.table}
    if line.rowid is not None:
        document["rowid"] = line.rowid
    document["row"] = line.row
    return _ENCODER.encode(document).encode("ascii") + b"\n"


def read_line(raw: bytes) -> TableRow:
    """Decode the row in a line.

    Raises:
        ValueError: The line is malformed.
    """
    document = _typed(json.loads(raw), dict)
    rowid = document.get("rowid")
    number = None if rowid is None else _typed(rowid, int)
    return TableRow(_typed(document.get("table"), str), number, _row(document.get("row")))


def bind(row: Mapping[str, Encoded]) -> tuple[list[str], list[object]]:
    """Return placeholders and values for all columns of a row, in order."""
    pairs = [bound(value) for value in row.values()]
    return [mark for mark, _ in pairs], [value for _, value in pairs]


FORMAT = 1
"""Increased when older programs can no longer read a bundle."""

MANIFEST, ROWS, README, SUMS, FILES = (
    "manifest.json",
    "rows.jsonl.gz",
    "README.txt",
    "SHA256SUMS",
    "files",
)
RESTORED = "restored.json"
"""Written into a bundle that has been restored; not in the checksums."""


class TrashError(BrowseError):
    """The trash cannot store a bundle, for lack of space or permission; nothing was deleted."""

    exit_code = 5
    code = "trash"


class BundleDamagedError(BrowseError):
    """A bundle differs from its checksums, or a folder is not a bundle."""

    code = "bundle-damaged"


class BundleNotFoundError(NotFoundError):
    """There is no bundle with that name."""

    code = "bundle-not-found"


class RowFate(StrEnum):
    """The effect of a delete on rows."""

    TAKEN = "taken"
    """Deleted with the sessions they belong to."""
    SHARED = "shared"
    """Deleted once no session uses them: system prompts (0.20 and later)."""
    MENTIONED = "mentioned"
    """Left in the store, as by Hermes; the bundle has a copy for the record."""


class ClearedReference(NamedTuple):
    """A reference that a delete sets to NULL."""

    table: str
    key: dict[str, Encoded]
    """Primary key of the row that holds it."""
    column: str
    was: Encoded


class BundleFile(NamedTuple):
    """One file of a bundle."""

    bytes: int
    sha256: str


class BundleTable(NamedTuple):
    """A table with rows in a bundle."""

    fate: RowFate
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: int


class Origin(NamedTuple):
    """The store that the rows come from."""

    path: str
    schema_version: int | None
    instance: str | None
    """`store_instance_id` of `state_meta` (0.22)."""


class Kept(NamedTuple):
    """A file of Hermes in a bundle."""

    file: str
    """Name in the bundle, below `files/`."""
    name: str
    """Name in the folder `sessions` of the Hermes home."""
    session: str
    bytes: int
    """Uncompressed."""
    sha256: str
    """Of its uncompressed bytes."""
    mode: int
    mtime_ns: int


class Manifest(NamedTuple):
    """The contents of a bundle."""

    name: str
    created_at: float
    """Unix seconds."""
    titles: tuple[str | None, ...]
    """One for each conversation."""
    conversations: tuple[str, ...]
    """Their tips."""
    sessions: tuple[str, ...]
    messages: int
    origin: Origin
    tables: Mapping[str, BundleTable]
    links: tuple[ClearedReference, ...]
    """References from rows that were not deleted, which a restore sets again."""
    orphans: tuple[str, ...]
    """Sessions whose parent was already missing before the delete."""
    taken: str
    """SHA-256 of the lines of deleted rows, in order."""
    lines: str
    """SHA-256 of `rows.jsonl`, uncompressed."""
    files: tuple[Kept, ...]
    pieces: Mapping[str, BundleFile]
    """All files of the bundle except the manifest and the checksums."""
    kin: tuple[tuple[str, str], ...] | None = None
    """Pairs of child and parent, of which only one is in the bundle, besides those in `links`: see
    `shelf.py`. None in bundles of 0.1.0 and before, which do not record them."""

    def to_json(self) -> bytes:
        """Encode `manifest.json`, in ASCII."""
        document = self._asdict() | {
            "origin": self.origin._asdict(),
            "tables": {name: table._asdict() for name, table in self.tables.items()},
            "links": [link._asdict() for link in self.links],
            "files": [kept._asdict() for kept in self.files],
            "pieces": {name: piece._asdict() for name, piece in self.pieces.items()},
        }
        return (
            json.dumps({"format": FORMAT} | document, indent=1, allow_nan=False).encode("ascii")
            + b"\n"
        )


def _typed(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):  # a truth value is no number
        raise ValueError
    if isinstance(value, int) and not -(2**63) <= value < 2**63:  # SQLite has no such integer
        raise ValueError
    return value


def _encoded(value: object) -> Encoded:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _typed(each, str) for name, each in value.items()}
    return _typed(value, int | float)  # type: ignore[arg-type]


def _row(value: object) -> dict[str, Encoded]:
    return {name: _encoded(each) for name, each in _typed(value, dict).items()}


_fields = cache(get_type_hints)


def _decode(kind: Any, value: object) -> Any:
    """Decode a value of JSON as the type of a field: a record with all its fields, plain values, or
    many of either.

    Raises:
        KeyError: A field is missing.
        ValueError: A value has another type.
    """
    container, kinds = get_origin(kind), get_args(kind)
    if kind == Encoded:
        return _encoded(value)
    if container is UnionType:  # a type, or None
        return None if value is None else _decode(kinds[0], value)
    if container is tuple:
        items = _typed(value, list)
        kinds = kinds[:1] * len(items) if kinds[-1] is ... else kinds
        return tuple(_decode(each, item) for each, item in zip(kinds, items, strict=True))
    if container in (dict, Mapping):
        return {name: _decode(kinds[1], each) for name, each in _typed(value, dict).items()}
    if issubclass(kind, RowFate):
        return kind(_typed(value, str))
    if issubclass(kind, tuple):
        document = _typed(value, dict)
        return kind(**{name: _decode(each, document[name]) for name, each in _fields(kind).items()})
    return float(_typed(value, int | float)) if kind is float else _typed(value, kind)  # type: ignore[arg-type]


def read_manifest(raw: bytes) -> Manifest:
    """Decode a manifest.

    Raises:
        BundleDamagedError: It is malformed, or of a later format.
    """
    try:
        document = _typed(json.loads(raw), dict)
        if document.get("format") != FORMAT:
            raise BundleDamagedError(
                _("It is of format {found}, and this program reads format {known}.").format(
                    found=str(document.get("format"))[:20], known=FORMAT
                ),
                remedy=_("A newer hermes-browse wrote it; update, or follow its README.txt."),
            )
        manifest: Manifest = _decode(Manifest, {"kin": None} | document)
        return manifest
    except (ValueError, KeyError, OverflowError, RecursionError) as error:
        raise BundleDamagedError(_("Its manifest.json is broken.")) from error


# The same in every language, and ASCII: a bundle may be read by somebody else, anywhere.
README_TEXT = """\
Conversations deleted from a session store of Hermes Agent by hermes-browse.
`hermes-browse trash restore` puts them back. This file says how to read them without it.

manifest.json    which sessions, from which store, what else was changed, and the SHA-256 of every file
rows.jsonl.gz    every row that was deleted, and rows that only mention the sessions ("fate" in the manifest)
files/           transcript files of Hermes that went along, gzip; their names are in the manifest
SHA256SUMS       check all with: sha256sum -c SHA256SUMS

Each line of rows.jsonl is one row of one table, with all its columns:

    {"table": "messages", "rowid": 7, "row": {"id": 7, "session_id": "...", "content": "..."}}

"rowid" is there where no column holds it. Values stand as they were stored. What JSON cannot say is an object:
{"blob": BASE64} a blob, {"text": BASE64} text that is no valid UTF-8, {"real": "inf"} an infinite number.

Read them:

    gzip -dc rows.jsonl.gz

Or as a database, here all messages in order (sqlite3 3.38 or later):

    gzip -dc rows.jsonl.gz > rows.jsonl
    sqlite3 rows.db 'CREATE TABLE lines (line TEXT)' '.mode ascii' '.separator "\\037" "\\n"' '.import rows.jsonl lines'
    sqlite3 rows.db "SELECT line->>'$.row.role', line->>'$.row.content' FROM lines WHERE line->>'$.table'='messages'"
"""
