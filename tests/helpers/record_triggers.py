"""Record the triggers that Hermes makes in its stores: `python tests/helpers/record_triggers.py FOLDER`.

Run it in the environment of the tests whenever a release of Hermes is new. FOLDER takes the
releases, 10 MB each, and is kept for the next time. Each release that pip can get makes a store of
its own, and opens a copy of each store in `tests/data`, which brings that up to its schema; the
triggers of all these files are recorded, and those of the files in `tests/data` themselves.

A release that pip cannot get keeps what was recorded of it before, and so does what was read in
Hermes' sources (`tests/data/shapes`).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "proof"))

from paths import DATA
from releases import KNOWN, Releases

from hermes_browse.store.edit import guards

_OPEN = (
    "import sys, pathlib, hermes_state; hermes_state.SessionDB(pathlib.Path(sys.argv[1])).close()"
)

Trigger = tuple[str, str, str]
"""Table in lower case, name, SQL."""


def triggers_in(path: Path) -> list[Trigger]:
    """The triggers of a store."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    rows = connection.execute(
        "SELECT lower(tbl_name), name, sql FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall()
    connection.close()
    return rows


def number(version: str) -> tuple[int, ...]:
    """The number of a release, to be compared."""
    return tuple(map(int, version.split(".")))


def writer_of(path: Path) -> str:
    """The release that wrote a store of `tests/data`."""
    return path.stem.rpartition("-")[2]


def made_by(release: Path, version: str) -> Iterator[Trigger]:
    """The triggers a release makes: in a new store, and in each older one of `tests/data` that it
    opens."""
    older = [
        path for path in DATA.glob("state-v*.db") if number(writer_of(path)) <= number(version)
    ]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "new" / "state.db"]
        for path in older:
            paths.append(Path(folder) / path.stem / "state.db")
            paths[-1].parent.mkdir()
            shutil.copyfile(path, paths[-1])
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            env = {
                "PYTHONPATH": str(release),
                "HERMES_HOME": str(path.parent),
                "PATH": "/usr/bin:/bin",
            }
            subprocess.run(
                [sys.executable, "-c", _OPEN, str(path)], env=env, check=True, capture_output=True
            )
            yield from triggers_in(path)


def record(folder: Path) -> None:
    """Write the record anew."""
    seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def add(where: str, trigger: Trigger) -> None:
        table, name, sql = trigger
        seen[table, name, guards.digest(sql)].add(where)

    if guards.RECORD.exists():
        for each in json.loads(guards.RECORD.read_text(encoding="ascii")):
            seen[each["table"], each["name"], each["sha256"]] |= set(each["releases"])
    for path in DATA.glob("state-v*.db"):
        for trigger in triggers_in(path):
            add(writer_of(path), trigger)
    releases = Releases(folder)
    for version in KNOWN:
        release = releases.get(version)
        print(version, "read" if release else "not to be had")
        for trigger in made_by(release, version) if release else ():
            add(version, trigger)
    entries = [
        {"table": table, "name": name, "sha256": sha256, "releases": sorted(where)}
        for (table, name, sha256), where in sorted(seen.items())
    ]
    guards.RECORD.write_text(json.dumps(entries, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
