"""Which edits a program names, and whether it changes more."""

import subprocess
import sys

import pytest

from hermes_browse.store.changes.commands import program_names, read_program


@pytest.mark.parametrize(
    "code",
    [
        "from hermes_tools import write_file\ntext = 'a\\n'\nwrite_file('x.txt', content=text)\n",
        "text = 'b'\ntext = 'a\\n'\nwrite_file('x.txt', text)",
    ],
)
def test_edits_of_a_program(code):
    calls = [("write_file", {"path": "x.txt", "content": "a\n"})]
    assert read_program(code) == (calls, True)


@pytest.mark.parametrize(
    "code",
    [
        "for name in names:\n    write_file(name, 'a')",
        "write_file(path(), 'a')",
        "text = 'a'\nfor text in texts: print(text)\nwrite_file('x', text)",
        "if x:\n    write_file('x', 'a')",
        "open('x', 'w').write('a')",
        "import os\nos.remove('x')",
        "patch(mode='patch', patch='*** Begin Patch')",
        "not python (",
    ],
)
def test_programs_whose_edits_are_not_known(code):
    assert read_program(code) == ([], False)


@pytest.mark.parametrize(
    "code",
    [
        "from hermes_tools import write_file\nwrite_file('f', text)",
        "patch(mode='patch', patch='*** Update File: f')",
        "open('f', 'w').write('a')",
        "import os\nos.remove('f')",
        "import subprocess\ntools[0]('f')",
    ],
)
def test_a_program_names_what_it_may_change(code):
    assert "f" in program_names(code)


@pytest.mark.parametrize("code", ["import made_here", "import os, made_here", "not python ("])
def test_a_program_that_is_not_known(code):
    assert program_names(code) == set()


def test_a_program_that_only_reads():
    code = "from hermes_tools import read_file\nprint(len(read_file('x')['content'].split()))"
    assert program_names(code) is None


def test_what_python_says_of_a_program_is_not_printed():
    """It warns of an escape that is none; the words of a store must not reach the terminal so."""
    code = (
        "from hermes_browse.store.changes.commands import read_program\n"
        "print(read_program(chr(39) + chr(92) + 'd' + chr(39))[1])"
    )
    command = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
