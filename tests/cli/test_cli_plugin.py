"""`hermes browse`: the entry point, what is read of the arguments, and the real Hermes running
it."""

import json
import subprocess
import sys
import tomllib
from importlib.util import find_spec

import pytest
from commandline import copy_store, for_hermes
from paths import ROOT
from platforms import python

import hermes_browse.tui.cli.list  # noqa: F401  (a command that is named like a builtin)
from hermes_browse.tui.cli import arguments_for

GROUP = "hermes_agent.plugins"
needs_hermes = pytest.mark.skipif(find_spec("hermes_cli") is None, reason="needs hermes-agent")

# The installed metadata of a checkout may be older than its pyproject.toml, and Hermes puts its own
# folder of libraries first, so the distribution under test goes before that.
_HERMES = "import sys; site = sys.argv.pop(1); from hermes_cli.main import main; sys.path.insert(0, site); main()"


@pytest.fixture
def site(tmp_path):
    """A folder with the metadata that an installation writes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "hermes_browse-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: hermes-browse\nVersion: 0\n", encoding="utf-8"
    )
    lines = [f"{name} = {value}" for name, value in project["entry-points"][GROUP].items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]), encoding="utf-8")
    return info.parent


def hermes(site, root, *arguments):
    """Run the real Hermes on a root, away from the network."""
    return subprocess.run(
        [sys.executable, "-c", _HERMES, str(site), *arguments],
        env=for_hermes(HERMES_HOME=str(root), HOME=str(root.parent), COLUMNS="200"),
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
@needs_hermes
def test_one_command_enables_it_and_hermes_runs_it(site, tmp_path):
    """Unknown before; afterwards the profile that Hermes has settled on is shown, by option, by
    habit, and by force."""
    root = tmp_path / "hermes"
    copy_store("state-v22", root)
    copy_store("state-v31", root / "profiles" / "coder")
    before = hermes(site, root, "browse", "list")
    assert before.returncode == 2
    assert "invalid choice: 'browse'" in before.stderr

    told = hermes(
        site, root, "plugins", "enable", "hermes-browse"
    )  # a question it may ask finds no one to answer
    assert told.returncode == 0, told.stderr
    assert "enabled" in told.stdout
    (root / "profiles" / "coder" / "config.yaml").write_bytes((root / "config.yaml").read_bytes())

    def store(*arguments):
        done = hermes(site, root, *arguments)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["store"]["path"])

    assert store("browse", "list", "--json") == str(root / "state.db")
    coders = str(root / "profiles" / "coder" / "state.db")
    assert store("-p", "coder", "browse", "list", "--json") == coders
    assert store("browse", "list", "--json", "--profile", "coder") == coders
    (root / "active_profile").write_text("coder", encoding="utf-8")
    assert store("browse", "list", "--json") == coders
    assert store("-p", "default", "browse", "list", "--json") == str(root / "state.db")
    assert not store("browse", "--demo", "list", "--json").startswith(str(root))


@pytest.mark.slow
@needs_hermes
def test_options_help_and_exit_codes_are_ours(site, tmp_path):
    """Hermes reads nothing of what follows, and hands our exit code on."""
    root = tmp_path / "hermes"
    copy_store("state-v22", root)
    (root / "config.yaml").write_text("plugins:\n  enabled: [hermes-browse]\n", encoding="utf-8")
    assert "--print-command" in hermes(site, root, "browse", "--help").stdout
    missing = hermes(site, root, "browse", "show", "--", "-no-such-id")
    assert missing.returncode == 4
    assert "-no-such-id" in missing.stderr
    assert hermes(site, root, "browse", "list", "--view", "nonsense").returncode == 2


@pytest.mark.parametrize(
    "typed, given",
    [
        ([], ["--home", "/h"]),
        (["list"], ["--home", "/h", "list"]),
        (["--demo", "list"], ["--demo", "list"]),
        (["list", "--host", "vps"], ["list", "--host", "vps"]),
        (["list", "--db", "x"], ["list", "--db", "x"]),
        (["--home=/other"], ["--home=/other"]),
        (["search", "--", "--demo"], ["--home", "/h", "search", "--", "--demo"]),
    ],
)
def test_the_home_hermes_settled_on_is_said_unless_a_store_is_named(typed, given):
    """A sticky profile must not win over `hermes -p default browse`."""
    assert arguments_for(typed, "/h") == given
    assert arguments_for(typed, "") == typed


def test_loading_it_imports_next_to_nothing():
    """Hermes loads it in every process, gateways too."""
    code = (
        "import sys, hermes_browse.tui.cli\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('textual', 'rich', 'sqlite3')"
        " or n.startswith(('hermes_browse.store', 'hermes_browse.tui.cli.entry'))])"
    )
    assert python(code).strip() == "[]"
