"""Counts, sizes and amounts of money as people write them: read in one way by searches, clean-up
rules and options; sizes written in one way everywhere."""

from __future__ import annotations

import re

from .wording import _

_COUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+)([km]?)")
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?")
_MONEY = re.compile(r"\$?([0-9]+\.?[0-9]*|\.[0-9]+)([km]?)")
_THOUSANDS = {"": 1, "k": 1000, "m": 1_000_000}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_MAX_COUNT = 10**15
"""Of a count: more is a typing error, and too much for some readers of JSON."""
_MAX_BYTES = 2**53
_MAX_MONEY = 1e12


def parse_count(text: str) -> int:
    """Parse a count: `5`, `1,000`, `20k`, `1.5M`.

    Raises:
        ValueError: It is not a count; the message is a sentence for the user.
    """
    count = _number(_COUNT, text)
    if not 0 <= count < _MAX_COUNT or count != int(count):
        raise ValueError(_("wants a whole number such as 5, 1,000 or 20k, not {text!r}", text=text))
    return int(count)


def _number(pattern: re.Pattern[str], text: str) -> float:
    """Return the number that a text is; -1 if it is none."""
    match = pattern.fullmatch(text.strip().lower())
    return -1.0 if match is None else float(match[1].replace(",", "")) * _THOUSANDS[match[2]]


def parse_bytes(text: str) -> int:
    """Parse a size in bytes: `10M`, `1.5GB`, `512k`, `4MiB`. Units are powers of 1000, with an `i`
    of 1024.

    Raises:
        ValueError: It is not a size; the message is a sentence for the user.
    """
    match = _BYTES.fullmatch(text.strip().lower())
    if match is None or (match[3] and not match[2]):
        raise ValueError(_("wants a size such as 10M, 1.5G or 512k, not {text!r}", text=text))
    amount = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2]]
    if amount > _MAX_BYTES:
        raise ValueError(_("wants a size that a disk could hold, not {text!r}", text=text))
    return int(amount)


def parse_money(text: str) -> float:
    """Parse an amount in US dollars: `5`, `$0.50`, `.5`, `2k`.

    Raises:
        ValueError: It is not an amount; the message is a sentence for the user.
    """
    amount = _number(_MONEY, text)
    if not 0 <= amount <= _MAX_MONEY:
        raise ValueError(_("wants an amount in dollars, not {text!r}", text=text))
    return amount


def size(count: float) -> str:
    """Format a number of bytes: `480 B`, `12 KB`, `1.2 GB`."""
    value, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit in ("B", "KB") or value >= 99.95 else f"{value:.1f} {unit}"


def goal_of(value: str, used: int) -> int:
    """Return how many bytes a share such as `50%` of those that are used means, or a size.

    Raises:
        ValueError: It is neither, or a share that is not between 0 and 100 per cent.
    """
    if not value.endswith("%"):
        return parse_bytes(value)
    share = parse_money(value[:-1]) / 100
    if not 0 < share <= 1:
        raise ValueError(value)
    return round(used * share)
