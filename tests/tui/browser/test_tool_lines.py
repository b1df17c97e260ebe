"""What tools take and give is shown as what it is, and whatever it holds, a line stays a line."""

import json

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_browse.store.text import printable
from hermes_browse.tui.browser.transcript import tool_text
from hermes_browse.tui.browser.transcript.tool_text import (
    as_shown,
    coloured,
    language_of,
    output_text,
    without_colours,
)
from hermes_browse.tui.text.styled import TextLayout, line_text, line_width, split_lines


def block(text, width):
    """A text laid out by its format."""
    return TextLayout(tool_text.block("", text, width, ""), width).lines


def tool_text_lines(text, width, language="", *, is_result=False, full):
    """Arguments or a result as they stand below a call, without the bar before each line."""
    return [
        line[1:] for line in output_lines(text, width + 2, language, is_result=is_result, full=full)
    ]


def output_lines(text, width, language="", *, is_result=False, full):
    """The same with the bar."""
    paragraphs = tool_text.tool_text(text, width, language, is_result=is_result, full=full)
    return TextLayout(paragraphs, width).lines


def looks(lines, part):
    """The looks of the spans that hold a text."""
    return {
        each for line in lines for text, names in line if part in text for each in names.split()
    }


def texts(lines):
    """Lines without their looks."""
    return [line_text(line).rstrip() for line in lines]


def shown(text, language=""):
    """A whole result."""
    return tool_text_lines(text, 60, language, is_result=True, full=True)


@pytest.mark.parametrize(
    "text, part, look",
    [
        ("\x1b[31mred\x1b[0m plain", "red", "sgr-red"),
        ("\x1b[1;32mok\x1b[m plain", "ok", "sgr-green"),
        ("\x1b[1;32mok\x1b[m plain", "ok", "bold"),
        ("\x1b[91mbright\x1b[39m plain", "bright", "sgr-red"),
        ("\x1b[38;5;196mcube\x1b[0m plain", "cube", "sgr-red"),
        ("\x1b[38:5:33mlevels\x1b[0m plain", "levels", "sgr-blue"),
        ("\x1b[38;2;10;200;10mmillions\x1b[0m plain", "millions", "sgr-green"),
        ("\x1b[37;41mground\x1b[49;39m plain", "ground", "reverse"),
        ("\x1b[4munder\x1b[24m plain", "under", "underline"),
    ],
)
def test_colours_become_looks_and_end_where_they_end(text, part, look):
    lines = split_lines(coloured(text))
    assert look in looks(lines, part)
    assert looks(lines, "plain") == {"output"}
    assert line_text(lines[0]) == without_colours(text)


def test_every_other_control_is_made_visible():
    """Titles, links, cursor moves and half a sequence do nothing but show."""
    text = "\x1b[31ma\x1b]0;title\x07\x1b[2J\x1b[H\x08\x1b[999;;:m\x1b[31"
    line = line_text(split_lines(coloured(text))[0])
    assert printable(line) == line
    assert "␛]0;title␇␛[2J␛[H␈" in line
    lost = "".join(
        line_text(line)
        for line in split_lines(coloured("before\r\x1b[1mover\x1b]8;;http://x\x1b\\link"))
    )
    assert lost == "before␍over␛]8;;http://x␛\\link"


def test_colours_run_on_over_lines():
    lines = split_lines(coloured("\x1b[31mone\ntwo\x1b[0m"))
    assert "sgr-red" in looks(lines, "two") and texts(lines) == ["one", "two"]


def test_a_diff_a_log_and_a_traceback_are_told_by_their_text():
    diff = block("--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old = 1\n+new = 1\n same", 60)
    assert (
        "removed" in looks(diff, "-old")
        and "added" in looks(diff, "+new")
        and looks(diff, " same") == {"output"}
    )
    log = block("2026-05-01 10:00:00,123 INFO up\n2026-05-01 10:00:01,000 ERROR down\n", 60)
    assert "error" in looks(log, "ERROR") and "comment" in looks(log, "10:00:01")
    assert "error" not in looks(block("an ERROR in prose\nis no log", 60), "ERROR")


def test_code_is_told_by_the_file_it_is_about():
    """What was read keeps the numbers of its lines beside it."""
    language = language_of('{"path": "src/x.py"}')
    read = json.dumps({"content": "    9|def one():\n   10|    return 'two'", "truncated": False})
    lines = shown(read, language)
    assert "keyword" in looks(lines, "def") and "string" in looks(lines, "two")
    assert texts(lines)[:2] == [" 9 def one():", "10     return 'two'"]
    command = tool_text_lines('{"command": "for x in 1; do\\n  echo $x\\ndone"}', 60, full=True)
    assert "keyword" in looks(command, "for")


def test_objects_of_the_same_fields_are_a_table():
    rows = [{"name": "a", "size": 1}, {"name": "bb", "size": 20}]
    lines = texts(shown(json.dumps({"files": rows})))
    assert [line.split() for line in lines] == [
        ["files:"],
        ["name", "│", "size"],
        ["─────┼─────"],
        ["a", "│", "1"],
        ["bb", "│", "20"],
    ]
    ragged = texts(shown(json.dumps({"files": [{"name": "a"}, {"other": 1}]})))
    assert not any("│" in line for line in ragged)


def test_a_table_of_markdown_is_drawn():
    lines = texts(block("| a | bb |\n|---|---|\n| 1 | 2 |", 40))
    assert lines[0].split() == ["a", "│", "bb"] and not any("|" in line for line in lines)


def test_a_field_that_says_nothing_is_shown_when_all_is():
    text = '{"output": "x\\ny", "exit_code": 0, "error": null}'
    assert texts(tool_text_lines(text, 60, is_result=True, full=False)) == [
        "x",
        "y",
        "exit_code: 0",
    ]
    assert "error: null" in texts(tool_text_lines(text, 60, is_result=True, full=True))


def test_what_is_left_out_of_a_long_result_is_told_as_it_is():
    """Of a text that is not laid out whole, the lines cannot be counted: its size is told."""
    assert "94 more lines" in line_text(output_lines("x\n" * 100, 60, full=False)[-1])
    long = "word " * 20_000
    assert "84 KB more" in line_text(output_lines(long, 60, full=False)[-1])
    assert (
        sum(line_text(line).count("word") for line in output_lines(long, 60, full=True)) == 20_000
    )


def test_what_is_copied_of_a_result_is_what_the_tool_said():
    assert output_text('{"output": "\\u001b[31mred\\u001b[0m\\n", "exit_code": 0}') == "red\n"
    assert output_text("plain") == "plain"
    assert output_text('{"success": true}') == '{"success": true}'
    assert as_shown('{"output": "\\u001b[31mre\\u001b[0md"}') == "output: red", (
        "what is found is what is read"
    )


HOSTILE = st.text(
    st.sampled_from(list('ab \n\t|-+@"{}[]:,0\\\x1b[m;3\r\x07\u202e語é')), max_size=160
)


@settings(max_examples=examples(200))
@given(HOSTILE, st.integers(12, 90), st.sampled_from(["", "python", "json", "diff", "markdown"]))
def test_whatever_it_is_it_fits_and_cannot_act(text, width, language):
    for lines in (
        tool_text_lines(text, width, language, is_result=True, full=True),
        tool_text_lines(
            json.dumps({"output": text, text: [text, {text: text}]}),
            width,
            language,
            is_result=True,
            full=True,
        ),
    ):
        for line in lines:
            assert "\n" not in line_text(line)
            assert printable(line_text(line)) == line_text(line)
            assert line_width(line) <= width


@settings(max_examples=examples(100))
@given(st.text(st.sampled_from(list("ab \n|-+@x0:1[]")), max_size=120), st.integers(20, 80))
def test_no_letter_is_lost(text, width):
    """However a text is taken apart, what was in it is on the screen."""
    letters = "".join(texts(block(text, width)))
    for letter in "abx":
        assert letters.count(letter) == text.count(letter)


def test_of_a_long_result_the_beginning_is_read_as_text():
    """Cut JSON would be no JSON: it is the long field that is cut."""
    text = json.dumps({"output": "one line\n" * 5000, "exit_code": 0})
    lines = texts(output_lines(text, 60, is_result=True, full=False))
    assert lines[0] == "│ one line" and "29 KB more" in lines[-1]


@pytest.mark.slow
def test_of_megabytes_a_part_is_laid_out_and_the_rest_is_named():
    lines = output_lines("a line\n" * 300_000, 60, full=True)
    assert len(lines) < 70_000
    assert "1.7 MB more · O opens all" in line_text(lines[-1])
