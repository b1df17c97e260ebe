"""The sample home of `--demo`, also used by screenshots and tests, in the schema of Hermes 0.22.

It holds a year and a half of the fictional Noor, who writes software for a small ferry line: code,
storms, bread, Italian. Every feature of a store occurs at least once. `home/` is the home as files,
with each store as JSON lines, `[table, row]`. Times in them are relative: `<now-60>` is a minute
before the given moment, `<day+21600:%H:%M>` six hours after the midnight before it (UTC), formatted.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

from .store_writer import Row, Value, write_store

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
    tables: dict[str, list[Row]] = {}
    text = _at(now, (_HOME / source).read_text(encoding="utf-8"))
    for line in text.rstrip("\n").split("\n"):
        table, row = json.loads(line)
        tables.setdefault(table, []).append(row)
    meta = {str(row["key"]): str(row["value"]) for row in tables["state_meta"]}
    tables["sessions"].sort(key=lambda row: float(str(row["started_at"])))
    tables["messages"] = _numbered(tables["messages"], meta["store_instance_id"][:24])
    write_store(path, tables, generation=meta["db_file_generation"])


def _at(now: float, text: str) -> str:
    """Fill in the relative times of a text."""
    bases = {"now": now, "day": now - now % _DAY}

    def moment(match: re.Match[str]) -> float:
        return round(bases[match[1]] + float(match[2]), 6)

    text = _TIME.sub(lambda match: repr(moment(match)), text)
    return _FORMATTED_TIME.sub(
        lambda match: time.strftime(match[3], time.gmtime(moment(match))), text
    )


def _numbered(messages: list[Row], stem: str) -> list[Row]:
    """Return messages in order of writing, with the ids that Hermes gives them in this order.

    `written` is when a row was written, if that is not its timestamp (a clock was set back, a
    compaction copied it); `display_order` is the `id` of the row that this one is a copy of.
    """
    ordered = sorted(messages, key=lambda row: float(str(row.get("written", row["timestamp"]))))
    numbers = {row["id"]: number for number, row in enumerate(ordered, 1)}
    rows: list[Row] = []
    for row in ordered:
        number = numbers[row["id"]]
        columns: dict[str, Value] = {
            name: value for name, value in row.items() if name != "written"
        }
        columns["id"] = number
        columns["display_order"] = numbers[row.get("display_order", row["id"])]
        columns["message_uid"] = f"{stem}{number:08x}"
        rows.append(columns)
    return rows
