"""The configuration as a file: what holds, and a sentence with its line for what does not."""

import stat
import tomllib
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.files import user_folder
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.wording import LANGUAGES, speak
from hermes_browse.tui.browser.list.columns import COLUMNS
from hermes_browse.tui.settings.keymap import (
    can_meet,
    key_name,
    known_commands,
    resolve_keymap,
    sample,
)
from hermes_browse.tui.settings.options import OPTIONS, Options
from hermes_browse.tui.settings.read_config import parse_config, read_config
from hermes_browse.tui.settings.start import LastState, read_memory, write_memory

HERE = Path("config.toml")


def told(text):
    """Lines and texts of everything that does not hold."""
    configuration = parse_config(text, HERE)
    troubles = resolve_keymap(configuration)[1]
    return [(each.line, f"{each.text} {each.remedy}") for each in troubles]


def test_everything_that_is_set_holds():
    """Each option by its own name and type."""
    text = 'theme = "nord"\nmouse = false\nresume = "return"\n[keys]\nsort = "x"\nhelp = ["?", "f1", ","]\n'
    configuration = parse_config(text, HERE)
    assert configuration.troubles == ()
    assert configuration.options == Options(
        theme="nord", mouse=False, resume="return", keys={"sort": "x", "help": "?,f1,comma"}
    )
    keymap, troubles = resolve_keymap(configuration)
    assert (keymap["sort"], keymap["help"], troubles) == ("x", "question_mark,f1,comma", [])


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("\nmuose = true", 2, "no option “muose”. Did you mean “mouse”?"),
        (
            'mouse = true\nkeymap = "emacs"',
            2,
            "no option “keymap”. Did you mean “keys”?",
        ),
        (
            '# resume = 3\nresume = "exti"',
            2,
            "one of return, exit, window, not “exti”. Did you mean “exit”?",
        ),
        ("resume = [1]", 1, "not [1]"),
        ("mouse = 1", 1, "true or false, not 1"),
        ('window = "tmux new-window"', 1, "a command with the word {command} in it, not “tmux"),
        ('window = "tmux \'{command}"', 1, "a command with the word {command}"),
        ('window = "{command}"', 1, "a command with the word {command}"),
        ("window = 3", 1, "a command with the word {command} in it, not 3"),
        ("theme = 3", 1, "name of a theme"),
        ('columns = "age"', 1, "is a list of names"),
        ('\ncolumns = ["age", "modle", 3]', 2, "no column “modle”. Did you mean “model”?"),
        ("columns = [[]]", 1, "no column []. There are age,"),
        ('\nsurface = "tui"', 2, "is a table of sources"),
        (
            '\nsurface = { any = "tui", cli = "gui" }',
            2,
            "surface of “cli” is one of cli, tui, not “gui”",
        ),
        ("\n[surface]\ncli = 3", 3, "surface of “cli” is one of cli, tui, not 3"),
        ("mouse=true\nkeys = 3", 2, "is a table"),
        ('[keys]\nsort = "s"\nnope = "x"', 3, "no action “nope”"),
        ('[keys]\nsrot = "x"', 2, "Did you mean “sort”?"),
        ("[keys]\nsort = []", 2, "takes a key"),
        ("[keys]\nsort = [1]", 2, "takes a key"),
        ('[ "keys" ]\n"sort" = "ctrl+banana"', 2, "“ctrl+banana” is no key"),
        ('keys.sort = "foo bar"', 1, "“foo bar” is no key"),
        ('[keys]\n\nsort = "j"', 3, "“j” of “sort” is that of “list-down” too"),
        ('[keys]\ntrash-back = "j"', 2, "“j” of “trash-back” is that of “list-down” too"),
        ('[keys]\ndetails-copy = "q"', 2, "“q” of “details-copy” is that of “details-back” too"),
        ('[keys]\ndetails-copy = "ctrl+q"', 2, "“ctrl+q” of “details-copy” is that of “quit” too"),
        ('[keys]\npalette = "delete"', 2, "“delete” of “palette” is that of “searches-forget” too"),
        ('[keys]\nprefligth-resume = "x"', 2, "Did you mean “preflight-resume”?"),
        ('[keys]\nprune-bakc = "x"', 2, "Did you mean “prune-back”?"),
        ('[keys]\nsort = "ctrl+q"', 2, "“ctrl+q” of “sort” is that of “quit” too"),
        ('theme = "nord"\ntheme = "nord"', None, "The whole file is ignored"),
        ('theme = "nord', None, "The whole file is ignored"),
        ("theme =", None, "The whole file is ignored"),
        ('[resume]\na = "b"', 1, "one of return"),
        ("hosts = 3", 1, "is written as [[hosts]]"),
        ('[[hosts]]\nname = "a"\nssh = "a"\n[[hosts]]\nname = 1', 4, "is written as [[hosts]]"),
        ("[[hosts]]\nname = 1\n\n", 1, "is written as [[hosts]]"),
        ("[[keys]]\n\n", 1, "“keys” is a table"),
        ("[columns]\n\n", 1, "is a list of names"),
        (
            '[[hosts]]\nname = "a"\nssh = "a"\n\n[[hosts]]\nname = "b"',
            5,
            "the host “b”: it needs `ssh`",
        ),
        ('[[hosts]]\nssh = "a"', 1, "the host “”: its `name` is letters"),
        ('[[hosts]]\nname = "a b"\nssh = "a"', 2, "the host “a b”: its `name` is letters"),
        ('[[hosts]]\nname = "a"\nssh = "a \'b"', 3, "a quote in its `ssh` is not closed"),
        ('[[hosts]]\nname = "a"\nssh = "a"\ncommand = " "', 4, "its `command` is empty"),
        (
            '[[hosts]]\nname="a"\nssh="a"\n[[hosts]]  # two\nname="a"\nssh="b"',
            5,
            "there are two hosts of this name",
        ),
        (
            '[[hosts]]\nname="a"\nssh="a"\n[[hosts]]\nname="b"\nssh="b"\nhmoe="x"',
            7,
            "Did you mean “home”?",
        ),
        ('[[hosts]]\nname="sort"\nssh="a"\n[keys]\nname = "x"', 5, "no action “name”"),
        ("a = " + "[" * 20_000, None, "nested too deeply"),
    ],
)
def test_what_does_not_hold_is_told_with_its_line(text, line, words):
    """Never an exception, and the place to look at."""
    found = told(text)
    assert any(number == line and words in said for number, said in found), found


def test_hosts():
    """Each with its own values, in the order of the file; one that is wrong does not take the
    others with it."""
    text = '[[hosts]]\nname = "b"\nssh = "-p 2222 b"\n[[hosts]]\nname = "-"\n[[hosts]]\nname = "a"\nssh = "a"\nhome="/x"\n'
    assert parse_config(text, HERE).options.hosts == (
        Host("b", "-p 2222 b"),
        Host("a", "a", home="/x"),
    )


def test_one_mistake_does_not_take_the_rest_with_it():
    """Only a file that is no TOML sets nothing."""
    configuration = parse_config(
        'resume = "exti"\ntheme = "nord"\n[keys]\nsort = ["x", "nonsense key"]\n', HERE
    )
    assert configuration.options.resume == "return" and configuration.options.theme == "nord"
    assert resolve_keymap(configuration)[0] == {"sort": "x"}


@given(st.text())
def test_no_text_is_a_failure(text):
    """Whatever the file holds, there are options, and each trouble is one printable line."""
    configuration = parse_config(text, HERE)
    for trouble in resolve_keymap(configuration)[1]:
        assert trouble.sentence().isprintable()


def test_files_that_cannot_be_read(tmp_path):
    """No file sets nothing and is no trouble; everything else is told."""
    path = tmp_path / "config.toml"
    assert read_config(path).troubles == () and not read_config(path).exists
    path.write_bytes(b"mouse = false\n# \xff\n")
    assert read_config(path).troubles[0].line == 2
    path.write_bytes(b"\xef\xbb\xbfmouse = false\r\ntheme = 'nord'\r\n")
    assert not read_config(path).options.mouse and read_config(path).options.theme == "nord"
    path.write_bytes(b"#" * 2_000_000)
    assert "too large" in read_config(path).troubles[0].text
    path.unlink()
    path.mkdir()
    assert "cannot be read" in read_config(path).troubles[0].text


def test_keys_by_the_names_people_write():
    """Characters, names in any case, modifiers; what a terminal never sends as such is put
    right."""
    names = {
        "x": "x",
        "?": "question_mark",
        "/": "slash",
        "-": "minus",
        " ": "space",
        "Esc": "escape",
        "PgDn": "pagedown",
        "Ctrl+X": "ctrl+X",
        "alt+ctrl+x": "ctrl+alt+x",
        "shift+a": "A",
        "shift+tab": "shift+tab",
        "ctrl+/": "ctrl+slash",
        "ctrl++": "ctrl+plus",
        "question_mark": "question_mark",
        "F5": "f5",
        "é": "é",
        "hello": None,
        "": None,
        "ctrl+": None,
        "foo+x": None,
    }
    assert {name: key_name(name) for name in names} == names


def test_textual_knows_the_keys_by_these_names():
    """What `App.set_keymap` makes of a character is what we make of it."""
    from textual.keys import _character_to_key

    for character in map(chr, range(0x21, 0x7F)):
        assert key_name(character) == _character_to_key(character), character


def test_no_key_does_two_things():
    """Every action has keys that are keys, and no scope has one of them twice."""
    commands = known_commands()
    for command in commands:
        assert command.keys and all(key_name(key) == key for key in command.key_names)
    for scope in {command.scope for command in commands}:
        keys = [key for command in commands if command.scope == scope for key in command.key_names]
        assert len(keys) == len(set(keys)), scope


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_sample_sets_nothing_and_names_everything(spoken):
    """As it is it is TOML without a setting; without its # it sets every default, and nothing in it
    is wrong."""
    speak(spoken)
    try:
        text = sample()
    finally:
        speak("en")
    assert all(line == "[keys]" or line[:2] in ("", "#", "# ") for line in text.splitlines())
    assert tomllib.loads(text) == {"keys": {}}
    lines = [
        line[2:] if line.startswith("# ") and (" = " in line or "[[" in line) else line
        for line in text.splitlines()
    ]
    bare = "\n".join(line for line in lines if not line.startswith("#") and "action = " not in line)
    configuration = parse_config(bare, HERE)
    assert configuration.troubles == () and resolve_keymap(configuration)[1] == []
    assert {each.name for each in OPTIONS} <= set(tomllib.loads(bare))
    assert {each.name for each in OPTIONS} == set(Options._fields) - {"keys", "hosts"}
    bare_options = configuration.options._replace(keys={}, hosts=(), theme=None)
    assert bare_options == Options()._replace(keys={})
    assert configuration.options.hosts == (
        Host("vps", "me@vps.example.org", "hermes-browse", "/home/me/.hermes", "default"),
    )
    assert set(configuration.options.keys) == {each.id for each in known_commands() if each.id}


def test_a_key_of_a_card_is_in_nobody_elses_way():
    """What is below it has its keys, and other cards theirs; what holds over everything is in the
    way."""
    text = '[keys]\ndetails-copy = "j"\nraw-copy = "s"\n'
    text += 'preflight-resume = ["c", "ctrl+y"]\npreflight-copy-the-command = "y"\n'
    assert told(text) == []
    commands = {each.id: each for each in known_commands()}
    copy, palette = commands["details-copy"], commands["palette"]
    assert not any(
        can_meet(copy, commands[other]) for other in ("raw-back", "list-down", "doctor-back")
    )
    assert can_meet(copy, palette) and can_meet(palette, copy)


def test_columns():
    """Each once, in order, as far as they hold; the names are those that rows know."""
    assert parse_config(f"columns = {[*COLUMNS]}", HERE).options.columns == tuple(COLUMNS)
    assert parse_config('columns = ["cost", "age", "nope", "cost"]', HERE).options.columns == (
        "cost",
        "age",
    )


def test_how_long_the_trash_keeps_things():
    """For good, or for an age that no slip of the pen makes a short one."""
    assert (
        parse_config("", HERE).options.trash
        == "forever"
        == parse_config('trash = "forever"', HERE).options.trash
    )
    assert parse_config('trash = "12w"', HERE).options.trash == "12w"
    for text in ('trash = "12h"', 'trash = "0d"', 'trash = "soon"', "trash = 30", 'trash = ""'):
        assert parse_config(text, HERE).options.trash == "forever"
        assert told(text) == [(1, told(text)[0][1])] and "an age from 1d on" in told(text)[0][1]


def test_surfaces():
    """By source, as far as they hold."""
    options = parse_config('surface = { any = "tui", cli = "gui", telegram = "cli" }', HERE).options
    assert options.surface == {"any": "tui", "telegram": "cli"}


def test_the_folders_are_those_of_the_platform(monkeypatch, tmp_path):
    """Found without platformdirs, and the same."""
    for value in (None, "", str(tmp_path)):
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            if value is None:
                monkeypatch.delenv(name)
            else:
                monkeypatch.setenv(name, value)
        for kind in ("config", "state", "data", "log"):
            platform_folder = getattr(platformdirs, f"user_{kind}_path")
            assert user_folder(kind) == platform_folder("hermes-browse", appauthor=False)


def test_what_is_remembered_comes_back_and_is_private(tmp_path):
    """Written in one step, readable by nobody else; nothing stays beside it."""
    path = tmp_path / "state" / "browser.json"
    memory = LastState(View.ARCHIVED, Sort.TITLE, True, "nord")
    assert write_memory(path, memory) and read_memory(path) == memory
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["browser.json"]
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert not write_memory(blocked / "browser.json", memory)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"view": "nowhere", "sort": 3, "theme": []}',
        b"[" * 9_000,
        b" " * 20_000,
    ],
)
def test_a_damaged_memory_is_none(tmp_path, raw):
    """As on a first start; a part that makes sense would be kept."""
    path = tmp_path / "browser.json"
    path.write_bytes(raw)
    assert read_memory(path) == LastState()
    path.write_bytes(b'{"view": "all", "sort": "size", "reverse": 1, "theme": "nord"}')
    assert read_memory(path) == LastState(View.ALL, Sort.SIZE, False, "nord")
