"""Hosts on the command line: a real ssh client, and a server whose users are machines of their own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import asyncssh
import pytest
from commandline import PROGRAM, ask, call, copy_store, spawn
from contract import CONVERSATION, COUNT, LIST, RESUME, holds, keys
from contract import each as each_of
from hypothesis import given
from hypothesis import strategies as st
from server import ThrowAwayServer

from hermes_browse.store.demo import build_home
from hermes_browse.store.hosts import running
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.running import Running, run_once
from hermes_browse.tui.config.folders import config_path
from hermes_browse.tui.version import version

Capture = pytest.CaptureFixture[str]
BIN = Path(sys.executable).parent
PROGRAMS = {
    "vps": None,
    "nas": None,
    "empty": None,
    "locked": None,
    "login": "",
    "bare": "",
    "old": f'case "$*" in *serve*) echo "invalid choice" >&2; exit 2;; esac\nexec {BIN}/hermes-browse "$@"',
    "liar": "printf 'bad\\033[31m\\n' >&2\nexec cat ~/answer",
    "slow": "exec sleep 600",
}
"""The hermes-browse of each machine: None for this one, empty for none on the PATH."""


Machines = dict[str, ThrowAwayServer]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Machines with stores, and others where something is missing, by name."""
    folder = tmp_path_factory.mktemp("machines")
    made: Machines = {}
    with ExitStack() as stack:
        for name, program in PROGRAMS.items():
            (folder / name / "hermes").mkdir(parents=True)
            made[name] = stack.enter_context(ThrowAwayServer(folder / name, folder / name / "hermes", name))
            made[name].environment["SHELL"] = "/bin/sh"
            if program is not None:
                (folder / name / "hermes-browse").write_text(f"#!/bin/sh\n{program}\n")
                (folder / name / "hermes-browse").chmod(0o755 if program else 0o644)
                made[name].environment["PATH"] = f"{folder / name}:/usr/bin:/bin"
        build_home(made["vps"].home, now=time.time() - 86_400)
        copy_store("state-v31", made["nas"].home)
        copy_store("state-v22", made["old"].home)
        made["nas"].noise = [b"Welcome to nas\n"]
        (made["login"].folder / "home" / ".profile").write_text(f"PATH={BIN}:$PATH\n")
        yield made


def ssh(machines: Machines, name: str) -> str:
    """What reaches a machine, or fails to."""
    if name in machines:
        return machines[name].host.ssh
    vps = machines["vps"]
    if name == "changed":
        key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        (vps.folder / name).write_text(f"[127.0.0.1]:{vps.port} {key}")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = unused.getsockname()[1]
    options = {"down": f"-p {closed}", "unknown": "-o HostName=no-such-machine.invalid"}
    return f"{options.get(name, f'-o UserKnownHostsFile={vps.folder / name}')} {vps.host.ssh}"


def asked(machines: Machines) -> int:
    """How many commands have been run."""
    return sum(len(each.commands) for each in machines.values())


def configure(machines: Machines, *names: str, more: str = "") -> None:
    """Write a configuration of hosts."""
    config_path().parent.mkdir(parents=True, exist_ok=True)
    blocks = [f'[[hosts]]\nname = "{name}"\nssh = "{ssh(machines, name)}"\n{more}' for name in names]
    config_path().write_text("".join(blocks))


def lies(machines: Machines, text: str) -> None:
    """What the machine `liar` answers to every command."""
    (machines["liar"].folder / "home" / "answer").write_bytes(text.encode())


def test_hosts_are_asked_all_at_once(machines: Machines, capsys: Capture) -> None:
    """What each says of itself; the one that is away says why, and is the only reason for the exit code."""
    configure(machines, "vps", "nas", "down", "old")
    ended = call(capsys, "hosts", "--json")
    vps, nas, down, old = ended.document["hosts"]
    assert ended.code == 6 and "down: it cannot be reached" in ended.err
    assert (vps["name"], vps["ssh"], vps["reachable"], vps["error"]) == ("vps", ssh(machines, "vps"), True, None)
    assert vps["version"] == nas["version"] == version() and vps["sessions"] > 100 and vps["last_active"] < time.time()
    assert 0 < vps["round_trip_ms"] < 10_000
    assert nas["sessions"] == 81, "noise of the shell is no answer"
    assert not down["reachable"] and "Connection refused" in down["error"]
    assert {down[name] for name in ("version", "round_trip_ms", "sessions", "last_active")} == {None}
    assert old["reachable"] and old["sessions"] == 60 and old["round_trip_ms"] is None and "too old" in old["error"]


def test_hosts_for_people(machines: Machines, capsys: Capture) -> None:
    """A table, and nobody is asked for the names alone."""
    configure(machines, "empty", "down")
    people = call(capsys, "hosts")
    assert people.code == 6 and people.out.startswith("host ") and "empty: There is no session store" in people.err
    before = asked(machines)
    assert call(capsys, "hosts", "--names").out == "empty\ndown\n" and asked(machines) == before


def test_no_hosts(capsys: Capture) -> None:
    """How to add one, and no error."""
    ended = call(capsys, "hosts", "--json")
    assert (ended.code, ended.document) == (0, {"hosts": []})
    assert str(config_path()) in ended.err and "[[hosts]]" in ended.err
    assert "[[hosts]]" in call(capsys, "list", "--host", "vps").err


CHECKS = [
    ("locked", "host-login", "Log in once in another terminal"),
    ("changed", "host-key", "ssh-keygen -f "),
    ("stranger", "host-key", "Connect once in another terminal"),
    ("login", "host-program", f'command = "{BIN}/hermes-browse"'),
    ("bare", "host-program", "uv tool install hermes-browse"),
    pytest.param("unknown", "host-unknown", "Correct `ssh` of this host", marks=pytest.mark.slow),
    pytest.param("empty", "host-store", "name the root as `home`", marks=pytest.mark.slow),
    pytest.param("old", "host-version", "Install the newest there", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "code", "remedy"), CHECKS)
def test_a_check_says_what_mends_it(machines: Machines, capsys: Capture, name: str, code: str, remedy: str) -> None:
    """One line for each thing that can be missing."""
    configure(machines, name)
    machines["locked"].refuses = True
    ended = call(capsys, "hosts", "check", name, "--json")
    assert ended.code == 3
    (problem,) = ended.document["problems"]
    assert problem["code"] == code and remedy in problem["remedy"]


def test_a_check_of_a_host_where_nothing_is_missing(machines: Machines, capsys: Capture) -> None:
    """And of one that is not configured."""
    configure(machines, "vps")
    ended = call(capsys, "hosts", "check", "vps")
    assert ended.code == 0 and "Nothing is missing" in ended.out and ended.err == ""
    ended = call(capsys, "hosts", "check", "vsp")
    assert ended.code == 4 and "Known hosts: vps." in ended.err
    assert call(capsys, "hosts", "check").code == 2


def test_what_does_not_go_with_a_host(machines: Machines, capsys: Capture) -> None:
    """Two stores at once, no command, and commands that read none; nobody is asked."""
    configure(machines, "vps")
    before = asked(machines)
    for line in (
        "--host vps",
        "--host vps --demo list",
        "list --home /x --host vps",
        "list --db /x --host vps",
        "list --host vps --all-hosts",
        "--host vps config",
        "--host vps hosts",
        "--host vps man",
        "list --all-hosts --old",
        "search x --all-hosts --sort relevance",
        "show --all-hosts x",
    ):
        assert call(capsys, *line.split()).code == 2, line
    assert asked(machines) == before


def test_a_command_runs_there(machines: Machines, capsys: Capture) -> None:
    """Its document says where it is from, and noise ahead of it is left out."""
    configure(machines, "nas")
    ended = call(capsys, "--host", "nas", "list", "--limit", "3", "--json")
    assert ended.code == 0
    assert ended.document["shown"] == 3 and ended.document["store"]["path"] == str(machines["nas"].home / "state.db")
    assert ended.document["hosts"] == [{"name": "nas", "answered": True, "error": None}]
    assert [each["host"] for each in ended.document["conversations"]] == ["nas"] * 3
    holds(ended.document, LIST)
    people = call(capsys, "list", "--host=nas", "--limit", "3")
    assert "Welcome" not in people.out and people.out.startswith("last active") and "3 of 76 shown" in people.err


def test_exit_codes_pass_through(machines: Machines, capsys: Capture) -> None:
    """With the words of the host; one that is away is a store that cannot be read."""
    configure(machines, "vps", "down")
    ended = call(capsys, "show", "--host", "vps", "nosuch", "--json")
    assert (ended.code, ended.out) == (4, "") and "“nosuch”" in ended.err
    ended = call(capsys, "delete", "--host", "vps", "Fix auth bug")
    assert ended.code == 5 and "--yes" in ended.err
    ended = call(capsys, "list", "--host", "down", "--json")
    assert (ended.code, ended.out) == (3, "") and "Connection refused" in ended.err


AWKWARD = ["-e", "$(id) `id` ${HOME} $HOME", 'it\'s "so"\nand\tso \\ !!', "--host", "é 𝒳 *", ""]


def test_words_arrive_as_they_are(machines: Machines, capsys: Capture) -> None:
    """Through ssh, and the shell there."""
    configure(machines, "vps")
    ended = call(capsys, "search", "--host", "vps", "--json", "--", *AWKWARD)
    assert ended.code == 0 and ended.document["query"] == " ".join(AWKWARD)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_a_shell_reads_what_was_quoted(words: list[str]) -> None:
    """Whatever it is."""
    line = Host("x", "x", "printf '%s\\0'", home="it's\na $HOME").command_line(words)
    ended = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert ended.stdout.decode().split("\0") == ["--home", "it's\na $HOME", *words, ""]


def test_a_change_there(machines: Machines, capsys: Capture) -> None:
    """By its own command line."""
    configure(machines, "old")
    newest = ask(capsys, "list", "--host", "old", "--limit", "1")["conversations"][0]["id"]
    assert call(capsys, "rename", "--host", "old", newest, "Called from afar").code == 0
    shown = ask(capsys, "show", newest, "--host", "old")["conversation"]
    assert (shown["title"], shown["host"]) == ("Called from afar", "old")


def test_an_export_arrives_here(
    machines: Machines, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named, in a folder, several; never over a file that is there, and nothing of one that failed."""
    monkeypatch.chdir(tmp_path)
    configure(machines, "vps")
    assert call(capsys, "export", "--host", "vps", "Fix auth bug", "--output", "one.jsonl").code == 0
    lines = (tmp_path / "one.jsonl").read_text().splitlines()
    assert lines and all(json.loads(line)["id"] for line in lines)
    ended = call(capsys, "export", "--host", "vps", "Fix auth bug", "--output", "one.jsonl")
    assert ended.code == 5 and "is there already" in ended.err
    assert call(capsys, "export", "--host", "vps", "nosuch", "--output", "two.html").code == 4
    assert [each.name for each in tmp_path.iterdir()] == ["one.jsonl"]
    piped = spawn("export", "--host", "vps", "Fix auth bug", "--output", "-", "--format", "jsonl")
    assert piped.out == (tmp_path / "one.jsonl").read_text()


@pytest.mark.slow
def test_names_of_exports(machines: Machines, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After their titles, as those from a store of this machine; one conversation is written once."""
    monkeypatch.chdir(tmp_path)
    configure(machines, "vps")
    whole = ask(capsys, "list", "--host", "vps", "--limit", "2")["conversations"]
    ids = [whole[0]["id"], whole[0]["root_id"], whole[1]["id"]]
    made = ask(capsys, "export", "--host", "vps", *ids)
    assert [each["path"] for each in made["files"]] == [f"hermes-export/{each['title']}.md" for each in whole]
    assert call(capsys, "export", "--host", "vps", ids[0]).code == 0
    assert (tmp_path / f"{whole[0]['title']}.md").read_text().startswith("---\nsession_id: ")


def test_resuming_there(machines: Machines, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal this process becomes ssh; printed, it is the same command."""
    configure(machines, "vps")
    made = ask(capsys, "resume", "--host", "vps", "--last", "--print")
    holds(made | {"env": {"HERMES_HOME": ""}}, RESUME)
    assert made["argv"][:2] == ["ssh", "-t"] and made["argv"][-1] == "hermes-browse resume --last"
    assert "BatchMode=yes" not in made["argv"]
    ended = call(capsys, "resume", "--host", "vps", "--last")
    assert ended.code == 5 and "needs a terminal" in ended.err
    became: list[list[str]] = []
    monkeypatch.setattr("hermes_browse.tui.cli.there.on_a_terminal", lambda: True)
    monkeypatch.setattr("os.execvp", lambda _file, command: became.append(command))
    call(capsys, "resume", "--host", "vps", "--last")
    assert became == [made["argv"]]


def test_everything_as_one_list(machines: Machines, capsys: Capture, tmp_path: Path) -> None:
    """This machine and the hosts; sorted as one, limits after that, and who did not answer."""
    store = str(copy_store("state-v22", tmp_path))
    configure(machines, "vps", "nas", "down")
    ended = call(
        capsys, "--db", store, "list", "--all-hosts", "--limit", "4", "--offset", "2", "--sort", "cost", "--json"
    )
    assert ended.code == 6 and "down: it cannot be reached" in ended.err
    page = ended.document["conversations"]
    assert [(each["name"], each["answered"]) for each in ended.document["hosts"]] == [
        ("vps", True),
        ("nas", True),
        ("down", False),
    ]
    holds(ended.document | {"store": None}, keys(conversations=each_of(CONVERSATION), total=COUNT))
    every = [
        {"host": host} | row
        for host, options in ((None, ("--db", store)), ("vps", ("--host", "vps")), ("nas", ("--host", "nas")))
        for row in ask(capsys, "list", "--sort", "cost", "--limit", "0", *options)["conversations"]
    ]
    every.sort(key=lambda row: -1 if row["cost_usd"] is None else row["cost_usd"], reverse=True)
    assert [each["cost_usd"] for each in page] == [each["cost_usd"] for each in every[2:6]]
    hidden = ended.document["hidden"]
    assert ended.document["total"] == ended.document["shown"] + sum(hidden.values())
    assert ended.document["shown"] == 4 and {each["host"] for each in page} <= {None, "vps", "nas"}


@pytest.mark.slow
def test_all_profiles_of_all_hosts(machines: Machines, capsys: Capture) -> None:
    """Each row with both; the profile in the configuration is that of single stores."""
    configure(machines, "vps", more='profile = "harbour"\n')
    assert ask(capsys, "list", "--host", "vps", "--limit", "1")["store"]["profile"] == "harbour"
    assert ask(capsys, "list", "--host", "vps", "--limit", "1", "--profile", "default")["store"]["profile"] == "default"
    page = ask(capsys, "--demo", "list", "--all-hosts", "--limit", "0")
    assert {each["host"] for each in page["conversations"]} == {None, "vps"}
    both = ask(capsys, "list", "--all-hosts", "--all-profiles", "--limit", "0")
    assert {(each["host"], each["profile"]) for each in both["conversations"]} >= {
        ("vps", "default"),
        ("vps", "harbour"),
    }
    assert both["broken"] == [] and "hidden" not in both


def test_without_hosts_it_is_this_machine(capsys: Capture) -> None:
    """With a sentence that says how to add one; without a store either, that is what is said."""
    ended = call(capsys, "--demo", "list", "--all-hosts", "--limit", "1", "--json")
    assert (ended.code, ended.document["hosts"], ended.document["shown"]) == (0, [], 1) and "[[hosts]]" in ended.err
    assert call(capsys, "list", "--all-hosts").code == 3


def test_one_search_over_everything(machines: Machines, capsys: Capture, tmp_path: Path) -> None:
    """Newest first; incomplete as long as one did not answer. A machine without a store of its own is no failure."""
    configure(machines, "vps", "old")
    ended = call(capsys, "search", "auth", "--all-hosts", "--limit", "200", "--json")
    assert ended.code == 0 and ended.document["complete"] is True
    times = [each["timestamp"] for each in ended.document["hits"]]
    assert times == sorted(times, reverse=True)
    assert {each["host"] for each in ended.document["hits"]} == {"vps", "old"}
    assert ended.document["total"] == len(times)
    configure(machines, "old", "down")
    store = str(copy_store("state-v22", tmp_path))
    people = call(capsys, "--db", store, "search", "auth", "--all-hosts", "--limit", "2", "--context", "1")
    assert people.code == 6 and people.out.startswith("host") and "1 of 2 hosts answered" in people.err
    assert "(here)" in people.out


def test_sums_over_everything(machines: Machines, capsys: Capture, tmp_path: Path) -> None:
    """By key."""
    store = str(copy_store("state-v22", tmp_path))
    configure(machines, "nas")
    whole = ask(capsys, "--db", store, "stats", "--all-hosts")
    here, there = ask(capsys, "--db", store, "stats"), ask(capsys, "stats", "--host", "nas")
    for name in ("messages", "input_tokens", "cost_usd", "bytes"):
        assert whole["total"][name] == pytest.approx(here["total"][name] + there["total"][name])
        for row in whole["by"]:
            parts = [each[name] for each in (*here["by"], *there["by"]) if each["key"] == row["key"]]
            assert row[name] == pytest.approx(sum(parts))
    assert "1 of 1 hosts answered" in call(capsys, "--db", store, "stats", "--all-hosts").err


@pytest.mark.parametrize(
    "answer",
    [
        *("", "no JSON", "[]", '{"conversations": 3}', '{"conversations": [3]}', '{"conversations": [{"id": 3}]}'),
        *('{"conversations": [{"cost_usd": 1e999}]}', '{"conversations": [{"last_active": NaN}]}', "[" * 100_000),
    ],
)
def test_an_answer_that_is_none(machines: Machines, capsys: Capture, answer: str) -> None:
    """Is named as such, and takes nothing else with it."""
    configure(machines, "liar")
    lies(machines, answer)
    ended = call(capsys, "--demo", "list", "--all-hosts", "--limit", "2", "--json")
    assert ended.code == 6 and ended.document["shown"] == 2
    (liar,) = ended.document["hosts"]
    assert not liar["answered"] and "not an answer of hermes-browse" in liar["error"]


def test_an_older_version_knows_less(machines: Machines, capsys: Capture) -> None:
    """What it does not say is null."""
    configure(machines, "liar")
    lies(machines, '{"conversations": [{"id": "x\\u001b[2J", "last_active": 9e9, "future": [1], "host": "vps"}]}')
    page = ask(capsys, "--demo", "list", "--all-hosts", "--limit", "2")["conversations"]
    assert (page[0]["host"], page[0]["title"], page[0]["future"]) == ("liar", None, [1])
    assert (page[1]["host"], page[1]["future"]) == (None, None)
    people = call(capsys, "--demo", "list", "--all-hosts", "--limit", "2")
    assert people.code == 0 and "x␛[2J" in people.out and "\x1b" not in people.out


def test_what_is_printed_there_cannot_act_here(machines: Machines, capsys: Capture) -> None:
    """Neither on standard output nor on standard error."""
    configure(machines, "liar")
    lies(machines, "one\x1b[2J\r\ntwo\u202e\nthree")
    ended = call(capsys, "list", "--host", "liar")
    assert ended.out == "one␛[2J\ntwo\ufffd\nthree" and ended.err == "bad␛[31m\n"


def test_output_is_not_waited_for(machines: Machines) -> None:
    """The first of it comes while there is more, and the ssh process ends with whoever reads it."""
    host = Host("vps", ssh(machines, "vps"))
    pieces = iter(Running(host, "echo one; exec sleep 60"))
    assert next(pieces) == b"one\n"
    (process,) = running._processes
    pieces.close()  # type: ignore[attr-defined]  # it is a generator
    assert process.poll() is not None and not running._processes


@pytest.mark.parametrize("options", [["--host", "slow"], ["--all-hosts"]], ids=lambda options: options[0])
def test_an_interrupt_ends_what_runs_there(machines: Machines, options: list[str]) -> None:
    """At once, and the ssh process with it."""
    configure(machines, "slow")
    slow, before = machines["slow"], asked(machines)
    program = subprocess.Popen([*PROGRAM, "list", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while asked(machines) == before:
        time.sleep(0.01)
        assert program.poll() is None
    program.send_signal(signal.SIGINT)
    assert program.communicate() == (b"", b"") and program.returncode == 130
    while str(slow.folder) in subprocess.run(["ps", "-Ao", "args="], capture_output=True, text=True, check=True).stdout:
        time.sleep(0.01)


def test_what_is_too_much_or_too_late(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not waited for."""
    host = Host("vps", ssh(machines, "vps"))
    with pytest.raises(HostError, match="more than was asked for"):
        run_once(host, "exec cat /dev/zero", most=1_000_000)
    with pytest.raises(HostError, match="has not answered for 0 seconds"):
        run_once(host, "exec sleep 60", seconds=0.2)
    monkeypatch.setattr(running, "CONNECT_SECONDS", 0.0)
    with pytest.raises(HostError, match="has not answered"):
        run_once(host, "true")
