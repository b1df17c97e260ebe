"""The layering, held by the code itself: one direction of imports, and nothing heavy where it does
not belong."""

from __future__ import annotations

import ast
import functools
import graphlib
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from paths import ROOT

from hermes_browse.tui.browser.panes import IMPORTS, load
from hermes_browse.tui.terminal.textual_private import READ_IN

FLOORS = (
    *("cli", "start", "app", "screens", "browser", "widgets", "work", "text", "terminal"),
    "settings",
)
"""The folders of `tui/`, and its application; each imports only what stands after it."""
UI_ONLY = (*FLOORS[1:6], "work")
ON_A_TERMINAL = "rich_output"
"""The one module of the command line that uses Rich; imported inside functions, when there is a
terminal."""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Import(NamedTuple):
    """An import statement of a source file."""

    path: Path
    """Of the file, from the root."""
    module: str
    """What is imported from."""
    names: frozenset[str]
    """What is imported, or nothing for a whole module."""
    level: int
    """Leading dots."""
    is_at_top: bool
    """Whether it runs when the file is imported."""
    is_in_function: bool


@functools.cache
def trees_of(folder):
    """The syntax of the Python files of a folder, by their path from the root."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, folder
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in files}


@functools.cache
def imports_of(folder):
    """Every import in the Python files of a folder."""
    return tuple(_read_imports(folder))


def _read_imports(folder):
    for path, tree in trees_of(folder).items():
        nodes, at_top = list(ast.walk(tree)), {*tree.body}
        functions = [each for each in nodes if isinstance(each, _FUNCTIONS)]
        inside = {node for each in functions for node in ast.walk(each)}
        for node in nodes:
            places = node in at_top, node in inside
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(path, alias.name, frozenset(), 0, *places)
            elif isinstance(node, ast.ImportFrom):
                names = frozenset(alias.name for alias in node.names)
                yield Import(path, node.module or "", names, node.level, *places)


def test_the_store_stands_on_the_standard_library_and_pyyaml():
    """No other third-party module, nothing of the screen; PyYAML only for the settings of Hermes,
    msgspec only for what travels to other machines, platformdirs only where Linux does without."""
    foreign = [each for each in imports_of("store") if not each.level]
    others = [each for each in foreign if each.module.split(".")[0] not in sys.stdlib_module_names]
    assert {(str(each.path), each.module) for each in others if each.module != "msgspec"} == {
        ("store/cleanup/retention.py", "yaml"),
        ("store/files.py", "platformdirs"),
    }
    of_hosts = {str(each.path.parent) for each in others if each.module == "msgspec"}
    assert of_hosts == {"store/hosts"}


def test_nothing_is_needed_that_is_not_used():
    """Every dependency is imported by a module, and every import is of a dependency, ours or the
    standard library's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    called = {"markdown-it-py": "markdown_it", "pyyaml": "yaml"}
    names = {Requirement(text).name for text in project["dependencies"]}
    every = (*imports_of("store"), *imports_of("tui"))
    imported = {each.module.split(".")[0] for each in every if not each.level}
    assert imported - sys.stdlib_module_names - {"hermes_browse"} == {
        called.get(name, name) for name in names
    }


def test_relative_inside_a_folder_absolute_across():
    """Type checkers see a class twice otherwise."""
    for each in (*imports_of("store"), *imports_of("tui")):
        assert each.level < len(each.path.parts), f"a relative import leaves its folder: {each}"
    absolute = [
        each
        for each in imports_of("store")
        if each.module.startswith("hermes_browse") and not each.level
    ]
    # Screens are imported by name where the command line must not import them at its top.
    of_screens = [each for each in imports_of("tui") if "cli" not in each.path.parts]
    absolute += [each for each in of_screens if each.module.startswith("hermes_browse.tui")]
    assert absolute == []


def test_the_screen_knows_no_sql():
    """SQL lives in the store."""
    assert [each for each in imports_of("tui") if each.module.split(".")[0] == "sqlite3"] == []
    for path in sorted((ROOT / "tui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not any(
            f"{word} " in text for word in ("SELECT", "INSERT INTO", "DELETE FROM", "PRAGMA")
        ), path


def test_the_screen_reads_through_the_facade():
    """It imports the façade and the plain data that this returns, no function that takes a
    connection."""
    taking = {
        node.name
        for tree in trees_of("store").values()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and "reader" in {each.arg for each in node.args.args}
    }
    assert {"read_outline", "make_plan", "read_catalog"} <= taking
    for each in imports_of("tui"):
        if "cli" not in each.path.parts and each.module.startswith("hermes_browse.store"):
            assert not each.names & {*taking, "Reader", "Search"}, each


def _floor(path):
    """The folder of `tui/` in which a module stands, or its own name."""
    return path.with_suffix("").parts[1]


def test_the_folders_of_the_screen_are_floors():
    """No import runs back up, not even in a function or for type checkers; `browser/panes.py` names the
    screens that keys open."""
    folders = {each.stem for each in (ROOT / "tui").iterdir() if list(each.glob("*.py"))}
    assert folders | {"app", "start"} == set(FLOORS)
    below = {floor: set(FLOORS[number:]) for number, floor in enumerate(FLOORS)}
    graph = {
        path: {each for each in imported if each.parts[0] == "tui"}
        for path, imported in _imports_of_ours().items()
        if path.parts[0] == "tui" and not path.name.startswith("__")
    }
    assert len(graph) > 100
    back_up = {
        (path, each)
        for path, imported in graph.items()
        for each in imported
        if _floor(each) not in below[_floor(path)] and each != Path("tui/__init__.py")
    }
    assert back_up == set()


def test_the_command_line_knows_no_screen():
    """No screen of ours at the top of its modules, Rich in one only, and Textual nowhere, not even
    in functions."""
    for each in imports_of("tui/cli"):
        package = each.module.split(".")[0]
        assert package != "textual", each
        if each.is_at_top:
            name = (
                package
                if each.level
                else each.module.removeprefix("hermes_browse.tui.").split(".")[0]
            )
            assert name not in (*UI_ONLY, ON_A_TERMINAL), each
            assert package != "rich" or each.path.stem == ON_A_TERMINAL, each


def test_private_names_of_textual_stand_in_one_module():
    """With the version in which they were read: a newer one is used when they have been looked at
    again."""
    private = [each for each in imports_of("tui") if each.module.startswith("textual._")]
    assert {each.path.as_posix() for each in private} == {"tui/terminal/textual_private.py"}
    assert f"textual=={READ_IN} " in (ROOT / "requirements.lock").read_text(encoding="utf-8")


IN_FUNCTIONS = 25
"""Imports inside functions."""


@functools.cache
def _imports_of_ours():
    """By module what it imports of ours: at its top, in functions, and for type checkers alone."""
    paths = (*trees_of("store"), *trees_of("tui"))
    modules = {_module(path): path for path in paths}
    graph = {path: set() for path in paths}
    for each in (*imports_of("store"), *imports_of("tui")):
        package = ["hermes_browse", *each.path.parts[:-1]]
        base = package[: len(package) - each.level + 1] if each.level else []
        module = ".".join([*base, *filter(None, [each.module])])
        for name in each.names:
            found = modules.get(f"{module}.{name}") or modules.get(module)
            graph[each.path] |= {found} - {None, each.path}
    return graph


def _module(path):
    """The name under which a file is imported."""
    return ".".join(["hermes_browse", *path.with_suffix("").parts]).removesuffix(".__init__")


def test_no_module_imports_itself_by_way_of_others():
    """A circle cannot be understood from any of its ends, and only loads in one order."""
    graph = _imports_of_ours()
    assert sum(map(len, graph.values())) > 1_000
    graphlib.TopologicalSorter(graph).prepare()  # an error names the circle


@pytest.mark.parametrize("name", IMPORTS)
def test_every_name_leads_somewhere(name):
    """Type checkers do not follow a name in a table."""
    assert callable(load(name))


def test_few_modules_are_imported_in_functions():
    """Only what a start or a command would wait for without need; what the façade needs is imported
    by `store/later.py`."""
    every = (*imports_of("store"), *imports_of("tui"))
    inside = [each for each in every if each.is_in_function]
    assert len(inside) <= IN_FUNCTIONS


def test_no_class_has_the_name_of_another():
    """A name that is searched for leads to one place; `Found` was six things in 0.1.0."""
    names = Counter(
        node.name
        for folder in ("store", "tui")
        for tree in trees_of(folder).values()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
