"""Code in colours, through Pygments, loaded when the first code is on screen."""

from __future__ import annotations

from .styled import Line

_MOST = 40_000
"""Characters; a longer text stays plain, for colours would take longer than a frame."""


def highlight(code: str, language: str) -> list[Line]:
    """Code as lines of spans, one line for each of its own.

    Args:
        code: Printable code.
        language: As the fence says; unknown ones stay plain.
    """
    plain: list[Line] = [[(line, "code-text")] if line else [] for line in code.split("\n")]
    if not language or len(code) > _MOST:
        return plain
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, Keyword, Name, Number, String, Token
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    looks = (
        (Comment, "comment"),
        (Keyword, "keyword"),
        (String, "string"),
        (Number, "number"),
        (Name.Function, "function"),
        (Name.Class, "function"),
        (Name.Decorator, "function"),
        (Name.Tag, "keyword"),
        (Name.Attribute, "function"),
        (Token.Generic.Inserted, "added"),
        (Token.Generic.Deleted, "removed"),
        (Token.Generic.Heading, "keyword"),
        (Token.Generic.Subheading, "keyword"),
    )
    lines: list[Line] = [[]]
    for kind, text in lexer.get_tokens(code):
        look = next((name for each, name in looks if each in kind.split() or kind is each), "code-text")
        first, *rest = text.split("\n")
        if first:
            lines[-1].append((first, look))
        for piece in rest:
            lines.append([(piece, look)] if piece else [])
    return lines
