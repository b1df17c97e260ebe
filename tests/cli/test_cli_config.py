"""`config`: a sample that overwrites nothing, the path, and what holds."""

from commandline import ask, call
from user_config import write_config

from hermes_browse.tui.settings.folders import config_path
from hermes_browse.tui.settings.keymap import sample


def test_init_writes_a_sample_once():
    """5 for a file that is there: it is the user's."""
    ended = call("config init")
    assert ended.code == 0 and str(config_path()) in ended.out
    assert config_path().read_text(encoding="utf-8") == sample()
    write_config("mine")
    ended = call("config init")
    assert ended.code == 5 and "stays as it is" in ended.err and config_path().read_text() == "mine"
    config_path().unlink()
    assert ask("config init") == {"path": str(config_path()), "written": True}


def test_init_where_nothing_can_be_written(tmp_path, monkeypatch):
    """A sentence, no failure."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    ended = call("config init")
    assert ended.code == 5 and "could not be written" in ended.err


def test_path():
    """There or not."""
    assert call("config path").out.strip() == str(config_path())
    assert ask("config path") == {"path": str(config_path()), "exists": False}


def test_show():
    """Options and keys as they hold, and every trouble with its line; no store is looked for."""
    write_config('theme = "nord"\nmuose = 1\n[keys]\nhelp = "f1"\nsort = "j"\n')
    for what in ([], ["show"]):
        document = ask("--home /nowhere config", *what)
        assert document["exists"] and document["path"] == str(config_path())
        assert document["options"]["theme"] == "nord" and document["options"]["mouse"] is True
        assert document["keys"]["help"] == ["f1"] and document["keys"]["search"] == ["slash"]
        assert [each["line"] for each in document["problems"]] == [2, 5, 5, 5]
    people = call("config")
    assert people.code == 0 and 'theme = "nord"' in people.out and 'help = ["f1"]' in people.out
    assert f"{config_path()}, line 2: there is no option “muose”" in people.err


def test_show_of_hosts():
    """As they hold, in the words of the file."""
    write_config("[[hosts]]\nname = 'vps'\nssh = '-o X=\"a b\" me@vps'\n")
    host = {
        "name": "vps",
        "ssh": '-o X="a b" me@vps',
        "command": "hermes-browse",
        "home": "",
        "profile": "",
    }
    assert ask("config")["hosts"] == [host]
    assert 'name = "vps"\nssh = "-o X=\\"a b\\" me@vps"\ncommand =' in call("config").out


def test_show_without_a_file():
    """The defaults, and how to get a sample."""
    document = ask("config")
    assert (
        not document["exists"]
        and document["problems"] == []
        and document["options"]["mouse"] is True
    )
    assert "config init" in call("config").out
