"""The layering, held by the code itself: one direction of imports, and nothing heavy where it does not belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("store", "tui")
UI_ONLY = ("app", "screens", "widgets", "launch", "worker")
ON_A_TERMINAL = "terminal"
"""The one module of the command line that uses Rich; imported inside functions, when there is a terminal."""


def sources(part: str) -> list[Path]:
    """Python files of a folder."""
    return sorted((ROOT / part).rglob("*.py"))


def imports(path: Path, *, top_only: bool = False) -> Iterator[tuple[str, int]]:
    """Modules a file imports, each with the number of leading dots."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


@pytest.mark.parametrize("path", sources("store"), ids=str)
def test_the_store_stands_on_the_standard_library_alone(path: Path) -> None:
    """No third-party module, and nothing of the screen."""
    for module, level in imports(path):
        name = module.split(".")[0]
        assert level or name in sys.stdlib_module_names, f"{path} imports {module}"


@pytest.mark.parametrize("path", [each for part in PARTS for each in sources(part)], ids=str)
def test_relative_inside_a_folder_absolute_across(path: Path) -> None:
    """Type checkers see a class twice otherwise."""
    part = path.relative_to(ROOT).parts[0]
    depth = len(path.relative_to(ROOT).parts) - 1
    for module, level in imports(path):
        assert level <= depth, f"{path} leaves its folder by a relative import of {module}"
        if part == "tui" and module.startswith("hermes_browse.tui"):
            # Screens are imported by name where the command line must not import them at its top.
            assert "cli" in path.parts, f"{path} imports {module} absolutely"
        assert not (part == "store" and module.startswith("hermes_browse")), f"{path} imports {module}"


@pytest.mark.parametrize("path", sources("tui"), ids=str)
def test_the_screen_knows_no_sql(path: Path) -> None:
    """SQL lives in the store."""
    assert not any(module.split(".")[0] == "sqlite3" for module, _ in imports(path))
    text = path.read_text(encoding="utf-8")
    assert not any(f"{word} " in text for word in ("SELECT", "INSERT INTO", "DELETE FROM", "PRAGMA")), path


@pytest.mark.parametrize("path", sources("tui/cli"), ids=str)
def test_the_command_line_knows_no_screen(path: Path) -> None:
    """No screen of ours at the top of its modules, Rich in one only, and Textual nowhere, not even in functions."""
    for module, level in imports(path, top_only=True):
        name = module.split(".")[0] if level else module.rpartition(".")[2]
        assert name not in (*UI_ONLY, ON_A_TERMINAL), f"{path} imports {module}"
        assert module.split(".")[0] != "rich" or path.stem == ON_A_TERMINAL, f"{path} imports {module}"
    assert not any(module.split(".")[0] == "textual" for module, _ in imports(path)), f"{path} imports Textual"


def test_widgets_know_neither_screens_nor_readers() -> None:
    """Widgets are given what they show."""
    for path in sources("tui/widgets"):
        for module, _ in imports(path):
            assert not module.startswith(("screens", "worker", "hermes_browse.store.connect")), f"{path}: {module}"


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
        "import hermes_browse.store.catalog, hermes_browse.store.search, hermes_browse.store.lineage"
    )
    third_party = {name for name in loaded - before if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert third_party <= {"hermes_browse"}
