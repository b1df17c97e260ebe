"""What the result of a tool says: JSON, mostly, or a text.

No column tells whether a call failed, in any Hermes up to 0.22. Connections that read a store have
`has_failed` as a function of SQL.
"""

from __future__ import annotations

import json
from typing import Any

from .stored_values import Json, read_json

_DECODER = json.JSONDecoder()
LONGEST_RESULT = 200_000
"""Code points of the longest result that is parsed; of a longer one only the start is checked."""


def load_json(text: str) -> dict[str, Any] | list[Any] | None:
    """Parse a JSON object or list; None for any other text, and for one too long or nested too
    deep."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or len(stripped) > LONGEST_RESULT:
        return None
    try:
        loaded = read_json(stripped)
    except ValueError:
        return None
    return loaded if isinstance(loaded, dict | list) else None


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


def has_failed(text: str, effect: str | None) -> bool:
    """Tell whether a result reports a failure; `effect` is `effect_disposition` (0.19 and later)."""
    loaded = json_at_start(text) if len(text) <= LONGEST_RESULT else {}
    if asks_for_approval(loaded):
        return False
    if loaded:
        code = loaded.get("exit_code", loaded.get("returncode", 0))
        failed = bool(loaded.get("error")) or (isinstance(code, int) and code != 0)
        return failed or loaded.get("success") is False
    if effect and "error" in effect.lower():
        return True
    return text.lstrip()[:40].lower().startswith(("error", "traceback (most recent"))
