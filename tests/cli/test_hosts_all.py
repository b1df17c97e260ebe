"""`--all-hosts`, what a host answers that is no answer, and how commands there end."""

import signal
import subprocess
import time

import pytest
from commandline import PROGRAM, ask, call, copy_store
from contract import holds
from hosting import asked, configure, lies, ssh
from user_config import write_config

from hermes_browse.store.hosts import ssh as over_ssh
from hermes_browse.store.hosts.host import Host, HostError
from hermes_browse.store.hosts.ssh import run_once


@pytest.mark.slow
def test_everything_as_one_list(machines, tmp_path):
    """This machine and the hosts; sorted as one, limits after that, and who did not answer."""
    store = str(copy_store("state-v22", tmp_path))
    configure(machines, "vps", "nas", "down")
    ended = call("list --all-hosts --limit 4 --offset 2 --sort cost --json --db", store)
    assert ended.code == 6 and "down: it cannot be reached" in ended.err
    page = ended.document["conversations"]
    assert [(each["name"], each["answered"]) for each in ended.document["hosts"]] == [
        ("vps", True),
        ("nas", True),
        ("down", False),
    ]
    holds(ended.document, "LIST")
    every = [
        row
        for place in (["--db", store], ["--host", "vps"], ["--host", "nas"])
        for row in ask("list --sort cost --limit 0", *place)["conversations"]
    ]
    costs = [each["tree_cost_usd"] for each in every]
    costs.sort(key=lambda cost: -1 if cost is None else cost, reverse=True)
    assert [each["tree_cost_usd"] for each in page] == costs[2:6]
    hidden = ended.document["hidden"]
    assert ended.document["total"] == ended.document["shown"] + sum(hidden.values())
    assert ended.document["shown"] == 4 and {each["host"] for each in page} <= {None, "vps", "nas"}


@pytest.mark.slow
def test_all_profiles_and_all_hosts(machines):
    """Each row with both: the profiles of this machine, and of a host the one that is configured."""
    configure(machines, "vps", more='profile = "harbour"\n')
    assert ask("list --host vps --limit 1")["store"]["profile"] == "harbour"
    assert ask("list --host vps --limit 1 --profile default")["store"]["profile"] == "default"
    page = ask("--demo list --all-hosts --limit 0")
    assert {each["host"] for each in page["conversations"]} == {None, "vps"}
    both = ask("list --all-hosts --all-profiles --limit 0")
    assert {(each["host"], each["profile"]) for each in both["conversations"]} == {
        ("vps", "harbour")
    }
    assert both["broken"] == [] and both["hosts"][0]["answered"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "here, hosts, code, silent",
    [
        ("sound", [], 0, []),
        ("sound", ["nas"], 0, []),
        ("sound", ["nas", "down"], 6, ["down"]),
        ("unused", ["nas"], 0, []),
        ("broken", ["nas"], 6, [None]),
        ("broken", ["down"], 6, [None, "down"]),
        ("broken", [], 3, None),
        ("unused", [], 3, None),
    ],
)
def test_how_it_ends(machines, tmp_path, here, hosts, code, silent):
    """0 if all stores that are in use were read, 6 if some were not, this machine's as any other;
    3 if there is no other and it cannot be read."""
    if here == "sound":
        copy_store("state-v22", tmp_path)
    elif here == "broken":
        (tmp_path / "state.db").write_bytes(b"no database" * 500)
    configure(machines, *hosts)
    ended = call("list --all-hosts --limit 1 --json --home", str(tmp_path))
    assert ended.code == code
    if silent is None:
        assert ended.out == "" and str(tmp_path) in ended.err
        return
    named = [each["name"] for each in ended.document["hosts"] if not each["answered"]]
    assert named == silent
    assert ("default cannot be read" in ended.err) is (here == "broken")
    assert ("down: it cannot be reached" in ended.err) is ("down" in hosts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "said"),
    [('[[hosts]]\nname = "na s"\nssh = "nas"\n', "the host “na s”"), ("[keys\n", "ignored until")],
)
def test_a_mistake_in_the_configuration_hides_no_host(machines, tmp_path, mistake, said):
    """What is known is asked, and what may be missing is told."""
    copy_store("state-v22", tmp_path)
    write_config(f'[[hosts]]\nname = "nas"\nssh = "{ssh(machines, "nas")}"\n{mistake}')
    for command in ("list --all-hosts --limit 1 --home", "hosts --home"):
        ended = call(command, str(tmp_path))
        assert ended.code == 6 and said in ended.err
        assert "No hosts are configured" not in ended.err
    assert said in call("--host away list").err


def test_nobody_answers(machines, tmp_path):
    """Without a store here: since when is not known, and who did not answer is named."""
    configure(machines, "down")
    ended = call("since --all-hosts --json --home", str(tmp_path))
    assert ended.code == 6 and ended.document["since"] is None and ended.document["new"] == []
    ended = call("since --all-hosts --home", str(tmp_path))
    assert ended.code == 6 and "down" in ended.err and "since" not in ended.err


@pytest.mark.slow
def test_one_search_over_everything(machines, tmp_path):
    """Newest first; incomplete as long as one did not answer. A machine without a store of its own
    is no failure."""
    configure(machines, "vps", "nas")
    ended = call("search auth --all-hosts --limit 200 --json")
    assert ended.code == 0 and ended.document["complete"] is True
    times = [each["timestamp"] for each in ended.document["hits"]]
    assert times == sorted(times, reverse=True)
    assert {each["host"] for each in ended.document["hits"]} == {"vps", "nas"}
    assert ended.document["total"] == len(times)
    configure(machines, "nas", "down")
    store = str(copy_store("state-v22", tmp_path))
    people = call("search auth --all-hosts --limit 2 --context 1 --db", store)
    assert (
        people.code == 6 and people.out.startswith("host") and "1 of 2 hosts answered" in people.err
    )
    assert "(here)" in people.out


@pytest.mark.slow
def test_sums_over_everything(machines, tmp_path):
    """By key."""
    store = str(copy_store("state-v22", tmp_path))
    configure(machines, "nas")
    whole = ask("stats --all-hosts --db", store)
    here, there = ask("stats --db", store), ask("stats --host nas")
    for name in ("messages", "input_tokens", "cost_usd", "bytes"):
        assert whole["total"][name] == pytest.approx(here["total"][name] + there["total"][name])
        for row in whole["by"]:
            parts = [
                each[name] for each in (*here["by"], *there["by"]) if each["key"] == row["key"]
            ]
            assert row[name] == pytest.approx(sum(parts))
    assert "1 of 1 hosts answered" in call("stats --all-hosts --db", store).err


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["no JSON", '{"conversations": [{"id": 3}]}', "[" * 100_000])
def test_an_answer_that_is_none(machines, answer):
    """Is named as such, and takes nothing else with it."""
    configure(machines, "liar")
    lies(machines, answer)
    ended = call("--demo list --all-hosts --limit 2 --json")
    assert ended.code == 6 and ended.document["shown"] == 2
    (liar,) = ended.document["hosts"]
    assert not liar["answered"] and "not an answer of hermes-browse" in liar["error"]


@pytest.mark.slow
def test_what_is_printed_there_cannot_act_here(machines):
    """Neither on standard output nor on standard error."""
    configure(machines, "liar")
    lies(machines, "one\x1b[2J\r\ntwo\u202e\nthree")
    ended = call("doctor --host liar")
    assert ended.out == "one␛[2J\ntwo\ufffd\nthree" and ended.err == "bad␛[31m\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--host", "slow"], ["--all-hosts"]], ids=lambda options: options[0]
)
def test_an_interrupt_ends_what_runs_there(machines, options):
    """At once, and the ssh process with it."""
    configure(machines, "slow")
    slow, before = machines["slow"], asked(machines)
    program = subprocess.Popen(
        [*PROGRAM, "list", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while asked(machines) == before:
        time.sleep(0.01)
        assert program.poll() is None
    program.send_signal(signal.SIGINT)
    assert program.communicate() == (b"", b"") and program.returncode == 130
    while (
        str(slow.folder)
        in subprocess.run(
            ["ps", "-Awwo", "args="], capture_output=True, text=True, check=True
        ).stdout
    ):
        time.sleep(0.01)


@pytest.mark.slow
def test_what_is_too_much_or_too_late(machines, monkeypatch):
    """Is not waited for."""
    host = Host("vps", ssh(machines, "vps"))
    with pytest.raises(HostError, match="too large to be sent"):
        run_once(host, "exec cat /dev/zero")
    monkeypatch.setattr(over_ssh, "CONNECT_SECONDS", 0.0)
    with pytest.raises(HostError, match="has not answered for 0 seconds"):
        run_once(host, "true")
