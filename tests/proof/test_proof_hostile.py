"""Hostile text: whatever a store holds, the terminal is in the state that our own frames set, and
in no other.

What is written is compared with what is written for a harmless store: no kind of sequence more,
none of its controls.
"""

import json
import re
import shutil
import subprocess
import unicodedata

import pyte
import pytest
from commandline import PROGRAM, copy_store, path_with
from counts import IS_LONG
from driver import HOSTILE, Driven
from platforms import posix_only
from poisoned import ATTACK, poison
from trashing import execute, rows

IDEA = "hostile text"
pytestmark = posix_only

FLOOD = (
    f"{ATTACK} owned \x1b]0;owned\x1b\\ "
    "\x1b]2;owned\x07 \x1b]8;;http://owned\x07link\x1b]8;;\x07 \x1b]52;p;b3duZWQ=\x1b\\"
    "\x1b]1337;File=owned\x07\x1bP1;1|17/owned\x1b\\\x1b_Gowned\x1b\\\x1b^owned\x1b\\\x1bXowned\x1b\\"
    "\x9d0;owned\x9c\x9b5n\x1b[6n\x1b[c\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1bc\x1b(0\x1b#8\x0e\x05\x07"
    "[@click=app.exit]owned[/] [link=http://owned]l[/link] [$accent]a[/] {0} %s \\[b]"
    " \u202eevil\u2067\u2069\u061c\u200b\u2060\u00ad שלום עולם مرحبا Z" + "\u0335\u0301\u20dd" * 60 + " "
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 1️⃣ 👍🏽 \u200d\u200d x\ufe0f e\u0301 \u180e\U000e0041\ufff9\ufffc"
)  # fmt: skip
"""What a terminal, markup, or the order of letters could be changed with; no line of ours says
`owned`."""

_OTHER_TEXTS = """
SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
WHERE t.sql LIKE 'CREATE TABLE%' AND t.name NOT IN ('sessions', 'messages', 'schema_version')
AND instr(t.name, '_fts') = 0 AND t.name NOT LIKE 'sqlite%' AND upper(c.type) = 'TEXT' AND c.name <> 'key'
"""
"""Columns of text of all tables that `poison` leaves alone."""


def _root(folder, store, text):
    """A home with a store, a bundle in the trash, an old transcript and a second profile, all full
    of one text."""
    path = copy_store(store, folder)
    poison(path, text)
    for table, column in rows(path, _OTHER_TEXTS):
        execute(path, f"UPDATE OR IGNORE {table} SET {column} = ?", text)
    root, *_others = rows(path, "SELECT id FROM sessions WHERE parent_session_id IS NULL")
    command = [*PROGRAM, "--home", str(folder), "delete", "--yes", "--", *root]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    poison(path, text, ids="owned" in text)
    other = folder / "profiles" / f"p {text[:60].replace('/', '|')}".replace("\0", "")
    other.mkdir(parents=True)
    shutil.copy(path, other / "state.db")
    (folder / "sessions").mkdir()
    facts = {"role": "session_meta", "model": text, "platform": text}
    written = f"{json.dumps(facts)}\n{json.dumps({'role': 'user', 'content': text})}"
    (folder / "sessions" / "20260101_090000_abcdef.jsonl").write_text(written, encoding="utf-8")
    return folder


def _kinds(written):
    """Kinds of sequences in what a program wrote: strings by what they begin with, CSI by its marks
    and its end."""
    found = {
        "string " + re.sub(r"[^\d\w]", " ", begin)
        for begin in re.findall(r"\x1b([\]P_^X]\d*)", written)
    }
    found |= {
        f"CSI {mark}{final}"
        for mark, final in re.findall(r"\x1b\[([<=>?]?)[\d;:]*([ -/]*[@-~])", written)
    }
    found |= {f"mode {mode}" for mode in re.findall(r"\x1b\[\?([\d;]+)[hl]", written)}
    return found | {f"ESC {letter}" for letter in re.findall(r"\x1b([^\[\]P_^X])", written)}


def _walk(root, tell):
    browser = Driven(root, PATH=path_with())
    modes, charset = set(browser.screen.mode), browser.screen.g0_charset
    browser.opened()
    tell("screens walked through", browser.walk(1.0 if IS_LONG else 0.5, HOSTILE))
    browser.leave()
    # What is in force where a mode is not an emulator's own is told by the last word about it.
    assert {
        mode for mode in browser.screen.mode if mode in (pyte.modes.DECTCEM, pyte.modes.DECAWM)
    } <= modes
    assert browser.screen.g0_charset == charset and pyte.modes.DECTCEM in browser.screen.mode
    return browser, browser.raw.decode(
        "utf-8"
    )  # strict: a stray byte would be a C1 control of some terminals


@pytest.mark.parametrize("store", ["state-v22", pytest.param("state-v31", marks=pytest.mark.long)])
def test_no_text_acts_on_the_terminal(tmp_path, tell, store):
    """Title, clipboard, modes, cursor, character sets: as after a store of harmless words."""
    harmless, usual = _walk(_root(tmp_path / "harmless", store, "owned by nobody"), tell)
    browser, written = _walk(_root(tmp_path / "hostile", store, FLOOD), tell)
    assert "owned" in written
    told = (
        browser.screen.title,
        browser.screen.icon_name,
    )  # by way of a pointer's shape, which pyte takes for one
    assert told == (harmless.screen.title, harmless.screen.icon_name)
    assert _kinds(written) <= _kinds(usual)
    assert not re.search(r"\x1b\](?:0|1|2|8|52|1337);", written)
    strings = re.findall(r"\x1b[\]P_^X][^\x07\x1b]*", written)
    assert not [each for each in strings if "owned" in each]
    plain = re.sub(
        r"\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[\d;:<=>?]*[ -/]*[@-~]|\x1b.", "", written
    )
    acts = {each for each in plain if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp")}
    assert acts <= set("\r\n\u200d"), acts  # a joiner only joins emoji
    # A card that covers half of a row cuts a joined emoji at its edge.
    assert not re.search(
        "(?<![\ufe0f\U0001f300-\U0001ffff])\u200d(?![\U0001f300-\U0001ffff])", plain
    )
    assert (
        max(len(cell.data) for line in browser.screen.buffer.values() for cell in line.values())
        < 200
    )
    tell("bytes written to a terminal, 0 sequences not ours", len(browser.raw))
