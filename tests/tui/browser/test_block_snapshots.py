"""What each kind of block looks like: one picture for what is said, one for tools, one for states
and rules."""

import json

import pytest
from transcripts import START, LooksApp, conversation_of

from hermes_browse.store.messages.chat_message import (
    ChatMessage,
    ContentPart,
    RowInfo,
    State,
    ToolCall,
)
from hermes_browse.store.messages.transcript import END
from hermes_browse.store.sessions.models import (
    Session,
)
from hermes_browse.tui.browser.transcript.entries import Look, Tools
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.widgets.themes import DARK

MARKDOWN = """\
# Heading one
## Heading two

A paragraph with **bold**, *italic*, ~~struck~~ and `code`, long enough to be broken over two lines of the page.

- a list
  1. in a list
  2. another
- [ ] to do
- [x] done

> a quote
> > in a quote

| name | count | 語 |
|:-----|------:|----|
| one | 1 | 日本語 |
| two | 22 | 👩‍🚀 🇸🇪 é |

[a link](https://example.org/), <https://example.org/plain> and ![a picture](https://example.org/x.png)

```python
def answer(question: str) -> int:  # coloured
    return 42 if "life" in question else 0
```

    indented code

---

שלום עולם and مرحبا, e\u0301 and \u200d.
"""
SAID = (
    ChatMessage(1, "s", "user", MARKDOWN, START),
    ChatMessage(2, "s", "assistant", "Short.", START + 1, reasoning="Because **it** is short."),
    ChatMessage(
        3,
        "s",
        "user",
        "look at these",
        START + 2,
        parts=(
            ContentPart("text", "look at these"),
            ContentPart("image", "[image png]", mime="image/png", size=48_211),
            ContentPart("image", "", url="https://example.org/lighthouse.jpg"),
        ),
    ),
    ChatMessage(
        4,
        "s",
        "user",
        "plan my week",
        START + 3,
        api_content="recalled: swims on Tuesdays\n\nplan my week",
    ),
    ChatMessage(
        5, "s", "user", "[CONTEXT COMPACTION] what was said before", START + 4, is_flagged=True
    ),
    ChatMessage(6, "s", "assistant", "", START + 5),
    ChatMessage(7, "s", "assistant", "cut off in the mid", START + 6, finish_reason="length"),
)
RESULTS = (
    (
        "terminal",
        {"command": "git diff"},
        {"output": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 2", "exit_code": 0},
    ),
    ("read_file", {"path": "src/x.py"}, {"content": "1|import os\n2|\n3|print(os.name)"}),
    (
        "terminal",
        {"command": "ls --color"},
        {
            "output": "\x1b[34mfolder\x1b[0m  \x1b[1;32mprogram\x1b[0m \x1b]0;title\x07",
            "exit_code": 0,
        },
    ),
    (
        "terminal",
        {"command": "journalctl"},
        "2026-01-01 10:00:00 INFO start\n2026-01-01 10:00:01 ERROR it broke\n2026-01-01 10:00:02 WARNING smoke",
    ),
    (
        "web_search",
        {"query": "tides"},
        [{"title": "Tide", "hits": 3}, {"title": "Ebb", "hits": 12}],
    ),
    (
        "get",
        {"url": "https://example.org"},
        {"nested": {"key": [1, 2, {"deep": None}]}, "ok": True},
    ),
    (
        "python",
        {"code": "1 / 0"},
        'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nZeroDivisionError: division by zero',
    ),
    ("lines", {"name": "many"}, "\n".join(f"line {number}" for number in range(12))),
)


def model(messages, segments=1, **more):
    """They as a conversation; those of the last half are in the last segment, if there are two."""
    half = len(messages) // segments
    rows = [
        RowInfo(each.id, int(number >= half), each.role, each.timestamp, each.state, each.is_hidden)
        for number, each in enumerate(messages)
    ]
    sessions = [Session(f"s{number}", "cli", ended_at=START + 60) for number in range(segments)]
    made = conversation_of(sessions, rows, **more)
    made.add(messages)
    return made


def tools():
    """A call for each kind of result, one without any and one that failed."""
    messages = []
    for number, (name, arguments, result) in enumerate(RESULTS):
        text = result if isinstance(result, str) else json.dumps(result)
        call, at, first = f"c{number}", START + 10 * number, 2 * number + 1
        messages += [
            asking(first, at, call, name, json.dumps(arguments)),
            told(first + 1, at + 1.5, text, call, name),
        ]
    messages.append(asking(90, START + 200, "never", "delegate_task", '{"goal": "run the tests"}'))
    messages.append(told(91, START + 201, '{"error": "no such file"}', "x", "patch"))
    return model(messages)


def asking(number, at, call, name, arguments):
    """A message with one call."""
    return ChatMessage(
        number, "s", "assistant", "", at, tool_calls=(ToolCall(call, name, arguments),)
    )


def told(number, at, text, call, name):
    """The result of a call."""
    return ChatMessage(number, "s", "tool", text, at, tool_call_id=call, tool_name=name)


def states():
    """Every state of a message, and every rule between them."""
    messages = (
        ChatMessage(1, "s0", "session_meta", "{}", START, is_hidden=True),
        ChatMessage(2, "s0", "user", "compacted away", START + 1, state=State.COMPACTED),
        ChatMessage(9, "s0", "user", "wrong **question**", START + 2, state=State.REWOUND),
        ChatMessage(10, "s0", "assistant", "repeated", START + 4000, state=State.COMPACTED),
        ChatMessage(11, "s1", "assistant", "repeated", START + 100_000),
        ChatMessage(12, "s1", "user", "go on", START + 100_001, display_kind="auto_continue"),
        told(13, START + 100_002, "out", "lost", "terminal"),
        ChatMessage(14, "s1", "system", "You are Hermes.", None, display_kind="system prompt"),
    )
    return model(
        messages,
        2,
        gaps={12: (2, 3), END: (1, 0)},
        copies={10: 11},
    )


class BlockApp(LooksApp):
    """One viewer on a model."""

    def __init__(self, shown, look, is_open):
        super().__init__()
        self._shown, self._look, self._is_open = shown, look, is_open
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self):
        yield TranscriptView()

    def on_mount(self):
        """Show it from its beginning."""
        view = self.query_one(TranscriptView)
        view.page.look = self._look
        view.show(self._shown)
        if self._is_open:
            view.page.opened = set(self._shown.ids)
        view.action_to_start()


BLOCKS = {
    "said-folded": (lambda: model(SAID), Look(), False, 62),
    "said-open": (lambda: model(SAID), Look(reasoning=True), True, 74),
    "tools-short": (tools, Look(), False, 34),
    "tools-full": (tools, Look(Tools.FULL), False, 82),
    "states": (states, Look(Tools.OFF), False, 50),
}
"""What is shown and how, and the lines that it takes."""


@pytest.mark.parametrize("name", BLOCKS)
def test_block(name, snap_compare):
    """Each kind as it is drawn, in one long page."""
    made, look, is_open, height = BLOCKS[name]
    assert snap_compare(BlockApp(made(), look, is_open), terminal_size=(90, height))
