"""The HTML file by its structure: one document, nothing from outside, nothing of a message at
work."""

import base64
import hashlib
import re
from html import escape
from html.parser import HTMLParser

import pytest
from builders import hostile_store, make_store, tool_call
from exports import chat, document
from paths import fixture

from hermes_browse.store.export.html import SCRIPT, STYLE, _prose
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import Format, readable_result
from hermes_browse.store.text import printable

VOID = {"meta", "input"}
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "type", "placeholder", "aria-label",
    "aria-labelledby", "aria-pressed", "autocomplete", "spellcheck", "for", "role", "title", "href", "datetime",
    "tabindex", "data-words",
}  # fmt: skip
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "div", "input", "output", "button", "nav", "h1", "h2", "h3", "ol",
    "li", "a", "span", "main", "section", "p", "article", "header", "strong", "time", "details", "summary", "pre",
    "code", "footer", "script",
}  # fmt: skip


class Document(HTMLParser):
    """A document read strictly: every element ends where it should, and what is inside is kept."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.elements = []
        self.texts = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, [])
        if tag not in VOID:
            self.open.append(tag)
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")

    def all(self, tag):
        """The attributes of every element of a kind."""
        return [attrs for name, attrs in self.elements if name == tag]


def checked(text):
    """The document, after all that holds for any: known elements only, nothing from outside, the
    policy."""
    found = Document(text)
    assert (
        text.startswith("<!DOCTYPE html>\n")
        and text.endswith("</html>\n")
        and printable(text) == text
    )
    assert {name for name, _ in found.elements} <= ELEMENTS
    assert {name for _, attrs in found.elements for name in attrs} <= ATTRIBUTES
    assert all(str(attrs["href"]).startswith("#c") for attrs in found.all("a"))
    assert len(found.all("script")) == len(found.all("style")) == 1
    ids = [attrs["id"] for _, attrs in found.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    policy = next(attrs["content"] for attrs in found.all("meta") if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for kind, content in (
        ("style-src", found.texts["style"][0]),
        ("script-src", found.texts["script"][0]),
    ):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    # The policy comes before anything it is to govern.
    assert text.index("Content-Security-Policy") < text.index("<style>") < text.index("<script>")
    return found


def test_style_and_script_ask_for_nothing():
    """No address, no import, no font, nothing that sends or evaluates; no end tag that would cut
    them short."""
    for text in (STYLE, SCRIPT):
        assert not re.search(
            r"https?:|//[a-z]|url\(|@import|@font-face|fetch|XMLHttp|WebSocket|eval|innerHTML|</",
            text,
        )


@pytest.mark.slow
@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_every_conversation_of_every_store(version):
    """All of them in one file with an index; every message once, every day and seam told."""
    path = fixture(version)
    found = checked(document(path, Format.HTML))
    assert len(found.all("section")) == len(found.all("li")) == len(found.all("a")) > 30
    assert len(found.all("article")) > 100 and len(found.all("details")) > 10
    assert found.texts["h1"] == [f"{len(found.all('li'))} conversations"]
    assert any(text.startswith("Compressed here") for text in found.texts["p"])
    assert all(re.fullmatch(r"[A-Z][a-z]+day, \d{4}-\d\d-\d\d", text) for text in found.texts["h3"])


def test_one_conversation():
    """It has its title on top, all its segments, and no index."""
    found = checked(document(fixture(31), Format.HTML, "aaa003"))
    assert found.texts["title"] == found.texts["h1"] == ["Fix auth bug #3"]
    assert (
        not found.all("nav")
        and sum("seam" in str(each.get("class")) for each in found.all("p")) == 2
    )
    assert [each["class"] for each in found.all("article")][:4] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert any(text.startswith("→ read_file") for text in found.texts["summary"])
    assert "secrets kept" in found.texts["footer"][0]


ATTACKS = (
    "<script>window.pwned = 1</script>",
    "</pre></code></details></article></main><img src=x onerror='window.pwned = 1'>",
    "</script><script>window.pwned = 1</script>",
    "</style><style>* { display: none }</style>",
    "<!-- \n```\n</code></pre><iframe src='https://example.org'></iframe>",
    '```html\n<b onclick="window.pwned = 1">\n```\nand `<i>` " \' & &lt; &amp;lt;',
    '"><svg onload=window.pwned=1>',
    "<base href='https://example.org/'><meta http-equiv=refresh content='0;url=https://example.org'>",
    "]]><![CDATA[ \x1b[31m \u202e \x00",
    "javascript:window.pwned=1",
)


def attacked(path):
    """A store in which every text that is shown attacks the page."""
    messages = []
    for text in ATTACKS:
        messages += [
            {"session_id": "s", "role": "user", "content": text},
            {
                "session_id": "s",
                "role": "assistant",
                "content": text,
                "reasoning": text,
                "tool_calls": [tool_call(text, {"a": text}), tool_call(text, text)],
            },
            {
                "session_id": "s",
                "role": "tool",
                "content": text,
                "tool_name": text,
                "tool_call_id": text,
            },
            {"session_id": "s", "role": text, "content": f"[CONTEXT SUMMARY]: {text}"},
        ]
    sessions = [
        {
            "id": "s",
            "title": ATTACKS[0],
            "model": ATTACKS[1],
            "cwd": ATTACKS[2],
            "source": ATTACKS[6],
        },
        {"id": ATTACKS[6], "title": "x" + ATTACKS[3]},
    ]
    messages.append({"session_id": ATTACKS[6], "content": "hello"})
    return make_store(path, "22", sessions=sessions, messages=messages)


def test_hostile_text_is_text(tmp_path):
    """Tags, comments, entities and ends of scripts show as what they are, everywhere."""
    text = document(attacked(tmp_path / "state.db"), Format.HTML)
    found = checked(text)
    body = " ".join(found.texts["article"])
    for attack in ATTACKS[:8]:
        assert printable(attack).split("\n")[-1] in body
    assert ATTACKS[0] in found.texts["h2"]
    assert any('<b onclick="window.pwned = 1">' in code for code in found.texts["code"])


def test_a_hostile_store(tmp_path):
    """Blobs, cycles, times that are none."""
    checked(document(hostile_store(tmp_path / "state.db"), Format.HTML))


def test_code_is_whole(tmp_path):
    """Line ends at the beginning of a block stay, arguments are laid out, an open fence runs to the
    end."""
    path = chat(
        tmp_path / "state.db",
        "22",
        [
            {"role": "tool", "content": "\n\n  first\n", "tool_name": "t"},
            {
                "role": "assistant",
                "content": "see `a<b>` and\n```py\nx = 1\ny = 2",
            },
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [tool_call("t", {"b": [1]})],
            },
        ],
    )
    found = checked(document(path, Format.HTML))
    # A parser drops the one line end right after <pre>; html.parser does not, a browser does.
    assert found.texts["code"] == [
        "\n\n\n  first\n",
        "a<b>",
        "\nx = 1\ny = 2",
        '\n{\n  "b": [\n    1\n  ]\n}',
    ]


def test_what_is_behind_a_fence_stands_above_its_block(tmp_path):
    """The language, a file, a whole line: it was said, too."""
    said = "```python:src/<app>.py\nx\n```\n~~~ all of this\ny\n~~~\n```\nz\n```\n``` a b"
    path = chat(tmp_path / "state.db", "22", [{"content": said}])
    text = document(path, Format.HTML)
    heads = re.findall(r'<div class="info">(.*)</div>\n<pre><code>\n(.*)</code>', text)
    assert heads == [("python:src/&lt;app&gt;.py", "x"), ("all of this", "y"), ("a b", "")]
    assert len(checked(text).texts["code"]) == 4


@pytest.mark.parametrize(
    "said, expected",
    [
        ("a **b `c` d** e", "a <strong>b <code>c</code> d</strong> e"),
        ("`a**b` and `c**d`", "<code>a**b</code> and <code>c**d</code>"),
        ("**a `b** c`", "**a <code>b** c</code>"),
        ("**<b>** ** x", "<strong>&lt;b&gt;</strong> ** x"),
        ("2 ** 3 ** 4 * 5 `", "2 <strong> 3 </strong> 4 * 5 `"),
    ],
)
def test_bold_and_code(said, expected):
    """Never one within half of the other."""
    assert _prose(said) == expected


@pytest.mark.parametrize(
    "result, expected",
    [
        (
            '{"output": "a\\nb\\n", "exit_code": 0, "error": null}',
            "output:\na\nb\nexit_code: 0\nerror: null",
        ),
        (
            '{"matches": [{"a": "b"}], "x": "\\u202e"}',
            'matches: [\n  {\n    "a": "b"\n  }\n]\nx: \ufffd',
        ),
        ('{"cut": "sho', '{"cut": "sho'),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', '{"a": 1, "b": {"c": 1, "c": 2}}'),
        ('{"a": -1e400}', '{"a": -1e400}'),
        ('{"a": 1.5e3, "b": NaN}', "a: 1500.0\nb: NaN"),
        ("[1, 2]", "[1, 2]"),
        ("{}", "{}"),
        ("plain", "plain"),
    ],
)
def test_results_are_opened_up(result, expected):
    """What a tool printed is read as it was printed; what is no JSON object stays as it is."""
    assert readable_result(result) == expected


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.HTML])
@pytest.mark.parametrize("arguments", ['{"a": "first", "a": "second"}', '{"a": [1e400, {}]}'])
def test_arguments_that_would_change_stay_as_they_are(tmp_path, form, arguments):
    """Laid out, one value of two was lost, and a number became another."""
    calls = [tool_call("t", arguments)]
    rows = [{"role": "assistant", "tool_calls": calls}]
    path = chat(tmp_path / "state.db", "22", rows)
    assert f"\n{escape(arguments) if form is Format.HTML else arguments}" in document(path, form)


def test_secrets_are_gone_from_every_corner(tmp_path):
    """Titles, folders, names of tools, arguments, reasoning, results."""
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz012345"
    path = chat(
        tmp_path / "state.db",
        "22",
        [
            {"content": secret},
            {
                "role": "assistant",
                "reasoning": secret,
                "tool_calls": [tool_call(secret, {"x": secret})],
            },
            {"role": "tool", "tool_name": secret, "content": secret},
            {"role": "user", "content": f"[CONTEXT SUMMARY]: {secret}"},
        ],
        title=f"t {secret}",
        cwd=f"/{secret}",
        git_branch=secret,
        model=secret,
    )
    for form in Format:
        redactor = Redactor()
        text = document(path, form, redactor=redactor)
        assert secret not in text and redactor.counts["github-token"] >= 9
        assert document(path, form).count(secret) >= 9
