"""Words that stand in JSON are found as a person sees them; held to a plain reading of rows."""

import json
import re
import unicodedata

import pytest
from builders import make_store, tool_call
from effort import slow_but
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from search_stores import Texts, ask, contains, counted, found, ids
from searching import count, search

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search import candidates
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.terms import fold

TEXTS = [
    "total 0\npuffin.txt\nnotes.md", "col\tgannet\tcol", "one\r\nheron two", 'he said "kittiwake" twice',
    "C:\\new\\table and \\\\share\\fulmar", "café\nétude résumé", "the\nnaïve façade", 
    "\u2019tis a razorbill\u2019s egg",
    "🦊 fox and fox 🦊", "a 🦊 b", "🤔 dipper 🤔 dipper", "🚀 launch", "a\u00a0skua\u2014tern",
    "\x1b[31mred\x1b[0m \x07bell", "部署docker\n検索 部署", "桂林\n山水", "naught\nthat hat", "their\nheir",
    "ß\nStraße", "Йод\nйод", "x\n\n\ny", "wren", "line\nwren at the start", "and\ta wren",
    'nested {"a": "b\\nlinnet"}', "/usr/lib\n/usr/bin", "=>\n::", "json\nsaid", "İstanbul\nİzmir",
]  # fmt: skip
PIECES = sorted(
    {word for text in TEXTS for word in re.findall(r"[^\W_]+", text)
     if not re.search("[\u2e80-\ud7ff]", word) and word != "and"}
    | {"puffin.txt", "C:\\new", "\\share", "🦊", "🤔", "部署", "桂", "検索",
       "ew", "able", "/usr/bin", "::", "=>", '"total 0 puffin"', '"at the start"', '"one heron"', "wr*",
       "gan*", "h*",
       "na*", "éTude", "STRASSE", "—", "nwren", "u2019tis", "\\n", "*afé*", "*fuchsia*", "gr*", "te*", "a b",
       "istanbul", "ISTANBUL", "ista*", "İsta* 🦊", '"said"', "*署doc*"}
)  # fmt: skip


def _parts(piece):
    """The words of a piece that is not one term."""
    return [piece] if piece.startswith('"') else piece.split()


def _beside_a_picture(text):
    picture = {"type": "image_url", "image_url": {"url": "data:,x"}}
    return [{"type": "text", "text": text}, picture]


def _rows():
    for text in TEXTS:
        yield {"content": text}
        for is_ascii in (True, False):
            output = json.dumps({"output": text}, ensure_ascii=is_ascii)
            yield {"role": "tool", "tool_name": "terminal", "content": output}
            command = json.dumps({"command": text}, ensure_ascii=is_ascii)
            calls = [tool_call("run", command)]
            yield {"role": "assistant", "content": None, "tool_calls": calls}
        yield {"content": _beside_a_picture(text)}


def _plain(value):
    """Everything a JSON value says, its nested JSON texts of arguments as well."""
    if isinstance(value, dict):
        return " \n ".join(
            f"{_plain(each)} {_plain(_loaded(each)) if key == 'arguments' else ''}"
            for key, each in value.items()
        )
    if isinstance(value, list):
        return " \n ".join(map(_plain, value))
    return str(value)


def _loaded(text):
    try:
        return json.loads(str(text))
    except ValueError:
        return None


SHAPES = ("6", "11", "22", "26", "31", "31-migrated", "no trigrams", "no index")


@pytest.fixture(scope="module", params=slow_but(["31", "no index"], SHAPES))
def store(request, tmp_path_factory):
    """Each text as a message, a result, a call and beside a picture."""
    rows = [{"session_id": "s"} | row for row in _rows()]
    shape = request.param if request.param[0].isdigit() else "22"
    path = tmp_path_factory.mktemp("spelled") / "state.db"
    return make_store(
        path, shape, [{"id": "s", "source": "cli"}], rows, fts=request.param != "no index"
    )


@pytest.fixture(scope="module")
def reader(store):
    """A reader that asks the indexes at once, where the newest rows would give the answer in a
    store so small."""
    with pytest.MonkeyPatch.context() as patch, Store(store).reader() as opened:
        patch.setattr(candidates, "_NEWEST", 2)
        yield opened


@pytest.fixture(scope="module")
def texts(reader):
    """What each row says: as stored, and as a person sees it; read here without the code under
    test."""
    found = Texts()
    for key, content, name, calls in reader.rows(
        "SELECT id, content, tool_name, tool_calls FROM messages"
    ):
        said = str(content or "").removeprefix("\x00json:")
        parts = [said, str(name or ""), str(calls or ""), _plain(_loaded(calls))]
        parts += [_plain(_loaded(said))] if said[:1] in ("{", "[") else []
        found[int(str(key))] = fold(unicodedata.normalize("NFC", " \n ".join(parts)))
    return found


_TERMS = st.sampled_from(PIECES)
_SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _check(reader, texts, typed, expected):
    query = parse(typed)
    for prefix_last in (False, True):
        answer = search(reader, query, limit=0, prefix_last=prefix_last)
        hits = set(ids(answer))
        assert answer.complete
        if not prefix_last:
            assert (hits - expected, expected - hits) == (set(), set()), (typed, answer.engine)
        assert count(reader, query, cap=0, prefix_last=prefix_last).count == len(hits)
        assert expected <= hits
        for hit in answer.hits:
            assert hit.match or query.excluded, (typed, hit)


@pytest.mark.slow
def test_each_piece_is_found_where_a_person_sees_it(reader, texts):
    for piece in PIECES:
        wanted = {
            key
            for key, text in texts.items()
            if all(contains(text, each) for each in _parts(piece))
        }
        _check(reader, texts, piece, wanted)


@_SETTINGS
@given(
    st.lists(_TERMS, min_size=1, max_size=3),
    st.lists(_TERMS, max_size=1),
    st.sampled_from([" ", " OR "]),
)
@example(["wren", "line"], [], " ")
@example(["café", "部署"], ["wren"], " OR ")
def test_pieces_together(reader, texts, asked, without, between):
    whole = all if between == " " else any
    without = [
        f'"{each}"' if " " in each and not each.startswith('"') else each for each in without
    ]
    expected = {
        key
        for key, text in texts.items()
        if whole(all(contains(text, each) for each in _parts(piece)) for piece in asked)
        and not any(contains(text, piece) for piece in without)
    }
    _check(reader, texts, between.join(asked) + "".join(f" -{each}" for each in without), expected)


@pytest.mark.parametrize("query", ["json", "JSON", "j", "js*", '"json"', "json image_url", "json*"])
def test_the_mark_of_a_message_with_a_picture_is_no_hit(written, query):
    rows = [
        "\x00json:" + json.dumps(_beside_a_picture(each)) for each in ("a lantern", "some json")
    ]
    path = written([*rows, "\x00json:{broken"])
    for prefix_last in (False, True):
        answer = ask(path, query, prefix_last=prefix_last)
        assert ids(answer) == ([2] if query != "j" or prefix_last else [])
        assert all(hit.match for hit in answer.hits)
        assert counted(path, query, prefix_last=prefix_last) == len(answer.hits)
        page = ask(path, query, limit=1, prefix_last=prefix_last)
        assert page.total in (len(answer.hits), None)


def call_of(*calls):
    """A row that calls tools."""
    return {"role": "assistant", "content": "", "tool_calls": [tool_call(*each) for each in calls]}


def result_of(tool, content):
    """What a tool gave, as Hermes stores it."""
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "tool_name": tool, "content": text}


@pytest.mark.parametrize(
    ("row", "query", "snippet"),
    [
        (call_of(("terminal", {"command": "pytest -q"})), "pytest", "terminal: [pytest] -q"),
        (
            call_of(("terminal", {"command": 'echo "né\\n"\nls'})),
            "né",
            'terminal: echo "[né]\\n" ls',
        ),
        (
            call_of(
                ("read_file", {"path": "a.py"}), ("patch", {"path": "b.py", "old": "x = 1", "n": 2})
            ),
            "b.py",
            "patch: [b.py] · old: x = 1 · n: 2",
        ),
        (call_of(("terminal", '{"command": "cut sho')), "sho", "terminal: cut [sho]"),
        (call_of(("terminal", '{"command": "cut \\u00')), "cut", "terminal: [cut] u00"),
        (call_of(("say", "no JSON")), "json", "say: no [JSON]"),
        (call_of(("terminal", {"command": "ls"})), "terminal", "[terminal]: ls"),
        (
            result_of("terminal", {"output": "2 \x1b[31m failed\x1b[0m\nend"}),
            "failed",
            "terminal: 2 [failed] end",
        ),
        (
            result_of("terminal", {"output": "ok", "exit_code": 0, "error": None}),
            "ok",
            "terminal: [ok]",
        ),
        (result_of("terminal", {"output": "", "exit_code": 2}), "2", "terminal: exit_code: [2]"),
        (result_of("web", "plain \x1b]0;x\x07text"), "text", "web: plain [text]"),
        (
            result_of("", {"output": "total 0\npuffin.txt\nné"}),
            "puffin.txt",
            "total 0 [puffin.txt] né",
        ),
        ({"role": "user", "content": '{"output": "typed"}'}, "typed", '{"output": "[typed]"}'),
        (
            result_of("terminal", {"output": "ok", "exit_code": 0}),
            "exit_code",
            '{"output": "ok", "[exit_code]": 0}',
        ),
    ],
)
def test_what_tools_were_asked_and_gave_is_shown_as_text(written, row, query, snippet):
    """The name of the tool, then text; lit where it stands. What stands in the JSON alone is shown
    in it."""
    (hit,) = ask(written([row]), query).hits
    lit = hit.snippet
    for start, end in reversed(hit.match):
        lit = f"{lit[:start]}[{lit[start:end]}]{lit[end:]}"
    assert lit == snippet


_SUMMARY = "[CONTEXT SUMMARY]:\nGulls nest.\n--- END OF CONTEXT SUMMARY ---\n"


@pytest.mark.parametrize(
    ("text", "query", "snippet", "speaker"),
    [
        (_SUMMARY, "gulls", "[CONTEXT SUMMARY]: Gulls nest.", "summary"),
        (f"{_SUMMARY}Two gulls.", "gulls", "Two gulls.", "user"),
        (f"{_SUMMARY}Two terns.", "gulls", "[CONTEXT SUMMARY]: Gulls nest.", "summary"),
        (_SUMMARY, '"end of context"', _SUMMARY.replace("\n", " ").strip(), "summary"),
    ],
)
def test_nobody_said_a_summary(written, text, query, snippet, speaker):
    """What was said is shown first, where a summary was merged with it."""
    path = written([{"role": "user", "content": text}])
    (hit,) = ask(path, query).hits
    assert (hit.snippet, hit.speaker, hit.role) == (snippet, speaker, "user")


def test_the_name_of_the_tool_stays_where_a_long_text_is_cut(written):
    """Also where the match is far behind it."""
    row = result_of("cat", {"output": "line\n" * 200 + "the puffin\n" + "line\n" * 200})
    (hit,) = ask(written([row]), "puffin").hits
    assert hit.snippet.startswith("cat: …line line") and hit.snippet.endswith("…")
    assert [hit.snippet[start:end] for start, end in hit.match] == ["puffin"]


def test_what_no_word_leads_to_is_found_inside(written):
    """A word without its accents that JSON spells in escapes, and a word that touches an emoji."""
    rows = [result_of("", {"output": text}) for text in ("a café", "b", "🦊fox")]
    path = written(rows)
    assert (found(path, "café"), found(path, "*cafe*"), found(path, "*fox*")) == ([1], [1], [3])
    assert (found(path, "cafe"), found(path, "fox"), found(path, "🦊f*")) == ([], [], [3])


def _called(at, arguments, content=""):
    calls = [tool_call("write_file", arguments)]
    return {"id": at, "role": "assistant", "content": content, "tool_calls": calls}


_SPELLED = [
    _called(1, {"text": '<a class="btn">go</a> C:\\work\\a.py'}),
    {"id": 2, "content": '<a class="btn"> C:\\work\\a.py'},
    {"id": 3, "role": "tool", "content": '{"output": "他说\\"部署\\"完成 C:\\\\部署"}'},
    _called(4, {"text": "桂林 failed"}, "正在部署"),
    _called(5, {"text": "die „Größe“"}),
    {"id": 6, "content": "price 100€\ntotal 检索\n完成 go\u00a0→\nb"},
]
"""What is escaped is in one place, and the rest in another."""


@pytest.mark.parametrize("shape", ["22", "31"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('*class="btn*', [1, 2]), (r"*work\a.py*", [1, 2]), (r"C:\work", [1, 2]),
        ('说"部署"', [3]), (r"C:\部署", [3]), ("部署 桂林", [4]), ("桂林 *fail*", [4]),
        ("Größe", [5]), ('"100€ total"', [6]), ('"检索 完成"', [6]), ('"go → b"', [6]),
    ],
)  # fmt: skip
def test_signs_in_json_part_no_words(made, shape, query, expected):
    rows = [{"session_id": "s"} | row for row in _SPELLED]
    path = made(shape, [{"id": "s"}], rows)
    assert sorted(ids(ask(path, query))) == expected


def test_a_part_of_a_word_where_a_line_is_cut_is_not_lit(written):
    text = "x" * 60 + "the " + "y" * 28 + " the puffin the " + "z " * 30 + "thesis " * 9
    row = {"role": "user", "content": text}
    (hit,) = ask(written([row]), "puffin the").hits
    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")
    words = [hit.snippet[start:end] for start, end in hit.match]
    assert set(words) == {"puffin", "the"}
    for start, end in hit.match:
        assert "…" not in hit.snippet[max(start - 1, 0) : end + 1]
