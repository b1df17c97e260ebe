"""The command line in another language: everything for people is translated, nothing that programs
read."""

import argparse
import re
from functools import cache

import pytest
from commandline import call, copy_store, steady
from words import OF_ARGPARSE, collected, compiled, po_path, translations

from hermes_browse.store import wording
from hermes_browse.tui.cli.parser import wrapped
from hermes_browse.tui.cli.registry import make_parser
from hermes_browse.tui.text.glyphs import cells

_MARK = "译"


@cache
def _everything_marked():
    """A catalog in which each text is itself behind a wide character."""
    catalog = collected()
    for each in catalog:
        if not each.id:
            continue
        many = each.id if isinstance(each.id, list | tuple) else None
        each.string = tuple(_MARK + text for text in many) if many else _MARK + str(each.id)
    return compiled(catalog)


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A locale with words of its own for everything."""
    folder = tmp_path / "locale" / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "hermes-browse.mo").write_bytes(_everything_marked())
    monkeypatch.setattr(wording, "_FOLDER", tmp_path / "locale")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    yield
    wording.speak("en")


@pytest.fixture
def home(tmp_path):
    """The options that name a root."""
    copy_store("state-v22", tmp_path / "home")
    return ["--home", str(tmp_path / "home")]


def _in_both(monkeypatch, *line):
    """How a command ends in English, and in the other language."""
    with monkeypatch.context() as english:
        english.setenv("LANG", "C.UTF-8")
        first = call(*line)
    return first, call(*line)


def _helps(parser):
    for action in parser._actions:
        yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (each.help for each in action._choices_actions)
            for child in action.choices.values():
                yield from _helps(child)


@pytest.mark.slow
@pytest.mark.usefixtures("foreign")
def test_every_help_is_in_it():
    """Of every command and option."""
    wording.speak("zh_CN")
    said = [text for text in _helps(make_parser()) if text and text != argparse.SUPPRESS]
    assert len(said) > 100
    assert [text for text in said if not text.startswith(_MARK)] == []


@pytest.mark.slow
@pytest.mark.usefixtures("foreign")
def test_usage_is_indented_by_cells(monkeypatch):
    """As wide as its label, with wide letters too."""
    monkeypatch.setenv("COLUMNS", "60")
    first, second, *_more = call("list --help").out.splitlines()
    label = f"{_MARK}usage: "
    assert first.startswith(f"{label}hermes-browse list [")
    assert second.startswith(" " * cells(f"{label}hermes-browse list ") + "[")


@pytest.mark.slow
@pytest.mark.usefixtures("foreign")
def test_sums_have_the_same_headers_with_all_hosts():
    """The grouping too."""
    alone, hosts = (call("--demo stats --by model", *more).out for more in ((), ("--all-hosts",)))
    assert hosts.splitlines()[0].split() == alone.splitlines()[0].split()
    assert alone.startswith(f"{_MARK}model")


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(
    "line, said",
    [
        ("list --sort nope", "argument --sort: 译invalid choice: 'nope' ("),
        ("list --limit x", "argument --limit: 译wants a whole number, 0 or more, not 'x'"),
        ("list --limit", "argument --limit: 译expected one argument"),
        ("trash drop", "the following arguments are required: DELETION"),
        ("--plain list", "--plain cannot be used with a command"),
    ],
)
def test_a_mistake_is_told_in_it(line, said):
    """With the same exit code."""
    ended = call(line)
    assert ended.code == 2 and ended.out == ""
    assert f"{_MARK}hermes-browse" in ended.err and f"{_MARK}{said}" in ended.err


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(
    "line",
    [
        "list",
        "search walrus",
        "search zzz* nope:x",
        "doctor",
        "show Rewound",
        "lineage Rewound",
        "compactions Rewound --lost",
        "context Rewound",
        "resume Rewound --print",
        "stats",
        "stats --by tool --period 1y",
        "prune --older-than 1d",
        "trash list",
        "profiles",
        "config",
    ],
)
def test_json_is_not(monkeypatch, home, line):
    """Keys, values and the sentences in it are what a script knows."""
    english, other = _in_both(monkeypatch, *home, *line.split(), "--json")
    assert english.code == other.code == 0
    assert steady(other.document) == steady(english.document)
    assert _MARK not in other.out


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_not(monkeypatch, shell):
    """A shell sources them, wherever they were made."""
    english, other = _in_both(monkeypatch, "completions", shell)
    assert english.out == other.out and "hermes-browse" in other.out


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(
    "line", ["delete Rewound", "list --zz", "prune --older-than 1d --delete", "search walrus"]
)
def test_it_ends_the_same(monkeypatch, home, line):
    """Exit codes say the same in every language, and the rest is told in it."""
    english, other = _in_both(monkeypatch, *home, *line.split())
    assert english.code == other.code
    assert english.err != other.err and _MARK in other.err and _MARK not in english.err


@pytest.mark.usefixtures("foreign")
def test_heads_of_columns_stand_over_them(home):
    """A wide character takes two cells."""
    head, *rows = call("list --limit 5", *home).out.splitlines()
    assert head.endswith(f"{_MARK}id") and f"{_MARK}last active" in head and len(rows) == 5
    assert {cells(row[: row.rindex("  ")]) for row in rows} == {cells(head[: head.rindex("  ")])}


def test_lines_end_between_wide_characters():
    """They have no spaces between them; signs stay with what they end, names and options stay
    whole."""
    text = "按规则列出可以清理的内容，须满足全部规则；不加 --archive 或 --delete 时只显示（默认）。"
    lines = wrapped(text, 20)
    assert max(map(cells, lines)) <= 20
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not [line for line in lines if line[0] in "，。；：）" or line[-1] in "（“"]
    assert any("--archive" in line for line in lines) and any("--delete" in line for line in lines)


def test_argparse_gets_what_it_fills_in():
    """Its own texts have fields that begin with a percent sign: the translation has the very same
    ones."""

    def fields(text):
        return sorted(re.findall(r"%(?:\(\w+\))?[a-z]", text))

    known = {str(each.id): str(each.string) for each in translations("zh_CN") if each.string}
    assert po_path("zh_CN").exists()
    assert [
        text for text in OF_ARGPARSE if text in known and fields(known[text]) != fields(text)
    ] == []
    assert fields(OF_ARGPARSE[4]) == ["%(argument_name)s", "%(message)s"]
