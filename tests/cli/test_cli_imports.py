"""Commands start fast because they do without Textual, and Rich is there for terminals only."""

import subprocess
import sys

import pytest
from commandline import copy_store
from platforms import posix_only, python
from terminal import Terminal

from hermes_browse.tui.cli.registry import COMMANDS

_PROGRAM = """
import contextlib, io, sys
from hermes_browse.tui.cli import main
for line in sys.stdin.read().splitlines():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(line.split())
    assert code in (0, 5), (line, code)
    roots = {name.split(".")[0] for name in sys.modules}
    slow = roots.intersection(sys.argv[1:])
    assert not slow, (line, slow)
"""
_SLOW = ("textual", "rich", "asyncio", "importlib_metadata", "markdown_it")


def do_without(packages, lines):
    """Run command lines, one after the other in one process; they import none of these packages."""
    command, text = [sys.executable, "-c", _PROGRAM, *packages], "\n".join(lines)
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "--json"], ids=["people", "json"])
def test_no_command_imports_textual(tmp_path, options):
    """Nor Rich, when its output goes into a pipe."""
    copy_store("state-v22", tmp_path)
    commands = [
        "list",
        "search walrus",
        "show Rewound",
        "lineage Rewound",
        "compactions Rewound --lost",
        "context Rewound",
        f"export Rewound --format html --output {tmp_path / 'page.html'} --force",
        "resume Rewound --print",
        "profiles",
        "doctor",
        "archive Rewound",
        "unarchive Rewound",
    ]
    do_without(_SLOW, [f"--home {tmp_path} {each} {options}" for each in commands])


@pytest.mark.slow
def test_help_and_the_demo_neither():
    """Help and the sample store are plain Python."""
    do_without(_SLOW, ["--demo list", "--demo list --json", "list --help", "--help"])


def imported(line):
    """The modules that a command line imports."""
    program = (
        "import contextlib, io, sys\n"
        "from hermes_browse.tui.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    main(sys.argv[1:])\n"
        "print(*sys.modules)\n"
    )
    return python(program, *line.split()).split()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line, wanted",
    [
        ("--help", set()),
        ("show --help", {"show"}),
        ("--demo lineage nothing", {"lineage"}),
        ("unpin x", {"edit"}),
    ],
)
def test_only_the_command_that_runs_is_imported(line, wanted):
    """Each has its own dependencies, and nobody waits for those of the others."""
    modules = {place.partition(".")[0] for place, _help in COMMANDS.values()}
    loaded = imported(line)
    assert {name for name in modules if f"hermes_browse.tui.cli.{name}" in loaded} == wanted


@pytest.mark.parametrize(
    "line, other",
    [("--demo list", "store.since"), ("profiles", "text.checkup"), ("config path", "text.checkup")],
)
def test_commands_do_not_wait_for_what_others_need(line, other):
    """A list does not load what `since` needs, `profiles` and `config` not what `doctor` does."""
    assert not [name for name in imported(line) if other in name]


def test_the_version_needs_next_to_nothing():
    """It is asked by scripts and package managers: not even the arguments are parsed."""
    do_without((*_SLOW, "sqlite3", "argparse"), ["--version"])


@pytest.mark.slow
@posix_only
def test_on_a_terminal_rich_but_not_textual(tmp_path):
    """Tables on a terminal come from Rich alone."""
    copy_store("state-v22", tmp_path)
    program = (
        "import sys\nfrom hermes_browse.tui.cli import main\nmain(sys.argv[1:])\n"
        "roots = {name.split('.')[0] for name in sys.modules}\n"
        "print('roots:', *sorted(roots))"
    )
    for command in ("list", "search walrus", "show Rewound", "lineage Rewound", "profiles"):
        terminal = Terminal(["--home", str(tmp_path), *command.split()], code=program)
        terminal.wait_for_end()
        roots = terminal.raw.decode().split("roots: ")[1].split()
        assert "rich" in roots and "textual" not in roots
