"""What may be asked of `serve` as a command: a closed list of calls, each with typed arguments.

A call names what it does and the rows it is about, never a file, another store or a command line.
Names and defaults of arguments are those of the command of the same purpose, which carries the call
out on the one store that was opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from ..connection.stored_values import Json
from ..errors import RefusedError
from ..sessions.models import Sort, View
from ..wording import _

_Text = Annotated[str, Meta(max_length=10_000, pattern=r"\A[^\0]*\Z")]
_Texts = Annotated[list[_Text], Meta(max_length=100_000)]
_Some = Annotated[list[_Text], Meta(min_length=1, max_length=100_000)]
_Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""The most is the largest whole number that every JSON reader represents."""


class _Call(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The arguments of a call."""

    json: bool = True
    """Whether the answer is one JSON document, or text for people."""


class _List(_Call):
    view: View = View.CHATS
    source: _Texts = []
    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    limit: _Count = 50
    offset: _Count = 0


class _Search(_Call):
    query: _Some
    sort: Literal["newest", "relevance", "oldest"] = "newest"
    limit: _Count = 50
    context: _Count = 0
    view: View | None = None
    source: _Texts = []
    role: _Texts = []


class _Stats(_Call):
    by: Literal[
        "model", "source", "day", "week", "month", "hour", "project", "conversation", "tool"
    ] = "source"
    period: Literal["7d", "30d", "90d", "1y", "all"] = "all"


class _Lineage(_Call):
    id: _Text


class _Cautions(_Call):
    id: _Text | None = None
    last: bool = False
    source: _Text | None = None


class _Plan(_Call):
    query: _Texts = []
    archive: bool = False
    delete: bool = False


class _CleanUp(_Plan):
    yes: bool = False


class _Several(_Call):
    ids: _Some


class _Rename(_Call):
    id: _Text
    title: _Some


class _Delete(_Several):
    yes: bool = False


class _Restore(_Call):
    bundles: _Some
    only: _Texts = []


_READS: Mapping[str, type[_Call]] = {
    **{"list": _List, "search": _Search, "stats": _Stats, "lineage": _Lineage},
    **{"cautions": _Cautions, "plan": _Plan, "trash": _Call},
}
CHANGES: Mapping[str, type[_Call]] = {
    **dict.fromkeys(("archive", "unarchive", "pin", "unpin"), _Several),
    **{"rename": _Rename, "delete": _Delete, "restore": _Restore, "clean_up": _CleanUp},
}
"""Those that change the store, which takes `--allow-changes`."""
CALLS: Mapping[str, type[_Call]] = {**_READS, **CHANGES}
"""By name. `cautions` says what speaks against opening a conversation in Hermes; `plan` what a
clean-up would do."""


class Called(NamedTuple):
    """A call that was asked for."""

    name: str
    values: Json
    """All of its arguments, with defaults for those that were not given."""
    changes: bool


def read_call(name: object, given: bytes | msgspec.Raw) -> Called:
    """Return a call, given its arguments as JSON.

    Raises:
        RefusedError: There is no such call, or an argument is unknown, missing or not of its type.
    """
    kind = CALLS.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or kind is None:
        raise RefusedError(_("There is no call “{name}”.").format(name=str(name)[:80]))
    try:
        values = msgspec.json.decode(given, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedError(f"{name}: {error}") from error
    return Called(name, msgspec.structs.asdict(values), name in CHANGES)
