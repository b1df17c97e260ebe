"""Every option of every command does what it says."""

import random

import pytest
from commandline import ask, call, copy_store, ids_of
from store_builder import T0, StoreBuilder

_ORDERS = {
    "activity": lambda each: each["last_active"],
    "started": lambda each: each["started_at"],
    "messages": lambda each: each["message_count"],
    "tokens": lambda each: sum(each["tokens"].values()) - each["tokens"]["reasoning"],
    "cost": lambda each: -1 if each["tree_cost_usd"] is None else each["tree_cost_usd"],
    "size": lambda each: each["bytes"],
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A root with a store of our own: sessions that differ in everything one can sort by."""
    (tmp_path / "root").mkdir()
    builder = StoreBuilder(tmp_path / "root" / "state.db")
    dice = random.Random(7)
    for number in range(12):
        name = builder.session(
            f"s{number:02}",
            title=f"{'aAbB'[number % 4]}{dice.random()}",
            started_at=T0 + dice.randrange(10**6),
            source=["cli", "telegram"][number % 2],
            input_tokens=dice.randrange(1000),
            reasoning_tokens=dice.randrange(5000),
            estimated_cost_usd=dice.random() if number % 3 else None,
            message_count=99 - number,  # the stored counter may be wrong
        )
        for _ in range(dice.randrange(1, 6)):
            builder.message(
                name, "user", "word " * dice.randrange(1, 50), timestamp=T0 + dice.randrange(10**6)
            )
    builder.session("-dash", title="-t")
    builder.message("-dash", "user", "a session whose id begins with a dash")
    builder.write()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))


@pytest.mark.parametrize("sort", _ORDERS)
def test_sort(home, sort):
    """Newest, most and biggest first by what the rows themselves say; --reverse is the other way
    round."""
    rows = ask("list --sort", sort)["conversations"]
    values = [_ORDERS[sort](each) for each in rows]
    assert values == sorted(values, reverse=True) and len(set(values)) > 3
    turned = [
        _ORDERS[sort](each) for each in ask("list --sort", sort, "--reverse")["conversations"]
    ]
    assert turned == sorted(values)


def test_sort_by_title(home):
    """A to Z whatever the case."""
    titles = [each["title"] for each in ask("list --sort title")["conversations"]]
    assert titles == sorted(titles, key=str.casefold)
    turned = ask("list --sort title --reverse")["conversations"]
    assert [each["title"] for each in turned] == titles[::-1]


def test_pages(home):
    """Pages by --limit and --offset join to the whole list; --limit 0 is all of it."""
    whole = ids_of(ask("list --limit 0")["conversations"])
    assert len(whole) == 13
    joined = []
    for offset in range(0, 15, 5):
        joined += ids_of(ask("list --limit 5 --offset", str(offset))["conversations"])
    assert joined == whole


def test_fifty_rows_unless_told_otherwise(tmp_path):
    """The default page, in a store with more."""
    copy_store("state-v31", tmp_path)
    document = ask("--home", str(tmp_path), "list")
    assert (
        document["view"] == "chats" and document["shown"] == 50 and document["hidden"]["other"] > 0
    )


def test_sources(home):
    """--source narrows, twice widens, an unknown one is empty and says what it hid."""
    for sources in (["cli"], ["telegram"], ["cli", "telegram"]):
        options = [option for source in sources for option in ("--source", source)]
        rows = ask("list", *options)["conversations"]
        assert {each["source"] for each in rows} == set(sources)
    nothing = call("list --source fax")
    assert nothing.code == 0 and nothing.out == "" and "0 of 13 shown" in nothing.err


def test_store_options_before_and_after_the_command(home, tmp_path, monkeypatch):
    """`--home X list` and `list --home X` are one."""
    home = ["--home", str(tmp_path / "root")]
    monkeypatch.delenv("HERMES_HOME")
    before = call(*home, "list", "--json")
    assert before.code == 0
    assert call("list", *home, "--json") == before
    assert call("list --json", f"--home={home[1]}") == before
    # The later one counts: a script may append to what an alias says.
    assert call("--home /nowhere list", *home, "--json") == before


def test_ids_prefixes_and_titles(tmp_path, monkeypatch):
    """A full id wins over being a prefix, a prefix over nothing, a title stands for its newest
    number."""
    copy_store("state-v22", tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    rows = ask("list --view all --limit 0")["conversations"]
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


def test_a_title_means_its_newest_number(tmp_path):
    """ "plan" is "plan #3" once there is one, but never "planet #9" or "plan #x" of another."""
    builder = StoreBuilder(tmp_path / "state.db")
    for place, title in enumerate(["plan", "plan #2", "plan #3", "planet #9", "PL_N", "100% #1"]):
        builder.message(builder.session(f"id{place}", title=title), "user", "hello")
    builder.write()
    for title, wanted in (
        ("plan", "id2"),
        ("plan #2", "id1"),
        ("planet", "id3"),
        ("PL_N", "id4"),
        ("100%", "id5"),
    ):
        assert ask("--home", str(tmp_path), "show", title)["conversation"]["id"] == wanted


def test_ids_that_begin_with_a_dash(home):
    """`--` ends the options; ids, prefixes and titles alike."""
    for name in ("-dash", "-d", "-t"):
        for command in ("show", "lineage"):
            assert call(command, "--json", "--", name).code == 0
        document = call("resume --print --json --", name).document
        assert document["target"] == "-dash" and document["argv"][-1] == "--resume=-dash"


@pytest.mark.slow
def test_show_readings(tmp_path, monkeypatch):
    """--everything holds what --live and --said do, and more than either; --segment is that one
    alone."""
    copy_store("state-v31", tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    rows = ask("list --view all --limit 0")["conversations"]
    grown = {"live": 0, "said": 0, "everything": 0}
    for each in rows:
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


def test_show_for_people(home):
    """The default names who said it and when; --markdown makes headings."""
    plain = call("show -- -dash")
    assert plain.out.splitlines()[0] == "-t [-dash]" or plain.out.splitlines()[0] == "-t  [-dash]"
    assert "\n  a session whose id begins with a dash\n" in plain.out and " you\n" in plain.out
    marked = call("show --markdown -- -dash")
    assert (
        marked.out.startswith("# -t\n\n`-dash` · cli") and "\n### You · 2026-01-01 " in marked.out
    )
