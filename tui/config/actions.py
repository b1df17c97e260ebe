"""The actions that keys can be given to, with the keys they have.

The tables of bindings are the one place where they are written down, and they stand in modules of the screen. The
command line must know them too (a sample, a check of the file) but never loads Textual, so they are read there as text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_TUI = Path(__file__).resolve().parent.parent
MAIN, APP = "main", "app"
PANES = {"ConversationList": "list", "TranscriptView": "transcript"}
"""Widgets whose keys can be changed, with what their actions' names begin with."""

SCREENS = {
    "PruneScreen": "prune",
    "TrashScreen": "trash",
    "RetentionScreen": "retention",
    "InsightsScreen": "insights",
    "DoctorScreen": "doctor",
    "EverywhereScreen": "everywhere",
}
"""Screens behind the main one whose keys can be changed, with what their actions' names begin with: the names of their
modules."""

CARDS = {
    "HelpScreen": "help",
    "RawScreen": "raw",
    "ReferencesScreen": "references",
    "ProfilesScreen": "profiles",
    "SearchesScreen": "searches",
    "DetailsScreen": "details",
    "ExportScreen": "exporting",
    "ReclaimScreen": "reclaim",
    "PreflightScreen": "preflight",
    "RenameScreen": "renaming",
    "ProgressScreen": "progress",
    "DeleteScreen": "deleting",
    "DropScreen": "dropping",
}
"""Cards, with what their actions' names begin with: the names of their modules."""
_MODULES = {
    "profiles": "profiles_card",
    "raw": "transcript/cards.py",
    "details": "transcript/cards.py",
    "references": "transcript/references.py",
}
"""Those that are called otherwise."""


class Action(NamedTuple):
    """Something a key does."""

    name: str
    """What a keymap calls it; empty for a key that cannot be changed."""
    scope: str
    """`main`, `app`, the screen or card, or the pane that has to have the focus."""
    keys: tuple[str, ...]
    """The keys it has by itself, in Textual's names."""
    help: str
    """What it does."""

    def meets(self, other: Action) -> bool:
        """Whether both can be asked for by one key press."""
        scopes = {self.scope, other.scope}
        if scopes.intersection(CARDS.values()):  # nothing below a card gets its keys
            return len(scopes) == 1 or APP in scopes
        if scopes.intersection(SCREENS.values()):  # none is over another, and what they have of panes is the list
            return len(scopes) == 1 or bool(scopes & {APP, PANES["ConversationList"]})
        return len(scopes) == 1 or not scopes <= set(PANES.values())


def pane_action(pane: str, description: str) -> str:
    """The name of an action of a pane: `list-page-down`."""
    return f"{pane}-{'-'.join(re.findall('[a-z0-9]+', description.lower()))}"


def _constant(node: ast.AST) -> object:
    """What stands there, also as a text that is to be translated; empty for what is worked out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "N_":
        node = node.args[0]
    return node.value if isinstance(node, ast.Constant) else ""


def _bindings(node: ast.AST, scope: str) -> Iterator[Action]:
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Binding"):
            continue
        plain = [_constant(each) for each in call.args]
        named = {each.arg: _constant(each.value) for each in call.keywords}
        keys, _, description = (str(each) for each in [*plain, "", "", ""][:3])
        if not keys:  # worked out while the program runs, like 1 to 5: these stay as they are
            continue
        name = str(named.get("id") or (pane_action(scope, description) if scope not in (MAIN, APP) else ""))
        yield Action(name, scope, tuple(keys.split(",")), str(named.get("tooltip") or description))


def _tables(trees: Iterable[ast.Module]) -> dict[str, ast.expr]:
    """Lists of bindings that stand by themselves, by name: a widget takes them in with a star."""
    found: dict[str, ast.expr] = {}
    for tree in trees:
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(target, ast.Name) and isinstance(value, ast.List):
                found[target.id] = value
    return found


def _of_widget(widget: ast.ClassDef, tables: dict[str, ast.expr]) -> Iterator[Action]:
    scope = {**PANES, **SCREENS, **CARDS}[widget.name]
    for node in widget.body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.List)):
            continue
        for each in node.value.elts:
            shared = each.value if isinstance(each, ast.Starred) else None
            yield from _bindings(tables.get(shared.id, each) if isinstance(shared, ast.Name) else each, scope)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _of_screens(screens: Mapping[str, str], modules: Iterable[str]) -> Iterator[Action]:
    """The actions of screens.

    Args:
        screens: Classes, with what the names of their actions begin with.
        modules: Where they stand, with the tables they share.
    """
    trees = [_tree(_TUI / name if "/" in name else _TUI / "screens" / f"{name}.py") for name in modules]
    tables = _tables(trees)
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.ClassDef) and node.name in screens:
            yield from _of_widget(node, tables)


def screen_actions() -> list[Action]:
    """Every action but those of cards in the order of the tables, the main screen first; none without sources."""
    found: list[Action] = []
    try:
        found += _bindings(_tree(_TUI / "screens" / "bindings.py"), MAIN)
        moved = [_TUI / name for name in ("list/conversation_list.py", "transcript/view.py")]
        trees = [_tree(path) for path in sorted([*(_TUI / "widgets").glob("*.py"), *moved], key=lambda each: each.name)]
        tables = _tables(trees)
        for node in (node for tree in trees for node in tree.body):
            if isinstance(node, ast.ClassDef) and node.name in PANES:
                found += _of_widget(node, tables)
        found += _bindings(_tree(_TUI / "app.py"), APP)
        found += _of_screens(SCREENS, ("sub_screen", *SCREENS.values()))
    except (OSError, SyntaxError):  # compiled modules alone: names of actions are then taken as they are
        return []
    return found


def card_actions() -> list[Action]:
    """Every action of cards, in the order of the tables; none where there are no sources to be read."""
    try:
        modules, order = dict.fromkeys(_MODULES.get(name, name) for name in CARDS.values()), list(CARDS.values())
        return sorted(_of_screens(CARDS, modules), key=lambda each: order.index(each.scope))
    except (OSError, SyntaxError):
        return []


def known_actions() -> list[Action]:
    """Every action, those of cards last; none where there are no sources to be read."""
    found = screen_actions()
    return [*found, *card_actions()] if found else []


def final_keys(actions: Sequence[Action], keymap: Mapping[str, str]) -> list[Action]:
    """The actions with the keys a keymap leaves them.

    A key given to one action is taken from another of the same place that has it by itself, as Textual does it.
    """
    given = {(action.scope, key) for action in actions for key in keymap.get(action.name, "").split(",") if key}
    found = []
    for action in actions:
        if action.name in keymap:
            found.append(action._replace(keys=tuple(keymap[action.name].split(","))))
        else:
            found.append(action._replace(keys=tuple(key for key in action.keys if (action.scope, key) not in given)))
    return found
