"""1, 10 and 50 hosts on the loopback, 50 ms away: first rows, a search over all, memory and
processor while idle.

The servers share one process, the connections are in another that does nothing else. All programs
of the hosts run on this machine too, so times of many hosts at once also show how many processors
it has.

    python tests/bench/measures_hosts.py servers FOLDER HOME COUNT
    python tests/bench/measures_hosts.py client WORD < what the former prints
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent / "helpers")]

from figures import Bench, Figure, Line, Skipped, copied
from measures_store import common_word

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link, Links
from hermes_browse.store.hosts.remote import RemoteStore, locate_there
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import View

COUNTS = (1, 10, 50)
LATENCY = 0.05
"""Seconds in each direction."""
_IDLE = 5.0
_REMOTE_MIB = 100
"""Memory that one host may take on this machine: its program, ssh, and the server's part."""

Measured = dict[str, list[float]]


def measure(bench: Bench) -> list[Line]:
    """Figures for each count that this machine has the memory for."""
    home = bench.folder / "hosts"
    home.mkdir()
    store = copied(bench.small, home / "state.db")
    with Store(store).reader() as reader:
        word = common_word(reader)  # of this store, which may be a user's own
    lines: list[Line] = []
    for count in COUNTS:
        name = "1 host" if count == 1 else f"{count} hosts"
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
        if free < count * _REMOTE_MIB:
            lines.append(Skipped("14", name, f"needs {count * _REMOTE_MIB} MiB, {free} are free"))
            continue
        print(f"measuring {name}", file=sys.stderr)
        runs = [
            _measured(bench.folder / f"hosts-{count}", home, count, word)
            for _ in range(3 if count == 1 else 1)
        ]
        found = {name: [value for run in runs for value in run[name]] for name in runs[0]}
        trip = 2 * LATENCY * 1000
        limit = 0.5 if count > 1 else None  # with one, what is needed once for all counts too
        rows = [each / trip for each in found["rows"]]
        lines += [
            Figure("14", f"{name}: start → all have said hello", found["hello"]),
            Figure(
                "14", f"{name}: ask → first rows, in round trips of {trip:.0f} ms", rows, limit=3, unit="trips",
            ),
            Figure("14", f"{name}: search of all at once / the slowest", found["all"], found["slowest"], 1.2),
            Figure("14", f"{name}: memory here for each, idle", found["memory"], limit=limit, unit="MiB"),
            Figure("14", f"{name}: memory of each ssh process (own)", found["ssh"], unit="MiB"),
            Figure("14", f"{name}: processor here, all ssh processes included, idle", found["cpu"], limit=1, unit="%"),
            Figure("14", f"{name}: processor of each program there, idle", found["cpu there"], unit="%"),
            Figure("14", f"{name}: memory of each program there (own)", found["there"], unit="MiB"),
        ]  # fmt: skip
    return lines


def _measured(folder: Path, home: Path, count: int, word: str) -> Measured:
    command = [sys.executable, __file__]
    pipe = subprocess.PIPE
    servers = subprocess.Popen(
        [*command, "servers", str(folder), str(home), str(count)],
        stdin=pipe,
        stdout=pipe,
        text=True,
    )
    try:
        assert servers.stdout is not None
        hosts = servers.stdout.readline()
        done = subprocess.run(
            [*command, "client", word], input=hosts, stdout=pipe, text=True, check=True, timeout=600
        )
    except subprocess.SubprocessError as error:
        raise RuntimeError(f"with {count}: {error}") from error
    finally:
        servers.communicate("")
    found: Measured = json.loads(done.stdout)
    return found


def _serve(folder: Path, home: Path, count: int) -> None:
    """Print the hosts, and serve until the input ends."""
    from server import ThrowAwayServer

    servers = [
        ThrowAwayServer(folder / f"h{number}", home, f"h{number}", latency=LATENCY)
        for number in range(count)
    ]
    for each in servers:
        each.start()
    print(json.dumps([os.getpid(), [each.host for each in servers]]), flush=True)
    sys.stdin.read()
    for each in servers:
        each.stop()


# The client


def _resident() -> float:
    return (
        int(Path("/proc/self/statm").read_text().split()[1])
        * os.sysconf("SC_PAGE_SIZE")
        / (1 << 20)
    )


def _own(pid: int) -> float:
    """MiB that a process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _listed(link: Link) -> None:
    with open_store(RemoteStore(link, locate_there(link).path)) as store:
        if not store.list_page(time.time(), View.CHATS).conversations:
            raise RuntimeError("no rows")


def _searched(word: str, link: Link) -> None:
    with open_store(RemoteStore(link, locate_there(link).path)) as store:
        if not store.hit_page(parse(word), time.time()).answer.hits:
            raise RuntimeError(f"no hits for {word}")


def _timed_search(word: str, link: Link) -> float:
    return _timed(partial(_searched, word, link))


def _programs_of(parent: int) -> list[int]:
    """The programs in the process groups whose first processes, shells, a process has started."""
    found = subprocess.run(
        ["ps", "-Ao", "pid=,ppid=,pgid=,args="], capture_output=True, text=True, check=True
    ).stdout
    table = [line.split(maxsplit=3) for line in found.splitlines()]
    groups = {pid for pid, of, _group, _args in table if int(of) == parent}
    return [int(pid) for pid, _of, group, args in table if group in groups and "python" in args]


def _connect(hosts: list[Host], servers: int, word: str) -> Measured:
    links = Links()
    opened = [links.of(host) for host in hosts]
    found: Measured = {}
    before = _resident()
    with ThreadPoolExecutor(len(hosts)) as pool:
        found["hello"] = [_timed(lambda: list(pool.map(Link.open, opened)))]
        # One after the other: otherwise the programs of all hosts share the processors of this
        # machine.
        found["rows"] = [_timed(lambda link=each: _listed(link)) for each in opened]  # type: ignore[misc]
        timed_search = partial(_timed_search, word)
        list(pool.map(timed_search, opened))
        found["all"], found["slowest"] = [], []
        for _round in range(3):
            single = [0.0]
            found["all"].append(_timed(lambda: single.extend(pool.map(timed_search, opened))))  # noqa: B023
            found["slowest"].append(max(single))
        connections = [each.connection for each in opened if each.connection is not None]
        processes = [each.ssh.pid for each in connections if each.ssh is not None]
        there = _programs_of(servers)
        time.sleep(4)  # what is left open is closed
        own, begun = (
            time.process_time() + sum(map(_seconds, processes)),
            [_seconds(pid) for pid in there],
        )
        time.sleep(_IDLE)
        used = time.process_time() + sum(map(_seconds, processes)) - own
        found["memory"] = [(_resident() - before) / len(hosts)]
        found["cpu"] = [used / _IDLE * 100]
        found["cpu there"] = [
            (_seconds(pid) - before) / _IDLE * 100 for pid, before in zip(there, begun, strict=True)
        ]
        found["ssh"], found["there"] = (
            [_own(pid) for pid in processes],
            [_own(pid) for pid in there],
        )
    links.close()
    return found


if __name__ == "__main__":
    if sys.argv[1] == "servers":
        _serve(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        parent, named = json.load(sys.stdin)
        json.dump(_connect([Host(*each) for each in named], parent, sys.argv[2]), sys.stdout)
