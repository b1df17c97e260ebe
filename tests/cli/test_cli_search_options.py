"""The options of `search`: order, limits, context, and what narrows it."""

import pytest
from commandline import ask, call
from store_builder import T0, StoreBuilder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A root whose store says `heron` in chats, automation, an archived chat, and by every role."""
    builder = StoreBuilder(tmp_path / "state.db")
    different = {
        "chat": {},
        "mail": {"source": "telegram"},
        "job": {"source": "cron"},
        "old": {"archived": 1},
    }
    for name, columns in different.items():
        builder.session(name, title=f"The {name}", **columns)
        for place in range(20):
            role = ("user", "assistant", "tool")[place % 3]
            text = (
                f"{name} {place} heron" + " heron" * (place == 7)
                if place % 2
                else f"{name} {place} nothing"
            )
            builder.message(
                name,
                role,
                text,
                timestamp=T0 + 100 * place,
                tool_name="read" if role == "tool" else None,
            )
    builder.write()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


def test_everything_is_searched_unless_narrowed(home):
    """Archived and automation included; --view, --source and --role leave out what they say."""

    def found(*options):
        document = ask("search heron --limit 0", *options)
        assert document["total"] == len(document["hits"]) and document["complete"] is True
        hits = document["hits"]
        return hits

    def sessions(*options):
        return {hit["session_id"] for hit in found(*options)}

    assert len(found()) == 40 and sessions() == {"chat", "mail", "job", "old"}
    assert sessions("--view", "all") == sessions()
    assert sessions("--view", "chats") == {"chat", "mail"}
    assert sessions("--view", "automation") == {"job"}
    assert sessions("--view", "archived") == {"old"}
    assert sessions("--source", "telegram") == {"mail"}
    assert sessions("--source", "telegram", "--source", "cron") == {"mail", "job"}
    assert sessions("--view", "chats", "--source", "cron") == set()
    for roles in (["user"], ["assistant"], ["tool"], ["user", "tool"]):
        hits = found(*(option for role in roles for option in ("--role", role)))
        assert {hit["role"] for hit in hits} == set(roles)
    assert sum(len(found("--role", role)) for role in ("user", "assistant", "tool")) == 40


def test_order_and_limit(home):
    """Newest first, oldest first, or the best first; a page says how many there are."""
    newest = ask("search heron")["hits"]
    written = [
        (hit["timestamp"], hit["message_id"]) for hit in newest
    ]  # sessions were written one after another
    assert len(written) == 40 and written == sorted(written, reverse=True)
    oldest = ask("search heron --sort oldest")["hits"]
    assert oldest == newest[::-1]
    best = ask("search heron --sort relevance")["hits"]
    assert {hit["snippet"].count("heron") for hit in best[:4]} == {2}
    page = ask("search heron --limit 7")
    assert page["hits"] == newest[:7] and page["total"] == 40


@pytest.mark.parametrize("count", [1, 3])
def test_context(home, count):
    """N before and N after, the hit among them; absent when not asked for."""
    plain = ask("search heron --source cli")["hits"]
    assert all("context" not in hit for hit in plain)
    hits = ask("search heron --source cli --context", str(count))["hits"]
    for hit in hits:
        ids = [each["message_id"] for each in hit["context"]]
        place = ids.index(hit["message_id"])
        assert ids == list(range(ids[0], ids[-1] + 1))
        first, last = (
            (0 if hit["session_id"] == "chat" else 60),
            (19 if hit["session_id"] == "chat" else 79),
        )
        assert place == min(count, hit["message_id"] - 1 - first)
        assert len(ids) - place - 1 == min(count, last - hit["message_id"] + 1)
        assert all(each["text"] for each in hit["context"])


def test_context_for_people(home):
    """What stands around a hit is printed around it, in a pipe as well."""
    ended = call("search", '"chat 7"', "--context", "1")
    lines = ended.out.splitlines()
    assert [
        next(text for text in ("chat 6 nothing", "chat 7 heron", "chat 8 nothing") if text in line)
        for line in lines[1:]
    ]
    assert len(lines) == 4 and "The chat" in lines[2] and "The chat" not in lines[1]
    assert ended.err.startswith("1 of 1 hits")


def test_suggestions_keep_what_was_asked_beside_the_query(home):
    """A wider query is offered with the hits it has in the view, source and role asked for."""
    wide = ask("search her")["suggestions"]
    assert [each["query"] for each in wide] == ["her*"] and wide[0]["hits"] == 40
    assert ask("search her --view archived")["suggestions"][0]["hits"] == 10
    assert ask("search her --view archived --source cron")["suggestions"] == []


@pytest.mark.parametrize(
    "query",
    ["", "  ", "-heron", '"', "*", "()", "\udcff", "AND", "source:", "x" * 20_000, "a\x1bb"],
)
def test_odd_queries(home, query):
    """No query is an error: what cannot be looked for finds nothing, and that is said."""
    ended = call("search --json --", query)
    assert ended.code == 0 and ended.document["hits"] == []
    people = call("search --", query)
    assert people.code == 0 and people.out == "" and "0 of 0 hits" in people.err


def test_words_need_no_quotes_around_them(home):
    """Several arguments are one query."""
    assert ask("search chat heron")["query"] == "chat heron"
    assert ask("search chat heron")["total"] == 10


@pytest.mark.parametrize(
    "query, said",
    [
        ("cost>abc", "cost> needs a number, e.g. cost>1"),
        ("heron msgs<=many", "msgs<= needs a number, e.g. msgs<=1"),
        ("tokens:", "tokens: needs a number, e.g. tokens:1"),
        ("-cost=x", "cost= needs a number, e.g. cost=1"),
        (
            "heron after:never",
            "after: 'never' is no age (30min 5h 3d 2w 6mo 1y) and no date (2026-03-05, today, mon)",
        ),
        ("before:2026-13", "before: '2026-13' is no age"),
        ("on:", "on: wants a value"),
    ],
)
def test_a_number_or_a_date_that_is_none_is_a_mistake(home, query, said):
    """Without the filter everything would be found: exit code 2, and nothing on standard output."""
    for options in ([], ["--json"], ["--all-profiles"]):
        ended = call("search", *options, "--", query)
        assert (ended.code, ended.out) == (2, "") and said in ended.err


def test_whatever_else_is_wrong_with_a_query_is_noted(home):
    ended = call("search", "heron is:nothing")
    assert ended.code == 0 and "is: knows" in ended.err
