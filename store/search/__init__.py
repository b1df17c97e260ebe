"""Search over Hermes' own index: literal by default, newest first, and the answer says what it did
not cover."""
