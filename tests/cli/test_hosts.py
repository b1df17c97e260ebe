"""`hosts` and `--host`: a real ssh client, and machines where this or that is missing."""

import json
import re
import subprocess
import time

import pytest
from commandline import ask, call, spawn
from contract import holds
from hosting import BIN, configure, ssh
from hypothesis import given
from hypothesis import strategies as st
from platforms import script

from hermes_browse.store.hosts.host import Host
from hermes_browse.tui import version
from hermes_browse.tui.cli import hosts


def test_hosts_are_asked_all_at_once(machines):
    """What each says of itself; the one that is away says why, and is the only reason for the exit
    code."""
    configure(machines, "vps", "nas", "down", "old")
    ended = call("hosts --json")
    vps, nas, down, old = ended.document["hosts"]
    assert ended.code == 6 and "down: it cannot be reached" in ended.err
    said = {"name": "vps", "ssh": ssh(machines, "vps"), "reachable": True, "error": None}
    assert vps | said == vps
    assert (
        vps["version"] == nas["version"] == version()
        and vps["sessions"] > 100
        and vps["last_active"] < time.time()
    )
    assert 0 < vps["round_trip_ms"] < 10_000
    assert nas["sessions"] == 81, "noise of the shell is no answer"
    assert not down["reachable"] and "Connection refused" in down["error"]
    assert {down[name] for name in ("version", "round_trip_ms", "sessions", "last_active")} == {
        None
    }
    assert (
        old["reachable"]
        and old["version"] is None
        and old["sessions"] is None
        and "too old" in old["error"]
    )


@pytest.mark.slow
def test_hosts_for_people(machines):
    """A table, and why one did not answer."""
    configure(machines, "empty", "down")
    people = call("hosts")
    assert (
        people.code == 6
        and people.out.startswith("host ")
        and "empty: There is no session store" in people.err
    )


CHECKS = [
    ("locked", "host-login", "If your key has a passphrase, type `ssh-add`; if it asks"),
    pytest.param("broken", "host-program", "Its Python may be gone", marks=pytest.mark.slow),
    ("changed", "host-key", "remove its old key: `ssh "),
    ("stranger", "host-key", "Connect once in another terminal"),
    ("login", "host-program", f'command = "{BIN}/hermes-browse"'),
    ("bare", "host-program", "Its login shell does not find it either. Install it there: `"),
    pytest.param("unknown", "host-unknown", "Correct `ssh` of this host", marks=pytest.mark.slow),
    pytest.param("empty", "host-store", "name the root as `home`", marks=pytest.mark.slow),
    pytest.param("old", "host-version", "Install the newest there", marks=pytest.mark.slow),
]


def ask_check(name):
    """The problems of a host."""
    ended = call("hosts check", name, "--json")
    assert ended.code == 3
    return ended.document["problems"]


@pytest.mark.slow
@pytest.mark.parametrize("name, code, remedy", CHECKS)
def test_a_check_says_what_mends_it(machines, name, code, remedy):
    """One line for each thing that can be missing."""
    configure(machines, name)
    machines["locked"].refuses = True
    (problem,) = ask_check(name)
    assert problem["code"] == code and remedy in problem["remedy"]
    assert "hosts check" not in problem["remedy"], "that is what runs"


@pytest.mark.slow
def test_a_program_that_cannot_be_run_is_not_looked_for(machines):
    """Its interpreter is gone, say; its own path as `command` would be no help."""
    program = machines["broken"].folder / "hermes-browse"
    for more in ("", f'command = "{program}"\n'):
        configure(machines, "broken", more=more)
        (problem,) = ask_check("broken")
        assert problem["text"].startswith(f"broken: {program} is there and cannot be run (")
        assert "command =" not in problem["remedy"]


def test_a_wrapper_that_runs_is_not_blamed(machines):
    """`docker exec` is there; it is the program in the container that is not."""
    configure(machines, "vps", more='command = "env no-such-browse"\n')
    (problem,) = ask_check("vps")
    assert problem["code"] == "host-program" and "command = " not in problem["remedy"]


@pytest.mark.slow
def test_a_login_is_told_by_what_the_server_takes(machines):
    configure(machines, "closed")
    server = machines["closed"]
    server.refuses = server.takes_passwords = True
    (unknown,) = ask_check("closed")
    assert unknown["remedy"].endswith(f"`ssh-copy-id {server.host.ssh}`.")
    server.takes_keys = False
    (passwords,) = ask_check("closed")
    assert passwords["remedy"].startswith("It takes no keys, only: keyboard-interactive, password.")


@pytest.mark.slow
def test_a_check_tries_to_resume(machines, monkeypatch, tmp_path):
    """As Hermes' own installer sets it up, nothing is missing; without `hermes`, something is."""
    for name in ("hermes", "hermes-browse"):
        (tmp_path / name).mkdir()
    program = tmp_path / "hermes-browse" / "hermes-browse"
    program.write_text(
        f"#!{BIN}/python\nimport sys\nfrom hermes_browse.tui.cli import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    server = machines["nas"]
    monkeypatch.setitem(server.environment, "PATH", "/usr/bin:/bin")
    configure(machines, "nas", more=f'command = "{program}"\n')
    (problem,) = ask_check("nas")
    assert problem["code"] == "host-resume" and "does not find `hermes`" in problem["text"]
    made = server.folder / "home" / ".local" / "bin" / "hermes"
    script(made)
    ended = call("hosts check nas")
    made.unlink()
    assert ended.code == 0 and "opened and resumed from here" in ended.out


def test_a_check_of_a_host_where_nothing_is_missing(machines, monkeypatch):
    configure(machines, "vps")
    monkeypatch.setattr(
        "hermes_browse.tui.cli.hosts.resume_problem", lambda *_asked: None
    )  # see below
    ended = call("hosts check vps")
    assert ended.code == 0 and "Nothing is missing" in ended.out and ended.err == ""


@pytest.mark.slow
def test_a_command_runs_there(machines):
    """Its document says where it is from, and noise ahead of it is left out."""
    configure(machines, "nas")
    ended = call("--host nas list --limit 3 --json")
    assert ended.code == 0
    assert ended.document["shown"] == 3 and ended.document["store"]["path"] == str(
        machines["nas"].home / "state.db"
    )
    assert ended.document["hosts"] == [{"name": "nas", "answered": True, "error": None}]
    assert [each["host"] for each in ended.document["conversations"]] == ["nas"] * 3
    holds(ended.document, "LIST")
    run = call("--host nas run --json", ended.document["conversations"][0]["id"])
    assert run.document["hosts"] == ended.document["hosts"]
    people = call("list --host=nas --limit 3")
    assert (
        "Welcome" not in people.out
        and people.out.startswith("last active")
        and "3 of 76 shown" in people.err
    )


@pytest.mark.slow
def test_exit_codes_pass_through(machines):
    """With the words of the host; one that is away is a store that cannot be read."""
    configure(machines, "vps", "down")
    for line, words, code, said in (
        ("show --host vps --json", ["nosuch"], 4, "“nosuch”"),
        ("delete --host vps", ["Fix auth bug"], 5, "--yes"),
        ("trash restore --host vps", ["nosuch"], 4, "--host vps trash list"),
        ("rename --host vps", ["Fix auth bug", "x" * 1000], 2, "vps: "),
        ("list --host down --json", [], 3, "Connection refused"),
    ):
        ended = call(line, *words)
        assert (ended.code, ended.out) == (code, "") and said in ended.err, line


@pytest.mark.parametrize("code", [137, -1, 255])
def test_a_command_there_that_is_killed(machines, monkeypatch, code):
    """It has no exit code of its own; of a restore nobody knows whether it was done."""
    configure(machines, "vps")
    monkeypatch.setattr(
        hosts, "run_once", lambda *_asked: subprocess.CompletedProcess((), code, "partial", "")
    )
    ended = call("doctor --host vps")
    assert (ended.code, ended.out) == (3, "") and "connection was lost" in ended.err
    ended = call("trash drop --yes --host vps", "some")
    assert ended.code not in (0, 3) and "nobody knows" in ended.err


AWKWARD = ["-e", "$(id) `id` ${HOME} $HOME", 'it\'s "so"\nand\tso \\ !!', "--host", "é 𝒳 *", ""]


@pytest.mark.slow
def test_words_arrive_as_they_are(machines):
    """Through ssh, and the shell there."""
    configure(machines, "vps")
    ended = call("search --host vps --json --", *AWKWARD)
    assert ended.code == 0 and ended.document["query"] == " ".join(AWKWARD)


@pytest.mark.slow
@given(
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1)
)
def test_a_shell_reads_what_was_quoted(words):
    """Whatever it is."""
    line = Host("x", "x", "printf '%s\\0'", home="it's\na $HOME").command_line(words)
    ended = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert ended.stdout.decode().split("\0") == ["--home", "it's\na $HOME", *words, ""]


@pytest.mark.slow
def test_a_change_there(machines):
    """Told as it is told there, and read again by a command of its own."""
    configure(machines, "nas")
    newest = ask("list --host nas --limit 1")["conversations"][0]["id"]
    ended = call("rename --host nas", newest, "Called from afar")
    assert ended.code == 0 and "renamed to “Called from afar” on nas" in ended.out
    shown = ask("show", newest, "--host", "nas")["conversation"]
    assert (shown["title"], shown["host"]) == ("Called from afar", "nas")


@pytest.mark.slow
def test_what_takes_a_change_back_is_typed_here(machines):
    """The command that is named runs there too."""
    configure(machines, "vps")
    newest = ask("list --host vps --limit 1")["conversations"][0]["id"]
    deleted = call("delete --host vps", newest, "--yes").out
    found = re.search(r"`hermes-browse (--host vps trash restore \S+)` restores them", deleted)
    assert found is not None
    listed = ask("trash --host vps")
    assert listed["hosts"][0]["answered"] and newest in listed["bundles"][0]["sessions"]
    assert call(*found[1].split(), "--only", newest).code == 0
    assert ask("list --host vps --limit 1")["conversations"][0]["id"] == newest
    archived = call("--host vps archive", newest).out
    assert f"`hermes-browse --host vps unarchive {newest}` undoes it" in archived
    assert call("--host vps unarchive", newest).code == 0
    assert "`hermes-browse --host vps list`" in call("show --host vps nosuch").err


@pytest.mark.slow
def test_an_export_arrives_here(machines, tmp_path, monkeypatch):
    """Named, in a folder, several; never over a file that is there, and nothing of one that
    failed."""
    monkeypatch.chdir(tmp_path)
    configure(machines, "vps")
    assert call("export --host vps", "Fix auth bug", "--output", "one.jsonl").code == 0
    lines = (tmp_path / "one.jsonl").read_text().splitlines()
    assert lines and all(json.loads(line)["id"] for line in lines)
    ended = call("export --host vps", "Fix auth bug", "--output", "one.jsonl")
    assert ended.code == 5 and "is there already" in ended.err
    assert call("export --host vps nosuch --output two.html").code == 4
    assert [each.name for each in tmp_path.iterdir()] == ["one.jsonl"]
    piped = spawn("export", "--host", "vps", "Fix auth bug", "--output", "-", "--format", "jsonl")
    assert piped.out == (tmp_path / "one.jsonl").read_text()


@pytest.mark.slow
def test_resuming_there(machines, monkeypatch):
    """On a terminal this process becomes ssh; printed, it is the same command."""
    configure(machines, "vps")
    made = ask("resume --host vps --last --print")
    holds(made | {"env": {"HERMES_HOME": ""}}, "RESUME")
    assert made["argv"][:2] == ["ssh", "-t"]
    assert made["argv"][-1] == f"hermes-browse resume --yes -- {made['target']}"
    assert "BatchMode=yes" not in made["argv"]
    ended = call("resume --host vps --last")
    assert ended.code == 5 and "needs a terminal" in ended.err
    became = []
    monkeypatch.setattr("hermes_browse.tui.cli.resume.on_a_terminal", lambda: True)
    monkeypatch.setattr(
        "signal.signal", lambda *_arguments: None
    )  # a broken pipe would end this process from then on
    monkeypatch.setattr("os.execvpe", lambda _file, command, _environment: became.append(command))
    assert "Say --yes" in call("resume --host vps --last").err
    call("resume --host vps --last --yes")
    assert became == [made["argv"]]


@pytest.mark.slow
def test_tags_and_marks_are_kept_there(machines, tmp_path, monkeypatch):
    """Tags of a conversation there, what waits there, and marks of what was read: in the data
    folder of that machine, not in the one of this."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    configure(machines, "vps")
    newest = ask("list --host vps --limit 1")["conversations"][0]["id"]
    assert ask("tag --host vps", newest, "far")["tags"] == ["far"]
    assert ask("tags --host vps")["tags"] == [{"name": "far", "conversations": 1}]
    assert ask("search --host vps tag:far")["hits"]
    assert ask("since --host vps")["new"] == []
    assert ask("since --host vps --after 90d")["new"]
    assert ask("untag --host vps", newest, "far")["tags"] == []
    assert not (tmp_path / "data" / "hermes-browse" / "notes.db").exists()
    assert list(machines["vps"].folder.rglob("notes.db"))
