"""Conversion of stored values: SQLite does not enforce column types, and salvaged rows hold
anything. And what the result of a tool says: JSON, mostly, or a text."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..text import HOSTILE, as_text, text_of

FIRST_TIME = -62_135_596_800.0 + 172_800
LAST_TIME = 253_402_300_799.0 - 172_800
"""Years 1 to 9999, less two days at either end: what datetime can show in any time zone; Unix
seconds."""
_MAX_INTEGER = 2**63 - 1
"""The largest SQLite integer; a real may be larger."""

Json = dict[str, object]
"""An object of JSON."""


def as_time(value: object) -> float | None:
    """Return Unix seconds, or None for anything that is no usable time.

    Times are numbers, or texts with a number or an ISO time in them (other tools have written
    both).
    """
    if type(value) is float and FIRST_TIME <= value <= LAST_TIME:  # the usual case
        return value
    if isinstance(value, str | bytes):
        value = _time_in(text_of(value))
    if not isinstance(value, int | float) or not FIRST_TIME <= value <= LAST_TIME:
        return None
    return float(value)


def _time_in(text: str) -> float | None:
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromisoformat(text).timestamp()
    return None


def as_int(value: object) -> int:
    """Return an integer that SQLite has computed, or that is a rowid; NULL is 0."""
    return value if type(value) is int else int(str(value or 0))


def as_count(value: object) -> int:
    """Return a count that is never negative, at most the largest integer; 0 for anything else."""
    if type(value) is int and value >= 0:  # the usual case, seven times a session
        return value
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return min(max(int(value), 0), _MAX_INTEGER)


MOST_MONEY = 1e12
"""Dollars; sums of such amounts stay finite."""


def as_money(value: object) -> float | None:
    """Return an amount whose sums stay finite, or None."""
    return float(value) if isinstance(value, int | float) and abs(value) < MOST_MONEY else None


def as_flag(value: object) -> bool:
    """Whether a stored 0/1 column is set; text and blobs are not."""
    return isinstance(value, int | float) and value != 0


def first_texts(rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the first column of rows as text, without NULL."""
    return [text for row in rows if (text := as_text(row[0])) is not None]


def read_json(text: str, **hooks: Any) -> Any:
    """Parse JSON text with the hooks of `json.loads`; None for a text that is no JSON, or is nested
    too deep, as for `null`."""
    try:
        return json.loads(text, **hooks)
    except (ValueError, RecursionError):
        return None


def read_exactly(text: str) -> object:
    """Parse JSON text that says the same when the value is written again; None as of `read_json`,
    and if an object has a key twice, or a number is too large for a float."""
    return read_json(text, object_pairs_hook=_object, parse_float=_float)


def _object(pairs: Sequence[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _float(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError("too large")
    return number


def write_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON text, without escapes for letters beyond ASCII."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def safe_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON text for a terminal or a file: stored text unchanged, but for escapes.

    What is escaped is legal in JSON, but terminals act on some, and programs that split lines at
    every line end of Unicode at others.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return re.sub(HOSTILE, lambda match: json.dumps(match[0])[1:-1], text_of(text))


def json_as_text(value: Json | list[object]) -> str:
    """Return arguments or a result of a tool for people: a line for each field of an object, with
    strings as they read; a list indented."""
    if isinstance(value, list):
        return write_json(value, indent=2)
    return "\n".join(_field(str(name), each) for name, each in value.items())


def _field(name: str, value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"{name}:\n{value.rstrip()}"
    return f"{name}: {value if isinstance(value, str) else write_json(value, indent=2)}"


def as_mapping(value: object) -> Json:
    """Parse a stored JSON object; return an empty one for malformed JSON, lists, strings and
    NULL."""
    text = text_of(value)
    loaded = read_json(text) if "{" in text else None
    return loaded if isinstance(loaded, dict) else {}


# Results of tools. No column tells whether a call failed, in any Hermes up to 0.22

_DECODER = json.JSONDecoder()
LONGEST_RESULT = 200_000
"""Code points of the longest result that is parsed; of a longer one only the start is checked."""


def load_json(text: str) -> dict[str, Any] | list[Any] | None:
    """Parse a JSON object or list; None for any other text, and for one too long or nested too
    deep."""
    stripped = text.strip()
    is_one = stripped[:1] in ("{", "[") and len(stripped) <= LONGEST_RESULT
    return read_json(stripped) if is_one else None


def json_at_start(text: str) -> Json:
    """Parse the JSON object that a text begins with; an empty one if there is none.

    Hermes may append hints for the model to a result (0.14 to 0.19).
    """
    try:
        value, _end = _DECODER.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def asks_for_approval(result: Json) -> bool:
    """Whether a result says that a command waits for the user's approval (0.19)."""
    return result.get("status") in ("pending_approval", "approval_required")


def has_failed(result: object, effect: object = None) -> bool:
    """Tell whether the stored result of a tool reports a failure; `effect` is `effect_disposition`
    (0.19 and later). Connections that read a store have it as a function of SQL."""
    text = text_of(result)
    loaded = json_at_start(text) if len(text) <= LONGEST_RESULT else {}
    if asks_for_approval(loaded):
        return False
    if loaded:
        code = loaded.get("exit_code", loaded.get("returncode", 0))
        failed = bool(loaded.get("error")) or (isinstance(code, int) and code != 0)
        return failed or loaded.get("success") is False
    begin = text.lstrip()[:40].lower()
    return "error" in text_of(effect).lower() or begin.startswith(
        ("error", "traceback (most recent")
    )


# SQL


_BYTES = (
    "octet_length({})" if sqlite3.sqlite_version_info >= (3, 43) else "length(CAST({} AS BLOB))"
)
"""SQLite 3.43 and later do not read the value for it."""


def bytes_sql(expression: str) -> str:
    """Return SQL for the bytes of a value, 0 for NULL."""
    return f"COALESCE({_BYTES.format(expression)}, 0)"


IS_EMBEDDED = (
    "m.content < char(1) AND typeof(m.content) = 'text' AND m.content <> '' "
    "AND instr(CAST(m.content AS BLOB), CAST(';base64,' AS BLOB)) > 0"
)
"""Whether the content of a row `m` has embedded data; only multimodal content (it begins with NUL)
is scanned."""
