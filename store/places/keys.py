"""Ids of sessions and messages that name their place, since ids of two stores can be equal.

A session `20261124_101500_ab12` of the profile work is `20261124_101500_ab12 work`; a message has
the number of its place in front of its own id. `Keys` rewrites the ids in whatever a store is asked
and answers, by the names of their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from ..messages.chat_message import ToolCall
from ..messages.transcript import END
from ..sessions.models import Session
from ..sessions.relations import ORPHANED
from .names import place_of

T = TypeVar("T")
_BITS = 64
"""Of the ids that SQLite gives."""
_HALF = 1 << (_BITS - 1)
_OF_SESSION = ("id", "parent_id", "branched_from", "delegate_from", "reset_from")
"""Fields of a `Session`."""
_ID_FIELDS = frozenset(
    {
        *_OF_SESSION,
        *(
            "ids",
            "session_id",
            "session_ids",
            "into_session_id",
            "empty_sessions",
            "parent_root_id",
        ),
        *("focus", "predicted", "message_id", "last_message_id", "copies"),
        *("original", "before", "replaced", "summary", "merged", "not_stored_again", "since"),
        *("first", "last", "known", "forgotten", "at", "of", "messages"),
        *("conversation_id", "first_message_id", "result_id", "waiting"),
    }
)
"""Fields that hold nothing but ids: texts those of sessions, whole numbers those of messages."""
_KEYED_FIELDS = frozenset({"gaps", "unread"})
"""Fields with a mapping whose keys alone are ids."""


def number_in(value: object, numbers: Mapping[str, int]) -> int:
    """Return the number of the place that the first key in a value names; 0 without a key.

    Args:
        numbers: By the name of the place.
    """
    found: list[int] = []

    def note(key: str | int) -> str | int:
        if isinstance(key, int):
            found.extend([(key + _HALF) >> _BITS] if key != END else [])
        elif (name := place_of(key)) in numbers:
            found.append(numbers[name])
        return key

    _changed(value, note, is_id=True)
    return found[0] if found else 0


class Keys(NamedTuple):
    """Keys of one place.

    In rows, ids are what stands in fields for them. Beside rows every text or number that is asked
    is an id; in answers every one in a list, and those that lead to something in a mapping. An
    answer that is one text is none.
    """

    number: int
    name: str

    def here(self, value: T) -> T:
        """Return what a store answered with keys in place of its ids."""
        if isinstance(value, Mapping):
            return cast("T", _with_keys(value, self._key))
        return cast("T", _changed(value, self._key, is_id=not isinstance(value, str)))

    def there(self, value: T) -> T:
        """Return what a store is asked with its own ids in place of keys."""
        return cast("T", _changed(value, self._id, is_id=True))

    def argument(self, name: str, value: object) -> object:
        """Return an argument of a call with own ids in place of keys, by its name."""
        return _field(self._id, name, value)

    def _key(self, own: str | int) -> str | int:
        if isinstance(own, str):
            return own if own == ORPHANED else f"{own} {self.name}"
        return own if own == END else own + (self.number << _BITS)

    def _id(self, key: str | int) -> str | int:
        if isinstance(key, str):
            return key.removesuffix(f" {self.name}")
        return key if key == END else key - (self.number << _BITS)


def _changed(value: Any, change: Callable[[Any], Any], *, is_id: bool) -> Any:
    """Return a value with its ids changed; `is_id` says whether texts and numbers in it are."""
    if type(value) in (str, int):
        return change(value) if is_id else value
    if isinstance(value, Session):  # there are many
        own = {name: getattr(value, name) for name in _OF_SESSION}
        return value._replace(
            **{name: change(each) for name, each in own.items() if each is not None}
        )
    if isinstance(value, ToolCall):  # its id is not that of a session
        return value
    if isinstance(value, Mapping):
        return {
            _changed(key, change, is_id=is_id): _changed(each, change, is_id=is_id)
            for key, each in value.items()
        }
    if hasattr(value, "_fields"):  # a named tuple
        return value._make(map(partial(_field, change), value._fields, value))
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_changed(each, change, is_id=is_id) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value) if each.init]
        own = {each: _field(change, each, getattr(value, each)) for each in names}
        return replace(value, **own)
    return value


def _field(change: Callable[[Any], Any], name: str, value: Any) -> Any:
    if name in _KEYED_FIELDS:
        return _with_keys(value, change)
    return _changed(value, change, is_id=name in _ID_FIELDS)


def _with_keys(value: Mapping[Any, Any], change: Callable[[Any], Any]) -> Mapping[Any, Any]:
    return {change(key): _changed(each, change, is_id=False) for key, each in value.items()}
