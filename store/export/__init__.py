"""Conversations taken out of the store: Markdown to read, HTML to show, JSON lines for Hermes to import again.

`files.export_pieces` gives any of them as pieces of text, `files.write_file` puts pieces into a file, and a
`redact.Redactor` takes the secrets out on the way.
"""
