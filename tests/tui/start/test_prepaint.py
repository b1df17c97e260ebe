"""The first rows are on screen before Textual is; what Textual paints over them is the same."""

import sys

import pytest
from platforms import posix_only
from terminal import Terminal
from user_config import write_config

from hermes_browse.tui import start
from hermes_browse.tui.settings.start import NARROW, PaneSizes
from hermes_browse.tui.widgets.themes import look_style

pytestmark = posix_only

CONDITIONS = {"COLORTERM": "truecolor", "TERM": "xterm-256color"}


def cells(screen, lines, columns):
    """Letters with their colours and weight; numbers are stored counters, with `~`, first and
    counted later."""
    buffer = screen.buffer
    return [
        [
            (
                " " if cell.data.isdigit() or cell.data == "~" else cell.data,
                cell.fg,
                cell.bg,
                cell.bold,
            )
            for cell in (buffer[line][column] for column in range(columns))
        ]
        for line in lines
    ]


@pytest.mark.parametrize(
    "columns, rows, width, theme, language, taken",
    [
        (120, 36, 66, "dark", "", "search:"),
        pytest.param(80, 24, 79, "dark", "", "search:", marks=pytest.mark.slow),
        pytest.param(200, 60, 111, "dark", "", "search:", marks=pytest.mark.slow),
        pytest.param(120, 36, 66, "light", "", "search:", marks=pytest.mark.slow),
        pytest.param(120, 36, 66, "dark", "zh_CN.UTF-8", "source:cli", marks=pytest.mark.slow),
    ],
)
def test_taking_over_changes_nothing(hermes_home, columns, rows, width, theme, language, taken):
    """List and views stay letter by letter and colour by colour when Textual takes over, which
    writes what is taken for a sign of it; in any language."""
    write_config(f'theme = "hermes-{theme}"\n')
    spoken = {"LANG": language, "LC_ALL": "", "LANGUAGE": ""} if language else {}
    terminal = Terminal(
        ["--home", str(hermes_home)], columns=columns, rows=rows, **CONDITIONS, **spoken
    )
    terminal.wait_for(taken)
    terminal.wait_for("answered yesterday" if columns >= NARROW else "no one is writing")
    ahead = terminal.painted_ahead()
    painted = "\n".join(ahead.display)
    assert "started 119 days ago" in painted and taken not in painted
    height = PaneSizes().of(columns, rows - 5)[1]
    lines = range(4, 3 + min(height, 40))  # the names of the columns get a position
    before = cells(ahead, lines, width)
    terminal.read_until(lambda: cells(terminal.screen, lines, width) == before, "the list changed")
    terminal.leave()


def test_no_colours_no_painting_ahead(monkeypatch):
    """Where another look is asked for, the start is as long as it is."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert start.is_possible()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("COLORTERM", "")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert not start.is_possible()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert not start.is_possible()


@pytest.mark.slow
@pytest.mark.parametrize("theme", start.PALETTES)
async def test_the_colours_are_those_of_the_theme(browser, theme):
    """The tables painted from are the themes as Textual resolves them."""
    palette = start.PALETTES[theme]
    browser.app.theme = theme
    await browser.settle()
    rows = browser.screen.rows
    keys = browser.screen.query_one("#keys").rich_style
    assert keys.bgcolor.triplet == palette.panel
    base = rows.rich_style
    assert base.bgcolor.triplet == palette.background
    for look, (name, is_dim, _) in start._LOOKS.items():
        style = look_style(rows, look)
        assert style.color.triplet == getattr(palette, name), look
        assert bool(style.dim) == is_dim, look
    cursor = look_style(rows, "cursor")
    assert cursor.bgcolor.triplet == palette.cursor


@pytest.mark.slow
def test_a_failure_while_loading_puts_the_terminal_back(hermes_home):
    """Interrupted between the painting and Textual, the terminal is as before."""
    terminal = Terminal(["--home", str(hermes_home)], **CONDITIONS)
    terminal.wait_for("started 119 days ago")
    terminal.child.sendintr()
    terminal.wait_for_end()
    assert terminal.is_restored
    assert b"Traceback" not in terminal.raw
