"""The texts of the program and their translations: `make words` brings the catalogs up to date with
the sources.

A text that is new has no translation until somebody writes one into the .po file; a test names
those.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from paths import ROOT

LOCALE = ROOT / "store" / "locale"
PARTS = ("store", "tui", "styles")
_DOMAIN = "hermes-browse"
MARKS = ("_", "N_", "NN_", "PN_", "ngettext", "pgettext")
"""What marks a text, as in `store.wording`."""
_ROWS: Mapping[str, Collection[int]] = {
    **dict.fromkeys(("Command", "Does", "Shown", "ShownDoes"), (2, 4)),
    "at": range(1, 100),  # headings
    "Option": (1, 2),
    **dict.fromkeys(("Argument", "Count", "Flag", "Several", "Valued", "_Of", "_Reading"), (1,)),
    "CommandEntry": (1,),
    **dict.fromkeys(("TableColumn", "Number"), (0,)),
}
"""Rows of tables, and at which places they hold texts; whoever shows these translates them."""
OF_ARGPARSE = (
    "usage: ",
    "options",
    "positional arguments",
    "show this help message and exit",
    "argument %(argument_name)s: %(message)s",
    "the following arguments are required: %s",
    "one of the arguments %s is required",
    "unrecognized arguments: %s",
    "not allowed with argument %s",
    "ignored explicit argument %r",
    "expected one argument",
    "expected at most one argument",
    "expected at least one argument",
    "ambiguous option: %(option)s could match %(matches)s",
    "invalid %(type)s value: %(value)r",
    "invalid choice: %(value)r (choose from %(choices)s)",
    "invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)",
)
"""Texts of argparse (Python 3.11 to 3.14) that the program shows; `speak_argparse` lets it take
them from our catalogs."""
_WHEN = datetime(2026, 1, 1, tzinfo=UTC)  # a catalog is the same whoever writes it, and when


def po_path(language: str) -> Path:
    """The translations of a language, as text; beside it they lie compiled."""
    return LOCALE / language / "LC_MESSAGES" / f"{_DOMAIN}.po"


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax of a source."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _texts(nodes: Iterable[ast.AST]) -> list[ast.Constant]:
    """Those that are texts."""
    constants = [each for each in nodes if isinstance(each, ast.Constant)]
    return [each for each in constants if isinstance(each.value, str)]


def texts_in_row(node: ast.AST) -> list[ast.Constant]:
    """The texts of a row of a table; nothing for what is none."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=arguments):
            places = _ROWS.get(name, ())
            return _texts(each for place, each in enumerate(arguments) if place in places)
    return []


def _context(row: ast.AST) -> str | None:
    """The context of the texts of a row."""
    for each in ast.iter_child_nodes(row):
        if isinstance(each, ast.keyword) and each.arg == "context":
            return str(ast.literal_eval(each.value))
    return None


def _of_table(node: ast.AST) -> Iterator[str]:
    """The texts of a table that is marked as a whole; or the one text."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Dict(values=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _of_table(part)


def _marked(path: Path) -> Iterator[tuple[str | None, str | tuple[str, str]]]:
    """Contexts and texts of a source, in order.

    Read from the syntax tree: to Babel's own collector an f-string is one token before Python 3.12,
    and what is translated within its braces is not seen.
    """
    for node in ast.walk(tree_of(path)):
        for of_row in texts_in_row(node):
            yield _context(node), str(of_row.value)
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        texts = [str(each.value) for each in _texts(node.args)]
        match node.func.id, texts:
            case "N_", _:
                yield from ((None, text) for text in _of_table(node.args[0]))
            case "PN_", [context, *_]:
                yield from ((context, text) for text in _of_table(node.args[1]))
            case "_", [text]:
                yield None, text
            case "ngettext" | "NN_", [one, many]:
                yield None, (one, many)
            case "pgettext", [context, text]:
                yield context, text


def sources() -> Iterator[Path]:
    """Every module of the program that may show something; the demo store is data."""
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*.py")):
            if "demo" not in path.parts:
                yield path


def collected() -> Catalog:
    """Every text that the sources mark, and those of argparse."""
    found = Catalog(project=_DOMAIN, creation_date=_WHEN, charset="utf-8")
    for of_argparse in OF_ARGPARSE:
        found.add(of_argparse)
    for path in sources():
        for context, text in _marked(path):
            if text:
                found.add(text, context=context)
    return found


def translations(language: str) -> Catalog:
    """What is there for a language."""
    with open(po_path(language), "rb") as file:
        return read_po(file, locale=language, domain=_DOMAIN)


def compiled(catalog: Catalog) -> bytes:
    """The catalog as gettext reads it."""
    into = BytesIO()
    write_mo(into, catalog)
    return into.getvalue()


def missing(catalog: Catalog) -> Iterator[Message]:
    """Texts without a translation."""
    for message in catalog:
        parts = message.string if isinstance(message.string, list | tuple) else [message.string]
        if message.id and (message.fuzzy or not all(parts)):
            yield message


def write(language: str, catalog: Catalog) -> None:
    """Write a language's translations, as text and compiled."""
    catalog.creation_date = catalog.revision_date = _WHEN
    catalog.project, catalog.version, catalog.fuzzy = _DOMAIN, "", False
    catalog.header_comment = (
        "# Translations of hermes-browse, by its contributors; under its license."
    )
    catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
    path = po_path(language)
    with open(path, "wb") as file:
        write_po(file, catalog, width=120, no_location=True, sort_output=True, ignore_obsolete=True)
    path.with_suffix(".mo").write_bytes(compiled(catalog))


def main() -> None:
    """Bring all of them up to date."""
    texts = collected()
    for folder in sorted(each for each in LOCALE.iterdir() if each.is_dir()):
        catalog = translations(folder.name)
        catalog.update(texts, no_fuzzy_matching=True)
        write(folder.name, catalog)
        print(
            f"{folder.name}: {len(catalog):,} texts, {sum(1 for _ in missing(catalog)):,} of them not translated"
        )


if __name__ == "__main__":
    main()
