"""The sample home of `--demo`, also used by screenshots and tests, in the schema of Hermes 0.22.

It holds a year and a half of the fictional Noor, who writes software for a small ferry line: code,
storms, bread, Italian. Every feature of a store occurs at least once. `home/` is the home as files,
with each store as JSON lines: `[table, row]`, and a third item where a row was not written at its
own time (a clock was set back, a compaction copied it); Hermes numbers messages in the order of
writing. Times are relative: `<now-60>` is a minute before the given moment, `<day+21600:%H:%M>` six
hours after the midnight before it (UTC), formatted.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .store_writer import write_store

_HOME = Path(__file__).resolve().parent / "home"
_DAY = 86_400
_TIME = re.compile(r'"<(now|day)([-+][\d.]+)>"')
_FORMATTED_TIME = re.compile(r"<(now|day)([-+][\d.]+):([^>]+)>")


def build_home(home: Path, *, now: float) -> Path:
    """Write a sample Hermes home: the sample store, other profiles, `cron/jobs.json` and
    `config.yaml`.

    Args:
        home: An existing folder without files of Hermes.
        now: Unix seconds. The same value gives the same rows, independent of clock and time zone.

    Returns:
        The path of the sample store.

    Raises:
        FileExistsError: There is a store already; it is not changed.
    """
    for source in sorted(_HOME.rglob("*.*")):
        target = home / source.relative_to(_HOME)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if source.suffix == ".jsonl":
            build_store(target.with_suffix(".db"), source.relative_to(_HOME), now=now)
        else:
            shutil.copyfile(source, target)
    return home / "state.db"


def build_store(path: Path, source: Path = Path("state.jsonl"), *, now: float) -> None:
    """Write one store of the sample home, given by its place in `home/`.

    Raises:
        FileExistsError: The path exists.
    """
    tables: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    text = _at(now, (_HOME / source).read_text(encoding="utf-8"))
    lines = map(json.loads, text.rstrip("\n").split("\n"))
    for table, row, *_written in sorted(lines, key=_moment):
        tables[table].append(row)
    meta = {row["key"]: row["value"] for row in tables["state_meta"]}
    numbers = {row["id"]: number for number, row in enumerate(tables["messages"], 1)}
    for row in tables["messages"]:
        number, shown = numbers[row["id"]], numbers[row.get("display_order", row["id"])]
        uid = f"{meta['store_instance_id'][:24]}{number:08x}"
        row |= {"id": number, "display_order": shown, "message_uid": uid}
    write_store(path, tables, generation=meta["db_file_generation"])


def _moment(line: Sequence[Any]) -> float:
    """Return when a line of a store was written."""
    _table, row, *written = line
    return float(written[0] if written else row.get("timestamp", row.get("started_at", 0.0)))


def _at(now: float, text: str) -> str:
    """Fill in the relative times of a text."""
    bases = {"now": now, "day": now - now % _DAY}

    def moment(match: re.Match[str]) -> float:
        return round(bases[match[1]] + float(match[2]), 6)

    text = _TIME.sub(lambda match: repr(moment(match)), text)
    return _FORMATTED_TIME.sub(
        lambda match: time.strftime(match[3], time.gmtime(moment(match))), text
    )
