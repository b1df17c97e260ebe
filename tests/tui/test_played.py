"""Keys that are pressed in the browser, and what is shown then: the files of `recorded/`.

A paragraph is a test, and begins on its own: its first line says what holds, `##` leaves it to `make
check`. Before its lines come those of the first paragraph of its file, unless it has an `@` itself.

`#` begins a comment. Behind `@` stand a home and the cells of the terminal, behind `$` keys, named ones
as `<enter>`, behind `*` a widget and a pattern in it that is clicked, behind `=` other cells of the
terminal. `^` ends the browser, and the next keys open it again. `&` is a statement of SQL that another
program runs, after which the browser reads; `?` is a query, `%` a line for the shell.

Behind `|` is named what is looked at then: a widget by its id, one of `_PANES`, or `store`, which is
what changed in the store since the browser was opened; of `list/boat` only the lines with this pattern.

`>` is what is shown. `HERMES_BROWSE_TESTS=record` with `-m ''`, in one process, writes it anew: read the
difference.
"""

import os
import re
import subprocess
from contextlib import AsyncExitStack
from pathlib import Path

import homes
import pytest
from browsing import NOW, Browser, browsing, demo_location, lines_with, lit_lines, open_app
from commandline import path_with
from platforms import posix_only
from trashing import differences, dump, is_sound, rows, run

from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.tui.settings.start import read_start

FOLDER = Path(__file__).parent / "recorded"
_MASKS = {
    r"\b\d+ ms\b": "N ms",
    r"state\.db [\d.]+ KB [█░]+ .*": "state.db …",
}
"""What differs from run to run, or between versions of SQLite, and what stands in its place."""
_PANES = {
    "at": lambda browser: f"{type(browser.app.screen).__name__}, {_pane(browser.app.focused)}",
    "typed": lambda browser: browser.app.focused.value,
    "card": Browser.card,
    "clipboard": lambda browser: browser.app.clipboard,
    "lit": lambda browser: "\n".join(lit_lines(browser)),
    "bright": lambda browser: "\n".join(
        lines_with(browser, lambda looks: "dim" not in looks.split())
    ),
}
"""The screen and the pane with the keys, what is typed, the texts of a card, the clipboard, the lines
with the current find, and those that are not dim."""
_KEY = re.compile(r"<([a-z][\w+]+)>|(.)")


def _pane(widget):
    return widget.id or type(widget).__name__ if widget else "no pane"


def _home(name, root):
    """Fill a root; return its store, and the time."""
    if name == "demo":
        return demo_location(root), NOW
    now = getattr(homes, name)(root)
    return locate_file(root / "state.db"), now


def _look(browser, pane, before):
    """What is seen of a pane; of the store, which tables are not as before, and whether it is sound."""
    name, _slash, pattern = pane.partition("/")
    if name == "store":
        path = browser.app.store.path
        changed = differences(before, dump(path))
        text = f"{changed or 'as before'}, {'sound' if is_sound(path) else 'broken'}"
    else:
        text = _PANES.get(name, lambda browser: browser.text(f"#{name}"))(browser)
    lines = [line for line in text.splitlines() if line.strip() and re.search(pattern, line)]
    return [f"> {name}: {line}" for line in lines or [""]]


async def _act(browser, sign, words):
    """Press keys, change the terminal, or click."""
    if sign == "$":
        await browser.press(*(name or key for name, key in _KEY.findall(words)))
    elif sign == "=":
        await browser.pilot.resize_terminal(*map(int, words.split("x")))
        await browser.settle()
    else:
        widget, pattern = words.split(" ", 1)
        text = browser.text(f"#{widget}")
        start = re.search(pattern, text).start()
        before = text[:start].rpartition("\n")[2]
        place = len(before), text.count("\n", 0, start)
        await browser.pilot.click(f"#{widget}", offset=place)
        await browser.settle()


def _shell(line):
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    return [f"> {each}" for each in (ended.stdout + ended.stderr).splitlines()]


def _paragraphs():
    for path in sorted(FOLDER.glob("*.txt")):
        head, *paragraphs = path.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
        for each in paragraphs:
            title = each.partition("\n")[0]
            yield pytest.param(
                path,
                "" if "\n@" in each else head,
                each,
                id=f"{path.stem}: {title.strip('# ')}",
                marks=pytest.mark.slow if title.startswith("##") else (),
            )


@posix_only
@pytest.mark.parametrize("path, head, paragraph", list(_paragraphs()))
async def test_played(path, head, paragraph, tmp_path, monkeypatch):
    """What is shown is what the paragraph says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path_with())
    root = tmp_path / "root"
    root.mkdir()
    store, found, browser = root / "state.db", [], None
    async with AsyncExitStack() as stack:
        for line in [*head.splitlines(), "", *paragraph.splitlines()]:
            if line.startswith(">"):
                continue
            found.append(line)
            sign, words = line[:1], line[1:]
            if sign == "@":
                name, cells = words.split()
                location, now = _home(name, root)
            elif sign == "&":
                run(store, words)
                if browser is not None:
                    await browser.follow()
            elif sign == "%":
                found += _shell(words)
            elif sign == "?":
                found += [f"> {' '.join(map(str, row))}" for row in rows(store, words)]
            elif sign == "^":
                await stack.aclose()
                browser = None
            elif sign in ("$", "=", "*"):
                if browser is None:
                    size = tuple(map(int, cells.split("x")))
                    app, before = open_app(location, now, read_start()), dump(store)
                    browser = await stack.enter_async_context(browsing(app, size))
                words, _bar, panes = words.partition(" | ")
                await _act(browser, sign, words.strip())
                for pane in panes.split():
                    found += _look(browser, pane, before)
            elif sign not in ("", "#"):
                raise ValueError(f"{path.name}: no line begins with {sign}: {line}")
    played = "\n".join(found[found.index("") + 1 :])
    played = played.replace(str(tmp_path), "").replace(os.environ["HOME"], "~")
    for pattern, name in _MASKS.items():
        played = re.sub(pattern, name, played)
    played = re.sub(r"[ ]+$", "", played, flags=re.MULTILINE)
    if os.environ.get("HERMES_BROWSE_TESTS") == "record":
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(paragraph, played), encoding="utf-8")
        paragraph = played
    assert played == paragraph
