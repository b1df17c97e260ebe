"""What a bundle says of itself: `manifest.json`, `README.txt`, and the errors of the trash."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from ..errors import BrowseError, NotFoundError
from ..wording import _
from .layout import Fate, Link
from .values import Encoded

FORMAT = 1
"""Raised when an older program could not read a bundle any more."""

MANIFEST, ROWS, README, SUMS, FILES = "manifest.json", "rows.jsonl.gz", "README.txt", "SHA256SUMS", "files"
RESTORED = "restored.json"
"""Written into a bundle that has been put back; not part of what is checksummed."""

T = TypeVar("T")


class TrashError(BrowseError):
    """The trash cannot take a bundle: no room, no permission. Nothing has been deleted, and nothing else could be."""

    exit_code = 5
    code = "trash"


class BundleDamagedError(BrowseError):
    """A bundle is not what its checksums say, or not a bundle."""

    code = "bundle-damaged"


class BundleNotFoundError(NotFoundError):
    """There is no bundle of that name."""

    code = "bundle-not-found"


class Piece(NamedTuple):
    """One file of a bundle."""

    bytes: int
    sha256: str


class Table(NamedTuple):
    """One table of which a bundle has rows."""

    fate: Fate
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: int


class Origin(NamedTuple):
    """The store the rows are from."""

    path: str
    schema_version: int | None
    instance: str | None
    """`store_instance_id` of `state_meta` (0.22)."""


class Kept(NamedTuple):
    """A file of Hermes' that went along."""

    file: str
    """Its name in the bundle, below `files/`."""
    name: str
    """Its name in the folder `sessions` of the Hermes home."""
    session: str
    bytes: int
    """Uncompressed."""
    sha256: str
    """Of its uncompressed bytes."""
    mode: int
    mtime_ns: int


class Manifest(NamedTuple):
    """What is in a bundle."""

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
    tables: Mapping[str, Table]
    links: tuple[Link, ...]
    """References of rows that stayed, which a restore puts back."""
    orphans: tuple[str, ...]
    """Sessions whose parent was missing already."""
    taken: str
    """SHA-256 of the lines of rows that are deleted, in order."""
    lines: str
    """SHA-256 of `rows.jsonl`, uncompressed."""
    files: tuple[Kept, ...]
    pieces: Mapping[str, Piece]
    """All files of the bundle but the manifest and the list of sums."""
    kin: tuple[tuple[str, str], ...] | None = None
    """Child and parent, of which one is in the bundle and the other is not, beside those in `links`: see `kin.py`. None
    in bundles of 0.1.0 and before, which do not say."""

    def to_json(self) -> bytes:
        """The text of `manifest.json`, ASCII."""
        document = self._asdict() | {
            "format": FORMAT,
            "origin": self.origin._asdict(),
            "tables": {name: table._asdict() for name, table in self.tables.items()},
            "links": [link._asdict() for link in self.links],
            "files": [kept._asdict() for kept in self.files],
            "pieces": {name: piece._asdict() for name, piece in self.pieces.items()},
        }
        return json.dumps({"format": FORMAT} | document, indent=1, allow_nan=False).encode("ascii") + b"\n"


class _Broken(ValueError):
    pass


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Broken
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise _Broken
    return value


def _maybe(read: Callable[[object], T]) -> Callable[[object], T | None]:
    return lambda value: None if value is None else read(value)


def _list(value: object, read: Callable[[object], T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise _Broken
    return tuple(read(each) for each in value)


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _Broken
    return value


def _encoded(value: object) -> Encoded:
    if isinstance(value, dict):
        return {key: _text(each) for key, each in value.items()}
    if value is None or (isinstance(value, int | float | str) and not isinstance(value, bool)):
        return value
    raise _Broken


def _table(value: object) -> Table:
    table = _object(value)
    columns, key = _list(table["columns"], _text), _list(table["key"], _text)
    return Table(Fate(_text(table["fate"])), columns, key, _number(table["rows"]))


def _pair(value: object) -> tuple[str, str]:
    child, parent = _list(value, _text)
    return child, parent


def _kin(value: object) -> tuple[tuple[str, str], ...]:
    return _list(value, _pair)


def _link(value: object) -> Link:
    link = _object(value)
    key = {name: _encoded(each) for name, each in _object(link["key"]).items()}
    return Link(_text(link["table"]), key, _text(link["column"]), _encoded(link["was"]))


def _kept(value: object) -> Kept:
    kept = _object(value)
    return Kept(
        _text(kept["file"]),
        _text(kept["name"]),
        _text(kept["session"]),
        _number(kept["bytes"]),
        _text(kept["sha256"]),
        _number(kept["mode"]),
        _number(kept["mtime_ns"]),
    )


def _origin(value: object) -> Origin:
    origin = _object(value)
    return Origin(_text(origin["path"]), _maybe(_number)(origin["schema_version"]), _maybe(_text)(origin["instance"]))


def _piece(value: object) -> Piece:
    piece = _object(value)
    return Piece(_number(piece["bytes"]), _text(piece["sha256"]))


def read_manifest(raw: bytes) -> Manifest:
    """The manifest in a text.

    Raises:
        BundleDamagedError: It is none, or of a later format.
    """
    try:
        document = _object(json.loads(raw))
        if document.get("format") != FORMAT:
            raise BundleDamagedError(
                _("It is of format {found}, and this program reads format {known}.").format(
                    found=str(document.get("format"))[:20], known=FORMAT
                ),
                remedy=_("A newer hermes-browse wrote it; update, or follow its README.txt."),
            )
        created = document["created_at"]
        if not isinstance(created, int | float):
            raise _Broken
        return Manifest(
            name=_text(document["name"]),
            created_at=float(created),
            titles=_list(document["titles"], _maybe(_text)),
            conversations=_list(document["conversations"], _text),
            sessions=_list(document["sessions"], _text),
            messages=_number(document["messages"]),
            origin=_origin(document["origin"]),
            tables={name: _table(each) for name, each in _object(document["tables"]).items()},
            links=_list(document["links"], _link),
            orphans=_list(document["orphans"], _text),
            taken=_text(document["taken"]),
            lines=_text(document["lines"]),
            files=_list(document["files"], _kept),
            pieces={name: _piece(each) for name, each in _object(document["pieces"]).items()},
            kin=_maybe(_kin)(document.get("kin")),
        )
    except (ValueError, KeyError, RecursionError) as error:
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
