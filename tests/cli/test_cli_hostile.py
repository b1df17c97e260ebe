"""Text of a store is hostile: nothing in it acts on a terminal, breaks a document, or ends a
command."""

import re

import homes
import pytest
from commandline import STORES, ask, call, copy_store, everything
from contract import holds
from effort import slow_but
from platforms import posix_only
from poisoned import ATTACK, acting, poison
from terminal import Terminal


@pytest.fixture(params=slow_but(["state-v31"], STORES))
def root(request, tmp_path, monkeypatch):
    """A root whose store is one attack, ids included."""
    poison(copy_store(request.param, tmp_path), ATTACK, ids=True)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


ALONE = (
    *(f"list --view all --limit 0 --sort {sort}" for sort in ("activity", "title", "size")),
    *(f"search {word} --context 1" for word in ("owned", "here", "smile")),
    *("doctor", "profiles"),
)
"""Commands that print text of a store."""
OF_ONE = ("show", "show --everything", "show --markdown", "compactions --lost", "context")
"""Likewise, of a conversation."""


def commands():
    """All of them, each with what stands behind its options."""
    rows = everything()
    chain = max(rows, key=lambda each: (len(each["segments"]), each["message_count"]))["id"]
    most = max(rows, key=lambda each: each["message_count"])["id"]
    attack = ATTACK.replace("\0", "")
    yield from ((line, ()) for line in ALONE)
    yield from ((line, ("--", each)) for line in OF_ONE for each in (chain, most))
    yield from (("context --markdown", ("--", most)), ("resume --print", ("--", chain)))
    yield from (("show", ("2026",)), ("lineage", ("--", attack)), ("search", ("--", attack)))
    families = [each["id"] for each in rows if each["branches"] or each["subagents"]]
    yield from (("lineage", ("--", each)) for each in families)


@pytest.mark.slow
def test_nothing_acts_on_the_terminal(root):
    """On both streams, of every command, for people and as JSON."""
    seen = ""
    for line, words in commands():
        for option in ("", " --json"):
            ended = call(line + option, *words)
            assert ended.code in (0, 4), ended.err
            # A tab inside a message is kept for people, and moves nothing but the cursor.
            has_tabs = not option and (line.startswith("show") or "--markdown" in line)
            assert not acting(ended.out, allowed="\n\t" if has_tabs else "\n"), line
            assert not acting(ended.err), line
            assert not option or ended.code == 4 or type(ended.document) is dict
            seen += ended.out
    assert seen.count("owned") > 100


def test_json_holds_the_text_as_stored(root):
    """What a terminal does not get, a script does, to the last character."""
    rows = everything()
    assert all(row["id"].endswith(ATTACK) for row in rows)
    assert any(row["title"] and row["title"].endswith(ATTACK) for row in rows)
    most = max(rows, key=lambda each: each["message_count"])
    shown = ask_for("show", "--everything", "--", most["id"])
    holds(shown, "SHOW")
    assert any(message["text"] == ATTACK for message in shown["messages"])
    holds(ask("search", "zzz OR owned"), "SEARCH")


def ask_for(command, *arguments):
    """A document of a command whose ids follow `--`."""
    ended = call(command, "--json", *arguments)
    assert ended.code == 0, ended.err
    return ended.document


_ODD_VALUES = (
    b"\xff\xfe blob \x1b[2J", 9e999, -9e999, -1, 2**63 - 1, 1e300, "", "[]", '{"a": [', "\x00json:{", '"\\ud800"',
)  # fmt: skip


@pytest.mark.parametrize("name", slow_but(["state-v31"], STORES))
@pytest.mark.parametrize("value", slow_but(_ODD_VALUES[::3], _ODD_VALUES), ids=repr)
def test_values_of_another_kind(tmp_path, name, value):
    """Blobs, infinities, huge numbers and broken JSON in any column: every document keeps its
    contract."""
    poison(copy_store(name, tmp_path), value)
    home = ["--home", str(tmp_path)]
    rows = ask("list --view all --limit 0 --sort cost", *home)
    holds(rows, "LIST")
    assert rows["shown"] + sum(rows["hidden"].values()) == rows["total"] == rows["shown"]
    most = max(rows["conversations"], key=lambda each: each["message_count"])
    holds(ask("show --everything", most["id"], *home), "SHOW")
    holds(ask("lineage", most["id"], *home), "LINEAGE")
    holds(ask("search blob", *home), "SEARCH")
    holds(ask("resume --print", most["id"], *home), "RESUME")
    for command in (
        "list --view all",
        f"show {most['id']}",
        f"lineage {most['id']}",
        "search blob",
    ):
        ended = call(command, *home)
        assert ended.code == 0 and not acting(ended.out), ended.err


@pytest.mark.slow
@posix_only
def test_on_a_terminal_only_our_own_styles(tmp_path):
    """Rich's colours are the only escape sequences a terminal gets."""
    poison(copy_store("state-v22", tmp_path), ATTACK, ids=True)
    name = f"20260115_090000_999001{ATTACK}".replace("\0", "")[:40]
    for command in (
        ["list", "--view", "all"],
        ["search", "owned"],
        ["show", "--", name],
        ["lineage", "--", name],
    ):
        terminal = Terminal(["--home", str(tmp_path), *command])
        assert terminal.wait_for_end() == 0
        text = terminal.raw.decode()
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert "owned" in plain and not acting(plain, allowed="\r\n"), command
        assert "\x1b[31m" not in text


@pytest.mark.parametrize("query", ["-heron", "\udcff", "x" * 20_000, "a\x1bb"])
def test_odd_queries(tmp_path, query):
    """No query is an error: what cannot be looked for finds nothing, and that is said."""
    homes.herons(tmp_path)
    for options in ([], ["--json"]):
        ended = call("search --home", str(tmp_path), *options, "--", query)
        assert (ended.code == 0 and "0 of 0 hits" in ended.err) or ended.document["hits"] == []
        assert "\x1b" not in ended.out + ended.err
