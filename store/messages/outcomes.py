"""Tell from the result of a tool whether it failed."""

from __future__ import annotations

from ..connection.stored_values import read_json

LIMIT = 200_000
"""Code points of the longest result that is parsed; of a longer one only the start is checked."""


def load_json(text: str) -> object:
    """Parse a JSON object or list; None for any other text, and for one too long or nested too deep."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or len(stripped) > LIMIT:
        return None
    try:
        loaded = read_json(stripped)
    except ValueError:
        return None
    return loaded if isinstance(loaded, dict | list) else None


def has_failed(text: str, effect: str | None) -> bool:
    """Tell whether a decoded result reports a failure, which no column does in any Hermes up to 0.22.

    `effect` is `effect_disposition` (0.19 and later).
    """
    loaded = load_json(text)
    if isinstance(loaded, dict):
        code = loaded.get("exit_code", loaded.get("returncode", 0))
        failed = bool(loaded.get("error")) or (isinstance(code, int) and code != 0)
        return failed or loaded.get("success") is False
    if effect and "error" in effect.lower():
        return True
    return text.lstrip()[:40].lower().startswith(("error", "traceback (most recent"))
