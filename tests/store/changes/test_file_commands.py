"""What commands of a terminal and programs may have changed: which files they name, where a command
goes, which edits a program makes."""

import subprocess
import sys

import pytest

from hermes_browse.store.changes.commands import names_in, read_line, read_program

READING = (
    "ls -la", "cat a.txt | grep x", "cat a 2>/dev/null", "make_sure=1 ls", "grep 'a > b' file",
    "git status && git diff", "git log -1 --format='%h %s'", "sed -n 1,20p file", "find . -name '*.py'",
    "echo done 2>&1", "rg todo src\nls", "cd src && pwd", "# rm x\nls # rm x", "/usr/bin/ls a#b", "tree -L 2",
)  # fmt: skip
CHANGING = (
    "echo x > file", "echo x >> file", "sed -i s/a/b/ file", "mv a b", "rm -rf build", "git checkout x",
    "git -c alias.log='!rm x' log", "python script.py", "make", "pytest -q", "ls; touch x", "ls | xargs rm",
    "find . -delete", "cat <<EOF > f\nx\nEOF", "echo `rm x`", "echo $(rm x)", "env X=1 make",
    "sort -o file file", "awk '{print > \"x\"}' file", "sudo ls", "black .", "# fix\nsed -i s/a/b/ f", "ls # a\nrm x",
    "cat a#b; rm x", "script/test", "sort -uo out in", "sed -n '/x/w out' f", "uniq in out", "cat f >(tee x)",
    "awk '{print | \"tee x\"}' f", "git diff --outp=x", "rg --pre ./x todo", "cat <<'E' > f\ndon't # x\nE",
    "echo " + "x" * 1_000_000 + " | base64 -d > f",
)  # fmt: skip


def changed_names(line):
    """What a shell line names to change it; None if it only reads."""
    return read_line(line)[0]


@pytest.mark.parametrize("command", (*READING, *CHANGING))
def test_what_may_change_files(command):
    assert (changed_names(command) is not None) is (command in CHANGING)


@pytest.mark.parametrize(
    "command", ["", ";", "\n\n", "&& > x", ">", "| |", "A=1", "git", "(", "2>"]
)
def test_odd_commands(command):
    assert isinstance(changed_names(command), set | None)


@pytest.mark.parametrize(
    "command",
    [
        *("sed -Ei s/a/b/ f", "sed --in-place=.old 's/a b/c/' f", "perl -0pi -e s/a/b/ src/f"),
        *("sudo rm f", "env X=1 mv f g", "timeout 5 rm f", "if x; then rm f; fi", "dd of=f"),
        *("# don't\nrm f", "echo a#b > f", "cat > f <<E\ndon't\nE", "bash -c 'rm f'", "rm -r f/"),
        "echo '" + "x" * 60_000 + "' > f",
    ],
)
def test_a_command_names_the_file(command):
    assert "f" in (changed_names(command) or ())


def test_what_is_no_command_names_no_file():
    """A message that has the words of one, and a search for them."""
    assert not changed_names("git commit -qm 'rm the tests and patch api' && grep rm api")


@pytest.mark.parametrize(
    ("command", "place"),
    [("cd /w/api && ls", "/w/api"), ("ls; cd", "~"), ("(cd 'a b'; x)", "a b"), ("echo cd", None)],
)
def test_where_a_command_goes(command, place):
    assert read_line(command)[1] == place


def test_files_that_a_command_names_to_change_them():
    assert changed_names("cd src && sed -i s/a/b/ app.py; cat other.py > new.py") >= {
        "app.py",
        "new.py",
    }
    assert "other.py" not in changed_names("cat other.py > new.py")
    assert "test_app.py" not in changed_names("pytest tests/test_app.py")


@pytest.mark.parametrize(
    "code",
    [
        "from hermes_tools import write_file\ntext = 'a\\n'\nwrite_file('x.txt', content=text)\n",
        "text = 'b'\ntext = 'a\\n'\nwrite_file('x.txt', text)",
        "text = 'a\\n'\nfrom hermes_tools import write_file\nwrite_file('x.txt', text)",
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
    calls, changes_no_other = read_program(code)
    assert not [arguments for _name, arguments in calls if "path" in arguments]
    assert not changes_no_other


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
    assert not read_program(code)[1] and "f" in names_in(code)


@pytest.mark.parametrize("code", ["import made_here", "import os, made_here", "not python ("])
def test_a_program_that_is_not_known(code):
    assert not read_program(code)[1] and names_in(code) == set()


def test_a_program_that_only_reads():
    code = "from hermes_tools import read_file\nprint(len(read_file('x')['content'].split()))"
    assert read_program(code)[1]


def test_what_python_says_of_a_program_is_not_printed():
    """It warns of an escape that is none; the words of a store must not reach the terminal so."""
    code = (
        "from hermes_browse.store.changes.commands import read_program\n"
        "print(read_program(chr(39) + chr(92) + 'd' + chr(39))[1])"
    )
    command = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
