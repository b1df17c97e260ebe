"""The layering, held by the code itself: one direction of imports, and nothing heavy where it does not belong."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
UI_ONLY = ("app", "screens", "widgets", "launch", "worker")
ON_A_TERMINAL = "terminal"
"""The one module of the command line that uses Rich; imported inside functions, when there is a terminal."""


class Import(NamedTuple):
    """An import statement of a source file."""

    path: Path
    """Of the file, from the root."""
    module: str
    """What is imported from."""
    level: int
    """Leading dots."""
    is_at_top: bool
    """Whether it runs when the file is imported."""


@functools.cache
def imports_of(folder: str) -> tuple[Import, ...]:
    """Every import in the Python files of a folder."""
    return tuple(_read_imports(folder))


def _read_imports(folder: str) -> Iterator[Import]:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, folder
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(path.relative_to(ROOT), alias.name, 0, node in tree.body)
            elif isinstance(node, ast.ImportFrom):
                yield Import(path.relative_to(ROOT), node.module or "", node.level, node in tree.body)


def test_the_store_stands_on_the_standard_library_alone() -> None:
    """No third-party module, and nothing of the screen."""
    foreign = [each for each in imports_of("store") if not each.level]
    assert [each for each in foreign if each.module.split(".")[0] not in sys.stdlib_module_names] == []


def test_relative_inside_a_folder_absolute_across() -> None:
    """Type checkers see a class twice otherwise."""
    for each in (*imports_of("store"), *imports_of("tui")):
        assert each.level < len(each.path.parts), f"a relative import leaves its folder: {each}"
    absolute = [each for each in imports_of("store") if each.module.startswith("hermes_browse") and not each.level]
    # Screens are imported by name where the command line must not import them at its top.
    of_screens = [each for each in imports_of("tui") if "cli" not in each.path.parts]
    absolute += [each for each in of_screens if each.module.startswith("hermes_browse.tui")]
    assert absolute == []


def test_the_screen_knows_no_sql() -> None:
    """SQL lives in the store."""
    assert [each for each in imports_of("tui") if each.module.split(".")[0] == "sqlite3"] == []
    for path in sorted((ROOT / "tui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not any(f"{word} " in text for word in ("SELECT", "INSERT INTO", "DELETE FROM", "PRAGMA")), path


def test_the_command_line_knows_no_screen() -> None:
    """No screen of ours at the top of its modules, Rich in one only, and Textual nowhere, not even in functions."""
    for each in imports_of("tui/cli"):
        package = each.module.split(".")[0]
        assert package != "textual", each
        if each.is_at_top:
            name = package if each.level else each.module.rpartition(".")[2]
            assert name not in (*UI_ONLY, ON_A_TERMINAL), each
            assert package != "rich" or each.path.stem == ON_A_TERMINAL, each


def test_widgets_know_neither_screens_nor_readers() -> None:
    """Widgets are given what they show."""
    forbidden = ("screens", "worker", "hermes_browse.store.connect")
    assert [each for each in imports_of("tui/widgets") if each.module.startswith(forbidden)] == []


def modules_after(code: str) -> set[str]:
    """Top-level modules loaded in a fresh interpreter that ran some code."""
    script = f"import sys\n{code}\nprint('\\n'.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["--demo", "list"], ["--demo", "search", "boat"]])
def test_commands_load_no_textual(arguments: list[str]) -> None:
    """Scripts do not pay for a screen they never see; in a pipe not even for Rich."""
    loaded = modules_after(f"from hermes_browse.tui.cli import main\nmain({arguments!r})")
    assert not loaded & {"textual", "rich", "platformdirs", "markdown_it", "pygments"}


def test_the_store_loads_nothing_else() -> None:
    """Importing the reading half brings the standard library only."""
    before = modules_after("import sqlite3")
    loaded = modules_after(
        "import hermes_browse.store.sessions.catalog, hermes_browse.store.search, hermes_browse.store.sessions.lineage"
    )
    third_party = {name for name in loaded - before if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert third_party <= {"hermes_browse"}
