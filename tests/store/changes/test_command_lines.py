"""Which shell lines may have changed files, which they name, and where they go."""

import pytest

from hermes_browse.store.changes.commands import changed_names, moved_to

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


@pytest.mark.parametrize("command", READING)
def test_reads(command):
    assert changed_names(command) is None


@pytest.mark.parametrize("command", CHANGING)
def test_may_change(command):
    assert changed_names(command) is not None


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
    assert moved_to(command) == place


def test_files_that_a_command_names_to_change_them():
    assert changed_names("cd src && sed -i s/a/b/ app.py; cat other.py > new.py") >= {
        "app.py",
        "new.py",
    }
    assert "other.py" not in changed_names("cat other.py > new.py")
    assert "test_app.py" not in changed_names("pytest tests/test_app.py")
