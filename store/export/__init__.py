"""Export conversations: Markdown to read, HTML to show, JSON lines for Hermes to import.

`files.export_pieces` yields any of them as pieces of text, redacted by a `redact.Redactor`;
`files.write_file` writes pieces to a file.
"""
