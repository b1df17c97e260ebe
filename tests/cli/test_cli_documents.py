"""The JSON documents of every command on every store: keys, types, and that they agree with each
other."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import demo_store
from commandline import STORES, ask, call, copy_store, everything, ids_of
from contract import holds
from effort import slow_but
from trashing import rows

VIEWS = ("chats", "automation", "archived", "all")


@pytest.fixture(params=slow_but(["state-v31"], [*STORES, "demo"]))
def which(request, tmp_path, monkeypatch):
    """The options that name a root with one of the stores."""
    if request.param == "demo":
        (tmp_path / "root").mkdir()
        demo_store(tmp_path / "root" / "state.db", now=time.time())
    else:
        copy_store(request.param, tmp_path / "root")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))


@pytest.mark.parametrize("view", VIEWS)
def test_list(which, view):
    """Shown and hidden sum up, whatever the page."""
    for page in (
        [],
        ["--limit", "0"],
        ["--limit", "3", "--offset", "2"],
        ["--offset", "9999"],
        ["--source", "cli"],
    ):
        document = ask("list --view", view, *page)
        holds(document, "LIST")
        assert document["view"] == view
        assert document["shown"] == len(document["conversations"])
        assert document["shown"] + sum(document["hidden"].values()) == document["total"]
        assert min(document["hidden"].values()) >= 0
    if view != "all":
        whole = ask("list --view", view, "--limit", "0")
        assert not whole["hidden"].get(view)


def test_views_share_out_the_conversations(which):
    """No conversation is in two narrow views; what the counts call hidden is what the other views
    show."""
    views = {view: ask("list --view", view, "--limit", "0") for view in VIEWS}
    narrow = [each for view in VIEWS[:3] for each in ids_of(views[view]["conversations"])]
    assert len(narrow) == len(set(narrow))
    assert set(narrow) <= set(ids_of(views["all"]["conversations"]))
    assert views["chats"]["hidden"]["automation"] == views["automation"]["shown"]
    assert views["chats"]["hidden"]["archived"] == views["archived"]["shown"]
    assert views["all"]["shown"] == views["all"]["total"] > 40
    assert views["all"]["hidden"] == {"automation": 0, "archived": 0, "other": 0}


@pytest.mark.slow
def test_show_and_lineage_of_every_conversation(which):
    """Each is shown in reading order, as long as the list says; its family tells the same story."""
    for one in everything():
        document = ask("show", one["root_id"])
        holds(document, "SHOW")
        shown = document["conversation"]
        left = (
            {"prune_in_days": pytest.approx(one["prune_in_days"], abs=0.1)}
            if one["prune_in_days"]
            else {}
        )
        assert shown == one | left, "time has passed since it was listed"
        assert len(document["messages"]) == one["message_count"]
        places = [one["segments"].index(message["session_id"]) for message in document["messages"]]
        assert places == sorted(places)
        assert all(message["state"] in ("live", "compacted") for message in document["messages"])

        family = ask("lineage", one["id"])
        holds(family, "LINEAGE")
        assert family["focus"] == family["resume"]["id"] == one["id"]
        assert [node["id"] for node in family["nodes"] if node["on_path"]] == one["segments"]
        seen = set()
        for node in family["nodes"]:
            assert node["parent_id"] is None or node["parent_id"] in seen
            seen.add(node["id"])


@pytest.mark.slow
def test_compactions_and_context_of_every_conversation(which):
    """Rows of the conversation, in order, each once; without a message it is what a resume would
    send."""
    seen = 0
    for one in everything():
        rows = ask("show", one["root_id"], "--everything")["messages"]
        ids = {message["id"] for message in rows}
        document = ask("compactions", one["id"], "--lost")
        holds(document, "COMPACTIONS")
        assert document["conversation"]["id"] == one["id"]
        for compaction in document["compactions"]:
            holds(compaction, "LOST")
            assert set(compaction["replaced"]) <= set(compaction["before"]) <= ids
            assert len(compaction["kept"]) == len(compaction["originals"])
            assert {lost["last_message_id"] for lost in compaction["lost"]} <= set(
                compaction["replaced"]
            )
        seen += len(document["compactions"])

        known = ask("context", one["id"])
        holds(known, "KNOWN")
        given = [message["id"] for message in known["messages"]]
        assert (known["at"], known["of"]) == (None, None)
        assert known["conversation_id"] == one["id"] and known["session_id"] in one["segments"]
        assert len(given) == len(set(given)) and set(given) <= ids
        assert not known["messages"] or known["bytes"] > 0
        for message in known["messages"]:
            holds(message, "GIVEN")
    assert seen


@pytest.mark.parametrize("store, opens_another", [("state-v14", False), ("state-v22", True)])
def test_a_context_names_the_session_that_hermes_opens_instead(
    store, opens_another, tmp_path, monkeypatch
):
    """As the lineage does; 0.16 opens what it is given."""
    copy_store(store, tmp_path / "root")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))
    ended = call("context 20260105_090000_bbb001")
    assert ended.err == call("lineage 20260105_090000_bbb001").err
    assert ("would open 20260105_100000_bbb002" in ended.err) is opens_another


def test_a_context_is_headed_by_the_first_words_of_a_conversation_without_a_title(which):
    untitled = next(one for one in everything() if not one["title"] and one["preview"])
    heads = {call(each, untitled["id"]).out.splitlines()[0] for each in ("context", "compactions")}
    (head,) = heads
    assert head.startswith(untitled["preview"][:20])


def test_the_context_at_a_message(which):
    """One that is asked for by its id; one that is not there is not found."""
    one = max(everything(), key=lambda each: int(each["message_count"]))
    rows = ask("show", one["id"])["messages"]
    first = next(message for message in rows if message["role"] == "assistant")
    known = ask("context", one["id"], "--at", str(first["id"]))
    assert (known["at"], known["of"]) == (first["id"], first["id"])
    assert [message["id"] for message in known["messages"]] == [
        row["id"] for row in rows if row["id"] < first["id"]
    ]
    ended = call("context", one["id"], "--at", "987654321")
    assert ended.code == 4 and "987654321" in ended.err


def test_search(which):
    """Hits name a conversation that holds their session, and light what they found."""
    homes = {segment: one["id"] for one in everything() for segment in one["segments"]}
    for query in ("the", "walrus", "question OR answer", "nothing-like-this", "検", ""):
        document = ask("search", query, "--context", "2")
        holds(document, "SEARCH")
        assert document["query"] == query
        assert document["total"] is None or document["total"] >= len(document["hits"])
        for hit in document["hits"]:
            holds(hit["context"][0], "CONTEXT")
            assert hit["conversation_id"] == homes[hit["session_id"]]
            assert hit["message_id"] in [each["message_id"] for each in hit["context"]]
            assert len(hit["context"]) <= 5 and all(
                len(each["text"]) <= 200 for each in hit["context"]
            )
            assert hit["match"] and all(
                0 <= start < end <= len(hit["snippet"]) for start, end in hit["match"]
            )


def test_doctor_profiles_and_the_store(which, tmp_path):
    """`doctor` and `list` say the same of the store, and it is what SQLite says."""
    document = ask("doctor")
    holds(document, "DOCTOR")
    store = ask("list")["store"]
    assert document["store"] == store
    counts = "(SELECT count(*) FROM sessions), (SELECT count(*) FROM messages)"
    found = rows(tmp_path / "root" / "state.db", f"SELECT version, {counts} FROM schema_version")
    assert found == [(store["schema_version"], store["sessions"], store["messages"])]
    assert document["search"]["messages"] == store["messages"]
    holds(ask("profiles"), "PROFILES")


def test_prune(which, tmp_path):
    """A dry run changes nothing and tells everything."""
    store = tmp_path / "root" / "state.db"
    before = store.read_bytes()
    found = ask("prune --older-than 90d --stale-open --include-archived --dry-run --delete")
    holds(found, "PRUNE")
    holds(found["would"], "STANDING[]")
    assert found["done"] is False and found["bundles"] == [] and len(found["would"]) > 25
    assert found["plan"]["conversations"] == len(found["would"])
    assert found["plan"]["bytes"] == sum(each["bytes"] for each in found["would"])
    taken = sum(len(each["segments"]) + len(each["takes_along"]) for each in found["would"])
    assert found["plan"]["sessions"] == taken
    assert store.read_bytes() == before


def test_resume_document(which, tmp_path):
    """What would be run, without running it."""
    document = ask("resume --last --print")
    holds(document, "RESUME")
    assert document["argv"] == ["hermes", "-p", "default", f"--resume={document['target']}"]
    assert document["env"] == {"HERMES_HOME": str(tmp_path / "root")}


def test_ids_prefixes_and_titles(tmp_path, monkeypatch):
    """A full id wins over being a prefix, a prefix over nothing, a title stands for its newest
    number."""
    copy_store("state-v22", tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    rows = everything()
    chain = next(each for each in rows if len(each["segments"]) > 2)
    for segment in chain["segments"]:
        for name in (segment, segment[:-1]):
            if sum(each.startswith(name) for row in rows for each in row["segments"]) == 1:
                assert ask("show", name)["conversation"]["id"] == chain["id"]
    titles = [each["title"] for each in rows if each["title"]]
    titled = next(
        each for each in rows if sum(title.startswith(each["title"] or "") for title in titles) == 1
    )
    assert ask("show", titled["title"])["conversation"]["id"] == titled["id"]


@pytest.mark.slow
def test_show_readings(tmp_path, monkeypatch):
    """--everything holds what --live and --said do, and more than either; --segment is that one
    alone."""
    copy_store("state-v31", tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    grown = {"live": 0, "said": 0, "everything": 0}
    for each in everything():
        held = {}
        for reading in grown:
            messages = ask("show", each["id"], f"--{reading}")["messages"]
            held[reading] = {message["id"] for message in messages}
            if reading == "live":
                assert {message["state"] for message in messages} <= {"live"}
                assert {message["session_id"] for message in messages} <= {each["id"]}, (
                    "Hermes sends the tip"
                )
            grown[reading] += len(held[reading])
        assert held["live"] | held["said"] <= held["everything"]
        said = ask("show", each["id"])["messages"]
        alone = [ask("show", part, "--segment")["messages"] for part in each["segments"]]
        assert [message for part in alone for message in part] == said
    assert grown["live"] < grown["said"] < grown["everything"]


def test_the_demo():
    """It has profiles of its own, which go with the command."""
    profiles = ask("--demo profiles")["profiles"]
    assert [each["name"] for each in profiles] == ["default", "harbour"]
    assert not any(Path(each["path"]).exists() for each in profiles)


def test_the_demo_needs_no_home(tmp_path, monkeypatch):
    """It opens where the user's own would not: here the profile is gone."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "profiles" / "gone"))
    assert call("list").code == 4
    assert ask("--demo list")["total"]


@pytest.mark.slow
def test_ids_of_the_demo_last(monkeypatch):
    """What `list` prints can be shown by the next command, half an hour later too; something in it
    is live."""
    clock = iter([1_780_000_000.0 + minutes * 60 for minutes in range(0, 40)])
    monkeypatch.setattr(
        "hermes_browse.tui.cli.stores.time", SimpleNamespace(time=lambda: next(clock))
    )
    rows = ask("--demo list")["conversations"]
    assert "live" in [each["status"] for each in rows]
    for each in rows[:8]:
        assert ask("--demo show", each["id"])["conversation"] == each


def test_a_table_needs_no_document(monkeypatch):
    """Of a whole store, that of each conversation takes a third of the time."""
    monkeypatch.setattr("hermes_browse.tui.cli.list.conversation_json", None)
    assert call("--demo list --limit 0").code == 0
