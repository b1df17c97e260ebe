"""The real Hermes writing to a store, in processes of its own: what it wrote, and what went wrong
for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_WRITER = """
import json, logging, random, sys, threading, time
from pathlib import Path
import hermes_state
path, session, journal, maintenance = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4].split()
pace, most = sys.argv[5], int(sys.argv[6])
chance = random.Random(1)
heard = []
class Hear(logging.Handler):
    def emit(self, record): heard.append(record.getMessage()[:200])
logging.getLogger().addHandler(Hear(logging.WARNING))
if journal == "delete":  # what Hermes 0.20 and later leave a new store in; 0.19 would turn it to WAL
    hermes_state.apply_wal_with_fallback = lambda connection, **_: "delete"
db = hermes_state.SessionDB(path)
db.create_session(session, "cli")
print("ready", flush=True)
sys.stdin.readline()
told = threading.Event()
if not most:
    threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
times, errors, done = [], [], 0
while not told.is_set() and (not most or len(times) < most):
    if pace == "human" and len(times) % 100 < 30:  # thirty as somebody talks, then seventy in a burst
        told.wait(chance.uniform(0.3, 4.0))
    if pace == "steady":
        time.sleep(0.003)
    at, begun = time.monotonic(), time.perf_counter()
    try:
        number = len(times)
        if number % 9 == 4:
            db.append_message(session, "assistant", "", tool_calls=[
                {"id": f"c{number}", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}])
        else:
            db.append_message(session, "user", f"the ferry of {session} left, zebra number {number}")
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}"[:200])
    times.append((at, (time.perf_counter() - begun) * 1000))
    if maintenance and number % 400 == 399:
        try:
            kind = maintenance[done % len(maintenance)]
            {"optimize": db.optimize_fts, "rebuild": db.rebuild_fts, "vacuum": db.vacuum}[kind]()
            done += 1
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}"[:200])
try:
    db.close()
except Exception as error:
    errors.append(f"close: {type(error).__name__}: {error}"[:200])
print(json.dumps({"times": times, "errors": errors, "warnings": heard, "maintenance": done}), flush=True)
"""


@dataclass(frozen=True)
class Written:
    """What one writer did."""

    times: list[tuple[float, float]]
    """Of each append: when it began, in seconds of the monotonic clock, which all processes of a
    machine share under Linux, and how many milliseconds it took."""
    errors: list[str]
    """What an append, a clean-up or the close raised."""
    warnings: list[str]
    """What Hermes logged as a warning or worse."""
    maintenance: int
    """How often it optimised, rebuilt its index or vacuumed."""


class Writers:
    """Processes that write until they are told to stop."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[str]] = []
        self.written: list[Written] = []

    @property
    def all_alive(self) -> bool:
        """Whether none of them has ended."""
        return all(process.poll() is None for process in self.processes)

    def stop(self) -> list[Written]:
        """Tell them to stop, or wait for their end, and hear what they did; a second time only hear it
        again."""
        for process in self.processes:
            said, wrong = process.communicate("stop\n", timeout=120)
            if process.returncode:
                raise AssertionError(f"a writer ended with {process.returncode}: {wrong[-2000:]}")
            self.written.append(Written(**json.loads(said.splitlines()[-1])))
        self.processes.clear()
        return self.written


@contextmanager
def writing(
    store: Path,
    count: int,
    journal: str = "wal",
    maintenance: Sequence[str] = (),
    pace: str = "fastest",
    most: int = 0,
    env: Mapping[str, str] | None = None,
) -> Iterator[Writers]:
    """Hermes' own SessionDB appends, with its own retries.

    Args:
        store: Is written to; made when it is not there.
        count: How many processes.
        journal: `wal` or `delete`.
        maintenance: What the first of them does after each 400 messages, in turn: `optimize`,
            `rebuild`, `vacuum`.
        pace: `fastest`; `steady`: a few milliseconds between appends; or `human`: seconds, and
            bursts.
        most: How many messages each appends; 0 for as many as it can until it is told to stop.
        env: The environment of the processes, where it is another one.
    """
    writers = Writers()
    for number in range(count):
        done = " ".join(maintenance) if number == 0 else ""
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(store), f"writer-{number}", journal, done, pace,
             str(most)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
        )  # fmt: skip
        assert process.stdout is not None
        writers.processes.append(process)
        if process.stdout.readline().strip() != "ready":
            raise AssertionError(
                f"Hermes could not open the store: {process.communicate()[1][-2000:]}"
            )
    # Only when all have it open: at full speed one keeps the next from getting in, with or without
    # us.
    for process in writers.processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    try:
        yield writers
    finally:
        for process in writers.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
