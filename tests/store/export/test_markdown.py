"""Markdown that a person can read and no message can break; held against a CommonMark parser and a
YAML one."""

import json

import pytest
import yaml
from builders import T0, hostile_store, tool_call
from effort import examples
from exports import chat, document
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from paths import fixture

from hermes_browse.store.export.markdown import (
    code,
    message_markdown,
    neutral,
    plain,
    split_fences,
    yaml_value,
)
from hermes_browse.store.export.source import Format, rendered
from hermes_browse.store.messages import chat_message
from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.store.text import fenced, one_line, printable

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
OURS = ("<details>", "</details>", "<summary>")


def tags(text):
    """Every piece of HTML a document holds, blocks and inline."""
    found = []
    for token in PARSER.parse(text):
        if token.type == "html_block":
            found.append(token.content)
        found += [child.content for child in token.children or [] if child.type == "html_inline"]
    return found


def front(text):
    """The front matter, read by a YAML parser."""
    assert text.startswith("---\n")
    loaded = yaml.safe_load(text[4 : text.index("\n---\n")])
    return loaded


def test_a_conversation_of_three_segments():
    """Whole, with its seams; tools and reasoning folded, arguments laid out, days and times
    told."""
    text = document(fixture(31), Format.MARKDOWN, "aaa003")
    head = front(text)
    assert head["title"] == "Fix auth bug #3" and head["lineage_session_ids"][0].endswith("aaa001")
    assert head["session_id"].endswith("aaa003") and head["created_at"] == "2026-01-01T09:00:00Z"
    assert (
        head["exporter"] == "hermes-browse test"
        and head["secrets"] == "kept"
        and head["archived"] is False
    )
    assert text.count("*Compressed here, continued in `") == 2
    assert (
        "# Fix auth bug #3\n" in text
        and "## Thursday, 2026-01-01\n" in text
        and "### You · 09:00:00\n" in text
    )
    assert "<summary>Reasoning</summary>\n\nNeed to look at auth.py first.\n\n</details>" in text
    assert '```json\n{\n  "path": "auth.py"\n}\n```' in text
    assert "<summary>Result of read_file, 4 lines</summary>" in text
    assert "```\ncontent:\ndef check(tok):\n    return tok == SECRET\nok: true\n```" in text
    assert text.count("<details>") == text.count("</details>") > 3


@pytest.mark.slow
@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_every_conversation_of_every_store(version):
    """No HTML but ours, as much opened as closed, and every message under its own heading."""
    path = fixture(version)
    text = document(path, Format.MARKDOWN)
    assert all(block.startswith(OURS) for block in tags(text))
    assert text.count("\n<details>\n") == text.count("\n</details>\n")
    assert printable(text) == text


def test_a_hostile_store(tmp_path):
    """No control character comes through, and the document is one."""
    text = document(hostile_store(tmp_path / "state.db"), Format.MARKDOWN)
    assert printable(text) == text
    assert all(block.startswith(OURS) for block in tags(text))


def test_summaries_images_states_and_silent_tools(tmp_path):
    """A summary is folded, an image named, a tool without output told, what was compacted
    marked."""
    path = chat(
        tmp_path / "state.db",
        "31",
        [
            {
                "content": "[CONTEXT SUMMARY]: long ago",
                "active": 0,
                "compacted": 1,
            },
            {
                "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [tool_call("<b>", '{"cut": "sho')],
            },
            {
                "role": "tool",
                "content": "",
                "tool_name": "t",
                "timestamp": T0 + 200_000,
            },
            {
                "role": "tool",
                "content": "a ```` b\n```\n",
                "tool_name": "t",
                "timestamp": "never",
            },
        ],
        title="*A* `b` <c> # #",
        estimated_cost_usd=0.1 + 0.2,
    )
    text = document(path, Format.MARKDOWN)
    assert (
        "<summary>Compaction summary</summary>\n\n\\[CONTEXT SUMMARY]: long ago\n\n</details>"
        in text
    )
    assert " (compacted)\n" in text and "[image png]" in text and "*no output*" in text
    assert (
        "<summary>&lt;b&gt; {&quot;cut&quot;: &quot;sho</summary>" in text
        and '```\n{"cut": "sho\n```' in text
    )
    assert "`````\na ```` b\n```\n\n`````" in text
    assert text.count("\n## ") == 2 and front(text)["cost_usd"] == 0.3
    heading = next(
        token for token in PARSER.parse(text[text.index("\n# ") :]) if token.type == "inline"
    )
    assert "".join(child.content for child in heading.children or []) == "*A* `b` <c> # #"


def test_one_entry_is_all_that_a_new_kind_of_block_takes(tmp_path, monkeypatch):
    """Its title and body are in both formats; a kind without a title for exports is in none."""
    note = chat_message.BlockKind("note", lambda message: message.effect, exported="A <note>")
    monkeypatch.setattr(
        chat_message,
        "KINDS",
        (*chat_message.KINDS, note, chat_message.BlockKind("private", lambda *_: "secret plans")),
    )
    message = {
        "content": "plan my week",
        "effect_disposition": "for the curious",
    }
    path = chat(tmp_path / "state.db", "31", [message])
    markdown, page = document(path, Format.MARKDOWN), document(path, Format.HTML)
    assert (
        "plan my week\n\n<details>\n<summary>A &lt;note&gt;</summary>\n\nfor the curious\n"
        in markdown
    )
    assert (
        '<details class="note"><summary>A &lt;note&gt;</summary>\n<div class="said">for the curious<'
        in page
    )
    assert "secret plans" not in markdown + page


@pytest.mark.parametrize(
    "text", ["[CONTEXT COMPACTION] of a log", "<memory-context>kept</memory-context> of a log"]
)
def test_the_output_of_a_tool_is_exported_as_it_is(tmp_path, text):
    """It may quote what Hermes itself writes: nothing of it is a summary or an injection."""
    message = {"role": "tool", "content": text, "tool_name": "t"}
    path = chat(tmp_path / "state.db", "31", [message])
    assert f"Result of t, 1 line</summary>\n\n```\n{text}\n```" in document(path, Format.MARKDOWN)


def test_a_summary_precedes_the_reasoning_of_the_message_it_was_merged_into(tmp_path):
    """The screen has the reasoning first; the order of exports stays as it was."""
    content = "[CONTEXT SUMMARY]: long ago\n--- END OF CONTEXT SUMMARY ---\nthe answer"
    message = {"role": "assistant", "content": content, "reasoning": "a thought"}
    path = chat(tmp_path / "state.db", "31", [message])
    text = document(path, Format.MARKDOWN)
    assert (
        text.index("\n\\[CONTEXT SUMMARY]") < text.index("\na thought") < text.index("\nthe answer")
    )


def test_one_message_outside_of_an_export():
    """With its day and id, nothing folded; a result that is known stands behind its call, and what
    is said is no part of the reasoning."""
    calls = (ToolCall("a", "look", '{"path": "x"}'), ToolCall("b", "*run*", "cut"))
    message = ChatMessage(
        7, "s", "assistant", "</details> done", T0, tool_calls=calls, reasoning="one\n\n```\ntwo"
    )
    result = ChatMessage(8, "s", "tool", "three\nfour\x1b", tool_call_id="a")
    text = message_markdown(rendered(message, {"a": result}.get), note="since")
    assert text.startswith("### Assistant · 20") and " · message 7 · since\n" in text
    parts = [token.content for token in PARSER.parse(text) if token.type in ("inline", "fence")]
    assert parts[1:] == [
        "Reasoning", "one", "two\n", "\\</details> done", "look", '{\n  "path": "x"\n}\n',
        "Result of look, 2 lines", "three\nfour␛\n", r"\*run\*", "cut\n",
    ]  # fmt: skip
    assert tags(text) == []


NASTY = [
    "```", "````", "~~~", "```py", "  ```", "    ```", "- ```", "> ```", "1. ~~~", "`", "``", "\\`", "\\", "|", " | ",
    "</details>", "<details>", "<script>alert(1)</script>", "<!--", "-->", "<b onclick=x>", "<?php", "<![CDATA[",
    "\\<i>", "<https://example.org>", "<pre>", "- ", "* ", "> ", "# ", "---", "\n", "\n\n", "    ", "\t", "text",
    "[a](<b>)", "| a | b |\n|---|---|\n| ", "`<b>`", "``` x ` y", "&lt;", "1. item",
    "[a]: /b", "[^1]: c", "[a", "[", "]: /b", "]", "- [ ] [a]: /b",
]  # fmt: skip


@settings(max_examples=examples(500))
@given(st.lists(st.sampled_from(NASTY), max_size=14).map("".join))
def test_no_message_reaches_beyond_itself(said):
    """After any message the next heading is a heading, at the top level, and no tag of it is at
    work."""
    text = neutral(said) + "\n\n### After\n"
    env = {}
    tokens = PARSER.parse(text, env)
    assert tags(text) == [] and not env.get("references")
    assert [token.type for token in tokens[-3:]] == ["heading_open", "inline", "heading_close"]
    assert tokens[-2].content == "After" and tokens[-3].level == 0
    assert neutral(said).replace("\\", "").replace(" ", "").startswith(
        said.replace("\\", "").replace(" ", "")
    ) or (neutral(said).startswith(">"))


@pytest.mark.parametrize(
    "said, expected",
    [
        ("see [1].\n\n[1]: https://example.org", "see [1].\n\n\\[1]: https://example.org"),
        ("> - [a b]: /c 'd'", "> - \\[a b]: /c 'd'"),
        ("[two\nlines]: /a", "[two\nlines\\]: /a"),
        ("[a `b]: /c`", "\\[a `b]: /c`"),
        ("[^1]: a note", "\\[^1]: a note"),
        ("*[You] : an abbreviation", "*\\[You] : an abbreviation"),
        ("- ```\n[a]: /b", "> - ```\n> \\[a]: /b"),
    ],
)
def test_a_definition_is_the_text_that_was_written(said, expected):
    """It would make links, footnotes and abbreviations of other messages its own."""
    assert neutral(said) == expected
    env = {}
    PARSER.parse(neutral(said), env)
    assert not env.get("references")


@pytest.mark.parametrize(
    "said",
    [
        "Use `List<String>` and\n\n```java\nMap<String, List<T>> x; // </details>\n```\n\nthen a < b.",
        "1. First\n\n   ```sh\n   echo hi\n   ```\n2. Second",
        "~~~\n```\n<b>\n~~~",
        "Plain *words* and [a link](https://example.org).",
        "[A link](https://example.org): see a[0]: x\n- [x] done: yes\n\n```ts\n[key: string]: any\n```",
    ],
)
def test_ordinary_markdown_stays_as_it_is(said):
    """Code with angle brackets in fences and spans, lists with code in them."""
    assert neutral(said) == said


def test_what_is_escaped_and_closed():
    """Tags outside of code, fences left open, and quotation as the last resort."""
    assert neutral("a <b>c</b> `<d>`") == "a \\<b>c\\</b> `<d>`"
    assert neutral("\\<b> \\\\<b>") == "\\<b> \\\\\\<b>"
    assert neutral("x\n````py\ny\n```") == "x\n````py\ny\n```\n````"
    assert neutral("- ```\n<b>") == "> - ```\n> \\<b>"
    assert neutral("`a\n`<b>` c") == "`a\n`\\<b>` c"
    assert neutral("") == ""


@pytest.mark.slow
def test_a_long_run_of_backslashes():
    """In time linear in its length: anything else would not come to an end."""
    run = "\\" * 1_000_000
    assert neutral(run) == run and neutral(f"{run}<b>") == f"{run}\\<b>"


@given(st.text(alphabet=st.sampled_from("`~a\n ")))
def test_fences_hold_anything(text):
    """A fence is longer than what is inside, and a block comes back as it went in."""
    block = fenced(text)
    assert block.partition("\n")[0] not in text
    (token,) = PARSER.parse(block)
    assert token.type == "fence" and token.content.rstrip("\n") == text.rstrip("\n")
    assert "\n".join("\n".join(block) for _, block, _closed in split_fences(text)) == text


@given(st.text())
def test_one_line_of_anything_is_text(text):
    """Titles and ids show as they are, whatever Markdown would make of them."""
    line = one_line(text)
    if not line:
        return
    inline = PARSER.parseInline(plain(line))[0].children or []
    assert {child.type for child in inline} <= {"text", "text_special"}
    (span,) = PARSER.parseInline(code(line))[0].children or []
    assert span.type == "code_inline" and span.content == line


@given(
    st.one_of(
        st.text(),
        st.lists(st.text(), max_size=3),
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(0, 1e6),
    )
)
@example("soft\xadhyphen, stray\u200djoiner, \U0001f469\u200d\U0001f4bb, \u180e\ufeff")
def test_front_matter_reads_back(value):
    """Through a real YAML parser, whatever stands in a title; one line each."""
    text = yaml_value(value)
    assert len(text.splitlines()) == 1 and printable(text) == text
    assert yaml.safe_load(f"a: {text}\nb: 1\n") == {"a": value, "b": 1}
    assert json.loads(json.dumps(value)) == value
