"""Every text that is shown is marked as one, and every marked text is translated."""

import ast
import re
import string

import pytest
from words import (
    LOCALE,
    MARKS,
    ROOT,
    collected,
    compiled,
    missing,
    po_path,
    sources,
    texts_in_row,
    translations,
    tree_of,
)

from hermes_browse.store import wording
from hermes_browse.store.wording import (
    LANGUAGES,
    _,
    language,
    language_of,
    ngettext,
    pgettext,
    speak,
)

_TRANSLATED = [each for each in LANGUAGES if each != "en"]
_TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")
_SQL = re.compile(
    r"\b(SELECT|FROM|WHERE|INSERT|PRAGMA|UPDATE|DELETE|CREATE|DROP|ATTACH|DETACH|JOIN|IN|AND|OR|VALUES|ORDER BY|GROUP BY"
    r"|LIMIT|AS|DESC|BEGIN|CASE|CAST|ELSE|NULL|DISTINCT|IS NOT|PRIMARY KEY|NO ACTION|SET DEFAULT|instr|typeof)\b"
)
_SHELL = re.compile(r"&& | tool install --force|^\s*function hermes\b")
"""Lines that a shell runs."""
_LOOK = "accent|bold|dim|error|green|heading|keyword|output|reverse|warning|yellow"
_FOR_MACHINES = re.compile(rf"<[^>]*>|\b[\w-]+:\S+|^\$?({_LOOK})( ({_LOOK}))+$")
"""Tags of HTML, filters with a value, and looks."""
_NOT_SHOWN = {
    *("AssertionError", "DiffError", "KeyError", "LookupError", "NotImplementedError"),
    *("RuntimeError", "TypeError", "ValueError"),
    *("compile", "execute", "findall", "rows", "rows_in", "search", "sql_name", "sub", "value"),
    *("fields", "fields_of_each"),
}
"""Mistakes of ours, what goes to the log or to SQLite, names of fields: nobody reads these on a
screen."""
_OF_OTHERS = """
[CONTEXT COMPACTION
[CONTEXT SUMMARY]:
[PRIOR CONTEXT — for reference only; not a new message]
[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]
Summary generation was unavailable
Bot Chat
Review the conversation above and update the skill library
Review the conversation above and consider saving to memory
Traceback (most recent call last)
traceback (most recent
decode to UTF-8
tmux new-window -n {title} -c {folder} {command}
REMOTE HOST IDENTIFICATION HAS CHANGED
HAS CHANGED
Host key verification failed
Permission denied
Could not resolve hostname
Too many authentication failures
Connection refused
Connection timed out
Operation timed out
No route to host
Network is unreachable
Connection closed
Connection reset
Broken pipe
not responding
: Command not found.
incorrect passphrase
create trigger if not exists
create trigger
\\ No newline at end of file
new file mode 100644
deleted file mode 100644
rename from
rename to
File not found
was modified since you last read it
sibling subagent
"""
"""What Hermes, Python, SQLite, Git, ssh and shells write or read, a text on each line."""
_NAMES = """
make smaller
subagent session
open session
old transcript
left out
new message
uv tool install
ssh -t {ssh} {command}
hermes-browse trash list --host {name}
hermes-browse doctor --host {name}
hermes-browse list --old --host {name}
tool install --force
&& /bin/pip install  &&
after: before:
hermes-browse export:
because of
the terminal is gone
0 (not installed)
Browse, search, resume and clean up conversations (hermes-browse)
"""
"""What only this program reads, or a reader of any language: names of keys, commands, a name in
Hermes, which speaks English."""
_PLAIN = {*_OF_OTHERS.splitlines(), *_NAMES.splitlines()}


def _called(node):
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return ""


def _texts(node, skip=False):
    """Strings with words in them that nothing marks, with their lines."""
    called, outside = _called(node), skip
    skip = skip or called in MARKS or called in _NOT_SHOWN
    if isinstance(node, ast.JoinedStr):
        if not skip:
            yield (
                node.lineno,
                "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant)),
            )
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                yield from _texts(each, skip)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and not skip:
        yield node.lineno, node.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
        return
    of_row = texts_in_row(node)
    for child in ast.iter_child_nodes(node):
        if child in of_row:
            continue
        is_field = called in MARKS and isinstance(child, ast.keyword)
        yield from _texts(child, outside if is_field else skip)


def unmarked(path):
    """Lines of a source with a text that is shown and cannot be translated."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()[:80]}"
        for line, text in _texts(tree_of(path))
        if text.strip() not in _PLAIN
        and _TWO_WORDS.search(_FOR_MACHINES.sub("", text))
        and not _SQL.search(text)
        and not _SHELL.search(text)
    ]


def early(path):
    """Lines of a source that translate while the module is imported, before a language is
    chosen."""

    def calls(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(child, ast.Call) and _called(child) in {*MARKS} - {"N_", "NN_", "PN_"}:
                yield child.lineno
            yield from calls(child)

    return [f"{path.relative_to(ROOT)}:{line}" for line in calls(tree_of(path))]


def _fields(text):
    return {
        f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None
    }


def test_every_text_is_marked():
    """Words that stand together in a string are either for people, and marked, or said not to
    be."""
    assert [line for path in sources() for line in unmarked(path)] == []


def test_none_is_translated_too_early():
    """A table of a module is translated where it is shown: when it is made nobody knows the
    language yet."""
    assert [line for path in sources() for line in early(path)] == []


@pytest.mark.parametrize("spoken", _TRANSLATED)
def test_every_text_is_translated(spoken):
    """None is missing, and none is left of which the sources know nothing."""
    texts, there = collected(), translations(spoken)
    assert len(texts) > 500
    assert (
        sorted(
            str(each.id) for each in texts if each.id and there.get(each.id, each.context) is None
        )
        == []
    )
    assert (
        sorted(
            str(each.id) for each in there if each.id and texts.get(each.id, each.context) is None
        )
        == []
    )
    assert [str(each.id) for each in missing(there)] == []


@pytest.mark.parametrize("spoken", _TRANSLATED)
def test_the_same_is_filled_in(spoken):
    """A name in braces that is missing, or written otherwise, would fail or leave out a figure."""
    wrong = []
    for each in translations(spoken):
        ids = each.id if isinstance(each.id, list | tuple) else [each.id]
        strings = each.string if isinstance(each.string, list | tuple) else [each.string]
        if each.id and any(_fields(text) != _fields(ids[-1]) for text in strings):
            wrong.append(str(each.id))
    assert wrong == []


@pytest.mark.parametrize("spoken", _TRANSLATED)
def test_it_is_compiled(spoken):
    """What gettext reads is what the text of the catalog says (`make words`)."""
    assert po_path(spoken).with_suffix(".mo").read_bytes() == compiled(translations(spoken))


def test_there_are_no_others():
    """Each folder is a language that can be chosen."""
    assert sorted(each.name for each in LOCALE.iterdir()) == sorted(_TRANSLATED)


@pytest.mark.parametrize(
    "variables, found",
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_SG"}, "zh_CN"),
        ({"LANG": "zh_TW.UTF-8"}, "en"),
        ({"LANG": "zh_Hans_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de:zh_CN:en"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en_GB:zh"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8@variant"}, "zh_CN"),
    ],
)
def test_the_language_of_a_locale(variables, found):
    """By the rules of gettext; traditional characters are another language than simplified ones."""
    assert language_of(variables) == found


def test_english_is_what_stands_there():
    """Also for a language nobody has words in."""
    speak("tlh")
    assert language() == "en"
    assert [
        _("one"),
        ngettext("one", "many", 1),
        ngettext("one", "many", 2),
        pgettext("here", "one"),
    ] == [
        "one",
        "one",
        "many",
        "one",
    ]


def test_without_its_catalog_a_language_is_english(tmp_path, monkeypatch):
    """A package without compiled catalogs still runs."""
    monkeypatch.setattr(wording, "_FOLDER", tmp_path)
    speak("zh_CN")
    assert _("Quit") == "Quit"
