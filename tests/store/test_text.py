"""The border every stored string crosses, and stored values read with suspicion."""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_browse.store.connection.stored_values import (
    as_count,
    as_flag,
    as_mapping,
    as_money,
    as_time,
)
from hermes_browse.store.messages.chat_message import split_summary
from hermes_browse.store.messages.decode import (
    SENTINEL,
    decode_content,
    decode_tool_calls,
    reasoning_of_details,
)
from hermes_browse.store.text import as_text, one_line, printable

BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""All characters with the property Bidi_Control (Unicode, PropList.txt)."""

_SHARP = "\x00\x07\r\n\t\x1b\x7f\x85\x9b\u200b\u200d\ufe0f\u2028\u202e\u2066\ufeff\U000e0041\ud800👩💻é\u0301 a"
hostile_text = st.text(alphabet=st.one_of(st.sampled_from(_SHARP), st.characters()))
"""Any code points, lone surrogates among them, and often the ones that act."""


def acts(letter):
    """Whether a character could do something to a terminal."""
    return (
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") and letter not in "\n\t"
    ) or letter in BIDI


@given(hostile_text)
@example("\r\r\n")
@example("👩\u200d\u200d💻")
@example("👩\ufe0f\u200d💻\u200d")
def test_nothing_acts_on_a_terminal(text):
    """No control, bidi control, separator or surrogate is left; what is safe stays as it is; twice
    changes nothing."""
    safe = printable(text)
    assert not any(map(acts, safe))
    safe.encode("utf-8")
    assert printable(safe) == safe
    assert len(safe) <= len(text)


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S", "Mn", "Zs"))))
def test_harmless_text_is_the_very_same(text):
    """Words of every script come through untouched, and as the same object."""
    assert printable(text) is text


@given(hostile_text, st.integers(min_value=1, max_value=40))
def test_one_line_is_one_line_and_short(text, limit):
    """No break, nothing that acts, no run of spaces, within the limit, and done once."""
    line = one_line(text, limit)
    assert len(line) <= limit
    assert not any(map(acts, line)) and not set(line) & {"\n", "\t"}
    assert "  " not in line and line == line.strip()
    assert one_line(line, limit) == line
    assert one_line(text) == " ".join(one_line(text).split())


REPLACED = {
    "\x1b[31m\x7f": "␛[31m␡",
    "a\r\nb\rc": "a\nb␍c",
    "\u202egnp.exe\u202c": "\ufffdgnp.exe\ufffd",
    "co\u00adop\u00aderate \u180e": "cooperate \ufffd",
    "👩\u200d💻 می\u200cخواهم e\u0301": "👩\u200d💻 می\u200cخواهم e\u0301",
    "a\u200db": "ab",
}


def test_what_replaces_what():
    """Controls are seen, joiners and accents of real words stay."""
    assert {text: printable(text) for text in REPLACED} == REPLACED
    assert one_line("  two\x0b\x0cwords\u2028 here ") == "two words here"
    assert one_line("e\u0301" * 5, 4) == "e\u0301e…"


@pytest.mark.parametrize(
    "value, text",
    [
        (None, None),
        ("", ""),
        ("é", "é"),
        (b"\xff\x00A", "\ufffd\x00A"),
        (7, "7"),
        (1.5, "1.5"),
        ("a\ud800b", "a\ufffd\ufffd\ufffdb"),
    ],
)
def test_any_stored_value_is_text(value, text):
    """Numbers, blobs and surrogates too; NULL stays nothing."""
    assert as_text(value) == text


def test_times():
    """Numbers, numbers in text and ISO times; nothing a calendar could not show."""
    assert (
        as_time(1_767_258_000)
        == as_time("1767258000.0")
        == as_time(b"1767258000")
        == 1_767_258_000.0
    )
    assert as_time("2026-01-01T09:00:00+00:00") == as_time("2026-01-01 09:00:00") == 1_767_258_000.0
    assert as_time(0) == 0.0 and as_time(-1.0) == -1.0
    nonsense: object
    for nonsense in (
        None,
        "",
        "yesterday",
        "nan",
        "inf",
        b"\xff",
        9e18,
        -9e18,
        1e308,
        float("nan"),
        2**62,
        [],
        {},
    ):
        assert as_time(nonsense) is None, nonsense


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(), st.binary(), st.none()))
@example(-62_135_510_401.0)
@example(253_402_300_799)
def test_any_stored_value_is_survived(value):
    """Whatever SQLite can hold gives a usable answer, and a time is one datetime can show."""
    moment = as_time(value)
    if moment is not None:
        for hours in (-14, 14):
            assert datetime.fromtimestamp(moment, timezone(timedelta(hours=hours))).year
        assert datetime.fromtimestamp(moment).year
    assert as_count(value) >= 0
    money = as_money(value)
    assert money is None or money - money == 0
    assert as_flag(value) in (True, False)
    assert isinstance(as_mapping(value), dict)
    decode_content(value)
    decode_tool_calls(value)


def test_counts_money_and_flags():
    """Negative, infinite and textual numbers are none."""
    assert [as_count(each) for each in (3, 3.9, -5, float("inf"), "3", b"\x01", None)] == [
        3,
        3,
        0,
        0,
        0,
        0,
        0,
    ]
    assert [as_money(each) for each in (0, 1.5, float("nan"), 1e308, "free", None)] == [
        0.0,
        1.5,
        None,
        None,
        None,
        None,
    ]
    assert [as_flag(each) for each in (1, 2, 0, None, "1", b"\x01")] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_model_config_of_any_kind():
    """Only a JSON object is a mapping."""
    assert (
        as_mapping('{"_branched_from": "a"}')
        == as_mapping(b'{"_branched_from": "a"}')
        == {"_branched_from": "a"}
    )
    for other in (
        "",
        "null",
        '["{}"]',
        '"{}"',
        "{}{}",
        "{",
        "7",
        "[" * 5000 + "{",
        '{"a":' * 5000,
        None,
        b"\xff{",
    ):
        assert as_mapping(other) == {}


@pytest.mark.parametrize("depth", [*range(880, 1000, 1), 100_000])
def test_json_as_deep_as_the_stack(depth):
    """JSON that is too deep to be read is shown as it stands; a list among the parts, which Hermes
    never writes, has no text."""
    nested = "[" * depth + "]" * depth
    text, parts = decode_content(f"{SENTINEL}[{nested}]")
    assert (text, len(parts)) in ((f"{SENTINEL}[{nested}]", 0), ("[unknown]", 1))
    calls = decode_tool_calls(f'[{{"name": "t", "arguments": {nested}}}]')
    assert not calls or json.loads(calls[0].arguments) is not None


def test_a_summary_merged_behind_a_message_leaves_what_was_said_alone():
    """Hermes 0.18 and 0.19 put a line above the message, too (recorded from both,
    `tests/data/compression`)."""
    summary = "[CONTEXT COMPACTION — REFERENCE ONLY] The ferry left.\n\n--- END OF CONTEXT SUMMARY — respond below ---"
    text = (
        "[PRIOR CONTEXT — for reference only; not a new message]\nreading the timetable\n\n"
        f"[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{summary}"
    )
    assert split_summary(text) == (summary, "reading the timetable")
    assert split_summary(text.replace("reading the timetable", "")) == (summary, "")


@pytest.mark.parametrize(
    "stored, said",
    [
        (
            '[{"type": "reasoning.summary", "summary": "first"}, {"type": "reasoning.text", "text": "then"}]',
            "first\n\nthen",
        ),
        ('[{"type": "thinking", "thinking": "hm", "signature": "x"}, {"thinking": "hm"}]', "hm"),
        ('[{"type": "reasoning.encrypted", "data": "xyz"}]', None),
        ('{"content": "one"}', "one"),
        ('["text", 7, {"text": ["no text"]}]', None),
        ("[", None),
        ("", None),
        (None, None),
    ],
)
def test_reasoning_in_details(stored, said):
    """As Hermes reads it from an answer; what is encrypted has no text."""
    assert reasoning_of_details(stored) == said
