"""What may be asked of `serve`: a closed list of calls, each with typed arguments.

A call names what it does and the rows it is about, never a file, another store or a command line.
Names and defaults of arguments are those of the command of the same purpose, which carries the call
out on the one store that was opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..connection.stored_values import Json
from ..errors import RefusedError
from ..sessions.models import Sort, View
from ..wording import N_, _

_REQUIRED = object()
_TEXT = 10_000
"""Code points of one text."""
_TEXTS = 100_000
_MOST = 2**53 - 1
"""The largest whole number that every JSON reader represents."""


class Parameter(NamedTuple):
    """An argument of a call."""

    accepts: Callable[[object], bool]
    what: str
    """What it accepts, in words; translated where it is shown."""
    default: object

    def optional(self) -> Parameter:
        """Return the same, but null and missing are accepted."""
        return self._replace(
            accepts=lambda value: value is None or self.accepts(value), default=None
        )


class Call(NamedTuple):
    """Something that may be asked for."""

    parameters: Mapping[str, Parameter]
    changes: bool = False
    """Whether it changes the store, which takes `--allow-changes`."""

    def check(self, name: str, given: Mapping[str, object]) -> Json:
        """Return all arguments, by name, with defaults for those that are not given.

        Raises:
            RefusedError: An argument is unknown, missing, or not of its type.
        """
        for key in given:
            if key not in self.parameters:
                raise RefusedError(
                    _("“{call}” has no argument “{name}”.").format(call=name, name=key[:80])
                )
        values: Json = {}
        for key, parameter in self.parameters.items():
            value = given.get(key, parameter.default)
            if not parameter.accepts(value):
                sentence = _("“{call}” wants {what} as “{name}”.")
                raise RefusedError(sentence.format(call=name, what=_(parameter.what), name=key))
            values[key] = value
        return values


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _TEXT and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _TEXTS and all(map(_is_text, value))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_some(value: object) -> bool:
    return _is_texts(value) and bool(value)


def _one_of(*words: str, default: object = _REQUIRED) -> Parameter:
    return Parameter(
        lambda value: isinstance(value, str) and value in words, N_("one of its words"), default
    )


def _count(default: int) -> Parameter:
    return Parameter(_is_count, N_("a whole number, 0 or more,"), default)


_WORD = Parameter(_is_text, N_("a text"), _REQUIRED)
_WORDS = Parameter(_is_texts, N_("a list of texts"), [])
_SOME = Parameter(_is_some, N_("a list of texts"), _REQUIRED)
_FLAG = Parameter(lambda value: isinstance(value, bool), N_("true or false"), False)

_VIEWS = tuple(each.value for each in View)
_SORTS = tuple(each.value for each in Sort)
_GROUPS = ("model", "source", "day", "week", "month", "hour", "project", "conversation", "tool")
_CLEANUP: Mapping[str, Parameter] = {"query": _WORDS, "archive": _FLAG, "delete": _FLAG}
_TEXT_TOO: Mapping[str, Parameter] = {"json": _FLAG._replace(default=True)}
"""Every call takes it: whether the answer is one JSON document, or text for people."""
_SEVERAL = {"ids": _SOME}

CALLS: Mapping[str, Call] = {
    "list": Call(
        {
            "view": _one_of(*_VIEWS, default=View.CHATS.value),
            "source": _WORDS,
            "sort": _one_of(*_SORTS, default=Sort.ACTIVITY.value),
            "reverse": _FLAG,
            "limit": _count(50),
            "offset": _count(0),
            **_TEXT_TOO,
        }
    ),
    "search": Call(
        {
            "query": _SOME,
            "sort": _one_of("newest", "relevance", "oldest", default="newest"),
            "limit": _count(50),
            "context": _count(0),
            "view": _one_of(*_VIEWS).optional(),
            "source": _WORDS,
            "role": _WORDS,
            **_TEXT_TOO,
        }
    ),
    "stats": Call(
        {
            "by": _one_of(*_GROUPS, default="source"),
            "period": _one_of("7d", "30d", "90d", "1y", "all", default="all"),
            **_TEXT_TOO,
        }
    ),
    "lineage": Call({"id": _WORD, **_TEXT_TOO}),
    "cautions": Call(
        {"id": _WORD.optional(), "last": _FLAG, "source": _WORD.optional(), **_TEXT_TOO}
    ),
    "plan": Call({**_CLEANUP, **_TEXT_TOO}),
    "trash": Call(_TEXT_TOO),
    "archive": Call({**_SEVERAL, **_TEXT_TOO}, changes=True),
    "unarchive": Call({**_SEVERAL, **_TEXT_TOO}, changes=True),
    "pin": Call({**_SEVERAL, **_TEXT_TOO}, changes=True),
    "unpin": Call({**_SEVERAL, **_TEXT_TOO}, changes=True),
    "rename": Call({"id": _WORD, "title": _SOME, **_TEXT_TOO}, changes=True),
    "delete": Call({**_SEVERAL, "yes": _FLAG, **_TEXT_TOO}, changes=True),
    "restore": Call({"bundles": _SOME, "only": _WORDS, **_TEXT_TOO}, changes=True),
    "clean_up": Call({**_CLEANUP, "yes": _FLAG, **_TEXT_TOO}, changes=True),
}
"""By name. `cautions` says what speaks against opening a conversation in Hermes; `plan` what a
clean-up would do."""


def checked(name: object, given: object, *, may_change: bool) -> tuple[str, Json]:
    """Return the name of a call and all of its arguments.

    Raises:
        RefusedError: There is no such call, its arguments are wrong, or it would change the store
            and may not.
    """
    call = CALLS.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or call is None:
        raise RefusedError(_("There is no call “{name}”.").format(name=str(name)[:80]))
    if not isinstance(given, dict):
        raise RefusedError(_("The arguments of “{call}” are no object.").format(call=name))
    if call.changes and not may_change:
        sentence = _(
            "This connection may only read: “{call}” needs `serve --stdio --allow-changes` there."
        )
        raise RefusedError(sentence.format(call=name))
    return name, call.check(name, given)
