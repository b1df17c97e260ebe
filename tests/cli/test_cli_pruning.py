"""`prune`: the plan as a document and for people, and what it refuses; `prune_in_days` in the other
documents."""

import io

import pytest
from builders import DAY, make_store
from commandline import STORES, ask, call, copy_store, ids_of
from contract import CONVERSATION, COUNT, FLAG, MONEY, TEXT, each, holds, keys, of, one
from pruning import NOW, family

from hermes_browse.tui.cli import command_context

BUNDLE = keys(name=TEXT, created_at=of(float), sessions=each(TEXT), messages=COUNT, bytes=COUNT)
PRUNE = keys(
    plan=keys(
        conversations=COUNT,
        sessions=COUNT,
        messages=COUNT,
        bytes=COUNT,
        cost_usd=MONEY,
        free_bytes=COUNT,
        given_back_bytes=COUNT,
    ),
    would=each(CONVERSATION),
    spared=each(keys(id=TEXT, reason=TEXT)),
    done=FLAG,
    bundles=each(BUNDLE),
)
RUNS = ("1_20260101_030000", "1_20260102_030000", "2_20260102_040000")
STANDINGS = each(keys(standing=one("ended", "stale-open"), takes_along=each(TEXT)))


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A Hermes root with one of each kind of conversation, at the moment its ages are counted
    from."""
    (tmp_path / "root").mkdir()
    family(tmp_path / "root" / "state.db")
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))
    return tmp_path / "root"


def prune(line):
    """The document of a command that must succeed."""
    return ask("prune", *line.split())


@pytest.mark.parametrize("store", STORES)
def test_the_document(tmp_path, monkeypatch, store):
    """A dry run changes nothing and tells everything."""
    path = copy_store(store, tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    before = path.read_bytes()
    found = prune("--older-than 90d --stale-open --include-archived --dry-run --delete")
    holds(found, PRUNE)
    STANDINGS(found["would"], "$.would")
    assert found["done"] is False and found["bundles"] == [] and len(found["would"]) > 40
    assert found["plan"]["conversations"] == len(found["would"])
    assert found["plan"]["bytes"] == sum(each["bytes"] for each in found["would"])
    taken = sum(len(each["segments"]) + len(each["takes_along"]) for each in found["would"])
    assert found["plan"]["sessions"] == taken
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line, ids",
    [
        ("", set()),
        ("--include-archived", set()),
        ("--older-than 90", {"old"}),
        ("--older-than 2160h --include-archived", {"old", "put-away"}),
        ("--title PLANS", {"old", "new"}),
        ("--title plans --older-than 5d", {"old"}),
        ("--cwd /work/site/", {"old"}),
        ("--model sonnet", {"old"}),
        ("--empty", {"empty"}),
        ("--automation --older-than 38d12h", {f"cron_job{run}" for run in RUNS}),
        ("--source subagent", {"helper"}),
        ("--source cron --source tui --max-cost 0.2", set()),
        ("--max-messages 0", {"empty"}),
        ("--max-size 0", {"empty"}),
        ("--min-size 1G", set()),
        ("--stale-open", {"open"}),
        ("--stale-open --older-than 90d", {"old"}),
        ("--stale-open --older-than 45d", {"old", "boss", "open"}),
        ("--stale-open --source cli", {"old", "new", "boss", "branch", "empty", "open", "stray"}),
        ("older:90d", {"old"}),
        ("older:90d include:archived", {"old", "put-away"}),
        ("older:38d12h --automation", {f"cron_job{run}" for run in RUNS}),
        ("--automation --empty", set()),
        ("free:100% source:cron", {f"cron_job{run}" for run in RUNS}),
        ("is:automation", {f"cron_job{run}" for run in RUNS}),
        ("msgs<=0 older:1d", {"empty"}),
        ("msgs>=2", set()),
        ("size<=0", {"empty"}),
        ("include:archived older:99.5d cost<=1", {"old", "put-away"}),
    ],
)
def test_rules(root, line, ids):
    """All of them must hold; without any nothing matches."""
    assert set(ids_of(prune(line)["would"])) == ids


def test_an_archive_takes_no_subagents(root):
    """And what is archived stays as it is."""
    found = prune("--older-than 30d --include-archived --archive --dry-run")
    assert "put-away" not in ids_of(found["would"]) and found["reparented"] == []
    assert found["plan"]["sessions"] == len(found["would"])
    assert found["plan"]["bytes"] == sum(each["bytes"] for each in found["would"])


@pytest.mark.parametrize("action", ["--delete", "--archive"])
@pytest.mark.parametrize("output", [[], ["--json"]])
def test_without_a_terminal_it_needs_yes(root, action, output):
    """5, with what would go; nothing on standard output."""
    before = (root / "state.db").read_bytes()
    ended = call("prune --older-than 30d", action, *output)
    assert (
        ended.code == 5
        and ended.out == ""
        and "5 conversations" in ended.err
        and "--yes" in ended.err
    )
    assert (root / "state.db").read_bytes() == before


def test_an_empty_word_is_no_rule(root):
    """An unset variable of a script must not match everything."""
    for option in ("--source", "--title", "--cwd", "--model"):
        assert call("prune", option, "").code == 2


def test_days_until_hermes_deletes(root):
    """In `list`, `show` and `prune` alike; by the configuration beside the store."""
    listed = {each["id"]: each for each in ask("list --view all")["conversations"]}
    assert listed["old"]["prune_in_days"] == 0 and listed["pinned"]["prune_in_days"] is None
    assert listed["put-away"]["prune_in_days"] == 0
    assert listed["new"]["prune_in_days"] == pytest.approx(87)
    assert ask("show new")["conversation"]["prune_in_days"] == pytest.approx(87)
    assert prune("--title Old")["would"][0]["prune_in_days"] == 0
    (root / "config.yaml").write_text("sessions:\n  auto_prune: false\n", encoding="utf-8")
    assert ask("show old")["conversation"]["prune_in_days"] is None


def test_a_profile_has_a_configuration_of_its_own(root):
    """And a loose file has none: nobody cleans it up."""
    home = root / "profiles" / "work"
    home.mkdir(parents=True)
    (root / "state.db").rename(home / "state.db")
    (root / "config.yaml").write_text("sessions:\n  auto_prune: false\n", encoding="utf-8")
    (home / "config.yaml").write_text("sessions:\n  retention_days: 10\n", encoding="utf-8")
    found = ask("--profile work show new")
    assert found["conversation"]["prune_in_days"] == pytest.approx(7)
    (home / "state.db").rename(home / "copy.db")
    found = ask("--db", str(home / "copy.db"), "show", "new")
    assert found["conversation"]["prune_in_days"] is None


@pytest.mark.parametrize(
    "typed, code", [("5\n", 0), ("5", 0), ("yes\n", 5), ("4\n", 5), ("", 5), ("\n", 5)]
)
def test_a_terminal_asks_for_the_count(root, monkeypatch, typed, code):
    """Anything else leaves everything as it is."""
    monkeypatch.setattr(command_context, "on_a_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ended = call("prune --older-than 30d --delete")
    assert (
        ended.code == code
        and "Type 5 to delete 5 conversations" in ended.err
        and "Old plans" in ended.out
    )
    assert ("old" in ids_of(ask("list --view all")["conversations"])) is (code == 5)
    assert ("moved to the trash" if code == 0 else "Nothing was changed") in ended.err


def test_it_really_deletes(root):
    """Into bundles that can be restored; what stays is what the plan said, and a second run finds
    nothing. A dry run wins over everything."""
    assert prune("--older-than 30d --delete --yes --dry-run")["done"] is False
    before = {each["id"] for each in ask("list --view all")["conversations"]}
    found = prune("--older-than 30d --delete --yes")
    holds(found, PRUNE)
    gone = set(ids_of(found["would"])) | {"helper", "helper2"}
    after = {each["id"]: each for each in ask("list --view all")["conversations"]}
    assert after.keys() == before - gone and found["done"] is True and found["bundles"]
    assert ask("lineage branch")["nodes"][0]["id"] == "branch"
    assert prune("--older-than 30d --delete --yes")["would"] == []
    names = [each["name"] for each in found["bundles"]]
    restored = ask("trash restore", *names)
    assert set(restored["restored"]) == {*gone}
    listed = ask("list --view all")["conversations"]
    assert {each["id"] for each in listed} == before


def test_one_of_each_is_told_as_one(tmp_path, monkeypatch):
    """One conversation with one subagent, and one branch that stays."""
    old = {
        "started_at": NOW - 200 * DAY,
        "ended_at": NOW - 199 * DAY,
        "source": "cli",
        "message_count": 1,
    }
    sessions = [
        {"id": "a", "title": "Old", "end_reason": "done", **old},
        {"id": "b", "title": "Task", **old, "parent_session_id": "a", "source": "subagent"},
        {
            "id": "c",
            "title": "Branch",
            "source": "cli",
            "parent_session_id": "a",
            "started_at": NOW - 198 * DAY,
        },
    ]
    messages = [
        {"session_id": each, "content": "hi", "timestamp": NOW - days * DAY}
        for each, days in (("a", 199), ("b", 199), ("c", 1))
    ]
    make_store(tmp_path / "state.db", "31", sessions, messages)
    monkeypatch.setattr("time.time", lambda: NOW)
    ended = call("--home", str(tmp_path), "prune", "--older-than", "90d", "--delete", "--dry-run")
    assert "1 conversation, 2 sessions, 2 messages" in ended.err
    assert "1 session of a subagent goes along" in ended.err
    assert "1 session loses its parent and stays." in ended.err
