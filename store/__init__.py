"""The session store of Hermes Agent, read safely: standard library only, no Textual, no Rich."""
